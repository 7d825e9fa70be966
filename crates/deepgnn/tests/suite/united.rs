//! A node that is stated in several lines or partitions is one node.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_cast::display::array_value_to_string;
use common::{built, text};
use isomorph_deepgnn::{BuildOptions, DeepGnn, FeatureType, OpenOptions, rules};
use isomorph_error::Findings;
use isomorph_model::{Batch, Request, Source, Tables};
use isomorph_storage::{Budget, Location};

fn open(path: &Path, budget: u64) -> DeepGnn {
    let of = |(id, ty): (u32, &str)| (id, ty.parse::<FeatureType>().unwrap());
    let options = OpenOptions {
        budget: Budget::new(budget),
        node_features: [(0, "float32"), (1, "text")].map(of).to_vec(),
        ..OpenOptions::default()
    };
    DeepGnn::open(&Location::from_path(path), &options).unwrap()
}

/// Each node with its properties as text, by name; fails if a node is delivered twice.
fn nodes(graph: &DeepGnn, rows: usize) -> BTreeMap<u64, BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for mut part in graph.scan(&Request::of(Tables::Nodes(0)).in_batches_of(rows)).unwrap() {
        part.read(&mut |batch| {
            let Batch::Nodes(nodes) = batch else { panic!("no nodes") };
            assert!(nodes.rows <= rows);
            for row in 0..nodes.rows {
                let id = nodes.keys.as_ref().unwrap().as_primitive::<UInt64Type>().value(row);
                let own = graph.graph().nodes[0].properties.iter().zip(&nodes.properties);
                let own = own.filter_map(|(property, column)| {
                    let column = column.as_ref().filter(|column| arrow_array::Array::is_valid(column, row))?;
                    Some((property.name.clone(), array_value_to_string(column, row).unwrap()))
                });
                assert_eq!(found.insert(id, own.collect()), None, "node {id} twice");
            }
            Ok(())
        })
        .unwrap();
    }
    found
}

fn says(node: &BTreeMap<String, String>, name: &str) -> Option<String> {
    node.get(name).cloned()
}

/// Node 7 on three lines that contradict each other, node 9 on two, with edges on each.
const SPLIT: &str = "\
-1 7 1 1.5 uint8 0 binary_feature 1 seven 7 9 0 0.5
-1 9 0 1 float32 2 1 2
-1 7 2 2.5 float32 1 0.25 binary_feature 1 other 7 9 1 0.5
-1 5 0 1
-1 9 0 1 float32 2 1 2 binary_feature 1 nine
-1 7 1 1.5 float32 1 0.5 7 5 2 0.5
";

#[test]
fn of_each_property_the_first_value_counts() {
    let home = tempfile::tempdir().unwrap();
    let place = text(home.path(), "graph.linear", SPLIT, None);
    let of_text = open(&place, 1 << 30);
    for rows in [1, 2, 1000] {
        let found = nodes(&of_text, rows);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [5, 7, 9]);
        let seven = ["type", "weight", "0", "1"].map(|name| says(&found[&7], name).unwrap());
        assert_eq!(seven, ["1", "1.5", "[0.25]", "seven"]);
        assert_eq!(says(&found[&9], "1").as_deref(), Some("nine"));
        assert_eq!(says(&found[&5], "0"), None);
    }
    let edges: u64 = of_text
        .scan(&Request::of(Tables::Edges(0)))
        .unwrap()
        .into_iter()
        .flatten()
        .map(|batch| batch.unwrap().rows() as u64)
        .sum();
    assert_eq!(edges, 3);
    // With two partitions, lines 0 and 2 of node 7 are in the first and line 5 in the second.
    let binary = home.path().join("binary");
    let build = BuildOptions { partitions: 2, ..BuildOptions::default() };
    built(&place, &binary, &OpenOptions::default(), &build).unwrap();
    assert_eq!(nodes(&open(&binary, 1 << 30), 1000), nodes(&of_text, 1000));
}

#[test]
fn contradictions_are_named() {
    let home = tempfile::tempdir().unwrap();
    let place = text(home.path(), "graph.linear", SPLIT, None);
    let mut findings = Findings::keeping(8);
    open(&place, 1 << 30).validate(&mut findings).unwrap();
    let told = findings.by_rule().flat_map(|(_, kept)| kept).filter(|told| told.rule.id == rules::NODE_CONTRADICTED.id);
    let told: Vec<&str> = told.map(|told| told.message.as_str()).collect();
    let expected = ["type", "weight", "0", "1"].map(|name| format!("node 7 has several values of {name}"));
    assert_eq!(told, expected);
    assert_eq!(findings.count(&rules::NODE_REPEATED), 3);
}

/// Thousands of repeated nodes, and one with more statements than a batch has rows, with ample memory and with very
/// little.
#[test]
fn many_are_united_within_the_budget() {
    let home = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    let mut ids = BTreeSet::from([3]);
    for node in 0..20_000u64 {
        // A permutation, so that no ids ascend.
        let id = node * 7919 % 20_011 + 10;
        ids.insert(id);
        lines.push_str(&format!("-1 {id} 1 2 float32 2 {id} 0.5\n"));
    }
    for id in 10..10_010 {
        ids.insert(id);
        lines.push_str(&format!("-1 {id} 1 2 uint8 0 binary_feature 1 n{id}\n"));
    }
    for _ in 0..70_000 {
        lines.push_str("-1 3 0 1\n");
    }
    lines.push_str("-1 3 0 1 float32 1 8\n");
    let place = text(home.path(), "graph.linear", &lines, None);
    let expected = nodes(&open(&place, 1 << 30), 1 << 16);
    assert_eq!(expected.keys().copied().collect::<BTreeSet<_>>(), ids);
    assert_eq!(says(&expected[&3], "0").as_deref(), Some("[8.0]"));
    let both = expected.values().filter(|node| node.contains_key("0") && node.contains_key("1")).count();
    assert!((9_000..=10_000).contains(&both), "{both}");
    assert_eq!(nodes(&open(&place, 1 << 20), 1 << 10), expected);
    let binary = home.path().join("binary");
    let build = BuildOptions { partitions: 5, ..BuildOptions::default() };
    built(&place, &binary, &OpenOptions::default(), &build).unwrap();
    assert!(nodes(&open(&binary, 1 << 20), 1 << 12) == expected);
}
