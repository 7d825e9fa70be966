//! Files that every version must read, and damaged copies of them that must not do harm.
//!
//! `UPDATE_GOLDEN=1 cargo test -p isomorph-nock --test golden` rewrites them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::path::{Path, PathBuf};

use common::graphs::{Data, Edge, Node};
use common::{assert_same, open, open_bytes, view};
use isomorph_error::{Findings, Kind};
use isomorph_model::Source;
use isomorph_nock::{By, CreateOptions, Format, OpenOptions, Partitioning, Tolerance, Types, detect};
use isomorph_storage::Location;
use isomorph_tables::Compression;
use serde_json::{Value, json};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// A small graph that uses every construct.
fn graph() -> Data {
    let object = |value: Value| value.as_object().unwrap().clone();
    let node = |name: &str, labels: &[&str], truth: f64, props: Value| Node {
        name: name.to_owned(),
        labels: labels.iter().map(|&label| label.to_owned()).collect(),
        truth,
        is_rdf: name.starts_with("urn:"),
        shadow: None,
        props: object(props),
        part: 0,
    };
    let edge = |source, rel: &str, target, truth, props: Value| Edge {
        source,
        rel: rel.to_owned(),
        target,
        truth,
        props: object(props),
    };
    Data {
        nodes: vec![
            node(
                "ann",
                &["Person", "Author"],
                1.0,
                json!({"age": 41, "tags": ["a", null, {"b": 1.5}], "big": u64::MAX}),
            ),
            node("bob \"B\", Jr.", &["Person"], 0.5, json!({"motto": "line\nbreak, \"quotes\""})),
            node("urn:tea", &[], 0.25, json!({})),
            node("東京 \u{1F5FC}", &["City name"], 0.0, json!({"größe": true})),
        ],
        edges: vec![
            edge(0, "knows", 1, 0.75, json!({"since": 2019})),
            edge(0, "knows", 1, 0.75, json!({"since": 2019})),
            edge(0, "likes", 2, 1.0, json!({})),
            edge(0, "", 0, 1.0, json!({"directed": false})),
            edge(1, "lives in", 3, 0.125, json!({})),
        ],
        double: false,
        part_column: false,
    }
}

/// The golden files: name and options.
fn files() -> Vec<(&'static str, CreateOptions)> {
    let options = CreateOptions::default;
    vec![
        ("specification.parq", options()),
        ("pynock.parq", CreateOptions { types: Types::Pynock, compression: Compression::Zstd(1), ..options() }),
        ("small_groups.parq", CreateOptions { row_group_rows: 3, compression: Compression::None, ..options() }),
        ("nested.parq", CreateOptions { nested_edges: true, ..options() }),
        ("nested_map.parq", CreateOptions { nested_edges: true, props_map: true, ..options() }),
        ("map.parq", CreateOptions { props_map: true, ..options() }),
        ("text.csv", CreateOptions { format: Format::Csv, ..options() }),
        ("sorted.csv", CreateOptions { format: Format::Csv, sort: true, ..options() }),
        ("parts", CreateOptions { partitions: Some(Partitioning { count: 2, by: By::Name }), ..options() }),
    ]
}

#[test]
fn every_golden_file_says_the_same() {
    let root = golden();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        for (name, options) in files() {
            graph().write(&root.join(name), &options, (3, 2)).unwrap();
        }
    }
    let mut bytes = 0;
    for (name, options) in files() {
        let path = root.join(name);
        let nock = open(&path, &OpenOptions::default().tolerance(Tolerance::Strict)).unwrap();
        assert_same(&view(&nock).unwrap(), &graph().view(), name);
        assert_eq!(detect(&Location::from_path(&path)).unwrap(), Some(options.format), "{name}");
        let mut findings = Findings::keeping(1);
        nock.validate(&mut findings).unwrap();
        let noted: Vec<_> = findings.by_rule().map(|(_, kept)| kept[0].rule.id).collect();
        assert!(noted.iter().all(|id| *id == "NOCK-FILE-TYPES"), "{name}: {noted:?}");
        bytes += nock.about().bytes;
    }
    assert!(bytes < 100 << 10, "{bytes}");
}

#[test]
fn text_is_written_byte_by_byte_as_before() {
    let home = tempfile::tempdir().unwrap();
    for (name, options) in files().into_iter().filter(|(_, options)| options.format == Format::Csv) {
        let path = home.path().join(name);
        graph().write(&path, &options, (1, 1)).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), std::fs::read(golden().join(name)).unwrap(), "{name}");
    }
}

/// Reads everything.
fn use_all(bytes: &[u8]) -> isomorph_error::Result<Value> {
    let nock = open_bytes(bytes.to_vec(), &OpenOptions::default())?;
    let seen = view(&nock);
    let _ = nock.validate(&mut Findings::keeping(1));
    let _ = nock.lookup("ann");
    let _ = nock.about();
    seen
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    for name in ["specification.parq", "nested_map.parq"] {
        let bytes = std::fs::read(golden().join(name)).unwrap();
        for cut in 0..bytes.len() {
            let error = use_all(&bytes[..cut]).unwrap_err();
            assert_eq!(error.kind().exit_code(), 3, "{name} cut at {cut}: {error:?}");
        }
    }
    // Text can be truncated after a row; elsewhere the last record is damaged.
    let bytes = std::fs::read(golden().join("text.csv")).unwrap();
    let whole = graph().view();
    for cut in 0..bytes.len() - 1 {
        match use_all(&bytes[..cut]) {
            Err(error) => assert_eq!(error.kind(), Kind::Malformed, "cut at {cut}: {error:?}"),
            Ok(seen) => assert_ne!(seen, whole, "cut at {cut}"),
        }
    }
}

#[test]
fn a_flipped_bit_does_no_harm() {
    for name in ["specification.parq", "small_groups.parq", "nested_map.parq", "text.csv"] {
        let bytes = std::fs::read(golden().join(name)).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            // An error or some graph, but no panic.
            if let Err(error) = use_all(&damaged) {
                assert!(matches!(error.kind().exit_code(), 2 | 3), "{name} flipped at {at}: {error:?}");
            }
        }
    }
}
