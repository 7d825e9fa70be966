//! Requests without recorded answers.

use std::sync::Arc;

use isomorph_sampling::{Generator, Graph, GraphOptions};
use isomorph_server::wire::*;
use isomorph_server::{Engine, Limits};
use isomorph_storage::{Location, Scratch};

use crate::graphs::{budget, engine, opened};

#[test]
fn a_server_that_begins_anew_knows_its_samplers() {
    let request = CreateRequest { types: vec![0, 2], category: 2, ..Default::default() };
    let created = engine("hetero/bin_linear_p3", Some(vec![1, 2])).create(request).unwrap().reply;
    assert_eq!(created.weight, 4.0);
    let request = SampleRequest { sampler_id: created.sampler_id, count: 6, ..Default::default() };
    let drawn = engine("hetero/bin_linear_p3", Some(vec![1, 2])).sample(request).unwrap().reply;
    // Four nodes exist, and the others are missing from the reply.
    let mut nodes = drawn.node_ids.clone();
    nodes.sort_unstable();
    assert_eq!(nodes[..2], [-1, -1]);
    nodes.dedup();
    assert_eq!((nodes.len(), drawn.types[4..].to_vec()), (5, vec![-1, -1]));
}

#[test]
fn partitions_without_a_type_weigh_nothing() {
    // Edges of type 2 are in the first partition only.
    let engine = engine("hetero/bin_linear_p3", Some(vec![2]));
    let request = CreateRequest { types: vec![2], is_edge: true, ..Default::default() };
    let created = engine.create(request).unwrap().reply;
    assert_eq!(created.weight, 0.0);
    let request = SampleRequest { sampler_id: created.sampler_id, is_edge: true, ..Default::default() };
    assert_eq!(engine.sample(request.clone()).unwrap().reply, SampleReply::default());
    assert!(engine.sample(SampleRequest { count: 1, ..request }).is_err());
}

#[test]
fn partitions_that_there_are_not() {
    let location = Location::from_path(&isomorph_fixtures::fixture("deepgnn/hetero/bin_linear_p3"));
    let options = GraphOptions::new(&budget(), &Scratch::new(None).unwrap());
    for (partitions, words) in [(vec![3], "partition 3 not found"), (vec![0, 0], "given twice")] {
        let options = GraphOptions { partitions: Some(partitions), ..options.clone() };
        let Err(error) = Graph::open(&location, &options) else { panic!("{words}") };
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn the_stable_generator_has_weights_as_they_are_stored() {
    let graph = opened("hetero/bin_linear_p1", None);
    let engine = Engine::new(&Arc::clone(&graph), None, Generator::Stable, &Limits::default(), &budget());
    let request = NeighborsRequest { node_ids: vec![10], edge_types: vec![0], ..Default::default() };
    assert_eq!(engine.neighbors(request).unwrap().reply.edge_weights, [1.0, 0.3]);
    let request = WeightedNeighborsRequest {
        node_ids: vec![99, 10, 12],
        edge_types: vec![0],
        count: 2,
        default_node_id: -7,
        ..Default::default()
    };
    let reply = engine.weighted_neighbors(request).unwrap().reply;
    assert_eq!((reply.node_ids, reply.shard_weights), (vec![10, 12], vec![1.3, 0.0]));
    assert_eq!(reply.neighbor_ids[2..], [-7, -7]);
}
