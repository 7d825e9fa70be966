//! Writes a Pajek network as NetworkX and Pajek read it.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{
    Batch, Delivery, Direction, EdgeBatch, EdgeOrder, Ends, Graph, NodeBatch, Property, Sink, ValueKind, Written,
};
use isomorph_storage::{Scratch, ScratchFile, Staging};
use isomorph_tables::PackedWriter;

use super::{FILLED, RELATION, SHAPE};
use crate::matrix_market::WEIGHT;
use crate::notation::Notation;
use crate::{WriteOptions, checked};

/// Coordinates that precede the shape. NetworkX expects two: a third one is a pair of its name and its value.
const COORDINATES: [&str; 2] = ["x", "y"];

/// A network that is being written. The number of vertices precedes them: they wait in a temporary file.
pub(crate) struct PajekWriter<'a> {
    staging: &'a Staging,
    file: PackedWriter,
    vertices: ScratchFile,
    edges: ScratchFile,
    count: u64,
    name: Option<String>,
    of_nodes: Vec<Property>,
    of_edges: Vec<Property>,
    direction: Direction,
    /// The section of the last edge: whether it is directed. A relation is a value of its edges: NetworkX and igraph cannot read
    /// sections with relations.
    section: Option<bool>,
    line: String,
}

impl<'a> PajekWriter<'a> {
    /// Starts the network of a graph of one node type and one edge type.
    ///
    /// # Errors
    /// Returns an error if the graph has another shape, or if something would be lost without permission.
    pub fn create(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Self> {
        let edge = checked(Notation::Pajek, graph, options)?;
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let of_nodes = graph.nodes.first().map(|ty| ty.properties.clone()).unwrap_or_default();
        for property in of_nodes.iter().chain(&edge.properties) {
            let name = &property.name;
            let is_foreign = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '\\');
            if name.is_empty() || name.contains(is_foreign) || name.starts_with('[') || name.parse::<f64>().is_ok() {
                let message = format!("Pajek cannot store the name {name:?}: names are words, not numbers");
                return Err(Error::new(Kind::WouldLose, message));
            }
        }
        Ok(PajekWriter {
            staging,
            file: PackedWriter::create(staging, staging.destination().file_name())?,
            vertices: scratch.create()?,
            edges: scratch.create()?,
            count: 0,
            name: graph.name.clone(),
            of_nodes,
            of_edges: edge.properties.clone(),
            direction: edge.direction,
            section: None,
            line: String::new(),
        })
    }

    fn nodes(&mut self, nodes: &NodeBatch) -> Result<()> {
        let keys = nodes.keys.as_ref().ok_or_else(|| Error::usage("nodes must have keys"))?;
        for row in 0..nodes.rows {
            self.count += 1;
            let _ = write!(self.line, "{} ", self.count);
            match keys.as_primitive_opt::<Int64Type>() {
                Some(numbers) => {
                    let _ = write!(self.line, "\"{}\"", numbers.value(row));
                }
                None => {
                    let texts = keys.as_string_opt::<i32>();
                    quoted(
                        &mut self.line,
                        texts.ok_or_else(|| Error::usage("keys must be integers or texts"))?.value(row),
                    )?;
                }
            }
            let own = Columns { properties: &self.of_nodes, columns: &nodes.properties };
            let is_placed = |name: &str| name == SHAPE || COORDINATES.contains(&name);
            let others = || own.given(row).filter(|(property, _)| !is_placed(&property.name));
            // NetworkX reads coordinates only with a shape, and what follows only after these. Those that a node lacks, although
            // others have them, are listed, so that they stay absent.
            let all = || COORDINATES.into_iter().chain([SHAPE]);
            if others().next().is_some() || all().any(|name| own.valid(name, row).is_some()) {
                for name in COORDINATES {
                    self.line.push(' ');
                    match own.valid(name, row) {
                        Some(column) => bare(&mut self.line, column, row)?,
                        None => self.line.push_str("0.0"),
                    }
                }
                self.line.push(' ');
                match own.valid(SHAPE, row) {
                    Some(column) => text(&mut self.line, column, row)?,
                    None => self.line.push_str("ellipse"),
                }
                filled(&mut self.line, all().filter(|name| own.lacks(name, row)));
            }
            pairs(&mut self.line, others(), row)?;
            self.line.push('\n');
        }
        self.vertices.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }

    fn some_edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let (Ends::Rows(sources), Ends::Rows(targets)) = (&edges.source, &edges.target) else {
            return Err(Error::usage("ends must be rows"));
        };
        for row in 0..edges.rows {
            let directed = match &edges.directed {
                // An edge that does not say is directed.
                Some(directed) => directed.is_null(row) || directed.value(row),
                None => self.direction != Direction::Undirected,
            };
            if self.section != Some(directed) {
                self.line.push_str(if directed { "*Arcs\n" } else { "*Edges\n" });
                self.section = Some(directed);
            }
            let _ = write!(self.line, "{} {}", sources.value(row) + 1, targets.value(row) + 1);
            let own = Columns { properties: &self.of_edges, columns: &edges.properties };
            let others = || own.given(row).filter(|(property, _)| property.name != WEIGHT);
            match own.valid(WEIGHT, row) {
                Some(column) => {
                    self.line.push(' ');
                    bare(&mut self.line, column, row)?;
                }
                // NetworkX reads what follows only after a value.
                None if others().next().is_some() => {
                    self.line.push_str(" 1.0");
                    filled(&mut self.line, [WEIGHT].into_iter().filter(|name| own.lacks(name, row)));
                }
                None => {}
            }
            pairs(&mut self.line, others(), row)?;
            self.line.push('\n');
        }
        self.edges.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

/// The columns of nodes or edges.
#[derive(Clone, Copy)]
struct Columns<'c> {
    properties: &'c [Property],
    columns: &'c [Option<ArrayRef>],
}

impl<'c> Columns<'c> {
    /// Returns the index of a property with a place of its own.
    fn index(self, name: &str) -> Option<usize> {
        // With `--lossy`, a coordinate or a weight that is no number is left out, and so is a shape that is no text.
        let fits = |own: &Property| match own.data_type {
            DataType::Int64 | DataType::Float64 => name != SHAPE,
            DataType::Utf8 => name == SHAPE,
            _ => false,
        };
        self.properties.iter().position(|own| own.name == name && fits(own))
    }

    /// Returns the column of such a property, if a row has it.
    fn valid(self, name: &str, row: usize) -> Option<&'c ArrayRef> {
        self.columns.get(self.index(name)?)?.as_ref().filter(|column| column.is_valid(row))
    }

    /// Returns whether a row does not have such a property, although others can have it.
    fn lacks(self, name: &str, row: usize) -> bool {
        self.index(name).is_some() && self.valid(name, row).is_none()
    }

    /// Returns the properties that a row has.
    fn given(self, row: usize) -> impl Iterator<Item = (&'c Property, &'c ArrayRef)> {
        let both = self.properties.iter().zip(self.columns);
        both.filter_map(move |(own, column)| Some((own, column.as_ref().filter(|column| column.is_valid(row))?)))
    }
}

/// Appends the list of values that are there only because NetworkX expects them, if there are any.
fn filled<'n>(out: &mut String, names: impl Iterator<Item = &'n str>) {
    for (at, name) in names.enumerate() {
        match at {
            0 => {
                let _ = write!(out, " {FILLED} \"{name}\"");
            }
            _ => {
                out.pop();
                let _ = write!(out, " {name}\"");
            }
        }
    }
}

/// Appends pairs of names and values.
fn pairs<'c>(out: &mut String, pairs: impl Iterator<Item = (&'c Property, &'c ArrayRef)>, row: usize) -> Result<()> {
    for (property, column) in pairs {
        let _ = write!(out, " {} ", property.name);
        text(out, column, row)?;
    }
    Ok(())
}

/// Appends a number.
fn bare(out: &mut String, column: &ArrayRef, row: usize) -> Result<()> {
    let _ = match column.data_type() {
        DataType::Int64 => write!(out, "{}", column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => write!(out, "{:?}", column.as_primitive::<Float64Type>().value(row)),
        _ => return Err(Error::usage("a coordinate or weight must be a number")),
    };
    Ok(())
}

/// Appends a value: texts between quotation marks, so that they stay texts.
fn text(out: &mut String, column: &ArrayRef, row: usize) -> Result<()> {
    match column.data_type() {
        DataType::Boolean => out.push_str(if column.as_boolean().value(row) { "true" } else { "false" }),
        DataType::Utf8 => quoted(out, column.as_string::<i32>().value(row))?,
        _ => bare(out, column, row)?,
    }
    Ok(())
}

/// Appends text between quotation marks.
fn quoted(out: &mut String, text: &str) -> Result<()> {
    // NetworkX reads two backslashes as one, and a backslash before a quotation mark as its escape; igraph does not.
    if text.contains(['"', '\n', '\r']) || text.contains("\\\\") || text.ends_with('\\') {
        let cut: String = text.chars().take(40).collect();
        let message = format!(
            "Pajek cannot store the text {cut:?}: readers disagree about quotation marks, line ends, two backslashes and a last one"
        );
        return Err(Error::new(Kind::WouldLose, message).at(Place::field("text")));
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
    Ok(())
}

/// Returns whether a property has a place that its type fits.
pub(crate) fn has_place(property: &Property, of_edge: bool) -> bool {
    let is_number = matches!(property.data_type, DataType::Int64 | DataType::Float64);
    let is_plain = matches!(property.kind, ValueKind::Plain);
    let is_text = property.data_type == DataType::Utf8 && is_plain;
    match property.name.as_str() {
        WEIGHT if of_edge => is_number,
        RELATION if of_edge => is_text,
        SHAPE if !of_edge => is_text,
        name if !of_edge && COORDINATES.contains(&name) => is_number,
        _ => is_plain,
    }
}

impl Sink for PajekWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::Nodes(0), Delivery::Edges { ty: 0, order: EdgeOrder::Any }]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.nodes(&nodes),
            Batch::Edges(edges) => self.some_edges(&edges),
            _ => Err(Error::usage("a Pajek network stores only nodes and edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        let mut head = String::new();
        if let Some(name) = self.name.as_ref().filter(|name| !name.contains(['\n', '\r', '"']) && !name.is_empty()) {
            let _ = writeln!(head, "*Network {name}");
        }
        let _ = writeln!(head, "*Vertices {}", self.count);
        self.file.write_all(head.as_bytes())?;
        copy(&self.vertices, &mut self.file)?;
        if self.section.is_none() {
            let section: &[u8] = if self.direction == Direction::Undirected { b"*Edges\n" } else { b"*Arcs\n" };
            self.file.write_all(section)?;
        }
        copy(&self.edges, &mut self.file)?;
        self.file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}

/// Appends a temporary file to the output.
///
/// # Errors
/// Returns an error if one cannot be read or the other not be written.
pub(crate) fn copy(from: &ScratchFile, to: &mut PackedWriter) -> Result<()> {
    let mut reader = from.blob()?.reader();
    let mut block = vec![0; 1 << 16];
    loop {
        let read = reader.read(&mut block)?;
        let Some(some) = block.get(..read).filter(|some| !some.is_empty()) else { return Ok(()) };
        to.write_all(some)?;
    }
}
