//! Findings of `validate` for binaries: none for those of the published converter; for damaged tables, the table
//! and what is wrong.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt64Type};
use common::{files, fixtures};
use isomorph_deepgnn::{BuildOptions, DeepGnn, OpenOptions, rules};
use isomorph_error::Findings;
use isomorph_model::Source;
use isomorph_storage::{Budget, Location};

fn found(directory: &Path, budget: u64) -> Findings {
    let options = OpenOptions { budget: Budget::new(budget), ..OpenOptions::default() };
    let graph = DeepGnn::open(&Location::from_path(directory), &options).unwrap();
    let mut findings = Findings::keeping(8);
    graph.validate(&mut findings).unwrap_or_else(|error| panic!("{}: {error:?}", directory.display()));
    findings
}

#[test]
fn tables_of_the_published_converter_are_sound() {
    let root = fixtures();
    let mut seen = 0;
    for graph in ["karate", "hetero", "seed_linear", "seed_json", "seed_tsv"] {
        for entry in std::fs::read_dir(root.join(graph)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.join("meta.json").is_file() {
                for budget in [1 << 30, 0] {
                    let findings = found(&path, budget);
                    assert_eq!(findings.count(&rules::ALIAS), 0, "{}: {findings:?}", path.display());
                    assert_eq!(findings.count(&rules::NODE_REPEATED), 0, "{}: {findings:?}", path.display());
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 15, "{seen}");
}

#[test]
fn damaged_tables_are_named() {
    let root = fixtures();
    let whole = files(&root.join("hetero/bin_linear_p1"));
    let karate = files(&root.join("karate/bin_linear_p1"));
    let change = |files: &std::collections::BTreeMap<String, Vec<u8>>, name: &str, how: &dyn Fn(&mut Vec<u8>)| {
        let home = tempfile::tempdir().unwrap();
        for (file, bytes) in files {
            let mut bytes = bytes.clone();
            if file == name {
                how(&mut bytes);
                if bytes == b"gone" {
                    continue;
                }
            }
            std::fs::write(home.path().join(file), bytes).unwrap();
        }
        let findings = found(home.path(), 1 << 20);
        // The engine cannot open a binary without one of its tables; other tables it reads, whatever their content.
        let rule = if findings.count(&rules::FILE) > 0 { &rules::FILE } else { &rules::ALIAS };
        assert_eq!(rule.id == rules::FILE.id, !home.path().join(name).exists());
        let told = findings.by_rule().flat_map(|(_, kept)| kept).find(|finding| finding.rule.id == rule.id);
        let told = told.unwrap_or_else(|| panic!("{name}: {findings:?}"));
        assert!(told.place.file.as_deref().is_some_and(|file| file.ends_with(name)), "{told:?}");
        told.message.clone()
    };
    assert!(change(&whole, "edge_1_0.alias", &|bytes| *bytes = b"gone".to_vec()).contains("missing"));
    let short = change(&karate, "edge_0_0.alias", &|bytes| bytes.truncate(bytes.len() - 36));
    assert!(short.contains("ends before"), "{short}");
    let long = change(&karate, "edge_0_0.alias", &|bytes| bytes.extend([0; 36]));
    assert!(long.contains("bytes for 156 elements"), "{long}");
    let other = change(&karate, "edge_0_0.alias", &|bytes| bytes[8] ^= 1);
    assert!(other.contains("another element"), "{other}");
    let chance = change(&karate, "node_0_0.alias", &|bytes| bytes[16..20].copy_from_slice(&1.5f32.to_le_bytes()));
    assert!(chance.contains("1.5 is not a probability"), "{chance}");
    // One of two types has one node, which must have probability 1: otherwise the engine draws a node that does not
    // exist.
    let single = change(&files(&root.join("hetero/bin_json_p1")), "node_2_0.alias", &|bytes| {
        bytes.chunks_exact_mut(20).for_each(|record| record[16..].copy_from_slice(&0.25f32.to_le_bytes()));
    });
    assert!(single.contains("no record has the probability 1"), "{single}");
    // All edges are equal, whatever their weights.
    let shares = change(&karate, "edge_0_0.alias", &|bytes| {
        bytes.chunks_exact_mut(36).for_each(|record| {
            record[16..32].fill(0);
            record[32..].copy_from_slice(&1f32.to_le_bytes());
        });
    });
    assert!(shares.contains("not those of their weights"), "{shares}");
}

#[test]
fn sums_and_counts_that_are_not_those_of_the_partitions_are_named() {
    let root = fixtures();
    let whole = files(&root.join("hetero/bin_linear_p3"));
    let meta: serde_json::Value = serde_json::from_slice(&whole["meta.json"]).unwrap();
    let told = |change: &dyn Fn(&mut serde_json::Value)| {
        let home = tempfile::tempdir().unwrap();
        let mut meta = meta.clone();
        change(&mut meta);
        for (file, bytes) in &whole {
            std::fs::write(home.path().join(file), bytes).unwrap();
        }
        std::fs::write(home.path().join("meta.json"), meta.to_string()).unwrap();
        let findings = found(home.path(), 1 << 20);
        let rules = [&rules::SUMS, &rules::COUNTS];
        let told = findings.by_rule().flat_map(|(_, kept)| kept);
        told.filter(|finding| rules.iter().any(|rule| rule.id == finding.rule.id))
            .map(|finding| format!("{} {}", finding.rule.id, finding.place.field.clone().unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&|_| ()), Vec::<String>::new());
    let more = |value: &mut serde_json::Value| *value = serde_json::json!(value.as_f64().unwrap() + 0.5);
    assert_eq!(
        told(&|meta| more(&mut meta["partitions"]["1"]["edge_weight"][0])),
        ["DEEPGNN-SUMS partitions.1.edge_weight"]
    );
    assert_eq!(told(&|meta| meta["edge_count_per_type"][0] = 1.into()), ["DEEPGNN-COUNTS edge_count_per_type"]);
    assert_eq!(told(&|meta| meta["node_count_per_type"][1] = 99.into()), ["DEEPGNN-COUNTS node_count_per_type"]);
    assert!(told(&|meta| meta["node_type_count"] = 1.into()).contains(&"DEEPGNN-COUNTS node_type_count".to_owned()));
}

#[test]
fn the_old_metadata_is_compared_too() {
    let home = tempfile::tempdir().unwrap();
    let place = common::text(home.path(), "graph.linear", "-1 0 0 1.5 0 1 0 0.5 0 2 1 0.25\n-1 1 1 2\n", None);
    let out = home.path().join("out");
    common::built(&place, &out, &OpenOptions::default(), &isomorph_deepgnn::BuildOptions::default()).unwrap();
    std::fs::remove_file(out.join("meta.json")).unwrap();
    let sums = |sum: &str| {
        std::fs::write(
            out.join("meta.txt"),
            format!("v1\n2\n2\n2\n2\n0\n0\n1\n0\n1.5\n2.0\n{sum}\n0.25\n1\n1\n1\n1\n"),
        )
        .unwrap();
        found(&out, 1 << 20).count(&rules::SUMS)
    };
    assert_eq!((sums("0.5"), sums("0.75")), (0, 1));
    // Malformed metadata about types is reported.
    let told = |text: &str| {
        std::fs::write(out.join("meta.txt"), text).unwrap();
        let findings = found(&out, 1 << 20);
        let told = findings.by_rule().flat_map(|(_, kept)| kept).find(|finding| finding.rule.id == rules::META.id);
        told.map(|finding| (finding.place.line, finding.message.clone()))
    };
    let sound = "v1\n2\n2\n2\n2\n0\n0\n1\n0\n1.5\n2.0\n0.5\n0.25\n1\n1\n1\n1\n";
    assert_eq!(told(sound), None);
    let lines: Vec<&str> = sound.lines().collect();
    for (line, text, says) in [
        (9, "1", "found \"1\", expected partition 0"),
        (10, "x", "found \"x\", expected sum of weights"),
        (13, "nan", "found \"nan\", expected sum of weights"),
        (14, "-1", "found \"-1\", expected number of elements"),
        (17, "1.0", "found \"1.0\", expected number of elements"),
    ] {
        let mut changed = lines.clone();
        changed[line - 1] = text;
        assert_eq!(told(&changed.join("\n")), Some((Some(line as u64), says.to_owned())));
    }
    for (changed, count) in [(lines[..16].join("\n"), 8), (format!("{sound}1\n"), 10)] {
        assert_eq!(told(&changed), Some((None, format!("types and partitions need 9 lines, but there are {count}"))));
    }
}

/// The published engine searches the times of edges, and gives other answers if they are unsorted.
#[test]
fn times_of_edges_that_the_engine_does_not_expect_are_named() {
    let home = tempfile::tempdir().unwrap();
    let edge = |target: u64, ty: i32, created: i64, removed: i64| {
        format!(
            "{{\"src_id\":1,\"dst_id\":{target},\"edge_type\":{ty},\"weight\":1,\"created_at\":{created},\"removed_at\":{removed}}}"
        )
    };
    let edges = [edge(2, 0, 2, 8), edge(3, 0, 4, -1), edge(3, 1, 3, -1)].join(",");
    let node = |id: u64, edges: &str| {
        format!("{{\"node_id\":{id},\"node_type\":0,\"node_weight\":1.0,\"created_at\":1,\"edge\":[{edges}]}}\n")
    };
    let text = format!("{}{}{}", node(1, &edges), node(2, ""), node(3, ""));
    let place = common::text(home.path(), "graph.json", &text, None);
    let out = home.path().join("out");
    let options = BuildOptions { watermark: Some(10), ..BuildOptions::default() };
    common::built(&place, &out, &OpenOptions::default(), &options).unwrap();
    assert_eq!(found(&out, 1 << 20).count(&rules::TIME_ORDER), 0);
    let file = out.join("edge_0_0.timestamp");
    let sound = std::fs::read(&file).unwrap();
    // A byte, its new value, and the edge that is reported.
    for (byte, value, row, says) in [
        (8, 6, 1, "created at 4, but the previous edge at 6"),
        (8, 9, 0, "created at 9 and removed at 8"),
        (24, 1, 1, "created at 1, but the previous edge at 2"),
        (32, 0xfe, 1, "created at 4 and removed at -2"),
    ] {
        let mut bytes = sound.clone();
        bytes[byte] = value;
        std::fs::write(&file, bytes).unwrap();
        let findings = found(&out, 1 << 20);
        let told = findings.by_rule().flat_map(|(_, kept)| kept);
        let told: Vec<_> = told.filter(|finding| finding.rule.id == rules::TIME_ORDER.id).collect();
        assert!(told.iter().any(|told| told.message.contains(says) && told.place.row == Some(row)), "{told:?}");
        assert!(told[0].place.file.as_deref().is_some_and(|file| file.ends_with("edge_0_0.timestamp")));
    }
}

/// The first look-up reads all entries, later ones use binary search if entries are sorted: they find the same.
#[test]
fn later_look_ups_find_what_the_first_does() {
    let home = tempfile::tempdir().unwrap();
    // Sorted with repeated entries, sorted with gaps, and unsorted.
    let ids: [Vec<u64>; 3] = [
        (0..3000).map(|at| at / 200 * 2).collect(),
        (0..3000).map(|at| at * 3).collect(),
        (0..3000).map(|at| at * 7919 % 3001).collect(),
    ];
    for ids in &ids {
        let lines: String = ids.iter().enumerate().map(|(at, id)| format!("-1 {id} 0 1 {id} {at} 0 1\n")).collect();
        let place = common::text(home.path(), "graph.linear", &lines, None);
        for partitions in [1, 3] {
            let out = home.path().join("out");
            let options = isomorph_deepgnn::BuildOptions { partitions, ..Default::default() };
            common::built(&place, &out, &OpenOptions::default(), &options).unwrap();
            let open = || DeepGnn::open(&Location::from_path(&out), &OpenOptions::default()).unwrap();
            let used = open();
            let edges = |graph: &DeepGnn, id: &str| {
                let found = graph.neighbors(0, isomorph_model::NodeId::Key(id), isomorph_model::Side::Out);
                found
                    .and_then(isomorph_model::part::edge_batches)
                    .map(|batches| batches.iter().map(|batch| batch.rows).sum::<usize>())
                    .ok()
            };
            for id in [0, 1, 2, 3, 28, 29, 30, 200, 2999, 3000, 3001, 8997, 9000] {
                let wanted = ids.iter().filter(|other| **other == id).count();
                let wanted = (wanted > 0).then_some(wanted);
                let id = id.to_string();
                assert_eq!((edges(&open(), &id), edges(&used, &id)), (wanted, wanted), "{id}");
            }
        }
    }
}

#[test]
fn ids_are_compared_within_the_budget() {
    let home = tempfile::tempdir().unwrap();
    let lines: String = (0..3000).map(|id| format!("-1 {} 0 1 {} 5 0 1\n", id % 2999, id)).collect();
    let place = common::text(home.path(), "graph.linear", &lines, None);
    for budget in [1 << 30, 1 << 20] {
        let findings = found(&place, budget);
        // Node 0 is stated again, with an edge of 2999, which is never stated.
        assert_eq!(findings.count(&rules::NODE_REPEATED), 1, "{findings:?}");
        assert_eq!(findings.count(&rules::EDGE_END), 1, "{findings:?}");
    }
}

/// Weights of nodes are recovered from the tables of a binary without a sidecar, including those of the published
/// converter.
#[test]
fn weights_of_nodes_come_back_from_their_tables() {
    let of = |path: &std::path::Path| {
        let graph = DeepGnn::open(&Location::from_path(path), &OpenOptions::default()).unwrap();
        let mut found = std::collections::BTreeMap::new();
        for mut part in graph.scan(&isomorph_model::Request::of(isomorph_model::Tables::Nodes(0))).unwrap() {
            part.read(&mut |batch| {
                let isomorph_model::Batch::Nodes(batch) = batch else { return Ok(()) };
                let at = graph.graph().nodes[0].properties.iter().position(|property| property.name == "weight");
                let weights = at.map(|at| batch.properties[at].clone().unwrap());
                for (row, key) in batch.keys.unwrap().as_primitive::<UInt64Type>().values().iter().enumerate() {
                    let weight = weights.as_ref().map(|weights| weights.as_primitive::<Float32Type>().value(row));
                    found.insert(*key, weight);
                }
                Ok(())
            })
            .unwrap();
        }
        found
    };
    let fixtures = common::fixtures();
    for (text, binary) in [
        ("karate/graph.linear", "karate/bin_linear_p1"),
        ("karate/graph.linear", "karate/bin_linear_p3"),
        ("karate/graph.linear", "karate/bin_edgelist_p3"),
        ("hetero/graph.linear", "hetero/bin_linear_p1"),
        ("hetero/graph.linear", "hetero/bin_linear_p3"),
        ("seed_linear/graph_fixed.linear", "seed_linear/bin_fixed"),
        ("seed_tsv/graph_fixed.tsv", "seed_tsv/bin_fixed"),
    ] {
        assert_eq!(of(&fixtures.join(binary)), of(&fixtures.join(text)), "{binary}");
    }
    // Without tables they are lost, which is reported; if all weights are 1, none are shown.
    let home = tempfile::tempdir().unwrap();
    let bare = home.path().join("bare");
    std::fs::create_dir(&bare).unwrap();
    for (name, bytes) in files(&fixtures.join("hetero/bin_linear_p1")) {
        if !name.ends_with(".alias") {
            std::fs::write(bare.join(name), bytes).unwrap();
        }
    }
    let lost = DeepGnn::open(&Location::from_path(&bare), &OpenOptions::default()).unwrap();
    assert!(found(&bare, 1 << 30).is_empty(), "tables may be left out");
    assert_eq!(lost.about().findings.count(&rules::NODE_WEIGHTS), 1);
    assert!(lost.graph().nodes[0].properties.iter().all(|property| property.name != "weight"));
    let text = common::text(home.path(), "g.tsv", "0\t0\t1\n1\t0\t1\n2\t1\t1\n", None);
    common::built(&text, &home.path().join("out"), &OpenOptions::default(), &BuildOptions::default()).unwrap();
    assert_eq!(of(&home.path().join("out")).values().collect::<Vec<_>>(), [&None, &None, &None]);
    // A table for which no weights are found is reported, and nothing is guessed.
    let text = common::text(home.path(), "g.tsv", "0\t0\t1\n1\t0\t2\n2\t0\t4\n", None);
    common::built(&text, &home.path().join("out"), &OpenOptions::default(), &BuildOptions::default()).unwrap();
    assert_eq!(of(&home.path().join("out")).values().flatten().copied().collect::<Vec<f32>>(), [1.0, 2.0, 4.0]);
    let table = home.path().join("out/node_0_0.alias");
    let mut bytes = std::fs::read(&table).unwrap();
    bytes[8] ^= 0x40;
    std::fs::write(&table, bytes).unwrap();
    let damaged = DeepGnn::open(&Location::from_path(&home.path().join("out")), &OpenOptions::default()).unwrap();
    assert_eq!(damaged.about().findings.count(&rules::NODE_WEIGHTS), 1);
}

/// Data that the published engine uses and that reading the elements does not cover.
#[test]
fn what_the_engine_follows_is_checked() {
    let whole = files(&fixtures().join("hetero/bin_linear_p1"));
    let told = |name: &str, change: &dyn Fn(&mut Vec<u8>)| -> Vec<&'static str> {
        let home = tempfile::tempdir().unwrap();
        for (file, bytes) in &whole {
            let mut bytes = bytes.clone();
            if file == name {
                change(&mut bytes);
                assert_ne!(bytes, whole[file], "{name} is as it was");
            }
            std::fs::write(home.path().join(file), bytes).unwrap();
        }
        let graph = match DeepGnn::open(&Location::from_path(home.path()), &OpenOptions::default()) {
            Ok(graph) => graph,
            Err(error) => return vec![error.broken_rule().unwrap().id],
        };
        let mut findings = Findings::keeping(8);
        match graph.validate(&mut findings) {
            Ok(()) => findings.by_rule().map(|(_, found)| found[0].rule.id).collect(),
            Err(error) => vec![error.broken_rule().unwrap().id],
        }
    };
    let put = |at: usize, byte: u8| move |bytes: &mut Vec<u8>| bytes[at] = byte;
    let from_end = |back: usize, byte: u8| {
        move |bytes: &mut Vec<u8>| {
            let at = bytes.len() - back;
            bytes[at] ^= byte;
        }
    };
    // The number of an entry in the map.
    for entry in 0..6 {
        assert!(told("node_0_0.map", &put(20 * entry + 8, 77)).contains(&"DEEPGNN-BOUNDS"), "{entry}");
        assert!(told("node_0_0.map", &put(20 * entry + 15, 1)).contains(&"DEEPGNN-BOUNDS"), "{entry}");
    }
    for index in ["node_0_0.index", "node_features_0_0.index", "neighbors_0_0.index", "edge_features_0_0.index"] {
        assert!(told(index, &put(0, 1)).contains(&"DEEPGNN-BOUNDS"), "{index} begins behind its first element");
        assert!(told(index, &from_end(8, 1)).contains(&"DEEPGNN-BOUNDS"), "{index} ends elsewhere");
    }
    assert!(told("edge_0_0.index", &put(8, 1)).contains(&"DEEPGNN-BOUNDS"), "features before those of the first edge");
    // The record after the last edge: its target, the end of all features, its type, its weight.
    for back in [24, 16, 8, 4] {
        assert!(told("edge_0_0.index", &from_end(back, 1)).contains(&"DEEPGNN-BOUNDS"), "{back}");
    }
    // The alias of an element with probability 0 is in the population of the engine's uniform samplers.
    let certain = |bytes: &mut Vec<u8>| {
        let record = bytes.chunks_exact_mut(36).find(|record| record[32..] == 1f32.to_le_bytes());
        record.unwrap()[16] ^= 9;
    };
    assert!(told("edge_0_0.alias", &certain).contains(&"DEEPGNN-ALIAS"));
    let meta = |from: &str, to: &str| {
        let (from, to) = (from.to_owned(), to.to_owned());
        move |bytes: &mut Vec<u8>| {
            *bytes = String::from_utf8(std::mem::take(bytes)).unwrap().replace(&from, &to).into_bytes();
        }
    };
    for (from, to, rule) in [
        ("\"v2\"", "\"v1\"", "DEEPGNN-META"),
        ("watermark", "watermarx", "DEEPGNN-META"),
        ("node_count_per_type", "node_count_per_typo", "DEEPGNN-META"),
        ("edge_weight", "edge_weihgt", "DEEPGNN-META"),
        ("\"node_weight\": [", "\"node_weight\": [1, ", "DEEPGNN-META"),
        ("\"edge_feature_count\": ", "\"edge_feature_count\": 1", "DEEPGNN-COUNTS"),
        ("\"node_feature_count\": ", "\"node_feature_count\": 1", "DEEPGNN-COUNTS"),
    ] {
        assert!(told("meta.json", &meta(from, to)).contains(&rule), "{to}");
    }
}

/// If edges of a node belong to several entries or partitions, only the edges of each entry must be sorted.
#[test]
fn types_of_edges_begin_anew_with_each_entry() {
    let home = tempfile::tempdir().unwrap();
    let edges = "0,1,2,1\n0,0,2,1\n";
    let nodes = "0,-1,0,1\n0,1,2,1\n0,-1,0,1\n0,0,2,1\n";
    for (text, partitions) in [(edges, 2), (nodes, 1)] {
        let path = common::text(home.path(), "graph.edgelist", text, None);
        let out = home.path().join("out");
        let build = BuildOptions { partitions, ..BuildOptions::default() };
        common::built(&path, &out, &OpenOptions::default(), &build).unwrap();
        let found = found(&out, 1 << 30);
        assert_eq!(found.count(&rules::TYPE_ORDER), 0, "{found:?}");
    }
}
