//! Breadth-first search, and Dijkstra's algorithm.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use isomorph_error::Result;
use isomorph_model::Progress;
use isomorph_storage::Resources;

use crate::adjacency::Adjacency;
use crate::array::{Array, Number, at};
use crate::nodes::NOBODY;

/// How far nodes are from one of them, and the nodes in the order in which they were reached.
pub(crate) struct Far<T: Number> {
    pub distances: Array<T>,
    order: Array<u32>,
    reached: usize,
    /// Whether a sum of weights was larger than any float, so that a node may be reached that is none of these.
    pub has_overflowed: bool,
}

impl<T: Number> Far<T> {
    /// The nodes, the nearest first. A node comes after one from which its distance comes.
    pub fn order(&self) -> &[u32] {
        self.order.get(..self.reached).unwrap_or_default()
    }
}

/// The fewest edges from `start` to each node; [`NOBODY`] for nodes that are not reached. Ends when `goal` is reached, or after `most` edges.
///
/// # Errors
/// If there is no space for temporary files, or the work is cancelled.
pub(crate) fn hops(
    arcs: &Adjacency,
    start: u32,
    goal: Option<u32>,
    most: u32,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Far<u32>> {
    let nodes = u64::from(arcs.nodes());
    let mut distances: Array<u32> = Array::zeros(nodes, 0, resources)?;
    distances.fill(NOBODY);
    // Every node is in the queue at most once.
    let mut queue: Array<u32> = Array::zeros(nodes, 0, resources)?;
    let (mut first, mut last) = (0usize, 0usize);
    if let (Some(slot), Some(distance)) = (queue.first_mut(), distances.get_mut(start as usize)) {
        (*slot, *distance, last) = (start, 0, 1);
    }
    while first < last {
        let node = queue.get(first).copied().unwrap_or(NOBODY);
        let distance = at(&distances, node);
        if distance >= most || goal.is_some_and(|goal| at(&distances, goal) <= distance) {
            break;
        }
        first += 1;
        if first.is_multiple_of(1 << 16) {
            progress.advance(0)?;
        }
        for next in arcs.of(node) {
            if let Some(slot @ &mut NOBODY) = distances.get_mut(*next as usize) {
                *slot = distance + 1;
                if let Some(place) = queue.get_mut(last) {
                    *place = *next;
                }
                last += 1;
            }
        }
    }
    Ok(Far { distances, order: queue, reached: last, has_overflowed: false })
}

/// A node that is reached, and how far it is.
#[derive(PartialEq)]
struct Reached(f64, u32);

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    /// The nearest is the greatest, for a heap.
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0).then(other.1.cmp(&self.1))
    }
}

/// Where a search with weights ends.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    /// When all nodes are reached.
    All,
    /// When this one is.
    Node(u32),
    /// When this one is, and all nodes as near as it on paths that do not lead through it.
    AsNear(u32),
}

/// The smallest sum of weights from `start` to each node; infinite for nodes that are not reached.
///
/// # Errors
/// If there is no space for temporary files or for the queue, or the work is cancelled.
pub(crate) fn weighted(
    arcs: &Adjacency,
    start: u32,
    until: Until,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Far<f64>> {
    let mut order: Array<u32> = Array::zeros(u64::from(arcs.nodes()), 0, resources)?;
    let mut distances: Array<f64> = Array::zeros(u64::from(arcs.nodes()), 0, resources)?;
    distances.fill(f64::INFINITY);
    let mut queue = BinaryHeap::new();
    let mut memory = resources.budget.reserve(0)?;
    if let Some(distance) = distances.get_mut(start as usize) {
        *distance = 0.0;
        queue.push(Reached(0.0, start));
    }
    let mut settled: Array<u8> = Array::zeros(u64::from(arcs.nodes()), 0, resources)?;
    let (mut taken, mut reached) = (0u64, 0);
    let mut has_overflowed = false;
    while let Some(Reached(distance, node)) = queue.pop() {
        // A node is in the queue again when it is found to be nearer; what was there before is passed over.
        if distance > at(&distances, node) || at(&settled, node) != 0 {
            continue;
        }
        if let Until::AsNear(goal) = until
            && distance > at(&distances, goal)
        {
            break;
        }
        if let (Some(slot), Some(flag)) = (order.get_mut(reached), settled.get_mut(node as usize)) {
            (*slot, *flag) = (node, 1);
            reached += 1;
        }
        match until {
            Until::Node(goal) if goal == node => break,
            Until::AsNear(goal) if goal == node => continue,
            _ => {}
        }
        taken += 1;
        if taken.is_multiple_of(1 << 16) {
            progress.advance(0)?;
        }
        for (next, weight) in arcs.of(node).iter().zip(arcs.weights_of(node)) {
            let further = distance + weight;
            has_overflowed |= further.is_infinite();
            if let Some(slot) = distances.get_mut(*next as usize)
                && further < *slot
            {
                *slot = further;
                queue.push(Reached(further, *next));
            }
        }
        let bytes = (queue.capacity() * size_of::<Reached>()) as u64;
        if bytes > memory.bytes() {
            memory.grow(bytes - memory.bytes())?;
        }
    }
    Ok(Far { distances, order, reached, has_overflowed })
}
