//! A number of neighbours, each edge as likely as the others.

use isomorph_error::{Result, index};

use super::weighted::{of_some, put};
use crate::ask::{Ask, Draw, Generator, Missing, Picks};
use crate::random::Stream;
use crate::sampler::{Sampler, Share, Worker};

impl Sampler {
    /// `count` neighbours of each node. With replacement each is drawn independently of the others. Without, no edge is
    /// drawn twice; a node with no more than `count` edges gives all of them as they stand, and the rest of the row is
    /// filled with `missing`.
    ///
    /// # Errors
    /// As of [`Sampler::weighted`].
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
            return self.compat_uniform(ask, count, replacement, draw, missing, picks);
        }
        self.divide(ask, count, of_some(count), picks, &|share, worker, picks| {
            uniform(share, worker, count, replacement, draw, missing, picks)
        })
    }
}

fn uniform(
    share: &Share<'_>,
    worker: &mut Worker,
    count: usize,
    replacement: bool,
    draw: Draw,
    missing: &Missing,
    picks: &mut Picks<'_>,
) -> Result<()> {
    let graph = share.graph;
    let Worker { segments, chosen, .. } = worker;
    let mut ahead = share.ahead();
    for (at, node) in share.ask.nodes.iter().enumerate() {
        let place = share.edges_at(&mut ahead, at);
        segments.collect_at(graph, place, *node, share.ask.types, share.ask.time(at))?;
        let mut row = picks.rows(at * count, (at + 1) * count);
        let edges = segments.len();
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

/// Chooses `count` of `total` numbers, no more than there are, each set of them as likely as the others: all in order
/// when there are no more, else by skipping over those that are not chosen (Li's algorithm L, 1994).
pub(crate) fn without_replacement(total: u64, count: usize, stream: &mut Stream, chosen: &mut Vec<u64>) {
    chosen.clear();
    chosen.extend(0..total.min(count as u64));
    if count == 0 || total <= count as u64 {
        return;
    }
    let mut width = (stream.open_unit().ln() / count as f64).exp();
    let mut next = count as u64;
    loop {
        // The next one that is chosen is so many further; `ln_1p` is exact where `width` is small.
        let skip = (stream.open_unit().ln() / (-width).ln_1p()).floor();
        // A skip that is no number, or beyond all of them, ends it.
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
