//! Draws nodes and edges from the whole graph.

mod population;

use std::ops::Range;
use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_storage::pool;

use crate::divide::{divide, pieces};
use crate::faults::UNIFORM;
use crate::graph::{Drawing, Graph, fits};
use crate::neighbors::without_replacement;
use crate::random::{Key, Xoroshiro};
use crate::request::{Draw, Generator, TypeSet};
use crate::stop::Stop;
use population::{Kind, Population};

/// How elements are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// By weight, with replacement.
    Weighted,
    /// Uniformly, with replacement.
    Uniform,
    /// Uniformly, without replacement.
    WithoutReplacement,
}

/// Draws nodes of some types. Created once, used for any number of calls. A clone shares everything except the buffer of a call, so each
/// thread uses its own clone.
#[derive(Clone)]
pub struct NodeSampler(Elements);

/// Draws edges of some types, like [`NodeSampler`].
#[derive(Clone)]
pub struct EdgeSampler(Elements);

/// The occurrence number of streams for whole calls, as opposed to those for single slots.
const WHOLE: u32 = u32::MAX;

#[derive(Clone)]
struct Elements {
    graph: Arc<Graph>,
    generator: Generator,
    choice: Choice,
    populations: Arc<[Population]>,
    /// Running sums of the weights of the populations, or of their sizes.
    sums: Arc<[f64]>,
    /// Running sums of their sizes.
    sizes: Arc<[u64]>,
    /// The populations of each type, for the published engine's method.
    types: Arc<[OfType]>,
    /// The numbers of a draw without replacement.
    chosen: Vec<u64>,
    threads: usize,
    stop: Stop,
}

/// The populations of one type.
struct OfType {
    range: Range<usize>,
    weight: f32,
    /// The weight of this type and the following ones.
    rest: f32,
}

/// A drawn element: its population, its number there, and for tables a number from 0 to below 1 that selects one of a record's two.
#[derive(Debug, Clone, Copy, Default)]
struct Drawn {
    population: usize,
    at: u64,
    unit: f64,
}

/// Number of elements that are drawn before the first is read: meanwhile their records are prefetched in parallel.
const BLOCK: usize = 64;

/// Time of an element in nanoseconds.
const EACH: u64 = 25;

/// The buffers for drawn elements.
struct Slots<'a> {
    /// Nodes, or sources of edges.
    first: &'a mut [i64],
    /// Targets of edges; empty for nodes.
    second: &'a mut [i64],
    types: &'a mut [i32],
}

impl<'a> Slots<'a> {
    fn len(&self) -> usize {
        self.first.len()
    }

    #[inline]
    fn put(&mut self, slot: usize, ty: i32, (first, second): (i64, i64)) {
        self.first[slot] = first;
        self.types[slot] = ty;
        if let Some(place) = self.second.get_mut(slot) {
            *place = second;
        }
    }

    fn fill(&mut self, from: usize, missing: i64) {
        self.first[from..].fill(missing);
        self.types[from..].fill(-1);
        self.second.iter_mut().skip(from).for_each(|slot| *slot = missing);
    }

    fn split(self, at: usize) -> (Slots<'a>, Slots<'a>) {
        let (first, other_first) = self.first.split_at_mut(at);
        let (second, other_second) = self.second.split_at_mut(at.min(self.second.len()));
        let (types, other_types) = self.types.split_at_mut(at);
        (Slots { first, second, types }, Slots { first: other_first, second: other_second, types: other_types })
    }
}

/// Checks that the tables of a binary have the graph's node weights: a node with several statements has the weight of the first, but is
/// in a table with all of them.
///
/// # Errors
/// Returns [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) if not, or an error if the budget is too small for the check.
fn weighs_once(graph: &Graph) -> Result<()> {
    if !matches!(graph.drawing, Drawing::Files(_)) {
        return Ok(());
    }
    let (repeated, _memory) = graph.index.repeated(&graph.partitions, &graph.options.budget)?;
    let Some(entry) = repeated.first() else { return Ok(()) };
    let id = graph.partition(*entry).id(entry.entry).cast_unsigned();
    let message = format!(
        "node {id} has several statements; the tables for drawing have the weights of all of them, not of the first"
    );
    Err(Error::unsupported(message)
        .hint("isomorph convert PATH NEW --to deepgnn    write each node once")
        .hint("--generator deepgnn    draw by the tables, like DeepGNN's engine")
        .hint(UNIFORM))
}

/// Checks that the published engine's result is defined: it draws by tables, which only a binary has.
///
/// # Errors
/// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if not.
fn has_tables(graph: &Graph, generator: Generator) -> Result<()> {
    if generator == Generator::Stable || matches!(graph.drawing, Drawing::Files(_)) {
        return Ok(());
    }
    Err(Error::usage("DeepGNN's engine draws nodes and edges by the tables of a binary, but this graph has none")
        .hint("isomorph convert PATH NEW --to deepgnn    write a binary"))
}

impl Elements {
    fn new(
        graph: &Arc<Graph>,
        kind: Kind,
        types: &TypeSet,
        choice: Choice,
        generator: Generator,
        stop: &Stop,
    ) -> Result<Self> {
        if choice == Choice::Weighted {
            has_tables(graph, generator)?;
            match kind {
                Kind::Nodes => {
                    graph.weighs_nodes(types, generator)?;
                    if generator == Generator::Stable {
                        weighs_once(graph)?;
                    }
                }
                Kind::Edges => graph.weighs_edges(types, generator)?,
            }
        }
        let populations = Population::all(graph, kind, types, choice == Choice::Weighted, stop)?;
        stop.check()?;
        let (mut sums, mut sizes, mut sum, mut size) = (Vec::new(), Vec::new(), 0.0, 0);
        for population in &populations {
            sum += if choice == Choice::Weighted { population.weight } else { population.size as f64 };
            size += population.size;
            sums.push(sum);
            sizes.push(size);
        }
        let types = OfType::all(&populations);
        let (graph, chosen) = (Arc::clone(graph), Vec::new());
        let (populations, sums, sizes) = (populations.into(), sums.into(), sizes.into());
        let (types, threads, stop) = (types.into(), 1, Stop::default());
        Ok(Elements { graph, generator, choice, populations, sums, sizes, types, chosen, threads, stop })
    }

    fn threads(mut self, threads: usize) -> Self {
        self.threads = if threads == 0 { pool::threads() } else { threads };
        self
    }

    fn size(&self) -> u64 {
        self.sizes.last().copied().unwrap_or(0)
    }

    /// Returns the weight that the published engine reports.
    fn weight(&self) -> f32 {
        match self.choice {
            Choice::Weighted => self.types.iter().map(|of_type| of_type.weight).sum(),
            Choice::Uniform | Choice::WithoutReplacement => self.size() as f32,
        }
    }

    /// Draws an element for each slot, and returns the number of drawn ones; the other slots are filled.
    fn sample(&mut self, draw: Draw, missing: i64, mut slots: Slots<'_>) -> Result<usize> {
        let count = slots.len();
        let filled = if self.size() == 0 || self.sums.last().is_none_or(|sum| *sum <= 0.0) {
            0
        } else if self.choice == Choice::WithoutReplacement {
            self.distinct(draw, &mut slots)?
        } else if self.choice == Choice::Weighted && self.generator == Generator::Compat {
            self.compat(draw.seed, &mut slots)?
        } else {
            let key = Key::new(draw.seed, draw.hop);
            if let Some(size) = pieces(count, EACH, self.threads) {
                let (mut rest, mut start) = (Some(slots), 0);
                let next = || {
                    let slots = rest.take().filter(|slots| slots.len() > 0)?;
                    let (these, others) = slots.split(size.min(count - start));
                    let from = start;
                    start += these.len();
                    rest = Some(others);
                    Some((from, these))
                };
                let this = &*self;
                divide(&mut vec![(); self.threads], next, |(), (from, mut these)| this.stable(key, from, &mut these))?;
                self.stop.check()?;
                return Ok(count);
            }
            self.stable(key, 0, &mut slots)?;
            count
        };
        slots.fill(filled, missing);
        self.stop.check()?;
        Ok(filled)
    }

    /// Draws with replacement: each slot has its own stream, so it does not matter which thread draws it. The first is slot number `from`.
    fn stable(&self, key: Key, from: usize, slots: &mut Slots<'_>) -> Result<()> {
        let (weighted, all) = (self.choice == Choice::Weighted, self.sums.last().copied().unwrap_or(0.0));
        let (size, last) = (self.size(), self.populations.len().saturating_sub(1));
        let (mut drawn, mut beat) = ([Drawn::default(); BLOCK], self.stop.beat());
        for start in (0..slots.len()).step_by(BLOCK) {
            beat.add(BLOCK as u64)?;
            let count = BLOCK.min(slots.len() - start);
            for (at, drawn) in drawn[..count].iter_mut().enumerate() {
                let mut stream = key.stream((from + start + at) as u64, 0);
                *drawn = if weighted {
                    // One block of the generator is two numbers, which suffice for one population.
                    let population = match last {
                        0 => 0,
                        _ => {
                            let wanted = stream.unit() * all;
                            self.sums.partition_point(|sum| *sum <= wanted).min(last)
                        }
                    };
                    let at = stream.below(self.populations[population].size.max(1));
                    Drawn { population, at, unit: stream.unit() }
                } else {
                    self.of(stream.below(size))
                };
                self.populations[drawn.population].fetch(drawn.at);
            }
            for (at, drawn) in drawn[..count].iter().enumerate() {
                let population = &self.populations[drawn.population];
                let element = match weighted {
                    true => population.weighted(&self.graph, drawn.at, drawn.unit)?,
                    false => population.element(&self.graph, drawn.at)?,
                };
                slots.put(start + at, population.ty, element);
            }
        }
        Ok(())
    }

    /// Draws without replacement.
    fn distinct(&mut self, draw: Draw, slots: &mut Slots<'_>) -> Result<usize> {
        let filled = usize::try_from(self.size()).unwrap_or(usize::MAX).min(slots.len());
        let mut stream = Key::new(draw.seed, draw.hop).stream(0, WHOLE);
        without_replacement(self.size(), filled, &mut stream, &mut self.chosen);
        let mut beat = self.stop.beat();
        for (start, block) in self.chosen.chunks(BLOCK).enumerate() {
            beat.add(BLOCK as u64)?;
            for at in block {
                let drawn = self.of(*at);
                self.populations[drawn.population].fetch(drawn.at);
            }
            for (slot, at) in block.iter().enumerate() {
                let drawn = self.of(*at);
                let population = &self.populations[drawn.population];
                slots.put(start * BLOCK + slot, population.ty, population.element(&self.graph, drawn.at)?);
            }
        }
        Ok(filled)
    }

    /// Returns element number `at` of all populations.
    #[inline]
    fn of(&self, at: u64) -> Drawn {
        let population = self.sizes.partition_point(|size| *size <= at).min(self.sizes.len().saturating_sub(1));
        let before = population.checked_sub(1).map_or(0, |before| self.sizes[before]);
        Drawn { population, at: at - before, unit: 0.0 }
    }

    /// Draws as the published engine does: the number for each type, then for each of its partitions, each of which has a generator.
    fn compat(&self, seed: u64, slots: &mut Slots<'_>) -> Result<usize> {
        let mut random = Xoroshiro::new(seed);
        let share = |part: f32, all: f32| if all > 0.0 { f64::from(part / all) } else { 0.0 };
        let many = |_| Error::usage("a request may have at most 2³² elements");
        let (mut slot, mut left) = (0, u32::try_from(slots.len()).map_err(many)?);
        for of_type in self.types.iter() {
            let mut of_this = random.binomial(left, share(of_type.weight, of_type.rest));
            left -= of_this;
            for at in of_type.range.clone() {
                // Empty partitions also use a number, but no generator. The loop ends when all elements are assigned.
                if of_this == 0 {
                    break;
                }
                let (population, rest) = (&self.populations[at], weight(&self.populations[at..of_type.range.end]));
                let drawn = random.binomial(of_this, share(single(population.weight), rest));
                of_this -= drawn;
                if drawn == 0 || population.size == 0 {
                    continue;
                }
                let random = Xoroshiro::new(random.next() >> 1);
                self.compat_of(population, random, slot, drawn as usize, slots)?;
                slot += drawn as usize;
            }
        }
        Ok(slot)
    }

    /// Draws elements of a population as the published engine does.
    fn compat_of(
        &self,
        population: &Population,
        mut random: Xoroshiro,
        slot: usize,
        count: usize,
        slots: &mut Slots<'_>,
    ) -> Result<()> {
        let (mut drawn, mut beat) = ([(0, 0.0); BLOCK], self.stop.beat());
        for start in (0..count).step_by(BLOCK) {
            beat.add(BLOCK as u64)?;
            let some = &mut drawn[..BLOCK.min(count - start)];
            for drawn in some.iter_mut() {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as the published engine")]
                let record = (random.unit() * population.size as f32) as u64;
                *drawn = (record.min(population.size - 1), f64::from(random.unit()));
                population.fetch(drawn.0);
            }
            for (at, (record, unit)) in some.iter().enumerate() {
                slots.put(slot + start + at, population.ty, population.weighted(&self.graph, *record, *unit)?);
            }
        }
        Ok(())
    }
}

/// Returns the weight of populations, added as the published engine does.
fn weight(populations: &[Population]) -> f32 {
    populations.iter().map(|population| single(population.weight)).sum()
}

/// Returns a weight as in the published engine.
#[expect(clippy::cast_possible_truncation, reason = "rounded as the published engine does")]
fn single(weight: f64) -> f32 {
    weight as f32
}

impl OfType {
    fn all(populations: &[Population]) -> Vec<OfType> {
        let mut end = 0;
        let of_type = |some: &[Population]| {
            let start = end;
            end += some.len();
            OfType { range: start..end, weight: weight(some), rest: 0.0 }
        };
        let mut types: Vec<OfType> = populations.chunk_by(|a, b| a.ty == b.ty).map(of_type).collect();
        for at in 0..types.len() {
            types[at].rest = types[at..].iter().map(|of_type| of_type.weight).sum();
        }
        types
    }
}

impl NodeSampler {
    /// Creates a sampler of the nodes of `types`.
    ///
    /// Drawing by weight needs the tables that were written with the graph: weights of nodes are not stored elsewhere. A node that a
    /// binary states several times has the sum of its weights in these tables; otherwise it counts once, by its first statement.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) for drawing by weight with [`Generator::Compat`] from a graph without tables,
    /// an error if these tables are missing (`DEEPGNN-FILE`) or have wrong lengths (`DEEPGNN-BOUNDS`), or
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) if the budget is too small for a list of the nodes.
    pub fn new(graph: &Arc<Graph>, types: &TypeSet, choice: Choice, generator: Generator) -> Result<NodeSampler> {
        NodeSampler::until(graph, types, choice, generator, &Stop::default())
    }

    /// Creates a sampler, unless `stop` ends the work before.
    ///
    /// # Errors
    /// As [`NodeSampler::new`], and [`Kind::Cancelled`](isomorph_error::Kind::Cancelled).
    pub fn until(
        graph: &Arc<Graph>,
        types: &TypeSet,
        choice: Choice,
        generator: Generator,
        stop: &Stop,
    ) -> Result<NodeSampler> {
        Elements::new(graph, Kind::Nodes, types, choice, generator, stop).map(NodeSampler)
    }

    /// Returns a clone whose draws `stop` ends early.
    #[must_use]
    pub fn stopped_by(&self, stop: &Stop) -> Self {
        NodeSampler(Elements { stop: stop.clone(), ..self.0.clone() })
    }

    /// Divides large draws with replacement among `threads` threads of the current pool: 0 means as many as it has.
    /// Results do not change.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        NodeSampler(self.0.threads(threads))
    }

    /// Returns the number of nodes that it draws from.
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// Returns the total weight of its elements, in 32 bits as in the published engine; for uniform draws, their number. A client uses it
    /// to divide a draw among several graphs.
    pub fn weight(&self) -> f32 {
        self.0.weight()
    }

    /// Draws a node with its type for each slot. Returns the number of filled slots: all, unless there is nothing to draw from or,
    /// without replacement, there are fewer nodes. The other slots get `missing` and −1.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if the lengths of the buffers differ, or `DEEPGNN-BOUNDS` and
    /// `DEEPGNN-ALIAS` for damaged tables.
    pub fn sample(&mut self, draw: Draw, missing: i64, ids: &mut [i64], types: &mut [i32]) -> Result<usize> {
        fits(ids.len(), types.len())?;
        self.0.sample(draw, missing, Slots { first: ids, second: &mut [], types })
    }
}

impl EdgeSampler {
    /// Creates a sampler of the edges of `types`. Drawing by weight uses the tables written with the graph, or sums of the weights
    /// if there are none.
    ///
    /// # Errors
    /// As [`NodeSampler::new`], except for missing tables.
    pub fn new(graph: &Arc<Graph>, types: &TypeSet, choice: Choice, generator: Generator) -> Result<EdgeSampler> {
        EdgeSampler::until(graph, types, choice, generator, &Stop::default())
    }

    /// Creates a sampler, unless `stop` ends the work before.
    ///
    /// # Errors
    /// As [`EdgeSampler::new`], and [`Kind::Cancelled`](isomorph_error::Kind::Cancelled).
    pub fn until(
        graph: &Arc<Graph>,
        types: &TypeSet,
        choice: Choice,
        generator: Generator,
        stop: &Stop,
    ) -> Result<EdgeSampler> {
        Elements::new(graph, Kind::Edges, types, choice, generator, stop).map(EdgeSampler)
    }

    /// Returns a clone whose draws `stop` ends early.
    #[must_use]
    pub fn stopped_by(&self, stop: &Stop) -> Self {
        EdgeSampler(Elements { stop: stop.clone(), ..self.0.clone() })
    }

    /// Divides large draws among threads, as [`NodeSampler::threads`].
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        EdgeSampler(self.0.threads(threads))
    }

    /// Returns the number of edges that it draws from.
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// Returns the total weight of its elements, in 32 bits as in the published engine; for uniform draws, their number. A client uses it
    /// to divide a draw among several graphs.
    pub fn weight(&self) -> f32 {
        self.0.weight()
    }

    /// Draws an edge for each slot: source, target, type. Returns the number of filled slots, as [`NodeSampler::sample`].
    ///
    /// # Errors
    /// As [`NodeSampler::sample`].
    pub fn sample(
        &mut self,
        draw: Draw,
        missing: i64,
        sources: &mut [i64],
        targets: &mut [i64],
        types: &mut [i32],
    ) -> Result<usize> {
        fits(sources.len(), targets.len())?;
        fits(sources.len(), types.len())?;
        self.0.sample(draw, missing, Slots { first: sources, second: targets, types })
    }
}
