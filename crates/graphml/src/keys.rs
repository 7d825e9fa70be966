//! Keys: what data is called, of which type it is, and of what.

use std::collections::HashMap;

use arrow_schema::DataType;

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    Graph,
    Node,
    Edge,
    Hyperedge,
    All,
    /// The file, ports and endpoints.
    Other,
}

impl Domain {
    pub fn of(word: &str) -> Domain {
        match word {
            "graph" => Domain::Graph,
            "node" => Domain::Node,
            "edge" => Domain::Edge,
            "hyperedge" => Domain::Hyperedge,
            "port" | "endpoint" | "graphml" => Domain::Other,
            _ => Domain::All,
        }
    }

    /// Whether data of a key for this stands in an element of `element`.
    pub fn includes(self, element: Domain) -> bool {
        match self {
            Domain::All => true,
            // What is said of the file is said of its graph.
            Domain::Other => element == Domain::Graph,
            own => own == element,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Domain::Graph => "graph",
            Domain::Node => "node",
            Domain::Edge => "edge",
            Domain::Hyperedge => "hyperedge",
            Domain::All => "all",
            Domain::Other => "graphml, port or endpoint",
        }
    }
}

/// A key.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub id: String,
    pub name: String,
    pub domain: Domain,
    pub data_type: DataType,
    /// What yEd keeps there: XML of its own.
    pub yfiles: Option<String>,
    pub default: Option<String>,
    /// The type as it was declared, if it is none of GraphML.
    pub foreign: Option<String>,
}

/// The keys of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    pub all: Vec<Key>,
    by_id: HashMap<String, usize>,
}

impl Keys {
    /// Adds a key; false if its id is taken.
    pub fn add(&mut self, key: Key) -> bool {
        let is_new = self.by_id.insert(key.id.clone(), self.all.len()).is_none();
        self.all.push(key);
        is_new
    }

    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}

/// The type that a word of `attr.type` stands for, and whether it is one of GraphML's.
pub(crate) fn data_type(word: &str) -> (DataType, bool) {
    match word.to_ascii_lowercase().as_str() {
        "boolean" | "bool" => (DataType::Boolean, true),
        "int" | "integer" => (DataType::Int32, true),
        "long" => (DataType::Int64, true),
        "float" => (DataType::Float32, true),
        "double" => (DataType::Float64, true),
        "string" => (DataType::Utf8, true),
        _ => (DataType::Utf8, false),
    }
}

/// Whether a text is a value of a type; an empty one is none but of text, and says nothing.
pub(crate) fn truth(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "True" | "TRUE" | "1" => Some(true),
        "false" | "False" | "FALSE" | "0" => Some(false),
        _ => None,
    }
}

pub(crate) fn integer(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

pub(crate) fn float(text: &str) -> Option<f64> {
    match text.trim() {
        "INF" | "inf" | "Infinity" => Some(f64::INFINITY),
        "-INF" | "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
        "NaN" | "nan" => Some(f64::NAN),
        text if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => text.parse().ok(),
        _ => None,
    }
}
