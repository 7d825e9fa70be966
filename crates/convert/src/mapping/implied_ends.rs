//! Adds nodes for edge ends without a node: how a graph whose edges imply nodes is written to a format in which both
//! ends of an edge must exist (`docs/mapping.md`).
//!
//! An edge of DeepGNN may end at an id that no line and no entry describes. [`Completed`] shows these ids as nodes
//! without properties, after the other nodes. Because the nodes of DeepGNN are implied, this is the same graph; on the
//! way back, only its original declarations have to be restored.

use std::sync::Arc;

use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array, cast::AsArray};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Place, Result};
use isomorph_model::{
    Batch, EdgeBatch, EndForm, Ends, Graph, NodeBatch, Part, Progress, Request, Source, Tables, part,
};
use isomorph_storage::{Budget, Reservation, Resources};
use isomorph_tables::lookup::{ABSENT, BulkLookup, KeyRows, KeyRowsBuilder, Lookup, LookupOptions, SpilledKeys};
use serde::{Deserialize, Serialize};

use crate::mapping::{declared, forward};
use crate::parallel::Pass;
use crate::pipeline::REPEATED_KEY;

/// Number of ids that are collected before duplicates are removed.
const MANY: usize = 1 << 16;

/// The relation between a graph and the same graph with a node for each end of an edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The graph.
    pub found: Graph,
    /// The same graph; its nodes can lack every property.
    pub completed: Graph,
    /// The ids of the added nodes; needed only in the forward direction.
    #[serde(skip)]
    ids: Added,
}

/// Ids in memory, counted in the budget.
#[derive(Debug, Clone, Default)]
struct Added {
    ids: Arc<Vec<u64>>,
    _held: Option<Arc<Reservation>>,
}

impl PartialEq for Added {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids
    }
}

impl Completion {
    /// Finds the ends of edges of `source` that are not nodes; `None` if there are none. Keys and ends are read once.
    ///
    /// # Errors
    /// If they cannot be read, a key is duplicated, or the missing ids do not fit into memory.
    pub fn of(source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<Option<Completion>> {
        let graph = source.graph();
        let ([node], [_]) = (graph.nodes.as_slice(), graph.edges.as_slice()) else { return Ok(None) };
        if !node.implied || node.key.data_type != DataType::UInt64 || source.end_form(0) == EndForm::Rows {
            return Ok(None);
        }
        let memory = resources.budget.limit() / 2;
        let options = LookupOptions::new(&resources.budget, &resources.scratch).memory(memory);
        let mut keys = KeyRowsBuilder::new(options.threads(resources.threads));
        let parts = source.scan(&Request::of(Tables::NodeKeys(0)))?;
        Pass::new(parts, "keys", resources.threads, progress).in_order(|batch| match batch {
            Batch::Nodes(NodeBatch { keys: Some(found), .. }) => keys.push(found.as_ref()),
            _ => Ok(()),
        })?;
        let lookup = keys.finish()?;
        if let Some(repeat) = lookup.repeats().shown().first() {
            let message = format!("rows {} and {} have the same key", repeat.first, repeat.row);
            return Err(Error::broken(&REPEATED_KEY, message).at(Place::file(node.name.clone()).row(repeat.row)));
        }
        let ids = match &lookup {
            Lookup::Memory(keys) => missing(source, keys, resources, progress)?,
            Lookup::Spilled(keys) => missing_in_bulk(source, keys, resources, progress)?,
        };
        if ids.ids.is_empty() {
            return Ok(None);
        }
        Ok(Some(Completion::with(graph, ids)))
    }

    /// What makes nodes of all ends of edges, where `is_carried` says that a sidecar shows the graph: it may have been completed before.
    ///
    /// # Errors
    /// As [`Completion::of`] and [`Completion::of_rows`].
    pub(crate) fn needed(
        source: &dyn Source,
        is_carried: bool,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Option<Completion>> {
        match Completion::of(source, resources, progress)? {
            None if is_carried => Completion::of_rows(source, resources, progress),
            record => Ok(record),
        }
    }

    /// The same for a graph whose nodes all have rows: a completion that came before has written rows of nodes of which
    /// nothing is said, though the graph as it was declares that something is. Nothing where all rows say it. Nodes are
    /// read once.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn of_rows(source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<Option<Completion>> {
        let graph = source.graph();
        let ([node], [_]) = (graph.nodes.as_slice(), graph.edges.as_slice()) else { return Ok(None) };
        if !node.implied || node.properties.iter().all(|property| property.nullable) {
            return Ok(None);
        }
        let parts = source.scan(&Request::of(Tables::Nodes(0)))?;
        let pass = Pass::new(parts, "nodes", resources.threads, progress);
        let unsaid = pass.fold(Default::default, |unsaid, _, batch| {
            let Batch::Nodes(nodes) = batch else { return Ok(()) };
            let mut required = node.properties.iter().zip(&nodes.properties).filter(|(of, _)| !of.nullable);
            let is_null = |column: &Option<ArrayRef>| column.as_ref().is_none_or(|cells| cells.null_count() > 0);
            *unsaid |= nodes.rows > 0 && required.any(|(_, column)| is_null(column));
            Ok(())
        })?;
        Ok(unsaid.contains(&true).then(|| Completion::with(graph, Added::default())))
    }

    fn with(graph: &Graph, ids: Added) -> Completion {
        let mut completed = graph.clone();
        for node in &mut completed.nodes {
            node.rows = node.rows.map(|rows| rows.saturating_add(ids.ids.len() as u64));
            node.properties.iter_mut().for_each(|property| property.nullable = true);
        }
        Completion { found: graph.clone(), completed, ids }
    }

    /// Adds the nodes that `other` adds: a stored record does not contain them.
    pub(crate) fn add_those_of(&mut self, other: Completion) {
        self.ids = other.ids;
    }

    /// Number of added nodes.
    pub fn added(&self) -> u64 {
        self.ids.ids.len() as u64
    }
}

/// Ids that are being collected; they are sorted and deduplicated from time to time.
#[derive(Default)]
struct Ids {
    ids: Vec<u64>,
    distinct: usize,
    held: Option<Reservation>,
}

impl Ids {
    fn push(&mut self, id: u64, budget: &Budget) -> Result<()> {
        self.ids.push(id);
        if self.ids.len() >= MANY.max(self.distinct.saturating_mul(2)) { self.settle(budget) } else { Ok(()) }
    }

    fn settle(&mut self, budget: &Budget) -> Result<()> {
        self.ids.sort_unstable();
        self.ids.dedup();
        self.distinct = self.ids.len();
        // Before the next deduplication, there can be twice as many.
        let bytes = (self.ids.len().max(MANY) as u64).saturating_mul(16);
        match &mut self.held {
            Some(held) if held.bytes() < bytes => held.grow(bytes - held.bytes()),
            Some(_) => Ok(()),
            None => budget.reserve(bytes).map(|held| self.held = Some(held)),
        }
    }

    fn finish(mut self, budget: &Budget) -> Result<Added> {
        self.settle(budget)?;
        self.ids.shrink_to_fit();
        let bytes = self.ids.len() as u64 * 8;
        if let Some(held) = &mut self.held {
            held.shrink(held.bytes().saturating_sub(bytes));
        }
        Ok(Added { ids: Arc::new(self.ids), _held: self.held.map(Arc::new) })
    }
}

/// Both ends of each edge.
fn ends(edges: &EdgeBatch) -> Result<[&ArrayRef; 2]> {
    match (&edges.source, &edges.target) {
        (Ends::Keys(source), Ends::Keys(target)) => Ok([source, target]),
        _ => Err(Error::usage("ends are rows, but keys were announced")),
    }
}

fn numbers(keys: &ArrayRef) -> Result<&UInt64Array> {
    keys.as_primitive_opt::<UInt64Type>().ok_or_else(|| Error::usage("ends are not integers"))
}

/// Ends that are not in `keys`.
fn missing(source: &dyn Source, keys: &KeyRows, resources: &Resources, progress: &dyn Progress) -> Result<Added> {
    let parts = source.scan(&Request::of(Tables::EdgeEnds(0)))?;
    let pass = Pass::new(parts, "ends", resources.threads, progress);
    let new = || (Ids::default(), Vec::new());
    let found = pass.fold(new, |(ids, rows), _, batch| {
        let Batch::Edges(edges) = batch else { return Ok(()) };
        for end in ends(&edges)? {
            rows.clear();
            if keys.translate(end.as_ref(), rows)?.not_found > 0 {
                for (id, _) in numbers(end)?.values().iter().zip(rows.iter()).filter(|(_, row)| **row == ABSENT) {
                    ids.push(*id, &resources.budget)?;
                }
            }
        }
        Ok(())
    })?;
    let mut all = Ids::default();
    for (mut some, _) in found {
        for id in std::mem::take(&mut some.ids) {
            all.push(id, &resources.budget)?;
        }
    }
    all.finish(&resources.budget)
}

/// The same for keys that do not fit into memory: keys and ends are sorted.
fn missing_in_bulk(
    source: &dyn Source,
    keys: &SpilledKeys,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Added> {
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::UInt64, false)]));
    let lookup = BulkLookup::within(keys, &schema, resources.budget.available() / 2)?;
    let parts = source.scan(&Request::of(Tables::EdgeEnds(0)))?;
    let next = std::sync::atomic::AtomicU64::new(0);
    let pass = Pass::new(parts, "ends", resources.threads, progress);
    pass.fold(Default::default, |(), _, batch| {
        let Batch::Edges(edges) = batch else { return Ok(()) };
        for end in ends(&edges)? {
            let tags = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(end)]);
            let tags = tags.map_err(|error| Error::malformed(error.to_string()))?;
            let sequence = next.fetch_add(end.len() as u64, std::sync::atomic::Ordering::Relaxed);
            lookup.add_probes(end.as_ref(), &tags, sequence)?;
        }
        Ok(())
    })?;
    let answers = lookup.finish()?;
    let (mut stream, mut ids) = (answers.stream()?, Ids::default());
    while let Some(batch) = stream.next_batch()? {
        let probed = numbers(batch.tags.column(0))?;
        for (id, _) in probed.values().iter().zip(&batch.rows).filter(|(_, row)| **row == ABSENT) {
            ids.push(*id, &resources.budget)?;
        }
    }
    ids.finish(&resources.budget)
}

/// Shows a graph with a node for each end of an edge.
pub struct Completed {
    inner: Arc<dyn Source>,
    record: Completion,
}

impl Completed {
    /// Shows `inner` as `record.completed`. Reads nothing.
    ///
    /// # Errors
    /// If it is not the graph of the record.
    pub fn new(inner: Arc<dyn Source>, record: &Completion) -> Result<Self> {
        Ok(Completed { inner: declared(inner, &record.found)?, record: record.clone() })
    }
}

/// The added nodes, from row `start`.
fn added(ids: &[u64], mut start: u64, width: usize, at_once: usize) -> Box<dyn Part + '_> {
    let nodes = move |ids: &[u64]| {
        let keys: ArrayRef = Arc::new(UInt64Array::from(ids.to_vec()));
        let (rows, properties, first) = (ids.len(), vec![None; width], start);
        start += rows as u64;
        Ok(Batch::Nodes(NodeBatch { keys: Some(keys), properties, ..NodeBatch::of(0, first, rows) }))
    };
    part::of(Some(ids.len() as u64), ids.chunks(at_once.max(1)).map(nodes))
}

impl Source for Completed {
    forward!(inner: prepare edge_orders runs end_form about neighbors look_up_cost);

    fn graph(&self) -> &Graph {
        &self.record.completed
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        // The two graphs differ in rows alone.
        let mut parts = self.inner.scan(request)?;
        let nodes = match request.tables {
            Tables::All | Tables::AllNodes | Tables::Nodes(0) | Tables::NodeKeys(0) => self.record.found.nodes.first(),
            _ => None,
        };
        if let Some(node) = nodes {
            let start = node.rows.unwrap_or_default();
            parts.push(added(&self.record.ids.ids, start, node.properties.len(), request.batch_rows));
        }
        Ok(parts)
    }
}
