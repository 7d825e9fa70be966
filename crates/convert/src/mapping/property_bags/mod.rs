//! Types in one table of nodes and one of edges, properties in bags: how a typed graph is written to NOCK, and how NOCK
//! is read as a typed graph (`docs/mapping.md`).

mod columns;
mod merge;
mod split;

use isomorph_model::Graph;
use serde::{Deserialize, Serialize};

use super::merge::Merged;
use super::split::Divided;
pub(crate) use columns::label_lists;
pub(super) use merge::same_relation;
pub(crate) use merge::{labels_of, relations_of};

/// Shows a typed source as its bundled graph.
pub type Bundled = Merged<Bundling>;

/// Shows a bundled source as its typed graph.
pub type Shredded = Divided<Bundling>;

/// Where a property of the typed graph is stored in the bundled one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slot {
    /// In the column of this index.
    Column(usize),
    /// In the bag, as this member.
    Member(String),
    /// The rest of the bag: a JSON object of the members that have no column of their own.
    Rest,
    /// The labels, for nodes that have too many for label files.
    Labels,
    /// The relation, for edges that have too many for types.
    Relation,
}

/// How a node type is stored in the one table of nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeSlots {
    /// The label that names the type; `None` if the only type needs no label.
    pub label: Option<String>,
    /// The prefix of every key.
    pub prefix: String,
    /// Labels whose names differ: typed, bundled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<(String, String)>,
    /// One for each property of the type.
    pub properties: Vec<Slot>,
}

/// How an edge type is stored in the one table of edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgeSlots {
    /// The relation that names the type; empty if [`Slot::Relation`] holds it.
    pub relation: String,
    /// The member that marks an undirected edge, if needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directed: Option<String>,
    /// One for each property of the type.
    pub properties: Vec<Slot>,
}

/// The relation between a typed graph and a bundled one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bundling {
    /// The typed graph.
    pub typed: Graph,
    /// The bundled graph: one node type, one edge type.
    pub bundled: Graph,
    /// One for each node type of the typed graph.
    pub nodes: Vec<NodeSlots>,
    /// One for each edge type of the typed graph.
    pub edges: Vec<EdgeSlots>,
}
