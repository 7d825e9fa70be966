//! Totals of the edges of nodes: their number and weight.

use isomorph_error::{Error, Kind, Result};

use super::weighted::Weights;
use crate::prefetch::{Ahead, AtEdges};
use crate::request::{Ask, Generator};
use crate::sampler::Sampler;

/// Totals of the edges of each node of a batch. If it is reused, its buffers are allocated only once.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Totals {
    /// Whether the node exists, or entries that only represent ends of edges.
    pub found: Vec<bool>,
    /// Number of its edges.
    pub counts: Vec<u64>,
    /// Their total weight; empty if no weights are requested.
    pub weights: Vec<f32>,
}

impl Totals {
    fn clear(&mut self) {
        self.found.clear();
        self.counts.clear();
        self.weights.clear();
    }
}

impl Sampler {
    /// Computes the totals of the edges of each node that a sample is drawn from: with them, a client merges samples of several graphs.
    /// With [`Generator::Compat`], they are the edges that the published engine finds, and its 32-bit sums.
    ///
    /// # Errors
    /// As [`Sampler::weighted`], without buffers; [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if the nodes have more than
    /// `most` edges in total, whatever their types and times: this limits the work of a batch, however large its nodes are.
    pub fn totals(&mut self, ask: &Ask<'_>, weighted: bool, most: u64, totals: &mut Totals) -> Result<()> {
        ask.check(&self.graph)?;
        totals.clear();
        if weighted {
            self.graph.weighs_edges(ask.types, self.generator)?;
        }
        if self.generator == Generator::Compat {
            return self.compat_totals(ask, weighted, most, totals);
        }
        let mut looked_at = Most::new(most);
        let graph = &*self.graph;
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        let (mut ahead, mut beat) = (Ahead::new(AtEdges(graph)), self.stop.beat());
        for (at, node) in ask.nodes.iter().enumerate() {
            let place = ahead.place(graph, at, ask.nodes.len(), |at| ask.nodes[at]);
            match place {
                Some(place) => looked_at.add(place.range().len())?,
                None => {
                    for entry in graph.find(*node) {
                        looked_at.add(graph.partition(entry).edge_range(entry.entry)?.len())?;
                    }
                }
            }
            worker.segments.collect_at(graph, place, *node, ask.types, ask.time(at))?;
            totals.found.push(place.is_some() || graph.has(*node));
            totals.counts.push(worker.segments.len() as u64);
            beat.add(worker.segments.len() as u64 + 1)?;
            if weighted {
                let weights = Weights::of(graph, &worker.segments, &mut worker.sums)?;
                totals.weights.push(weights.map_or(0.0, |weights| weights.total()));
            }
        }
        self.stop.check()
    }

    /// Returns the total number of edges of the nodes, whatever their types and times.
    ///
    /// # Errors
    /// Returns [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if there are more than `most`, or `DEEPGNN-BOUNDS` if an offset is
    /// out of range.
    pub fn edges_of(&self, nodes: &[i64], most: u64) -> Result<u64> {
        let graph = &*self.graph;
        let (mut ahead, mut looked_at, mut beat) = (Ahead::new(AtEdges(graph)), Most::new(most), self.stop.beat());
        for (at, node) in nodes.iter().enumerate() {
            beat.add(1)?;
            match ahead.place(graph, at, nodes.len(), |at| nodes[at]) {
                Some(place) => looked_at.add(place.range().len())?,
                None => {
                    for entry in graph.find(*node) {
                        looked_at.add(graph.partition(entry).edge_range(entry.entry)?.len())?;
                    }
                }
            }
        }
        Ok(looked_at.sum)
    }
}

/// A counter of edges with a maximum.
pub(crate) struct Most {
    sum: u64,
    most: u64,
}

impl Most {
    /// Creates a counter at 0.
    pub fn new(most: u64) -> Self {
        Most { sum: 0, most }
    }

    /// Adds to the counter.
    ///
    /// # Errors
    /// Returns an error if the maximum is exceeded.
    #[inline]
    pub fn add(&mut self, edges: usize) -> Result<()> {
        self.sum = self.sum.saturating_add(edges as u64);
        if self.sum > self.most {
            let message = format!("these nodes have more than {} edges in total", self.most);
            return Err(Error::new(Kind::TooLarge, message).hint("request fewer nodes at once"));
        }
        Ok(())
    }
}
