//! Looking ahead: what a batch will read is fetched while the nodes before are worked on.
//!
//! A look at a node waits for memory three or four times, each time for what the look before told. Looks at different nodes do
//! not wait for each other: so each look runs through the batch in steps, and every step fetches what the next one, some nodes later,
//! reads. In a graph larger than the caches that is most of the time of a sample.

use std::ops::Range;

use crate::graph::Graph;
use crate::index::Entry;
use crate::map::prefetch;
use crate::partition::Partition;

/// Nodes between two steps: enough for memory to answer, few enough for the near caches.
const APART: usize = 12;

/// Nodes that are on their way at once, a power of two above four steps.
const ROOM: usize = 64;

/// Bytes between fetches: a line of the caches.
pub(crate) const LINE: usize = 64;

/// What is looked at in the entry of a node, step by step.
pub(crate) trait Look {
    /// Where that lies.
    type Place: Copy;

    /// Fetches what says where it lies.
    fn hint(&self, partition: &Partition, entry: usize);

    /// Reads where it lies, and fetches what is read next. Nothing where that is damaged: it is found when it is used.
    fn place(&self, partition: &Partition, entry: Entry) -> Option<Self::Place>;

    /// Fetches what is used.
    fn fetch(&self, place: &Self::Place);
}

/// The nodes on their way.
pub(crate) struct Ahead<L: Look> {
    look: L,
    guesses: [Option<Entry>; ROOM],
    places: [Option<L::Place>; ROOM],
    /// The next node of the batch that sets out.
    next: usize,
}

impl<L: Look> Ahead<L> {
    /// Before the first node of a batch.
    pub fn new(look: L) -> Self {
        Ahead { look, guesses: [None; ROOM], places: [None; ROOM], next: 0 }
    }

    /// Where it lies for node number `at` of `count`. Asked for one node after another; `node` says what nodes are. Nothing where a node has
    /// no entry, may have several, or a damaged one: then the graph must be asked.
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

/// Looks at edges.
pub(crate) struct AtEdges<'a>(pub &'a Graph);

/// Edges of the one entry that a node has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgesAt {
    pub partition: usize,
    start: usize,
    end: usize,
}

impl EdgesAt {
    /// Their numbers.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Edges that are fetched of a node, at most. A node with more is read in one direction, which the processor foresees, or here
/// and there, where it has them in its caches or not.
const FETCHED: usize = 48;

impl Look for AtEdges<'_> {
    type Place = EdgesAt;

    #[inline]
    fn hint(&self, partition: &Partition, entry: usize) {
        partition.fetch_edge_range(entry);
    }

    #[inline]
    fn place(&self, partition: &Partition, entry: Entry) -> Option<EdgesAt> {
        // As of features: what is damaged is told of where its edges are read.
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

/// Fetches all lines of a piece of some bytes.
#[inline]
pub(crate) fn fetch_all(bytes: &[u8], range: Range<usize>) {
    for at in range.clone().step_by(LINE) {
        prefetch(bytes, at);
    }
    prefetch(bytes, range.end.saturating_sub(1));
}
