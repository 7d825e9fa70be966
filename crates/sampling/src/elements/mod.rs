//! Nodes and edges drawn from the whole graph.

mod population;

use std::sync::Arc;

use isomorph_error::{Error, Result};

use crate::ask::{Draw, Generator, TypeSet};
use crate::graph::{Graph, fits};
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

/// Draws nodes of some types. Made once, used for any number of calls.
pub struct NodeSampler(Elements);

/// Draws edges of some types.
pub struct EdgeSampler(Elements);

/// Occurrence that streams of whole calls have, apart from those of single slots.
const WHOLE: u32 = u32::MAX;

struct Elements {
    kind: Kind,
    graph: Arc<Graph>,
    generator: Generator,
    choice: Choice,
    populations: Vec<Population>,
    /// Sums of the weights of the populations, or of their sizes.
    sums: Vec<f64>,
    /// Sums of their sizes.
    sizes: Vec<u64>,
    chosen: Vec<u64>,
}

/// A drawn element: its population, and its number there.
type Chosen = (usize, u64);

impl Elements {
    fn new(graph: &Arc<Graph>, kind: Kind, types: &TypeSet, choice: Choice, generator: Generator) -> Result<Self> {
        let populations = Population::all(graph, kind, types, choice == Choice::Weighted)?;
        let (mut sums, mut sizes, mut sum, mut size) = (Vec::new(), Vec::new(), 0.0, 0);
        for population in &populations {
            sum += if choice == Choice::Weighted { population.weight } else { population.size as f64 };
            size += population.size;
            sums.push(sum);
            sizes.push(size);
        }
        let (graph, chosen) = (Arc::clone(graph), Vec::new());
        Ok(Elements { kind, graph, generator, choice, populations, sums, sizes, chosen })
    }

    fn size(&self) -> u64 {
        self.sizes.last().copied().unwrap_or(0)
    }

    /// Draws `count` elements and hands over the slot and the element of each, returns how many there were.
    fn sample(
        &mut self,
        draw: Draw,
        count: usize,
        put: &mut dyn FnMut(&Graph, usize, &Population, i64, i64),
    ) -> Result<usize> {
        if self.size() == 0 || self.sums.last().is_none_or(|sum| *sum <= 0.0) {
            return Ok(0);
        }
        match (self.choice, self.generator) {
            (Choice::Weighted, Generator::Compat) => self.compat(draw.seed, count, put),
            (Choice::WithoutReplacement, _) => {
                let filled = usize::try_from(self.size()).unwrap_or(usize::MAX).min(count);
                let mut stream = Key::new(draw.seed, draw.hop).stream(0, WHOLE);
                without_replacement(self.size(), filled, &mut stream, &mut self.chosen);
                for (slot, at) in self.chosen.iter().enumerate() {
                    let (population, at) = self.of(*at);
                    let population = &self.populations[population];
                    let (first, second) = population.element(&self.graph, at)?;
                    put(&self.graph, slot, population, first, second);
                }
                Ok(filled)
            }
            _ => {
                let key = Key::new(draw.seed, draw.hop);
                for slot in 0..count {
                    let mut stream = key.stream(slot as u64, 0);
                    let (population, (first, second)) = match self.choice {
                        Choice::Weighted => {
                            let wanted = stream.unit() * self.sums.last().copied().unwrap_or(0.0);
                            let at = self.sums.partition_point(|sum| *sum <= wanted);
                            let Some(population) = self.populations.get(at.min(self.sums.len() - 1)) else { break };
                            let record = stream.below(population.size.max(1));
                            (population, population.weighted(&self.graph, record, stream.unit())?)
                        }
                        _ => {
                            let (population, at): Chosen = self.of(stream.below(self.size()));
                            let population = &self.populations[population];
                            (population, population.element(&self.graph, at)?)
                        }
                    };
                    put(&self.graph, slot, population, first, second);
                }
                Ok(count)
            }
        }
    }

    /// Element number `at` of all populations.
    fn of(&self, at: u64) -> Chosen {
        let population = self.sizes.partition_point(|size| *size <= at).min(self.sizes.len().saturating_sub(1));
        let before = population.checked_sub(1).map_or(0, |before| self.sizes[before]);
        (population, at - before)
    }

    /// As the published engine: how many of each type, of these how many of each partition, and for each of these a generator.
    fn compat(
        &self,
        seed: u64,
        count: usize,
        put: &mut dyn FnMut(&Graph, usize, &Population, i64, i64),
    ) -> Result<usize> {
        let mut random = Xoroshiro::new(seed);
        let of_types: Vec<&[Population]> = self.populations.chunk_by(|a, b| a.ty == b.ty).collect();
        let weight = |populations: &[Population]| populations.iter().map(|one| one.weight as f32).sum::<f32>();
        let (mut slot, mut left) = (0, u32::try_from(count).map_err(|_| Error::usage("more than 2³² elements"))?);
        for (at, of_type) in of_types.iter().enumerate() {
            let rest: f32 = of_types[at..].iter().map(|populations| weight(populations)).sum();
            let share = |part: f32, all: f32| if all > 0.0 { f64::from(part / all) } else { 0.0 };
            let mut of_this = random.binomial(left, share(weight(of_type), rest));
            left -= of_this;
            for (at, population) in of_type.iter().enumerate() {
                // Empty partitions take a number too, but no generator. Of edges this ends when all are given away.
                if self.kind == Kind::Edges && of_this == 0 {
                    break;
                }
                let drawn = random.binomial(of_this, share(population.weight as f32, weight(&of_type[at..])));
                of_this -= drawn;
                if drawn == 0 || population.size == 0 {
                    continue;
                }
                let mut random = Xoroshiro::new(random.next() >> 1);
                for _ in 0..drawn {
                    let record = (random.unit() * population.size as f32) as u64;
                    let (first, second) =
                        population.weighted(&self.graph, record.min(population.size - 1), f64::from(random.unit()))?;
                    put(&self.graph, slot, population, first, second);
                    slot += 1;
                }
            }
        }
        Ok(slot)
    }
}

impl NodeSampler {
    /// A sampler of the nodes of `types`.
    ///
    /// By weight this needs the tables that were written with the graph: weights of nodes are stored nowhere else.
    ///
    /// # Errors
    /// When these tables are not there (`DEEPGNN-FILE`) or have wrong lengths (`DEEPGNN-BOUNDS`), and
    /// [`Kind::TooLarge`](isomorph_error::Kind::TooLarge) when the budget has no room for a list of the nodes.
    pub fn new(graph: &Arc<Graph>, types: &TypeSet, choice: Choice, generator: Generator) -> Result<NodeSampler> {
        Elements::new(graph, Kind::Nodes, types, choice, generator).map(NodeSampler)
    }

    /// Number of nodes that it draws from.
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// Draws a node with its type for each slot. Returns how many slots were filled: all, unless there is nothing to draw from or,
    /// without replacement, fewer nodes. The others get `missing` and −1.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) when the buffers differ in length, `DEEPGNN-BOUNDS` and
    /// `DEEPGNN-ALIAS` for tables that are damaged.
    pub fn sample(&mut self, draw: Draw, missing: i64, ids: &mut [i64], types: &mut [i32]) -> Result<usize> {
        fits(ids.len(), types.len())?;
        let filled = self.0.sample(draw, ids.len(), &mut |_, slot, population, id, _| {
            ids[slot] = id;
            types[slot] = population.ty;
        })?;
        ids[filled..].fill(missing);
        types[filled..].fill(-1);
        Ok(filled)
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

    /// Number of edges that it draws from.
    pub fn size(&self) -> u64 {
        self.0.size()
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
        let filled = self.0.sample(draw, sources.len(), &mut |_, slot, population, source, target| {
            sources[slot] = source;
            targets[slot] = target;
            types[slot] = population.ty;
        })?;
        sources[filled..].fill(missing);
        targets[filled..].fill(missing);
        types[filled..].fill(-1);
        Ok(filled)
    }
}
