//! All neighbours, and how many there are.

use isomorph_error::Result;

use crate::ask::{Ask, Generator};
use crate::graph::fits;
use crate::partition::{target, type_of, weight};
use crate::reference::Sums;
use crate::sampler::Sampler;

/// Neighbours of a batch, node after node. Kept from call to call, its buffers are allocated once.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct NeighborLists {
    /// Number of neighbours of each node.
    pub counts: Vec<u64>,
    /// The neighbours.
    pub ids: Vec<i64>,
    /// Weights of the edges to them.
    pub weights: Vec<f32>,
    /// Types of these edges.
    pub types: Vec<i32>,
    /// When they were created, −1 without times.
    pub created: Vec<i64>,
}

impl Sampler {
    /// All neighbours of each node, in the order of partitions and files, as the published engine gives them.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) when there are not as many times as nodes, and `DEEPGNN-BOUNDS` when an
    /// offset points outside.
    pub fn neighbors(&mut self, ask: &Ask<'_>, lists: &mut NeighborLists) -> Result<()> {
        ask.check()?;
        lists.counts.clear();
        lists.ids.clear();
        lists.weights.clear();
        lists.types.clear();
        lists.created.clear();
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        for (at, node) in ask.nodes.iter().enumerate() {
            let before = lists.ids.len();
            for entry in self.graph.find(*node) {
                worker.segments.clear();
                worker.segments.add_entry(&self.graph, entry, ask.types, ask.time(at))?;
                let mut sums = Sums::new(self.graph.partition(entry), entry.entry)?;
                for (edge, partition, number) in worker.segments.each(&self.graph) {
                    lists.ids.push(target(edge));
                    lists.types.push(type_of(edge));
                    lists.weights.push(match self.generator {
                        Generator::Stable => weight(edge),
                        Generator::Compat => sums.weight(number),
                    });
                    lists.created.push(self.graph.partitions[partition].life(number).0);
                }
            }
            lists.counts.push((lists.ids.len() - before) as u64);
        }
        Ok(())
    }

    /// The number of neighbours of each node. At a time these are the edges that [`Sampler::neighbors`] gives; the published engine
    /// counts some removed ones.
    ///
    /// # Errors
    /// As of [`Sampler::neighbors`], and when `out` has another length than the batch.
    pub fn neighbor_counts(&mut self, ask: &Ask<'_>, out: &mut [u64]) -> Result<()> {
        ask.check()?;
        fits(ask.nodes.len(), out.len())?;
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        for (at, (node, out)) in ask.nodes.iter().zip(out).enumerate() {
            worker.segments.gather(&self.graph, *node, ask.types, ask.time(at))?;
            *out = worker.segments.len() as u64;
        }
        Ok(())
    }
}
