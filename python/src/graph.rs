//! Opened graphs.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::SchemaRef;
use isomorph::convert::{Format, OpenOptions, Opened, Progress, Registry, Silent};
use isomorph::dataset::{Cancel, Sample, Scan, Selection, TableKind};
use isomorph::formats::graphlake::GraphLake;
use isomorph::model::Direction;
use isomorph::model::schema::{Graph as Model, Owner};
use isomorph::storage::Resources;
use isomorph::{Dataset, Location, Result, Sampled, parse_condition};
use isomorph_query::Engine;
use pyo3::prelude::*;

use crate::conversion::{Origin, converted, to_json};
use crate::cypher;
use crate::errors::{closed, raised};
use crate::near::{self, Asked};
use crate::options::{Opening, Writing, destination};
use crate::reader::{Ordered, Reader};
use crate::sampled::{self, Draw};
use crate::sparql;
use crate::sql::Sql;
use crate::table::{Rows, Shape, Table};
use crate::work::{Ending, Watch, run};

/// A graph as a process has it.
#[derive(Clone)]
struct Here {
    process: u32,
    graph: Arc<isomorph::Graph>,
    sampled: Option<Arc<Sampled>>,
    engine: Option<Arc<Engine>>,
}

/// Which part of a graph is opened. Python passes all members.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Part {
    types: Option<Vec<String>>,
    columns: Option<Vec<String>>,
    conditions: Vec<String>,
    limit: Option<u64>,
    sample: Option<u64>,
    seed: u64,
    keep_dangling: bool,
}

impl Part {
    fn selection(&self) -> Result<Selection> {
        Ok(Selection {
            types: self.types.clone(),
            columns: self.columns.clone(),
            conditions: self.conditions.iter().map(|text| parse_condition(text)).collect::<Result<_>>()?,
            limit: self.limit,
            sample: self.sample.map(|rows| Sample { rows, seed: self.seed }),
            keep_dangling: self.keep_dangling,
            ..Selection::default()
        })
    }
}

/// An opened graph, which its tables share. A forked child opens it again: clients of object stores, caches and locks of its parent are
/// not its own.
pub(crate) struct Shared {
    location: Location,
    options: OpenOptions,
    resources: Resources,
    /// The part that is open; `None` for all of it.
    part: Option<Selection>,
    /// `None` if it is closed.
    here: Mutex<Option<Here>>,
}

impl Shared {
    fn open(
        location: Location,
        options: OpenOptions,
        resources: Resources,
        part: Option<Selection>,
        watch: &Watch,
    ) -> Result<(Shared, Whole)> {
        let graph = isomorph::Graph::open(&location, &options, resources.clone())?;
        watch.check()?;
        // The same snapshot is opened again in a child, even if there is a newer one.
        let mut pinned = options;
        let opened = graph.opened();
        opened.format.reopen_options(opened, &mut pinned);
        pinned.from = Some(opened.format);
        let lake = opened.native.as_any().and_then(|native| native.downcast_ref::<GraphLake>());
        let at = lake.filter(|lake| !lake.store().snapshots.is_empty()).map(|lake| lake.snapshot().version);
        let whole = Whole { at, format: opened.format_of_graph(), stored_as: opened.format };
        let graph = Arc::new(of_part(graph, part.as_ref(), watch)?);
        let here = Here { process: std::process::id(), graph, sampled: None, engine: None };
        Ok((Shared { location, options: pinned, resources, part, here: Mutex::new(Some(here)) }, whole))
    }

    fn here(&self) -> Result<Here> {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        let found = here.as_mut().ok_or_else(closed)?;
        let process = std::process::id();
        if found.process != process {
            let graph = isomorph::Graph::open(&self.location, &self.options, self.resources.clone())?;
            let graph = of_part(graph, self.part.as_ref(), &Silent)?;
            let before =
                std::mem::replace(found, Here { process, graph: Arc::new(graph), sampled: None, engine: None });
            // What the parent's threads used is not touched here.
            std::mem::forget(before);
        }
        Ok(found.clone())
    }

    /// The graph, in this process.
    pub(crate) fn graph(&self) -> Result<Arc<isomorph::Graph>> {
        self.here().map(|here| here.graph)
    }

    /// The graph prepared for sampling; the first call may read it.
    pub(crate) fn sampled(&self, make: impl FnOnce(&Opened) -> Result<Sampled>) -> Result<Arc<Sampled>> {
        let here = self.here()?;
        if let Some(sampled) = here.sampled {
            return Ok(sampled);
        }
        let sampled = Arc::new(make(here.graph.opened())?);
        if let Some(here) = self.here.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            here.sampled = Some(Arc::clone(&sampled));
        }
        Ok(sampled)
    }

    /// The engine of SQL, in this process. It keeps what it knows of the tables from one query to the next.
    pub(crate) fn engine(&self) -> Result<Arc<Engine>> {
        let here = self.here()?;
        if let Some(engine) = here.engine {
            return Ok(engine);
        }
        let mut engine = Engine::new(self.resources.clone())?;
        engine.add_graph("graph", here.graph)?;
        let engine = Arc::new(engine);
        if let Some(here) = self.here.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            here.engine = Some(Arc::clone(&engine));
        }
        Ok(engine)
    }

    /// Memory, threads and temporary files.
    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }
}

fn of_part(graph: isomorph::Graph, part: Option<&Selection>, progress: &dyn Progress) -> Result<isomorph::Graph> {
    match part {
        None => Ok(graph),
        Some(part) => graph.select_with(part, progress),
    }
}

/// What is known of the whole of a graph.
struct Whole {
    /// Version of the snapshot.
    at: Option<i64>,
    format: Format,
    /// The format of the data, if a sidecar says that the graph has another one.
    stored_as: Format,
}

/// The tables of a graph: with declared types, or as its format stores them.
pub(crate) fn dataset<'g>(graph: &'g isomorph::Graph, stored: bool, watch: Option<&Watch>) -> Result<&'g Dataset> {
    match (stored, watch) {
        (true, _) => Ok(graph.stored()),
        (false, Some(watch)) => graph.survey(watch),
        (false, None) => graph.dataset(),
    }
}

/// Metadata key of a table of edges none of which has a direction: writing the table again keeps that.
pub(crate) const DIRECTION: &str = "isomorph.direction";

/// Its value.
pub(crate) const UNDIRECTED: &str = "undirected";

/// A table of a graph.
struct Stored {
    graph: Arc<Shared>,
    name: String,
    /// Whether it is one of the tables that the format has, instead of those with declared types.
    stored: bool,
}

impl Stored {
    fn with<T>(&self, shape: &Shape, work: impl FnOnce(&Dataset, Scan<'_>) -> Result<T>) -> Result<T> {
        let graph = self.graph.graph()?;
        let dataset = dataset(&graph, self.stored, None)?;
        let mut scan = dataset.scan(&self.name)?;
        if let Some(columns) = &shape.columns {
            scan = scan.columns(columns.iter().cloned());
        }
        if let Some(filter) = &shape.filter {
            scan = scan.filter(filter.clone());
        }
        if let Some(limit) = shape.limit {
            scan = scan.limit(limit);
        }
        work(dataset, scan)
    }

    /// The columns of a scan, and what is said of the whole table.
    fn columns(&self, dataset: &Dataset, scan: &Scan<'_>) -> Result<SchemaRef> {
        let schema = scan.schema()?;
        let TableKind::Edges(ty) = dataset.table(&self.name)?.kind() else { return Ok(schema) };
        let edges = dataset.source().graph().edges.get(ty);
        if edges.is_none_or(|edges| edges.direction != Direction::Undirected) {
            return Ok(schema);
        }
        let mut metadata = schema.metadata().clone();
        metadata.insert(DIRECTION.to_owned(), UNDIRECTED.to_owned());
        Ok(Arc::new(schema.as_ref().clone().with_metadata(metadata)))
    }
}

impl Rows for Stored {
    fn schema(&self, shape: &Shape) -> Result<SchemaRef> {
        self.with(shape, |dataset, scan| self.columns(dataset, &scan))
    }

    fn rows(&self) -> Option<u64> {
        let graph = self.graph.graph().ok()?;
        dataset(&graph, self.stored, None).ok()?.table(&self.name).ok()?.rows()
    }

    fn exact_rows(&self) -> Result<Option<u64>> {
        let graph = self.graph.graph()?;
        let known = dataset(&graph, self.stored, None)?.statistics(&self.name)?;
        Ok(known.rows.exact().copied())
    }

    fn read(&self, shape: &Shape, cancel: &Cancel) -> Result<Box<dyn Reader>> {
        // Which rows are within a limit must not depend on the speed of threads.
        let threads = if shape.limit.is_some() { 1 } else { self.graph.resources.threads };
        self.with(shape, |dataset, scan| {
            let scan = scan.cancel(cancel.clone());
            let reader = Ordered::new(self.columns(dataset, &scan)?, scan.partitions()?, threads, cancel.clone());
            Ok(Box::new(reader) as Box<dyn Reader>)
        })
    }
}

/// A table in a list: name, kind, type or relation, source type, target type, number of rows if known.
type Listed = (String, &'static str, Option<String>, Option<String>, Option<String>, Option<u64>);

fn listed(graph: &Model, table: &isomorph::Table) -> Listed {
    let (name, rows) = (table.name().to_owned(), table.rows());
    let edge = |at: usize| {
        let ty = graph.edges.get(at)?;
        let (source, _, target) = graph.edge_name(ty);
        Some((ty.relation.fixed().map(str::to_owned), source, target))
    };
    let node = |at: usize| graph.nodes.get(at).map(|ty| ty.name.clone());
    let hyperedge = |at: usize| graph.hyperedges.get(at).map(|ty| ty.name.clone());
    let owner = |owner: Owner| match owner {
        Owner::Nodes(at) => node(at),
        Owner::Edges(at) => {
            edge(at).map(|(relation, source, target)| format!("{source}_{}_{target}", relation.unwrap_or_default()))
        }
        Owner::Hyperedges(at) => hyperedge(at),
    };
    match table.kind() {
        TableKind::Nodes(at) => (name, "nodes", node(at), None, None, rows),
        TableKind::Edges(at) => match edge(at) {
            Some((relation, source, target)) => (name, "edges", relation, Some(source), Some(target), rows),
            None => (name, "edges", None, None, None, rows),
        },
        TableKind::Hyperedges(at) => (name, "hyperedges", hyperedge(at), None, None, rows),
        TableKind::Members(at) => (name, "members", hyperedge(at), None, None, rows),
        TableKind::Values(at) => {
            let of = graph.values.get(at).and_then(|values| owner(values.owner));
            (name, "values", of, None, None, rows)
        }
        TableKind::Groups(at) => (name, "groups", graph.groups.get(at).map(|kind| kind.kind.clone()), None, None, rows),
        TableKind::Memberships { kind, .. } => {
            (name, "memberships", graph.groups.get(kind).map(|kind| kind.kind.clone()), None, None, rows)
        }
    }
}

/// A graph of any format.
#[pyclass(module = "isomorph._isomorph", frozen)]
pub(crate) struct Graph {
    shared: Arc<Shared>,
    whole: Whole,
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (path, options, part=None))]
    fn new(py: Python<'_>, path: String, options: Opening, part: Option<Part>) -> PyResult<Graph> {
        run(py, None, Ending::Abandoned, move |watch| {
            let (location, mut how) = options.place(&path)?;
            if options.names_snapshot() && how.from.is_none() {
                how.from = Some(Registry::standard().at(&location)?);
                if how.from != Some(Format::GRAPHLAKE) {
                    let message = "only GraphLake stores have snapshots";
                    return Err(isomorph::Error::usage(message).at(location.to_string()).hint("open it without at="));
                }
            }
            let part = part.map(|part| part.selection()).transpose()?;
            let (shared, whole) = Shared::open(location, how, options.resources()?, part, watch)?;
            Ok(Graph { shared: Arc::new(shared), whole })
        })
    }

    /// Its location: an absolute path, or a URL.
    #[getter]
    fn location(&self) -> String {
        self.shared.location.to_string()
    }

    /// Id of its format.
    #[getter]
    fn format(&self) -> &'static str {
        self.whole.format.id()
    }

    /// Id of the format of its data.
    #[getter]
    fn stored_as(&self) -> &'static str {
        self.whole.stored_as.id()
    }

    /// Version of the snapshot.
    #[getter]
    fn at(&self) -> Option<i64> {
        self.whole.at
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.shared.here.lock().unwrap_or_else(PoisonError::into_inner).is_none())
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let closed = self.shared.here.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(closed);
        });
    }

    #[pyo3(signature = (stored, progress=None))]
    fn tables(&self, py: Python<'_>, stored: bool, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Listed>> {
        let shared = Arc::clone(&self.shared);
        run(py, progress, Ending::Abandoned, move |watch| {
            let graph = shared.graph()?;
            let dataset = dataset(&graph, stored, Some(watch))?;
            Ok(dataset.tables().iter().map(|table| listed(dataset.source().graph(), table)).collect())
        })
    }

    fn table(&self, py: Python<'_>, name: String, stored: bool) -> PyResult<Table> {
        let shared = Arc::clone(&self.shared);
        run(py, None, Ending::Abandoned, move |watch| {
            let graph = shared.graph()?;
            dataset(&graph, stored, Some(watch))?.table(&name)?;
            Ok(Stored { graph: Arc::clone(&shared), name, stored })
        })
        .map(|table| Table::new(Arc::new(table)))
    }

    fn neighbors(&self, py: Python<'_>, asked: Asked) -> PyResult<Table> {
        let shared = Arc::clone(&self.shared);
        let found = run(py, None, Ending::Abandoned, move |watch| {
            let graph = shared.graph()?;
            near::read(&graph, &asked, watch)
        });
        found.map(|table| Table::new(Arc::new(table)))
    }

    fn sql(&self, py: Python<'_>, query: String, parameters: Vec<(String, Option<String>)>) -> PyResult<Table> {
        let shared = Arc::clone(&self.shared);
        run(py, None, Ending::Abandoned, move |_| Sql::new(&shared, query, parameters))
            .map(|table| Table::new(Arc::new(table)))
    }

    /// A table, and notes about names that the graph does not have.
    fn cypher(&self, py: Python<'_>, asked: cypher::Asked) -> PyResult<(Table, Vec<String>)> {
        let shared = Arc::clone(&self.shared);
        let (table, notes) = run(py, None, Ending::Abandoned, move |watch| cypher::answer(&shared, &asked, watch))?;
        Ok((Table::new(Arc::new(table)), notes))
    }

    /// A table, or a bool.
    fn sparql(&self, py: Python<'_>, asked: sparql::Asked) -> PyResult<Py<PyAny>> {
        let shared = Arc::clone(&self.shared);
        match run(py, None, Ending::Abandoned, move |watch| sparql::answer(&shared, &asked, watch))? {
            sparql::Found::Boolean(answer) => Ok(answer.into_pyobject(py)?.to_owned().into_any().unbind()),
            sparql::Found::Table(table) => Ok(Py::new(py, Table::new(Arc::new(table)))?.into_any()),
        }
    }

    fn draw(&self, py: Python<'_>, draw: Draw) -> PyResult<Table> {
        let shared = Arc::clone(&self.shared);
        run(py, None, Ending::Abandoned, move |_| sampled::draw(&shared, &draw))
            .map(|table| Table::new(Arc::new(table)))
    }

    #[pyo3(signature = (path, options, progress=None))]
    fn convert(
        &self,
        py: Python<'_>,
        path: String,
        options: Writing,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let shared = Arc::clone(&self.shared);
        run(py, progress, Ending::Awaited, move |watch| {
            let opened = shared.graph()?.opened().clone();
            converted(opened, Origin::Files, &destination(&path)?, &options, shared.resources(), watch)
        })
    }

    #[pyo3(signature = (progress=None))]
    fn digest(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let shared = Arc::clone(&self.shared);
        run(py, progress, Ending::Abandoned, move |watch| {
            let (graph, resources) = (shared.graph()?, shared.resources());
            let opened = graph.opened();
            opened.check_whole(false, resources, watch)?;
            let digests = isomorph::convert::digest(opened.graph.as_ref(), resources, watch)?.digests;
            Ok(to_json(&digests)?.to_string())
        })
    }
}

impl Graph {
    /// What its tables share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

/// Raises what `result` failed with.
pub(crate) fn or_raise<T>(py: Python<'_>, result: Result<T>) -> PyResult<T> {
    result.map_err(|error| raised(py, &error))
}
