//! Degrees of nodes.

use std::collections::BTreeMap;

use isomorph_error::Result;
use isomorph_storage::Resources;
use serde::{Deserialize, Serialize};

use super::edges::is_undirected;
use crate::adjacency::Adjacency;
use crate::array::Array;

/// How degrees are distributed over nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Degrees {
    /// The smallest.
    pub min: u64,
    /// The smallest degree that at least half of the nodes do not exceed.
    pub median: u64,
    /// The smallest degree that at least 99 of 100 nodes do not exceed.
    pub p99: u64,
    /// The largest.
    pub max: u64,
    /// The mean.
    pub mean: f64,
    /// Nodes by degree: 0, 1, 2, 3 to 4, 5 to 8 and so on.
    pub histogram: Vec<HistogramBar>,
}

/// How many nodes (or components) have a degree (or size) in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistogramBar {
    /// The smallest number of the range.
    pub from: u64,
    /// The largest number of the range.
    pub to: u64,
    /// How many have a number in it.
    pub count: u64,
}

/// The degrees of all nodes.
pub(super) struct All {
    pub total: Array<u64>,
    out: Array<u64>,
    incoming: Array<u64>,
}

/// Counts the ends of edges at each node.
///
/// # Errors
/// If there is no space for temporary files.
pub(super) fn of(arcs: &Adjacency, resources: &Resources) -> Result<All> {
    let nodes = u64::from(arcs.nodes());
    let mut total: Array<u64> = Array::zeros(nodes, 0, resources)?;
    let mut out: Array<u64> = Array::zeros(nodes, 0, resources)?;
    let mut incoming: Array<u64> = Array::zeros(nodes, 0, resources)?;
    let add = |all: &mut Array<u64>, node: u32| {
        if let Some(count) = all.get_mut(node as usize) {
            *count += 1;
        }
    };
    for node in 0..arcs.nodes() {
        for (other, label) in arcs.of(node).iter().zip(arcs.labels_of(node)) {
            add(&mut total, node);
            add(&mut total, *other);
            if !is_undirected(*label) {
                add(&mut out, node);
                add(&mut incoming, *other);
            }
        }
    }
    Ok(All { total, out, incoming })
}

impl All {
    pub fn of_total(&self) -> Degrees {
        distribution(&counted(self.total.iter().copied()))
    }

    pub fn of_out(&self) -> Degrees {
        distribution(&counted(self.out.iter().copied()))
    }

    pub fn of_in(&self) -> Degrees {
        distribution(&counted(self.incoming.iter().copied()))
    }
}

/// How often each number occurs. There are few different degrees: n of them need n²/2 edges.
pub(super) fn counted(numbers: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut small = [0u64; 1024];
    let mut counts = BTreeMap::new();
    for number in numbers {
        match small.get_mut(isomorph_error::index(number)) {
            Some(count) => *count += 1,
            None => *counts.entry(number).or_default() += 1,
        }
    }
    counts.extend((0..).zip(small).filter(|(_, count)| *count > 0));
    counts
}

fn distribution(counts: &BTreeMap<u64, u64>) -> Degrees {
    let nodes: u64 = counts.values().sum();
    let sum: f64 = counts.iter().map(|(degree, count)| *degree as f64 * *count as f64).sum();
    // The degree of the node at this place, from 1, in ascending order.
    let at = |place: u64| {
        let mut before = 0;
        counts.iter().find(|(_, count)| {
            before += **count;
            before >= place
        })
    };
    let degree = |place: u64| at(place.max(1)).map_or(0, |(degree, _)| *degree);
    let part = |percent: u64| {
        let place = (u128::from(nodes) * u128::from(percent)).div_ceil(100);
        degree(u64::try_from(place).unwrap_or(u64::MAX))
    };
    Degrees {
        min: degree(1),
        median: part(50),
        p99: part(99),
        max: degree(nodes),
        mean: if nodes == 0 { 0.0 } else { sum / nodes as f64 },
        histogram: histogram(counts),
    }
}

/// Ranges 0, 1, 2, 3 to 4, 5 to 8 and so on, from the first to the last that is not empty.
pub(super) fn histogram(counts: &BTreeMap<u64, u64>) -> Vec<HistogramBar> {
    let place = |number: u64| if number <= 1 { number } else { 1 + u64::from(64 - (number - 1).leading_zeros()) };
    let range = |place: u64| match place {
        0 | 1 => (place, place),
        place => {
            let to = 1u128 << (place - 1);
            let narrow = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
            (narrow(to / 2 + 1), narrow(to))
        }
    };
    let (Some(first), Some(last)) = (counts.keys().next(), counts.keys().next_back()) else { return Vec::new() };
    let first = place(*first);
    let mut bars: Vec<HistogramBar> = (first..=place(*last))
        .map(|place| {
            let (from, to) = range(place);
            HistogramBar { from, to, count: 0 }
        })
        .collect();
    for (number, count) in counts {
        if let Some(bar) = bars.get_mut(isomorph_error::index(place(*number) - first)) {
            bar.count += count;
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ranges() {
        let all = distribution(&counted([0, 1, 1, 2, 3, 4, 5, 8, 9, 5000].into_iter()));
        assert_eq!((all.min, all.median, all.p99, all.max), (0, 3, 5000, 5000));
        let bars: Vec<(u64, u64, u64)> =
            all.histogram.iter().map(|bar| (bar.from, bar.to, bar.count)).filter(|bar| bar.2 > 0).collect();
        assert_eq!(bars, [(0, 0, 1), (1, 1, 2), (2, 2, 1), (3, 4, 2), (5, 8, 2), (9, 16, 1), (4097, 8192, 1)]);
        assert_eq!(all.histogram.len(), 15);
        let none = distribution(&BTreeMap::new());
        assert_eq!((none.max, none.mean, none.histogram.len()), (0, 0.0, 0));
        let hundred = distribution(&counted(1..=100));
        assert_eq!((hundred.median, hundred.p99), (50, 99));
        let last = histogram(&BTreeMap::from([(u64::MAX, 1)]));
        assert_eq!(last.iter().map(|bar| bar.count).sum::<u64>(), 1);
    }
}
