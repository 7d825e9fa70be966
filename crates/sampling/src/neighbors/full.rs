//! Lists all neighbours, and counts them.

use std::ops::Range;

use isomorph_error::{Error, Result};

use crate::divide::{divide, pieces};
use crate::graph::{Graph, fits};
use crate::partition::{Partition, target, type_of, weight};
use crate::prefetch::{Ahead, AtEdges};
use crate::reference::Sums;
use crate::request::{Ask, Generator, Picks};
use crate::sampler::Sampler;
use crate::segments::Segments;
use crate::stop::Stop;

/// Time of a node's list in nanoseconds.
const LIST: u64 = 250;

/// Time of counting a node's neighbours in nanoseconds.
const COUNT: u64 = 60;

/// Neighbours of a batch, node after node. If it is reused, its buffers are allocated only once.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct NeighborLists {
    /// Number of neighbours of each node.
    pub counts: Vec<u64>,
    /// The neighbours.
    pub ids: Vec<i64>,
    /// Weights of the edges to them; rounded if the graph has weights of more than 32 bits.
    pub weights: Vec<f32>,
    /// Types of these edges.
    pub types: Vec<i32>,
    /// Times of creation of these edges: see [`Picks::created`].
    pub created: Vec<i64>,
    /// The weights with all their bits if [`Graph::has_exact_weights`] is true; otherwise empty.
    pub exact: Vec<f64>,
}

/// The destination of lists.
trait Lists {
    /// Adds edges of a partition; the published engine has its own weights.
    fn add(&mut self, partition: &Partition, edges: Range<usize>, sums: Option<&mut Sums<'_>>);

    /// Ends the list of a node.
    fn end(&mut self, count: usize);
}

impl Lists for NeighborLists {
    #[inline]
    fn add(&mut self, partition: &Partition, edges: Range<usize>, sums: Option<&mut Sums<'_>>) {
        let run = &partition.edges()[edges.clone()];
        self.ids.extend(run.iter().map(target));
        self.types.extend(run.iter().map(type_of));
        match sums {
            None => self.weights.extend(run.iter().map(weight)),
            Some(sums) => self.weights.extend(edges.clone().map(|edge| sums.weight(edge))),
        }
        if partition.has_exact() {
            self.exact.extend(edges.clone().map(|edge| partition.exact(edge)));
        }
        if partition.has_times() {
            self.created.extend(edges.map(|edge| partition.life(edge).0));
        } else {
            self.created.resize(self.ids.len(), -1);
        }
    }

    #[inline]
    fn end(&mut self, count: usize) {
        self.counts.push(count as u64);
    }
}

/// Buffers for the lists of some nodes, whose lengths are known.
struct Room<'a> {
    picks: Picks<'a>,
    at: usize,
}

impl Lists for Room<'_> {
    #[inline]
    fn add(&mut self, partition: &Partition, edges: Range<usize>, mut sums: Option<&mut Sums<'_>>) {
        // If a mapped file is changed meanwhile, numbers change: only as much as there is room for is written.
        let count = edges.len().min(self.picks.ids.len() - self.at);
        let mut row = self.picks.rows(self.at, self.at + count);
        for (slot, (number, edge)) in edges.clone().zip(&partition.edges()[edges]).take(count).enumerate() {
            let weight = sums.as_mut().map_or_else(|| weight(edge), |sums| sums.weight(number));
            row.put(slot, target(edge), weight, type_of(edge), partition.life(number).0);
            if let Some(exact) = row.exact.get_mut(slot) {
                *exact = partition.exact(number);
            }
        }
        self.at += count;
    }

    fn end(&mut self, _: usize) {}
}

impl Sampler {
    /// Lists all neighbours of each node, in the order of partitions and files, as the published engine does.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if the number of times differs from that of nodes, or `DEEPGNN-BOUNDS` if an
    /// offset is out of range.
    pub fn neighbors(&mut self, ask: &Ask<'_>, lists: &mut NeighborLists) -> Result<()> {
        ask.check(&self.graph)?;
        self.graph.no_fault(self.graph.faults.shows(ask.types, self.generator))?;
        lists.counts.clear();
        lists.ids.clear();
        lists.weights.clear();
        lists.types.clear();
        lists.created.clear();
        lists.exact.clear();
        let Some(size) = pieces(ask.nodes.len(), LIST, self.workers.len()) else {
            let Some(worker) = self.workers.first_mut() else { return Ok(()) };
            all(&self.graph, ask, self.generator, &mut worker.segments, &self.stop, lists)?;
            return self.stop.check();
        };
        // Two passes over the batch: first the numbers, then the neighbours of each piece to their positions.
        lists.counts.resize(ask.nodes.len(), 0);
        self.neighbor_counts(ask, &mut lists.counts)?;
        let total = sum(&lists.counts).ok_or_else(|| Error::usage("these nodes have too many neighbours"))?;
        let NeighborLists { counts, ids, weights, types, created, exact } = lists;
        ids.resize(total, 0);
        weights.resize(total, 0.0);
        types.resize(total, 0);
        created.resize(total, -1);
        exact.resize(if self.graph.has_exact_weights() { total } else { 0 }, 0.0);
        let (graph, generator, stop) = (&*self.graph, self.generator, &self.stop);
        let mut rest = Some((*ask, counts.as_slice(), Picks { ids, weights, types, created, exact }));
        let next = || {
            let (ask, counts, picks) = rest.take().filter(|(ask, ..)| !ask.nodes.is_empty())?;
            let ((these, others), (of_these, of_others)) =
                (ask.split(size.min(counts.len())), counts.split_at(size.min(counts.len())));
            let (room, behind) = picks.split(sum(of_these)?);
            rest = Some((others, of_others, behind));
            Some((these, Room { picks: room, at: 0 }))
        };
        divide(&mut self.workers, next, |worker, (ask, mut room)| {
            all(graph, &ask, generator, &mut worker.segments, stop, &mut room)
        })?;
        stop.check()
    }

    /// Counts the neighbours of each node. At a time, these are the edges that [`Sampler::neighbors`] lists; the published engine
    /// also counts some removed ones.
    ///
    /// # Errors
    /// As [`Sampler::neighbors`], and if the lengths of `out` and the batch differ.
    pub fn neighbor_counts(&mut self, ask: &Ask<'_>, out: &mut [u64]) -> Result<()> {
        ask.check(&self.graph)?;
        fits(ask.nodes.len(), out.len())?;
        let Some(size) = pieces(ask.nodes.len(), COUNT, self.workers.len()) else {
            let Some(worker) = self.workers.first_mut() else { return Ok(()) };
            count(&self.graph, ask, &mut worker.segments, &self.stop, out)?;
            return self.stop.check();
        };
        let (graph, stop, mut rest, mut outs) = (&*self.graph, &self.stop, Some(*ask), out.chunks_mut(size));
        let next = || {
            let (out, ask) = (outs.next()?, rest.take()?);
            let (these, others) = ask.split(out.len());
            rest = Some(others);
            Some((these, out))
        };
        divide(&mut self.workers, next, |worker, (ask, out)| count(graph, &ask, &mut worker.segments, stop, out))?;
        stop.check()
    }
}

fn sum(counts: &[u64]) -> Option<usize> {
    counts.iter().try_fold(0usize, |sum, count| sum.checked_add(usize::try_from(*count).ok()?))
}

/// Writes the lists of a batch, one after another.
fn all(
    graph: &Graph,
    ask: &Ask<'_>,
    generator: Generator,
    segments: &mut Segments,
    stop: &Stop,
    out: &mut impl Lists,
) -> Result<()> {
    let mut add = |number: usize, range: Range<usize>, time: Option<i64>, out: &mut dyn Lists| {
        segments.clear();
        segments.add_edges(graph, number, range.clone(), ask.types, time);
        let mut sums = (generator == Generator::Compat).then(|| Sums::new(&graph.partitions[number], range));
        for (partition, edges) in segments.ranges() {
            out.add(&graph.partitions[partition], edges, sums.as_mut());
        }
        segments.len()
    };
    let (mut ahead, mut beat) = (Ahead::new(AtEdges(graph)), stop.beat());
    for (at, node) in ask.nodes.iter().enumerate() {
        let (place, time) = (ahead.place(graph, at, ask.nodes.len(), |at| ask.nodes[at]), ask.time(at));
        let mut count = 0;
        match place {
            Some(place) => count += add(place.partition, place.range(), time, out),
            None => {
                for entry in graph.find(*node) {
                    count += add(entry.partition, graph.partition(entry).edge_range(entry.entry)?, time, out);
                }
            }
        }
        out.end(count);
        beat.add(count as u64 + 1)?;
    }
    Ok(())
}

fn count(graph: &Graph, ask: &Ask<'_>, segments: &mut Segments, stop: &Stop, out: &mut [u64]) -> Result<()> {
    let (mut ahead, mut beat) = (Ahead::new(AtEdges(graph)), stop.beat());
    for (at, (node, out)) in ask.nodes.iter().zip(out).enumerate() {
        let (place, time) = (ahead.place(graph, at, ask.nodes.len(), |at| ask.nodes[at]), ask.time(at));
        match place {
            Some(place) => segments.collect_at(graph, Some(place), *node, ask.types, time)?,
            None => segments.gather(graph, *node, ask.types, time)?,
        }
        *out = segments.len() as u64;
        // Without times, runs are counted by their ends.
        beat.add(if time.is_some() { *out + 1 } else { 1 })?;
    }
    Ok(())
}
