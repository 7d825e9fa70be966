//! Draws a fixed number of neighbours by the weights of edges, with replacement.

use std::sync::Arc;

use isomorph_error::{Error, Result};

use crate::faults::{MEND, UNIFORM};
use crate::graph::Graph;
use crate::hubs::{Hub, MANY};
use crate::partition::{Partition, target, type_of, weight};
use crate::request::{Ask, Draw, Generator, Missing, Picks};
use crate::sampler::{Sampler, Share, Worker};
use crate::segments::Segments;

/// Edges to choose from by weight: the running sums of their weights.
pub(crate) struct Weights<'a> {
    sums: &'a [f64],
}

/// Buffer for new sums, or a reference to kept ones.
#[derive(Default)]
pub(crate) struct SumsRoom {
    pub made: Vec<f64>,
    kept: Option<Arc<Hub>>,
}

impl<'a> Weights<'a> {
    /// Returns the sums of the weights of `segments`, kept ones or new ones in `room`; `None` if all weights are 0.
    ///
    /// # Errors
    /// Returns an error if a weight is negative or not finite.
    #[inline]
    pub fn of(graph: &Graph, segments: &Segments, room: &'a mut SumsRoom) -> Result<Option<Weights<'a>>> {
        if segments.len() >= MANY {
            room.kept = segments.hub(graph);
            if let Some(kept) = &room.kept {
                return Weights::over(&kept.sums);
            }
        }
        room.made.clear();
        let mut sum = 0.0;
        for (partition, edges) in segments.ranges() {
            sum = graph.partitions[partition].add_up(edges, sum, &mut room.made);
        }
        Weights::over(&room.made)
    }

    /// Wraps existing sums; `None` if the last is 0.
    ///
    /// # Errors
    /// Returns an error if the last is NaN, because one of the weights was.
    #[inline]
    pub fn over(sums: &'a [f64]) -> Result<Option<Weights<'a>>> {
        match sums.last() {
            Some(sum) if *sum > 0.0 => Ok(Some(Weights { sums })),
            Some(sum) if sum.is_nan() => Err(no_weight()),
            _ => Ok(None),
        }
    }

    /// Returns the total weight.
    #[expect(clippy::cast_possible_truncation, reason = "weights are returned with 32 bits")]
    fn total(&self) -> f32 {
        self.sums.last().map_or(0.0, |sum| *sum as f32)
    }

    /// Returns the edge that a number from 0 to below 1 selects.
    #[inline]
    pub fn pick(&self, unit: f64) -> usize {
        /// Maximum number of sums for which linear search is faster than binary search.
        const FEW: usize = 32;
        let total = self.sums.last().copied().unwrap_or(0.0);
        let wanted = unit * total;
        let at = if self.sums.len() <= FEW {
            self.sums.iter().map(|sum| usize::from(*sum <= wanted)).sum()
        } else {
            self.sums.partition_point(|sum| *sum <= wanted)
        };
        if at < self.sums.len() {
            return at;
        }
        // The product was rounded up to the total: the last edge with a weight above 0.
        self.sums.partition_point(|sum| *sum < total)
    }

    /// Returns which of the edges from number `start` on, which have another order in the sums, the same number selects. It selects one of
    /// them.
    fn pick_among(&self, unit: f64, start: usize, masses: impl Iterator<Item = f64>) -> usize {
        let before = start.checked_sub(1).and_then(|at| self.sums.get(at)).copied();
        let (mut sum, mut last) = (before.unwrap_or(0.0), 0);
        let wanted = unit * self.sums.last().copied().unwrap_or(0.0);
        for (at, mass) in masses.enumerate().filter(|(_, mass)| *mass > 0.0) {
            (sum, last) = (sum + mass, at);
            if sum > wanted {
                break;
            }
        }
        last
    }
}

/// Returns the error for a weight that cannot be used for drawing.
#[cold]
pub(crate) fn no_weight() -> Error {
    Error::malformed("an edge has a weight that is negative or not finite, which cannot be used for drawing")
        .hint(UNIFORM)
        .hint(MEND)
}

/// Returns the time of `count` neighbours of a node in nanoseconds.
pub(super) fn of_some(count: usize) -> u64 {
    (count as u64).saturating_mul(8).saturating_add(60)
}

impl Sampler {
    /// Draws `count` neighbours of each node, each by the weights of the edges and independently of the others. Rows without
    /// neighbours, or whose weights are all 0, are filled with `missing`.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if buffers are too short or too long, `DEEPGNN-BOUNDS` if an
    /// offset is out of range, or [`Kind::Malformed`](isomorph_error::Kind::Malformed) if a weight is negative or not finite; in
    /// a graph that is not a binary, whichever node has it.
    pub fn weighted(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        draw: Draw,
        missing: &Missing,
        picks: &mut Picks<'_>,
    ) -> Result<()> {
        self.graph.weighs_edges(ask.types, self.generator)?;
        if self.generator == Generator::Compat {
            return self.compat_weighted(ask, count, draw, missing, picks, |_| {});
        }
        self.divide(ask, count, of_some(count), picks, &|share, worker, picks| {
            weighted(share, worker, count, draw, missing, picks, |_| {})
        })
    }

    /// Draws like [`Sampler::weighted`], and writes to `totals` the total weight of the edges of each node that are drawn from: with them, a
    /// client merges samples of several graphs. With [`Generator::Compat`], they are the published engine's 32-bit sums. The batch is not
    /// divided among threads.
    ///
    /// # Errors
    /// As [`Sampler::weighted`].
    pub fn weighted_and_totals(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        draw: Draw,
        missing: &Missing,
        picks: &mut Picks<'_>,
        totals: &mut Vec<f32>,
    ) -> Result<()> {
        totals.clear();
        self.graph.weighs_edges(ask.types, self.generator)?;
        let total = |total| totals.push(total);
        if self.generator == Generator::Compat {
            return self.compat_weighted(ask, count, draw, missing, picks, total);
        }
        self.undivided(ask, count, picks, |share, worker, picks| {
            weighted(share, worker, count, draw, missing, picks, total)
        })
    }
}

fn weighted(
    share: &Share<'_>,
    worker: &mut Worker,
    count: usize,
    draw: Draw,
    missing: &Missing,
    picks: &mut Picks<'_>,
    mut total: impl FnMut(f32),
) -> Result<()> {
    let graph = share.graph;
    let Worker { segments, sums, .. } = worker;
    let mut ahead = share.ahead();
    let mut beat = share.stop.beat();
    for (at, node) in share.ask.nodes.iter().enumerate() {
        let place = share.edges_at(&mut ahead, at);
        segments.collect_at(graph, place, *node, share.ask.types, share.ask.time(at))?;
        beat.add((segments.len() + count + 1) as u64)?;
        let mut row = picks.rows(at * count, (at + 1) * count);
        let weights = Weights::of(graph, segments, sums)?;
        total(weights.as_ref().map_or(0.0, Weights::total));
        let Some(weights) = weights else {
            row.fill(0, missing);
            continue;
        };
        let mut stream = share.stream(at, draw);
        for slot in 0..count {
            let unit = stream.unit();
            let chosen = weights.pick(unit);
            let (partition, edge) = match segments.parallel(graph, chosen) {
                None => segments.place(chosen),
                Some((range, order)) => {
                    let partition = |of: usize| &graph.partitions[of];
                    let masses =
                        order.iter().map(|(of, edge)| partition(*of).mass(*edge, &partition(*of).edges()[*edge]));
                    let at = weights.pick_among(unit, range.start, masses);
                    order[at]
                }
            };
            put(&mut row, slot, &graph.partitions[partition], edge);
        }
    }
    Ok(())
}

/// Writes an edge of a partition into a slot.
#[inline]
pub(super) fn put(row: &mut Picks<'_>, slot: usize, partition: &Partition, number: usize) {
    let edge = &partition.edges()[number];
    let created = if row.created.is_empty() { -1 } else { partition.life(number).0 };
    row.put(slot, target(edge), weight(edge), type_of(edge), created);
    if let Some(exact) = row.exact.get_mut(slot) {
        *exact = partition.exact(number);
    }
}
