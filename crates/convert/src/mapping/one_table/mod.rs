//! Several types in one table of nodes and one of edges: described once, read in both directions.
//!
//! NOCK, annnet, edge lists and DeepGNN have one table of nodes and one of edges. A [`Layout`] states where each type of a
//! graph is in them: what identifies it, and where its properties are. [`Merged`] shows the types as the two tables,
//! [`Divided`] the two tables as the types. The steps that merge types or split them differ only in their layouts.

mod bags;
mod columns;
mod divided;
mod merged;
mod weights;

use isomorph_error::{Rule, Severity};
use isomorph_model::{Graph, KeyKind, Relation};
use serde::{Deserialize, Serialize};

pub use divided::Divided;
pub(super) use divided::in_order;
pub use merged::Merged;
pub(super) use merged::bases;
pub(super) use weights::Weights;

/// The sidecar does not describe the data.
pub static CARRY_FITS: Rule = Rule {
    id: "CARRY-FITS",
    severity: Severity::Error,
    says: "every name, relation and value fits the types in the sidecar",
    remedy: "use --sidecar ignore to read the data as an ordinary graph of its format",
};

/// Where a property of a type is stored in the one table.
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
    /// Labels whose names differ: typed, merged.
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

/// Where the types of a graph are in one table of nodes and one of edges. Columns are indexes of properties of the merged
/// graph.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The graph with its types.
    pub typed: Graph,
    /// The graph with one node type and one edge type.
    pub merged: Graph,
    /// One for each node type; empty if the only one is the same in both graphs.
    pub nodes: Vec<NodeSlots>,
    /// One for each edge type.
    pub edges: Vec<EdgeSlots>,
    /// The column with the name of the node type, if there is one.
    pub node_type: Option<usize>,
    /// The column with the labels, if they are not labels in the one table.
    pub labels: Option<usize>,
    /// The column with the relation, if edges do not name it.
    pub relation: Option<usize>,
    /// The weights of edges, if every edge has one.
    pub(super) weights: Option<Weights>,
}

impl Layout {
    /// The layout of tables in which keys, labels and relations identify the types.
    pub(super) fn new(typed: &Graph, merged: &Graph, nodes: Vec<NodeSlots>, edges: Vec<EdgeSlots>) -> Self {
        let (typed, merged) = (typed.clone(), merged.clone());
        Layout { typed, merged, nodes, edges, node_type: None, labels: None, relation: None, weights: None }
    }

    /// The prefix of the keys of a node type; `None` if keys are unchanged.
    fn prefix(&self, ty: usize) -> Option<&str> {
        self.nodes.get(ty).map(|slots| slots.prefix.as_str())
    }

    /// Whether the nodes, of a single type, are the same in both graphs.
    fn keeps_nodes(&self) -> bool {
        self.nodes.is_empty() && self.typed.nodes.len() == 1
    }

    /// Whether the nodes of a type have no key, so that the one table names them by row number.
    fn is_keyless(&self, ty: usize) -> bool {
        self.typed.nodes.get(ty).is_some_and(|ty| ty.key.kind == KeyKind::Row)
    }

    /// Whether the edges of a type have their relation in a column of the typed graph.
    fn has_relations_in_column(&self, ty: usize) -> bool {
        self.edges.get(ty).is_some_and(|slots| slots.properties.contains(&Slot::Relation))
    }

    /// Whether edges name their relations in the one table.
    fn names_relations(&self) -> bool {
        self.merged.edges.first().is_some_and(|ty| ty.relation == Relation::PerRow)
    }
}
