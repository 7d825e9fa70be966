//! Writes a text.

use std::io::Write;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph::model::{Batch, Columns, Delivery, EdgeOrder, Ends, Graph, Sink, Written};
use isomorph::storage::{StagedFile, Staging};
use isomorph::{Error, Result};
use serde_json::Value;

use crate::{Line, check};

/// A text that is being written.
pub struct Writer<'a> {
    staging: &'a Staging,
    file: StagedFile,
    graph: Graph,
}

impl<'a> Writer<'a> {
    /// Creates a text for `graph`.
    ///
    /// # Errors
    /// Returns an error if a text cannot hold the graph.
    pub fn create(staging: &'a Staging, graph: &Graph) -> Result<Self> {
        check(graph)?;
        let mut writer = Writer { staging, file: staging.create("")?, graph: graph.clone() };
        writer.line(&Line::Graph(graph.clone()))?;
        Ok(writer)
    }

    fn line(&mut self, line: &Line) -> Result<()> {
        let text = serde_json::to_string(line).map_err(|error| Error::unsupported(error.to_string()))?;
        Ok(writeln!(self.file, "{text}")?)
    }
}

fn key(keys: &dyn Array, row: usize) -> Value {
    match keys.as_primitive_opt::<Int64Type>() {
        Some(numbers) => numbers.value(row).into(),
        None => keys.as_string::<i32>().value(row).into(),
    }
}

fn values(columns: &Columns, row: usize) -> Vec<Option<String>> {
    let value = |column: &dyn Array| column.is_valid(row).then(|| column.as_string::<i32>().value(row).to_owned());
    columns.iter().map(|column| column.as_ref().and_then(|column| value(column.as_ref()))).collect()
}

impl Sink for Writer<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        let nodes = (0..self.graph.nodes.len()).map(Delivery::Nodes);
        nodes.chain((0..self.graph.edges.len()).map(|ty| Delivery::Edges { ty, order: EdgeOrder::Any })).collect()
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => (0..nodes.rows).try_for_each(|row| {
                let key = nodes.keys.as_ref().map_or(Value::Null, |keys| key(keys.as_ref(), row));
                let labels = nodes.labels.iter().flat_map(|labels| labels.row(row)).map(str::to_owned).collect();
                self.line(&Line::Node(nodes.ty, key, labels, values(&nodes.properties, row)))
            }),
            Batch::Edges(edges) => match (&edges.source, &edges.target) {
                (Ends::Rows(sources), Ends::Rows(targets)) => (0..edges.rows).try_for_each(|row| {
                    let values = values(&edges.properties, row);
                    self.line(&Line::Edge(edges.ty, sources.value(row), targets.value(row), values))
                }),
                _ => Err(Error::usage("ends must be rows")),
            },
            _ => Err(Error::usage("Seventh stores only nodes and edges")),
        }
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        self.file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
