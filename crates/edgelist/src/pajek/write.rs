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

use super::{COORDINATES, RELATION, SHAPE};
use crate::matrix_market::WEIGHT;
use crate::notation::Notation;
use crate::{WriteOptions, checked};

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
    /// Whether nodes have coordinates or shapes.
    has_places: bool,
    has_weights: bool,
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
            let is_foreign = |c: char| c.is_whitespace() || c.is_control() || c == '"';
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
            has_places: of_nodes.iter().any(|own| own.name == SHAPE || COORDINATES.contains(&own.name.as_str())),
            has_weights: edge.properties.iter().any(|own| own.name == WEIGHT),
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
            let cell =
                |name: &str| column_of(&self.of_nodes, &nodes.properties, name).filter(|own| own.1.is_valid(row));
            let placed: Vec<&str> = COORDINATES.into_iter().chain([SHAPE]).collect();
            let others: Vec<(&Property, &ArrayRef)> = given(&self.of_nodes, &nodes.properties, row)
                .filter(|(own, _)| !placed.contains(&own.name.as_str()))
                .collect();
            // NetworkX reads what follows only after two coordinates and a shape. Where nodes have such properties, one that
            // a node lacks stays absent.
            let is_padded = !others.is_empty() && !self.has_places;
            let mut is_gap = false;
            for name in COORDINATES {
                match cell(name) {
                    Some(_) if is_gap => {
                        let message = "a node has a coordinate without those before it, which Pajek cannot store";
                        return Err(Error::new(Kind::WouldLose, message).at(Place::field(name)));
                    }
                    Some((_, column)) => {
                        self.line.push(' ');
                        bare(&mut self.line, column, row)?;
                    }
                    None => is_gap = true,
                }
            }
            if is_padded {
                self.line.push_str(" 0.0 0.0");
            }
            match cell(SHAPE) {
                Some((_, column)) => {
                    self.line.push(' ');
                    text(&mut self.line, column, row)?;
                }
                None if is_padded => self.line.push_str(" ellipse"),
                None => {}
            }
            for (property, column) in others {
                let _ = write!(self.line, " {} ", property.name);
                text(&mut self.line, column, row)?;
            }
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
            let others: Vec<(&Property, &ArrayRef)> =
                given(&self.of_edges, &edges.properties, row).filter(|(own, _)| own.name != WEIGHT).collect();
            match column_of(&self.of_edges, &edges.properties, WEIGHT).filter(|own| own.1.is_valid(row)) {
                Some((_, column)) => {
                    self.line.push(' ');
                    bare(&mut self.line, column, row)?;
                }
                // NetworkX reads what follows only after a value. Where edges have weights, one that an edge lacks stays absent.
                None if !others.is_empty() && !self.has_weights => self.line.push_str(" 1.0"),
                None => {}
            }
            for (property, column) in others {
                let _ = write!(self.line, " {} ", property.name);
                text(&mut self.line, column, row)?;
            }
            self.line.push('\n');
        }
        self.edges.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

/// Returns the column of a property.
fn column_of<'c>(
    properties: &'c [Property],
    columns: &'c [Option<ArrayRef>],
    name: &str,
) -> Option<(&'c Property, &'c ArrayRef)> {
    // With `--lossy`, a coordinate or a weight that is no number is left out.
    let is_number = |own: &Property| matches!(own.data_type, DataType::Int64 | DataType::Float64);
    let at = properties.iter().position(|own| own.name == name && (name == SHAPE || is_number(own)))?;
    properties.get(at).zip(columns.get(at)?.as_ref())
}

/// Returns the properties that a row has.
fn given<'c>(
    properties: &'c [Property],
    columns: &'c [Option<ArrayRef>],
    row: usize,
) -> impl Iterator<Item = (&'c Property, &'c ArrayRef)> {
    let both = properties.iter().zip(columns);
    both.filter_map(move |(own, column)| Some((own, column.as_ref().filter(|column| column.is_valid(row))?)))
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
    if text.contains(['"', '\n', '\r']) || text.ends_with('\\') {
        let cut: String = text.chars().take(40).collect();
        let message = format!("Pajek cannot store the text {cut:?}: quotation marks and line ends have no escape");
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
