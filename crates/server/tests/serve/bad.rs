//! Invalid requests, and requests beyond a limit: each gets a status with a message.

use isomorph_server::wire::*;
use isomorph_server::{Answer, Limits};
use isomorph_storage::Budget;
use tonic::{Code, Status};

use crate::graphs::{budget, engine, limited};
use crate::replay;

fn refused<R: std::fmt::Debug>(code: Code, words: &str, answer: Result<Answer<R>, Status>) {
    let status = answer.unwrap_err();
    assert_eq!(status.code(), code, "{status:?}");
    assert!(status.message().contains(words), "{status:?}");
}

#[test]
fn counts_below_none_and_beyond_the_limit() {
    let engine = engine("hetero/bin_linear_p1", None);
    for (count, code, words) in [
        (-1, Code::InvalidArgument, "must not be negative"),
        (i32::MIN, Code::InvalidArgument, "must not be negative"),
        (i32::MAX, Code::ResourceExhausted, "the limit of this server is"),
    ] {
        let (node_ids, edge_types) = (vec![10], vec![0, 1, 2]);
        let request = WeightedNeighborsRequest {
            node_ids: node_ids.clone(),
            edge_types: edge_types.clone(),
            count,
            ..Default::default()
        };
        refused(code, words, engine.weighted_neighbors(request));
        let request = UniformNeighborsRequest { node_ids, edge_types, count, ..Default::default() };
        refused(code, words, engine.uniform_neighbors(request));
        let created = engine.create(CreateRequest { types: vec![0], ..Default::default() }).unwrap().reply;
        refused(
            code,
            words,
            engine.sample(SampleRequest { sampler_id: created.sampler_id, count, ..Default::default() }),
        );
    }
}

#[test]
fn lists_that_do_not_fit() {
    let engine = engine("hetero/bin_linear_p1", None);
    let edges = EdgeFeaturesRequest { node_ids: vec![10, 11, 12], types: vec![0], ..Default::default() };
    refused(Code::InvalidArgument, "all sources, then all targets", engine.edge_features(edges));
    let request = NeighborsRequest { node_ids: vec![10, 11], timestamps: vec![1], ..Default::default() };
    refused(Code::InvalidArgument, "1 timestamps for 2 elements", engine.neighbors(request));
    let request = NodeFeaturesRequest { node_ids: vec![10], timestamps: vec![1, 2], ..Default::default() };
    refused(Code::InvalidArgument, "2 timestamps for 1 elements", engine.node_features(request));
}

#[test]
fn features_that_are_not_what_is_asked_for() {
    let engine = engine("hetero/bin_linear_p1", None);
    // Its numbers are not points.
    let request = NodeSparseFeaturesRequest { node_ids: vec![10, 13], feature_ids: vec![0], ..Default::default() };
    assert_ne!(engine.node_sparse(request).map(|answer| answer.reply.dimensions).ok(), Some(vec![]));
    // A time of a feature without times.
    let features = vec![FeatureInfo { id: 0, size: 4 }];
    let request = NodeFeaturesRequest { node_ids: vec![10], features, timestamps: vec![1] };
    refused(Code::InvalidArgument, "without times", engine.node_features(request));
    // A feature that no element has is not an error.
    for id in [-1, i32::MIN, i32::MAX, 1 << 20] {
        let features = vec![FeatureInfo { id, size: 4 }];
        let request = NodeFeaturesRequest { node_ids: vec![10], features, timestamps: vec![] };
        assert_eq!(engine.node_features(request).unwrap().reply, FeaturesReply::default());
    }
    let features = vec![FeatureInfo { id: 0, size: u32::MAX }; 9];
    let request = NodeFeaturesRequest { node_ids: vec![10], features, timestamps: vec![] };
    refused(Code::ResourceExhausted, "the limit of this server", engine.node_features(request));
}

#[test]
fn samplers_that_there_are_not() {
    let engine = engine("hetero/bin_linear_p1", None);
    for category in [-1, 3, i32::MAX] {
        let request = CreateRequest { types: vec![0], category, ..Default::default() };
        refused(Code::InvalidArgument, "expected 0, 1 or 2", engine.create(request));
    }
    // The second type of nodes has no node.
    for (types, says) in [
        (vec![], "names no types"),
        (vec![77], "the graph has no nodes"),
        (vec![-1], "the graph has no nodes"),
        (vec![1], "the graph has no nodes"),
    ] {
        refused(Code::FailedPrecondition, says, engine.create(CreateRequest { types, ..Default::default() }));
    }
    for sampler_id in [0, 1, 7, u64::MAX] {
        refused(
            Code::NotFound,
            "Create returns numbers",
            engine.sample(SampleRequest { sampler_id, count: 1, ..Default::default() }),
        );
    }
    let created = engine.create(CreateRequest { types: vec![0], ..Default::default() }).unwrap().reply;
    let request = SampleRequest { sampler_id: created.sampler_id, count: 1, is_edge: true, ..Default::default() };
    refused(Code::InvalidArgument, "draws nodes, but edges were requested", engine.sample(request));
}

#[test]
fn the_latest_of_a_graph_without_times() {
    let engine = engine("hetero/bin_linear_p1", None);
    let request = LastNeighborsRequest { node_ids: vec![10], edge_types: vec![0], timestamps: vec![1], count: 1 };
    refused(Code::FailedPrecondition, "have no times", engine.last_neighbors(request));
}

#[test]
fn batches_of_nothing() {
    let engine = engine("hetero/bin_linear_p1", None);
    assert_eq!(engine.node_types(NodeTypesRequest::default()).unwrap().reply, NodeTypesReply::default());
    assert_eq!(engine.neighbors(NeighborsRequest::default()).unwrap().reply, NeighborsReply::default());
    assert_eq!(
        engine.node_strings(NodeSparseFeaturesRequest::default()).unwrap().reply,
        StringFeaturesReply::default()
    );
    let request = WeightedNeighborsRequest { count: 5, ..Default::default() };
    assert_eq!(engine.weighted_neighbors(request).unwrap().reply, WeightedNeighborsReply::default());
}

#[test]
fn more_than_a_reply_or_a_request_may_have() {
    let few = Limits { reply: 1000, ..Limits::default() };
    let engine = limited("hetero/bin_linear_p1", None, &few, &budget());
    let node_ids = vec![10; 100];
    let request =
        WeightedNeighborsRequest { node_ids: node_ids.clone(), edge_types: vec![0], count: 9, ..Default::default() };
    refused(Code::ResourceExhausted, "bytes of a reply", engine.weighted_neighbors(request));
    let request = NeighborsRequest { node_ids: node_ids.clone(), edge_types: vec![0], ..Default::default() };
    refused(Code::ResourceExhausted, "bytes of a reply", engine.neighbors(request));
    let request = NodeSparseFeaturesRequest { node_ids: vec![10; 10], feature_ids: vec![0, 2], ..Default::default() };
    refused(Code::ResourceExhausted, "limit of a reply", engine.node_strings(request));
    let few = Limits { edges: 10, ..Limits::default() };
    let engine = limited("hetero/bin_linear_p1", None, &few, &budget());
    let request = UniformNeighborsRequest { node_ids, edge_types: vec![0], count: 1, ..Default::default() };
    refused(Code::ResourceExhausted, "more than 10 edges", engine.uniform_neighbors(request));
    let engine = limited("hetero/bin_linear_p1", None, &Limits::default(), &Budget::new(100));
    refused(Code::ResourceExhausted, "try again", engine.node_types(NodeTypesRequest { node_ids: vec![10; 100] }));
}

#[test]
fn requests_with_a_damaged_byte_are_answered_or_refused() {
    let limits = Limits { reply: 1 << 20, batch: 1000, count: 1000, ..Limits::default() };
    for file in ["hetero_p1", "hetero_edgelist_p3_server2"] {
        let (data, numbers, calls) = replay::recorded(file);
        let budget = Budget::new(1 << 24);
        let engine = limited(&data, Some(numbers), &limits, &budget);
        let held = budget.used();
        let (mut answered, mut refused) = (0, 0);
        for call in &calls {
            let Some(request) = replay::bytes(call, "request_hex") else { continue };
            let method = call["method"].as_str().unwrap();
            let mut ask = |request: &[u8]| match replay::reply(&engine, method, request) {
                Ok(_) => answered += 1,
                Err(status) => {
                    assert!(status.code() != Code::Internal && !status.message().is_empty(), "{status:?}");
                    refused += 1;
                }
            };
            for at in 0..request.len() {
                ask(&request[..at]);
                for other in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                    let mut damaged = request.clone();
                    damaged[at] = other;
                    ask(&damaged);
                }
            }
        }
        assert!(answered > 100 && refused > 100, "{answered} answered, {refused} refused");
        // Samplers are kept.
        assert!(budget.used() - held < 1 << 16, "{budget:?}");
    }
}

/// The same numbers each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

/// Recorded requests with bytes changed, added, removed, and parts of other requests, as requests of any call: each is answered or refused
/// with a sentence, within the budget.
#[test]
fn requests_that_are_made_up_are_answered_or_refused() {
    let limits = Limits { reply: 1 << 20, batch: 1000, count: 1000, ..Limits::default() };
    let (data, numbers, calls) = replay::recorded("hetero_p3_server1and2");
    let budget = Budget::new(1 << 24);
    let engine = limited(&data, Some(numbers), &limits, &budget);
    let recorded =
        calls.iter().filter_map(|call| Some((call["method"].as_str()?, replay::bytes(call, "request_hex")?)));
    let (methods, requests): (Vec<&str>, Vec<Vec<u8>>) = recorded.unzip();
    let (mut dice, mut answered, mut refused) = (Dice(18), 0, 0);
    for _ in 0..20_000 {
        let number = dice.below(requests.len());
        let mut request = requests[number].clone();
        for _ in 0..=dice.below(4) {
            let at = dice.below(request.len() + 1);
            match dice.below(5) {
                0 if at < request.len() => request[at] = u8::try_from(dice.below(256)).unwrap(),
                1 if at < request.len() => drop(request.remove(at)),
                2 => request.insert(at, [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x1a][dice.below(8)]),
                // A varint of ten bytes, a large length, a large count.
                3 => drop(request.splice(at..at, [0xff; 9].into_iter().chain([u8::try_from(dice.below(3)).unwrap()]))),
                _ => {
                    let other = &requests[dice.below(requests.len())];
                    let from = dice.below(other.len() + 1);
                    request.truncate(at);
                    request.extend_from_slice(&other[from..]);
                }
            }
        }
        // One in four is sent to any call.
        let method = if dice.below(4) == 0 { methods[dice.below(methods.len())] } else { methods[number] };
        match replay::reply(&engine, method, &request) {
            Ok(_) => answered += 1,
            Err(status) => {
                assert!(status.code() != Code::Internal && !status.message().is_empty(), "{status:?}");
                refused += 1;
            }
        }
    }
    assert!(answered > 1000 && refused > 1000, "{answered} answered, {refused} refused");
    assert!(budget.peak() <= budget.limit(), "{budget:?}");
}
