//! How edge lists are opened and written.

use std::fmt;
use std::str::FromStr;

use arrow_schema::DataType;
use isomorph_error::Error;
use isomorph_model::Graph;
use isomorph_storage::{Budget, Scratch};

/// How an edge list is opened.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// What the columns behind the ends are called, and of which types they are.
    pub columns: Vec<Column>,
    /// Edges have no direction. Else the comments tell; where they say nothing, edges have one.
    pub undirected: bool,
    /// The graph that was written, where a sidecar knows it: types that the text does not tell.
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

/// A column as somebody calls it: `weight`, `since:int`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type, if it is said: otherwise the values tell.
    pub data_type: Option<DataType>,
}

impl FromStr for Column {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::usage(format!("{text:?} names no column")).hint("weight").hint("since:int|float|text");
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

/// Where the properties of edges stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeData {
    /// In columns behind the ends, divided by tabs: what SNAP has, and what tables are read from.
    Columns,
    /// In a dictionary behind the ends: what NetworkX has.
    Dictionary,
}

impl EdgeData {
    /// All of them.
    pub const ALL: [EdgeData; 2] = [EdgeData::Columns, EdgeData::Dictionary];

    /// The word of the flag.
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

/// How an edge list is written.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Where properties stand; without, in columns if all are numbers that every edge has.
    pub data: Option<EdgeData>,
    /// Write nodes without edges and properties of nodes as nothing; the plan has told what is lost.
    pub without_unheld: bool,
}
