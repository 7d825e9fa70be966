//! Layout hints: how a GraphAr graph was stored. They are kept in the model's metadata, so that a graph that comes back from
//! another format gets the same layout.

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
    /// Keys of the graph file that GraphAr does not define.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Unknown,
    /// Hints by vertex type.
    pub vertices: BTreeMap<String, TypeHint>,
    /// Hints by `source_relation_target`.
    pub edges: BTreeMap<String, TypeHint>,
}

/// How a vertex or edge type was stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TypeHint {
    /// Number of rows in a chunk.
    pub chunk_size: u64,
    /// Adjacency lists of an edge type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// Property groups: file type and names of the properties.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<(String, Vec<String>)>,
    /// Whether the information file stated the direction.
    pub directed: bool,
    /// Keys of the information file that GraphAr does not define.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Unknown,
}

impl Hints {
    /// Returns the hints that a graph's information files give.
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

    /// Returns the hints in the metadata of `graph`; empty hints if there are none or they cannot be parsed.
    pub fn read(graph: &Graph) -> Self {
        let text = graph.metadata.get(LAYOUT).map(String::as_str).unwrap_or_default();
        // Hints are not content: if they are damaged or of another version, they are ignored.
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Removes the layout; keeps the labels of the graph and the keys that GraphAr does not define.
    pub(crate) fn forget_layout(&mut self) {
        for hint in self.vertices.values_mut().chain(self.edges.values_mut()) {
            let unknown = std::mem::take(&mut hint.unknown);
            *hint = TypeHint { unknown, ..TypeHint::default() };
        }
    }

    /// Stores the hints in the metadata of `graph`.
    pub(crate) fn write(&self, graph: &mut Graph) {
        // Maps with text keys and plain values can always be written as JSON.
        if let Ok(text) = serde_json::to_string(self) {
            graph.metadata.insert(LAYOUT.to_owned(), text);
        }
    }
}

/// Returns the name of an edge type in [`Hints::edges`].
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
