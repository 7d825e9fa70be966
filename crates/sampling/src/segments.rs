//! The edges of a node that a request is about, in all partitions.

use std::ops::Range;
use std::sync::Arc;

use isomorph_error::Result;

use crate::graph::Graph;
use crate::hubs::{Hub, MANY};
use crate::index::Entry;
use crate::partition::{Edge, Partition, target, type_of, weight};
use crate::prefetch::EdgesAt;
use crate::request::TypeSet;
use crate::stop::Stop;

/// Number of edges whose times are compared between two looks at whether anybody waits for them.
const AT_ONCE: usize = 1 << 16;

/// Maximum number of parallel edges that a draw sorts: larger groups are drawn from in stored order.
const MOST_PARALLEL: usize = 256;

/// Consecutive edges of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    partition: usize,
    edges: Range<usize>,
    /// Number of edges in the previous segments.
    before: usize,
}

/// The edges of one node, as a list of runs.
///
/// The edges of a node with one entry are in stored order. With several entries, they are sorted by type, target, weight and time, the
/// order they would have on one entry of a sorted graph: draws must not depend on partitions. Parallel edges, which have the same type and
/// target, are stored on one entry of a binary in input order: a draw that selects one of them takes the one that would be there in this
/// order ([`Segments::parallel`]). So only groups that are drawn from are sorted.
#[derive(Default)]
pub(crate) struct Segments {
    list: Vec<Segment>,
    count: usize,
    entries: usize,
    /// Buffer for sorting the list of several entries, reused for the next node.
    sorted: Vec<Segment>,
    is_sorted: bool,
    /// The parallel edges of the last draw: their range in the list, and the edges in order.
    parallel: (Range<usize>, Vec<(usize, usize)>),
    /// What ends the work early. The list is then incomplete, and callers look at this before they use it.
    pub stop: Stop,
}

impl Segments {
    /// Collects the edges of `node` of the given types that exist at `time`.
    ///
    /// # Errors
    /// Returns an error if an offset is out of range.
    #[inline]
    pub fn collect(&mut self, graph: &Graph, node: i64, types: &TypeSet, time: Option<i64>) -> Result<()> {
        self.gather(graph, node, types, time)?;
        // Consecutive entries of a partition form one run, which is not sorted.
        if self.entries > 1 && self.count > 1 {
            self.sort(graph);
        }
        Ok(())
    }

    /// Collects the edges, whose position may be known already.
    ///
    /// # Errors
    /// As [`Segments::collect`].
    #[inline]
    pub fn collect_at(
        &mut self,
        graph: &Graph,
        place: Option<EdgesAt>,
        node: i64,
        types: &TypeSet,
        time: Option<i64>,
    ) -> Result<()> {
        let Some(place) = place else { return self.collect(graph, node, types, time) };
        self.clear();
        self.add_edges(graph, place.partition, place.range(), types, time);
        Ok(())
    }

    /// Collects the edges in the order of partitions and files.
    pub fn gather(&mut self, graph: &Graph, node: i64, types: &TypeSet, time: Option<i64>) -> Result<()> {
        self.clear();
        for entry in graph.find(node) {
            self.add_entry(graph, entry, types, time)?;
        }
        Ok(())
    }

    /// Clears the list.
    pub fn clear(&mut self) {
        self.list.clear();
        self.count = 0;
        self.entries = 0;
        self.is_sorted = false;
        self.parallel.0 = 0..0;
    }

    /// Adds the edges of one entry.
    ///
    /// # Errors
    /// Returns an error if an offset is out of range.
    #[inline]
    pub fn add_entry(&mut self, graph: &Graph, entry: Entry, types: &TypeSet, time: Option<i64>) -> Result<()> {
        let range = graph.partition(entry).edge_range(entry.entry)?;
        self.add_edges(graph, entry.partition, range, types, time);
        Ok(())
    }

    /// Adds the requested edges of one entry.
    #[inline]
    pub fn add_edges(&mut self, graph: &Graph, number: usize, range: Range<usize>, types: &TypeSet, time: Option<i64>) {
        if range.is_empty() {
            return;
        }
        let partition = &graph.partitions[number];
        self.entries += 1;
        match types.listed() {
            None => self.add(partition, number, range, time),
            Some(types) => {
                for ty in types {
                    let run = partition.run(&range, *ty);
                    self.add(partition, number, run, time);
                }
            }
        }
    }

    #[inline]
    fn add(&mut self, partition: &Partition, number: usize, edges: Range<usize>, time: Option<i64>) {
        match time {
            Some(time) if partition.has_times() => {
                for start in edges.clone().step_by(AT_ONCE) {
                    if start > edges.start && self.stop.is_stopped() {
                        return;
                    }
                    let some = start..edges.end.min(start + AT_ONCE);
                    some.filter(|edge| partition.alive(*edge, time)).for_each(|edge| self.push(number, edge..edge + 1));
                }
            }
            _ if edges.is_empty() => {}
            _ => self.push(number, edges),
        }
    }

    #[inline]
    fn push(&mut self, partition: usize, edges: Range<usize>) {
        let count = edges.len();
        match self.list.last_mut() {
            Some(last) if last.partition == partition && last.edges.end == edges.start => last.edges.end = edges.end,
            _ => self.list.push(Segment { partition, edges, before: self.count }),
        }
        self.count += count;
    }

    /// Sorts the edges of several entries into the order of one.
    fn sort(&mut self, graph: &Graph) {
        let single = |segment: &Segment| {
            let partition = segment.partition;
            segment.edges.clone().map(move |edge| Segment { partition, edges: edge..edge + 1, before: 0 })
        };
        self.sorted.clear();
        self.sorted.extend(self.list.iter().flat_map(single));
        // The keys of different edges differ, so an unstable sort, which needs no memory, gives the same result.
        self.sorted.sort_unstable_by_key(|segment| rank(graph, (segment.partition, segment.edges.start)));
        self.sorted.iter_mut().enumerate().for_each(|(at, segment)| segment.before = at);
        std::mem::swap(&mut self.list, &mut self.sorted);
        self.is_sorted = true;
    }

    /// Returns the edges that are parallel to edge number `at`, in order, with the range of their numbers. `None` if there are none,
    /// if they are stored in order, or if there are more than a draw may sort.
    #[inline]
    #[expect(clippy::type_complexity, reason = "positions, and the edges there")]
    pub fn parallel(&mut self, graph: &Graph, at: usize) -> Option<(Range<usize>, &[(usize, usize)])> {
        if self.is_sorted || graph.is_sorted() {
            return None;
        }
        let ends = |at: usize| Some(self.edge(graph, at)).map(|edge| (type_of(edge), target(edge)));
        let own = ends(at);
        let same = |at: usize| at < self.count && ends(at) == own;
        if !(at > 0 && same(at - 1) || same(at + 1)) {
            return None;
        }
        if !self.parallel.0.contains(&at) {
            let start = (0..at).rev().take(MOST_PARALLEL).take_while(|at| same(*at)).last().unwrap_or(at);
            let end = (at + 1..self.count).take(MOST_PARALLEL).take_while(|at| same(*at)).last().unwrap_or(at) + 1;
            if end - start > MOST_PARALLEL {
                return None;
            }
            let mut order = std::mem::take(&mut self.parallel.1);
            order.clear();
            order.extend((start..end).map(|at| self.place(at)));
            order.sort_unstable_by_key(|place| rank(graph, *place));
            self.parallel = (start..end, order);
        }
        Some((self.parallel.0.clone(), &self.parallel.1))
    }

    /// Returns the position of edge number `at` for a uniform draw.
    #[inline]
    pub fn drawn(&mut self, graph: &Graph, at: usize) -> (usize, usize) {
        let found = self.parallel(graph, at).and_then(|(range, order)| order.get(at - range.start).copied());
        found.unwrap_or_else(|| self.place(at))
    }

    /// Returns the number of edges.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns edge number `at` of the node: its partition and its number there.
    #[inline]
    pub fn place(&self, at: usize) -> (usize, usize) {
        let segment = match self.list.as_slice() {
            [only] => only,
            list => &list[list.partition_point(|segment| segment.before <= at).saturating_sub(1)],
        };
        (segment.partition, segment.edges.start + (at - segment.before))
    }

    /// Returns the edge at a position from [`Segments::place`].
    #[inline]
    pub fn edge<'a>(&self, graph: &'a Graph, at: usize) -> &'a Edge {
        let (partition, edge) = self.place(at);
        &graph.partitions[partition].edges()[edge]
    }

    /// Returns all edges, run by run.
    #[inline]
    pub fn runs<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = &'a [Edge]> + 'a {
        self.list.iter().map(|segment| &graph.partitions[segment.partition].edges()[segment.edges.clone()])
    }

    /// Returns the partition and edges of the run, if all edges are in a single run.
    #[inline]
    pub fn only(&self) -> Option<(usize, Range<usize>)> {
        match self.list.as_slice() {
            [only] => Some((only.partition, only.edges.clone())),
            _ => None,
        }
    }

    /// Returns the kept sums, if the edges are one run of many edges.
    pub fn hub(&self, graph: &Graph) -> Option<Arc<Hub>> {
        let (partition, range) = self.only().filter(|(_, range)| range.len() >= MANY)?;
        graph.hubs.of(graph, partition, range)
    }

    /// Returns all runs: their partitions and edges.
    #[inline]
    pub fn ranges(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        self.list.iter().map(|segment| (segment.partition, segment.edges.clone()))
    }
}

/// Returns the sort key of an edge at a position from [`Segments::place`]: type, target, weight and time of creation.
fn rank(graph: &Graph, (partition, number): (usize, usize)) -> (i32, u64, u32, i64, usize, usize) {
    let of = &graph.partitions[partition];
    let edge = &of.edges()[number];
    // Ids are unsigned in the files.
    let target = target(edge).cast_unsigned();
    (type_of(edge), target, weight(edge).to_bits(), of.life(number).0, partition, number)
}
