//! Subgraphs for mini-batches of a trainer, and the files that they are drawn from.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use isomorph::error::index;
use isomorph::sampling::subgraph::{self, Seeds, Subgraph, SubgraphOf, Subgraphs};
use isomorph::storage::Budget;
use isomorph::{Error, Location, Result};
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use crate::graph::{Graph, dataset, or_raise};
use crate::options::resources;
use crate::work::{Ending, run};

/// Number of rows between two looks for Ctrl-C.
const CHUNK: usize = 1 << 14;

/// Maximum number of bytes that are read at once.
const WINDOW: u64 = 1 << 18;

/// Maximum number of bytes between two rows that are read together: copying them takes less time than another call of the system.
const GAP: u64 = 1 << 12;

/// An array of integers.
type Integers<'py> = Bound<'py, PyArray1<i64>>;

/// The edges of a graph by their target, in the files of a directory.
#[pyclass(module = "isomorph._isomorph", frozen)]
pub(crate) struct Topology {
    topology: Arc<subgraph::Topology>,
    budget: Budget,
    /// Buffers that no thread uses at the moment.
    idle: Arc<Mutex<Vec<Subgraphs>>>,
}

/// What to draw. Python passes all members.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked<'py> {
    seeds: Vec<(usize, PyReadonlyArray1<'py, i64>)>,
    /// For each relation and hop; a negative number means all.
    counts: Vec<Vec<i64>>,
    replacement: bool,
    disjoint: bool,
    induced: bool,
    seed: u64,
    epoch: u64,
}

impl Asked<'_> {
    fn request(&self) -> Result<SubgraphOf> {
        let seeds = self
            .seeds
            .iter()
            .map(|(node_type, rows)| Ok(Seeds { node_type: *node_type, rows: rows.as_array().to_vec() }));
        let count = |count: &i64| match count {
            ..0 => Ok(None),
            _ => u32::try_from(*count).map(Some).map_err(|_| Error::usage(format!("{count} neighbours are too many"))),
        };
        let counts = self.counts.iter().map(|hops| hops.iter().map(count).collect());
        Ok(SubgraphOf {
            seeds: seeds.collect::<Result<_>>()?,
            counts: counts.collect::<Result<_>>()?,
            replacement: self.replacement,
            disjoint: self.disjoint,
            induced: self.induced,
            seed: self.seed,
            epoch: self.epoch,
        })
    }
}

/// Nodes, owners, sources, targets and numbers of edges; nodes and edges by hop.
type Drawn<'py> = (
    Vec<Integers<'py>>,
    Vec<Integers<'py>>,
    Vec<Integers<'py>>,
    Vec<Integers<'py>>,
    Vec<Integers<'py>>,
    Vec<Vec<u64>>,
    Vec<Vec<u64>>,
);

#[pymethods]
impl Topology {
    /// What [`prepare`] wrote, if it was read from `input`.
    #[staticmethod]
    #[pyo3(signature = (directory, input=None, memory=None))]
    fn open(py: Python<'_>, directory: String, input: Option<String>, memory: Option<u64>) -> PyResult<Option<Self>> {
        let opened = py.detach(|| {
            let resources = resources(memory, None, None)?;
            let location = Location::from_path(&PathBuf::from(&directory));
            let found = subgraph::Topology::open(&location, input.as_deref(), &resources.scratch)?;
            Ok(found.map(|topology| Topology {
                topology: Arc::new(topology),
                budget: resources.budget,
                idle: Arc::default(),
            }))
        });
        or_raise(py, opened)
    }

    /// Names and numbers of node types.
    fn nodes(&self) -> Vec<(String, u64)> {
        self.topology.nodes().iter().map(|ty| (ty.name.clone(), ty.nodes)).collect()
    }

    /// Source type, name, target type, number of edges, of those in the direction of their rows, and edge type.
    fn relations(&self) -> Vec<(usize, String, usize, u64, u64, usize)> {
        let of =
            |of: &subgraph::RelationOf| (of.source, of.name.clone(), of.target, of.edges, of.forward, of.edge_type);
        self.topology.relations().iter().map(of).collect()
    }

    fn draw<'py>(&self, py: Python<'py>, asked: Asked<'py>) -> PyResult<Drawn<'py>> {
        let request = or_raise(py, asked.request())?;
        let (topology, budget, idle) = (Arc::clone(&self.topology), self.budget.clone(), Arc::clone(&self.idle));
        let drawn = run(py, None, Ending::Abandoned, move |watch| {
            let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut subgraphs = kept.unwrap_or_else(|| Subgraphs::new(&topology, &budget));
            let drawn = subgraphs.draw(&request, &|| watch.check());
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(subgraphs);
            drawn
        })?;
        let Subgraph { nodes, owners, sources, targets, edges, nodes_by_hop, edges_by_hop } = drawn;
        let arrays = |all: Vec<Vec<i64>>| all.into_iter().map(|one| PyArray1::from_vec(py, one)).collect();
        Ok((arrays(nodes), arrays(owners), arrays(sources), arrays(targets), arrays(edges), nodes_by_hop, edges_by_hop))
    }

    /// All edges of a relation by their numbers: sources, targets.
    fn edges<'py>(&self, py: Python<'py>, relation: usize) -> PyResult<(Integers<'py>, Integers<'py>)> {
        let topology = Arc::clone(&self.topology);
        let listed = run(py, None, Ending::Abandoned, move |_| topology.list(relation))?;
        Ok((PyArray1::from_vec(py, listed.sources), PyArray1::from_vec(py, listed.targets)))
    }

    /// All edges of a relation by target: where those of each start, their sources, their numbers if these are not their positions.
    fn by_target<'py>(
        &self,
        py: Python<'py>,
        relation: usize,
    ) -> PyResult<(Integers<'py>, Integers<'py>, Option<Integers<'py>>)> {
        let topology = Arc::clone(&self.topology);
        let listed = run(py, None, Ending::Abandoned, move |_| topology.by_target(relation))?;
        let array = |all| PyArray1::from_vec(py, all);
        Ok((array(listed.starts), array(listed.sources), listed.numbers.map(array)))
    }

    /// The rows of edges in their table.
    fn rows_of<'py>(
        &self,
        py: Python<'py>,
        relation: usize,
        numbers: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Integers<'py>> {
        let numbers = numbers.as_array().to_vec();
        let rows = py.detach(|| self.topology.rows_of(relation, &numbers));
        or_raise(py, rows).map(|rows| PyArray1::from_vec(py, rows))
    }
}

/// Writes the edges of a graph by their target into a directory.
#[pyfunction]
#[pyo3(signature = (graph, directory, input, progress=None))]
pub(crate) fn prepare(
    py: Python<'_>,
    graph: &Graph,
    directory: String,
    input: String,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let shared = Arc::clone(graph.shared());
    run(py, progress, Ending::Awaited, move |watch| {
        let graph = shared.graph()?;
        let source = dataset(&graph, false, Some(watch))?.source();
        let location = Location::from_path(&PathBuf::from(&directory));
        subgraph::Topology::write(source.as_ref(), &input, &location, shared.resources(), watch)
    })
}

/// The edges of a table of a graph by the rows of their ends: sources and targets, then those of edges without a direction a second time.
#[pyfunction]
#[pyo3(signature = (graph, edge_type, progress=None))]
pub(crate) fn edge_rows<'py>(
    py: Python<'py>,
    graph: &Graph,
    edge_type: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Integers<'py>, Integers<'py>, Integers<'py>, Integers<'py>)> {
    let shared = Arc::clone(graph.shared());
    let (forward, back) = run(py, progress, Ending::Abandoned, move |watch| {
        let graph = shared.graph()?;
        let source = dataset(&graph, false, Some(watch))?.source();
        subgraph::edges_of(source.as_ref(), edge_type, shared.resources(), watch)
    })?;
    let array = |all| PyArray1::from_vec(py, all);
    Ok((array(forward.sources), array(forward.targets), array(back.sources), array(back.targets)))
}

/// Rows of equal length in a file from an offset on. They are read by position, so that nothing of the file is in the memory of the process:
/// in the order of the file, those near each other together.
#[pyclass(module = "isomorph._isomorph", frozen)]
pub(crate) struct RowsFile {
    file: Arc<File>,
    path: String,
    width: usize,
    offset: u64,
    rows: u64,
}

#[pymethods]
impl RowsFile {
    #[new]
    fn new(py: Python<'_>, path: String, width: usize, offset: u64) -> PyResult<Self> {
        let opened = py.detach(|| {
            let at = |error: std::io::Error| Error::from(error).at(path.clone());
            let file = File::open(&path).map_err(at)?;
            let bytes = file.metadata().map_err(at)?.len();
            match width {
                0 => Err(Error::usage("rows must have at least one byte")),
                _ => Ok((file, bytes.saturating_sub(offset) / width as u64)),
            }
        });
        let (file, rows) = or_raise(py, opened)?;
        Ok(RowsFile { file: Arc::new(file), path, width, offset, rows })
    }

    /// Reads rows into `out`, which has room for exactly these.
    fn read(
        &self,
        py: Python<'_>,
        rows: PyReadonlyArray1<'_, i64>,
        mut out: PyReadwriteArray1<'_, u8>,
    ) -> PyResult<()> {
        let rows = rows.as_array().to_vec();
        let wanted = rows.len().saturating_mul(self.width);
        let out = out.as_slice_mut().map_err(|error| crate::errors::raised(py, &Error::usage(error.to_string())))?;
        if out.len() != wanted {
            let error = Error::usage(format!("a buffer has {} bytes, but {wanted} are needed", out.len()));
            return Err(crate::errors::raised(py, &error));
        }
        let places = or_raise(py, py.detach(|| self.places(&rows)))?;
        let mut window = Vec::new();
        for places in places.chunks(CHUNK) {
            or_raise(py, py.detach(|| self.read_some(places, &mut window, out)))?;
            py.check_signals()?;
        }
        Ok(())
    }
}

/// A row of the file, and where it belongs in the output.
type RowAt = (u64, usize);

impl RowsFile {
    /// Returns the rows in the order of the file.
    fn places(&self, rows: &[i64]) -> Result<Vec<RowAt>> {
        let missing = |row: i64| Error::usage(format!("row {row} does not exist: there are {}", self.rows));
        let place = |(at, row): (usize, &i64)| {
            let found = u64::try_from(*row).ok().filter(|found| *found < self.rows);
            found.map(|found| (found, at)).ok_or_else(|| missing(*row))
        };
        let mut places = rows.iter().enumerate().map(place).collect::<Result<Vec<_>>>()?;
        places.sort_unstable();
        Ok(places)
    }

    /// Reads rows in ascending order.
    fn read_some(&self, mut places: &[RowAt], window: &mut Vec<u8>, out: &mut [u8]) -> Result<()> {
        let width = self.width as u64;
        while let Some((first, slot)) = places.first().copied() {
            let near = |pair: &[RowAt]| {
                let (last, next) = (pair[0].0, pair[1].0);
                next.saturating_sub(last + 1) * width <= GAP && (next + 1 - first) * width <= WINDOW
            };
            let count = 1 + places.windows(2).take_while(|pair| near(pair)).count();
            let (these, others) = places.split_at(count);
            places = others;
            let last = these.last().map_or(first, |(row, _)| *row);
            let (offset, bytes) = (self.offset + first * width, index((last + 1 - first) * width));
            let failed = |error: std::io::Error| Error::from(error).at(self.path.clone());
            // The rows may be wanted as they are in the file.
            if these.iter().zip(0..).all(|((row, at), number)| *row == first + number && *at == slot + index(number)) {
                let from = slot * self.width;
                read_at(&self.file, &mut out[from..from + bytes], offset).map_err(failed)?;
                continue;
            }
            window.resize(window.len().max(bytes), 0);
            let window = &mut window[..bytes];
            read_at(&self.file, window, offset).map_err(failed)?;
            for (row, at) in these {
                let from = index(row - first) * self.width;
                out[at * self.width..(at + 1) * self.width].copy_from_slice(&window[from..from + self.width]);
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !buffer.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[count..];
        offset += count as u64;
    }
    Ok(())
}
