//! The edges of a node that a question is about, wherever they lie.

use std::ops::Range;
use std::sync::Arc;

use isomorph_error::Result;

use crate::ahead::EdgesAt;
use crate::ask::TypeSet;
use crate::graph::Graph;
use crate::hubs::{Hub, MANY};
use crate::index::Entry;
use crate::partition::{Edge, Partition, target, type_of, weight};

/// Parallel edges that a draw looks at: those of larger groups are drawn as they lie.
const MOST_PARALLEL: usize = 256;

/// Edges that follow each other in a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    partition: usize,
    edges: Range<usize>,
    /// Edges of the segments before.
    before: usize,
}

/// The edges of one node, as a list of runs.
///
/// A node that is on one entry has them as they lie. One that is on several has them by type, target, weight and time, which is the
/// order they would have on one entry of a sorted graph: what is drawn must not depend on partitions. Parallel edges, of one type and
/// target, lie on one entry of a binary as its source gave them: a draw that falls on one of them takes the one that would be there in
/// this order ([`Segments::parallel`]). So only those that are drawn are looked at.
#[derive(Default)]
pub(crate) struct Segments {
    list: Vec<Segment>,
    count: usize,
    entries: usize,
    /// What a list of several entries is sorted in, kept from node to node.
    sorted: Vec<Segment>,
    is_sorted: bool,
    /// The parallel edges that a draw fell on last: their numbers in the list, and they in order.
    parallel: (Range<usize>, Vec<(usize, usize)>),
}

impl Segments {
    /// Collects the edges of `node` of the given types that are there at `time`.
    ///
    /// # Errors
    /// When an offset points outside.
    #[inline]
    pub fn collect(&mut self, graph: &Graph, node: i64, types: &TypeSet, time: Option<i64>) -> Result<()> {
        self.gather(graph, node, types, time)?;
        // Entries that follow each other in a partition make one run, which is in no order.
        if self.entries > 1 && self.count > 1 {
            self.sort(graph);
        }
        Ok(())
    }

    /// The same where it may be known already where the edges lie.
    ///
    /// # Errors
    /// As of [`Segments::collect`].
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

    /// The same in the order of partitions and files.
    pub fn gather(&mut self, graph: &Graph, node: i64, types: &TypeSet, time: Option<i64>) -> Result<()> {
        self.clear();
        for entry in graph.find(node) {
            self.add_entry(graph, entry, types, time)?;
        }
        Ok(())
    }

    /// Forgets everything.
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
    /// When an offset points outside.
    #[inline]
    pub fn add_entry(&mut self, graph: &Graph, entry: Entry, types: &TypeSet, time: Option<i64>) -> Result<()> {
        let range = graph.partition(entry).edge_range(entry.entry)?;
        self.add_edges(graph, entry.partition, range, types, time);
        Ok(())
    }

    /// Adds those of the edges of one entry that are asked for.
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
                edges.filter(|edge| partition.alive(*edge, time)).for_each(|edge| self.push(number, edge..edge + 1));
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

    /// Puts the edges of several entries into the order of one.
    fn sort(&mut self, graph: &Graph) {
        let single = |segment: &Segment| {
            let partition = segment.partition;
            segment.edges.clone().map(move |edge| Segment { partition, edges: edge..edge + 1, before: 0 })
        };
        self.sorted.clear();
        self.sorted.extend(self.list.iter().flat_map(single));
        // Keys of different edges differ, so an unstable sort, which needs no room, gives the same.
        self.sorted.sort_unstable_by_key(|segment| rank(graph, (segment.partition, segment.edges.start)));
        self.sorted.iter_mut().enumerate().for_each(|(at, segment)| segment.before = at);
        std::mem::swap(&mut self.list, &mut self.sorted);
        self.is_sorted = true;
    }

    /// The edges that are parallel to edge number `at`, in order, with the numbers that they have together. Nothing where there are none,
    /// they lie in order anyway, or are more than a draw may look at.
    #[inline]
    #[expect(clippy::type_complexity, reason = "places, and what stands there")]
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

    /// The place of edge number `at` for a draw in which each edge is as likely as the others.
    #[inline]
    pub fn drawn(&mut self, graph: &Graph, at: usize) -> (usize, usize) {
        let found = self.parallel(graph, at).and_then(|(range, order)| order.get(at - range.start).copied());
        found.unwrap_or_else(|| self.place(at))
    }

    /// Number of edges.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Edge number `at` of the node: its partition and its number there.
    #[inline]
    pub fn place(&self, at: usize) -> (usize, usize) {
        let segment = match self.list.as_slice() {
            [only] => only,
            list => &list[list.partition_point(|segment| segment.before <= at).saturating_sub(1)],
        };
        (segment.partition, segment.edges.start + (at - segment.before))
    }

    /// The edge at a place of [`Segments::place`].
    #[inline]
    pub fn edge<'a>(&self, graph: &'a Graph, at: usize) -> &'a Edge {
        let (partition, edge) = self.place(at);
        &graph.partitions[partition].edges()[edge]
    }

    /// All edges, run by run.
    #[inline]
    pub fn runs<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = &'a [Edge]> + 'a {
        self.list.iter().map(|segment| &graph.partitions[segment.partition].edges()[segment.edges.clone()])
    }

    /// The one run that all edges are in, if it is one: its partition and its edges.
    #[inline]
    pub fn only(&self) -> Option<(usize, Range<usize>)> {
        match self.list.as_slice() {
            [only] => Some((only.partition, only.edges.clone())),
            _ => None,
        }
    }

    /// What is kept of them, if they are one run of many.
    pub fn hub(&self, graph: &Graph) -> Option<Arc<Hub>> {
        let (partition, range) = self.only().filter(|(_, range)| range.len() >= MANY)?;
        graph.hubs.of(graph, partition, range)
    }

    /// All runs: their partitions and edges.
    #[inline]
    pub fn ranges(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        self.list.iter().map(|segment| (segment.partition, segment.edges.clone()))
    }
}

/// Where an edge at a place of [`Segments::place`] stands among those of its node: by type, target, weight and time of creation.
fn rank(graph: &Graph, (partition, number): (usize, usize)) -> (i32, u64, u32, i64, usize, usize) {
    let of = &graph.partitions[partition];
    let edge = &of.edges()[number];
    // Ids have no sign in the files.
    let target = target(edge).cast_unsigned();
    (type_of(edge), target, weight(edge).to_bits(), of.life(number).0, partition, number)
}
