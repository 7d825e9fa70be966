//! A sampler: a graph, a generator, and buffers that are kept from call to call.

use std::sync::Arc;

use isomorph_error::Result;

use crate::ahead::{AHEAD, Ahead};
use crate::ask::{Ask, Draw, Generator, Picks};
use crate::graph::Graph;
use crate::occurrences::Occurrences;
use crate::segments::Segments;
use crate::walk::Walk;

/// Nodes below which a batch is not divided among threads.
const ALONE: usize = 64;

/// Draws from one graph. Calls take `&mut self`, because buffers are reused: who samples on several threads of their own makes one
/// for each, which costs nothing. Within a call the batch is divided among `threads`.
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
/// let mut picks = Picks { ids: &mut ids, weights: &mut weights, types: &mut types, created: &mut [] };
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
}

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Worker {
    pub segments: Segments,
    /// The neighbours of the node that a walk came from.
    pub before: Segments,
    /// Sums of weights.
    pub sums: Vec<f64>,
    /// The same with 32 bits, as the published engine has them.
    pub short_sums: Vec<f32>,
    /// Chosen elements.
    pub chosen: Vec<u64>,
    pub walk: Walk,
    pub ahead: Ahead,
    pub rank: crate::pagerank::Rank,
}

/// A batch as one worker gets it.
pub(crate) struct Share<'a> {
    pub graph: &'a Graph,
    pub ask: Ask<'a>,
    /// For each node how many times it came before in the whole batch.
    pub occurrences: &'a [u32],
}

impl Sampler {
    /// A sampler of `graph` that divides batches among `threads` threads of the current pool.
    pub fn new(graph: &Arc<Graph>, generator: Generator, threads: usize) -> Self {
        let workers = (0..threads.max(1)).map(|_| Worker::default()).collect();
        Sampler { graph: Arc::clone(graph), generator, workers, occurrences: Occurrences::default() }
    }

    /// Its graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Divides a batch of nodes, with `stride` elements of answers for each, among the workers.
    pub(crate) fn divide<F>(&mut self, ask: &Ask<'_>, stride: usize, picks: &mut Picks<'_>, work: &F) -> Result<()>
    where
        F: Fn(&Share<'_>, &mut Worker, &mut Picks<'_>) -> Result<()> + Sync,
    {
        ask.check()?;
        picks.check(ask.nodes.len().saturating_mul(stride))?;
        let occurrences = self.occurrences.of(ask.nodes);
        let share = Share { graph: &self.graph, ask: *ask, occurrences };
        divided(share, stride, &mut self.workers, picks.reborrow(), work)
    }
}

/// The error of the earliest node wins, so that what is reported does not depend on the number of threads.
fn divided<F>(share: Share<'_>, stride: usize, workers: &mut [Worker], mut picks: Picks<'_>, work: &F) -> Result<()>
where
    F: Fn(&Share<'_>, &mut Worker, &mut Picks<'_>) -> Result<()> + Sync,
{
    let count = share.ask.nodes.len();
    if workers.len() <= 1 || count < 2 * ALONE {
        return workers.first_mut().map_or(Ok(()), |worker| work(&share, worker, &mut picks));
    }
    let half = workers.len() / 2;
    let at = count * half / workers.len();
    let (left, right) = share.ask.split(at);
    let (seen_left, seen_right) = share.occurrences.split_at(at);
    let (some, others) = workers.split_at_mut(half);
    let (left_picks, right_picks) = picks.split(at * stride);
    let graph = share.graph;
    let (first, second) = rayon::join(
        || divided(Share { graph, ask: left, occurrences: seen_left }, stride, some, left_picks, work),
        || divided(Share { graph, ask: right, occurrences: seen_right }, stride, others, right_picks, work),
    );
    first.and(second)
}

impl Share<'_> {
    /// The stream of numbers of the node at `at` in this share.
    #[inline]
    pub fn stream(&self, at: usize, draw: Draw) -> crate::random::Stream {
        crate::random::Key::new(draw.seed, draw.hop).stream(self.ask.nodes[at] as u64, self.occurrences[at])
    }

    /// Fetches the edges of the next nodes, when `at` is the first of them.
    #[inline]
    pub fn look_ahead(&self, ahead: &mut Ahead, at: usize) {
        if at.is_multiple_of(AHEAD) {
            let end = self.ask.nodes.len().min(at + AHEAD);
            ahead.fetch(self.graph, self.ask.nodes[at..end].iter().copied());
        }
    }
}
