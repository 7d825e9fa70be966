//! The arcs of each node, one node after another.

use std::ops::Range;

use isomorph_error::index;
use isomorph_storage::parallel::map;

use crate::array::Array;

/// Blocks of nodes for each thread, so that a block with hubs does not hold the others up.
const BLOCKS: usize = 16;

/// The arcs of each node: a node's arcs are sorted by label, then by the other end, then by weight.
#[derive(Debug)]
pub(crate) struct Adjacency {
    /// Where the arcs of each node start; one more than there are nodes.
    pub(crate) starts: Array<u64>,
    pub(crate) ends: Array<u32>,
    pub(crate) labels: Option<Array<u32>>,
    pub(crate) weights: Option<Array<f64>>,
}

impl Adjacency {
    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        u32::try_from(self.starts.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Number of arcs.
    pub fn arcs(&self) -> u64 {
        self.ends.len() as u64
    }

    /// The positions of the arcs of a node.
    #[inline]
    pub fn range(&self, node: u32) -> Range<usize> {
        let at = node as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => index(*start)..index(*end),
            _ => 0..0,
        }
    }

    /// The other ends of the arcs of a node.
    #[inline]
    pub fn of(&self, node: u32) -> &[u32] {
        self.ends.get(self.range(node)).unwrap_or_default()
    }

    /// The labels of the arcs of a node; none if arcs have no labels.
    #[inline]
    pub fn labels_of(&self, node: u32) -> &[u32] {
        self.labels.as_ref().and_then(|labels| labels.get(self.range(node))).unwrap_or_default()
    }

    /// The weights of the arcs of a node; none if arcs have no weights.
    #[inline]
    pub fn weights_of(&self, node: u32) -> &[f64] {
        self.weights.as_ref().and_then(|weights| weights.get(self.range(node))).unwrap_or_default()
    }

    /// Ranges of nodes with about equally many arcs each, for `threads` threads.
    pub fn blocks(&self, threads: usize) -> Vec<Range<u32>> {
        blocks(&self.starts, threads)
    }

    /// Sorts the arcs of each node.
    pub(crate) fn sort(&mut self, threads: usize) {
        let ranges = self.blocks(threads);
        let Adjacency { starts, ends, labels, weights } = self;
        let starts: &[u64] = starts;
        let of = |range: &Range<u32>| {
            let start = starts.get(range.start as usize).copied().unwrap_or_default();
            index(start)..starts.get(range.end as usize).map_or(index(start), |end| index(*end))
        };
        let mut tasks = Vec::new();
        let (mut ends, mut labels): (&mut [u32], &mut [u32]) =
            (&mut *ends, labels.as_mut().map_or(&mut [], |labels| &mut **labels));
        let mut weights: &mut [f64] = weights.as_mut().map_or(&mut [], |weights| &mut **weights);
        for range in ranges {
            let length = of(&range).len();
            let (own_ends, rest) = ends.split_at_mut(length.min(ends.len()));
            ends = rest;
            let (own_labels, rest) = labels.split_at_mut(length.min(labels.len()));
            labels = rest;
            let (own_weights, rest) = weights.split_at_mut(length.min(weights.len()));
            weights = rest;
            tasks.push((range, own_ends, own_labels, own_weights));
        }
        map(threads, tasks, |(range, ends, labels, weights)| {
            let first = of(&range).start;
            let mut arcs: Vec<(u32, u32, f64)> = Vec::new();
            for node in range {
                let own = of(&(node..node + 1));
                let own = own.start - first..own.end - first;
                let Some(ends) = ends.get_mut(own.clone()) else { continue };
                if labels.is_empty() && weights.is_empty() {
                    ends.sort_unstable();
                    continue;
                }
                arcs.clear();
                let label = |at: usize| labels.get(own.start + at).copied().unwrap_or_default();
                let weight = |at: usize| weights.get(own.start + at).copied().unwrap_or_default();
                arcs.extend(ends.iter().enumerate().map(|(at, end)| (label(at), *end, weight(at))));
                arcs.sort_unstable_by(|one, other| {
                    (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2))
                });
                for (at, (label, end, weight)) in arcs.iter().enumerate() {
                    if let Some(slot) = ends.get_mut(at) {
                        *slot = *end;
                    }
                    if let Some(slot) = labels.get_mut(own.start + at) {
                        *slot = *label;
                    }
                    if let Some(slot) = weights.get_mut(own.start + at) {
                        *slot = *weight;
                    }
                }
            }
        });
    }
}

/// Ranges of nodes with about equally many arcs and nodes each. They depend on `threads`, so no result may depend on them.
fn blocks(starts: &[u64], threads: usize) -> Vec<Range<u32>> {
    let nodes = starts.len().saturating_sub(1);
    let arcs = starts.last().copied().unwrap_or_default();
    let count = if threads > 1 { threads * BLOCKS } else { 1 } as u64;
    let share = (arcs + nodes as u64) / count + 1;
    let (mut ranges, mut from) = (Vec::new(), 0usize);
    while from < nodes {
        let begin = starts.get(from).copied().unwrap_or_default() + from as u64;
        let weight = |at: usize| starts.get(at).copied().unwrap_or_default() + at as u64 - begin;
        // The first node at which the share is full.
        let (mut low, mut high) = (from + 1, nodes);
        while low < high {
            let middle = low + (high - low) / 2;
            if weight(middle) < share { low = middle + 1 } else { high = middle }
        }
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        ranges.push(number(from)..number(low));
        from = low;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_every_node_once() {
        for threads in [1, 2, 3] {
            for starts in [vec![0u64], vec![0, 0], vec![0, 5, 5, 1_000_000, 1_000_001], (0..1000).collect()] {
                let ranges = blocks(&starts, threads);
                let all: Vec<u32> = ranges.into_iter().flatten().collect();
                assert_eq!(all, (0..starts.len() as u32 - 1).collect::<Vec<_>>());
            }
        }
    }
}
