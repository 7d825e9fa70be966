//! A node type for each number that nodes state as their type, or for each of their labels: how a graph of one node
//! type is written with several (`docs/mapping.md`).
//!
//! DeepGNN has one type of nodes with a property `type`; RDF and NOCK have one type whose nodes have labels. An edge
//! states only the keys of its ends, so their types are looked up: the keys of all nodes, or hashes of texts, are
//! sorted and kept, at 10 bytes each, in memory or, beyond a quarter of the budget, in a temporary file. [`Parted`]
//! shows the graph with a node type for each number or label, and an edge type for every two node types that edges
//! connect; [`Unparted`] is the inverse, and holds nothing.

mod back;
mod forward;
mod labels;
mod types;

use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::{Graph, LabelVocabulary, NodeType, Progress, Source};
use serde::{Deserialize, Serialize};

use self::types::Types;
use super::Names;
use isomorph_storage::Resources;

pub use back::Unparted;
pub use forward::Parted;
pub use labels::Labels;

/// Maximum number of edge types: there is one for each relation and each two node types.
const EDGE_TYPES: usize = 10_000;

/// How nodes get separate types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeTypes {
    /// What states the type.
    pub from: TypesFrom,
    /// Names for its values; others are named by their numbers or labels. If a node has several labels, the first in
    /// this list is its type.
    pub names: Vec<(String, String)>,
}

/// What states the type of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypesFrom {
    /// A property of 32-bit integers.
    Property(String),
    /// Its labels; of several, the first in byte order.
    Label,
}

impl NodeTypes {
    /// Types with default names.
    pub fn of(from: TypesFrom) -> Self {
        NodeTypes { from, names: Vec::new() }
    }

    fn name(&self, value: &str) -> Option<&str> {
        self.names.iter().find(|(known, _)| known == value).map(|(_, name)| name.as_str())
    }
}

/// The relation between a graph of one node type and the same graph with several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parting {
    /// The graph, with one node type and edge types from it to itself.
    pub single: Graph,
    /// The same with several node types, and edge types between them.
    pub typed: Graph,
    /// The meaning of the types.
    #[serde(flatten)]
    pub by: By,
    /// For each edge type, the one of the single graph that it is a part of.
    pub edges: Vec<usize>,
    /// The types of nodes; needed only in the forward direction.
    #[serde(skip)]
    types: Types,
}

/// The meaning of node types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum By {
    /// Values of a property.
    Property {
        /// Which property.
        property: usize,
        /// For each node type its value; `None` for nodes without one.
        values: Vec<Option<i32>>,
    },
    /// Labels.
    Label {
        /// For each node type its label; `None` for nodes without one.
        labels: Vec<Option<String>>,
        /// For each node type, the properties that any of its nodes has.
        columns: Vec<Vec<usize>>,
    },
}

impl Parting {
    /// The parting of `source` by a property. Nodes and ends of edges are read once each.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the graph has no such property; also if it cannot be read, the budget
    /// is too small for its keys, or there are more than a thousand types.
    pub fn of_values(
        source: &dyn Source,
        how: &NodeTypes,
        name: &str,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Parting> {
        let single = source.graph().clone();
        let node = only(&single)?;
        let is_type =
            |property: &isomorph_model::Property| property.name == name && property.data_type == DataType::Int32;
        let property = node.properties.iter().position(is_type).ok_or_else(|| {
            Error::usage(format!("there is no property {name:?} of 32-bit integers"))
                .hint("--node-type-from property:type")
        })?;
        if let Some((value, _)) = how.names.iter().find(|(value, _)| value.parse::<i32>().is_err()) {
            return Err(Error::usage(format!("{value:?} is not a value of {name}, which has 32-bit integers")));
        }
        let read = types::read(source, &types::Stated::Property(property), resources, progress)?;
        let values: Vec<Option<i32>> = read.found.iter().map(|(code, _)| types::value(*code)).collect();
        let mut names = Names::default();
        let nodes = values.iter().zip(&read.found).map(|(value, (_, found))| {
            let own = value.map(|value| value.to_string());
            let own = own.map(|own| how.name(&own).map_or(own.clone(), str::to_owned));
            let mut ty = node.clone();
            ty.name = names.give(&own.unwrap_or_else(|| node.name.clone()), |_| true);
            ty.properties.remove(property);
            ty.rows = Some(found.rows);
            ty
        });
        let nodes = nodes.collect();
        let by = By::Property { property, values };
        Parting::between(source, nodes, by, read.types, resources, progress)
    }

    /// The parting of `source` by labels, as [`Parting::of_values`]. Each type has the columns that any of its nodes
    /// has.
    ///
    /// # Errors
    /// If nodes have no labels, or no text keys; otherwise as [`Parting::of_values`].
    pub fn of_labels(
        source: &dyn Source,
        labels: &Labels,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Parting> {
        let single = source.graph().clone();
        let node = only(&single)?;
        let read = types::read(source, &types::Stated::Labels(labels), resources, progress)?;
        let mut names = Names::default();
        let (mut nodes, mut own, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for (code, found) in &read.found {
            let label = labels.of_code(*code);
            let mut ty = node.clone();
            ty.name = labels.type_name(label.unwrap_or(&node.name), &mut names);
            ty.labels = match found.labels.is_empty() {
                true => LabelVocabulary::None,
                false => LabelVocabulary::Declared(found.labels.iter().cloned().collect()),
            };
            let has = |at: &usize| found.columns.get(*at).copied().unwrap_or_default();
            let kept: Vec<usize> = (0..node.properties.len()).filter(has).collect();
            ty.properties = kept.iter().filter_map(|at| node.properties.get(*at)).cloned().collect();
            ty.rows = Some(found.rows);
            nodes.push(ty);
            own.push(label.map(str::to_owned));
            columns.push(kept);
        }
        let by = By::Label { labels: own, columns };
        Parting::between(source, nodes, by, read.types, resources, progress)
    }

    /// The parting with the edge types between its node types.
    fn between(
        source: &dyn Source,
        nodes: Vec<NodeType>,
        by: By,
        types: Types,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Parting> {
        let single = source.graph().clone();
        let mut typed = Graph { nodes, edges: Vec::new(), ..single.clone() };
        let mut edges = Vec::new();
        let found = types::read_ends(source, &types, resources, progress)?;
        if found.len() > EDGE_TYPES {
            return Err(Error::unsupported(format!("more than {EDGE_TYPES} edge types between the types of nodes")));
        }
        for ((of, from, to), rows) in found {
            let Some(ty) = single.edges.get(of) else { continue };
            let mut ty = ty.clone();
            (ty.source, ty.target, ty.rows) = (usize::from(from), usize::from(to), Some(rows));
            typed.edges.push(ty);
            edges.push(of);
        }
        Ok(Parting { single, typed, by, edges, types })
    }
}

/// The one node type of a graph.
fn only(graph: &Graph) -> Result<&NodeType> {
    match graph.nodes.as_slice() {
        [node] => Ok(node),
        _ => Err(Error::usage("only a graph of one node type can be given several")),
    }
}
