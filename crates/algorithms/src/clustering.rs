//! Local clustering coefficients.

use std::sync::atomic::Ordering;

use isomorph_error::Result;
use isomorph_model::Progress;
use isomorph_storage::{Resources, parallel::map};

use crate::adjacency::Adjacency;
use crate::arcs::{Arcs, Kept};
use crate::array::{Array, at};

/// An arc of [`pairs`] that has the direction of its edge, and one that has the other.
pub(crate) const UP: u32 = 1;
pub(crate) const DOWN: u32 = 2;

/// The coefficient of each node: of the pairs of different nodes that are its neighbours, how many are connected; each direction counts. `pairs` has an arc
/// for each edge from the node with the smaller number, labelled [`UP`] or [`DOWN`], or two for an undirected one.
///
/// # Errors
/// If there is no space for temporary files, or the work is cancelled.
pub(crate) fn coefficients(pairs: Adjacency, resources: &Resources, progress: &dyn Progress) -> Result<Array<f64>> {
    let nodes = pairs.nodes();
    // Neighbours of each node, each once.
    let mut degrees: Array<u32> = Array::zeros(u64::from(nodes), 0, resources)?;
    each_pair(&pairs, |one, other, _| {
        for node in [one, other] {
            if let Some(degree) = degrees.get_mut(node as usize) {
                *degree += 1;
            }
        }
        Ok(())
    })?;
    // From the node with fewer neighbours to the one with more: no node has many arcs.
    let mut arcs = Arcs::new(resources, Kept { labels: true, weights: false }, u64::from(nodes), 24);
    let rank = |node: u32| (at(&degrees, node), node);
    each_pair(&pairs, |one, other, ways| {
        let (from, to) = if rank(one) < rank(other) { (one, other) } else { (other, one) };
        arcs.push(from, to, ways, 0.0)
    })?;
    drop(pairs);
    let arcs = arcs.finish(nodes)?;
    let mut counts: Array<u64> = Array::zeros(u64::from(nodes), 0, resources)?;
    progress.begin("triangles", Some(arcs.arcs()));
    count(&arcs, &mut counts, resources, progress)?;
    progress.end();
    let mut coefficients: Array<f64> = Array::zeros(u64::from(nodes), 0, resources)?;
    for (node, slot) in (0..nodes).zip(coefficients.iter_mut()) {
        let degree = f64::from(at(&degrees, node));
        if degree > 1.0 {
            *slot = at(&counts, node) as f64 / (degree * (degree - 1.0));
        }
    }
    Ok(coefficients)
}

/// Calls `take` for each two different nodes that are connected, once, with the number of directions.
fn each_pair(pairs: &Adjacency, mut take: impl FnMut(u32, u32, u32) -> Result<()>) -> Result<()> {
    for node in 0..pairs.nodes() {
        let (ends, labels) = (pairs.of(node), pairs.labels_of(node));
        // Arcs up, then arcs down, both by their other end.
        let split = labels.partition_point(|label| *label == UP);
        let (up, down) = (ends.get(..split).unwrap_or_default(), ends.get(split..).unwrap_or_default());
        let (mut up, mut down) = (up.iter().copied().peekable(), down.iter().copied().peekable());
        loop {
            let next = match (up.peek(), down.peek()) {
                (Some(one), Some(other)) => *one.min(other),
                (Some(one), None) | (None, Some(one)) => *one,
                (None, None) => break,
            };
            let mut ways = 0;
            for side in [&mut up, &mut down] {
                let mut has = false;
                while side.next_if_eq(&next).is_some() {
                    has = true;
                }
                ways += u32::from(has);
            }
            if next != node {
                take(node, next, ways)?;
            }
        }
    }
    Ok(())
}

/// Adds to each node of every triangle in how many directions the other two are connected. Each triangle is found from the node with the fewest neighbours.
fn count(arcs: &Adjacency, counts: &mut [u64], resources: &Resources, progress: &dyn Progress) -> Result<()> {
    let threads = resources.threads;
    // Threads add to any node.
    let shared = crate::array::shared(counts);
    let nodes = arcs.nodes() as usize;
    // For each thread, how the node in question is connected to each other node.
    let bytes = nodes as u64 * threads.max(1) as u64;
    let _held = resources.budget.try_reserve(bytes);
    let states: Vec<std::sync::Mutex<Vec<u8>>> = (0..threads.max(1)).map(|_| std::sync::Mutex::default()).collect();
    let results = map(threads, arcs.blocks(threads), |range| -> Result<()> {
        // As many states as threads: one is always free.
        let mut state = loop {
            if let Some(state) = states.iter().find_map(|state| state.try_lock().ok()) {
                break state;
            }
            std::thread::yield_now();
        };
        state.resize(nodes, 0);
        let mut seen = 0;
        for one in range {
            let (ends, ways) = (arcs.of(one), arcs.labels_of(one));
            for (end, ways) in ends.iter().zip(ways) {
                if let Some(slot) = state.get_mut(*end as usize) {
                    *slot = u8::try_from(*ways).unwrap_or(2);
                }
            }
            let mut own = 0;
            for (two, first) in ends.iter().zip(ways) {
                let mut of_two = 0;
                for (three, second) in arcs.of(*two).iter().zip(arcs.labels_of(*two)) {
                    let third = state.get(*three as usize).copied().unwrap_or_default();
                    if third > 0 {
                        own += u64::from(*second);
                        of_two += u64::from(third);
                        if let Some(count) = shared.get(*three as usize) {
                            count.fetch_add(u64::from(*first), Ordering::Relaxed);
                        }
                    }
                }
                if of_two > 0
                    && let Some(count) = shared.get(*two as usize)
                {
                    count.fetch_add(of_two, Ordering::Relaxed);
                }
            }
            if own > 0
                && let Some(count) = shared.get(one as usize)
            {
                count.fetch_add(own, Ordering::Relaxed);
            }
            for end in ends {
                if let Some(slot) = state.get_mut(*end as usize) {
                    *slot = 0;
                }
            }
            seen += ends.len() as u64;
            if seen >= 1 << 16 {
                progress.advance(std::mem::take(&mut seen))?;
            }
        }
        progress.advance(seen)
    });
    results.into_iter().collect()
}
