//! The first neighbours by rank: the heaviest, the latest.

use std::cmp::{Ordering, Reverse};

use isomorph_error::{Result, index};

use super::weighted::put;
use crate::graph::Graph;
use crate::partition::{Edge, target, type_of};
use crate::request::{Ask, Generator, Missing, Picks};
use crate::sampler::{Sampler, Share, Worker};

/// Time of a node in nanoseconds.
const EACH: u64 = 500;

/// The rank of edges.
#[derive(Debug, Clone, Copy)]
enum Rank {
    Heaviest,
    Latest,
}

impl Sampler {
    /// Returns the `count` neighbours with the heaviest edges: by weight from the largest on, then by target and type from the
    /// smallest on. The published engine mentions this but does not implement it.
    ///
    /// # Errors
    /// As [`Sampler::weighted`], except that weights may be negative.
    pub fn top(&mut self, ask: &Ask<'_>, count: usize, missing: &Missing, picks: &mut Picks<'_>) -> Result<()> {
        self.graph.no_fault(self.graph.faults.ranks(ask.types))?;
        self.divide(ask, count, EACH, picks, &|share, worker, picks| {
            ranked(share, worker, count, Rank::Heaviest, missing, picks)
        })
    }

    /// Returns the `count` neighbours whose edges were created last, at the times of `ask`: from the latest on, then by target and type.
    /// Edges that are removed at exactly this time do not exist, as in all other requests; edges without a time come last.
    ///
    /// With [`Generator::Compat`](crate::Generator::Compat), the order of a row, the choice among edges of the same time, and the weights
    /// are those of the published engine.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if buffers are too short or too long, or edges of these types have no times, or
    /// `DEEPGNN-BOUNDS` if an offset is out of range.
    pub fn last(&mut self, ask: &Ask<'_>, count: usize, missing: &Missing, picks: &mut Picks<'_>) -> Result<()> {
        self.graph.check_times(ask.types)?;
        if self.generator == Generator::Compat {
            return self.compat_last(ask, count, missing, picks);
        }
        self.divide(ask, count, EACH, picks, &|share, worker, picks| {
            ranked(share, worker, count, Rank::Latest, missing, picks)
        })
    }
}

fn ranked(
    share: &Share<'_>,
    worker: &mut Worker,
    count: usize,
    rank: Rank,
    missing: &Missing,
    picks: &mut Picks<'_>,
) -> Result<()> {
    let graph = share.graph;
    let Worker { segments, chosen, .. } = worker;
    let mut ahead = share.ahead();
    let mut beat = share.stop.beat();
    for (at, node) in share.ask.nodes.iter().enumerate() {
        let place = share.edges_at(&mut ahead, at);
        segments.collect_at(graph, place, *node, share.ask.types, share.ask.time(at))?;
        beat.add((segments.len() + count + 1) as u64)?;
        let mut row = picks.rows(at * count, (at + 1) * count);
        chosen.clear();
        chosen.extend(0..segments.len() as u64);
        let by = |a: &u64, b: &u64| {
            let (a, b) = (segments.place(index(*a)), segments.place(index(*b)));
            compare(graph, rank, a, b)
        };
        let filled = count.min(chosen.len());
        if filled > 0 && filled < chosen.len() {
            chosen.select_nth_unstable_by(filled - 1, by);
        }
        chosen.truncate(filled);
        chosen.sort_unstable_by(by);
        for (slot, edge) in chosen.iter().enumerate() {
            let (partition, edge) = segments.place(index(*edge));
            put(&mut row, slot, &graph.partitions[partition], edge);
        }
        row.fill(filled, missing);
    }
    Ok(())
}

fn compare(graph: &Graph, rank: Rank, a: (usize, usize), b: (usize, usize)) -> Ordering {
    let edge = |at: (usize, usize)| -> &Edge { &graph.partitions[at.0].edges()[at.1] };
    let first = match rank {
        Rank::Heaviest => {
            // NaN is lighter than every number.
            let exact = |at: (usize, usize)| graph.partitions[at.0].exact(at.1);
            let number = |at| Some(exact(at)).filter(|weight| !weight.is_nan()).unwrap_or(f64::NEG_INFINITY);
            number(b).total_cmp(&number(a))
        }
        Rank::Latest => {
            let created = |at: (usize, usize)| Reverse(graph.partitions[at.0].life(at.1).0);
            created(a).cmp(&created(b))
        }
    };
    let rest = |at: (usize, usize)| (target(edge(at)), type_of(edge(at)), at);
    first.then_with(|| rest(a).cmp(&rest(b)))
}
