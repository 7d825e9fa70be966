//! Draws through the server have the probabilities that the text of the graph states, with both generators.

use std::collections::BTreeMap;
use std::sync::Arc;

use isomorph_sampling::Generator;
use isomorph_server::load::Client;
use isomorph_server::wire::*;
use isomorph_server::{Engine, Limits};
use serde_json::Value;

use crate::client::{call, connect};
use crate::graphs::{budget, opened};
use crate::running::{Running, run};

/// Number of draws.
const DRAWS: i32 = 20_000;

/// A graph as its text states it: nodes with type and weight; edges with source, target, type and weight.
struct Stated {
    nodes: Vec<(i64, i64, f64)>,
    edges: Vec<(i64, i64, i64, f64)>,
}

fn stated(graph: &str) -> Stated {
    let text = std::fs::read_to_string(isomorph_fixtures::fixture(format!("deepgnn/{graph}/graph.json"))).unwrap();
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let node: Value = serde_json::from_str(line).unwrap();
        let of = |value: &Value, name: &str| value[name].as_i64().unwrap();
        nodes.push((of(&node, "node_id"), of(&node, "node_type"), node["node_weight"].as_f64().unwrap()));
        for edge in node["edge"].as_array().unwrap() {
            let weight = edge["weight"].as_f64().unwrap();
            edges.push((of(edge, "src_id"), of(edge, "dst_id"), of(edge, "edge_type"), weight));
        }
    }
    Stated { nodes, edges }
}

/// Fails if counts differ from what these weights make likely: χ² beyond what happens once in a million times.
fn likely<K: Ord + std::fmt::Debug>(what: &str, drawn: impl Iterator<Item = K>, weights: BTreeMap<K, f64>) {
    let mut counts: BTreeMap<K, f64> = BTreeMap::new();
    drawn.for_each(|key| *counts.entry(key).or_default() += 1.0);
    let (total, draws): (f64, f64) = (weights.values().sum(), counts.values().sum());
    let mut chi = 0.0;
    for (key, count) in &counts {
        assert!(weights.get(key).is_some_and(|weight| *weight > 0.0), "{what}: {key:?} was drawn {count} times");
    }
    for (key, weight) in weights.iter().filter(|(_, weight)| **weight > 0.0) {
        let expected = draws * weight / total;
        chi += (counts.get(key).copied().unwrap_or(0.0) - expected).powi(2) / expected;
    }
    // Wilson and Hilferty's approximation of the quantile.
    let freedom = (weights.len().max(2) - 1) as f64;
    let limit = freedom * (1.0 - 2.0 / (9.0 * freedom) + 4.75 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
    assert!(chi <= limit, "{what}: χ² is {chi:.1}, above {limit:.1}: {counts:?}");
}

fn sums<K: Ord>(weights: impl Iterator<Item = (K, f64)>) -> BTreeMap<K, f64> {
    let mut sums = BTreeMap::new();
    weights.for_each(|(key, weight)| *sums.entry(key).or_default() += weight);
    sums
}

async fn neighbors(client: &Client, stated: &Stated, name: &str) {
    for &(node, ..) in &stated.nodes {
        let own: Vec<_> = stated.edges.iter().filter(|(source, ..)| *source == node).collect();
        if own.iter().map(|(.., weight)| weight).sum::<f64>() == 0.0 {
            continue;
        }
        let weighted = WeightedNeighborsRequest {
            seed: node,
            node_ids: vec![node],
            edge_types: vec![0, 1, 2],
            count: DRAWS,
            ..WeightedNeighborsRequest::default()
        };
        let reply = call::<WeightedNeighborsReply>(client, "/snark.GraphEngine/WeightedSampleNeighbors", &weighted);
        let reply = reply.await.unwrap();
        let drawn = reply.neighbor_ids.into_iter().zip(reply.neighbor_types.into_iter().map(i64::from));
        let weights = sums(own.iter().map(|(_, to, ty, weight)| ((*to, *ty), *weight)));
        likely(&format!("{name}: neighbours of {node} by weight"), drawn, weights);
        let uniform = UniformNeighborsRequest {
            seed: node,
            node_ids: vec![node],
            edge_types: vec![0, 1, 2],
            count: DRAWS,
            ..UniformNeighborsRequest::default()
        };
        let reply = call::<UniformNeighborsReply>(client, "/snark.GraphEngine/UniformSampleNeighbors", &uniform);
        let reply = reply.await.unwrap();
        let drawn = reply.neighbor_ids.into_iter().zip(reply.neighbor_types.into_iter().map(i64::from));
        let weights = sums(own.iter().map(|(_, to, ty, _)| ((*to, *ty), 1.0)));
        likely(&format!("{name}: neighbours of {node}, uniformly"), drawn, weights);
    }
}

async fn elements(client: &Client, stated: &Stated, name: &str) {
    for (category, what) in [(0, "by weight"), (1, "uniformly")] {
        let of = |weight: f64| if category == 0 { weight } else { 1.0 };
        for is_edge in [false, true] {
            let create = CreateRequest { types: vec![0, 1, 2], is_edge, category };
            let created = call::<CreateReply>(client, "/snark.GraphSampler/Create", &create).await.unwrap();
            let request = SampleRequest { sampler_id: created.sampler_id, seed: 11, count: DRAWS, is_edge };
            let drawn = call::<SampleReply>(client, "/snark.GraphSampler/Sample", &request).await.unwrap();
            let (ids, types) = (drawn.node_ids, drawn.types.into_iter().map(i64::from));
            if is_edge {
                let (sources, targets) = ids.split_at(ids.len() / 2);
                let drawn = sources.iter().copied().zip(targets.iter().copied()).zip(types);
                let edges = stated.edges.iter();
                let weights = sums(edges.map(|(from, to, ty, weight)| (((*from, *to), *ty), of(*weight))));
                likely(&format!("{name}: edges {what}"), drawn, weights);
            } else {
                let weights = sums(stated.nodes.iter().map(|(node, ty, weight)| ((*node, *ty), of(*weight))));
                likely(&format!("{name}: nodes {what}"), ids.into_iter().zip(types), weights);
            }
        }
    }
}

#[test]
fn draws_are_as_likely_as_weights_say() {
    for graph in ["hetero", "karate"] {
        let stated = stated(graph);
        for generator in [Generator::Compat, Generator::Stable] {
            for binary in ["bin_linear_p1", "bin_linear_p3"] {
                let name = format!("{graph}/{binary}, {generator:?}");
                let opened = Arc::clone(&opened(&format!("{graph}/{binary}"), None));
                let running = Running::of(Engine::new(&opened, None, generator, &Limits::default(), &budget()));
                run(async {
                    let client = connect(running.address).await;
                    neighbors(&client, &stated, &name).await;
                    elements(&client, &stated, &name).await;
                });
                running.stop();
            }
        }
    }
}
