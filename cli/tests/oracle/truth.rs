//! The graph according to the lines of `dump`, and naive answers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The parsed lines of `dump`.
pub struct Truth {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// The types and keys of the nodes that values name as their owners.
    pub owners: Vec<(String, Value)>,
    /// All lines, sorted: the graph as a multiset of elements.
    pub lines: Vec<String>,
}

pub struct Node {
    pub ty: String,
    pub key: Option<Value>,
    /// Position among the nodes of its type.
    pub row: usize,
    pub line: String,
    pub labels: Vec<String>,
    pub properties: Value,
}

pub struct Edge {
    pub relation: String,
    pub types: [String; 2],
    /// Keys, or row numbers if nodes have no keys.
    pub ends: [Value; 2],
    pub directed: bool,
    pub properties: Value,
    /// Bag members with the names of columns.
    pub bag: Value,
    pub line: String,
}

impl Truth {
    /// Parses the output of `dump`.
    ///
    /// # Errors
    /// Returns an error for a line that is not JSON or lacks fields of `docs/cli-json.md`.
    pub fn parse(dump: &str) -> Result<Truth, String> {
        let mut truth = Truth { nodes: Vec::new(), edges: Vec::new(), owners: Vec::new(), lines: Vec::new() };
        let mut rows: BTreeMap<String, usize> = BTreeMap::new();
        for line in dump.lines() {
            let value: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
            let properties = value.get("properties").cloned().unwrap_or_default();
            if let Some(ty) = value["node"].as_str() {
                let row = rows.entry(ty.to_owned()).or_default();
                let (key, ty) = (value.get("key").cloned(), ty.to_owned());
                let labels = value["labels"].as_array().into_iter().flatten();
                let labels = labels.filter_map(|label| label.as_str().map(str::to_owned)).collect();
                truth.nodes.push(Node { ty, key, row: *row, line: line.to_owned(), labels, properties });
                *row += 1;
            } else if let Some(relation) = value["edge"].as_str() {
                let text = |name: &str, at: usize| value[name][at].as_str().map(str::to_owned);
                let types = text("types", 0).zip(text("types", 1)).ok_or_else(|| format!("no types: {line}"))?;
                truth.edges.push(Edge {
                    relation: relation.to_owned(),
                    types: [types.0, types.1],
                    ends: [value["ends"][0].clone(), value["ends"][1].clone()],
                    directed: value["directed"].as_bool().unwrap_or(true),
                    properties,
                    bag: value["bag"].clone(),
                    line: line.to_owned(),
                });
            } else if let (true, Some(ty)) = (value["of"][0] == "node", value["of"][1].as_str()) {
                truth.owners.push((ty.to_owned(), value["key"].clone()));
            }
            truth.lines.push(line.to_owned());
        }
        truth.lines.sort_unstable();
        Ok(truth)
    }

    /// Returns the number of nodes of a type: those with a line, and those that only edges or values name.
    pub fn count_of(&self, ty: &str) -> usize {
        let own: Vec<&Node> = self.nodes.iter().filter(|node| node.ty == ty).collect();
        let known: BTreeSet<String> = own.iter().map(|node| Truth::end_of(node).to_string()).collect();
        let ends = self.edges.iter().flat_map(|edge| edge.types.iter().zip(&edge.ends));
        let named = ends.chain(self.owners.iter().map(|(ty, key)| (ty, key))).filter(|(of, _)| *of == ty);
        let named: BTreeSet<String> = named.map(|(_, key)| key.to_string()).collect();
        own.len() + named.difference(&known).count()
    }

    /// Returns the identity of a node in the ends of edges.
    pub fn end_of(node: &Node) -> Value {
        node.key.clone().unwrap_or_else(|| Value::from(node.row))
    }
}

/// Returns the first lines that only one of two sorted lists has, for messages.
pub fn difference(left: &[String], right: &[String]) -> String {
    let missing = |from: &[String], other: &[String]| {
        let lines = from.iter().filter(|line| other.binary_search(line).is_err());
        lines.take(3).cloned().collect::<Vec<_>>().join("\n      ")
    };
    let counts = (left.len(), right.len());
    format!(
        "{counts:?} lines; only left:\n      {}\n    only right:\n      {}",
        missing(left, right),
        missing(right, left)
    )
}
