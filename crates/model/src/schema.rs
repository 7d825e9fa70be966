//! The description of a graph: everything except its rows.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};

use crate::{Key, Property};

/// A graph without its rows. Node types, edge types and so on are referred to by their index here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Graph {
    /// Its name, if it has one. It belongs to the schema, not to the content.
    pub name: Option<String>,
    /// Node types.
    pub nodes: Vec<NodeType>,
    /// Edge types.
    pub edges: Vec<EdgeType>,
    /// Hyperedge types.
    pub hyperedges: Vec<HyperedgeType>,
    /// Properties with several values or with qualifiers, as rows.
    pub values: Vec<ValueTable>,
    /// Kinds of groups: layers, slices, named graphs.
    pub groups: Vec<GroupKind>,
    /// Documents, which belong to the graph as a whole.
    pub documents: Vec<Document>,
    /// Metadata of the format that is not content, for example its version.
    pub metadata: BTreeMap<String, String>,
}

impl Graph {
    /// Returns the index of the node type `name`.
    pub fn node_type(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|ty| ty.name == name)
    }

    /// Returns the parts of an edge type's name: source type, relation (empty if it differs by row), target type.
    pub fn edge_name(&self, ty: &EdgeType) -> (String, String, String) {
        let node = |index: usize| self.nodes.get(index).map(|ty| ty.name.clone()).unwrap_or_default();
        (node(ty.source), ty.relation.fixed().unwrap_or_default().to_owned(), node(ty.target))
    }

    /// Returns the total number of nodes, if it is known for every type.
    pub fn node_rows(&self) -> Option<u64> {
        self.nodes.iter().map(|ty| ty.rows).sum()
    }

    /// Returns the total number of edges, if it is known for every type.
    pub fn edge_rows(&self) -> Option<u64> {
        self.edges.iter().map(|ty| ty.rows).sum()
    }

    /// Returns the first property with the same name as another one of its table, and a description of the table. Such
    /// properties could not be distinguished by name, in requests or in digests.
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

/// The labels that nodes of a type may have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelVocabulary {
    /// Nodes of this type have no labels.
    #[default]
    None,
    /// Declared labels in this order, used or not.
    Declared(Vec<String>),
    /// Any labels; they are known only after reading.
    Open,
}

/// A node type: one table of nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeType {
    /// Its name.
    pub name: String,
    /// The key, which identifies a node.
    pub key: Key,
    /// Whether nodes exist only because something mentions them (RDF resources); then their existence is not a fact.
    pub implied: bool,
    /// Whether the position of a row is significant in addition to the key (vertex ids of GraphAr).
    pub ordered: bool,
    /// Labels in addition to the type.
    pub labels: LabelVocabulary,
    /// Properties, without the key.
    pub properties: Vec<Property>,
    /// The number of rows, if known before reading. Never content.
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
    /// All edges are directed.
    #[default]
    Directed,
    /// No edge is directed.
    Undirected,
    /// Each row has its own direction; the default is directed.
    PerRow,
}

/// The relation of an edge type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// One relation for all rows.
    Fixed(String),
    /// Each row has its own relation (NOCK, RDF): batches have a relation column.
    PerRow,
}

impl Relation {
    /// Returns the relation, if it is the same for all rows.
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
    /// The key, which identifies an edge. Without it, the edges are a multiset of rows.
    pub key: Option<Key>,
    /// Whether ends have layers.
    pub layered: bool,
    /// Properties, without the key.
    pub properties: Vec<Property>,
    /// The number of rows, if known before reading. Never content.
    pub rows: Option<u64>,
}

impl EdgeType {
    /// Creates a directed edge type without key and properties.
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

/// A hyperedge type: a table of hyperedges and a table of their members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HyperedgeType {
    /// Its name.
    pub name: String,
    /// The key, which identifies a hyperedge.
    pub key: Key,
    /// Index of the node type of the members.
    pub ends: usize,
    /// Whether it has a head and a tail instead of members.
    pub direction: Direction,
    /// Whether members have layers.
    pub layered: bool,
    /// Properties, without the key.
    pub properties: Vec<Property>,
    /// The number of hyperedges, if known before reading. Never content.
    pub rows: Option<u64>,
}

/// The table of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// A node type, by index.
    Nodes(usize),
    /// An edge type with a key, by index.
    Edges(usize),
    /// A hyperedge type, by index.
    Hyperedges(usize),
}

/// A property with several values per owner, or with qualifiers, as a table of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueTable {
    /// The type of the owners.
    pub owner: Owner,
    /// The property; its type is that of a single value.
    pub property: Property,
    /// Qualifiers of each value, such as its named graph or its time.
    pub qualifiers: Vec<Property>,
    /// The number of values, if known before reading. Never content.
    pub rows: Option<u64>,
}

/// A kind of groups: named sets of elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupKind {
    /// `graph`, `slice`, `layer`, `aspect` or `elementary`.
    pub kind: String,
    /// The key, which identifies a group.
    pub key: Key,
    /// Whether the order of the groups is significant.
    pub ordered: bool,
    /// Properties of a group.
    pub properties: Vec<Property>,
    /// Keys of groups that contain every element without listing them (annnet's default slice).
    pub all: Vec<String>,
    /// The membership tables, by the type of the members.
    pub memberships: Vec<MembershipTable>,
}

/// The memberships of elements of one type in groups of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MembershipTable {
    /// The type of the members.
    pub of: Owner,
    /// Properties of a membership (for example, the weight of an edge in a slice).
    pub properties: Vec<Property>,
}

/// A document, which belongs to the graph as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Its name, unique in the graph.
    pub name: String,
    /// Its content.
    pub body: DocumentBody,
}

/// The content of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentBody {
    /// JSON text; compared as JSON.
    Json(String),
    /// Text; compared as bytes.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A small table; compared row by row, in order. Sidecars store its cells as text.
    #[serde(with = "crate::table_text")]
    Table(RecordBatch),
}
