//! One partition.

use std::ops::Range;

use isomorph_error::{Error, Result};
use isomorph_storage::Staging;

use super::alias::Alias;
use super::buffered::Gathered;
use super::features::FeatureFiles;
use super::meta::{PartitionMeta, Sum};
use super::pages::Room;
use crate::BuildOptions;
use crate::binary::layout::{DUMMY, EDGE_RECORD, MAP_RECORD, Names, TIME_RECORD};
use crate::binary::supplement;
use crate::block::{Block, Life, RecordEnd};
use crate::number::single;
use crate::rules;

/// A writer of the files of one partition.
pub(super) struct Partition<'a> {
    map: Gathered,
    node_index: Gathered,
    node_features: FeatureFiles,
    neighbors: Gathered,
    edge_index: Gathered,
    edge_features: FeatureFiles,
    times: Option<Gathered>,
    node_alias: Option<Vec<Alias<8>>>,
    edge_alias: Option<Vec<Alias<16>>>,
    room: Room,
    entries: u64,
    /// Index of the first feature of the next node.
    slot: u64,
    edges: u64,
    /// The node of the last entry.
    current: Option<u64>,
    /// The type of its last edge.
    last_type: i32,
    meta: PartitionMeta,
    /// Number of partitions.
    count: u32,
    /// What the files cannot store, if requested.
    beside: Option<supplement::Writer<'a>>,
}

/// An edge of a block that breaks a rule, with the message.
pub(crate) struct Refused {
    pub edge: usize,
    pub error: Error,
}

impl<'a> Partition<'a> {
    pub fn create(staging: &'a Staging, number: u32, options: &BuildOptions, room: &Room) -> Result<Self> {
        let (names, count) = (Names::of(number), options.partitions);
        let times = options.watermark.map(|watermark| -> Result<Gathered> {
            let mut times = Gathered::create(staging, &names.times, count)?;
            times.push(&watermark.to_le_bytes())?;
            Ok(times)
        });
        Ok(Partition {
            map: Gathered::create(staging, &names.map, count)?,
            node_index: Gathered::create(staging, &names.node_index, count)?,
            node_features: FeatureFiles::create(
                staging,
                [&names.node_features_index, &names.node_features_data],
                count,
            )?,
            neighbors: Gathered::create(staging, &names.neighbors, count)?,
            edge_index: Gathered::create(staging, &names.edge_index, count)?,
            edge_features: FeatureFiles::create(
                staging,
                [&names.edge_features_index, &names.edge_features_data],
                count,
            )?,
            times: times.transpose()?,
            node_alias: options.node_samplers.then(Vec::new),
            edge_alias: options.edge_samplers.then(Vec::new),
            room: room.clone(),
            entries: 0,
            slot: 0,
            edges: 0,
            current: None,
            last_type: 0,
            meta: PartitionMeta::default(),
            count,
            beside: options.beside.then(|| supplement::Writer::new(staging, number, options.watermark.is_some())),
        })
    }

    /// Appends the nodes and edges between two ends of records.
    ///
    /// # Errors
    /// Returns an error with the edge's number in the block if an edge breaks a rule, or if a file cannot be written.
    pub fn append(&mut self, block: &Block, from: RecordEnd, to: RecordEnd) -> Result<Result<(), Refused>> {
        let nodes = from.nodes as usize..to.nodes as usize;
        let mut edge = from.edges as usize;
        // The lifetime of a node applies only to the edges of its own record, as in the published converter.
        let mut life = (0, -1);
        let first_slot = (self.edge_features.slots, block.edges.features.slots_before(edge));
        let first_of_nodes = block.nodes.features.slots_before(nodes.start);
        let node_slots = self.node_features.slots;
        for node in nodes.clone() {
            let before = block.nodes.edges_before[node] as usize;
            if let Err(refused) = self.append_edges(block, edge..before, first_slot, life)? {
                return Ok(Err(refused));
            }
            edge = before;
            let of = block.node_life(node);
            let or = |stated: Option<i64>, other: i64| stated.filter(|time| *time != 0).unwrap_or(other);
            life = (or(of.created, 0), or(of.removed, -1));
            self.slot = node_slots + (block.nodes.features.slots_before(node) - first_of_nodes);
            self.append_node(block, node)?;
            self.slot = node_slots + (block.nodes.features.slots_before(node + 1) - first_of_nodes);
        }
        if let Err(refused) = self.append_edges(block, edge..to.edges as usize, first_slot, life)? {
            return Ok(Err(refused));
        }
        let edges = from.edges as usize..to.edges as usize;
        if let Some(beside) = &mut self.beside {
            beside.node_features(&block.nodes.features, nodes.clone())?;
            beside.edge_features(&block.edges.features, edges.clone())?;
        }
        self.node_features.append(&block.nodes.features, nodes)?;
        self.edge_features.append(&block.edges.features, edges)?;
        Ok(Ok(()))
    }

    fn append_node(&mut self, block: &Block, node: usize) -> Result<()> {
        let nodes = &block.nodes;
        let (id, ty, weight) = (nodes.ids[node], nodes.types[node], nodes.weights[node]);
        if let Some(beside) = &mut self.beside {
            beside.node(self.entries, single(weight), block.node_life(node))?;
        }
        self.entry(id, ty)?;
        let of_type = place(ty)?;
        self.meta.node_weights.at(of_type).add(weight, false);
        *self.meta.node_counts.at(of_type) += 1;
        if let Some(alias) = &mut self.node_alias {
            let room = &self.room;
            alias.resize_with(alias.len().max(of_type + 1), || Alias::new(room));
            alias[of_type].push(id.to_le_bytes(), single(weight))?;
        }
        Ok(())
    }

    /// Appends an entry of the map.
    fn entry(&mut self, id: u64, ty: i32) -> Result<()> {
        let mut record = [0; MAP_RECORD];
        record[..8].copy_from_slice(&id.to_le_bytes());
        record[8..16].copy_from_slice(&self.entries.to_le_bytes());
        record[16..].copy_from_slice(&ty.to_le_bytes());
        self.map.push(&record)?;
        self.node_index.push(&self.slot.to_le_bytes())?;
        self.neighbors.push(&self.edges.to_le_bytes())?;
        self.entries += 1;
        self.current = Some(id);
        self.last_type = 0;
        Ok(())
    }

    /// Appends edges. `first_slot.1` is an index of a feature in the block, and `first_slot.0` its index in the file.
    fn append_edges(
        &mut self,
        block: &Block,
        range: Range<usize>,
        first_slot: (u64, u64),
        life: (i64, i64),
    ) -> Result<Result<(), Refused>> {
        let edges = &block.edges;
        for edge in range {
            let (source, target, ty) = (edges.sources[edge], edges.targets[edge], edges.types[edge]);
            let weight = edges.weights[edge];
            if self.current != Some(source) {
                self.entry(source, DUMMY)?;
            }
            if ty < self.last_type {
                let message = format!("edge of type {ty} after one of type {} of node {source}", self.last_type);
                return Ok(Err(Refused { edge, error: Error::broken(&rules::TYPE_ORDER, message) }));
            }
            self.last_type = ty;
            let slot = first_slot.0 + (edges.features.slots_before(edge) - first_slot.1);
            let mut record = [0; EDGE_RECORD];
            record[..8].copy_from_slice(&target.to_le_bytes());
            record[8..16].copy_from_slice(&slot.to_le_bytes());
            record[16..20].copy_from_slice(&ty.to_le_bytes());
            record[20..].copy_from_slice(&single(weight).to_le_bytes());
            self.edge_index.push(&record)?;
            if !edges.lives.is_empty() || self.times.is_some() {
                let of_edge = block.edge_life(edge);
                let times = match edges.settled {
                    true => Ok((of_edge.created.unwrap_or(0), of_edge.removed.unwrap_or(-1))),
                    false => times_of(of_edge, life),
                };
                match times {
                    Ok((created, removed)) => {
                        if let Some(times) = &mut self.times {
                            let mut record = [0; TIME_RECORD];
                            record[..8].copy_from_slice(&created.to_le_bytes());
                            record[8..].copy_from_slice(&removed.to_le_bytes());
                            times.push(&record)?;
                        }
                        if let Some(beside) = &mut self.beside {
                            beside.edge(self.edges, of_edge, self.times.as_ref().map(|_| (created, removed)))?;
                        }
                    }
                    Err(error) => return Ok(Err(Refused { edge, error })),
                }
            }
            let of_type = place(ty)?;
            self.meta.edge_weights.at(of_type).add(weight, block.is_integral(edge));
            *self.meta.edge_counts.at(of_type) += 1;
            if let Some(alias) = &mut self.edge_alias {
                if alias.len() <= of_type {
                    let room = &self.room;
                    alias.resize_with(of_type + 1, || Alias::new(room));
                }
                let mut ids = [0; 16];
                ids[..8].copy_from_slice(&source.to_le_bytes());
                ids[8..].copy_from_slice(&target.to_le_bytes());
                alias[of_type].push(ids, single(weight))?;
            }
            self.edges += 1;
        }
        Ok(Ok(()))
    }

    /// Completes all files except those of types that other partitions may have. `several` says whether a feature id
    /// has several types. Returns the metadata of the partition.
    pub fn finish(mut self, staging: &Staging, number: u32, several: bool) -> Result<PartitionMeta> {
        use crate::binary::layout::alias as name;
        self.node_index.push(&self.node_features.slots.to_le_bytes())?;
        self.neighbors.push(&self.edges.to_le_bytes())?;
        let mut last = [0; EDGE_RECORD];
        last[8..16].copy_from_slice(&self.edge_features.slots.to_le_bytes());
        last[20..].copy_from_slice(&(-1f32).to_le_bytes());
        self.edge_index.push(&last)?;
        self.meta.nodes = self.meta.node_counts.0.iter().sum();
        self.meta.edges = self.edges;
        self.meta.node_features = self.node_features.most;
        self.meta.edge_features = self.edge_features.most;
        for file in [self.map, self.node_index, self.neighbors, self.edge_index].into_iter().chain(self.times) {
            file.finish()?;
        }
        self.node_features.finish()?;
        self.edge_features.finish()?;
        if let Some(beside) = self.beside {
            beside.finish(several)?;
        }
        for (ty, alias) in self.node_alias.into_iter().flatten().enumerate() {
            let mut file = Gathered::create(staging, &name("node", ty, number), self.count)?;
            alias.write(&mut file)?;
            file.finish()?;
        }
        for (ty, alias) in self.edge_alias.into_iter().flatten().enumerate() {
            let mut file = Gathered::create(staging, &name("edge", ty, number), self.count)?;
            alias.write(&mut file)?;
            file.finish()?;
        }
        Ok(self.meta)
    }
}

/// Returns the times of an edge as they are stored: a missing time, or 0, is replaced by that of its node.
fn times_of(edge: Life, node: (i64, i64)) -> Result<(i64, i64)> {
    let (created, removed) = node;
    if edge.created.is_some_and(|time| time < created) {
        return Err(Error::broken(
            &rules::TIME,
            format!("the edge is older than its source, which begins at {created}"),
        ));
    }
    if removed != -1 && edge.removed.is_some_and(|time| time > removed) {
        return Err(Error::broken(&rules::TIME, format!("the edge outlives its source, which ends at {removed}")));
    }
    let or = |stated: Option<i64>, other: i64| stated.filter(|time| *time != 0).unwrap_or(other);
    Ok((or(edge.created, created), or(edge.removed, removed)))
}

impl Sum {
    fn add(&mut self, weight: f64, integral: bool) {
        // Python adds integers as integers until the first float.
        self.is_float |= !integral;
        self.sum += weight;
    }
}

/// Returns the index of a type among those of the partition.
fn place(ty: i32) -> Result<usize> {
    usize::try_from(ty).map_err(|_| Error::broken(&rules::TYPE, format!("{ty} is not a valid type")))
}
