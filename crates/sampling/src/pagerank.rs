//! Personalised PageRank by pushing (Andersen, Chung, Lang 2006), as PPRGo uses it (Bojchevski et al. 2020).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use isomorph_error::{Error, Result};

use crate::graph::Graph;
use crate::partition::target;
use crate::request::{Ask, Missing, Picks, TypeSet};
use crate::sampler::{Sampler, Worker};
use crate::segments::Segments;

/// Parameters of pushing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push {
    /// The share that stays at a node: above 0, at most 1.
    pub alpha: f32,
    /// Amounts below this value per edge of a node are not pushed further; above 0.
    pub epsilon: f32,
}

impl Default for Push {
    fn default() -> Self {
        Push { alpha: 0.5, epsilon: 1e-4 }
    }
}

/// Time for a node in nanoseconds: less in the smallest graphs, more in others.
const EACH: u64 = 100_000;

/// Hasher of ids: one multiplication, whose upper half is mixed in.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ 0x9E37_79B9_7F4A_7C15) * 0xD2B7_4407_B1CE_6E93_u128;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// The state of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Mass {
    rank: f32,
    residue: f32,
    /// Whether it is waiting to be pushed.
    waits: bool,
    /// Number of its edges, once known.
    degree: Option<u32>,
}

/// Buffers of one calculation.
#[derive(Default)]
pub(crate) struct Rank {
    masses: HashMap<i64, Mass, BuildHasherDefault<IdHasher>>,
    stack: Vec<i64>,
    best: Vec<(f32, i64)>,
}

impl Sampler {
    /// Returns the `count` nodes with the largest personalised PageRank for each node, in ascending order; among equal ones
    /// those with smaller ids are taken, and are last. The node itself is one of them. `picks` gets ids and ranks (as weights). Weights of
    /// edges do not matter; each parallel edge counts. Results are the same with both generators: nothing is drawn.
    ///
    /// # Errors
    /// As [`Sampler::weighted`], and if `push` is out of range.
    pub fn pagerank(
        &mut self,
        ask: &Ask<'_>,
        count: usize,
        push: Push,
        missing: &Missing,
        picks: &mut Picks<'_>,
    ) -> Result<()> {
        if !(push.alpha > 0.0 && push.alpha <= 1.0 && push.epsilon > 0.0) {
            return Err(Error::usage("alpha must be above 0 and at most 1, epsilon above 0"));
        }
        self.divide(ask, count, EACH, picks, &|share, worker, picks| {
            for (at, node) in share.ask.nodes.iter().enumerate() {
                let mut row = picks.rows(at * count, (at + 1) * count);
                let Worker { segments, rank, .. } = worker;
                rank.calculate(share.graph, segments, (*node, share.ask.time(at)), share.ask.types, push)?;
                let filled = rank.take_best(count);
                for (slot, (mass, id)) in rank.best.iter().enumerate() {
                    row.put(slot, *id, *mass, missing.ty, missing.created);
                    if let Some(exact) = row.exact.get_mut(slot) {
                        *exact = f64::from(*mass);
                    }
                }
                row.fill(filled, missing);
            }
            Ok(())
        })
    }
}

fn degree_of(segments: &Segments) -> Result<u32> {
    u32::try_from(segments.len()).map_err(|_| Error::unsupported("nodes with more than 2³² edges are not supported"))
}

impl Rank {
    fn calculate(
        &mut self,
        graph: &Graph,
        segments: &mut Segments,
        (start, time): (i64, Option<i64>),
        types: &TypeSet,
        push: Push,
    ) -> Result<()> {
        self.masses.clear();
        self.stack.clear();
        let begin = Mass { residue: push.alpha, waits: true, ..Mass::default() };
        self.masses.insert(start, begin);
        self.stack.push(start);
        while let Some(node) = self.stack.pop() {
            segments.collect(graph, node, types, time)?;
            let degree = degree_of(segments)?;
            let Some(mass) = self.masses.get_mut(&node) else { continue };
            let residue = mass.residue;
            mass.rank += residue;
            mass.residue = 0.0;
            mass.waits = false;
            mass.degree = Some(degree);
            let share = (1.0 - push.alpha) * residue / degree as f32;
            let targets = segments.runs(graph).flatten().map(target);
            let first = self.stack.len();
            for id in targets {
                let mass = self.masses.entry(id).or_default();
                mass.residue += share;
                if !mass.waits {
                    mass.waits = true;
                    self.stack.push(id);
                }
            }
            // Of the nodes just pushed on the stack, only those with enough stay: finding the degree of each is a look-up,
            // and needs the buffer that was just read.
            let mut kept = first;
            for at in first..self.stack.len() {
                let id = self.stack[at];
                let known = self.masses.get(&id).and_then(|mass| mass.degree);
                let degree = match known {
                    Some(degree) => degree,
                    None => {
                        segments.gather(graph, id, types, time)?;
                        degree_of(segments)?
                    }
                };
                let Some(mass) = self.masses.get_mut(&id) else { continue };
                mass.degree = Some(degree);
                mass.waits = mass.residue >= push.alpha * push.epsilon * degree as f32;
                if mass.waits {
                    self.stack[kept] = id;
                    kept += 1;
                }
            }
            self.stack.truncate(kept);
        }
        Ok(())
    }

    /// Keeps the best, in ascending order, and returns their number.
    fn take_best(&mut self, count: usize) -> usize {
        self.best.clear();
        self.best.extend(self.masses.iter().filter(|(_, mass)| mass.rank > 0.0).map(|(id, mass)| (mass.rank, *id)));
        let by = |a: &(f32, i64), b: &(f32, i64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if count > 0 && count < self.best.len() {
            self.best.select_nth_unstable_by(count - 1, by);
        }
        self.best.truncate(count);
        self.best.sort_unstable_by(|a, b| by(b, a));
        self.best.len()
    }
}
