//! The engine, without a network: turns a request into a reply.

mod answer;
mod elements;
mod features;
mod neighbors;
mod samplers;

use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::Error;
use isomorph_sampling::{Generator, Graph, Names, NeighborLists, Sampler, Stop, Summary, TypeSet};
use isomorph_storage::{Budget, Reservation};
use tonic::Status;

use crate::limits::Limits;
use crate::status::{invalid, status, too_much};
use crate::wire::{Empty, MetadataReply, NodeTypesReply, NodeTypesRequest};
use samplers::Samplers;

/// The version of the binary that is reported to clients.
const VERSION: u64 = 2;

/// The type of a map entry that only represents ends of edges.
const NO_TYPE: i32 = -1;

/// A reply and its memory reservation.
#[derive(Debug)]
pub struct Answer<R> {
    /// The reply.
    pub reply: R,
    /// Memory that is released when the reply has been sent.
    pub memory: Reservation,
}

/// Answers requests about one graph. Can be shared by any number of threads; clones share everything.
#[derive(Clone)]
pub struct Engine {
    served: Arc<Served>,
    /// What ends the work of requests early.
    stop: Stop,
}

/// What requests share.
struct Served {
    graph: Arc<Graph>,
    generator: Generator,
    summary: Summary,
    limits: Limits,
    budget: Budget,
    samplers: Samplers,
    idle: Mutex<Vec<Worker>>,
}

/// Sampler and buffers for a request, reused by later requests.
struct Worker {
    sampler: Sampler,
    lists: NeighborLists,
}

/// Number of nodes whose types are looked up between two looks at whether anybody waits for them.
const SOME: usize = 1024;

/// Maximum number of idle workers that are kept.
const IDLE: usize = 64;

impl Engine {
    /// Creates an engine for `graph` that draws with `generator`. A graph that is not a binary has `names` with its features. Memory of
    /// requests and replies comes from the budget.
    pub fn new(
        graph: &Arc<Graph>,
        names: Option<&Names>,
        generator: Generator,
        limits: &Limits,
        budget: &Budget,
    ) -> Engine {
        let served = Served {
            graph: Arc::clone(graph),
            generator,
            summary: graph.summary(names),
            limits: limits.clone(),
            budget: budget.clone(),
            samplers: Samplers::default(),
            idle: Mutex::default(),
        };
        Engine { served: Arc::new(served), stop: Stop::default() }
    }

    /// Returns an engine for one request, whose work `stop` ends early: at the next few thousand nodes, edges or draws. The request then
    /// fails with `CANCELLED`.
    #[must_use]
    pub fn until(&self, stop: &Stop) -> Engine {
        Engine { served: Arc::clone(&self.served), stop: stop.clone() }
    }

    /// Returns the limits for requests.
    pub fn limits(&self) -> &Limits {
        &self.served.limits
    }

    /// Returns the summary of the graph.
    pub fn summary(&self) -> &Summary {
        &self.served.summary
    }

    /// Returns how many samplers are kept for reuse, and how many sets of types are remembered.
    pub(crate) fn sampler_counts(&self) -> (usize, usize) {
        self.served.samplers.counts()
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.served.budget
    }

    /// Returns the metadata of the graph for clients.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn metadata(&self, _: Empty) -> Result<Answer<MetadataReply>, Status> {
        let summary = &self.served.summary;
        #[expect(clippy::cast_possible_truncation, reason = "32 bits in messages")]
        let flat = |lists: &[Vec<f64>]| lists.iter().flatten().map(|weight| *weight as f32).collect::<Vec<f32>>();
        let (nodes, edges) = (flat(&summary.node_weights), flat(&summary.edge_weights));
        let memory = self.room(16 * (nodes.len() + edges.len()) as u64)?;
        let reply = MetadataReply {
            nodes: summary.nodes,
            edges: summary.edges,
            node_types: summary.node_counts.len() as u64,
            edge_types: summary.edge_counts.len() as u64,
            node_features: summary.node_features,
            edge_features: summary.edge_features,
            partitions: summary.node_weights.len() as u64,
            node_partition_weights: nodes,
            edge_partition_weights: edges,
            node_count_per_type: summary.node_counts.clone(),
            edge_count_per_type: summary.edge_counts.clone(),
            version: VERSION,
            watermark: summary.watermark,
        };
        Ok(Answer { reply, memory })
    }

    /// Returns the types of the nodes that exist.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn node_types(&self, request: NodeTypesRequest) -> Result<Answer<NodeTypesReply>, Status> {
        let count = request.node_ids.len();
        let memory = self.room(26 * count as u64)?;
        let mut types = vec![NO_TYPE; count];
        let mut beat = self.stop.beat();
        for (ids, types) in request.node_ids.chunks(SOME).zip(types.chunks_mut(SOME)) {
            beat.add(ids.len() as u64).map_err(refused)?;
            self.served.graph.types_of(ids, NO_TYPE, types).map_err(refused)?;
        }
        let offsets = (0u32..).zip(&types).filter(|(_, ty)| **ty != NO_TYPE).map(|(at, _)| at).collect();
        types.retain(|ty| *ty != NO_TYPE);
        Ok(Answer { reply: NodeTypesReply { types, offsets }, memory })
    }

    /// Reserves memory for a reply.
    fn room(&self, bytes: u64) -> Result<Reservation, Status> {
        if bytes > self.served.limits.reply {
            return Err(too_much("bytes of a reply", bytes, self.served.limits.reply));
        }
        self.served.budget.try_reserve(bytes).ok_or_else(busy)
    }

    /// Calls `work` with its own sampler and buffers.
    fn with<R>(&self, work: impl FnOnce(&mut Worker) -> Result<R, Status>) -> Result<R, Status> {
        let lock = || self.served.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // A separate statement: the lock must not be held during the work.
        let idle = lock().pop();
        let mut worker = idle.unwrap_or_else(|| Worker {
            sampler: Sampler::new(&self.served.graph, self.served.generator, 1),
            lists: NeighborLists::default(),
        });
        worker.sampler.until(&self.stop);
        let done = work(&mut worker);
        worker.sampler.until(&Stop::default());
        let mut idle = lock();
        if idle.len() < IDLE {
            idle.push(worker);
        }
        done
    }

    /// Returns the requested edge types: types that the graph does not have match nothing.
    fn edge_types(&self, types: &[i32]) -> TypeSet {
        known(types, self.served.summary.edge_counts.len())
    }
}

/// Returns the types that are below a number.
fn known(types: &[i32], number: usize) -> TypeSet {
    let known: Vec<i32> = types.iter().copied().filter(|ty| usize::try_from(*ty).is_ok_and(|ty| ty < number)).collect();
    TypeSet::of(&known)
}

/// Returns the status for a temporary lack of memory.
pub(crate) fn busy() -> Status {
    Status::resource_exhausted("the memory of this server is in use by other requests; try again")
}

/// Returns the times of a request: none, or one for each element.
fn times(timestamps: &[i64], elements: usize) -> Result<Option<&[i64]>, Status> {
    match timestamps.len() {
        0 => Ok(None),
        given if given == elements => Ok(Some(timestamps)),
        given => Err(invalid(format!("{given} timestamps for {elements} elements; expected none, or one for each"))),
    }
}

/// Checks the requested number for each element.
fn counted(count: i64, limit: usize) -> Result<usize, Status> {
    let negative = |_| invalid(format!("the count is {count}, and must not be negative"));
    let count = usize::try_from(count).map_err(negative)?;
    if count > limit { Err(too_much("neighbours of each node", count, limit)) } else { Ok(count) }
}

fn refused(error: Error) -> Status {
    status(&error)
}
