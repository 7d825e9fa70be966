//! A graph in memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use isomorph::Result;
use isomorph_cypher::{Direction, Map, Node, Nodes, PropertyGraph, Relationship, Value};

#[derive(Debug, Default, Clone)]
pub struct MemoryGraph {
    pub nodes: Vec<(BTreeSet<String>, Map)>,
    pub edges: Vec<Edge>,
}

#[derive(Debug, Clone)]
pub struct Edge {
    pub source: usize,
    pub target: usize,
    pub ty: String,
    pub properties: Map,
    pub deleted: bool,
}

impl MemoryGraph {
    fn node(&self, node: Node) -> &(BTreeSet<String>, Map) {
        &self.nodes[usize::try_from(node.0).unwrap()]
    }

    pub fn edge(&self, one: Relationship) -> &Edge {
        &self.edges[usize::try_from(one.id).unwrap()]
    }

    pub fn relationship(&self, at: usize) -> Relationship {
        let edge = &self.edges[at];
        Relationship { id: at as u64, source: Node(edge.source as u64), target: Node(edge.target as u64) }
    }
}

impl PropertyGraph for MemoryGraph {
    fn nodes(&self, label: Option<&str>) -> Result<Nodes<'_>> {
        let label = label.map(str::to_owned);
        let fits = move |at: &usize| label.as_ref().is_none_or(|label| self.nodes[*at].0.contains(label));
        Ok(Box::new((0..self.nodes.len()).filter(fits).map(|at| Ok(Node(at as u64)))))
    }

    fn find(&self, _: Option<&str>, _: &str, _: &Value) -> Result<Option<Vec<Node>>> {
        Ok(None)
    }

    fn can_find(&self, _: Option<&str>, _: &str) -> bool {
        false
    }

    fn node_count(&self, label: Option<&str>) -> u64 {
        self.nodes(label).map_or(0, |nodes| nodes.count() as u64)
    }

    fn labels(&self, node: Node) -> Result<Vec<Arc<str>>> {
        Ok(self.node(node).0.iter().map(|label| Arc::from(label.as_str())).collect())
    }

    fn relationships(
        &self,
        node: Node,
        direction: Direction,
        types: &[Arc<str>],
        found: &mut Vec<(Relationship, Node)>,
    ) -> Result<()> {
        for at in 0..self.edges.len() {
            let (edge, one) = (&self.edges[at], self.relationship(at));
            if edge.deleted || (!types.is_empty() && !types.iter().any(|ty| **ty == edge.ty)) {
                continue;
            }
            let (out, back) = (one.source == node, one.target == node);
            if out && direction != Direction::In {
                found.push((one, one.target));
            } else if back && direction != Direction::Out {
                found.push((one, one.source));
            }
        }
        Ok(())
    }

    fn relationship_type(&self, one: Relationship) -> Result<Arc<str>> {
        Ok(Arc::from(self.edge(one).ty.as_str()))
    }

    fn node_property(&self, node: Node, name: &str) -> Result<Value> {
        Ok(self.node(node).1.get(name).cloned().unwrap_or_default())
    }

    fn relationship_property(&self, one: Relationship, name: &str) -> Result<Value> {
        Ok(self.edge(one).properties.get(name).cloned().unwrap_or_default())
    }

    fn node_properties(&self, node: Node) -> Result<Map> {
        Ok(self.node(node).1.clone())
    }

    fn relationship_properties(&self, one: Relationship) -> Result<Map> {
        Ok(self.edge(one).properties.clone())
    }
}
