//! annnet: conversion of hyperedges, layers and slices to formats with only nodes and edges, and reading these through
//! the sidecar.

use crate::support::{Home, fixture};

/// Graphs that GraphAr and NOCK can store, including hyperedges and groups.
const HELD: [&str; 14] = [
    "empty/graph.annnet.d",
    "one_node/graph.annnet.d",
    "plain_directed/graph.annnet.d",
    "plain_undirected/graph.annnet.d",
    "direction_none/graph.annnet.d",
    "everything_flat/graph.annnet",
    "everything_multilayer/graph.annnet.d",
    "everything_multilayer/graph_matrix.annnet.d",
    "aspects_without_nodes/graph.annnet.d",
    "jsonlike_ids_lossy/graph.annnet.d",
    "legacy_vertex_words/graph.annnet.d",
    "v1_0.1.1/flat/graph.annnet",
    "v1_0.1.1/multilayer/graph.annnet.d",
    "v2_vertex_words/multilayer/graph.annnet.d",
];

#[test]
fn graphs_are_written_as_nodes_and_edges_and_are_the_same_graphs_with_their_carries() {
    for name in HELD {
        let graph = fixture(&format!("annnet/{name}"));
        let home = Home::new();
        for (to, destination, back) in [("graphar", "g", "b.parq"), ("nock", "n.parq", "b")] {
            let done = home.run(&["convert", &graph, destination, "--to", to]);
            assert!(
                done.code == 0 && done.out.contains("verified: output equals input"),
                "{name} {to}: {}{}",
                done.out,
                done.err
            );
            home.run(&["diff", &graph, destination, "--exact"]).exits(0);
            // Converted to the third format, it is still the annnet graph.
            let other = if to == "nock" { "graphar" } else { "nock" };
            let done = home.run(&["convert", destination, back, "--to", other]);
            assert_eq!(done.code, 0, "{name} {to} {other}: {}{}", done.out, done.err);
            home.run(&["diff", &graph, back, "--exact"]).exits(0);
            home.run(&["validate", destination, "--sidecar", "ignore"]).exits(0);
        }
    }
}

#[test]
fn the_layout_and_the_matrix_are_chosen() {
    let graph = fixture("annnet/everything_flat/graph.annnet");
    let home = Home::new();
    let ways: [(&str, &[&str], &str); 3] = [
        ("text", &["--to", "annnet", "--layout", "1.1", "--compression", "lz4"], "text/structure/edge_kind.parquet"),
        ("text.annnet", &["--layout", "1.1"], "text.annnet"),
        ("matrix", &["--to", "annnet", "--matrix"], "matrix/structure/incidence.zarr/data/zarr.json"),
    ];
    for (destination, flags, file) in ways {
        let done = home.run(&[&["convert", &graph, destination][..], flags].concat()).exits(0);
        assert!(done.out.contains("verified: output equals input"), "{destination}: {}", done.out);
        assert!(home.at(file).is_file(), "{file}");
        // The files store everything, so there is no sidecar.
        assert!(
            !done.out.contains("sidecar") && !home.at(&format!("{destination}/_isomorph")).exists(),
            "{}",
            done.out
        );
        home.run(&["diff", &graph, destination, "--exact"]).exits(0);
        home.run(&["validate", destination]).exits(0);
    }
    // A changed file is named.
    home.write("text/uns/graph_attributes.json", "{}");
    let done = home.run(&["digest", "text"]).exits(3);
    assert!(done.err.contains("ANNNET-CHECKSUM") && done.err.contains("graph_attributes.json"), "{}", done.err);
    home.run(&["convert", &graph, "g", "--to", "graphar", "--layout", "1.1"]).exits(2);
    home.run(&["convert", &graph, "b", "--to", "annnet", "--matrix", "--compression", "brotli"]).exits(2);
}

#[test]
fn a_plan_says_what_hyperedges_and_groups_become() {
    let graph = fixture("annnet/everything_multilayer/graph.annnet.d");
    let done = Home::new().run(&["convert", &graph, "g", "--to", "graphar", "--plan"]).exits(0);
    for words in ["hyperedges hyperedge", "hyperedge_head", "groups slice", "source_layer", "uns"] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
}

#[test]
fn attributes_of_every_type_have_a_line() {
    let graph = fixture("annnet/attr_types/graph.annnet.d");
    let done = Home::new().run(&["dump", &graph]).exits(0);
    let nodes: Vec<serde_json::Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |name: &str| nodes.iter().any(|line| line["properties"].get(name).is_some());
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(format!("{graph}/../expected.json")).unwrap()).unwrap();
    let mut names = 0;
    for attributes in expected["node_attributes"].as_object().unwrap().values() {
        for name in attributes.as_object().unwrap().keys() {
            assert!(has(name), "{name}");
            names += 1;
        }
    }
    assert!(names > 10, "{names}");
}

#[test]
fn hyperedges_that_are_expanded_or_skipped_are_lost_with_numbers() {
    let graph = fixture("annnet/everything_flat/graph.annnet.d");
    let home = Home::new();
    let done = home.run(&["convert", &graph, "pairs", "--to", "graphar", "--hyperedges", "expand"]).exits(0);
    // One of five hyperedges has a single member; h_stoich has coefficients.
    for words in ["edges hyperedge", "coefficients of members", "which have fewer than two members", "not verified"] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
    assert!(!home.at("pairs/_isomorph").exists());
    let dumped = home.run(&["dump", "pairs"]).exits(0).out;
    let pairs =
        dumped.lines().filter(|line| line.contains("\"relation\":\"hyperedge\"") || line.contains("\"hyperedge\":\"h"));
    assert!(pairs.count() > 5, "{dumped}");
    let done = home.run(&["convert", &graph, "without.parq", "--hyperedges", "skip", "--json"]).exits(0);
    let lost = done.json()["certificate"]["lost"].to_string();
    assert!(lost.contains("hyperedges hyperedge with") && done.json()["certificate"]["equal"].is_null(), "{lost}");
    let done = home.run(&["convert", &graph, "again.annnet", "--hyperedges", "skip"]).exits(2);
    assert!(done.err.contains("annnet has hyperedges"), "{}", done.err);
    assert_eq!(home.names(), ["pairs", "without.parq"]);
}
