//! Arcs from node to node, collected while edges are read: in memory, or sorted in temporary files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Result, index};
use isomorph_storage::{Reservation, Resources};
use isomorph_tables::sort::{EdgeSorter, SortOptions};

use crate::adjacency::Adjacency;
use crate::array::Array;
use crate::nodes::unread;
use crate::read::Edges;

/// Arcs in a block of memory: at first, and at most.
const LEAST: usize = 1 << 12;
const MOST: usize = 1 << 18;

/// The ends from which edges are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// From their sources.
    Out,
    /// From their targets.
    In,
    /// From both.
    Both,
}

/// What an arc has beside its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kept {
    /// A label.
    pub labels: bool,
    /// A weight.
    pub weights: bool,
}

impl Kept {
    fn bytes(self) -> u64 {
        4 + if self.labels { 4 } else { 0 } + if self.weights { 8 } else { 0 }
    }
}

/// How an arc relates to its edge, in the lowest bits of its label.
pub(crate) const FORWARD: u32 = 0;
pub(crate) const BACKWARD: u32 = 1;
pub(crate) const UNDIRECTED: u32 = 2;

/// The label of an arc: its relation, and [`FORWARD`], [`BACKWARD`] or [`UNDIRECTED`].
pub(crate) fn label(relation: u32, way: u32) -> u32 {
    relation.saturating_mul(4) + way
}

/// Arcs in memory.
struct Block {
    from: Vec<u32>,
    to: Vec<u32>,
    labels: Vec<u32>,
    weights: Vec<f64>,
    held: Reservation,
}

/// Collects arcs.
pub(crate) struct Arcs {
    resources: Resources,
    kept: Kept,
    /// Memory that the algorithm wants for each node, beside the arcs, bytes.
    beside: u64,
    nodes: u64,
    blocks: Vec<Block>,
    sorter: Option<EdgeSorter>,
    schema: SchemaRef,
    count: u64,
    /// Of these, in the sorter.
    spilled: u64,
}

impl Arcs {
    /// No arcs yet, of about `nodes` nodes; the algorithm wants `beside` bytes for each of these.
    pub fn new(resources: &Resources, kept: Kept, nodes: u64, beside: u64) -> Self {
        let fields = if kept.weights { vec![Field::new("weight", DataType::Float64, false)] } else { Vec::new() };
        let (resources, schema) = (resources.clone(), Arc::new(Schema::new(fields)));
        Arcs { resources, kept, beside, nodes, blocks: Vec::new(), sorter: None, schema, count: 0, spilled: 0 }
    }

    /// Adds edges as arcs. Undirected edges lead both ways, in one arc if they are loops.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn walk(&mut self, edges: &Edges, walk: Walk) -> Result<()> {
        let Edges { sources, targets, relations, undirected, weights } = edges;
        for (row, (source, target)) in sources.iter().zip(targets).enumerate() {
            let relation = relations.get(row).copied().unwrap_or_default();
            let weight = weights.as_ref().and_then(|weights| weights.get(row)).copied().unwrap_or_default();
            let is_undirected = undirected.get(row).copied().unwrap_or_default();
            let (out, back) = match is_undirected {
                true => (label(relation, UNDIRECTED), label(relation, UNDIRECTED)),
                false => (label(relation, FORWARD), label(relation, BACKWARD)),
            };
            if walk != Walk::In || (is_undirected && source != target) {
                self.push(*source, *target, out, weight)?;
            }
            let loops_once = is_undirected && source == target && walk != Walk::In;
            if (walk != Walk::Out || (is_undirected && source != target)) && !loops_once {
                self.push(*target, *source, back, weight)?;
            }
        }
        Ok(())
    }

    /// Adds an arc.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    #[inline]
    pub fn push(&mut self, from: u32, to: u32, label: u32, weight: f64) -> Result<()> {
        let has_room = self.blocks.last().is_some_and(|block| block.from.len() < block.from.capacity());
        if !has_room {
            self.more()?;
        }
        let kept = self.kept;
        if let Some(block) = self.blocks.last_mut() {
            block.from.push(from);
            block.to.push(to);
            if kept.labels {
                block.labels.push(label);
            }
            if kept.weights {
                block.weights.push(weight);
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Makes room for further arcs.
    fn more(&mut self) -> Result<()> {
        if self.sorter.is_some() {
            return self.spill();
        }
        let arcs = self.blocks.last().map_or(LEAST, |block| (2 * block.from.capacity()).min(MOST));
        let bytes = arcs as u64 * (4 + self.kept.bytes());
        // What follows: the list of the ends of each node, and what the algorithm keeps of nodes.
        let after = (self.count + arcs as u64) * self.kept.bytes() + self.nodes * (8 + self.beside);
        let budget = &self.resources.budget;
        let fits = budget.available() >= bytes.saturating_add(after);
        let Some(held) = fits.then(|| budget.try_reserve(bytes)).flatten() else {
            let sort = SortOptions::new(budget, &self.resources.scratch).payload(Arc::clone(&self.schema));
            // Blocks go to the sorter one after another: what they hold is not free for it yet.
            let memory = (budget.available() / 2).max(1 << 20);
            self.sorter = Some(EdgeSorter::new(sort.memory(memory).threads(self.resources.threads))?);
            return self.spill();
        };
        self.blocks.push(Block::new(arcs, self.kept, held));
        Ok(())
    }

    /// Moves all arcs to the sorter; one empty block remains.
    fn spill(&mut self) -> Result<()> {
        let Some(sorter) = &self.sorter else { return Ok(()) };
        for mut block in self.blocks.drain(..) {
            let aligned: Vec<u64> = block.from.iter().map(|from| u64::from(*from)).collect();
            let label = |at: usize| block.labels.get(at).copied().unwrap_or_default();
            let other: Vec<u64> =
                block.to.iter().enumerate().map(|(at, to)| (u64::from(label(at)) << 32) | u64::from(*to)).collect();
            let payload = match self.kept.weights {
                true => {
                    let weights: ArrayRef = Arc::new(Float64Array::from(std::mem::take(&mut block.weights)));
                    Some(RecordBatch::try_new(Arc::clone(&self.schema), vec![weights]).map_err(unread)?)
                }
                false => None,
            };
            sorter.push(&aligned, &other, payload.as_ref(), self.spilled)?;
            self.spilled += aligned.len() as u64;
            drop(block.held);
        }
        self.blocks.push(Block::new(LEAST * 4, self.kept, self.resources.budget.reserve(0)?));
        Ok(())
    }

    /// The arcs of each of `nodes` nodes, sorted by label, then by the other end, then by weight.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    pub fn finish(mut self, nodes: u32) -> Result<Adjacency> {
        let (resources, kept, count) = (self.resources.clone(), self.kept, self.count);
        let spare = u64::from(nodes) * self.beside;
        if self.sorter.is_some() {
            self.spill()?;
            self.blocks.clear();
        }
        let mut starts: Array<u64> = Array::zeros(u64::from(nodes) + 1, spare + count * kept.bytes(), &resources)?;
        let mut rows = Rows {
            ends: Array::zeros(count, spare, &resources)?,
            labels: kept.labels.then(|| Array::zeros(count, spare, &resources)).transpose()?,
            weights: kept.weights.then(|| Array::zeros(count, spare, &resources)).transpose()?,
        };
        let Some(sorter) = self.sorter.take() else {
            for block in &self.blocks {
                for from in &block.from {
                    if let Some(start) = starts.get_mut(*from as usize + 1) {
                        *start += 1;
                    }
                }
            }
            sums(&mut starts);
            for block in self.blocks.drain(..) {
                for (row, from) in block.from.iter().enumerate() {
                    // Where the next arc of the node goes; afterwards where the arcs of the next node start.
                    let Some(start) = starts.get_mut(*from as usize) else { continue };
                    let place = index(*start);
                    *start += 1;
                    rows.set(place, row, &block);
                }
            }
            let last = starts.len().saturating_sub(1);
            starts.copy_within(0..last, 1);
            if let Some(first) = starts.first_mut() {
                *first = 0;
            }
            let mut adjacency = Adjacency { starts, ends: rows.ends, labels: rows.labels, weights: rows.weights };
            adjacency.sort(resources.threads);
            return Ok(adjacency);
        };
        let sorted = sorter.finish()?;
        let mut place = 0;
        for batch in sorted.stream()? {
            let batch = batch?;
            let weights = batch.payload.columns().first().and_then(|column| column.as_primitive_opt::<Float64Type>());
            for (row, (from, other)) in batch.aligned.values().iter().zip(batch.other.values()).enumerate() {
                if let Some(start) = starts.get_mut(index(*from) + 1) {
                    *start += 1;
                }
                #[expect(clippy::cast_possible_truncation, reason = "two numbers of 32 bits in one of 64")]
                let (label, to) = ((other >> 32) as u32, *other as u32);
                if let Some(slot) = rows.ends.get_mut(place) {
                    *slot = to;
                }
                if let Some(slot) = rows.labels.as_mut().and_then(|labels| labels.get_mut(place)) {
                    *slot = label;
                }
                if let Some(slot) = rows.weights.as_mut().and_then(|all| all.get_mut(place)) {
                    *slot = weights.and_then(|weights| weights.values().get(row).copied()).unwrap_or_default();
                }
                place += 1;
            }
        }
        sums(&mut starts);
        let mut adjacency = Adjacency { starts, ends: rows.ends, labels: rows.labels, weights: rows.weights };
        // Equal arcs have their weights in the order of reading.
        if kept.weights {
            adjacency.sort(resources.threads);
        }
        Ok(adjacency)
    }
}

impl Block {
    fn new(arcs: usize, kept: Kept, held: Reservation) -> Self {
        let room = |wanted: bool| if wanted { arcs } else { 0 };
        Block {
            from: Vec::with_capacity(arcs),
            to: Vec::with_capacity(arcs),
            labels: Vec::with_capacity(room(kept.labels)),
            weights: Vec::with_capacity(room(kept.weights)),
            held,
        }
    }
}

/// What arcs have, arc after arc.
struct Rows {
    ends: Array<u32>,
    labels: Option<Array<u32>>,
    weights: Option<Array<f64>>,
}

impl Rows {
    #[inline]
    fn set(&mut self, place: usize, row: usize, block: &Block) {
        if let (Some(slot), Some(to)) = (self.ends.get_mut(place), block.to.get(row)) {
            *slot = *to;
        }
        if let (Some(labels), Some(label)) = (&mut self.labels, block.labels.get(row))
            && let Some(slot) = labels.get_mut(place)
        {
            *slot = *label;
        }
        if let (Some(weights), Some(weight)) = (&mut self.weights, block.weights.get(row))
            && let Some(slot) = weights.get_mut(place)
        {
            *slot = *weight;
        }
    }
}

/// Counts become sums of all counts up to each.
fn sums(counts: &mut [u64]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}
