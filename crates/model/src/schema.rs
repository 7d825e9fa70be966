//! The description of a graph: everything but its rows.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};

use crate::{Key, Property};

/// A graph without its rows. Node types, edge types and so on are referred to by their index here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Graph {
    /// Its name, if it has one. Schema, not content.
    pub name: Option<String>,
    /// Node types.
    pub nodes: Vec<NodeType>,
    /// Edge types.
    pub edges: Vec<EdgeType>,
    /// Hyperedge types.
    pub hyperedges: Vec<HyperedgeType>,
    /// Many-valued or qualified properties in long form.
    pub values: Vec<ValueTable>,
    /// Kinds of groups: layers, slices, named graphs.
    pub groups: Vec<GroupKind>,
    /// What belongs to the graph and to no element.
    pub documents: Vec<Document>,
    /// What the format says of the graph that is no content: its version, for example.
    pub metadata: BTreeMap<String, String>,
}

impl Graph {
    /// Index of the node type `name`.
    pub fn node_type(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|ty| ty.name == name)
    }

    /// The parts of an edge type's name: source type, relation (empty where it differs by row), target type.
    pub fn edge_name(&self, ty: &EdgeType) -> (String, String, String) {
        let node = |index: usize| self.nodes.get(index).map(|ty| ty.name.clone()).unwrap_or_default();
        (node(ty.source), ty.relation.fixed().unwrap_or_default().to_owned(), node(ty.target))
    }

    /// Total number of nodes, when every type knows its own.
    pub fn node_rows(&self) -> Option<u64> {
        self.nodes.iter().map(|ty| ty.rows).sum()
    }

    /// Total number of edges, when every type knows its own.
    pub fn edge_rows(&self) -> Option<u64> {
        self.edges.iter().map(|ty| ty.rows).sum()
    }

    /// The first property whose name another one of the same table has, and what the table is about. Whoever asks for a property
    /// by its name could not tell them apart, and neither do digests.
    pub fn repeated_property(&self) -> Option<(String, &str)> {
        fn repeated(properties: &[Property]) -> Option<&str> {
            let mut seen = std::collections::HashSet::new();
            properties.iter().map(|property| property.name.as_str()).find(|name| !seen.insert(*name))
        }
        let nodes = self.nodes.iter().map(|ty| (format!("nodes of type {}", ty.name), &ty.properties));
        let edges = self.edges.iter().map(|ty| {
            let (source, relation, target) = self.edge_name(ty);
            (format!("edges of type {source} {relation} {target}"), &ty.properties)
        });
        let hyperedges = self.hyperedges.iter().map(|ty| (format!("hyperedges of type {}", ty.name), &ty.properties));
        let groups = self.groups.iter().map(|kind| (format!("groups of kind {}", kind.kind), &kind.properties));
        let members = self.groups.iter().flat_map(|kind| {
            let named = move |table| (format!("members of groups of kind {}", kind.kind), table);
            kind.memberships.iter().map(|table| &table.properties).map(named)
        });
        let mut tables = nodes.chain(edges).chain(hyperedges).chain(groups).chain(members);
        tables.find_map(|(what, properties)| Some((what, repeated(properties)?)))
    }
}

/// Which labels the nodes of a type may have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelVocabulary {
    /// Nodes of this type have no labels.
    #[default]
    None,
    /// Declared in this order, used or not.
    Declared(Vec<String>),
    /// Known only after reading.
    Open,
}

/// A node type: one table of nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeType {
    /// Its name.
    pub name: String,
    /// What identifies a node.
    pub key: Key,
    /// The nodes exist only because something mentions them (RDF resources); their existence is no fact.
    pub implied: bool,
    /// The position of a row means something beside the key (GraphAr vertex ids).
    pub ordered: bool,
    /// Labels beside the type.
    pub labels: LabelVocabulary,
    /// Properties, without the key.
    pub properties: Vec<Property>,
    /// Number of rows, if known before reading. Never content.
    pub rows: Option<u64>,
}

impl NodeType {
    /// A node type without labels or properties.
    pub fn new(name: impl Into<String>, key: Key) -> Self {
        NodeType {
            name: name.into(),
            key,
            implied: false,
            ordered: false,
            labels: LabelVocabulary::None,
            properties: Vec::new(),
            rows: None,
        }
    }
}

/// Whether edges have a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// All of them.
    #[default]
    Directed,
    /// None of them.
    Undirected,
    /// Stated by each row; a row that says nothing is directed.
    PerRow,
}

/// The relation of an edge type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// One relation for all rows.
    Fixed(String),
    /// Each row names its own (NOCK, RDF): batches have a relation column.
    PerRow,
}

impl Relation {
    /// The relation, if it is one for all rows.
    pub fn fixed(&self) -> Option<&str> {
        match self {
            Relation::Fixed(name) => Some(name),
            Relation::PerRow => None,
        }
    }
}

/// An edge type: one table of edges between two node types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EdgeType {
    /// Index of the source node type.
    pub source: usize,
    /// The relation.
    pub relation: Relation,
    /// Index of the target node type.
    pub target: usize,
    /// Whether edges have a direction.
    pub direction: Direction,
    /// What identifies an edge. Without it the edges are a multiset of rows.
    pub key: Option<Key>,
    /// Ends name layers.
    pub layered: bool,
    /// Properties, without the key.
    pub properties: Vec<Property>,
    /// Number of rows, if known before reading. Never content.
    pub rows: Option<u64>,
}

impl EdgeType {
    /// A directed edge type without key or properties.
    pub fn new(source: usize, relation: impl Into<String>, target: usize) -> Self {
        EdgeType {
            source,
            relation: Relation::Fixed(relation.into()),
            target,
            direction: Direction::Directed,
            key: None,
            layered: false,
            properties: Vec::new(),
            rows: None,
        }
    }
}

/// A hyperedge type: one table of hyperedges and one of their members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HyperedgeType {
    /// Its name.
    pub name: String,
    /// What identifies a hyperedge.
    pub key: Key,
    /// Index of the node type of the members.
    pub ends: usize,
    /// Whether it has head and tail instead of members.
    pub direction: Direction,
    /// Members name layers.
    pub layered: bool,
    /// Properties, without the key.
    pub properties: Vec<Property>,
    /// Number of hyperedges, if known before reading. Never content.
    pub rows: Option<u64>,
}

/// Which table an element is a row of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// A node type, by index.
    Nodes(usize),
    /// An edge type, by index; it has a key.
    Edges(usize),
    /// A hyperedge type, by index.
    Hyperedges(usize),
}

/// A property that has several values per owner, or values with qualifiers, in long form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueTable {
    /// Whose property it is.
    pub owner: Owner,
    /// The property; its type is that of one value.
    pub property: Property,
    /// What is said of each value: its named graph, its time.
    pub qualifiers: Vec<Property>,
    /// Number of values, if known before reading. Never content.
    pub rows: Option<u64>,
}

/// A kind of groups: named sets over elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupKind {
    /// `graph`, `slice`, `layer`, `aspect` or `elementary`.
    pub kind: String,
    /// What identifies a group.
    pub key: Key,
    /// The order of the groups means something.
    pub ordered: bool,
    /// Properties of a group.
    pub properties: Vec<Property>,
    /// Keys of groups that hold every element without listing them (annnet's default slice).
    pub all: Vec<String>,
    /// Memberships, by the table of the members.
    pub memberships: Vec<MembershipTable>,
}

/// The memberships of one kind of groups in one table of elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MembershipTable {
    /// Whose rows are members.
    pub of: Owner,
    /// Properties of a membership (a slice's weight of an edge).
    pub properties: Vec<Property>,
}

/// Something that belongs to the graph and to no element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Its name, unique in the graph.
    pub name: String,
    /// What it holds.
    pub body: DocumentBody,
}

/// What a document holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentBody {
    /// JSON text; compared as JSON.
    Json(String),
    /// Text; compared by bytes.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A small table; compared row by row, in order. A carry keeps its cells as text.
    #[serde(with = "crate::table_text")]
    Table(RecordBatch),
}
