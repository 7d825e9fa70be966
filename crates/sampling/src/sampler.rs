//! The sampler: a graph, a generator, and buffers that are reused by later calls.

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_storage::pool;

use crate::divide::{divide, pieces};
use crate::graph::Graph;
use crate::neighbors::SumsRoom;
use crate::occurrences::Occurrences;
use crate::prefetch::{Ahead, AtEdges, EdgesAt};
use crate::request::{Ask, Draw, Generator, Picks};
use crate::segments::Segments;
use crate::stop::Stop;
use crate::walk::Walk;

/// Draws from one graph. Calls take `&mut self`, because buffers are reused: to sample on several threads of your own, create a sampler
/// for each thread, which is cheap. Within a call, the batch is divided among `threads` threads.
///
/// ```no_run
/// use isomorph_sampling::{Ask, Draw, Generator, Graph, GraphOptions, Missing, Picks, Sampler, TypeSet};
/// use isomorph_storage::{Budget, Location, Scratch};
/// use std::sync::Arc;
///
/// # fn main() -> isomorph_error::Result<()> {
/// let options = GraphOptions::new(&Budget::of_this_machine(), &Scratch::new(None)?);
/// let graph = Arc::new(Graph::open(&Location::parse("graph/")?, &options)?);
/// let mut sampler = Sampler::new(&graph, Generator::Stable, 2);
/// let (mut ids, mut weights, mut types) = (vec![0; 30], vec![0.0; 30], vec![0; 30]);
/// let mut picks = Picks { ids: &mut ids, weights: &mut weights, types: &mut types, created: &mut [], exact: &mut [] };
/// let all = TypeSet::all();
/// sampler.weighted(&Ask::new(&[7, 8, 9], &all), 10, Draw::of(1), &Missing::default(), &mut picks)?;
/// # Ok(())
/// # }
/// ```
pub struct Sampler {
    pub(crate) graph: Arc<Graph>,
    pub(crate) generator: Generator,
    pub(crate) workers: Vec<Worker>,
    pub(crate) occurrences: Occurrences,
    pub(crate) stop: Stop,
}

/// The buffers of one thread.
#[derive(Default)]
pub(crate) struct Worker {
    pub segments: Segments,
    /// The neighbours of the previous node of a walk.
    pub before: Segments,
    /// Sums of weights.
    pub sums: SumsRoom,
    /// The chosen elements.
    pub chosen: Vec<u64>,
    pub walk: Walk,
    pub rank: crate::pagerank::Rank,
    pub runs: crate::reference::Runs,
    pub steps: crate::reference::Steps,
}

/// The share of a batch for one worker.
pub(crate) struct Share<'a> {
    pub graph: &'a Graph,
    pub ask: Ask<'a>,
    /// For each node, the number of its earlier occurrences in the whole batch.
    pub occurrences: &'a [u32],
    pub stop: &'a Stop,
}

impl Sampler {
    /// Creates a sampler of `graph` that divides large batches among `threads` threads: the calling one, and others of the current pool
    /// of `rayon`. 0 means as many as that pool has, by default one for each core; 1 divides
    /// nothing. Batches that take one thread less than about 200 µs are not divided.
    pub fn new(graph: &Arc<Graph>, generator: Generator, threads: usize) -> Self {
        let threads = if threads == 0 { pool::threads() } else { threads };
        let workers = (0..threads.max(1)).map(|_| Worker::default()).collect();
        let (occurrences, stop) = (Occurrences::default(), Stop::default());
        Sampler { graph: Arc::clone(graph), generator, workers, occurrences, stop }
    }

    /// Sets what ends the following calls early: draws, lists and counts of neighbours, and features that are passed on. They look
    /// at it every few thousand nodes, edges and draws, and then fail with [`Kind::Cancelled`](isomorph_error::Kind::Cancelled). The sort
    /// of the edges of one node that has several entries is not interrupted.
    pub fn until(&mut self, stop: &Stop) {
        self.stop = stop.clone();
        for worker in &mut self.workers {
            worker.segments.stop = stop.clone();
        }
    }

    /// Returns its graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Divides a batch of nodes, with `stride` elements of output for each, among the workers. Each node takes about `nanoseconds`
    /// nanoseconds of work.
    pub(crate) fn divide<F>(
        &mut self,
        ask: &Ask<'_>,
        stride: usize,
        nanoseconds: u64,
        picks: &mut Picks<'_>,
        work: &F,
    ) -> Result<()>
    where
        F: Fn(&Share<'_>, &mut Worker, &mut Picks<'_>) -> Result<()> + Sync,
    {
        let Some(size) = pieces(ask.nodes.len(), nanoseconds, self.workers.len()) else {
            return self.undivided(ask, stride, picks, work);
        };
        ask.check(&self.graph)?;
        picks.check(ask.nodes.len().saturating_mul(stride))?;
        let (occurrences, stop) = (self.occurrences.of(ask.nodes), &self.stop);
        let share = Share { graph: &self.graph, ask: *ask, occurrences, stop };
        let mut rest = Some((share, picks.reborrow()));
        let next = || {
            let (share, picks) = rest.take().filter(|(share, _)| !share.ask.nodes.is_empty())?;
            let at = size.min(share.ask.nodes.len());
            let (this, others) = share.split(at);
            let (these, other_picks) = picks.split(at * stride);
            rest = Some((others, other_picks));
            Some((this, these))
        };
        divide(&mut self.workers, next, |worker, (share, mut picks)| work(&share, worker, &mut picks))?;
        stop.check()
    }

    /// Gives a whole batch to one worker.
    pub(crate) fn undivided(
        &mut self,
        ask: &Ask<'_>,
        stride: usize,
        picks: &mut Picks<'_>,
        work: impl FnOnce(&Share<'_>, &mut Worker, &mut Picks<'_>) -> Result<()>,
    ) -> Result<()> {
        ask.check(&self.graph)?;
        picks.check(ask.nodes.len().saturating_mul(stride))?;
        let occurrences = self.occurrences.of(ask.nodes);
        let share = Share { graph: &self.graph, ask: *ask, occurrences, stop: &self.stop };
        self.workers.first_mut().map_or(Ok(()), |worker| work(&share, worker, picks))?;
        self.stop.check()
    }
}

impl<'a> Share<'a> {
    /// Splits off the first `at` nodes.
    fn split(self, at: usize) -> (Share<'a>, Share<'a>) {
        let (left, right) = self.ask.split(at);
        let (seen_left, seen_right) = self.occurrences.split_at(at);
        let share = |ask, occurrences| Share { graph: self.graph, ask, occurrences, stop: self.stop };
        (share(left, seen_left), share(right, seen_right))
    }

    /// Returns a prefetcher for the edges of the nodes.
    pub fn ahead(&self) -> Ahead<AtEdges<'a>> {
        Ahead::new(AtEdges(self.graph))
    }

    /// Returns the position of the edges of the node at `at`, if `ahead` knows it.
    #[inline]
    pub fn edges_at(&self, ahead: &mut Ahead<AtEdges<'_>>, at: usize) -> Option<EdgesAt> {
        let nodes = self.ask.nodes;
        ahead.place(self.graph, at, nodes.len(), |at| nodes[at])
    }

    /// Returns the random stream of the node at `at` in this share.
    #[inline]
    pub fn stream(&self, at: usize, draw: Draw) -> crate::random::Stream {
        crate::random::Key::new(draw.seed, draw.hop).stream(self.ask.nodes[at].cast_unsigned(), self.occurrences[at])
    }
}
