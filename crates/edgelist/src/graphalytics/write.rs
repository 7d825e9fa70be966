//! Writes a graph of Graphalytics: vertices, edges, and the properties that describe them.

use std::fmt::Write as _;
use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result, index};
use isomorph_model::{
    Batch, Cardinality, Delivery, Direction, EdgeBatch, EdgeOrder, Ends, Graph, NodeBatch, Property, Sink, ValueKind,
    Written,
};
use isomorph_storage::{Budget, Reservation, StagedFile, Staging};

use crate::line::integer;
use crate::notation::Notation;
use crate::{WriteOptions, checked};

/// A graph that is being written.
pub(crate) struct GraphalyticsWriter<'a> {
    staging: &'a Staging,
    name: String,
    vertices: StagedFile,
    edges: StagedFile,
    counts: [u64; 2],
    of_nodes: Vec<(usize, Property)>,
    of_edges: Vec<(usize, Property)>,
    direction: Direction,
    /// The ids of nodes, by row, until they turn out not to be integers and rows are written instead.
    ids: Option<Vec<i64>>,
    may_lose: bool,
    budget: Budget,
    held: Option<Reservation>,
    line: String,
}

/// Returns whether a property can be named in the properties, and has numbers.
pub(crate) fn has_place(property: &Property) -> bool {
    let is_foreign = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | '=');
    property.kind == ValueKind::Plain
        && property.cardinality == Cardinality::Single
        && matches!(property.data_type, DataType::Int64 | DataType::Float64)
        && !property.name.is_empty()
        && !property.name.contains(is_foreign)
}

/// Returns the name of the files in a directory of this name.
pub(crate) fn name_in(directory: &str) -> String {
    let stem = directory.split('.').next().unwrap_or_default();
    let name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
    if name.is_empty() { "graph".to_owned() } else { name }
}

fn written(properties: &[Property]) -> Vec<(usize, Property)> {
    properties.iter().cloned().enumerate().filter(|(_, own)| has_place(own)).collect()
}

impl<'a> GraphalyticsWriter<'a> {
    /// Starts the files of a graph of one node type and one edge type.
    ///
    /// # Errors
    /// Returns an error if the graph has another shape, or if something would be lost without permission.
    pub fn create(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Self> {
        let edge = checked(Notation::Graphalytics, graph, options)?;
        let name = name_in(staging.destination().file_name());
        Ok(GraphalyticsWriter {
            staging,
            vertices: staging.create(&format!("{name}.v"))?,
            edges: staging.create(&format!("{name}.e"))?,
            name,
            counts: [0; 2],
            of_nodes: graph.nodes.first().map(|ty| written(&ty.properties)).unwrap_or_default(),
            of_edges: written(&edge.properties),
            direction: edge.direction,
            ids: Some(Vec::new()),
            may_lose: options.without_unheld,
            budget: options.budget.clone().unwrap_or_else(Budget::of_this_machine),
            held: None,
            line: String::new(),
        })
    }

    fn nodes(&mut self, nodes: &NodeBatch) -> Result<()> {
        let found: Option<Vec<i64>> = nodes.keys.as_ref().and_then(|keys| match keys.as_primitive_opt::<Int64Type>() {
            Some(numbers) => Some(numbers.values().to_vec()),
            None => keys.as_string_opt::<i32>()?.iter().map(|key| integer(key?)).collect(),
        });
        match found {
            Some(found) if self.ids.is_some() => {
                let bytes = 8 * found.len() as u64;
                match &mut self.held {
                    Some(held) => held.grow(bytes)?,
                    none => *none = Some(self.budget.reserve(bytes)?),
                }
                self.ids.iter_mut().for_each(|ids| ids.extend(&found));
            }
            _ if self.counts[0] == 0 && self.may_lose => self.ids = None,
            _ if self.ids.is_none() => {}
            _ => {
                let message = "keys of nodes would be lost: vertices of Graphalytics are integers";
                return Err(Error::new(Kind::WouldLose, message));
            }
        }
        for row in 0..nodes.rows {
            let id = self.id(self.counts[0] + row as u64);
            let _ = write!(self.line, "{id}");
            push_values(&mut self.line, &self.of_nodes, &nodes.properties, row)?;
            self.line.push('\n');
        }
        self.counts[0] += nodes.rows as u64;
        self.vertices.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }

    fn id(&self, row: u64) -> i64 {
        let by_row = || i64::try_from(row).unwrap_or(i64::MAX);
        self.ids.as_ref().and_then(|ids| ids.get(index(row)).copied()).unwrap_or_else(by_row)
    }

    fn some_edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let (Ends::Rows(sources), Ends::Rows(targets)) = (&edges.source, &edges.target) else {
            return Err(Error::usage("ends must be rows"));
        };
        for row in 0..edges.rows {
            let (source, target) = (self.id(sources.value(row)), self.id(targets.value(row)));
            let _ = write!(self.line, "{source} {target}");
            push_values(&mut self.line, &self.of_edges, &edges.properties, row)?;
            self.line.push('\n');
        }
        self.counts[1] += edges.rows as u64;
        self.edges.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

/// Appends the values of a row.
fn push_values(
    out: &mut String,
    properties: &[(usize, Property)],
    columns: &[Option<ArrayRef>],
    row: usize,
) -> Result<()> {
    for (at, property) in properties {
        let column = columns.get(*at).and_then(Option::as_ref).filter(|column| column.is_valid(row));
        let missing = || {
            let message = "a node or edge has no value, but every line of Graphalytics has one";
            Error::new(Kind::WouldLose, message).at(Place::field(property.name.clone()))
        };
        let column = column.ok_or_else(missing)?;
        let _ = match column.data_type() {
            DataType::Int64 => write!(out, " {}", column.as_primitive::<Int64Type>().value(row)),
            _ => {
                let value = column.as_primitive::<Float64Type>().value(row);
                if value.is_finite() { write!(out, " {value:?}") } else { write!(out, " {value}") }
            }
        };
    }
    Ok(())
}

impl Sink for GraphalyticsWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::Nodes(0), Delivery::Edges { ty: 0, order: EdgeOrder::Any }]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.nodes(&nodes),
            Batch::Edges(edges) => self.some_edges(&edges),
            _ => Err(Error::usage("Graphalytics stores only nodes and edges")),
        }
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let own = *self;
        own.vertices.finish()?;
        own.edges.finish()?;
        let name = &own.name;
        let mut text = format!(
            "graph.{name}.vertex-file = {name}.v\ngraph.{name}.edge-file = {name}.e\n\
             graph.{name}.meta.vertices = {}\ngraph.{name}.meta.edges = {}\ngraph.{name}.directed = {}\n",
            own.counts[0],
            own.counts[1],
            own.direction != Direction::Undirected
        );
        for (of, properties) in [("vertex", &own.of_nodes), ("edge", &own.of_edges)] {
            if properties.is_empty() {
                continue;
            }
            let names: Vec<&str> = properties.iter().map(|(_, own)| own.name.as_str()).collect();
            let word = |own: &Property| if own.data_type == DataType::Int64 { "int" } else { "real" };
            let types: Vec<&str> = properties.iter().map(|(_, own)| word(own)).collect();
            let _ = writeln!(text, "graph.{name}.{of}-properties.names = {}", names.join(", "));
            let _ = writeln!(text, "graph.{name}.{of}-properties.types = {}", types.join(", "));
        }
        let mut file = own.staging.create(&format!("{name}.properties"))?;
        file.write_all(text.as_bytes())?;
        file.finish()?;
        let files = own.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
