//! Writes a graph as a stream of records.

use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result, Rule};
use isomorph_model::{Batch, Delivery, Direction, Ends, Graph, Property, Sink, ValueKind, Written, json};
use isomorph_storage::{Budget, Scratch, Staging};
use isomorph_tables::PackedWriter;
use isomorph_tables::lookup::{KeyRows, KeyRowsBuilder, Lookup, LookupOptions};

use crate::values::push_float;

/// Bytes written at a time.
const BLOCK: usize = 1 << 16;

/// A value that is not null.
#[derive(Debug, Clone)]
pub enum Cell<'a> {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// The text of a JSON value.
    Json(&'a str),
    /// A list, as its items.
    List(ArrayRef),
}

impl<'a> Cell<'a> {
    /// Returns the value of a column at a row; `None` if it is null.
    ///
    /// # Errors
    /// Returns an error if the column has a type that records do not have.
    pub fn of(column: &'a ArrayRef, row: usize, is_json: bool) -> Result<Option<Cell<'a>>> {
        if column.is_null(row) {
            return Ok(None);
        }
        let other = || Error::usage("a column has another type than declared");
        Ok(Some(match column.data_type() {
            DataType::Boolean => Cell::Bool(column.as_boolean().value(row)),
            DataType::Int32 => Cell::Integer(column.as_primitive::<Int32Type>().value(row).into()),
            DataType::Int64 => Cell::Integer(column.as_primitive::<Int64Type>().value(row).into()),
            DataType::UInt64 => Cell::Integer(column.as_primitive::<UInt64Type>().value(row).into()),
            DataType::Float64 => Cell::Float(column.as_primitive::<Float64Type>().value(row)),
            DataType::List(_) => Cell::List(column.as_list::<i32>().value(row)),
            _ => {
                let text = column.as_string_opt::<i32>().ok_or_else(other)?.value(row);
                if is_json { Cell::Json(text) } else { Cell::Text(text) }
            }
        }))
    }

    /// Appends the value as JSON.
    ///
    /// # Errors
    /// As [`Cell::of`].
    pub fn push_json(&self, out: &mut String) -> Result<()> {
        match self {
            Cell::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Cell::Integer(value) => out.push_str(&value.to_string()),
            Cell::Float(value) => push_float(out, *value),
            Cell::Text(text) => json::push_string(out, text),
            // Between values, ends of lines are spaces.
            Cell::Json(text) => match text.contains(['\n', '\r']) {
                true => out.extend(text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c })),
                false => out.push_str(text),
            },
            Cell::List(items) => {
                out.push('[');
                for row in 0..items.len() {
                    if row > 0 {
                        out.push(',');
                    }
                    match Cell::of(items, row, false)? {
                        Some(item) => item.push_json(out)?,
                        None => out.push_str("null"),
                    }
                }
                out.push(']');
            }
        }
        Ok(())
    }
}

/// The properties of one element.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    /// `nodes` or `edges`.
    of: &'static str,
    properties: &'a [Property],
    columns: &'a [Option<ArrayRef>],
    row: usize,
}

impl<'a> Cells<'a> {
    /// Calls `each` with every property that has a value, and its position.
    ///
    /// # Errors
    /// Returns the errors of `each`, and of columns that have another type than declared.
    pub fn each(&self, mut each: impl FnMut(usize, &Property, Cell<'_>) -> Result<()>) -> Result<()> {
        for (at, (property, column)) in self.properties.iter().zip(self.columns).enumerate() {
            let Some(column) = column else { continue };
            let is_json = matches!(property.kind, ValueKind::Json | ValueKind::Bag);
            if let Some(cell) = Cell::of(column, self.row, is_json)? {
                each(at, property, cell)
                    .map_err(|error| error.at(Place::field(format!("{}.{}", self.of, property.name))))?;
            }
        }
        Ok(())
    }

    /// Returns the value of the property at a position.
    ///
    /// # Errors
    /// As [`Cells::each`].
    pub fn get(&self, at: usize) -> Result<Option<Cell<'a>>> {
        let (Some(property), Some(Some(column))) = (self.properties.get(at), self.columns.get(at)) else {
            return Ok(None);
        };
        Cell::of(column, self.row, matches!(property.kind, ValueKind::Json | ValueKind::Bag))
    }
}

/// The id of a node, or an end of an edge.
#[derive(Debug, Clone, Copy)]
pub enum KeyCell<'a> {
    /// An integer.
    Integer(i64),
    /// A text.
    Text(&'a str),
    /// The row of a node.
    Row(u64),
}

impl KeyCell<'_> {
    /// Appends it as JSON.
    pub fn push_json(&self, out: &mut String) {
        match self {
            KeyCell::Integer(value) => out.push_str(&value.to_string()),
            KeyCell::Text(text) => json::push_string(out, text),
            KeyCell::Row(row) => out.push_str(&row.to_string()),
        }
    }

    fn of(keys: &ArrayRef, row: usize) -> Result<KeyCell<'_>> {
        match (keys.as_primitive_opt::<Int64Type>(), keys.as_string_opt::<i32>()) {
            (Some(numbers), _) => Ok(KeyCell::Integer(numbers.value(row))),
            (_, Some(texts)) => Ok(KeyCell::Text(texts.value(row))),
            _ => Err(Error::usage("node ids must be integers or texts")),
        }
    }
}

/// An edge that is written.
#[derive(Debug, Clone, Copy)]
pub struct EdgeRow<'a> {
    /// Its number.
    pub number: u64,
    /// Its source.
    pub source: KeyCell<'a>,
    /// Its target.
    pub target: KeyCell<'a>,
    /// Whether it is directed; `None` if all edges have the direction of the graph.
    pub directed: Option<bool>,
    /// Its properties.
    pub cells: Cells<'a>,
}

/// How a syntax writes records. Each function appends to `out`.
pub trait Form: Send {
    /// Appends what precedes the nodes.
    ///
    /// # Errors
    /// Returns an error if the graph cannot be stored.
    fn begin(&mut self, out: &mut String, graph: &Graph) -> Result<()>;

    /// Appends a node; `row` is its number.
    ///
    /// # Errors
    /// Returns an error if a value cannot be stored.
    fn node(&mut self, out: &mut String, key: KeyCell<'_>, row: u64, cells: Cells<'_>) -> Result<()>;

    /// The rules that a repeated key, and an end that is not a node, break where edges end in numbers of nodes.
    fn key_rules(&self) -> Option<(&'static Rule, &'static Rule)> {
        None
    }

    /// Appends what is between nodes and edges.
    ///
    /// # Errors
    /// Returns an error if there are too many nodes.
    fn between(&mut self, out: &mut String) -> Result<()>;

    /// Appends an edge.
    ///
    /// # Errors
    /// Returns an error if a value cannot be stored.
    fn edge(&mut self, out: &mut String, edge: EdgeRow<'_>) -> Result<()>;

    /// Appends what follows the edges.
    ///
    /// # Errors
    /// Returns an error if there are too many edges.
    fn end(&mut self, out: &mut String) -> Result<()>;

    /// Whether edges end in rows of nodes instead of keys.
    fn wants_rows(&self) -> bool {
        false
    }
}

/// Writes a file of records.
pub struct RecordWriter<'a> {
    staging: &'a Staging,
    file: PackedWriter,
    form: Box<dyn Form + 'a>,
    nodes: Vec<Property>,
    edges: Vec<Property>,
    by_row: bool,
    rows: u64,
    edge_rows: u64,
    has_nodes_behind: bool,
    /// The rows of keys, for a form that needs them.
    keys: Option<KeyRowsBuilder>,
    found: Option<KeyRows>,
    out: String,
}

/// Options for writing.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Memory for the keys of nodes, for formats whose edges end in numbers.
    pub budget: Budget,
    /// Temporary files.
    pub scratch: Option<Scratch>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { budget: Budget::of_this_machine(), scratch: None }
    }
}

impl<'a> RecordWriter<'a> {
    /// Starts the file of a graph of one node type and one edge type.
    ///
    /// # Errors
    /// Returns an error if the graph has another shape, or the file cannot be created.
    pub fn create(
        staging: &'a Staging,
        graph: &Graph,
        mut form: Box<dyn Form + 'a>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let ([node], [edge]) = (graph.nodes.as_slice(), graph.edges.as_slice()) else {
            return Err(Error::unsupported("this format has nodes and edges of one type"));
        };
        if edge.key.is_some() || edge.layered || edge.relation.fixed().is_none() {
            return Err(Error::unsupported("this format cannot store such edges").at(Place::field("edge")));
        }
        let file = PackedWriter::create(staging, staging.destination().file_name())?;
        let (nodes, edges) = (node.properties.clone(), edge.properties.clone());
        let by_row = edge.direction == Direction::PerRow;
        let mut out = String::new();
        form.begin(&mut out, graph)?;
        let keys = match form.wants_rows() {
            true => {
                let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
                let lookups = LookupOptions::new(&options.budget, &scratch);
                Some(KeyRowsBuilder::new(lookups.memory(options.budget.available() / 2)))
            }
            false => None,
        };
        Ok(RecordWriter {
            staging,
            file,
            form,
            nodes,
            edges,
            by_row,
            rows: 0,
            edge_rows: 0,
            has_nodes_behind: false,
            keys,
            found: None,
            out,
        })
    }

    fn flush(&mut self, least: usize) -> Result<()> {
        if self.out.len() >= least {
            self.file.write_all(self.out.as_bytes())?;
            self.out.clear();
        }
        Ok(())
    }

    fn pass_nodes(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.has_nodes_behind, true) {
            self.form.between(&mut self.out)?;
            if let Some(keys) = self.keys.take() {
                let lookup = keys.finish()?;
                if let Some(repeat) = lookup.repeats().shown().first() {
                    let message = format!("nodes {} and {} have the same key", repeat.first, repeat.row);
                    return Err(
                        broken(self.form.key_rules().map(|(id, _)| id), message).at(Place::default().row(repeat.row))
                    );
                }
                self.found = match lookup {
                    Lookup::Memory(keys) => Some(keys),
                    Lookup::Spilled(_) => {
                        let message =
                            "the keys of nodes do not fit into memory, and edges of this format end in numbers";
                        return Err(Error::new(Kind::TooLarge, message).hint("--memory SIZE    allow more memory"));
                    }
                };
            }
        }
        Ok(())
    }

    /// Returns the ends of edges as rows, if the form needs them.
    fn rows_of(&self, ends: Ends) -> Result<Ends> {
        let (Some(found), Ends::Keys(keys)) = (&self.found, &ends) else { return Ok(ends) };
        let mut rows = Vec::with_capacity(keys.len());
        if found.translate(keys.as_ref(), &mut rows)?.not_found > 0 {
            let end = self.form.key_rules().map(|(_, end)| end);
            return Err(broken(end, "an edge ends in a key that no node has".to_owned()));
        }
        Ok(Ends::Rows(rows.into()))
    }
}

/// The error for keys that a file of numbers cannot tell apart.
fn broken(rule: Option<&'static Rule>, message: String) -> Error {
    match rule {
        Some(rule) => Error::broken(rule, message),
        None => Error::new(Kind::WouldLose, message),
    }
}

fn end(ends: &Ends, row: usize) -> Result<KeyCell<'_>> {
    match ends {
        Ends::Keys(keys) => KeyCell::of(keys, row),
        Ends::Rows(rows) => Ok(KeyCell::Row(rows.value(row))),
    }
}

impl Sink for RecordWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::Nodes(0), Delivery::EdgesAsTheyCome(0)]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => {
                let keys = nodes.keys.as_ref().ok_or_else(|| Error::usage("nodes must have keys"))?;
                if let Some(all) = &mut self.keys {
                    all.push(keys.as_ref())?;
                }
                let properties = std::mem::take(&mut self.nodes);
                for row in 0..nodes.rows {
                    let cells = Cells { of: "nodes", properties: &properties, columns: &nodes.properties, row };
                    let written = self.form.node(&mut self.out, KeyCell::of(keys, row)?, self.rows, cells);
                    written.map_err(|error| error.at(Place::field("nodes").row(self.rows)))?;
                    self.rows += 1;
                    self.flush(BLOCK)?;
                }
                self.nodes = properties;
                Ok(())
            }
            Batch::Edges(edges) => {
                self.pass_nodes()?;
                let (sources, targets) = (self.rows_of(edges.source)?, self.rows_of(edges.target)?);
                let properties = std::mem::take(&mut self.edges);
                for row in 0..edges.rows {
                    let directed = edges.directed.as_ref().filter(|_| self.by_row);
                    let directed = directed.map(|column| column.is_null(row) || column.value(row));
                    let (source, target) = (end(&sources, row)?, end(&targets, row)?);
                    let cells = Cells { of: "edges", properties: &properties, columns: &edges.properties, row };
                    let edge = EdgeRow { number: self.edge_rows, source, target, directed, cells };
                    let written = self.form.edge(&mut self.out, edge);
                    written.map_err(|error| error.at(Place::field("edges").row(self.edge_rows)))?;
                    self.edge_rows += 1;
                    self.flush(BLOCK)?;
                }
                self.edges = properties;
                Ok(())
            }
            _ => Err(Error::usage("this format is written as nodes and edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.pass_nodes()?;
        self.form.end(&mut self.out)?;
        self.flush(0)?;
        self.file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
