//! Expected values, as the kit writes them, and the same form of values that were computed.

use std::collections::BTreeMap;

use isomorph_cypher::{PropertyGraph, Value};

use crate::memory_graph::MemoryGraph;

#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Nan,
    Text(String),
    List(Vec<Cell>),
    Map(BTreeMap<String, Cell>),
    Node(Vec<String>, BTreeMap<String, Cell>),
    Relationship(String, BTreeMap<String, Cell>),
    /// The first node, then for each step whether it goes forward, its relationship and its node.
    Path(Vec<Cell>, Vec<bool>),
}

impl Cell {
    /// The same with all lists sorted.
    pub fn sorted(self) -> Cell {
        match self {
            Cell::List(items) => {
                let mut items: Vec<Cell> = items.into_iter().map(Cell::sorted).collect();
                items.sort_by_key(|item| format!("{item:?}"));
                Cell::List(items)
            }
            other => other,
        }
    }
}

/// A computed value.
pub fn of_value(value: &Value, graph: &MemoryGraph) -> Cell {
    let map =
        |map: &isomorph_cypher::Map| map.iter().map(|(key, value)| (key.to_string(), of_value(value, graph))).collect();
    match value {
        Value::Null | Value::JsonNull => Cell::Null,
        Value::Bool(truth) => Cell::Bool(*truth),
        Value::Int(int) => Cell::Int(*int),
        Value::Float(float) if float.is_nan() => Cell::Nan,
        Value::Float(float) => Cell::Float(*float),
        Value::String(text) => Cell::Text(text.to_string()),
        Value::Temporal(temporal) => Cell::Text(temporal.to_string()),
        Value::Duration(duration) => Cell::Text(duration.to_string()),
        Value::List(items) => Cell::List(items.iter().map(|item| of_value(item, graph)).collect()),
        Value::Map(entries) => Cell::Map(map(entries)),
        Value::Node(node) => {
            let labels = graph.labels(*node).unwrap().iter().map(ToString::to_string).collect();
            Cell::Node(labels, map(&graph.node_properties(*node).unwrap()))
        }
        Value::Relationship(one) => Cell::Relationship(graph.edge(*one).ty.clone(), map(&graph.edge(*one).properties)),
        Value::Path(path) => {
            let (mut parts, mut forward) = (vec![of_value(&Value::Node(path.nodes[0]), graph)], Vec::new());
            for (at, one) in path.relationships.iter().enumerate() {
                forward.push(one.source == path.nodes[at]);
                parts.push(of_value(&Value::Relationship(*one), graph));
                parts.push(of_value(&Value::Node(path.nodes[at + 1]), graph));
            }
            Cell::Path(parts, forward)
        }
    }
}

/// An expected value.
pub fn parse(text: &str) -> Cell {
    let mut parser = Parser { text, at: 0 };
    let cell = parser.value();
    parser.space();
    assert!(parser.at == text.len(), "not all of {text} is a value");
    cell
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn need(&mut self, token: &str) {
        assert!(self.take(token), "expected {token} at {} of {}", self.at, self.text);
    }

    fn word(&mut self) -> String {
        self.space();
        let end = self.rest().find(|one: char| !(one.is_alphanumeric() || one == '_')).unwrap_or(self.rest().len());
        let word = self.rest()[..end].to_owned();
        self.at += end;
        word
    }

    fn value(&mut self) -> Cell {
        self.space();
        match self.rest().chars().next().expect("a value") {
            '\'' => self.string(),
            '(' => self.node(),
            '[' if self.rest()[1..].trim_start().starts_with(':') => self.relationship(),
            '[' => {
                self.need("[");
                let mut items = Vec::new();
                while !self.take("]") {
                    items.push(self.value());
                    self.take(",");
                }
                Cell::List(items)
            }
            '{' => Cell::Map(self.map()),
            '<' => self.path(),
            _ => self.plain(),
        }
    }

    fn plain(&mut self) -> Cell {
        let end = self.rest().find([',', ']', '}', ' ']).unwrap_or(self.rest().len());
        let word = self.rest()[..end].to_owned();
        self.at += end;
        match word.as_str() {
            "null" => Cell::Null,
            "true" => Cell::Bool(true),
            "false" => Cell::Bool(false),
            "NaN" => Cell::Nan,
            _ => match (word.parse(), word.parse()) {
                (Ok(int), _) => Cell::Int(int),
                (_, Ok(float)) => Cell::Float(float),
                _ => panic!("{word} is not a value"),
            },
        }
    }

    fn string(&mut self) -> Cell {
        self.need("'");
        let (mut text, mut escaped) = (String::new(), false);
        loop {
            let one = self.rest().chars().next().expect("the end of a string");
            self.at += one.len_utf8();
            match one {
                '\\' if !escaped => escaped = true,
                '\'' if !escaped => return Cell::Text(text),
                _ => {
                    text.push(match (escaped, one) {
                        (true, 'n') => '\n',
                        (true, 't') => '\t',
                        (_, one) => one,
                    });
                    escaped = false;
                }
            }
        }
    }

    fn map(&mut self) -> BTreeMap<String, Cell> {
        self.need("{");
        let mut map = BTreeMap::new();
        while !self.take("}") {
            let key = self.word();
            self.need(":");
            map.insert(key, self.value());
            self.take(",");
        }
        map
    }

    fn labels_and_map(&mut self) -> (Vec<String>, BTreeMap<String, Cell>) {
        let mut labels = Vec::new();
        while self.take(":") {
            labels.push(self.word());
        }
        labels.sort();
        self.space();
        let map = if self.rest().starts_with('{') { self.map() } else { BTreeMap::new() };
        (labels, map)
    }

    fn node(&mut self) -> Cell {
        self.need("(");
        let (labels, map) = self.labels_and_map();
        self.need(")");
        Cell::Node(labels, map)
    }

    fn relationship(&mut self) -> Cell {
        self.need("[");
        let (mut types, map) = self.labels_and_map();
        self.need("]");
        Cell::Relationship(types.pop().expect("a type"), map)
    }

    fn path(&mut self) -> Cell {
        self.need("<");
        let (mut parts, mut forward) = (vec![self.node()], Vec::new());
        while !self.take(">") {
            let back = self.take("<");
            self.need("-");
            parts.push(self.relationship());
            self.need("-");
            if !back {
                self.need(">");
            }
            forward.push(!back);
            parts.push(self.node());
        }
        Cell::Path(parts, forward)
    }
}
