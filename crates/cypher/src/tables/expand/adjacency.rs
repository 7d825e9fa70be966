//! Neighbours of nodes as compressed sparse rows: for each node, the edges that leave it, sorted by the node at their other end.

use std::sync::atomic::{AtomicUsize, Ordering};

use isomorph::storage::Reservation;
use isomorph::{Error, Kind, Result};

/// Lists that are sorted by one thread at a time, in nodes.
const NODES_AT_ONCE: usize = 16_384;

/// An edge in a list: the node at its other end in the upper half, its own number in the lower half.
pub(super) type Entry = u64;

/// The node at the other end.
pub(super) fn neighbor(entry: Entry) -> u32 {
    (entry >> 32) as u32
}

/// The number of the edge.
#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
pub(super) fn edge(entry: Entry) -> u32 {
    entry as u32
}

pub(super) fn entry(neighbor: u32, edge: u32) -> Entry {
    (u64::from(neighbor) << 32) | u64::from(edge)
}

/// What is called with both ends and the number of an edge.
pub(super) type EachEdge<'f> = dyn FnMut(u32, u32, u32) + 'f;

/// The lists of all nodes.
#[derive(Debug, Default)]
pub(super) struct Adjacency {
    /// Where the list of each node begins, and where the last one ends.
    offsets: Vec<u32>,
    entries: Vec<Entry>,
}

impl Adjacency {
    /// The edges that leave a node.
    pub(super) fn of(&self, node: u32) -> &[Entry] {
        let at = node as usize;
        match (self.offsets.get(at), self.offsets.get(at + 1)) {
            (Some(from), Some(to)) => self.entries.get(*from as usize..*to as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Builds the lists of `nodes` nodes. `each` calls its argument with both ends and the number of every edge, the same ones each time.
    ///
    /// # Errors
    /// If memory is too small, or a list would have more than 2^32 - 1 edges.
    pub(super) fn build(
        nodes: usize,
        threads: usize,
        memory: &mut Reservation,
        each: &dyn Fn(&mut EachEdge<'_>),
    ) -> Result<Adjacency> {
        memory.grow(4 * (nodes as u64 + 2)).map_err(|error| error.hint("--memory"))?;
        // One place more, as each end is counted two places ahead: then offsets are moved by filling alone.
        let mut offsets = vec![0_u32; nodes + 2];
        let mut count = 0_u64;
        each(&mut |from, _, _| {
            count += 1;
            if let Some(place) = offsets.get_mut(from as usize + 2) {
                *place = place.wrapping_add(1);
            }
        });
        if count > u64::from(u32::MAX) {
            return Err(Error::new(Kind::TooLarge, "a pattern follows more than 4,294,967,295 edges of a graph"));
        }
        memory.grow(8 * count).map_err(|error| error.hint("--memory"))?;
        let mut sum = 0_u32;
        for place in &mut offsets {
            sum = sum.wrapping_add(*place);
            *place = sum;
        }
        let mut entries = vec![0; isomorph::error::index(count)];
        each(&mut |from, to, number| {
            if let Some(next) = offsets.get_mut(from as usize + 1)
                && let Some(place) = entries.get_mut(*next as usize)
            {
                *place = entry(to, number);
                *next += 1;
            }
        });
        offsets.truncate(nodes + 1);
        sort(&offsets, &mut entries, threads);
        Ok(Adjacency { offsets, entries })
    }
}

/// Sorts each list, on several threads.
fn sort(offsets: &[u32], entries: &mut [Entry], threads: usize) {
    // Pieces of whole lists.
    let mut pieces: Vec<std::sync::Mutex<(usize, &mut [Entry])>> = Vec::new();
    let (mut rest, mut done) = (entries, 0);
    let nodes = offsets.len().saturating_sub(1);
    let mut first = 0;
    while first < nodes {
        let last = (first + NODES_AT_ONCE).min(nodes);
        let end = offsets.get(last).map_or(done, |end| *end as usize);
        let (piece, after) = std::mem::take(&mut rest).split_at_mut(end - done);
        pieces.push(std::sync::Mutex::new((first, piece)));
        (rest, done, first) = (after, end, last);
    }
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut piece = piece.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (first, lists) = &mut *piece;
            let base = offsets.get(*first).copied().unwrap_or_default();
            let ends = offsets.get(*first..=(*first + NODES_AT_ONCE).min(nodes)).unwrap_or_default();
            for pair in ends.windows(2) {
                if let [from, to] = pair
                    && to - from > 1
                    && let Some(list) = lists.get_mut((from - base) as usize..(to - base) as usize)
                {
                    list.sort_unstable();
                }
            }
        }
    };
    match threads.min(pieces.len()) {
        0 | 1 => work(),
        several => std::thread::scope(|scope| {
            for _ in 1..several {
                scope.spawn(work);
            }
            work();
        }),
    }
}

/// A set of nodes, a bit for each.
#[derive(Debug)]
pub(super) struct NodeSet(Vec<u64>);

impl NodeSet {
    pub(super) fn none(nodes: usize) -> Self {
        NodeSet(vec![0; nodes.div_ceil(64)])
    }

    pub(super) fn add(&mut self, node: usize) {
        if let Some(word) = self.0.get_mut(node / 64) {
            *word |= 1 << (node % 64);
        }
    }

    pub(super) fn add_all(&mut self, nodes: std::ops::Range<usize>) {
        nodes.for_each(|node| self.add(node));
    }

    pub(super) fn has(&self, node: u32) -> bool {
        let node = node as usize;
        self.0.get(node / 64).is_some_and(|word| word >> (node % 64) & 1 == 1)
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use isomorph::storage::Budget;

    #[test]
    fn lists_have_the_edges_of_each_node_sorted() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from((state >> 33) % below).unwrap()
        };
        for nodes in [1_u32, 5, 40_000] {
            let edges: Vec<(u32, u32)> = (0..60_000).map(|_| (random(nodes.into()), random(nodes.into()))).collect();
            let mut memory = Budget::new(1 << 30).reserve(0).unwrap();
            let each = |found: &mut EachEdge<'_>| {
                for (number, (from, to)) in edges.iter().enumerate() {
                    found(*from, *to, u32::try_from(number).unwrap());
                }
            };
            let built = Adjacency::build(nodes as usize, 3, &mut memory, &each).unwrap();
            let mut expected: Vec<Vec<Entry>> = vec![Vec::new(); nodes as usize];
            for (number, (from, to)) in edges.iter().enumerate() {
                expected[*from as usize].push(entry(*to, u32::try_from(number).unwrap()));
            }
            for (node, mut list) in expected.into_iter().enumerate() {
                list.sort_unstable();
                assert_eq!(built.of(u32::try_from(node).unwrap()), list);
            }
            assert!(built.of(nodes).is_empty() && built.of(u32::MAX).is_empty());
            assert_eq!(built.entries.len(), edges.len());
        }
    }

    #[test]
    fn too_small_a_budget_is_an_error() {
        let mut memory = Budget::new(1000).reserve(0).unwrap();
        let built = Adjacency::build(10, 1, &mut memory, &|found| (0..1000).for_each(|at| found(1, 2, at)));
        assert_eq!(built.unwrap_err().kind(), Kind::TooLarge);
    }

    #[test]
    fn sets_have_what_was_added() {
        let mut set = NodeSet::none(130);
        set.add(129);
        set.add_all(60..66);
        set.add(1000);
        assert_eq!((set.len(), set.has(129), set.has(63), set.has(66), set.has(500)), (7, true, true, false, false));
    }
}
