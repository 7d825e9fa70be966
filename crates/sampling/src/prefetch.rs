//! Prefetching: the data that a batch will read is fetched while earlier nodes are processed.
//!
//! Reading a node waits for memory three or four times, because each read depends on the previous one. Reads of different nodes do
//! not depend on each other: so the batch is processed in steps, and every step prefetches what the next one, some nodes later,
//! reads. In a graph larger than the caches, waiting for memory takes most of the time of a sample.

use std::ops::Range;

use crate::graph::Graph;
use crate::index::Entry;
use crate::map::prefetch;
use crate::partition::Partition;

/// Number of nodes between two steps: enough for memory to respond, few enough for the inner caches.
const APART: usize = 12;

/// Number of nodes that are in progress at once, a power of two above four steps.
const ROOM: usize = 64;

/// Bytes between prefetches: a cache line.
pub(crate) const LINE: usize = 64;

/// What is read of a node's entry, step by step.
pub(crate) trait Look {
    /// Position of the data.
    type Place: Copy;

    /// Prefetches the data that determines the position.
    fn hint(&self, partition: &Partition, entry: usize);

    /// Reads the position, and prefetches what is read next. `None` if it is damaged, which is reported when it is used.
    fn place(&self, partition: &Partition, entry: Entry) -> Option<Self::Place>;

    /// Prefetches the data itself.
    fn fetch(&self, place: &Self::Place);
}

/// The nodes in progress.
pub(crate) struct Ahead<L: Look> {
    look: L,
    guesses: [Option<Entry>; ROOM],
    places: [Option<L::Place>; ROOM],
    /// The next node of the batch to start.
    next: usize,
}

impl<L: Look> Ahead<L> {
    /// Creates a prefetcher at the start of a batch.
    pub fn new(look: L) -> Self {
        Ahead { look, guesses: [None; ROOM], places: [None; ROOM], next: 0 }
    }

    /// Returns the position for node number `at` of `count`. Call it for each node in order; `node` returns the nodes. `None` if a node has
    /// no entry, possibly several, or a damaged one: then it must be looked up in the graph.
    #[inline]
    pub fn place(&mut self, graph: &Graph, at: usize, count: usize, node: impl Fn(usize) -> i64) -> Option<L::Place> {
        while self.next <= at + 4 * APART {
            let now = self.next;
            self.next += 1;
            if now < count {
                graph.index.foresee(&graph.partitions, node(now));
            }
            if let Some(second) = now.checked_sub(APART).filter(|second| *second < count) {
                let guess = graph.index.guess(&graph.partitions, node(second));
                if let Some(entry) = guess {
                    self.look.hint(graph.partition(entry), entry.entry);
                }
                self.guesses[second % ROOM] = guess;
            }
            if let Some(third) = now.checked_sub(2 * APART).filter(|third| *third < count) {
                let guess = self.guesses[third % ROOM];
                self.places[third % ROOM] = guess
                    .filter(|entry| graph.index.is_only(&graph.partitions, node(third), *entry))
                    .and_then(|entry| self.look.place(graph.partition(entry), entry));
            }
            if let Some(fourth) = now.checked_sub(3 * APART).filter(|fourth| *fourth < count)
                && let Some(place) = &self.places[fourth % ROOM]
            {
                self.look.fetch(place);
            }
        }
        self.places[at % ROOM]
    }
}

/// Prefetches edges.
pub(crate) struct AtEdges<'a>(pub &'a Graph);

/// The edges of a node's only entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgesAt {
    pub partition: usize,
    start: usize,
    end: usize,
}

impl EdgesAt {
    /// Returns their numbers.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Maximum number of edges that are prefetched for a node. A node with more edges is read sequentially, which the processor predicts, or at
/// random positions, which may be in its caches or not.
const FETCHED: usize = 48;

impl Look for AtEdges<'_> {
    type Place = EdgesAt;

    #[inline]
    fn hint(&self, partition: &Partition, entry: usize) {
        partition.fetch_edge_range(entry);
    }

    #[inline]
    fn place(&self, partition: &Partition, entry: Entry) -> Option<EdgesAt> {
        // As with features: damage is reported when the edges are read.
        let range = partition.edge_range(entry.entry).ok()?;
        Some(EdgesAt { partition: entry.partition, start: range.start, end: range.end })
    }

    #[inline]
    fn fetch(&self, place: &EdgesAt) {
        let end = place.end.min(place.start + FETCHED);
        if place.start < end {
            self.0.partitions[place.partition].fetch_edges(place.start..end);
        }
    }
}

/// Prefetches all cache lines of some bytes.
#[inline]
pub(crate) fn fetch_all(bytes: &[u8], range: Range<usize>) {
    for at in range.clone().step_by(LINE) {
        prefetch(bytes, at);
    }
    prefetch(bytes, range.end.saturating_sub(1));
}
