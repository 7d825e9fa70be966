//! Returns features of nodes and edges: dense, sparse, texts.

use isomorph_error::Error;
use isomorph_sampling::{Edges, Generator, Sampler, Sparse, Value, Values};
use isomorph_storage::Reservation;
use tonic::Status;

use super::{Answer, Engine, refused, times};
use crate::status::{invalid, too_much};
use crate::wire::{
    EdgeFeaturesRequest, EdgeSparseFeaturesRequest, FeatureInfo, FeaturesReply, NodeFeaturesRequest,
    NodeSparseFeaturesRequest, SparseFeaturesReply, StringFeaturesReply,
};

/// The time of a missing feature.
const ABSENT: i64 = -1;

/// A sparse feature of at most this many bytes has no points.
const NO_POINTS: usize = 12;

/// The elements whose features are requested.
#[derive(Clone, Copy)]
enum Elements<'a> {
    Nodes(&'a [i64]),
    Edges(Edges<'a>),
}

impl<'a> Elements<'a> {
    /// Returns the edges of a request: all sources, then all targets.
    fn edges(ends: &'a [i64], types: &'a [i32]) -> Result<Self, Status> {
        if ends.len() != 2 * types.len() {
            let (ends, types) = (ends.len(), types.len());
            return Err(invalid(format!("{ends} node_ids for {types} edges; expected all sources, then all targets")));
        }
        let (sources, targets) = ends.split_at(types.len());
        Ok(Elements::Edges(Edges { sources, targets, types }))
    }

    fn len(&self) -> usize {
        match self {
            Elements::Nodes(nodes) => nodes.len(),
            Elements::Edges(edges) => edges.types.len(),
        }
    }

    fn values(
        &self,
        sampler: &Sampler,
        asked: &Values<'_>,
        take: impl FnMut(usize, usize, Option<Value<'_>>) -> isomorph_error::Result<()>,
    ) -> Result<(), Status> {
        match self {
            Elements::Nodes(nodes) => sampler.node_values(nodes, asked, take),
            Elements::Edges(edges) => sampler.edge_values(*edges, asked, take),
        }
        .map_err(refused)
    }
}

/// Returns the ids of features; negative ids are not features.
fn ids(ids: impl Iterator<Item = i32>) -> Vec<u32> {
    ids.map(|id| u32::try_from(id).unwrap_or(u32::MAX)).collect()
}

/// Converts a number to its type in messages.
fn wide(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Checks that points have as many coordinates as the previous ones: a reply has one number for each feature, by which clients split them.
fn one_dimension(id: Option<&i32>, found: &Sparse, bytes: &[u8]) -> isomorph_error::Result<()> {
    let own = bytes.get(4..8).and_then(|four| four.first_chunk()).map_or(0, |four| u32::from_le_bytes(*four));
    if found.dimensions == 0 || own == found.dimensions {
        return Ok(());
    }
    let (id, others) = (id.copied().unwrap_or_default(), found.dimensions);
    let message =
        format!("points of sparse feature {id} have {own} coordinates here and {others} elsewhere in this request");
    Err(Error::malformed(format!("{message}, but a reply has one number for all"))
        .hint("request these elements one by one"))
}

/// Memory of a reply whose length is known only at its end.
struct Growing {
    memory: Reservation,
    used: u64,
    limit: u64,
}

impl Growing {
    /// Reserves memory for bytes in the reply and in its encoded copy.
    fn take(&mut self, bytes: usize) -> isomorph_error::Result<()> {
        /// Number of bytes that are reserved at a time.
        const STEP: u64 = 1 << 16;
        self.used = self.used.saturating_add(2 * bytes as u64);
        if self.used > self.limit {
            let message = format!("the features take more than {} bytes, the limit of a reply", self.limit);
            return Err(Error::new(isomorph_error::Kind::TooLarge, message).hint("request fewer elements at once"));
        }
        match self.used.checked_sub(self.memory.bytes()).filter(|more| *more > 0) {
            Some(more) => self.memory.grow(more.max(STEP)),
            None => Ok(()),
        }
    }
}

impl Engine {
    /// Returns dense features of nodes.
    ///
    /// # Errors
    /// Returns an error if the reply is too long or the graph is damaged.
    pub fn node_features(&self, request: NodeFeaturesRequest) -> Result<Answer<FeaturesReply>, Status> {
        self.dense(Elements::Nodes(&request.node_ids), &request.features, &request.timestamps)
    }

    /// Returns dense features of edges.
    ///
    /// # Errors
    /// As [`Engine::node_features`], and if the lengths of lists do not match.
    pub fn edge_features(&self, request: EdgeFeaturesRequest) -> Result<Answer<FeaturesReply>, Status> {
        let edges = Elements::edges(&request.node_ids, &request.types)?;
        self.dense(edges, &request.features, &request.timestamps)
    }

    /// Returns sparse features of nodes.
    ///
    /// # Errors
    /// As [`Engine::node_features`], and if a feature is not sparse.
    pub fn node_sparse(&self, request: NodeSparseFeaturesRequest) -> Result<Answer<SparseFeaturesReply>, Status> {
        self.sparse(Elements::Nodes(&request.node_ids), &request.feature_ids, &request.timestamps)
    }

    /// Returns sparse features of edges.
    ///
    /// # Errors
    /// As [`Engine::node_sparse`] and [`Engine::edge_features`].
    pub fn edge_sparse(&self, request: EdgeSparseFeaturesRequest) -> Result<Answer<SparseFeaturesReply>, Status> {
        let edges = Elements::edges(&request.node_ids, &request.types)?;
        self.sparse(edges, &request.feature_ids, &request.timestamps)
    }

    /// Returns features of nodes as texts.
    ///
    /// # Errors
    /// As [`Engine::node_features`].
    pub fn node_strings(&self, request: NodeSparseFeaturesRequest) -> Result<Answer<StringFeaturesReply>, Status> {
        self.strings(Elements::Nodes(&request.node_ids), &request.feature_ids, &request.timestamps)
    }

    /// Returns features of edges as texts.
    ///
    /// # Errors
    /// As [`Engine::edge_features`].
    pub fn edge_strings(&self, request: EdgeSparseFeaturesRequest) -> Result<Answer<StringFeaturesReply>, Status> {
        let edges = Elements::edges(&request.node_ids, &request.types)?;
        self.strings(edges, &request.feature_ids, &request.timestamps)
    }

    fn dense(
        &self,
        elements: Elements<'_>,
        infos: &[FeatureInfo],
        timestamps: &[i64],
    ) -> Result<Answer<FeaturesReply>, Status> {
        let (count, times) = (elements.len() as u64, times(timestamps, elements.len())?);
        let width: u64 = infos.iter().map(|info| u64::from(info.size)).sum();
        let each = width.saturating_mul(2).saturating_add(18 * infos.len() as u64 + 9);
        let memory = self.room(count.saturating_mul(each))?;
        // At most the limit of a reply.
        let width =
            usize::try_from(width).map_err(|_| too_much("bytes of features", width, self.served.limits.reply))?;
        let features = ids(infos.iter().map(|info| info.id));
        let asked = Values { features: &features, times, holes: self.served.generator == Generator::Compat };
        let mut reply = FeaturesReply {
            feature_values: Vec::with_capacity(elements.len() * width),
            offsets: Vec::with_capacity(elements.len()),
            timestamps: Vec::with_capacity(elements.len() * infos.len()),
        };
        let FeaturesReply { feature_values: values, offsets, timestamps } = &mut reply;
        let (mut start, mut slot, mut stamps) = (0, 0, 0);
        self.with(|worker| {
            elements.values(&worker.sampler, &asked, |at, feature, value| {
                if feature == 0 {
                    (start, slot, stamps) = (values.len(), values.len(), timestamps.len());
                    values.resize(start + width, 0);
                }
                let size = infos.get(feature).map_or(0, |info| info.size as usize);
                if let Some(value) = value
                    && let Some(room) = values.get_mut(slot..slot + size)
                {
                    let copied = value.bytes.len().min(size);
                    room[..copied].copy_from_slice(&value.bytes[..copied]);
                }
                slot += size;
                timestamps.push(value.map_or(ABSENT, |value| value.created));
                if feature + 1 == features.len() {
                    if timestamps[stamps..].iter().any(|created| *created >= 0) {
                        offsets.push(u32::try_from(at).unwrap_or(u32::MAX));
                    } else {
                        values.truncate(start);
                        timestamps.truncate(stamps);
                    }
                }
                Ok(())
            })
        })?;
        Ok(Answer { reply, memory })
    }

    fn sparse(
        &self,
        elements: Elements<'_>,
        wanted: &[i32],
        timestamps: &[i64],
    ) -> Result<Answer<SparseFeaturesReply>, Status> {
        let times = times(timestamps, elements.len())?;
        let features = ids(wanted.iter().copied());
        let asked = Values { features: &features, times, holes: false };
        let stamps = elements.len().saturating_mul(features.len());
        let mut growing = self.growing(stamps, 18 * stamps as u64 + 64 * features.len() as u64)?;
        let mut found = vec![Sparse::default(); features.len()];
        let mut timestamps = Vec::with_capacity(stamps);
        self.with(|worker| {
            elements.values(&worker.sampler, &asked, |at, feature, value| {
                timestamps.push(value.map_or(ABSENT, |value| value.created));
                if let Some(value) = value.filter(|value| value.bytes.len() > NO_POINTS)
                    && let Some(found) = found.get_mut(feature)
                {
                    // The position of the element precedes each point: at most as many bytes as the coordinates.
                    growing.take(value.bytes.len().saturating_mul(2))?;
                    one_dimension(wanted.get(feature), found, value.bytes)?;
                    found.push(at, value.bytes)?;
                }
                Ok(())
            })
        })?;
        let mut reply = SparseFeaturesReply { timestamps, ..SparseFeaturesReply::default() };
        for found in found {
            reply.dimensions.push(i64::from(found.dimensions));
            reply.indices_counts.push(wide(found.indices.len()));
            reply.values_counts.push(wide(found.values.len()));
            reply.indices.extend(found.indices);
            reply.values.extend(found.values);
        }
        Ok(Answer { reply, memory: growing.memory })
    }

    fn strings(
        &self,
        elements: Elements<'_>,
        wanted: &[i32],
        timestamps: &[i64],
    ) -> Result<Answer<StringFeaturesReply>, Status> {
        let times = times(timestamps, elements.len())?;
        let features = ids(wanted.iter().copied());
        let asked = Values { features: &features, times, holes: false };
        let each = elements.len().saturating_mul(features.len());
        let mut growing = self.growing(each, 36 * each as u64)?;
        let mut reply = StringFeaturesReply { dimensions: Vec::with_capacity(each), ..StringFeaturesReply::default() };
        let StringFeaturesReply { values, dimensions, timestamps } = &mut reply;
        let mut start = 0;
        self.with(|worker| {
            elements.values(&worker.sampler, &asked, |_, feature, value| {
                if feature == 0 {
                    start = timestamps.len();
                }
                let bytes = value.map_or(&[][..], |value| value.bytes);
                growing.take(bytes.len())?;
                values.extend_from_slice(bytes);
                dimensions.push(wide(bytes.len()));
                // Clients expect a time for each text that exists. Without times all are 0, and the published server's −1 between them
                // have no effect; at a time, they would shift the others.
                if times.is_none() || !bytes.is_empty() {
                    timestamps.push(value.map_or(ABSENT, |value| value.created));
                }
                if feature + 1 == features.len() && timestamps[start..].iter().all(|created| *created < 0) {
                    timestamps.truncate(start);
                }
                Ok(())
            })
        })?;
        Ok(Answer { reply, memory: growing.memory })
    }

    /// Reserves memory for a reply with a number for each feature of each element, and for its growth.
    fn growing(&self, numbers: usize, bytes: u64) -> Result<Growing, Status> {
        if numbers as u64 > self.served.limits.reply / 8 {
            return Err(too_much("features of elements", numbers, self.served.limits.reply / 8));
        }
        Ok(Growing { memory: self.room(bytes)?, used: bytes, limit: self.served.limits.reply })
    }
}
