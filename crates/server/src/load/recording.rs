//! The requests that are sent: recorded ones, or the work of a trainer.

use std::collections::HashMap;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Result};
use prost::Message;
use serde::Deserialize;

use super::client::{Client, framed};
use crate::wire::{
    CreateReply, CreateRequest, FeatureInfo, MetadataReply, NeighborsRequest, NodeFeaturesRequest, NodeTypesRequest,
    SampleReply, SampleRequest, UniformNeighborsRequest, WeightedNeighborsRequest,
};

const CREATE: &str = "/snark.GraphSampler/Create";
const SAMPLE: &str = "/snark.GraphSampler/Sample";

/// Nodes of a batch, and number of batches with different nodes.
const BATCH: (usize, u64) = (1024, 16);

/// Neighbours that are drawn for each node.
const NEIGHBORS: i32 = 10;

/// Bytes of the feature that is requested: 64 floats.
const FEATURE: u32 = 256;

/// A file of recorded requests.
#[derive(Deserialize)]
struct File {
    calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    /// These are missing if the server that was recorded ended here.
    service: Option<String>,
    method: Option<String>,
    request_hex: Option<String>,
    reply_hex: Option<String>,
}

/// A request, as it is sent.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The path of the call.
    pub path: String,
    /// The framed message.
    pub bytes: Bytes,
}

/// Requests that were sent to a server before.
#[derive(Debug, Clone)]
pub struct Recording(Vec<Recorded>);

#[derive(Debug, Clone)]
struct Recorded {
    path: String,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Recording {
    /// Parses a JSON document `{calls: [{service, method, request_hex, reply_hex}]}` with messages in hexadecimal digits.
    ///
    /// # Errors
    /// Returns an error if the document is not that, or has no request.
    pub fn parse(text: &[u8]) -> Result<Recording> {
        let file: File = serde_json::from_slice(text)
            .map_err(|error| Error::malformed(format!("the requests are not valid: {error}")).caused_by(error))?;
        let mut calls = Vec::new();
        for (number, call) in file.calls.iter().enumerate() {
            let (Some(service), Some(method), Some(request)) = (&call.service, &call.method, &call.request_hex) else {
                continue;
            };
            let bytes = |hex: &str| {
                bytes_of(hex).ok_or_else(|| {
                    Error::malformed(format!("call {number}: a message must be pairs of hexadecimal digits"))
                })
            };
            calls.push(Recorded {
                path: format!("/{service}/{method}"),
                request: bytes(request)?,
                reply: bytes(call.reply_hex.as_deref().unwrap_or_default())?,
            });
        }
        if calls.iter().all(|call| call.path == CREATE) {
            return Err(Error::malformed("the file has no requests to replay"));
        }
        Ok(Recording(calls))
    }

    /// Creates the samplers of the recording, once, and returns its other requests with the numbers that this server uses.
    pub(super) async fn prepare(&self, client: &Client) -> Result<Vec<Prepared>> {
        let mut samplers = HashMap::new();
        for call in self.0.iter().filter(|call| call.path == CREATE) {
            let theirs: CreateReply = decoded(&call.reply)?;
            let ours: CreateReply = ask(client, CREATE, &call.request).await?;
            samplers.insert(theirs.sampler_id, ours.sampler_id);
        }
        let others = self.0.iter().filter(|call| call.path != CREATE);
        let prepared = others.map(|call| {
            let bytes = if call.path == SAMPLE {
                let mut request: SampleRequest = decoded(&call.request)?;
                request.sampler_id = samplers.get(&request.sampler_id).copied().unwrap_or(request.sampler_id);
                framed(&request.encode_to_vec())
            } else {
                framed(&call.request)
            };
            Ok(Prepared { path: call.path.clone(), bytes })
        });
        prepared.collect()
    }
}

/// Returns what a trainer requests of the graph that is served: nodes, their neighbours, types and features.
pub(super) async fn of_a_trainer(client: &Client) -> Result<Vec<Prepared>> {
    let metadata: MetadataReply = ask(client, "/snark.GraphEngine/GetMetadata", &[]).await?;
    let types = |number: u64| (0..i32::try_from(number).unwrap_or(i32::MAX)).collect::<Vec<i32>>();
    let (node_types, edge_types) = (types(metadata.node_types), types(metadata.edge_types));
    // Uniformly: every graph allows it, whatever its weights.
    let request = CreateRequest { types: node_types, category: 1, ..CreateRequest::default() };
    let created: CreateReply = ask(client, CREATE, &request.encode_to_vec()).await?;
    let mut prepared = Vec::new();
    for seed in 0..BATCH.1 {
        let count = i32::try_from(BATCH.0).unwrap_or(i32::MAX);
        let seed = seed.cast_signed();
        let sample = SampleRequest { sampler_id: created.sampler_id, seed, count, ..SampleRequest::default() };
        let drawn: SampleReply = ask(client, SAMPLE, &sample.encode_to_vec()).await?;
        let (node_ids, edge_types) = (drawn.node_ids, edge_types.clone());
        let mut add = |path: &str, message: Vec<u8>| {
            prepared.push(Prepared { path: path.to_owned(), bytes: framed(&message) });
        };
        add(SAMPLE, sample.encode_to_vec());
        let request = NodeTypesRequest { node_ids: node_ids.clone() };
        add("/snark.GraphEngine/GetNodeTypes", request.encode_to_vec());
        let request =
            NeighborsRequest { node_ids: node_ids.clone(), edge_types: edge_types.clone(), ..Default::default() };
        add("/snark.GraphEngine/GetNeighborCounts", request.encode_to_vec());
        let request = UniformNeighborsRequest {
            seed,
            node_ids: node_ids.clone(),
            edge_types: edge_types.clone(),
            count: NEIGHBORS,
            ..Default::default()
        };
        add("/snark.GraphEngine/UniformSampleNeighbors", request.encode_to_vec());
        let request = WeightedNeighborsRequest {
            seed,
            node_ids: node_ids.clone(),
            edge_types,
            count: NEIGHBORS,
            ..Default::default()
        };
        add("/snark.GraphEngine/WeightedSampleNeighbors", request.encode_to_vec());
        if metadata.node_features > 0 {
            let features = vec![FeatureInfo { id: 0, size: FEATURE }];
            let request = NodeFeaturesRequest { node_ids, features, timestamps: Vec::new() };
            add("/snark.GraphEngine/GetNodeFeatures", request.encode_to_vec());
        }
    }
    Ok(prepared)
}

async fn ask<E: Message + Default>(client: &Client, path: &str, request: &[u8]) -> Result<E> {
    let answered = client.call(path, framed(request), &[]).await?;
    if answered.status != 0 {
        let message = format!("the server refused {path}: {} (status {})", answered.text, answered.status);
        return Err(Error::new(Kind::Io, message));
    }
    decoded(&answered.body)
}

fn decoded<E: Message + Default>(bytes: &[u8]) -> Result<E> {
    E::decode(bytes).map_err(|error| Error::malformed(format!("a message is not valid: {error}")).caused_by(error))
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
