//! Requests to the DeepGNN server: the first byte of an input selects a call, the second an engine, the rest is the message.

use std::collections::BTreeSet;
use std::sync::Arc;

use isomorph::Location;
use isomorph::sampling::{Generator, Graph, GraphOptions};
use isomorph::storage::{Budget, Scratch};
use isomorph_server::wire::*;
use isomorph_server::{Engine, Limits};
use prost::Message;
use tempfile::TempDir;

use crate::deepgnn::template;
use crate::home::home;

/// Memory for requests and replies.
const MEMORY: u64 = 64 << 20;

/// Nodes that exist, that are only ends of edges, and that do not exist.
const NODES: [i64; 5] = [1, 2, 5, 9, 1 << 40];

thread_local! {
    static ENGINES: Vec<(Engine, TempDir)> = engines();
}

/// A graph with times and all kinds of features: one partition and two, and the draws of both generators. Tables for drawing are opened when
/// they are needed.
fn engines() -> Vec<(Engine, TempDir)> {
    let limits = Limits { reply: 8 << 20, batch: 5000, count: 500, edges: 1 << 20, ..Limits::default() };
    let opened = |partitions: u32| {
        let home = home();
        let path = home.path().join("graph");
        std::fs::create_dir(&path).expect("a folder");
        for (name, bytes) in template(partitions) {
            std::fs::write(path.join(name), bytes).expect("a file");
        }
        let scratch = Scratch::new(Some(home.path())).expect("a place for temporary files");
        let options = GraphOptions::new(&Budget::new(MEMORY), &scratch);
        (Arc::new(Graph::open(&Location::from_path(&path), &options).expect("a sound binary")), home)
    };
    let engine = |(graph, home), generator| (Engine::new(&graph, None, generator, &limits, &Budget::new(MEMORY)), home);
    vec![
        engine(opened(1), Generator::Compat),
        engine(opened(2), Generator::Compat),
        engine(opened(2), Generator::Stable),
    ]
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let (node_ids, edge_types) = (NODES.to_vec(), vec![0, 1]);
    let (ends, types) = (vec![1, 1, 5, 2, 9, 1], vec![0, 1, 1]);
    let timestamps = vec![3; NODES.len()];
    let features = vec![FeatureInfo { id: 0, size: 8 }, FeatureInfo { id: 2, size: 4 }];
    let of_nodes =
        NodeSparseFeaturesRequest { node_ids: node_ids.clone(), feature_ids: vec![0, 1, 2], timestamps: vec![] };
    let of_edges = EdgeSparseFeaturesRequest {
        node_ids: ends.clone(),
        types: types.clone(),
        feature_ids: vec![0, 1],
        ..Default::default()
    };
    let near = NeighborsRequest {
        node_ids: node_ids.clone(),
        edge_types: edge_types.clone(),
        timestamps: timestamps.clone(),
        return_edge_created_ts: true,
    };
    let weighted = WeightedNeighborsRequest {
        seed: 7,
        node_ids: node_ids.clone(),
        edge_types: edge_types.clone(),
        count: 3,
        default_node_id: -7,
        ..Default::default()
    };
    let uniform = UniformNeighborsRequest {
        seed: 7,
        node_ids: node_ids.clone(),
        edge_types: edge_types.clone(),
        count: 3,
        default_node_id: -7,
        without_replacement: true,
        timestamps: timestamps.clone(),
        ..Default::default()
    };
    let create = CreateRequest { types: edge_types.clone(), is_edge: true, category: 0 };
    // The number of the sampler of `create`: edges, by weight, types 0 and 1.
    let sample = SampleRequest { sampler_id: 1 | 0b11 << 3, seed: 1, count: 4, is_edge: true };
    let messages = [
        Empty {}.encode_to_vec(),
        NodeTypesRequest { node_ids: node_ids.clone() }.encode_to_vec(),
        NodeFeaturesRequest { node_ids: node_ids.clone(), features: features.clone(), timestamps: vec![] }
            .encode_to_vec(),
        EdgeFeaturesRequest { node_ids: ends, types, features, timestamps: vec![] }.encode_to_vec(),
        of_nodes.encode_to_vec(),
        of_edges.encode_to_vec(),
        of_nodes.encode_to_vec(),
        of_edges.encode_to_vec(),
        near.encode_to_vec(),
        near.encode_to_vec(),
        LastNeighborsRequest { node_ids, edge_types, timestamps, count: 2 }.encode_to_vec(),
        weighted.encode_to_vec(),
        uniform.encode_to_vec(),
        create.encode_to_vec(),
        sample.encode_to_vec(),
    ];
    assert_eq!(messages.len(), Engine::PATHS.len());
    let numbered = messages.iter().zip(0u8..);
    numbered.flat_map(|(message, call)| (0..3u8).map(move |engine| [&[call, engine][..], message].concat())).collect()
}

pub(crate) fn check(data: &[u8]) {
    let [call, engine, message @ ..] = data else { return };
    let path = Engine::PATHS[usize::from(*call) % Engine::PATHS.len()];
    ENGINES.with(|engines| {
        let (engine, _) = &engines[usize::from(*engine) % engines.len()];
        match (engine.answer(path, message), engine.answer(path, message)) {
            (Ok(first), Ok(second)) => {
                assert_eq!(first, second, "{path}: two answers to one request");
                fits(engine, path, message, &first);
            }
            (Err(first), Err(second)) => {
                assert_eq!((first.code(), first.message()), (second.code(), second.message()));
                assert!(!first.message().is_empty(), "{path}: {first:?}");
                // INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, FAILED_PRECONDITION; DATA_LOSS for features that are not sparse.
                let code = first.code() as i32;
                assert!([3, 5, 8, 9].contains(&code) || code == 15 && path.contains("Sparse"), "{path}: {first:?}");
            }
            (first, second) => panic!("{path}: {first:?}, then {second:?}"),
        }
    });
}

fn decoded<M: Message + Default>(bytes: &[u8]) -> M {
    M::decode(bytes).expect("a message of this type")
}

fn total(counts: &[u64]) -> usize {
    counts.iter().sum::<u64>() as usize
}

fn sum(counts: &[i64]) -> usize {
    counts.iter().map(|count| usize::try_from(*count).expect("a number of bytes")).sum()
}

/// Fails unless the lists of a reply have the lengths that clients rely on, and what was drawn are neighbours.
fn fits(engine: &Engine, path: &str, request: &[u8], reply: &[u8]) {
    match path.rsplit('/').next().unwrap_or_default() {
        "GetNodeTypes" => {
            let (asked, told): (NodeTypesRequest, NodeTypesReply) = (decoded(request), decoded(reply));
            assert_eq!(told.types.len(), told.offsets.len());
            assert!(told.offsets.is_sorted_by(|a, b| a < b));
            assert!(told.offsets.iter().all(|at| NODES.contains(&asked.node_ids[*at as usize])));
        }
        "GetNodeFeatures" => {
            let asked: NodeFeaturesRequest = decoded(request);
            dense(asked.node_ids.len(), &asked.features, &decoded(reply));
        }
        "GetEdgeFeatures" => {
            let asked: EdgeFeaturesRequest = decoded(request);
            dense(asked.types.len(), &asked.features, &decoded(reply));
        }
        "GetNodeSparseFeatures" => {
            let asked: NodeSparseFeaturesRequest = decoded(request);
            sparse(asked.node_ids.len(), asked.feature_ids.len(), &decoded(reply));
        }
        "GetEdgeSparseFeatures" => {
            let asked: EdgeSparseFeaturesRequest = decoded(request);
            sparse(asked.types.len(), asked.feature_ids.len(), &decoded(reply));
        }
        "GetNodeStringFeatures" => {
            let asked: NodeSparseFeaturesRequest = decoded(request);
            strings(asked.node_ids.len() * asked.feature_ids.len(), &decoded(reply));
        }
        "GetEdgeStringFeatures" => {
            let asked: EdgeSparseFeaturesRequest = decoded(request);
            strings(asked.types.len() * asked.feature_ids.len(), &decoded(reply));
        }
        "GetNeighbors" => {
            let (asked, told): (NeighborsRequest, NeighborsReply) = (decoded(request), decoded(reply));
            assert_eq!(told.neighbor_counts.len(), asked.node_ids.len());
            let all = total(&told.neighbor_counts);
            assert_eq!((told.node_ids.len(), told.edge_weights.len(), told.edge_types.len()), (all, all, all));
            assert_eq!(told.timestamps.len(), if asked.return_edge_created_ts { all } else { 0 });
            assert!(told.edge_types.iter().all(|ty| asked.edge_types.contains(ty)));
            let counts = engine.answer("/snark.GraphEngine/GetNeighborCounts", request).expect("counts of a list");
            assert_eq!(decoded::<NeighborCountsReply>(&counts).neighbor_counts, told.neighbor_counts);
        }
        "GetNeighborCounts" => {
            let (asked, told): (NeighborsRequest, NeighborCountsReply) = (decoded(request), decoded(reply));
            assert_eq!(told.neighbor_counts.len(), asked.node_ids.len());
        }
        "GetLastNCreatedNeighbors" => {
            let (asked, told): (LastNeighborsRequest, NeighborsReply) = (decoded(request), decoded(reply));
            let count = usize::try_from(asked.count).expect("a count");
            let all = asked.node_ids.len() * count;
            assert_eq!((told.node_ids.len(), told.edge_weights.len(), told.edge_types.len()), (all, all, all));
            assert_eq!((told.timestamps.len(), told.neighbor_counts.len()), (all, asked.node_ids.len()));
            let near = |at: usize| near(engine, asked.node_ids[at], &asked.edge_types, asked.timestamps.get(at));
            for (at, valid) in told.neighbor_counts.iter().enumerate() {
                let (row, valid, near) = (&told.node_ids[at * count..(at + 1) * count], *valid as usize, near(at));
                assert_eq!(valid, near.1.min(count));
                assert!(row[..valid].iter().all(|id| near.0.contains(id)) && row[valid..].iter().all(|id| *id == -1));
            }
        }
        "WeightedSampleNeighbors" => {
            let (asked, told): (WeightedNeighborsRequest, WeightedNeighborsReply) = (decoded(request), decoded(reply));
            assert_eq!(told.shard_weights.len(), told.node_ids.len());
            assert_eq!(told.neighbor_weights.len(), told.neighbor_ids.len());
            let (count, default) = (asked.count as usize, asked.default_node_id);
            drawn(
                engine,
                &asked.node_ids,
                &asked.edge_types,
                &asked.timestamps,
                &told.node_ids,
                count,
                default,
                &told.neighbor_ids,
            );
        }
        "UniformSampleNeighbors" => {
            let (asked, told): (UniformNeighborsRequest, UniformNeighborsReply) = (decoded(request), decoded(reply));
            assert_eq!(told.shard_counts.len(), told.node_ids.len());
            assert_eq!(told.neighbor_types.len(), told.neighbor_ids.len());
            let (count, default) = (asked.count as usize, asked.default_node_id);
            drawn(
                engine,
                &asked.node_ids,
                &asked.edge_types,
                &asked.timestamps,
                &told.node_ids,
                count,
                default,
                &told.neighbor_ids,
            );
        }
        "Create" => {
            let (asked, told): (CreateRequest, CreateReply) = (decoded(request), decoded(reply));
            assert!(told.weight >= 0.0);
            let request = SampleRequest { sampler_id: told.sampler_id, is_edge: asked.is_edge, ..Default::default() };
            let sampled =
                engine.answer("/snark.GraphSampler/Sample", &request.encode_to_vec()).expect("an empty sample");
            assert_eq!(decoded::<SampleReply>(&sampled), SampleReply::default());
        }
        "Sample" => {
            let (asked, told): (SampleRequest, SampleReply) = (decoded(request), decoded(reply));
            let count = usize::try_from(asked.count).expect("a count");
            assert_eq!(told.types.len(), count);
            assert_eq!(told.node_ids.len(), if asked.is_edge { 2 * count } else { count });
        }
        _ => {}
    }
}

fn dense(elements: usize, features: &[FeatureInfo], told: &FeaturesReply) {
    let width: usize = features.iter().map(|feature| feature.size as usize).sum();
    assert_eq!(told.feature_values.len(), told.offsets.len() * width);
    assert_eq!(told.timestamps.len(), told.offsets.len() * features.len());
    assert!(told.offsets.is_sorted_by(|a, b| a < b) && told.offsets.iter().all(|at| (*at as usize) < elements));
}

fn sparse(elements: usize, features: usize, told: &SparseFeaturesReply) {
    assert_eq!(told.timestamps.len(), elements * features);
    assert_eq!(
        (told.dimensions.len(), told.indices_counts.len(), told.values_counts.len()),
        (features, features, features)
    );
    assert_eq!((sum(&told.indices_counts), sum(&told.values_counts)), (told.indices.len(), told.values.len()));
    let mut rest = told.indices.as_slice();
    for (dimensions, count) in told.dimensions.iter().zip(&told.indices_counts) {
        let (own, others) = rest.split_at(*count as usize);
        rest = others;
        assert!(*dimensions > 0 || own.is_empty());
        let mut points = own.chunks_exact(*dimensions as usize + 1);
        assert!(points.all(|point| (point[0] as usize) < elements));
        assert_eq!(count % (dimensions + 1), 0);
    }
}

fn strings(values: usize, told: &StringFeaturesReply) {
    assert_eq!(told.dimensions.len(), values);
    assert_eq!(sum(&told.dimensions), told.values.len());
}

/// The neighbours of a node at a time, and their number.
fn near(engine: &Engine, node: i64, types: &[i32], time: Option<&i64>) -> (BTreeSet<i64>, usize) {
    let timestamps = time.copied().into_iter().collect();
    let request =
        NeighborsRequest { node_ids: vec![node], edge_types: types.to_vec(), timestamps, ..Default::default() };
    let told =
        engine.answer("/snark.GraphEngine/GetNeighbors", &request.encode_to_vec()).expect("neighbours of a node");
    let told: NeighborsReply = decoded(&told);
    (told.node_ids.iter().copied().collect(), told.node_ids.len())
}

/// Fails unless the nodes with draws are the ones of the request that exist, in its order, and each draw is a neighbour or the default.
#[expect(clippy::too_many_arguments, reason = "the parts of two requests with different types")]
fn drawn(
    engine: &Engine,
    asked: &[i64],
    types: &[i32],
    times: &[i64],
    found: &[i64],
    count: usize,
    default: i64,
    told: &[i64],
) {
    // Node 9 is only an end of edges, and has no entry in the binary.
    let known = asked.iter().enumerate().filter(|(_, node)| NODES[..3].contains(node));
    let known: Vec<(usize, i64)> = known.map(|(at, node)| (at, *node)).collect();
    assert_eq!(known.iter().map(|(_, node)| *node).collect::<Vec<_>>(), found);
    assert_eq!(told.len(), found.len() * count);
    for ((at, node), row) in known.iter().zip(told.chunks(count.max(1))) {
        let near = near(engine, *node, types, times.get(*at));
        assert!(row.iter().all(|id| *id == default || near.0.contains(id)), "{row:?} of {near:?}");
    }
}
