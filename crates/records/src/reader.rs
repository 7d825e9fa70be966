//! What a syntax implements, and what it gives beside records.

use std::collections::BTreeMap;

use isomorph_error::{Findings, Result, Rule};
use isomorph_model::{Document, Graph};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::PackedFile;

use crate::slots::Record;

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// A node.
    Node,
    /// An edge.
    Edge,
    /// A hyperedge.
    Hyperedge,
}

impl Item {
    /// Returns its name for messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Item::Node => "node",
            Item::Edge => "edge",
            Item::Hyperedge => "hyperedge",
        }
    }
}

/// What a file states about the graph; complete when the last record was read.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// Whether edges that do not say it are directed.
    pub directed: bool,
    /// The name of the graph.
    pub name: Option<String>,
    /// Documents of the graph.
    pub documents: Vec<Document>,
    /// What the format needs to write the same file again.
    pub metadata: BTreeMap<String, String>,
    /// What was recognised, and from what: pairs of subject and fact.
    pub recognised: Vec<(String, String)>,
    /// Rules that are broken without being an error.
    pub findings: Findings,
}

/// Reads the records of one file.
pub trait Reader: Send {
    /// Reads the next record; `None` at the end. An id or an end that is missing is not set in the record: [`Syntax`] has the rules.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or breaks a rule of the syntax.
    fn next(&mut self, record: &mut Record) -> Result<Option<Item>>;

    /// Returns where the current record is in the file, in bytes.
    fn offset(&self) -> u64;

    /// Returns what the file states about the graph, after the last record.
    fn head(&mut self) -> Head;
}

/// The rules that records of every syntax obey.
#[derive(Debug, Clone, Copy)]
pub struct RecordRules {
    /// Node ids are unique, and every node has one.
    pub id: &'static Rule,
    /// Edges end in nodes.
    pub end: &'static Rule,
    /// Values have the type that was declared or surveyed.
    pub value: &'static Rule,
    /// Ids are all integers, or all texts; a warning.
    pub mixed: &'static Rule,
    /// Ids of hyperedges are unique, in a syntax that has hyperedges.
    pub hyperedge: Option<&'static Rule>,
}

/// Whether an attribute may be the key of nodes whose ids are their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// Ids are keys.
    Never,
    /// The attribute with this name is, if every node has another text there, or if the sidecar says so.
    Usual(&'static str),
    /// The attribute with this name is, if the sidecar says so.
    Sidecar(&'static str),
}

impl Labels {
    /// Returns the name of the attribute.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Labels::Never => None,
            Labels::Usual(name) | Labels::Sidecar(name) => Some(name),
        }
    }
}

/// A syntax.
pub trait Syntax: Send + Sync {
    /// Its name for display.
    fn name(&self) -> &'static str;

    /// Its rules for records.
    fn rules(&self) -> RecordRules;

    /// Starts to read a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be decompressed.
    fn reader(&self, file: &PackedFile) -> Result<Box<dyn Reader>>;

    /// Whether an attribute may be the key.
    fn labels(&self) -> Labels {
        Labels::Never
    }

    /// Attributes that the writer adds for other tools, and that are no properties if the sidecar does not know them.
    fn added(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether JSON is stored as text.
    fn has_json_as_text(&self) -> bool {
        false
    }

    /// Whether each edge has a direction of its own as soon as one has another than the default of the file, even if they all agree.
    fn heeds_default_direction(&self) -> bool {
        false
    }

    /// Whether the position of a node is its id if no node has one.
    fn numbers_nodes(&self) -> bool {
        false
    }

    /// Whether ids are integers of 64 bits; the reader gives no other.
    fn has_integer_ids(&self) -> bool {
        false
    }

    /// Returns the rule that no two edges have the same ends, if the file says so, or does not say otherwise.
    fn single_edges(&self, _head: &Head) -> Option<&'static Rule> {
        None
    }
}

/// Options for opening a file.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The graph that was written, if a sidecar describes it: types that the text does not state.
    pub shown: Option<Graph>,
    /// Whether nodes without an id or with a repeated one, and edges without an end or that end in no node, are set aside.
    pub lenient: bool,
    /// Memory for checks.
    pub budget: Budget,
    /// Temporary files.
    pub scratch: Option<Scratch>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions { shown: None, lenient: false, budget: Budget::of_this_machine(), scratch: None }
    }
}
