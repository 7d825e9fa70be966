//! Writes an edge list.

use std::fmt::Write as _;
use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{Batch, Delivery, Direction, EdgeBatch, Ends, Graph, Property, Sink, ValueKind, Written};
use isomorph_storage::Staging;
use isomorph_tables::PackedWriter;

use crate::python::{push_float, push_text, push_value_of_json};
use crate::source::EDGE;
use crate::{EdgeData, WriteOptions, holds, unheld};

/// An edge list that is being written.
pub struct EdgeListWriter<'a> {
    staging: &'a Staging,
    file: PackedWriter,
    properties: Vec<Property>,
    data: EdgeData,
    direction: Direction,
    has_begun: bool,
    line: String,
}

impl<'a> EdgeListWriter<'a> {
    /// Starts the edge list of a graph of one node type and one edge type.
    ///
    /// # Errors
    /// Returns an error if the graph has another shape, or if something would be lost without permission.
    pub fn create(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Self> {
        let ([_], [edge]) = (graph.nodes.as_slice(), graph.edges.as_slice()) else {
            return Err(Error::unsupported("an edge list has nodes and edges of one type"));
        };
        if edge.key.is_some() || edge.layered || edge.relation.fixed().is_none() || !edge.properties.iter().all(holds) {
            return Err(Error::unsupported("an edge list cannot store such edges").at(Place::field(EDGE)));
        }
        if let Some((what, why)) = unheld(graph).first().filter(|_| !options.without_unheld) {
            return Err(Error::new(Kind::WouldLose, format!("{what} would be lost: {why}")));
        }
        let properties = edge.properties.clone();
        let is_number = |own: &Property| matches!(own.data_type, DataType::Int64 | DataType::Float64) && !own.nullable;
        let data = match options.data {
            Some(data) => data,
            None if properties.iter().all(is_number) => EdgeData::Columns,
            None => EdgeData::Dictionary,
        };
        let file = PackedWriter::create(staging, staging.destination().file_name())?;
        let (direction, has_begun, line) = (edge.direction, false, String::new());
        Ok(EdgeListWriter { staging, file, properties, data, direction, has_begun, line })
    }

    fn edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let ends = [name(&edges.source)?, name(&edges.target)?];
        if edges.rows > 0 && !std::mem::replace(&mut self.has_begun, true) {
            let head = head(self.direction, &self.properties, self.data)?;
            self.file.write_all(head.as_bytes())?;
        }
        let separator = if self.data == EdgeData::Columns { '\t' } else { ' ' };
        for row in 0..edges.rows {
            ends[0].push(row, self.data, &mut self.line)?;
            self.line.push(separator);
            ends[1].push(row, self.data, &mut self.line)?;
            match self.data {
                EdgeData::Columns => self.columns(edges, row)?,
                EdgeData::Dictionary => self.dictionary(edges, row)?,
            }
            self.line.push('\n');
            if self.line.len() > 1 << 16 || row + 1 == edges.rows {
                self.file.write_all(self.line.as_bytes())?;
                self.line.clear();
            }
        }
        Ok(())
    }

    fn columns(&mut self, edges: &EdgeBatch, row: usize) -> Result<()> {
        for (property, column) in self.properties.iter().zip(&edges.properties) {
            self.line.push('\t');
            let Some(column) = column.as_ref().filter(|column| column.is_valid(row)) else { continue };
            match column.data_type() {
                DataType::Utf8 => {
                    let text = column.as_string::<i32>().value(row);
                    if text.is_empty()
                        || text.contains(['\t', '\n', '\r', '#'])
                        || text.trim_matches(' ') != text
                        || text.starts_with('{')
                    {
                        return Err(no_place(
                            property,
                            "text that is empty, contains tabs, line ends or #, has blanks around it, or begins with {",
                        ));
                    }
                    self.line.push_str(text);
                }
                // Not the literal of dictionaries: columns are read as words.
                DataType::Float64 if column.as_primitive::<Float64Type>().value(row).is_infinite() => {
                    let is_positive = column.as_primitive::<Float64Type>().value(row) > 0.0;
                    self.line.push_str(if is_positive { "inf" } else { "-inf" });
                }
                _ => value(property, column, row, &mut self.line)?,
            }
        }
        Ok(())
    }

    fn dictionary(&mut self, edges: &EdgeBatch, row: usize) -> Result<()> {
        self.line.push_str(" {");
        let mut is_first = true;
        for (property, column) in self.properties.iter().zip(&edges.properties) {
            let Some(column) = column.as_ref().filter(|column| column.is_valid(row)) else { continue };
            if !std::mem::take(&mut is_first) {
                self.line.push_str(", ");
            }
            push_text(&mut self.line, &property.name);
            self.line.push_str(": ");
            value(property, column, row, &mut self.line)?;
        }
        self.line.push('}');
        Ok(())
    }
}

fn no_place(property: &Property, what: &str) -> Error {
    Error::new(Kind::WouldLose, format!("a column of an edge list cannot store {what}"))
        .at(Place::field(property.name.clone()))
        .hint("--edge-data dictionary    write dictionaries, as NetworkX does")
}

/// Returns the comments at the beginning, in SNAP's words: they identify an edge list, whatever the name of the file,
/// and prevent the first line from being read as a header.
fn head(direction: Direction, properties: &[Property], data: EdgeData) -> Result<String> {
    let undirected = direction == Direction::Undirected;
    let mut head = String::from(if undirected { "# Undirected graph\n" } else { "# Directed graph\n" });
    if data == EdgeData::Columns {
        head.push_str("# FromNodeId\tToNodeId");
        for property in properties {
            let name = &property.name;
            if name.is_empty() || name.contains(['\t', '\n', '\r']) || name.trim() != name {
                return Err(no_place(property, "such a name"));
            }
            head.push('\t');
            head.push_str(name);
        }
        head.push('\n');
    }
    Ok(head)
}

/// Names of one side.
enum Names<'a> {
    Integers(&'a [i64]),
    Texts(&'a arrow_array::StringArray),
}

fn name(ends: &Ends) -> Result<Names<'_>> {
    let Ends::Keys(keys) = ends else { return Err(Error::usage("ends must be keys")) };
    match keys.as_primitive_opt::<Int64Type>() {
        Some(numbers) => Ok(Names::Integers(numbers.values())),
        None => {
            keys.as_string_opt::<i32>().map(Names::Texts).ok_or_else(|| Error::usage("keys must be integers or texts"))
        }
    }
}

impl Names<'_> {
    fn push(&self, row: usize, data: EdgeData, out: &mut String) -> Result<()> {
        match self {
            Names::Integers(values) => {
                let _ = write!(out, "{}", values.get(row).copied().unwrap_or_default());
            }
            Names::Texts(texts) => {
                let text = texts.value(row);
                if !has_place(text, data) {
                    let error = Error::new(Kind::WouldLose, format!("an edge list cannot store the name {text:?}"));
                    return Err(match data {
                        _ if text.contains('#') => {
                            error.hint("--to csv    write tables: NetworkX cuts the lines of an edge list at #")
                        }
                        EdgeData::Dictionary if has_place(text, EdgeData::Columns) => {
                            error.hint("--edge-data columns    separate by tabs, which allows blanks in names")
                        }
                        _ => error,
                    });
                }
                out.push_str(text);
            }
        }
        Ok(())
    }
}

/// Returns whether readers recover the name, with tabs or blanks as separators.
fn has_place(name: &str, data: EdgeData) -> bool {
    let begins = name.starts_with(['#', '%', '"', '<', '[', '@', ' ', '\u{feff}']);
    let is_foreign = |c: char| match data {
        EdgeData::Columns => c.is_control() || matches!(c, '#' | '{'),
        EdgeData::Dictionary => c.is_control() || c.is_whitespace() || matches!(c, ',' | '#' | '{'),
    };
    !name.is_empty() && !begins && !name.ends_with(' ') && !name.contains(is_foreign)
}

/// Appends a value that is not null, in Python's notation.
pub(crate) fn value(property: &Property, column: &ArrayRef, row: usize, out: &mut String) -> Result<()> {
    match column.data_type() {
        DataType::Boolean => out.push_str(if column.as_boolean().value(row) { "True" } else { "False" }),
        DataType::Int64 => {
            let _ = write!(out, "{}", column.as_primitive::<Int64Type>().value(row));
        }
        DataType::Float64 => push_float(out, column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 if property.kind == ValueKind::Json => {
            push_value_of_json(out, column.as_string::<i32>().value(row))?;
        }
        DataType::Utf8 => push_text(out, column.as_string::<i32>().value(row)),
        other => return Err(Error::usage(format!("a column has type {other}, which was not declared"))),
    }
    Ok(())
}

impl Sink for EdgeListWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        // Nodes are delivered for their keys, because edges refer to rows.
        vec![Delivery::Nodes(0), Delivery::EdgesAsTheyCome(0)]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Edges(edges) => self.edges(&edges),
            Batch::Nodes(_) => Ok(()),
            _ => Err(Error::usage("an edge list stores only edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        if !self.has_begun {
            self.file.write_all(head(self.direction, &self.properties, self.data)?.as_bytes())?;
        }
        self.file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
