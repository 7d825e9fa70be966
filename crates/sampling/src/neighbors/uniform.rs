//! Draws a fixed number of neighbours uniformly.

use isomorph_error::{Result, index};

use super::weighted::{of_some, put};
use crate::random::Stream;
use crate::request::{Ask, Draw, Generator, Missing, Picks};
use crate::sampler::{Sampler, Share, Worker};

impl Sampler {
    /// Draws `count` neighbours of each node uniformly. With replacement, each is drawn independently of the others. Without, no edge is
    /// drawn twice; a node with at most `count` edges gives all of them in stored order, and the rest of the row is
    /// filled with `missing`.
    ///
    /// # Errors
    /// As [`Sampler::weighted`].
    pub fn uniform(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        replacement: bool,
        draw: Draw,
        missing: &Missing,
        picks: &mut Picks<'_>,
    ) -> Result<()> {
        if self.generator == Generator::Compat {
            return self.compat_uniform(ask, count, replacement, draw, missing, picks, |_| {});
        }
        self.divide(ask, count, of_some(count), picks, &|share, worker, picks| {
            uniform(share, worker, count, replacement, draw, missing, picks, |_| {})
        })
    }

    /// Draws like [`Sampler::uniform`], and writes to `counts` the number of the edges of each node that are drawn from. The batch is not
    /// divided among threads.
    ///
    /// # Errors
    /// As [`Sampler::uniform`].
    #[expect(clippy::too_many_arguments, reason = "those of a draw, and a buffer")]
    pub fn uniform_and_counts(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        replacement: bool,
        draw: Draw,
        missing: &Missing,
        picks: &mut Picks<'_>,
        counts: &mut Vec<u64>,
    ) -> Result<()> {
        counts.clear();
        let edges = |edges| counts.push(edges);
        if self.generator == Generator::Compat {
            return self.compat_uniform(ask, count, replacement, draw, missing, picks, edges);
        }
        self.undivided(ask, count, picks, |share, worker, picks| {
            uniform(share, worker, count, replacement, draw, missing, picks, edges)
        })
    }
}

#[expect(clippy::too_many_arguments, reason = "those of a draw, and who is told the number of edges")]
fn uniform(
    share: &Share<'_>,
    worker: &mut Worker,
    count: usize,
    replacement: bool,
    draw: Draw,
    missing: &Missing,
    picks: &mut Picks<'_>,
    mut told: impl FnMut(u64),
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
        let edges = segments.len();
        told(edges as u64);
        let filled = match edges {
            0 => 0,
            _ if replacement => count,
            _ => count.min(edges),
        };
        let mut stream = share.stream(at, draw);
        if replacement {
            chosen.clear();
            chosen.extend((0..filled).map(|_| stream.below(edges as u64)));
        } else {
            without_replacement(edges as u64, filled, &mut stream, chosen);
        }
        for (slot, edge) in chosen.iter().enumerate() {
            let (partition, edge) = segments.drawn(graph, index(*edge));
            put(&mut row, slot, &graph.partitions[partition], edge);
        }
        row.fill(filled, missing);
    }
    Ok(())
}

/// Chooses `count` of `total` numbers, each set with the same probability: all of them in order
/// if there are no more than `count`, otherwise by skips over those that are not chosen (Li's algorithm L, 1994).
pub(crate) fn without_replacement(total: u64, count: usize, stream: &mut Stream, chosen: &mut Vec<u64>) {
    chosen.clear();
    chosen.extend(0..total.min(count as u64));
    if count == 0 || total <= count as u64 {
        return;
    }
    let mut width = (stream.open_unit().ln() / count as f64).exp();
    let mut next = count as u64;
    loop {
        // The skip to the next chosen number; `ln_1p` is exact for small `width`.
        let skip = (stream.open_unit().ln() / (-width).ln_1p()).floor();
        // A skip that is NaN, or beyond all numbers, ends the draw.
        if skip.is_nan() || skip >= (total - next) as f64 {
            return;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below `total`")]
        let skipped = skip as u64;
        next += skipped;
        let slot = index(stream.below(count as u64));
        chosen[slot] = next;
        next += 1;
        if next >= total {
            return;
        }
        width *= (stream.open_unit().ln() / count as f64).exp();
    }
}
