//! Dataframes as a graph, and the graph as files.

mod columns;
mod directed;
mod ends;
mod types;

use std::sync::{Arc, Mutex};

use arrow_array::{RecordBatch, RecordBatchReader};
use isomorph::convert::{OpenOptions, Opened, Registry};
use isomorph::model::{Graph as Model, MemoryGraph, Source};
use isomorph::{Error, Location, Result};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;

use crate::conversion::{Origin, converted};
use crate::errors::raised;
use crate::options::{Writing, destination, resources};
use crate::work::{Ending, Watch, run};

/// A table of nodes. Python passes all members.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct NodesGiven {
    name: String,
    table: AnyRecordBatch,
    key: Option<String>,
    labels: Option<String>,
}

/// A table of edges. Python passes all members.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct EdgesGiven {
    /// Source type, relation, target type; a type can be omitted if there is only one.
    source_type: Option<String>,
    relation: Option<String>,
    target_type: Option<String>,
    table: AnyRecordBatch,
    source: Option<String>,
    target: Option<String>,
    directed: Option<DirectedGiven>,
}

/// Whether edges have a direction: of all edges of a table, or in a column of it.
#[derive(FromPyObject)]
pub(crate) enum DirectedGiven {
    All(bool),
    Column(String),
}

/// Limits of a job. Python passes all members.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Limits {
    memory: Option<u64>,
    threads: Option<usize>,
    temp_dir: Option<String>,
}

/// A table that is being read: the reader is used by one thread.
pub(crate) struct Given {
    /// What it is called in errors.
    pub(crate) what: String,
    reader: Mutex<Box<dyn RecordBatchReader + Send>>,
}

impl Given {
    fn new(what: String, table: AnyRecordBatch) -> PyResult<Given> {
        Ok(Given { what, reader: Mutex::new(table.into_reader()?) })
    }

    /// Reads all batches, which stay in memory.
    pub(crate) fn read(self, watch: &Watch) -> Result<(arrow_schema::SchemaRef, Vec<RecordBatch>, String)> {
        let Given { what, reader } = self;
        let reader = reader.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (schema, mut batches) = (reader.schema(), Vec::new());
        for batch in reader {
            watch.check()?;
            let batch =
                batch.map_err(|error| Error::malformed(error.to_string()).at(what.as_str()).caused_by(error))?;
            if batch.num_rows() > 0 {
                batches.push(batch);
            }
        }
        Ok((schema, batches, what))
    }
}

/// A type of nodes, with its table if one is given; otherwise its nodes are the ends of edges.
pub(crate) struct Nodes {
    pub(crate) name: String,
    pub(crate) table: Option<Given>,
    pub(crate) key: Option<String>,
    pub(crate) labels: Option<String>,
}

/// A type of edges.
pub(crate) struct Edges {
    pub(crate) types: [Option<String>; 2],
    pub(crate) relation: Option<String>,
    pub(crate) table: Given,
    pub(crate) ends: [Option<String>; 2],
    /// `None` if the table tells; edges of other tables have one.
    pub(crate) directed: Option<DirectedGiven>,
}

/// Writes tables as a graph. Returns the certificate as JSON.
#[pyfunction]
#[pyo3(signature = (path, name, nodes, edges, options, limits, progress=None))]
#[allow(clippy::too_many_arguments, reason = "the arguments of a Python function, which are named there")]
pub(crate) fn write(
    py: Python<'_>,
    path: String,
    name: Option<String>,
    nodes: Vec<NodesGiven>,
    edges: Vec<EdgesGiven>,
    options: Writing,
    limits: Limits,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let nodes = nodes.into_iter().map(|given| {
        let table = Given::new(format!("nodes of type {}", given.name), given.table)?;
        Ok(Nodes { name: given.name, table: Some(table), key: given.key, labels: given.labels })
    });
    let nodes = nodes.collect::<PyResult<Vec<_>>>()?;
    let edges = edges.into_iter().map(|given| {
        let what = format!("edges {}", given.relation.as_deref().unwrap_or("whose relation is a column"));
        let table = Given::new(what, given.table)?;
        let (types, ends) = ([given.source_type, given.target_type], [given.source, given.target]);
        Ok(Edges { types, relation: given.relation, table, ends, directed: given.directed })
    });
    let edges = edges.collect::<PyResult<Vec<_>>>()?;
    let resources = resources(limits.memory, limits.threads, limits.temp_dir.as_deref());
    let resources = resources.map_err(|error| raised(py, &error))?;
    run(py, progress, Ending::Awaited, move |watch| {
        let destination = destination(&path)?;
        let graph = types::graph(name, nodes, edges, &resources, watch)?;
        let graph: Arc<dyn Source> = Arc::new(graph);
        let open = OpenOptions { resources: Some(resources.clone()), ..OpenOptions::default() };
        let opened = Opened {
            location: Location::from_path(std::path::Path::new("/dataframes in memory")),
            // Its sidecar says that the graph came from Arrow tables, which dataframes are.
            format: Registry::standard().named("arrow")?,
            native: Arc::clone(&graph),
            sidecar: None,
            graph,
            options: open,
            // No files of that format are copied as they are.
            is_part: true,
        };
        converted(opened, Origin::Dataframes, &destination, &options, &resources, watch)
    })
}

/// A graph in memory without rows.
pub(crate) fn empty(name: Option<String>) -> MemoryGraph {
    MemoryGraph { graph: Model { name, ..Model::default() }, batches: Vec::new() }
}
