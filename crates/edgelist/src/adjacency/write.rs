//! Writes adjacency lists as NetworkX reads them.

use std::fmt::Write as _;
use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, Delivery, Direction, EdgeBatch, Ends, Graph, NodeBatch, Property, Sink, Written};
use isomorph_storage::Staging;
use isomorph_tables::PackedWriter;

use super::{ONCE, head};
use crate::notation::Notation;
use crate::python::push_text;
use crate::write::value;
use crate::{WriteOptions, checked};

/// An adjacency list that is being written.
pub(crate) struct AdjacencyWriter<'a> {
    staging: &'a Staging,
    file: PackedWriter,
    notation: Notation,
    properties: Vec<Property>,
    /// Nodes whose edges come next, and how many of them are finished.
    nodes: Option<(NodeBatch, usize)>,
    /// The edges of the next node, and their number.
    own: String,
    degree: u64,
    line: String,
}

impl<'a> AdjacencyWriter<'a> {
    /// Starts the list of a graph of one node type and one edge type.
    ///
    /// # Errors
    /// Returns an error if the graph has another shape, or if something would be lost without permission.
    pub fn create(notation: Notation, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Self> {
        let edge = checked(notation, graph, options)?;
        let mut file = PackedWriter::create(staging, staging.destination().file_name())?;
        let direction = match edge.direction {
            Direction::Undirected => format!("undirected graph, {ONCE}"),
            _ => "directed graph".to_owned(),
        };
        file.write_all(format!("{} {direction}\n", head(notation)).as_bytes())?;
        let (properties, line, own) = (edge.properties.clone(), String::new(), String::new());
        Ok(AdjacencyWriter { staging, file, notation, properties, nodes: None, own, degree: 0, line })
    }

    fn edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let (Ends::Rows(sources), Ends::Keys(targets)) = (&edges.source, &edges.target) else {
            return Err(Error::usage("sources must be rows, and targets keys"));
        };
        for row in 0..edges.rows {
            self.up_to(sources.value(row))?;
            self.degree += 1;
            match self.notation {
                Notation::MultilineAdjacencyList => {
                    push_name(targets, row, &mut self.own)?;
                    let dictionary = dictionary(&self.properties, edges, row)?;
                    self.own.push(' ');
                    self.own.push_str(&dictionary);
                    self.own.push('\n');
                }
                _ => {
                    self.own.push(' ');
                    push_name(targets, row, &mut self.own)?;
                }
            }
        }
        Ok(())
    }

    /// Finishes all nodes before the one in a row.
    fn up_to(&mut self, row: u64) -> Result<()> {
        loop {
            match &self.nodes {
                Some((nodes, done)) if nodes.start + *done as u64 == row => return Ok(()),
                Some((nodes, done)) if *done < nodes.rows && nodes.start + (*done as u64) < row => {}
                _ => return Err(Error::usage("edges must follow their source nodes, sorted by source row")),
            }
            self.one()?;
        }
    }

    /// Writes the next node.
    fn one(&mut self) -> Result<()> {
        let Some((nodes, done)) = &mut self.nodes else { return Ok(()) };
        let keys = nodes.keys.as_ref().ok_or_else(|| Error::usage("nodes must have keys"))?;
        push_name(keys, *done, &mut self.line)?;
        *done += 1;
        match self.notation {
            Notation::MultilineAdjacencyList => {
                let _ = writeln!(self.line, " {}", self.degree);
                self.line.push_str(&self.own);
            }
            _ => {
                self.line.push_str(&self.own);
                self.line.push('\n');
            }
        }
        self.own.clear();
        self.degree = 0;
        if self.line.len() > 1 << 16 {
            self.file.write_all(self.line.as_bytes())?;
            self.line.clear();
        }
        Ok(())
    }

    fn rest(&mut self) -> Result<()> {
        while self.nodes.as_ref().is_some_and(|(nodes, done)| *done < nodes.rows) {
            self.one()?;
        }
        Ok(())
    }
}

/// Returns the values of an edge in Python's notation. NetworkX removes the blanks of a line when it reads a dictionary:
/// those in texts are escaped, and there are no others.
fn dictionary(properties: &[Property], edges: &EdgeBatch, row: usize) -> Result<String> {
    let mut out = String::from("{");
    for (property, column) in properties.iter().zip(&edges.properties) {
        let Some(column) = column.as_ref().filter(|column| column.is_valid(row)) else { continue };
        if out.len() > 1 {
            out.push(',');
        }
        push_text(&mut out, &property.name);
        out.push(':');
        value(property, column, row, &mut out)?;
    }
    out.push('}');
    if !out.contains(' ') {
        return Ok(out);
    }
    let (mut quote, mut is_escaped, mut tight) = (None, false, String::with_capacity(out.len() + 8));
    for character in out.chars() {
        match (quote, character) {
            (Some(_), ' ') => tight.push_str("\\x20"),
            (None, ' ') => {}
            _ => tight.push(character),
        }
        match quote {
            Some(_) if std::mem::take(&mut is_escaped) => {}
            Some(_) if character == '\\' => is_escaped = true,
            Some(open) if open == character => quote = None,
            None if matches!(character, '\'' | '"') => quote = Some(character),
            _ => {}
        }
    }
    Ok(tight)
}

/// Appends the key in a row.
fn push_name(keys: &ArrayRef, row: usize, out: &mut String) -> Result<()> {
    if let Some(numbers) = keys.as_primitive_opt::<Int64Type>() {
        let _ = write!(out, "{}", numbers.value(row));
        return Ok(());
    }
    let texts = keys.as_string_opt::<i32>().ok_or_else(|| Error::usage("keys must be integers or texts"))?;
    let text = texts.value(row);
    let is_foreign = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '#' | '{');
    if text.is_empty() || text.starts_with('\u{feff}') || text.contains(is_foreign) {
        let message = format!("an adjacency list cannot store the name {text:?}: names have no blanks, # or {{");
        return Err(Error::new(Kind::WouldLose, message));
    }
    out.push_str(text);
    Ok(())
}

impl Sink for AdjacencyWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::NodesWithOutEdges]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => {
                self.rest()?;
                self.nodes = Some((nodes, 0));
                Ok(())
            }
            Batch::Edges(edges) => self.edges(&edges),
            _ => Err(Error::usage("an adjacency list stores only nodes and edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.rest()?;
        self.file.write_all(self.line.as_bytes())?;
        self.file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
