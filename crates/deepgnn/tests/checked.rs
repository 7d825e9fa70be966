//! What `validate` says of binaries: of those of the published converter nothing, of damaged tables which and why.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{files, fixtures};
use isomorph_deepgnn::{DeepGnn, OpenOptions, rules};
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
    let Some(root) = fixtures() else { return };
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
    let Some(root) = fixtures() else { return };
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
        let told = findings.by_rule().flat_map(|(_, kept)| kept).find(|finding| finding.rule.id == rules::ALIAS.id);
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
    assert!(chance.contains("1.5 is no probability"), "{chance}");
    // Every edge alike, whatever its weight.
    let shares = change(&karate, "edge_0_0.alias", &|bytes| {
        bytes.chunks_exact_mut(36).for_each(|record| record[32..].copy_from_slice(&1f32.to_le_bytes()));
    });
    assert!(shares.contains("not those of their weights"), "{shares}");
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
