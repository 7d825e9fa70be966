//! Mapping files: which tables are in which files (`CREATE EXTERNAL TABLE`, the syntax of DataFusion), and which graph they are
//! (`CREATE PROPERTY GRAPH`, ISO/IEC 9075-16).

mod options;
mod parse;
mod types;
mod write;

use std::collections::BTreeMap;

use arrow_schema::DataType;
use isomorph_error::{Error, Place};
use isomorph_model::{Cardinality, ValueKind};
use isomorph_tables::Encoding;

pub use options::{Joined, KNOWN, TableOptions};
pub(crate) use parse::is_blank;
pub use parse::parse;
pub(crate) use types::has_name;
pub use write::is_plain_name;

/// A place in the text of a mapping file, both numbers from 1; 0 where nobody wrote the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct At {
    /// The line.
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
}

impl At {
    /// An error about what stands here in `file`.
    pub(crate) fn error(self, file: &str, what: impl Into<String>) -> Error {
        let message = what.into();
        let error = Error::broken(
            &crate::rules::MAPPING,
            match self.line {
                0 => message,
                _ => format!("{message} (column {})", self.column),
            },
        );
        match self.line {
            // A convention has no mapping file.
            0 if file.is_empty() => Error::usage(error.message().to_owned())
                .hint("isomorph import init DIRECTORY > DIRECTORY/graph.pgq    write what was recognised as a mapping file, and correct it"),
            0 => error.at(Place::file(file)),
            line => error.at(Place::file(file).line(line)),
        }
    }
}

/// A mapping file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// The tables.
    pub tables: Vec<ExternalTable>,
    /// The graph.
    pub graph: PropertyGraph,
}

/// A table in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalTable {
    /// Its name.
    pub name: String,
    /// The declared columns; none where the file itself, or its values, tell.
    pub columns: Vec<Column>,
    /// The encoding of the file.
    pub encoding: Encoding,
    /// The file, relative to the mapping file.
    pub location: String,
    /// Options, as they are written.
    pub options: BTreeMap<String, String>,
    /// What a convention knows of columns that are not declared.
    pub hints: Hints,
    /// Where it is written.
    pub at: At,
}

/// What is known of columns whose other types their values tell: never part of a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hints {
    /// The names of all columns by position, where the header repeats one.
    pub names: Option<Vec<String>>,
    /// The types of some.
    pub types: Vec<(String, ColumnType)>,
    /// The types of cells of some, where a file says them: keys of other tables decide before.
    pub cells: Vec<(String, DataType)>,
    /// The ranges of integers of some, and what such an integer is called.
    pub ranges: Vec<(String, std::ops::RangeInclusive<i64>, &'static str)>,
    /// Columns of which the first says the direction of each edge whose cells are directions.
    pub directed: Vec<String>,
    /// Columns of which one is the key, if no name tells which.
    pub key_among: Vec<String>,
}

/// A declared column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ColumnType,
    /// Whether it is never null.
    pub required: bool,
}

/// The type of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnType {
    /// The type of its values; of lists and sets that of the list.
    pub data_type: DataType,
    /// Whether its cells are JSON.
    pub kind: ValueKind,
    /// Whether it is a list or a set.
    pub cardinality: Cardinality,
}

impl ColumnType {
    /// Plain single values.
    pub fn plain(data_type: DataType) -> Self {
        let cardinality = if matches!(data_type, DataType::List(_)) { Cardinality::List } else { Cardinality::Single };
        ColumnType { data_type, kind: ValueKind::Plain, cardinality }
    }
}

/// The graph that tables are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PropertyGraph {
    /// Its name.
    pub name: String,
    /// Tables of nodes.
    pub vertices: Vec<Vertex>,
    /// Tables of edges.
    pub edges: Vec<Edge>,
    /// Where it is written.
    pub at: At,
}

/// A table of nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Vertex {
    /// The table.
    pub table: String,
    /// What edges call it: its own name, unless it has an alias.
    pub alias: String,
    /// The column with the keys.
    pub key: Option<String>,
    /// The node type.
    pub label: String,
    /// Which columns are properties.
    pub properties: Properties,
    /// Where it is written.
    pub at: At,
}

/// A table of edges.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The table.
    pub table: String,
    /// The column with the keys of edges.
    pub key: Option<String>,
    /// The source.
    pub source: End,
    /// The target.
    pub target: End,
    /// The relation.
    pub label: String,
    /// Which columns are properties.
    pub properties: Properties,
    /// Where it is written.
    pub at: At,
}

/// An end of edges.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// The column with the keys of nodes.
    pub column: String,
    /// The alias of the table of nodes.
    pub references: String,
    /// The column of that table, if it is said.
    pub referenced: Option<String>,
    /// Where it is written.
    pub at: At,
}

/// Which columns of a table are properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Properties {
    /// All but keys and ends.
    All,
    /// All but these, keys and ends.
    Except(Vec<String>),
    /// These, each with the name of the property.
    Listed(Vec<(String, String)>),
}
