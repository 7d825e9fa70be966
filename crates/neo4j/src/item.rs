//! The records of a text: nodes and relationships, one after another.

use isomorph_error::{Place, Result};

use crate::value::{Members, Value};

/// A record.
#[derive(Debug, PartialEq)]
pub(crate) enum Item {
    Node(Node),
    Edge(Edge),
}

/// A node.
#[derive(Debug, PartialEq)]
pub(crate) struct Node {
    /// The name of its type.
    pub ty: String,
    pub key: Value,
    pub labels: Vec<String>,
    pub properties: Members,
}

/// A relationship.
#[derive(Debug, PartialEq)]
pub(crate) struct Edge {
    pub relation: String,
    /// Types and keys of source and target.
    pub ends: [(String, Value); 2],
    pub properties: Members,
}

/// A reader of records.
pub(crate) trait Items: Send {
    /// The next record.
    ///
    /// # Errors
    /// If the text cannot be read, or is not understood.
    fn next(&mut self) -> Result<Option<Item>>;

    /// Where the last record is.
    fn place(&self) -> Place;
}
