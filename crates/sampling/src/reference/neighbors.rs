//! Weighted and uniform neighbours as in the published engine.

use std::ops::Range;

use isomorph_error::{Error, Result};

use crate::graph::Graph;
use crate::neighbors::no_weight;
use crate::partition::{Edge, Partition, mass, target, type_of, weight};
use crate::prefetch::{Ahead, AtEdges, EdgesAt};
use crate::random::Xoroshiro;
use crate::request::{Ask, Draw, Missing, Picks, TypeSet};
use crate::sampler::Sampler;

/// The running sums of an entry's weights: with 32 bits, starting at 0 for each type.
pub(crate) struct Sums<'a> {
    partition: &'a Partition,
    range: Range<usize>,
    /// The next edge to add, and the sum before it.
    next: usize,
    sum: f32,
}

impl<'a> Sums<'a> {
    /// Creates the sums of an entry with these edges.
    pub fn new(partition: &'a Partition, range: Range<usize>) -> Self {
        Sums { partition, next: range.start, range, sum: 0.0 }
    }

    /// Returns the weight of an edge as reported by the engine: the difference of the sums with and without it. Edges must be requested in
    /// ascending order.
    pub fn weight(&mut self, edge: usize) -> f32 {
        let edges = self.partition.edges();
        let mut difference = 0.0;
        while self.next <= edge && self.next < self.range.end {
            let this = &edges[self.next];
            let begins = self.next == self.range.start || type_of(&edges[self.next - 1]) != type_of(this);
            let before = if begins { 0.0 } else { self.sum };
            self.sum = before + weight(this);
            difference = self.sum - before;
            self.next += 1;
        }
        difference
    }
}

/// Maximum number of sums for which linear search is faster than binary search, whose next comparison waits for the last.
const FEW: usize = 32;

/// Buffers for the published engine's method.
#[derive(Default)]
pub(crate) struct Runs {
    /// The edges of one entry that exist at a time, in the order of the sums; empty if no time is requested.
    there: Vec<usize>,
    all: Vec<Run>,
    /// Running sums of weights, starting at 0 in each run.
    sums: Vec<f32>,
    /// Whether one of the weights is negative or not finite.
    wrong: bool,
}

/// The edges of one type of an entry.
struct Run {
    /// The positions of its sums.
    sums: Range<usize>,
    /// The first edge.
    edge: usize,
    /// The sum of the weights.
    weight: f32,
}

impl Runs {
    /// Reads the edges of an entry, with the sums of their weights.
    fn read(&mut self, partition: &Partition, range: &Range<usize>, types: &TypeSet, time: Option<i64>) {
        self.there.clear();
        self.all.clear();
        self.sums.clear();
        self.wrong = false;
        for run in runs(partition, range, types) {
            let (start, edge) = (self.sums.len(), run.start);
            let edges = partition.edges();
            let (mut sum, mut wrong) = (0.0f32, false);
            let mut add = |edge: &Edge| {
                let own = weight(edge);
                wrong |= mass(f64::from(own)).is_nan();
                sum += own;
                sum
            };
            match time {
                None => self.sums.extend(edges[run].iter().map(add)),
                Some(time) => {
                    self.there.extend(run.filter(|edge| is_there(partition, *edge, time)));
                    self.sums.extend(self.there[start..].iter().map(|edge| add(&edges[*edge])));
                }
            }
            self.wrong |= wrong;
            let end = self.sums.len();
            if start < end {
                self.all.push(Run { sums: start..end, edge, weight: sum });
            }
        }
    }

    /// Returns the number of an edge of a run.
    #[inline]
    fn edge(&self, run: &Run, at: usize) -> usize {
        self.there.get(run.sums.start + at).copied().unwrap_or(run.edge + at)
    }

    /// Returns the sum of all weights.
    fn weight(&self) -> f32 {
        self.all.iter().map(|run| run.weight).sum()
    }
}

/// Returns the first position whose sum is not below `wanted`, or the last.
#[inline]
fn position(sums: &[f32], wanted: f32) -> usize {
    let found = if sums.len() <= FEW {
        sums.iter().map(|sum| usize::from(*sum < wanted)).sum()
    } else {
        sums.partition_point(|sum| *sum < wanted)
    };
    found.min(sums.len() - 1)
}

/// Returns the entries of a node with their edges. `place` is what was prefetched: its only entry.
fn entries(
    graph: &Graph,
    place: Option<EdgesAt>,
    node: i64,
) -> impl Iterator<Item = Result<(&Partition, Range<usize>)>> {
    let only = place.map(|place| Ok((&graph.partitions[place.partition], place.range())));
    let found = place.is_none().then(|| graph.find(node)).into_iter().flatten();
    only.into_iter().chain(found.map(|entry| {
        let partition = graph.partition(entry);
        Ok((partition, partition.edge_range(entry.entry)?))
    }))
}

pub(super) fn is_there(partition: &Partition, edge: usize, time: i64) -> bool {
    !partition.has_times() || partition.alive(edge, time)
}

/// Returns the runs of an entry by type, as the engine finds them: of the listed types, or of those that exist. It searches one type after
/// the other, from where the last search ended; if a search passes edges and does not find its type, the run where it ends is skipped
/// too, and is not found by a later search.
pub(super) fn runs<'a>(
    partition: &'a Partition,
    range: &Range<usize>,
    types: &'a TypeSet,
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let (edges, base) = (partition.edges().get(range.clone()).unwrap_or_default(), range.start);
    let (mut listed, mut at) = (types.listed().map(<[i32]>::iter), 0);
    std::iter::from_fn(move || {
        loop {
            let next = type_of(edges.get(at)?);
            let wanted = match &mut listed {
                Some(listed) => *listed.next()?,
                None => next,
            };
            if next > wanted {
                continue;
            }
            let start = at + edges[at..].partition_point(|edge| type_of(edge) < wanted);
            let found = type_of(edges.get(start)?);
            at = start + edges[start..].partition_point(|edge| type_of(edge) <= found);
            if found == wanted {
                return Some(base + start..base + at);
            }
        }
    })
}

impl Sampler {
    /// Each entry has its own generator; they are seeded in order. Within an entry, the binomial share of each type is drawn first, so that
    /// a row is ordered by types; entries of one node overwrite one another by the share of their weights. `told` gets the weight of all
    /// edges of each node: 32-bit sums, run by run and entry by entry.
    pub(crate) fn compat_weighted(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        draw: Draw,
        missing: &Missing,
        picks: &mut Picks<'_>,
        mut told: impl FnMut(f32),
    ) -> Result<()> {
        ask.check(&self.graph)?;
        picks.check(ask.nodes.len().saturating_mul(count))?;
        // The published engine has no weights of 64 bits.
        picks.exact.fill(f64::from(missing.weight));
        let graph = &*self.graph;
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        let draws = u32::try_from(count).map_err(|_| Error::usage("more than 2³² neighbours of a node"))?;
        let (mut seed, mut beat, mut ahead) = (draw.seed, self.stop.beat(), Ahead::new(AtEdges(graph)));
        for (at, node) in ask.nodes.iter().enumerate() {
            let place = ahead.place(graph, at, ask.nodes.len(), |at| ask.nodes[at]);
            let mut row = picks.rows(at * count, (at + 1) * count);
            beat.add(1)?;
            // The sums of the entries so far: of all, and of those that are drawn from. Later slots than `filled` are not drawn by any.
            let (mut all, mut seen, mut filled) = (0.0f32, 0.0f32, 0);
            for entry in entries(graph, place, *node) {
                let (partition, range) = entry?;
                let mut random = Xoroshiro::new(seed);
                seed = seed.wrapping_add(1);
                worker.runs.read(partition, &range, ask.types, ask.time(at));
                beat.add((range.len() + count) as u64)?;
                let runs = &worker.runs;
                if runs.wrong {
                    return Err(no_weight());
                }
                let total = runs.weight();
                all += total;
                if total.is_nan() || total <= 0.0 {
                    continue;
                }
                seen += total;
                let rate = total / seen;
                let (mut left, mut left_weight, mut slot) = (draws, total, 0);
                for run in &runs.all {
                    let drawn = match run.weight == left_weight {
                        true => left,
                        false => random.binomial(left, f64::from(run.weight / left_weight)),
                    };
                    left -= drawn;
                    left_weight -= run.weight;
                    let sums = &runs.sums[run.sums.clone()];
                    for _ in 0..drawn {
                        if rate < 1.0 && random.unit() > rate {
                            continue;
                        }
                        let chosen = position(sums, run.weight * random.unit());
                        let before = if chosen == 0 { 0.0 } else { sums[chosen - 1] };
                        let number = runs.edge(run, chosen);
                        let edge = &partition.edges()[number];
                        let created = if row.created.is_empty() { -1 } else { partition.life(number).0 };
                        row.put(slot, target(edge), sums[chosen] - before, type_of(edge), created);
                        slot += 1;
                    }
                }
                filled = filled.max(slot);
            }
            row.fill(filled, missing);
            told(all);
        }
        self.stop.check()
    }

    /// One generator for the whole call. With replacement, each run of a type replaces each slot with the probability of its share of the
    /// edges so far; without, a reservoir is filled and then updated by skips, counted from the end of each run.
    #[expect(clippy::too_many_arguments, reason = "those of a draw, and who is told the number of edges")]
    pub(crate) fn compat_uniform(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        replacement: bool,
        draw: Draw,
        missing: &Missing,
        picks: &mut Picks<'_>,
        mut told: impl FnMut(u64),
    ) -> Result<()> {
        ask.check(&self.graph)?;
        picks.check(ask.nodes.len().saturating_mul(count))?;
        let graph = &*self.graph;
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        let (mut random, mut beat) = (Xoroshiro::new(draw.seed), self.stop.beat());
        let mut ahead = Ahead::new(AtEdges(graph));
        for (at, node) in ask.nodes.iter().enumerate() {
            let place = ahead.place(graph, at, ask.nodes.len(), |at| ask.nodes[at]);
            let mut row = picks.rows(at * count, (at + 1) * count);
            row.fill(0, missing);
            beat.add(1)?;
            let (mut all, mut reservoir) = (0, Reservoir { room: count, seen: 0, width: 0.0, next: None });
            for entry in entries(graph, place, *node) {
                let (partition, range) = entry?;
                beat.add((range.len() + count) as u64)?;
                for run in runs(partition, &range, ask.types) {
                    let there = &mut worker.runs.there;
                    there.clear();
                    let found = match ask.time(at) {
                        None => run.len(),
                        Some(time) => {
                            there.extend(run.clone().filter(|edge| is_there(partition, *edge, time)));
                            there.len()
                        }
                    };
                    all += found as u64;
                    let mut put = |slot: usize, at: usize| {
                        let number = there.get(at).copied().unwrap_or(run.start + at);
                        let edge = &partition.edges()[number];
                        let created = if row.created.is_empty() { -1 } else { partition.life(number).0 };
                        row.put(slot, target(edge), weight(edge), type_of(edge), created);
                    };
                    match replacement {
                        true => reservoir.replace(found, &mut random, &mut put),
                        false => reservoir.keep(found, &mut random, &mut put),
                    }
                }
            }
            told(all);
        }
        self.stop.check()
    }
}

/// Slots that are filled from one run after another.
struct Reservoir {
    /// Number of slots.
    room: usize,
    /// Number of edges so far.
    seen: usize,
    width: f32,
    /// The edge that enters next, counted from 1 over all runs.
    next: Option<usize>,
}

impl Reservoir {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to `run`")]
    fn replace(&mut self, run: usize, random: &mut Xoroshiro, put: &mut impl FnMut(usize, usize)) {
        if run == 0 {
            return;
        }
        self.seen += run;
        let rate = run as f32 / self.seen as f32;
        for slot in 0..self.room {
            if rate == 1.0 || random.unit() < rate {
                put(slot, ((run as f32 * random.unit()) as usize).min(run - 1));
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to `room`")]
    fn keep(&mut self, run: usize, random: &mut Xoroshiro, put: &mut impl FnMut(usize, usize)) {
        if self.room == 0 {
            return;
        }
        let filled = run.min(self.room.saturating_sub(self.seen));
        (0..filled).for_each(|at| put(self.seen + at, at));
        self.seen += filled;
        let before = self.seen;
        self.seen += run - filled;
        if before == self.seen {
            return;
        }
        let room = self.room as f32;
        let mut next = match self.next {
            Some(next) => next,
            None => {
                self.width = (random.unit().ln() / room).exp();
                self.room.saturating_add(self.skip(random))
            }
        };
        while next <= self.seen {
            let slot = (random.unit() * room) as usize;
            put(slot.min(self.room - 1), run - (next - before));
            self.width *= (random.unit().ln() / room).exp();
            next = next.saturating_add(self.skip(random));
        }
        self.next = Some(next);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; saturates after all edges"
    )]
    fn skip(&self, random: &mut Xoroshiro) -> usize {
        ((random.unit().ln() / (1.0 - self.width).ln()).floor() as usize).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_that_of_a_binary_search() {
        let mut random = Xoroshiro::new(5);
        for count in (1..=2 * FEW).chain([100]) {
            let mut sum = 0.0;
            let add = |at| {
                // Some weights are 0.
                sum += if at % 3 == 1 { 0.0 } else { random.unit() };
                sum
            };
            let sums: Vec<f32> = (0..count).map(add).collect();
            let drawn: Vec<f32> = (0..200).map(|_| sum * random.unit()).collect();
            for wanted in drawn.iter().chain(&sums).copied().chain([0.0, sum * 2.0, f32::INFINITY, f32::NAN]) {
                let expected = sums.partition_point(|sum| *sum < wanted).min(count - 1);
                assert_eq!(position(&sums, wanted), expected, "{wanted} of {sums:?}");
            }
        }
    }
}
