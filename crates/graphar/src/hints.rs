//! Layout hints: what a GraphAr graph is stored like, in the model's metadata, so that a graph that comes back from
//! another format is laid out as it was.

use std::collections::BTreeMap;

use isomorph_model::Graph;
use serde::{Deserialize, Serialize};

use crate::info::{EdgeInfo, GraphInfo, PropertyGroup, Unknown, VertexInfo};

/// Metadata key of the version string.
pub const VERSION: &str = "version";
/// Metadata key of the layout, as JSON.
pub const LAYOUT: &str = "graphar.layout";
/// Name of the document that holds a graph's `extra_info`, as a JSON object of texts.
pub const EXTRA_INFO: &str = "extra_info";

/// How a graph was stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hints {
    /// Vertex labels of the whole graph.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Keys of the graph file that GraphAr does not know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Unknown,
    /// By vertex type.
    pub vertices: BTreeMap<String, TypeHint>,
    /// By `source_relation_target`.
    pub edges: BTreeMap<String, TypeHint>,
}

/// How a vertex or edge type was stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TypeHint {
    /// Rows of a chunk.
    pub chunk_size: u64,
    /// Adjacency lists, of an edge type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// Property groups: file type and names of the properties.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<(String, Vec<String>)>,
    /// Whether the direction was stated.
    pub directed: bool,
    /// Keys of the information file that GraphAr does not know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Unknown,
}

impl Hints {
    /// The hints of a graph's information files.
    pub(crate) fn of(info: &GraphInfo) -> Self {
        Hints {
            labels: info.labels.clone(),
            unknown: info.unknown.clone(),
            vertices: info.vertices.iter().map(|vertex| (vertex.ty.clone(), TypeHint::vertex(vertex))).collect(),
            edges: info
                .edges
                .iter()
                .map(|edge| (edge_key(&edge.source, &edge.relation, &edge.target), TypeHint::edge(edge)))
                .collect(),
        }
    }

    /// The hints that travel with `graph`; none, if there are none or they cannot be understood.
    pub fn read(graph: &Graph) -> Self {
        let text = graph.metadata.get(LAYOUT).map(String::as_str).unwrap_or_default();
        // They are no content: of another version, or damaged, they are as good as none.
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Leaves what the layout has no part in: labels of the graph, and keys that GraphAr does not know.
    pub(crate) fn forget_layout(&mut self) {
        for hint in self.vertices.values_mut().chain(self.edges.values_mut()) {
            let unknown = std::mem::take(&mut hint.unknown);
            *hint = TypeHint { unknown, ..TypeHint::default() };
        }
    }

    /// Lets the hints travel with `graph`.
    pub(crate) fn write(&self, graph: &mut Graph) {
        // Maps with text keys and plain values always have a JSON form.
        if let Ok(text) = serde_json::to_string(self) {
            graph.metadata.insert(LAYOUT.to_owned(), text);
        }
    }
}

/// The name of an edge type in [`Hints::edges`].
pub(crate) fn edge_key(source: &str, relation: &str, target: &str) -> String {
    format!("{source}_{relation}_{target}")
}

impl TypeHint {
    fn vertex(info: &VertexInfo) -> Self {
        TypeHint {
            chunk_size: info.chunk_size,
            groups: groups(&info.groups),
            unknown: info.unknown.clone(),
            ..TypeHint::default()
        }
    }

    fn edge(info: &EdgeInfo) -> Self {
        TypeHint {
            chunk_size: info.chunk_size,
            lists: info.lists.iter().map(|list| list.kind.word().to_owned()).collect(),
            groups: groups(&info.groups),
            directed: info.directed.is_some(),
            unknown: info.unknown.clone(),
        }
    }
}

fn groups(groups: &[PropertyGroup]) -> Vec<(String, Vec<String>)> {
    let names = |group: &PropertyGroup| group.properties.iter().map(|property| property.name.clone()).collect();
    groups.iter().map(|group| (group.file_type.word().to_owned(), names(group))).collect()
}
