//! Requests sent to published servers, and their replies, byte for byte.

use std::collections::HashMap;

use isomorph_server::Engine;
use isomorph_server::wire::*;
use prost::Message;
use serde_json::Value;
use tonic::{Code, Status};

use crate::graphs::engine;

pub fn bytes(call: &Value, field: &str) -> Option<Vec<u8>> {
    let text = call[field].as_str()?;
    Some((0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect())
}

/// The content of a file about a server: its data, its partitions, the calls.
pub fn recorded(file: &str) -> (String, Vec<u32>, Vec<Value>) {
    let text = std::fs::read_to_string(isomorph_fixtures::fixture(format!("deepgnn/grpc/{file}.json"))).unwrap();
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let numbers = recorded["partitions"].as_str().unwrap().split(',').map(|number| number.parse().unwrap()).collect();
    (recorded["data"].as_str().unwrap().to_owned(), numbers, recorded["calls"].as_array().unwrap().clone())
}

/// Replays the calls of a file, and returns their number.
fn replay(file: &str) -> usize {
    let (data, numbers, calls) = recorded(file);
    let engine = engine(&data, Some(numbers));
    let (mut samplers, mut refusals) = (HashMap::new(), 0);
    for (at, call) in calls.iter().enumerate() {
        let method = call["method"].as_str().unwrap();
        let Some(request) = bytes(call, "request_hex") else {
            // The published server ended here.
            let types = vec![77];
            let status = engine.create(CreateRequest { types, ..CreateRequest::default() }).unwrap_err();
            assert_eq!(status.code(), Code::FailedPrecondition);
            continue;
        };
        let expected = bytes(call, "reply_hex").unwrap();
        if mixes_dimensions(call) {
            let refused = engine.node_sparse(NodeSparseFeaturesRequest::decode(request.as_slice()).unwrap());
            assert_eq!(refused.unwrap_err().code(), Code::DataLoss);
            refusals += 1;
            continue;
        }
        let told = match method {
            // Numbers of samplers are the server's own.
            "Create" => {
                let mut created = engine.create(CreateRequest::decode(request.as_slice()).unwrap()).unwrap().reply;
                let theirs = CreateReply::decode(expected.as_slice()).unwrap().sampler_id;
                samplers.insert(theirs, created.sampler_id);
                created.sampler_id = theirs;
                created.encode_to_vec()
            }
            "Sample" => {
                let mut request = SampleRequest::decode(request.as_slice()).unwrap();
                request.sampler_id = samplers[&request.sampler_id];
                reply(&engine, method, &request.encode_to_vec()).unwrap()
            }
            _ => reply(&engine, method, &request).unwrap(),
        };
        assert_eq!(told, expected, "{file}, call {at}: {method} {}", call["request"]);
    }
    calls.len() - refusals
}

/// Returns whether points of one feature have different numbers of coordinates in a reply, which states only the last: its client decodes
/// other points than there are. Such a request is refused.
fn mixes_dimensions(call: &Value) -> bool {
    let numbers = |field: &str| -> Vec<i64> {
        let list = call["reply"][field].as_array().cloned().unwrap_or_default();
        list.iter().map(|number| number.as_str().unwrap().parse().unwrap()).collect()
    };
    let (dimensions, counts) = (numbers("dimensions"), numbers("indices_counts"));
    counts.iter().zip(dimensions).any(|(count, dimensions)| dimensions > 0 && count % (dimensions + 1) != 0)
}

/// Returns the reply to a call.
pub fn reply(engine: &Engine, method: &str, request: &[u8]) -> Result<Vec<u8>, Status> {
    let service = if ["Create", "Sample"].contains(&method) { "GraphSampler" } else { "GraphEngine" };
    engine.answer(&format!("/snark.{service}/{method}"), request)
}

#[test]
fn one_partition() {
    assert_eq!(replay("hetero_p1"), 21);
}

#[test]
fn one_of_three_partitions() {
    assert!(replay("hetero_p3_server0") > 15);
}

#[test]
fn two_of_three_partitions() {
    assert!(replay("hetero_p3_server1and2") > 15);
}

#[test]
fn nodes_that_only_stand_for_edges() {
    assert!(replay("hetero_edgelist_p3_server2") > 15);
}
