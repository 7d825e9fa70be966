//! The graph that a query reads: nodes, relationships and properties on demand.

use std::sync::Arc;

use isomorph::Result;

use crate::value::{Map, Node, Relationship, Value};

/// The direction in which relationships of a node are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the node.
    Out,
    /// To the node.
    In,
    /// Both.
    Both,
}

impl Direction {
    /// The same relationships seen from the other end.
    pub fn reversed(self) -> Direction {
        match self {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
            Direction::Both => Direction::Both,
        }
    }
}

/// Nodes, one after another.
pub type Nodes<'g> = Box<dyn Iterator<Item = Result<Node>> + 'g>;

/// A property graph. Methods return errors of reading.
#[allow(clippy::missing_errors_doc)]
pub trait PropertyGraph {
    /// The nodes with a label, or all of them; with a label that no node has, none.
    fn nodes(&self, label: Option<&str>) -> Result<Nodes<'_>>;

    /// The nodes whose property equals a value, if the graph finds them faster than by reading all; `None` otherwise.
    fn find(&self, label: Option<&str>, property: &str, value: &Value) -> Result<Option<Vec<Node>>>;

    /// Whether [`PropertyGraph::find`] answers for this property.
    fn can_find(&self, label: Option<&str>, property: &str) -> bool;

    /// About how many nodes have a label, or how many there are.
    fn node_count(&self, label: Option<&str>) -> u64;

    /// The labels of a node, sorted.
    fn labels(&self, node: Node) -> Result<Vec<Arc<str>>>;

    /// Whether a node has a label.
    fn has_label(&self, node: Node, label: &str) -> Result<bool> {
        Ok(self.labels(node)?.iter().any(|one| &**one == label))
    }

    /// The relationships of a node that have one of the types (all, if there are none), with the node at their other end. A loop is
    /// given once. An undirected edge is given for every direction.
    fn relationships(
        &self,
        node: Node,
        direction: Direction,
        types: &[Arc<str>],
        found: &mut Vec<(Relationship, Node)>,
    ) -> Result<()>;

    /// States that the relationships of these nodes will be wanted, so that they can be read together.
    fn prepare(&self, _nodes: &[Node], _direction: Direction, _types: &[Arc<str>]) -> Result<()> {
        Ok(())
    }

    /// The type of a relationship.
    fn relationship_type(&self, relationship: Relationship) -> Result<Arc<str>>;

    /// Whether a relationship has a direction; one without is followed from both ends.
    fn is_directed(&self, _relationship: Relationship) -> Result<bool> {
        Ok(true)
    }

    /// A property of a node; null if it has none of that name.
    fn node_property(&self, node: Node, name: &str) -> Result<Value>;

    /// A property of a relationship; null if it has none of that name.
    fn relationship_property(&self, relationship: Relationship, name: &str) -> Result<Value>;

    /// All properties of a node that are not null.
    fn node_properties(&self, node: Node) -> Result<Map>;

    /// All properties of a relationship that are not null.
    fn relationship_properties(&self, relationship: Relationship) -> Result<Map>;

    /// The tables that the graph is read from, if some patterns can be answered by going over them.
    fn tables(&self) -> Option<&crate::TableGraph<'_>> {
        None
    }

    /// The text that `elementId` returns.
    fn node_element_id(&self, node: Node) -> Result<String> {
        Ok(node.0.to_string())
    }
}
