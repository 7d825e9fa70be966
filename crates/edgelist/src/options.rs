//! Options for reading and writing edge lists.

use std::fmt;
use std::str::FromStr;

use arrow_schema::DataType;
use isomorph_error::Error;
use isomorph_model::Graph;
use isomorph_storage::{Budget, Scratch};

/// Options for reading.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Names and types of the columns after source and target.
    pub columns: Vec<Column>,
    /// Edges are undirected. Otherwise the comments decide; without a comment, edges are directed.
    pub undirected: bool,
    /// The graph that was written, if a sidecar describes it: types that the text does not state.
    pub shown: Option<Graph>,
    /// Memory for sorting nodes.
    pub budget: Budget,
    /// Temporary files.
    pub scratch: Option<Scratch>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        let (columns, undirected, shown) = (Vec::new(), false, None);
        OpenOptions { columns, undirected, shown, budget: Budget::of_this_machine(), scratch: None }
    }
}

/// A column as given on the command line: `weight`, `since:int`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type; `None` if it follows from the values.
    pub data_type: Option<DataType>,
}

impl FromStr for Column {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong =
            || Error::usage(format!("{text:?} is not a column name")).hint("weight").hint("since:int|float|text");
        let (name, data_type) = match text.rsplit_once(':') {
            Some((name, "int")) => (name, Some(DataType::Int64)),
            Some((name, "float")) => (name, Some(DataType::Float64)),
            Some((name, "text")) => (name, Some(DataType::Utf8)),
            Some(_) => return Err(wrong()),
            None => (text, None),
        };
        if name.is_empty() { Err(wrong()) } else { Ok(Column { name: name.to_owned(), data_type }) }
    }
}

/// How the properties of edges are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeData {
    /// In columns after source and target, separated by tabs: as in SNAP, and readable as a table.
    Columns,
    /// In a dictionary after source and target: as in NetworkX.
    Dictionary,
}

impl EdgeData {
    /// All variants.
    pub const ALL: [EdgeData; 2] = [EdgeData::Columns, EdgeData::Dictionary];

    /// Returns the word of the flag.
    pub fn word(self) -> &'static str {
        match self {
            EdgeData::Columns => "columns",
            EdgeData::Dictionary => "dictionary",
        }
    }
}

impl fmt::Display for EdgeData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Options for writing.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// How properties are written; by default, in columns if all are numbers that every edge has.
    pub data: Option<EdgeData>,
    /// Drop nodes without edges and properties of nodes; the plan has listed these losses.
    pub without_unheld: bool,
    /// Memory for sorting and numbering; that of the machine if not given.
    pub budget: Option<Budget>,
    /// Temporary files.
    pub scratch: Option<Scratch>,
}
