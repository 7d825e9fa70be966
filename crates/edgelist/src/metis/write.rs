//! Writes a METIS graph.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Kind, Place, Result, index};
use isomorph_model::{
    Batch, Cardinality, Delivery, Direction, EdgeBatch, EdgeOrder, Ends, Graph, NodeBatch, Sink, Written,
};
use isomorph_storage::{Budget, Reservation, Scratch, Staging};
use isomorph_tables::PackedWriter;
use isomorph_tables::sort::{EdgeSorter, SortOptions};

use super::{SIZE, weight_name};
use crate::notation::Notation;
use crate::numbers::Numbers;
use crate::{WriteOptions, checked};

/// A METIS graph that is being written. Edges are sorted, because each is stated at both of its vertices.
pub(crate) struct MetisWriter<'a> {
    staging: &'a Staging,
    file: PackedWriter,
    sorter: EdgeSorter,
    /// Number of mentions of edges before, which orders equal ones.
    pushed: u64,
    schema: Arc<Schema>,
    /// The position of the weight of edges.
    weight: Option<usize>,
    /// The positions of the size and the weights of nodes.
    values: Vec<usize>,
    has_sizes: bool,
    /// The values of nodes, by row.
    held: Vec<i64>,
    budget: Budget,
    reserved: Option<Reservation>,
    /// Directed edges become undirected: repeated ones and loops are dropped, as the plan says.
    may_merge: bool,
    numbers: Numbers,
}

/// The positions of the properties of nodes that are written, the size first, and whether there is a size.
pub(crate) fn of_nodes(graph: &Graph) -> (Vec<usize>, bool) {
    let Some(node) = graph.nodes.first() else { return (Vec::new(), false) };
    let place = |name: &str| {
        node.properties.iter().position(|own| {
            own.name == name && own.data_type == DataType::Int64 && own.cardinality == Cardinality::Single
        })
    };
    let size = place(SIZE);
    let mut all: Vec<usize> = size.into_iter().collect();
    match place(&weight_name(0, 1)) {
        Some(weight) => all.push(weight),
        None => all.extend((0..).map_while(|at| place(&weight_name(at, 2)))),
    }
    (all, size.is_some())
}

impl<'a> MetisWriter<'a> {
    /// Starts the text of a graph of one node type and one edge type.
    ///
    /// # Errors
    /// Returns an error if the graph has another shape, or if something would be lost without permission.
    pub fn create(staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Self> {
        let edge = checked(Notation::Metis, graph, options)?;
        let weight = Notation::Metis.number_of(&edge.properties);
        let weight = weight.and_then(|weight| edge.properties.iter().position(|own| own.name == weight.name));
        let (values, has_sizes) = of_nodes(graph);
        let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
        let budget = options.budget.clone().unwrap_or_else(Budget::of_this_machine);
        let schema = Arc::new(Schema::new(vec![Field::new("weight", DataType::Int64, false)]));
        let sorting = SortOptions::new(&budget, &scratch).payload(Arc::clone(&schema)).memory(budget.available() / 4);
        Ok(MetisWriter {
            staging,
            file: PackedWriter::create(staging, staging.destination().file_name())?,
            sorter: EdgeSorter::new(sorting)?,
            pushed: 0,
            schema,
            weight,
            values,
            has_sizes,
            held: Vec::new(),
            budget,
            reserved: None,
            may_merge: options.without_unheld && edge.direction != Direction::Undirected,
            numbers: Numbers::new(Notation::Metis, options),
        })
    }

    fn nodes(&mut self, nodes: &NodeBatch) -> Result<()> {
        self.numbers.add(nodes)?;
        if self.values.is_empty() {
            return Ok(());
        }
        let bytes = 8 * (nodes.rows * self.values.len()) as u64;
        match &mut self.reserved {
            Some(reserved) => reserved.grow(bytes)?,
            none => *none = Some(self.budget.reserve(bytes)?),
        }
        let mut columns = Vec::new();
        for at in &self.values {
            columns.push(numbers_of(nodes.properties.get(*at).and_then(Option::as_ref), nodes.rows, "a node")?);
        }
        for row in 0..nodes.rows {
            self.held.extend(columns.iter().map(|column| column.value(row)));
        }
        Ok(())
    }

    fn edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let (Ends::Rows(sources), Ends::Rows(targets)) = (&edges.source, &edges.target) else {
            return Err(Error::usage("ends must be rows"));
        };
        let weights = match self.weight {
            None => Int64Array::from(vec![0; edges.rows]),
            Some(at) => numbers_of(edges.properties.get(at).and_then(Option::as_ref), edges.rows, "an edge")?,
        };
        let (mut from, mut to, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..edges.rows {
            let (source, target) = (self.numbers.of(sources.value(row))?, self.numbers.of(targets.value(row))?);
            if source == target {
                if self.may_merge {
                    continue;
                }
                let message = format!("METIS cannot store the edge from node {source} to itself");
                return Err(Error::new(Kind::WouldLose, message));
            }
            from.extend([source, target]);
            to.extend([target, source]);
            kept.extend([weights.value(row); 2]);
        }
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(kept))];
        let payload = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let payload = payload.map_err(|error| Error::malformed(error.to_string()))?;
        let first = self.pushed;
        self.pushed += from.len() as u64;
        self.sorter.push(&from, &to, Some(&payload), first)
    }
}

/// Returns a column of integers that METIS can store.
fn numbers_of(column: Option<&ArrayRef>, rows: usize, of: &str) -> Result<Int64Array> {
    let column = column.and_then(|column| column.as_primitive_opt::<Int64Type>().cloned());
    let is_kept = |column: &Int64Array| {
        column.len() == rows && column.null_count() == 0 && column.values().iter().all(|value| *value >= 0)
    };
    column.filter(is_kept).ok_or_else(|| {
        let message = format!("{of} has no weight, or a negative one, which METIS cannot store");
        Error::new(Kind::WouldLose, message).at(Place::field("weight"))
    })
}

impl Sink for MetisWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::Nodes(0), Delivery::Edges { ty: 0, order: EdgeOrder::Any }]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.nodes(&nodes),
            Batch::Edges(edges) => self.edges(&edges),
            _ => Err(Error::usage("METIS stores only nodes and edges")),
        }
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let mut own = *self;
        let vertices = own.numbers.finish()?;
        let rows = own.numbers.rows_by_number()?;
        let sorted = own.sorter.finish()?;
        let mut mentions = sorted.rows();
        let weights = own.values.len() - usize::from(own.has_sizes);
        if own.may_merge {
            mentions = 0;
            let mut last = None;
            for batch in sorted.stream()? {
                let batch = batch?;
                for (from, to) in batch.aligned.values().iter().zip(batch.other.values()) {
                    mentions += u64::from(last.replace((*from, *to)) != Some((*from, *to)));
                }
            }
        }
        let mut line = format!("{vertices} {}", mentions / 2);
        let digits = [own.has_sizes, weights > 0, own.weight.is_some()].map(|has| if has { '1' } else { '0' });
        if digits.contains(&'1') {
            let _ = write!(line, " {}", digits.iter().collect::<String>());
            if weights > 1 {
                let _ = write!(line, " {weights}");
            }
        }
        line.push('\n');
        let mut text = Lines { line, begun: 0, is_empty: true, rows, width: own.values.len(), held: own.held };
        let mut last = None;
        for batch in sorted.stream()? {
            let batch = batch?;
            let weights = batch.payload.column(0).as_primitive::<Int64Type>();
            for row in 0..batch.aligned.len() {
                let (from, to) = (batch.aligned.value(row), batch.other.value(row));
                let is_repeated = last.replace((from, to)) == Some((from, to));
                if is_repeated && own.may_merge {
                    continue;
                }
                if is_repeated {
                    let message = format!("METIS cannot store two edges between the nodes {from} and {to}");
                    return Err(Error::new(Kind::WouldLose, message));
                }
                text.up_to(from);
                text.push(i64::try_from(to).unwrap_or_default());
                if own.weight.is_some() {
                    text.push(weights.value(row));
                }
            }
            own.file.write_all(text.line.as_bytes())?;
            text.line.clear();
        }
        while text.begun < vertices {
            text.up_to((text.begun + (1 << 16)).min(vertices));
            own.file.write_all(text.line.as_bytes())?;
            text.line.clear();
        }
        if vertices > 0 {
            text.line.push('\n');
        }
        own.file.write_all(text.line.as_bytes())?;
        own.file.finish()?;
        let files = own.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}

/// The lines of vertices.
struct Lines {
    line: String,
    /// Number of vertices whose lines have begun.
    begun: u64,
    /// Whether the last line has no number.
    is_empty: bool,
    /// The row of each vertex, if they are not in order.
    rows: Option<Vec<u64>>,
    /// Number of values of a node.
    width: usize,
    held: Vec<i64>,
}

impl Lines {
    /// Begins all lines up to that of a vertex.
    fn up_to(&mut self, vertex: u64) {
        while self.begun < vertex {
            if self.begun > 0 {
                self.line.push('\n');
            }
            let row = self.rows.as_ref().and_then(|rows| rows.get(index(self.begun)).copied()).unwrap_or(self.begun);
            self.begun += 1;
            self.is_empty = true;
            for at in 0..self.width {
                if let Some(value) = self.held.get(index(row) * self.width + at).copied() {
                    self.push(value);
                }
            }
        }
    }

    fn push(&mut self, number: i64) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.line.push(' ');
        }
        let _ = write!(self.line, "{number}");
    }
}
