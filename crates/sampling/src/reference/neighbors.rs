//! Weighted and uniform neighbours as in the published engine.

use std::ops::Range;

use isomorph_error::{Error, Result};

use crate::graph::Graph;
use crate::neighbors::{Most, Totals, no_weight};
use crate::partition::{Partition, mass, target, type_of, weight};
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

/// Buffers for the published engine's method.
#[derive(Default)]
pub(crate) struct Runs {
    /// The edges of one entry that exist at a time, run by run; not used if no time is requested.
    edges: Vec<usize>,
    all: Vec<Run>,
    /// Running sums of weights, starting at 0 in each run.
    sums: Vec<f32>,
    /// Whether one of the weights is negative or not finite.
    wrong: bool,
}

/// The edges of one type of an entry.
#[derive(Clone, Copy)]
struct Run {
    /// The first of its sums, and the one after its last.
    start: usize,
    end: usize,
    /// The first edge.
    edge: usize,
    /// The sum of the weights.
    weight: f32,
}

impl Runs {
    /// Reads the edges of an entry, with the sums of their weights.
    fn read(&mut self, partition: &Partition, range: &Range<usize>, types: &TypeSet, time: Option<i64>) {
        self.edges.clear();
        self.all.clear();
        self.sums.clear();
        self.wrong = false;
        for run in runs(partition, range, types) {
            let (start, edge) = (self.sums.len(), run.start);
            let edges = partition.edges();
            let (mut sum, mut wrong) = (0.0f32, false);
            let mut add = |edge: usize| {
                let own = weight(&edges[edge]);
                wrong |= mass(f64::from(own)).is_nan();
                sum += own;
                sum
            };
            match time {
                None => self.sums.extend(run.map(add)),
                Some(time) => {
                    self.edges.extend(run.filter(|edge| is_there(partition, *edge, time)));
                    self.sums.extend(self.edges[start..].iter().map(|edge| add(*edge)));
                }
            }
            self.wrong |= wrong;
            let end = self.sums.len();
            if start < end {
                self.all.push(Run { start, end, edge, weight: sum });
            }
        }
    }

    /// Returns the number of an edge of a run.
    fn edge(&self, run: &Run, at: usize) -> usize {
        self.edges.get(run.start + at).copied().unwrap_or(run.edge + at)
    }

    /// Returns the number of edges.
    fn count(&self) -> u64 {
        self.sums.len() as u64
    }

    /// Returns the sum of all weights.
    fn weight(&self) -> f32 {
        self.all.iter().map(|run| run.weight).sum()
    }
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
    /// a row is ordered by types; entries of one node overwrite one another by the share of their weights.
    pub(crate) fn compat_weighted(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        draw: Draw,
        missing: &Missing,
        picks: &mut Picks<'_>,
    ) -> Result<()> {
        ask.check(&self.graph)?;
        picks.check(ask.nodes.len().saturating_mul(count))?;
        let graph = &*self.graph;
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        let draws = u32::try_from(count).map_err(|_| Error::usage("more than 2³² neighbours of a node"))?;
        let (mut seed, mut beat, mut ahead) = (draw.seed, self.stop.beat(), Ahead::new(AtEdges(graph)));
        for (at, node) in ask.nodes.iter().enumerate() {
            let place = ahead.place(graph, at, ask.nodes.len(), |at| ask.nodes[at]);
            let mut row = picks.rows(at * count, (at + 1) * count);
            row.fill(0, missing);
            beat.add(1)?;
            let mut seen = 0.0f32;
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
                if total.is_nan() || total <= 0.0 {
                    continue;
                }
                seen += total;
                let rate = total / seen;
                let (mut left, mut left_weight, mut slot) = (draws, total, 0);
                for run in &runs.all {
                    let sums = &runs.sums[run.start..run.end];
                    let drawn = match run.weight == left_weight {
                        true => left,
                        false => random.binomial(left, f64::from(run.weight / left_weight)),
                    };
                    left -= drawn;
                    left_weight -= run.weight;
                    for _ in 0..drawn {
                        if rate < 1.0 && random.unit() > rate {
                            continue;
                        }
                        let wanted = run.weight * random.unit();
                        let chosen = sums.partition_point(|sum| *sum < wanted).min(sums.len() - 1);
                        let before = if chosen == 0 { 0.0 } else { sums[chosen - 1] };
                        let number = runs.edge(run, chosen);
                        let edge = &partition.edges()[number];
                        let created = if row.created.is_empty() { -1 } else { partition.life(number).0 };
                        row.put(slot, target(edge), sums[chosen] - before, type_of(edge), created);
                        slot += 1;
                    }
                }
            }
        }
        self.stop.check()
    }

    /// Adds the edges that both methods draw from: 32-bit sums, run by run and entry by entry.
    pub(crate) fn compat_totals(
        &mut self,
        ask: &Ask<'_>,
        weighted: bool,
        most: u64,
        totals: &mut Totals,
    ) -> Result<()> {
        let graph = &*self.graph;
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        let (mut looked_at, mut beat, mut ahead) = (Most::new(most), self.stop.beat(), Ahead::new(AtEdges(graph)));
        for (at, node) in ask.nodes.iter().enumerate() {
            let place = ahead.place(graph, at, ask.nodes.len(), |at| ask.nodes[at]);
            let (mut found, mut count, mut weight) = (false, 0, 0.0f32);
            for entry in entries(graph, place, *node) {
                let (partition, range) = entry?;
                found = true;
                looked_at.add(range.len())?;
                beat.add(range.len() as u64)?;
                worker.runs.read(partition, &range, ask.types, ask.time(at));
                count += worker.runs.count();
                weight += worker.runs.weight();
            }
            beat.add(1)?;
            totals.found.push(found);
            totals.counts.push(count);
            if weighted {
                totals.weights.push(weight);
            }
        }
        self.stop.check()
    }

    /// One generator for the whole call. With replacement, each run of a type replaces each slot with the probability of its share of the
    /// edges so far; without, a reservoir is filled and then updated by skips, counted from the end of each run.
    pub(crate) fn compat_uniform(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        replacement: bool,
        draw: Draw,
        missing: &Missing,
        picks: &mut Picks<'_>,
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
            let mut reservoir = Reservoir { room: count, seen: 0, width: 0.0, next: None };
            for entry in entries(graph, place, *node) {
                let (partition, range) = entry?;
                beat.add((range.len() + count) as u64)?;
                for run in runs(partition, &range, ask.types) {
                    let there = |edge: &usize| ask.time(at).is_none_or(|time| is_there(partition, *edge, time));
                    let edges = &mut worker.runs.edges;
                    edges.clear();
                    edges.extend(run.filter(there));
                    let mut put = |slot: usize, at: usize| {
                        let edge = &partition.edges()[edges[at]];
                        row.put(slot, target(edge), weight(edge), type_of(edge), partition.life(edges[at]).0);
                    };
                    match replacement {
                        true => reservoir.replace(edges.len(), &mut random, &mut put),
                        false => reservoir.keep(edges.len(), &mut random, &mut put),
                    }
                }
            }
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
