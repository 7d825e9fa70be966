//! What `OPTIONS` may say of a table.

use std::collections::BTreeMap;

use super::ExternalTable;
use isomorph_error::{Result, did_you_mean};
use serde::{Deserialize, Serialize};

/// The options and what they mean.
pub const KNOWN: &[(&str, &str)] = &[
    ("format.delimiter", "the character between the fields of CSV"),
    ("format.has_header", "whether the first line of CSV names the columns"),
    ("isomorph.header", "first: only the first file of a table has a line with the names of its columns"),
    ("isomorph.parts", "a JSON array of the names of further files of the table"),
    ("isomorph.quotes", "literal: quotation marks in CSV are ordinary characters, as KGX writes them"),
    ("format.null_value", "an unquoted word of CSV that means null"),
    (
        "isomorph.columns",
        "position: the declared columns are those of the file in their order, whatever its header says",
    ),
    ("isomorph.array_delimiter", "the character between the items of a list in a text cell; without it lists are JSON"),
    (
        "isomorph.joined",
        "{\"column\": …, \"of\": […]}: a column whose cells are the texts of others, one after another",
    ),
    ("isomorph.labels", "the column with the labels of nodes"),
    ("isomorph.type_label", "first: the first label of each node is the name of its type, and no label"),
    ("isomorph.relation", "the column that names the relation of each edge"),
    ("isomorph.directed", "the column that says whether an edge has a direction"),
    ("isomorph.direction", "undirected: no edge of the table has a direction"),
    ("isomorph.key", "row: the key counts the rows from 0, and nodes have no other key"),
    (
        "isomorph.ends",
        "a JSON array of columns of the table of edges with this LOCATION: the nodes are their different values",
    ),
    (
        "isomorph.integers",
        "a JSON array of columns with keys or ends of edges whose floats are integers, as pandas writes them: 1.0 is 1",
    ),
];

/// A column that no file has: its cells are the texts of other columns, one after another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    /// Its name.
    pub column: String,
    /// The others.
    pub of: Vec<String>,
}

/// The options of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The byte between fields.
    pub delimiter: Option<u8>,
    /// Whether quotation marks are ordinary characters.
    pub literal_quotes: bool,
    /// Whether there is no header.
    pub headless: bool,
    /// Whether only the first file of a table has a header.
    pub first_header: bool,
    /// Further files.
    pub parts: Vec<String>,
    /// A word for null.
    pub null: Option<String>,
    /// Whether declared columns are found by position.
    pub by_position: bool,
    /// What divides the items of lists.
    pub array_delimiter: Option<char>,
    /// A column that is made of others.
    pub joined: Option<Joined>,
    /// The column of labels.
    pub labels: Option<String>,
    /// Whether the first label of each node is its type.
    pub type_label: bool,
    /// The column of relations.
    pub relation: Option<String>,
    /// The column of directions.
    pub directed: Option<String>,
    /// Whether no edge has a direction.
    pub undirected: bool,
    /// Whether keys are numbers of rows.
    pub row_keys: bool,
    /// The columns of the table of edges with the same location whose different values are the rows.
    pub ends: Vec<String>,
    /// The columns whose floats are integers.
    pub integers: Vec<String>,
}

impl TableOptions {
    /// The options of `table`, which is declared in `file`.
    ///
    /// # Errors
    /// For an option that is not known, or a value that it cannot have.
    pub fn of(table: &ExternalTable, file: &str) -> Result<TableOptions> {
        let mut own = TableOptions::default();
        for (name, value) in &table.options {
            let wrong = |expected: &str| {
                Err(table.at.error(file, format!("the option {name} cannot be {value:?}")).hint(expected.to_owned()))
            };
            let column = Some(value.clone());
            match name.as_str() {
                "format.delimiter" => match value.as_bytes() {
                    [byte] if !b"\"\r\n".contains(byte) && byte.is_ascii() => own.delimiter = Some(*byte),
                    b"\\t" => own.delimiter = Some(b'\t'),
                    _ => return wrong("one ASCII character: ',' or ';' or '|' or '\\t'"),
                },
                "format.has_header" => match value.as_str() {
                    "true" => own.headless = false,
                    "false" => own.headless = true,
                    _ => return wrong("true or false"),
                },
                "isomorph.header" if value == "first" => own.first_header = true,
                "isomorph.header" => return wrong("first"),
                "isomorph.parts" => match serde_json::from_str(value) {
                    Ok(parts) => own.parts = parts,
                    Err(_) => return wrong("[\"part-2.csv\", \"part-3.csv\"]"),
                },
                "isomorph.quotes" if value == "literal" => own.literal_quotes = true,
                "isomorph.quotes" => return wrong("literal"),
                "format.null_value" => own.null = column,
                "isomorph.columns" if value == "position" => own.by_position = true,
                "isomorph.columns" => return wrong("position"),
                "isomorph.array_delimiter" => match value.chars().collect::<Vec<_>>().as_slice() {
                    [one] => own.array_delimiter = Some(*one),
                    _ => return wrong("one character: ';' or '|'"),
                },
                "isomorph.joined" => match serde_json::from_str(value) {
                    Ok(joined) => own.joined = Some(joined),
                    Err(_) => return wrong("{\"column\": \"id\", \"of\": [\"country\", \"number\"]}"),
                },
                "isomorph.labels" => own.labels = column,
                "isomorph.type_label" if value == "first" => own.type_label = true,
                "isomorph.type_label" => return wrong("first"),
                "isomorph.relation" => own.relation = column,
                "isomorph.directed" => own.directed = column,
                "isomorph.direction" => match value.as_str() {
                    "undirected" => own.undirected = true,
                    "directed" => own.undirected = false,
                    _ => return wrong("directed or undirected"),
                },
                "isomorph.key" if value == "row" => own.row_keys = true,
                "isomorph.key" => return wrong("row"),
                "isomorph.ends" => match serde_json::from_str::<Vec<String>>(value) {
                    Ok(ends) if !ends.is_empty() => own.ends = ends,
                    _ => return wrong("[\"source\", \"target\"]"),
                },
                "isomorph.integers" => match serde_json::from_str::<Vec<String>>(value) {
                    Ok(columns) => own.integers = columns,
                    Err(_) => return wrong("[\"source\", \"target\"]"),
                },
                other => {
                    let near = did_you_mean(other, KNOWN.iter().map(|(name, _)| *name));
                    let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
                    let error = table.at.error(file, format!("there is no option {other}{near}"));
                    return Err(error.hint(names.join(", ")));
                }
            }
        }
        Ok(own)
    }

    /// The same as they are written.
    pub fn written(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        let mut put = |name: &str, value: Option<String>| value.map(|value| all.insert(name.to_owned(), value));
        put(
            "format.delimiter",
            self.delimiter.map(|byte| match byte {
                b'\t' => "\\t".to_owned(),
                other => char::from(other).to_string(),
            }),
        );
        put("isomorph.quotes", self.literal_quotes.then(|| "literal".to_owned()));
        put("format.has_header", self.headless.then(|| "false".to_owned()));
        put("isomorph.header", self.first_header.then(|| "first".to_owned()));
        let parts = (!self.parts.is_empty()).then(|| serde_json::Value::from(self.parts.clone()).to_string());
        put("isomorph.parts", parts);
        put("format.null_value", self.null.clone());
        put("isomorph.columns", self.by_position.then(|| "position".to_owned()));
        put("isomorph.array_delimiter", self.array_delimiter.map(String::from));
        put("isomorph.joined", self.joined.as_ref().and_then(|joined| serde_json::to_string(joined).ok()));
        put("isomorph.labels", self.labels.clone());
        put("isomorph.type_label", self.type_label.then(|| "first".to_owned()));
        put("isomorph.relation", self.relation.clone());
        put("isomorph.directed", self.directed.clone());
        put("isomorph.direction", self.undirected.then(|| "undirected".to_owned()));
        put("isomorph.key", self.row_keys.then(|| "row".to_owned()));
        let ends = (!self.ends.is_empty()).then(|| serde_json::Value::from(self.ends.clone()).to_string());
        put("isomorph.ends", ends);
        let integers = (!self.integers.is_empty()).then(|| serde_json::Value::from(self.integers.clone()).to_string());
        put("isomorph.integers", integers);
        all
    }
}
