//! Nodes and edges drawn from the whole graph.

mod population;

use std::ops::Range;
use std::sync::Arc;

use isomorph_error::{Error, Result};

use crate::ask::{Draw, Generator, TypeSet};
use crate::divide::{divide, pieces};
use crate::faults::UNIFORM;
use crate::graph::{Drawing, Graph, fits};
use crate::neighbors::without_replacement;
use crate::random::{Key, Xoroshiro};
use population::{Kind, Population};

/// How elements are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// By weight, with replacement.
    Weighted,
    /// Each as likely as the others, with replacement.
    Uniform,
    /// Each as likely as the others, none twice.
    WithoutReplacement,
}

/// Draws nodes of some types. Made once, used for any number of calls. A clone shares everything but the buffer of a call, so each thread
/// takes one of its own.
#[derive(Clone)]
pub struct NodeSampler(Elements);

/// Draws edges of some types.
#[derive(Clone)]
pub struct EdgeSampler(Elements);

/// Occurrence that streams of whole calls have, apart from those of single slots.
const WHOLE: u32 = u32::MAX;

#[derive(Clone)]
struct Elements {
    graph: Arc<Graph>,
    generator: Generator,
    choice: Choice,
    populations: Arc<[Population]>,
    /// Sums of the weights of the populations, or of their sizes.
    sums: Arc<[f64]>,
    /// Sums of their sizes.
    sizes: Arc<[u64]>,
    /// The populations of each type, for the published engine's way.
    types: Arc<[OfType]>,
    /// Numbers of a draw without replacement.
    chosen: Vec<u64>,
    threads: usize,
}

/// The populations of one type.
struct OfType {
    range: Range<usize>,
    weight: f32,
    /// The weight of this type and those behind it.
    rest: f32,
}

/// A drawn element: its population, its number there, and for tables a number from 0 to below 1 that says which of the two of a record.
#[derive(Debug, Clone, Copy, Default)]
struct Drawn {
    population: usize,
    at: u64,
    unit: f64,
}

/// Elements that are drawn before the first of them is read: their records are fetched meanwhile, side by side.
const BLOCK: usize = 64;

/// What an element takes, nanoseconds.
const EACH: u64 = 25;

/// Where drawn elements go.
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

/// Whether the tables of a binary weigh each node as the graph does: a node with several statements has the weight of the first, and stands
/// in a table with each.
///
/// # Errors
/// [`Kind::Unsupported`](isomorph_error::Kind::Unsupported) if not; when the budget has no room for a look.
fn weighs_once(graph: &Graph) -> Result<()> {
    if !matches!(graph.drawing, Drawing::Files(_)) {
        return Ok(());
    }
    let (repeated, _memory) = graph.index.repeated(&graph.partitions, &graph.options.budget)?;
    let Some(entry) = repeated.first() else { return Ok(()) };
    let id = graph.partition(*entry).id(entry.entry).cast_unsigned();
    let message = format!(
        "node {id} has several statements, and the tables for drawing weigh it by all of them, not by the first"
    );
    Err(Error::unsupported(message)
        .hint("isomorph convert PATH NEW --to deepgnn    writes each node once")
        .hint("--generator deepgnn    draws by the tables, as DeepGNN's engine")
        .hint(UNIFORM))
}

/// Whether the published engine's answer is known: it draws by tables, which a graph that was read has none of.
///
/// # Errors
/// [`Kind::Usage`](isomorph_error::Kind::Usage) if not.
fn has_tables(graph: &Graph, generator: Generator) -> Result<()> {
    if generator == Generator::Stable || matches!(graph.drawing, Drawing::Files(_)) {
        return Ok(());
    }
    Err(Error::usage("DeepGNN's engine draws nodes and edges by the tables of a binary, and this graph has none")
        .hint("isomorph convert PATH NEW --to deepgnn    makes them"))
}

impl Elements {
    fn new(graph: &Arc<Graph>, kind: Kind, types: &TypeSet, choice: Choice, generator: Generator) -> Result<Self> {
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
        let populations = Population::all(graph, kind, types, choice == Choice::Weighted)?;
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
        Ok(Elements { graph, generator, choice, populations, sums, sizes, types: types.into(), chosen, threads: 1 })
    }

    fn threads(mut self, threads: usize) -> Self {
        self.threads = if threads == 0 { rayon::current_num_threads() } else { threads };
        self
    }

    fn size(&self) -> u64 {
        self.sizes.last().copied().unwrap_or(0)
    }

    /// What the published engine says it weighs.
    fn weight(&self) -> f32 {
        match self.choice {
            Choice::Weighted => self.types.iter().map(|of_type| of_type.weight).sum(),
            Choice::Uniform | Choice::WithoutReplacement => self.size() as f32,
        }
    }

    /// Draws an element for each slot, and returns how many there were; the others are filled.
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
                return Ok(count);
            }
            self.stable(key, 0, &mut slots)?;
            count
        };
        slots.fill(filled, missing);
        Ok(filled)
    }

    /// With replacement: each slot has a stream of its own, so it does not matter who draws it. The first is slot number `from`.
    fn stable(&self, key: Key, from: usize, slots: &mut Slots<'_>) -> Result<()> {
        let (weighted, all) = (self.choice == Choice::Weighted, self.sums.last().copied().unwrap_or(0.0));
        let (size, last) = (self.size(), self.populations.len().saturating_sub(1));
        let mut drawn = [Drawn::default(); BLOCK];
        for start in (0..slots.len()).step_by(BLOCK) {
            let count = BLOCK.min(slots.len() - start);
            for (at, drawn) in drawn[..count].iter_mut().enumerate() {
                let mut stream = key.stream((from + start + at) as u64, 0);
                *drawn = if weighted {
                    // One block of the generator is two numbers: with one population it is all that is needed.
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

    /// Without replacement.
    fn distinct(&mut self, draw: Draw, slots: &mut Slots<'_>) -> Result<usize> {
        let filled = usize::try_from(self.size()).unwrap_or(usize::MAX).min(slots.len());
        let mut stream = Key::new(draw.seed, draw.hop).stream(0, WHOLE);
        without_replacement(self.size(), filled, &mut stream, &mut self.chosen);
        for (start, block) in self.chosen.chunks(BLOCK).enumerate() {
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

    /// Element number `at` of all populations.
    #[inline]
    fn of(&self, at: u64) -> Drawn {
        let population = self.sizes.partition_point(|size| *size <= at).min(self.sizes.len().saturating_sub(1));
        let before = population.checked_sub(1).map_or(0, |before| self.sizes[before]);
        Drawn { population, at: at - before, unit: 0.0 }
    }

    /// As the published engine: how many of each type, of these how many of each partition, and for each of these a generator.
    fn compat(&self, seed: u64, slots: &mut Slots<'_>) -> Result<usize> {
        let mut random = Xoroshiro::new(seed);
        let share = |part: f32, all: f32| if all > 0.0 { f64::from(part / all) } else { 0.0 };
        let many = |_| Error::usage("more than 2³² elements");
        let (mut slot, mut left) = (0, u32::try_from(slots.len()).map_err(many)?);
        for of_type in self.types.iter() {
            let mut of_this = random.binomial(left, share(of_type.weight, of_type.rest));
            left -= of_this;
            for at in of_type.range.clone() {
                // Empty partitions take a number too, but no generator. This ends when all are given away.
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

    /// So many elements of a population, as the published engine draws them.
    fn compat_of(
        &self,
        population: &Population,
        mut random: Xoroshiro,
        slot: usize,
        count: usize,
        slots: &mut Slots<'_>,
    ) -> Result<()> {
        let mut drawn = [(0, 0.0); BLOCK];
        for start in (0..count).step_by(BLOCK) {
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

/// What populations weigh, as the published engine adds it up.
fn weight(populations: &[Population]) -> f32 {
    populations.iter().map(|population| single(population.weight)).sum()
}

/// A weight as the published engine has it.
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
    /// A sampler of the nodes of `types`.
    ///
    /// By weight this needs the tables that were written with the graph: weights of nodes are stored nowhere else. A node that a
    /// binary states several times weighs what these tables say together; otherwise it counts once, by its first statement.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) by weight with [`Generator::Compat`] of a graph that was read, which has no tables.
    /// When these tables are not there (`DEEPGNN-FILE`) or have wrong lengths (`DEEPGNN-BOUNDS`), and
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) when the budget has no room for a list of the nodes.
    pub fn new(graph: &Arc<Graph>, types: &TypeSet, choice: Choice, generator: Generator) -> Result<NodeSampler> {
        Elements::new(graph, Kind::Nodes, types, choice, generator).map(NodeSampler)
    }

    /// The same sampler, which divides large draws with replacement among `threads` threads of the current pool: 0 is as many as it has.
    /// Answers are the same.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        NodeSampler(self.0.threads(threads))
    }

    /// Number of nodes that it draws from.
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// What its elements weigh together, with 32 bits as the published engine adds it up; evenly drawn, how many they are. By it a client
    /// divides a draw among several graphs.
    pub fn weight(&self) -> f32 {
        self.0.weight()
    }

    /// Draws a node with its type for each slot. Returns how many slots were filled: all, unless there is nothing to draw from or,
    /// without replacement, fewer nodes. The others get `missing` and −1.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) when the buffers differ in length, `DEEPGNN-BOUNDS` and
    /// `DEEPGNN-ALIAS` for tables that are damaged.
    pub fn sample(&mut self, draw: Draw, missing: i64, ids: &mut [i64], types: &mut [i32]) -> Result<usize> {
        fits(ids.len(), types.len())?;
        self.0.sample(draw, missing, Slots { first: ids, second: &mut [], types })
    }
}

impl EdgeSampler {
    /// A sampler of the edges of `types`. By weight it takes the tables that were written with the graph, and makes sums of the weights
    /// where there are none.
    ///
    /// # Errors
    /// As of [`NodeSampler::new`], but for tables that are not there.
    pub fn new(graph: &Arc<Graph>, types: &TypeSet, choice: Choice, generator: Generator) -> Result<EdgeSampler> {
        Elements::new(graph, Kind::Edges, types, choice, generator).map(EdgeSampler)
    }

    /// The same sampler, divided among threads as [`NodeSampler::threads`].
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        EdgeSampler(self.0.threads(threads))
    }

    /// Number of edges that it draws from.
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// What its elements weigh together, with 32 bits as the published engine adds it up; evenly drawn, how many they are. By it a client
    /// divides a draw among several graphs.
    pub fn weight(&self) -> f32 {
        self.0.weight()
    }

    /// Draws an edge for each slot: source, target, type. Returns how many slots were filled, as [`NodeSampler::sample`].
    ///
    /// # Errors
    /// As of [`NodeSampler::sample`].
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
