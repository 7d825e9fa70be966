//! Reading a binary gives the same result as the published engine, and as the text.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt64Type};
use common::fixtures;
use isomorph_deepgnn::{DeepGnn, FeatureType, OpenOptions};
use isomorph_error::{Findings, Severity};
use isomorph_model::{Batch, EdgeBatch, Ends, MemoryGraph, NodeBatch, Request, Source, Tables};
use isomorph_storage::Location;
use serde_json::Value;

fn open(path: &Path, options: &OpenOptions) -> DeepGnn {
    DeepGnn::open(&Location::from_path(path), options).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

fn digest(graph: &DeepGnn) -> isomorph_model::digest::Digest {
    MemoryGraph::read(graph).unwrap().digest_table().unwrap().digest()
}

/// The files of two workers are read like those of one, whatever partitions each has.
#[test]
fn metadata_of_several_workers_is_read_as_one() {
    let root = common::fixtures();
    let whole = root.join("hetero/bin_linear_p3");
    let home = tempfile::tempdir().unwrap();
    let files = common::files(&whole);
    let meta: serde_json::Value = serde_json::from_slice(&files["meta.json"]).unwrap();
    for (name, bytes) in files.iter().filter(|(name, _)| *name != "meta.json") {
        std::fs::write(home.path().join(name), bytes).unwrap();
    }
    let share = |partitions: &[&str], nodes: u64, edges: u64, types: usize| {
        let mut own = meta.clone();
        (own["node_count"], own["edge_count"]) = (nodes.into(), edges.into());
        // A worker knows only the types that it has seen.
        own["edge_type_count"] = types.into();
        own["edge_count_per_type"].as_array_mut().unwrap().truncate(types);
        if !partitions.contains(&"0") {
            // The other worker has counted all of them.
            for counts in ["node_count_per_type", "edge_count_per_type"] {
                own[counts].as_array_mut().unwrap().fill(0.into());
            }
        }
        let all = own["partitions"].as_object_mut().unwrap();
        all.retain(|number, _| partitions.contains(&number.as_str()));
        all.values_mut().for_each(|of| of["edge_weight"].as_array_mut().unwrap().truncate(types));
        own.to_string()
    };
    let (nodes, edges) = (meta["node_count"].as_u64().unwrap(), meta["edge_count"].as_u64().unwrap());
    std::fs::write(home.path().join("meta_0.json"), share(&["0", "1"], 4, 7, 3)).unwrap();
    std::fs::write(home.path().join("meta_10.json"), share(&["2"], nodes - 4, edges - 7, 2)).unwrap();
    let read = |path: &std::path::Path| {
        let graph = DeepGnn::open(&Location::from_path(path), &OpenOptions::default()).unwrap();
        let mut findings = isomorph_error::Findings::keeping(8);
        isomorph_model::Source::validate(&graph, &mut findings).unwrap();
        assert_eq!(findings.count(&isomorph_deepgnn::rules::COUNTS), 0, "{findings:?}");
        MemoryGraph::read(&graph).unwrap().digest_table().unwrap().digest()
    };
    assert!(isomorph_deepgnn::detect(&Location::from_path(home.path())).unwrap());
    assert_eq!(read(home.path()), read(&whole));
    std::fs::write(home.path().join("meta_10.json"), share(&["1", "2"], nodes - 4, edges - 7, 3)).unwrap();
    let error = DeepGnn::open(&Location::from_path(home.path()), &OpenOptions::default()).err().unwrap();
    assert!(error.to_string().contains("partition 1 is that of another worker"), "{error}");
}

#[test]
fn a_text_and_its_binary_are_one_graph() {
    let root = fixtures();
    let raw = OpenOptions { raw: true, ..OpenOptions::default() };
    for (home, text, binaries) in [
        ("karate", "graph.linear", &["bin_linear_p1", "bin_linear_p3", "bin_edgelist_p3", "bin_linear_noalias"][..]),
        ("karate", "graph.tsv", &["bin_tsv_p3"]),
        ("hetero", "graph.linear", &["bin_linear_p1", "bin_linear_p3", "bin_edgelist_p3", "bin_json_p3"]),
        ("hetero", "graph.json", &["bin_json_p1", "bin_edgelist_p1"]),
    ] {
        let expected = digest(&open(&root.join(home).join(text), &raw));
        for binary in binaries {
            assert_eq!(digest(&open(&root.join(home).join(binary), &raw)), expected, "{home} {text} {binary}");
        }
    }
}

#[test]
fn the_four_formats_say_the_same() {
    let root = fixtures();
    for home in ["karate", "hetero"] {
        let formats =
            ["linear", "edgelist", "json", "tsv"].map(|format| root.join(home).join(format!("graph.{format}")));
        let all: Vec<_> = formats.iter().filter(|path| path.exists()).collect();
        let first = digest(&open(all[0], &OpenOptions::default()));
        for path in &all[1..] {
            assert_eq!(digest(&open(path, &OpenOptions::default())), first, "{}", path.display());
        }
    }
}

#[test]
fn types_that_are_declared_make_a_binary_say_what_its_text_says() {
    let root = fixtures();
    let of = |types: &[(u32, &str)]| -> Vec<(u32, FeatureType)> {
        types.iter().map(|(id, ty)| (*id, ty.parse().unwrap())).collect()
    };
    let options = OpenOptions {
        node_features: of(&[(0, "float32"), (1, "int64"), (2, "text")]),
        edge_features: of(&[(0, "float32")]),
        ..OpenOptions::default()
    };
    let binary = open(&root.join("karate/bin_linear_p3"), &options);
    let text = open(&root.join("karate/graph.tsv"), &OpenOptions::default());
    // Everything except the weights of nodes, which a binary does not store.
    let columns = |graph: &DeepGnn| {
        let mut names: Vec<_> =
            graph.graph().nodes[0].properties.iter().map(|property| property.name.clone()).collect();
        names.retain(|name| name != "weight");
        names
    };
    assert_eq!(columns(&binary), columns(&text));
    assert_eq!(nodes(&binary, &columns(&binary)), nodes(&text, &columns(&text)));
}

/// The rows of the nodes, sorted, as text.
fn nodes(graph: &DeepGnn, names: &[String]) -> Vec<String> {
    let properties = &graph.graph().nodes[0].properties;
    let mut rows = Vec::new();
    each(graph, |batch| {
        let Batch::Nodes(NodeBatch { rows: count, keys: Some(keys), properties: columns, .. }) = batch else { return };
        for row in 0..count {
            let mut text = format!("{}", keys.as_primitive::<UInt64Type>().value(row));
            for name in names {
                let at = properties.iter().position(|property| property.name == *name).unwrap();
                text.push_str(&format!(" {:?}", columns[at].as_ref().map(|column| column.slice(row, 1))));
            }
            rows.push(text);
        }
    });
    rows.sort();
    rows
}

fn each(graph: &DeepGnn, mut take: impl FnMut(Batch)) {
    for mut part in graph.scan(&Request::of(Tables::All)).unwrap() {
        part.read(&mut |batch| {
            take(batch);
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn neighbours_are_those_of_the_published_engine() {
    let root = fixtures();
    let mut compared = 0;
    for directory in [
        "karate/bin_linear_p1",
        "karate/bin_linear_p3",
        "karate/bin_edgelist_p3",
        "hetero/bin_linear_p1",
        "hetero/bin_edgelist_p3",
    ] {
        let path = root.join(directory);
        let Ok(text) = std::fs::read_to_string(path.with_extension("expected.json")) else { continue };
        let expected: Value = serde_json::from_str(&text).unwrap();
        let graph = open(&path, &OpenOptions::default());
        let ids: Vec<u64> = expected["known_ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
        let mut found: Vec<Vec<(u64, i64, f32)>> = vec![Vec::new(); ids.len()];
        each(&graph, |batch| {
            let Batch::Edges(EdgeBatch {
                source: Ends::Keys(source),
                target: Ends::Keys(target),
                relations,
                properties,
                rows,
                ..
            }) = batch
            else {
                return;
            };
            let relations = relations.unwrap();
            let (source, target) = (source.as_primitive::<UInt64Type>(), target.as_primitive::<UInt64Type>());
            let weights = properties[0].as_ref().unwrap().as_primitive::<Float32Type>().clone();
            for row in 0..rows {
                let ty = relations.names.value(relations.index.value(row) as usize).parse().unwrap();
                if let Some(at) = ids.iter().position(|id| *id == source.value(row)) {
                    found[at].push((target.value(row), ty, weights.value(row)));
                }
            }
        });
        let lists = expected["neighbors_all_types"].as_array().unwrap();
        for (ours, theirs) in found.iter().zip(lists) {
            let [targets, weights, types] = ["dst", "w", "t"].map(|key| numbers(&theirs[key]));
            assert_eq!(ours.len(), targets.len(), "{directory}: {theirs}");
            for (at, (target, ty, weight)) in ours.iter().enumerate() {
                let (dst, w, t) = (targets[at], weights[at], types[at]);
                assert_eq!((*target as f64, *ty as f64), (dst, t), "{directory}");
                // The engine stores cumulative sums, whose differences are inexact in the last digits.
                assert!((f64::from(*weight) - w).abs() < 1e-4, "{directory}: {weight} {w}");
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn sound_graphs_break_no_rule() {
    let root = fixtures();
    for path in [
        "karate/graph.tsv",
        "karate/graph.linear",
        "karate/bin_linear_p1",
        "karate/bin_edgelist_p3",
        "hetero/bin_json_p3",
    ] {
        let mut findings = Findings::default();
        open(&root.join(path), &OpenOptions::default()).validate(&mut findings).unwrap();
        assert_eq!(findings.worst().filter(|worst| *worst == Severity::Error), None, "{path}");
        // In the binary of an edge list, some partitions have nodes without an entry of their own.
        assert!(findings.by_rule().all(|(_, found)| found[0].rule.id == "DEEPGNN-EDGE-ORDER"), "{path}: {findings:?}");
    }
}

#[test]
fn packed_texts_directories_and_patterns() {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    let text = std::fs::read(root.join("karate/graph.tsv")).unwrap();
    let expected = digest(&open(&root.join("karate/graph.tsv"), &OpenOptions::default()));
    let cut = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(9).unwrap().0 + 1;
    let directory = home.path().join("parts");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("part-0.tsv"), &text[..cut]).unwrap();
    let end = text[cut + 400..].iter().position(|byte| *byte == b'\n').unwrap() + cut + 401;
    std::fs::write(directory.join("part-1.tsv.zst"), zstd::encode_all(&text[cut..end], 1).unwrap()).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &text[end..]).unwrap();
    std::fs::write(directory.join("part-2.tsv.gz"), gzip.finish().unwrap()).unwrap();
    for path in [directory.clone(), directory.join("part-*")] {
        assert_eq!(digest(&open(&path, &OpenOptions::default())), expected, "{}", path.display());
    }
    for (pattern, is_text) in [("part-*", true), ("none-*", false)] {
        assert_eq!(
            isomorph_deepgnn::detect(&Location::from_path(&directory.join(pattern))).unwrap(),
            is_text,
            "{pattern}"
        );
    }
    assert_ne!(digest(&open(&directory.join("part-?.tsv"), &OpenOptions::default())), expected);
    // A truncated gzip file is an error, not the end of the text.
    let half = std::fs::read(directory.join("part-2.tsv.gz")).unwrap();
    std::fs::write(directory.join("part-2.tsv.gz"), &half[..half.len() / 2]).unwrap();
    assert!(DeepGnn::open(&Location::from_path(&directory), &OpenOptions::default()).is_err());
}
