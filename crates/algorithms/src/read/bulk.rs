//! Edges whose ends are looked up together, because the keys of their nodes are in temporary files.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type};
use arrow_array::{Array as _, ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{EdgeType, Graph};
use isomorph_tables::lookup::{ABSENT, BulkLookup, Lookup, SpilledKeys};

use super::{Edges, Numbered, Piece, Relations};
use crate::nodes::{NOBODY, Nodes, Resolved, unread};

/// The share of the budget for the probes of one look-up.
const SHARE: u64 = 8;

/// Edges that wait, by edge type.
pub(super) struct Bulk<'n> {
    first: BTreeMap<usize, Waiting<'n>>,
    types: u64,
}

/// Probes for one end of the edges of a type.
struct Waiting<'n> {
    probes: BulkLookup<'n>,
    schema: Arc<Schema>,
    /// Whether the sources are looked up; then targets may wait for a second look-up.
    is_source: bool,
    sequence: u64,
}

impl<'n> Bulk<'n> {
    pub fn new(waiting: &[usize]) -> Self {
        Bulk { first: BTreeMap::new(), types: waiting.len().max(1) as u64 }
    }

    /// Adds edges of which at least one end waits.
    pub fn push(&mut self, nodes: &'n Nodes, ty: &EdgeType, piece: Piece, numbered: Numbered) -> Result<()> {
        let Piece { ty: at, rows, resolved: [source, target], undirected, weights, .. } = piece;
        let (is_source, keys, other): (bool, ArrayRef, ArrayRef) = match (source, target) {
            (Resolved::Waiting(keys), Resolved::Waiting(other)) => (true, keys, other),
            (Resolved::Waiting(keys), Resolved::Numbers(other)) => (true, keys, Arc::new(UInt32Array::from(other))),
            (Resolved::Numbers(other), Resolved::Waiting(keys)) => (false, keys, Arc::new(UInt32Array::from(other))),
            (Resolved::Numbers(_), Resolved::Numbers(_)) => return Ok(()),
        };
        let waiting = match self.first.entry(at) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let schema = tags(other.data_type());
                let spilled = spilled(nodes, if is_source { ty.source } else { ty.target })?;
                let memory = nodes.resources.budget.limit() / SHARE / self.types;
                let probes = BulkLookup::within(spilled, &schema, memory)?;
                entry.insert(Waiting { probes, schema, is_source, sequence: 0 })
            }
        };
        let undirected = if undirected.is_empty() { vec![false; rows] } else { undirected };
        let kept = numbered.kept.unwrap_or_else(|| vec![true; rows]);
        let columns: Vec<ArrayRef> = vec![
            other,
            Arc::new(UInt32Array::from(numbered.labels)),
            Arc::new(BooleanArray::from(undirected)),
            Arc::new(Float64Array::from(weights.unwrap_or_else(|| vec![0.0; rows]))),
            Arc::new(BooleanArray::from(kept)),
        ];
        let tags = RecordBatch::try_new(Arc::clone(&waiting.schema), columns).map_err(unread)?;
        waiting.probes.add_probes(keys.as_ref(), &tags, waiting.sequence)?;
        waiting.sequence += rows as u64;
        Ok(())
    }

    /// Looks everything up, and passes it on.
    pub fn finish(
        self,
        nodes: &Nodes,
        graph: &Graph,
        has_weights: bool,
        relations: &mut Relations,
        take: &mut dyn FnMut(Edges) -> Result<()>,
    ) -> Result<()> {
        for (at, Waiting { probes, is_source, .. }) in self.first {
            let Some(ty) = graph.edges.get(at) else { continue };
            if [ty.source, ty.target].iter().any(|ty| nodes.is_implied(*ty)) {
                return Err(Error::new(
                    Kind::TooLarge,
                    "the keys of nodes that only edges name exceed the memory budget",
                )
                .hint("raise --memory"));
            }
            let mut answers = probes.finish()?;
            let mut second: Option<(BulkLookup<'_>, Arc<Schema>)> = None;
            for mut stream in answers.drain(1)? {
                while let Some(batch) = stream.next_batch()? {
                    let own = nodes.numbers(if is_source { ty.source } else { ty.target }, &absent(batch.rows));
                    let other = batch.tags.column(0);
                    if other.data_type() == &DataType::UInt32 && !is_waiting(nodes, ty, is_source) {
                        let other = numbers(other);
                        let (sources, targets) = if is_source { (own, other) } else { (other, own) };
                        pass(sources, targets, &batch.tags, has_weights, batch.missing, relations, take)?;
                        continue;
                    }
                    let (probes, schema) = match &second {
                        Some(second) => second,
                        None => {
                            let schema = tags(&DataType::UInt32);
                            let memory = nodes.resources.budget.limit() / SHARE;
                            let probes = BulkLookup::within(spilled(nodes, ty.target)?, &schema, memory)?;
                            &*second.insert((probes, schema))
                        }
                    };
                    let mut columns = batch.tags.columns().to_vec();
                    if let Some(first) = columns.first_mut() {
                        *first = Arc::new(UInt32Array::from(own));
                    }
                    let tags = RecordBatch::try_new(Arc::clone(schema), columns).map_err(unread)?;
                    probes.add_probes(other.as_ref(), &tags, batch.sequence.values().as_ref())?;
                }
            }
            let Some((second, _)) = second else { continue };
            let mut answers = second.finish()?;
            for mut stream in answers.drain(1)? {
                while let Some(batch) = stream.next_batch()? {
                    let targets = nodes.numbers(ty.target, &absent(batch.rows));
                    let sources = numbers(batch.tags.column(0));
                    pass(sources, targets, &batch.tags, has_weights, batch.missing, relations, take)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether the other end is a key too.
fn is_waiting(nodes: &Nodes, ty: &EdgeType, is_source: bool) -> bool {
    is_source && matches!(nodes.lookup(ty.target), Some(Lookup::Spilled(_)))
}

fn absent(rows: Vec<u64>) -> Vec<u64> {
    // No row of a type has this number, so that it becomes no node.
    rows.into_iter().map(|row| if row == ABSENT { u64::MAX } else { row }).collect()
}

fn numbers(column: &ArrayRef) -> Vec<u32> {
    let numbers = column.as_primitive_opt::<UInt32Type>();
    numbers.map(|numbers| numbers.values().to_vec()).unwrap_or_default()
}

fn spilled(nodes: &Nodes, ty: usize) -> Result<&SpilledKeys> {
    match nodes.lookup(ty) {
        Some(Lookup::Spilled(keys)) => Ok(keys),
        _ => Err(Error::malformed("keys of nodes are looked up together, but they are in memory")),
    }
}

fn tags(other: &DataType) -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        Field::new("other", other.clone(), true),
        Field::new("relation", DataType::UInt32, false),
        Field::new("undirected", DataType::Boolean, false),
        Field::new("weight", DataType::Float64, false),
        Field::new("kept", DataType::Boolean, false),
    ]))
}

fn pass(
    sources: Vec<u32>,
    targets: Vec<u32>,
    tags: &RecordBatch,
    has_weights: bool,
    missing: Option<String>,
    relations: &mut Relations,
    take: &mut dyn FnMut(Edges) -> Result<()>,
) -> Result<()> {
    let labels = tags.column(1).as_primitive::<UInt32Type>().values();
    let undirected = tags.column(2).as_boolean();
    let weights = tags.column(3).as_primitive::<Float64Type>().values();
    let kept = tags.column(4).as_boolean();
    let mut edges = Edges {
        sources: Vec::new(),
        targets: Vec::new(),
        relations: Vec::new(),
        undirected: Vec::new(),
        weights: has_weights.then(Vec::new),
    };
    for (row, (source, target)) in sources.into_iter().zip(targets).enumerate() {
        if !kept.value(row) {
            continue;
        }
        let label = labels.get(row).copied().unwrap_or_default();
        if source == NOBODY || target == NOBODY {
            let text = || Some(missing.clone().unwrap_or_else(|| "a key".to_owned()));
            relations.count(label, Some(&text));
            continue;
        }
        relations.count(label, None);
        edges.sources.push(source);
        edges.targets.push(target);
        edges.relations.push(label);
        edges.undirected.push(undirected.value(row));
        if let (Some(all), Some(weight)) = (&mut edges.weights, weights.get(row)) {
            all.push(*weight);
        }
    }
    take(edges)
}
