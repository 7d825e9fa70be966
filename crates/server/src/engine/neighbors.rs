//! Neighbours: all of them, their number, or a sample.

use isomorph_sampling::{Ask, Draw, Missing, Picks};
use isomorph_storage::Reservation;
use tonic::Status;

use super::{Answer, Engine, Worker, counted, refused, times};
use crate::status::invalid;
use crate::wire::{
    LastNeighborsRequest, NeighborCountsReply, NeighborsReply, NeighborsRequest, UniformNeighborsReply,
    UniformNeighborsRequest, WeightedNeighborsReply, WeightedNeighborsRequest,
};

/// Bytes of a neighbour in a reply: id, weight, type and time, twice, because of the encoded copy.
const NEIGHBOR: u64 = 58;

/// Bytes of a node in a reply: id, and number or weight, twice, because of the encoded copy.
const NODE: u64 = 40;

/// The nodes of a request that exist, with their times.
struct Found {
    nodes: Vec<i64>,
    times: Option<Vec<i64>>,
}

impl Found {
    /// Looks up the nodes. All of them together may have at most `most` edges.
    fn of(worker: &Worker, nodes: Vec<i64>, times: Option<&[i64]>, most: u64) -> Result<Found, Status> {
        let mut found = Vec::with_capacity(nodes.len());
        worker.sampler.found(&nodes, most, &mut found).map_err(refused)?;
        if found.iter().all(|found| *found) {
            return Ok(Found { nodes, times: times.map(<[i64]>::to_vec) });
        }
        let there = |list: &[i64]| list.iter().zip(&found).filter(|(_, found)| **found).map(|(id, _)| *id).collect();
        Ok(Found { nodes: there(&nodes), times: times.map(there) })
    }
}

/// Sets the times of creation to send: as in the published server, −1 unless the request is at a time.
fn created_at(created: &mut [i64], times: Option<&[i64]>) {
    if times.is_none() {
        created.fill(-1);
    }
}

impl Engine {
    /// Returns all neighbours of each node.
    ///
    /// # Errors
    /// Returns an error if there are too many, or if the graph is damaged.
    pub fn neighbors(&self, request: NeighborsRequest) -> Result<Answer<NeighborsReply>, Status> {
        let (nodes, types) = (&request.node_ids, self.edge_types(&request.edge_types));
        let ask = Ask { nodes, types: &types, times: times(&request.timestamps, nodes.len())? };
        self.with(|worker| {
            let Worker { sampler, lists, .. } = worker;
            let mut total = sampler.edges_of(nodes, self.served.limits.edges).map_err(refused)?;
            if total.saturating_mul(NEIGHBOR) > self.served.limits.reply {
                // Some of them may have other types, or not exist at this time.
                let mut counts = vec![0; nodes.len()];
                sampler.neighbor_counts(&ask, &mut counts).map_err(refused)?;
                total = counts.iter().sum();
            }
            let memory = self.room(total.saturating_mul(NEIGHBOR).saturating_add(NODE * nodes.len() as u64))?;
            sampler.neighbors(&ask, lists).map_err(refused)?;
            let mut lists = std::mem::take(lists);
            created_at(&mut lists.created, ask.times);
            let reply = NeighborsReply {
                node_ids: lists.ids,
                edge_weights: lists.weights,
                edge_types: lists.types,
                neighbor_counts: lists.counts,
                timestamps: if request.return_edge_created_ts { lists.created } else { Vec::new() },
            };
            Ok(Answer { reply, memory })
        })
    }

    /// Returns the number of neighbours of each node.
    ///
    /// # Errors
    /// As [`Engine::neighbors`].
    pub fn neighbor_counts(&self, request: NeighborsRequest) -> Result<Answer<NeighborCountsReply>, Status> {
        let (nodes, types) = (&request.node_ids, self.edge_types(&request.edge_types));
        let ask = Ask { nodes, types: &types, times: times(&request.timestamps, nodes.len())? };
        let memory = self.room(NODE * nodes.len() as u64)?;
        self.with(|worker| {
            if ask.times.is_some() {
                worker.sampler.edges_of(nodes, self.served.limits.edges).map_err(refused)?;
            }
            let mut neighbor_counts = vec![0; nodes.len()];
            worker.sampler.neighbor_counts(&ask, &mut neighbor_counts).map_err(refused)?;
            Ok(Answer { reply: NeighborCountsReply { neighbor_counts, timestamps: Vec::new() }, memory })
        })
    }

    /// Returns the neighbours of each node whose edges were created last: a fixed number for each, filled up with −1.
    ///
    /// # Errors
    /// As [`Engine::neighbors`], and if the graph or the request has no times.
    pub fn last_neighbors(&self, request: LastNeighborsRequest) -> Result<Answer<NeighborsReply>, Status> {
        let (nodes, types) = (&request.node_ids, self.edge_types(&request.edge_types));
        let count = counted(request.count, self.served.limits.count)?;
        if !self.served.graph.has_times() {
            return Err(Status::failed_precondition("edges of this graph have no times"));
        }
        let times = times(&request.timestamps, nodes.len())?;
        if times.is_none() && !nodes.is_empty() {
            return Err(invalid("the latest neighbours need a timestamp for each node"));
        }
        let ask = Ask { nodes, types: &types, times };
        let memory = self.drawn(nodes.len(), count)?;
        let missing = Missing { node: -1, weight: -1.0, ty: -1, created: -1 };
        self.with(|worker| {
            worker.sampler.edges_of(nodes, self.served.limits.edges).map_err(refused)?;
            let mut counts = vec![0; nodes.len()];
            worker.sampler.neighbor_counts(&ask, &mut counts).map_err(refused)?;
            counts.iter_mut().for_each(|number| *number = (*number).min(count as u64));
            let mut drawn = Drawn::new(nodes.len() * count, true, true);
            worker.sampler.last(&ask, count, &missing, &mut drawn.picks()).map_err(refused)?;
            let reply = NeighborsReply {
                node_ids: drawn.ids,
                edge_weights: drawn.weights,
                edge_types: drawn.types,
                neighbor_counts: counts,
                timestamps: drawn.created,
            };
            Ok(Answer { reply, memory })
        })
    }

    /// Draws neighbours by weight, for the nodes that exist.
    ///
    /// # Errors
    /// As [`Engine::neighbors`].
    pub fn weighted_neighbors(
        &self,
        request: WeightedNeighborsRequest,
    ) -> Result<Answer<WeightedNeighborsReply>, Status> {
        let types = self.edge_types(&request.edge_types);
        let count = counted(i64::from(request.count), self.served.limits.count)?;
        let times = times(&request.timestamps, request.node_ids.len())?;
        let missing = Missing {
            node: request.default_node_id,
            weight: request.default_node_weight,
            ty: request.default_edge_type,
            created: -1,
        };
        self.with(|worker| {
            let found = Found::of(worker, request.node_ids, times, self.served.limits.edges)?;
            let memory = self.drawn(found.nodes.len(), count)?;
            let mut drawn = Drawn::new(found.nodes.len() * count, true, request.return_edge_created_ts);
            let ask = Ask { nodes: &found.nodes, types: &types, times: found.times.as_deref() };
            let (draw, picks) = (Draw::of(request.seed.cast_unsigned()), &mut drawn.picks());
            let mut shard_weights = Vec::with_capacity(found.nodes.len());
            let drawing = worker.sampler.weighted_and_totals(&ask, count, draw, &missing, picks, &mut shard_weights);
            drawing.map_err(refused)?;
            created_at(&mut drawn.created, ask.times);
            let reply = WeightedNeighborsReply {
                neighbor_ids: drawn.ids,
                neighbor_weights: drawn.weights,
                neighbor_types: drawn.types,
                node_ids: found.nodes,
                shard_weights,
                timestamps: drawn.created,
            };
            Ok(Answer { reply, memory })
        })
    }

    /// Draws neighbours uniformly, for the nodes that exist.
    ///
    /// # Errors
    /// As [`Engine::neighbors`].
    pub fn uniform_neighbors(&self, request: UniformNeighborsRequest) -> Result<Answer<UniformNeighborsReply>, Status> {
        let types = self.edge_types(&request.edge_types);
        let count = counted(i64::from(request.count), self.served.limits.count)?;
        let times = times(&request.timestamps, request.node_ids.len())?;
        let missing =
            Missing { node: request.default_node_id, weight: 0.0, ty: request.default_edge_type, created: -1 };
        self.with(|worker| {
            let found = Found::of(worker, request.node_ids, times, self.served.limits.edges)?;
            let memory = self.drawn(found.nodes.len(), count)?;
            let mut drawn = Drawn::new(found.nodes.len() * count, false, request.return_edge_created_ts);
            let ask = Ask { nodes: &found.nodes, types: &types, times: found.times.as_deref() };
            let (draw, replacement) = (Draw::of(request.seed.cast_unsigned()), !request.without_replacement);
            let (picks, mut shard_counts) = (&mut drawn.picks(), Vec::with_capacity(found.nodes.len()));
            let (sampler, counts) = (&mut worker.sampler, &mut shard_counts);
            sampler.uniform_and_counts(&ask, count, replacement, draw, &missing, picks, counts).map_err(refused)?;
            created_at(&mut drawn.created, ask.times);
            let reply = UniformNeighborsReply {
                neighbor_ids: drawn.ids,
                neighbor_types: drawn.types,
                shard_counts,
                node_ids: found.nodes,
                timestamps: drawn.created,
            };
            Ok(Answer { reply, memory })
        })
    }

    /// Reserves memory for `count` neighbours of each of `nodes` nodes.
    fn drawn(&self, nodes: usize, count: usize) -> Result<Reservation, Status> {
        let neighbors = (nodes as u64).saturating_mul(count as u64);
        self.room(neighbors.saturating_mul(NEIGHBOR).saturating_add(NODE * nodes as u64))
    }
}

/// Buffers for neighbours.
struct Drawn {
    ids: Vec<i64>,
    weights: Vec<f32>,
    types: Vec<i32>,
    created: Vec<i64>,
}

impl Drawn {
    fn new(room: usize, weights: bool, created: bool) -> Drawn {
        let weights = vec![0.0; if weights { room } else { 0 }];
        Drawn { ids: vec![0; room], weights, types: vec![0; room], created: vec![-1; if created { room } else { 0 }] }
    }

    fn picks(&mut self) -> Picks<'_> {
        Picks {
            ids: &mut self.ids,
            weights: &mut self.weights,
            types: &mut self.types,
            created: &mut self.created,
            exact: &mut [],
        }
    }
}
