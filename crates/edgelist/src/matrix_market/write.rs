//! Writes a Matrix Market file.

use std::fmt::Write as _;
use std::io::Write as _;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{Batch, Delivery, Direction, EdgeBatch, EdgeOrder, Ends, Graph, Property, Sink, Written};
use isomorph_storage::{Scratch, ScratchFile, Staging};
use isomorph_tables::PackedWriter;

use crate::notation::Notation;
use crate::numbers::Numbers;
use crate::{WriteOptions, checked};

/// A matrix that is being written. The size line, which precedes the entries, has their number: entries wait in a
/// temporary file.
pub(crate) struct MatrixWriter<'a> {
    staging: &'a Staging,
    file: PackedWriter,
    entries: ScratchFile,
    count: u64,
    /// The position of the property that is written, and the property.
    number: Option<(usize, Property)>,
    direction: Direction,
    numbers: Numbers,
    line: String,
}

impl<'a> MatrixWriter<'a> {
    /// Starts the matrix of a graph of one node type and one edge type.
    ///
    /// # Errors
    /// Returns an error if the graph has another shape, or if something would be lost without permission.
    pub fn create(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Self> {
        let edge = checked(Notation::MatrixMarket, graph, options)?;
        let number = Notation::MatrixMarket.number_of(&edge.properties).cloned();
        let place = |number: &Property| edge.properties.iter().position(|own| own.name == number.name);
        let number = number.and_then(|number| Some((place(&number)?, number)));
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let file = PackedWriter::create(staging, staging.destination().file_name())?;
        let numbers = Numbers::new(Notation::MatrixMarket, options);
        let (entries, count, line) = (scratch.create()?, 0, String::new());
        Ok(MatrixWriter { staging, file, entries, count, number, direction: edge.direction, numbers, line })
    }

    fn edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let (Ends::Rows(sources), Ends::Rows(targets)) = (&edges.source, &edges.target) else {
            return Err(Error::usage("ends must be rows"));
        };
        let column = match &self.number {
            None => None,
            Some((at, number)) => {
                let column = edges.properties.get(*at).and_then(Option::as_ref);
                let column = column.filter(|column| column.null_count() == 0);
                let missing = || {
                    let message = "an edge has no value, but every entry of a matrix has one";
                    let error = Error::new(Kind::WouldLose, message).at(Place::field(number.name.clone()));
                    error.hint("leave the property out: the matrix is then a pattern")
                };
                Some((column.ok_or_else(missing)?, number))
            }
        };
        for row in 0..edges.rows {
            let (mut from, mut to) = (self.numbers.of(sources.value(row))?, self.numbers.of(targets.value(row))?);
            if self.direction == Direction::Undirected && from < to {
                std::mem::swap(&mut from, &mut to);
            }
            let _ = write!(self.line, "{from} {to}");
            match column {
                None => {}
                Some((column, number)) if number.data_type == DataType::Int64 => {
                    let _ = write!(self.line, " {}", column.as_primitive::<Int64Type>().value(row));
                }
                Some((column, _)) => {
                    let value = column.as_primitive::<Float64Type>().value(row);
                    let _ = match value.is_finite() {
                        true => write!(self.line, " {value:?}"),
                        false => write!(self.line, " {}", value.to_string().to_lowercase()),
                    };
                }
            }
            self.line.push('\n');
            if self.line.len() > 1 << 16 || row + 1 == edges.rows {
                self.entries.write_all(self.line.as_bytes())?;
                self.line.clear();
            }
        }
        self.count += edges.rows as u64;
        Ok(())
    }
}

impl Sink for MatrixWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::Nodes(0), Delivery::Edges { ty: 0, order: EdgeOrder::Any }]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.numbers.add(&nodes),
            Batch::Edges(edges) => self.edges(&edges),
            _ => Err(Error::usage("a matrix stores only nodes and edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        let field = match &self.number {
            None => "pattern",
            Some((_, number)) if number.data_type == DataType::Int64 => "integer",
            Some(_) => "real",
        };
        let symmetry = if self.direction == Direction::Undirected { "symmetric" } else { "general" };
        let rows = self.numbers.finish()?;
        let head = format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n{rows} {rows} {}\n", self.count);
        self.file.write_all(head.as_bytes())?;
        crate::pajek::copy(&self.entries, &mut self.file)?;
        self.file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
