//! PageRank, by iteration.

use isomorph_error::{Error, Result};
use isomorph_model::Progress;
use isomorph_storage::{Resources, parallel::map};

use crate::adjacency::Adjacency;
use crate::array::{Array, at};

/// Nodes whose shares are added up together, so that sums do not depend on the number of threads.
const BLOCK: usize = 1 << 14;

/// How PageRank is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRank {
    /// The probability of following an edge instead of jumping to any node, from 0 to 1.
    pub damping: f64,
    /// The most iterations.
    pub iterations: u32,
    /// Stop if the ranks of all nodes together change by less than this; 0 for as many iterations as given.
    pub tolerance: f64,
}

impl Default for PageRank {
    fn default() -> Self {
        PageRank { damping: 0.85, iterations: 100, tolerance: 1e-9 }
    }
}

/// Ranks of nodes.
#[derive(Debug)]
pub(crate) struct Ranked {
    pub ranks: Array<f64>,
    pub iterations: u32,
    /// By how much the ranks of all nodes together changed in the last iteration.
    pub change: f64,
}

impl PageRank {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] for a damping factor outside 0 to 1, or a negative tolerance.
    pub fn check(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.damping) {
            return Err(Error::usage(format!("the damping factor is {}, but must be from 0 to 1", self.damping)));
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::usage(format!("the tolerance is {}, but must be 0 or more", self.tolerance)));
        }
        Ok(())
    }

    /// Ranks nodes by the arcs that lead to them.
    ///
    /// # Errors
    /// If there is no space for temporary files, or the work is cancelled.
    pub(crate) fn run(&self, incoming: &Adjacency, resources: &Resources, progress: &dyn Progress) -> Result<Ranked> {
        let nodes = u64::from(incoming.nodes());
        let mut ranks: Array<f64> = Array::zeros(nodes, 0, resources)?;
        let mut next: Array<f64> = Array::zeros(nodes, 0, resources)?;
        // What each node gives along one arc: its rank divided by the number of its arcs.
        let mut shares: Array<f64> = Array::zeros(nodes, 0, resources)?;
        let mut degrees: Array<u32> = Array::zeros(nodes, 0, resources)?;
        for source in incoming.ends.iter() {
            if let Some(degree) = degrees.get_mut(*source as usize) {
                *degree = degree.saturating_add(1);
            }
        }
        let even = 1.0 / (nodes.max(1) as f64);
        ranks.fill(even);
        let (mut iterations, mut change) = (0, f64::INFINITY);
        progress.begin("rank", Some(u64::from(self.iterations) * incoming.arcs()));
        while iterations < self.iterations && nodes > 0 && !(self.tolerance > 0.0 && change < self.tolerance) {
            let sink = shares_of(&ranks, &degrees, &mut shares, resources.threads);
            let base = (1.0 - self.damping) * even + self.damping * sink * even;
            change = self.step(incoming, &shares, &ranks, &mut next, base, resources.threads);
            std::mem::swap(&mut ranks, &mut next);
            iterations += 1;
            progress.advance(incoming.arcs())?;
        }
        progress.end();
        Ok(Ranked { ranks, iterations, change: if change.is_finite() { change } else { 0.0 } })
    }

    /// One iteration; returns by how much ranks change together.
    fn step(
        &self,
        incoming: &Adjacency,
        shares: &[f64],
        ranks: &[f64],
        next: &mut [f64],
        base: f64,
        threads: usize,
    ) -> f64 {
        let tasks: Vec<(u32, &mut [f64])> = (0u32..).step_by(BLOCK).zip(next.chunks_mut(BLOCK)).collect();
        let changes = map(threads, tasks, |(first, next)| {
            let mut change = 0.0;
            for (node, slot) in (first..).zip(next) {
                let mut sum = 0.0;
                for source in incoming.of(node) {
                    sum += at(shares, *source);
                }
                let rank = base + self.damping * sum;
                change += (rank - at(ranks, node)).abs();
                *slot = rank;
            }
            change
        });
        changes.into_iter().sum()
    }
}

/// Sets what each node gives along one arc; returns the sum of the ranks of nodes without arcs.
fn shares_of(ranks: &[f64], degrees: &[u32], shares: &mut [f64], threads: usize) -> f64 {
    let tasks: Vec<_> = ranks.chunks(BLOCK).zip(degrees.chunks(BLOCK)).zip(shares.chunks_mut(BLOCK)).collect();
    let sinks = map(threads, tasks, |((ranks, degrees), shares)| {
        let mut sink = 0.0;
        for ((rank, degree), share) in ranks.iter().zip(degrees).zip(shares) {
            *share = match degree {
                0 => {
                    sink += rank;
                    0.0
                }
                degree => rank / f64::from(*degree),
            };
        }
        sink
    });
    sinks.into_iter().sum()
}
