//! The nodes and relationships of an answer that another process found.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use isomorph::storage::{Budget, Reservation};
use isomorph::{Error, Kind, Result};

use crate::graph::{Direction, Nodes, PropertyGraph};
use crate::value::{Map, Node, Relationship, Value};

/// What is known of a node.
#[derive(Debug)]
struct Known {
    element_id: String,
    /// Labels and properties; an end of a relationship may come without.
    content: Option<(Vec<Arc<str>>, Map)>,
}

#[derive(Debug)]
struct Elements {
    nodes: Vec<Known>,
    /// By the number of their table and their id.
    numbers: HashMap<(u64, String), usize>,
    relationships: HashMap<u64, (Arc<str>, Map)>,
    memory: Reservation,
}

/// The nodes and relationships of an answer, with all that a row may show of them. It cannot be searched.
#[derive(Debug)]
pub struct AnswerGraph(RefCell<Elements>);

fn missing() -> Error {
    Error::new(
        Kind::Usage,
        "internal error: please report this with the command and `isomorph --version`: an answer was searched",
    )
}

impl AnswerGraph {
    /// One without elements. What comes is kept within the budget.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(budget: &Budget) -> Result<Self> {
        let memory = budget.reserve(0)?;
        let elements = Elements { nodes: Vec::new(), numbers: HashMap::new(), relationships: HashMap::new(), memory };
        Ok(AnswerGraph(RefCell::new(elements)))
    }

    /// The node of this id in this table, which is added if it is new.
    pub(super) fn node(&self, table: u64, element_id: &str, content: Option<(Vec<Arc<str>>, Map)>) -> Result<Node> {
        let mut elements = self.0.borrow_mut();
        let key = (table, element_id.to_owned());
        let at = match elements.numbers.get(&key) {
            Some(at) => *at,
            None => {
                elements.grow(160 + 2 * element_id.len() as u64)?;
                let at = elements.nodes.len();
                elements.nodes.push(Known { element_id: element_id.to_owned(), content: None });
                elements.numbers.insert(key, at);
                at
            }
        };
        if let Some((labels, properties)) = content
            && elements.nodes.get(at).is_some_and(|node| node.content.is_none())
        {
            elements.grow(16 * labels.len() as u64 + bytes(&properties))?;
            if let Some(node) = elements.nodes.get_mut(at) {
                node.content = Some((labels, properties));
            }
        }
        Ok(Node(at as u64))
    }

    /// Adds a relationship.
    pub(super) fn relationship(&self, id: u64, relation: Arc<str>, properties: Map) -> Result<()> {
        let mut elements = self.0.borrow_mut();
        if !elements.relationships.contains_key(&id) {
            elements.grow(64 + bytes(&properties))?;
            elements.relationships.insert(id, (relation, properties));
        }
        Ok(())
    }

    fn of_node<T>(&self, node: Node, read: impl FnOnce(&Known) -> Option<T>) -> Result<T> {
        let elements = self.0.borrow();
        let found = usize::try_from(node.0).ok().and_then(|at| elements.nodes.get(at));
        found.and_then(read).ok_or_else(missing)
    }

    fn of_relationship<T>(&self, one: Relationship, read: impl FnOnce(&Arc<str>, &Map) -> T) -> Result<T> {
        let elements = self.0.borrow();
        elements.relationships.get(&one.id).map(|(relation, map)| read(relation, map)).ok_or_else(missing)
    }
}

fn bytes(map: &Map) -> u64 {
    map.iter().map(|(key, value)| 48 + key.len() as u64 + value.bytes()).sum()
}

impl Elements {
    fn grow(&mut self, bytes: u64) -> Result<()> {
        self.memory.grow(bytes).map_err(|error| error.hint("--memory"))
    }
}

impl PropertyGraph for AnswerGraph {
    fn nodes(&self, _: Option<&str>) -> Result<Nodes<'_>> {
        Err(missing())
    }

    fn find(&self, _: Option<&str>, _: &str, _: &Value) -> Result<Option<Vec<Node>>> {
        Ok(None)
    }

    fn can_find(&self, _: Option<&str>, _: &str) -> bool {
        false
    }

    fn node_count(&self, _: Option<&str>) -> u64 {
        0
    }

    fn labels(&self, node: Node) -> Result<Vec<Arc<str>>> {
        self.of_node(node, |node| node.content.as_ref().map(|(labels, _)| labels.clone()))
    }

    fn relationships(&self, _: Node, _: Direction, _: &[Arc<str>], _: &mut Vec<(Relationship, Node)>) -> Result<()> {
        Err(missing())
    }

    fn relationship_type(&self, one: Relationship) -> Result<Arc<str>> {
        self.of_relationship(one, |relation, _| Arc::clone(relation))
    }

    fn node_property(&self, node: Node, name: &str) -> Result<Value> {
        let read = |node: &Known| node.content.as_ref().map(|(_, map)| map.get(name).cloned().unwrap_or_default());
        self.of_node(node, read)
    }

    fn relationship_property(&self, one: Relationship, name: &str) -> Result<Value> {
        self.of_relationship(one, |_, map| map.get(name).cloned().unwrap_or_default())
    }

    fn node_properties(&self, node: Node) -> Result<Map> {
        self.of_node(node, |node| node.content.as_ref().map(|(_, map)| map.clone()))
    }

    fn relationship_properties(&self, one: Relationship) -> Result<Map> {
        self.of_relationship(one, |_, map| map.clone())
    }

    fn node_element_id(&self, node: Node) -> Result<String> {
        self.of_node(node, |node| Some(node.element_id.clone()))
    }
}
