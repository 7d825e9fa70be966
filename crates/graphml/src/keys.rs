//! Keys: names, types and domains of data.

use std::collections::HashMap;

use arrow_schema::DataType;

/// The domain of a key: the kind of elements to which it applies.
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

    /// Returns whether data of a key with this domain can be in an element of `element`.
    pub fn includes(self, element: Domain) -> bool {
        match self {
            Domain::All => true,
            // Data of the file is data of its graph.
            Domain::Other => element == Domain::Graph,
            own => own == element,
        }
    }

    /// Returns whether data of keys with both domains could be in one element.
    fn overlaps(self, other: Domain) -> bool {
        [Domain::Graph, Domain::Node, Domain::Edge, Domain::Hyperedge]
            .into_iter()
            .any(|element| self.includes(element) && other.includes(element))
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
    /// The type of yEd's own XML.
    pub yfiles: Option<String>,
    pub default: Option<String>,
    /// The declared type, if it is not one of GraphML.
    pub foreign: Option<String>,
}

/// The keys of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    pub all: Vec<Key>,
    by_id: HashMap<String, Vec<usize>>,
    /// The key that was found last.
    last: usize,
}

impl Keys {
    /// Adds a key; returns false if another key for the same elements has this id. NetworkX can write a key of nodes
    /// and a key of edges with the same id.
    pub fn add(&mut self, key: Key) -> bool {
        let same = self.by_id.entry(key.id.clone()).or_default();
        let is_new = !same.iter().any(|at| self.all[*at].domain.overlaps(key.domain));
        same.push(self.all.len());
        self.all.push(key);
        is_new
    }

    /// Returns the key with this id for elements of a kind, or else a key with this id for others.
    pub fn find(&mut self, id: &str, of: Domain) -> Option<usize> {
        // Elements mostly have data for the same keys in the same order.
        for next in [self.last + 1, self.last] {
            if self.all.get(next).is_some_and(|key| key.id == id && key.domain.includes(of)) {
                self.last = next;
                return Some(next);
            }
        }
        let same = self.by_id.get(id)?;
        self.last =
            same.iter().copied().find(|at| self.all[*at].domain.includes(of)).or_else(|| same.first().copied())?;
        Some(self.last)
    }
}

/// Returns the type of an `attr.type`, and whether it is one of GraphML's.
pub(crate) fn data_type(word: &str) -> (DataType, bool) {
    match word.to_ascii_lowercase().as_str() {
        "boolean" | "bool" => (DataType::Boolean, true),
        "int" | "integer" => (DataType::Int32, true),
        "long" => (DataType::Int64, true),
        // Tools write doubles under both names, and read both as doubles.
        "float" | "double" => (DataType::Float64, true),
        "string" => (DataType::Utf8, true),
        _ => (DataType::Utf8, false),
    }
}

/// Returns whether a value is present: only text can be empty. An empty value of another type is absent.
pub(crate) fn says(data_type: &DataType, text: &str) -> bool {
    *data_type == DataType::Utf8 || !text.trim().is_empty()
}

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

/// Parses a 64-bit float; `None` for a finite number that is too large.
pub(crate) fn float(text: &str) -> Option<f64> {
    match text.trim() {
        "INF" | "Inf" | "inf" | "Infinity" => Some(f64::INFINITY),
        "-INF" | "-Inf" | "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
        "NaN" | "nan" => Some(f64::NAN),
        text if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => {
            text.parse().ok().filter(|value: &f64| value.is_finite())
        }
        _ => None,
    }
}
