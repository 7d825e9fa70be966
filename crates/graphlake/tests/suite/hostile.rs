//! Damaged and foreign stores: every rule is broken once, nothing panics, and what can be read is read.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::{Path, PathBuf};

use common::{broken, copy, fixtures, lines, open};
use isomorph_error::{Kind, Result};
use isomorph_graphlake::{GraphLake, OpenOptions, Order, Tolerance};
use isomorph_model::Source;
use serde_json::{Value, json};

const SNAPSHOT: &str = "snapshots/snapshot1.json";

/// A copy of the smallest store, whose metadata may be changed.
struct Lake {
    _home: tempfile::TempDir,
    path: PathBuf,
}

impl Lake {
    fn new() -> Lake {
        let home = copy(&fixtures().join("tiny"));
        Lake { path: home.path().join("lake"), _home: home }
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path.join(name)).unwrap()).unwrap()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path.join(name), bytes).unwrap();
    }

    /// The same with another snapshot.
    fn with(self, change: impl FnOnce(&mut Value)) -> Lake {
        let mut snapshot = self.json(SNAPSHOT);
        change(&mut snapshot);
        self.write(SNAPSHOT, snapshot.to_string());
        self
    }

    /// The same with other metadata of the file by subject of `bob`'s triple with two non-ASCII letters.
    fn with_file(self, change: impl FnOnce(&mut Value)) -> Lake {
        self.with(|snapshot| change(file(snapshot)))
    }

    fn with_store(self, change: impl FnOnce(&mut Value)) -> Lake {
        let mut store = self.json("store.json");
        change(&mut store);
        self.write("store.json", store.to_string());
        self
    }

    /// The path of the file that [`file`] describes.
    fn data(&self) -> PathBuf {
        self.path.join(file(&mut self.json(SNAPSHOT))["path"].as_str().unwrap())
    }

    fn broken(&self) -> Vec<&'static str> {
        broken(&self.path, &OpenOptions::default())
    }

    fn lines(&self, options: &OpenOptions) -> Result<String> {
        lines(&open(&self.path, options)?, Order::Subject)
    }
}

fn graph(snapshot: &mut Value) -> &mut Value {
    &mut snapshot["graphs"]["urn:x-arq:DefaultGraph"]
}

/// The file of names by subject: two records.
fn file(snapshot: &mut Value) -> &mut Value {
    let files = graph(snapshot)["so_data_files"].as_array_mut().unwrap();
    files.iter_mut().find(|file| file["predicate"] == "http://example.org/name").unwrap()
}

#[test]
fn every_rule_of_metadata_is_found() {
    type Change = fn(&mut Value);
    let cases: &[(&str, Change)] = &[
        ("GRAPHLAKE-SCHEMA", |snapshot| snapshot["extension"] = json!(1)),
        ("GRAPHLAKE-STORE-ENTRY", |snapshot| snapshot["timestamp"] = json!(5)),
        ("GRAPHLAKE-NUMBER-TEXT", |snapshot| snapshot["timestamp"] = json!("1700000060000")),
        ("GRAPHLAKE-INVERSE", |snapshot| file(snapshot)["is_inverse"] = json!(true)),
        ("GRAPHLAKE-PREDICATE", |snapshot| {
            graph(snapshot)["predicate_index"].as_object_mut().unwrap().remove("http://example.org/name");
        }),
        ("GRAPHLAKE-GRAPH", |snapshot| file(snapshot)["graph"] = json!("http://example.org/graph")),
        ("GRAPHLAKE-PREFIXES", |snapshot| file(snapshot)["prefixes"] = json!(["urn:other:"])),
        ("GRAPHLAKE-PARTITION", |snapshot| graph(snapshot)["partitions"] = json!({"x": {"files": ["data_file1"]}})),
        ("GRAPHLAKE-VERSION", |snapshot| file(snapshot)["snapshot_version"] = json!(2)),
        ("GRAPHLAKE-CHECKSUM", |snapshot| file(snapshot)["checksum"] = json!("xxh64:0000000000000000")),
        ("GRAPHLAKE-COUNT", |snapshot| file(snapshot)["triple_count"] = json!(3)),
        ("GRAPHLAKE-BOUNDS", |snapshot| file(snapshot)["min_value"] = json!("http://example.org/b")),
        ("GRAPHLAKE-BOUNDS", |snapshot| file(snapshot)["max_value"] = json!("http://example.org/alice")),
        ("GRAPHLAKE-BLOOM", |snapshot| {
            file(snapshot)["bloom_filter"] = json!(isomorph_graphlake::Bloom::with_blocks(1).to_text());
        }),
        ("GRAPHLAKE-BLOOM", |snapshot| {
            file(snapshot)["id_bloom_filter"] = json!(isomorph_graphlake::Bloom::with_blocks(1).to_text());
        }),
        ("GRAPHLAKE-FILE", |snapshot| file(snapshot)["size"] = json!(1)),
        ("GRAPHLAKE-FILE", |snapshot| file(snapshot)["path"] = json!("graphs/none.bin")),
        ("GRAPHLAKE-ID", |snapshot| file(snapshot)["id"] = snapshot_id(snapshot)),
        ("GRAPHLAKE-IRI", |snapshot| {
            let graph = snapshot["graphs"].as_object_mut().unwrap().remove("http://example.org/g1").unwrap();
            snapshot["graphs"]["relative"] = graph;
        }),
        ("GRAPHLAKE-ORDERS-DIFFER", |snapshot| {
            graph(snapshot)["os_data_files"].as_array_mut().unwrap().pop();
        }),
    ];
    for (rule, change) in cases {
        let lake = Lake::new().with(change);
        let found = lake.broken();
        assert!(found.contains(rule), "{rule}: {found:?}");
    }
}

/// The id of another file of the graph.
fn snapshot_id(snapshot: &mut Value) -> Value {
    let name = file(snapshot)["id"].clone();
    let all = graph(snapshot)["so_data_files"].as_array().unwrap();
    all.iter().map(|file| &file["id"]).find(|id| **id != name).unwrap().clone()
}

#[test]
fn what_the_schema_demands_is_demanded() {
    let demanded = [
        "id",
        "predicate",
        "snapshot_version",
        "is_inverse",
        "path",
        "size",
        "triple_count",
        "max_value",
        "min_value",
        "bloom_filter",
        "graph",
        "original_graph",
        "prefix_map",
        "prefixes",
    ];
    for name in demanded {
        let missing = Lake::new().with_file(|file| {
            file.as_object_mut().unwrap().remove(name);
        });
        assert_eq!(missing.broken(), ["GRAPHLAKE-SCHEMA"], "without {name}");
        let wrong = Lake::new().with_file(|file| file[name] = json!(null));
        assert_eq!(wrong.broken(), ["GRAPHLAKE-SCHEMA"], "{name} is null");
    }
    for prefixes in [
        json!({"http://example.org/": 0}),
        json!({"urn:a:": 1, "urn:b:": 1}),
        json!({"urn:a:": -1}),
        json!({"urn:a:": 1.5}),
    ] {
        let lake = Lake::new().with_file(|file| file["prefix_map"] = prefixes.clone());
        assert_eq!(lake.broken(), ["GRAPHLAKE-SCHEMA"], "{prefixes}");
    }
    for size in [json!(-1), json!(1.5), json!(1e300), json!("1")] {
        let lake = Lake::new().with_file(|file| file["size"] = size.clone());
        assert_eq!(lake.broken(), ["GRAPHLAKE-SCHEMA"], "size {size}");
    }
}

#[test]
fn every_rule_of_the_list_is_found() {
    type Change = fn(&mut Value);
    let entry = |version: i64, timestamp: i64| json!({"id": "snapshot2", "version": version, "timestamp": timestamp});
    let mut older = Lake::new().with_store(|store| store["snapshots"].as_array_mut().unwrap().push(entry(2, 5)));
    let mut second = older.json(SNAPSHOT);
    (second["id"], second["version"], second["timestamp"]) = (json!("snapshot2"), json!(2), json!(5));
    older.write("snapshots/snapshot2.json", second.to_string());
    assert_eq!(older.broken(), ["GRAPHLAKE-SEQUENCE"]);
    older = Lake::new().with_store(|store| store["snapshots"].as_array_mut().unwrap().push(entry(1, 5)));
    assert_eq!(older.broken(), ["GRAPHLAKE-SEQUENCE"]);
    let missing = Lake::new().with_store(|store| store["snapshots"].as_array_mut().unwrap().push(entry(2, 5)));
    assert_eq!(missing.broken(), ["GRAPHLAKE-STORE-ENTRY"]);
    assert_eq!(open(&missing.path, &OpenOptions::default()).err().unwrap().kind(), Kind::Incomplete);
    let cases: &[(&str, Change)] = &[
        ("GRAPHLAKE-FORMAT-VERSION", |store| store["format_version"] = json!("0.2")),
        ("GRAPHLAKE-SCHEMA", |store| store["snapshots"] = json!({})),
        ("GRAPHLAKE-NUMBER-TEXT", |store| store["snapshots"][0]["version"] = json!("1")),
    ];
    for (rule, change) in cases {
        assert_eq!(Lake::new().with_store(change).broken(), [*rule]);
    }
    // An empty list is an empty store.
    let empty = Lake::new().with_store(|store| store["snapshots"] = json!([]));
    assert_eq!(empty.lines(&OpenOptions::default()).unwrap(), "");
}

#[test]
fn metadata_is_json_with_every_name_once() {
    for text in ["", "{", "[]", "\u{feff}{}", r#"{"snapshots":[],"snapshots":[]}"#, r#"{"a":{"b":1,"b":2}}"#] {
        let lake = Lake::new();
        lake.write("store.json", text);
        let rule = if text == "[]" { "GRAPHLAKE-SCHEMA" } else { "GRAPHLAKE-JSON" };
        assert_eq!(lake.broken(), [rule], "{text}");
        lake.write("store.json", "[".repeat(100_000));
        assert_eq!(lake.broken(), ["GRAPHLAKE-JSON"]);
    }
}

#[test]
fn records_out_of_order_are_refused_or_sorted() {
    let lake = Lake::new();
    let expected = lake.lines(&OpenOptions::default()).unwrap();
    let bytes = std::fs::read(lake.data()).unwrap();
    // Two records: the shorter one, of bob, comes second.
    let first = (1..bytes.len()).find(|at| bytes[*at..].starts_with(&bytes[..4])).unwrap();
    let mut turned = bytes[first..].to_vec();
    turned.extend_from_slice(&bytes[..first]);
    std::fs::write(lake.data(), turned).unwrap();
    let lake = lake.with_file(|file| drop(file.as_object_mut().unwrap().remove("checksum")));
    assert_eq!(lake.broken(), ["GRAPHLAKE-ORDER"]);
    let error = lake.lines(&OpenOptions::default()).unwrap_err();
    assert_eq!(error.broken_rule().unwrap().id, "GRAPHLAKE-ORDER");
    assert_eq!(error.place().row, Some(1));
    let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
    assert_eq!(lake.lines(&lenient).unwrap(), expected);
    // A repeated triple is out of order, too, and is combined.
    std::fs::write(lake.data(), [bytes.as_slice(), &bytes[first..]].concat()).unwrap();
    let size = (bytes.len() * 2 - first) as u64;
    let lake = lake.with_file(|file| (file["size"], file["triple_count"]) = (json!(size), json!(3)));
    assert_eq!(lake.broken(), ["GRAPHLAKE-ORDER", "GRAPHLAKE-ORDERS-DIFFER"]);
    assert_eq!(lake.lines(&lenient).unwrap(), expected);
}

#[test]
fn every_cut_and_every_flipped_bit_is_found_or_harmless() {
    let lake = Lake::new().with_file(|file| drop(file.as_object_mut().unwrap().remove("checksum")));
    let expected = lake.lines(&OpenOptions::default()).unwrap();
    let bytes = std::fs::read(lake.data()).unwrap();
    for end in 0..bytes.len() {
        std::fs::write(lake.data(), &bytes[..end]).unwrap();
        let error = lake.lines(&OpenOptions::default()).unwrap_err();
        assert_eq!((error.kind(), error.broken_rule().unwrap().id), (Kind::Incomplete, "GRAPHLAKE-FILE"));
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            std::fs::write(lake.data(), &flipped).unwrap();
            // Without a checksum a letter may become another; orders and filters still show it. Languages are
            // case-insensitive.
            if lake.broken().is_empty() {
                assert_eq!(lake.lines(&OpenOptions::default()).unwrap(), expected, "byte {at}, bit {bit}");
            }
        }
    }
}

#[test]
fn foreign_stores_are_read() {
    let expected = Lake::new().lines(&OpenOptions::default()).unwrap();
    // No partitions, a meaningless filter, another extension, another location, an unknown name.
    let lake = Lake::new().with_store(|store| store["location"] = json!("/data/lake"));
    let data = lake.data();
    std::fs::rename(&data, data.with_extension("triples")).unwrap();
    let lake = lake.with(|snapshot| {
        graph(snapshot).as_object_mut().unwrap().remove("partitions");
        let file = file(snapshot);
        let path = file["path"].as_str().unwrap().replace(".bin", ".triples");
        file["path"] = json!(format!("/data/lake/{path}"));
        file["bloom_filter"] = json!("SGVsbG8sIFdvcmxkIQ==");
        file["colour"] = json!("red");
    });
    assert_eq!(lake.lines(&OpenOptions::default()).unwrap(), expected);
    assert_eq!(lake.broken(), Vec::<&str>::new());

    // Short prefixes.
    let lake = Lake::new().with_file(|file| {
        let map = file["prefix_map"].as_object().unwrap();
        let short = map.iter().map(|(prefix, id)| match prefix.as_str() {
            "http://example.org/" => ("ex".to_owned(), id.clone()),
            other => (other.to_owned(), id.clone()),
        });
        let short: serde_json::Map<String, Value> = short.collect();
        assert!(short.contains_key("ex"));
        file["prefixes"] = json!(short.keys().collect::<Vec<_>>());
        file["prefix_map"] = Value::Object(short);
    });
    let error = lake.lines(&OpenOptions::default()).unwrap_err();
    assert_eq!(error.broken_rule().unwrap().id, "GRAPHLAKE-PREFIX-SHORT");
    assert_eq!(lake.broken(), ["GRAPHLAKE-PREFIX-SHORT"]);
    let namespaces = [("ex".to_owned(), "http://example.org/".to_owned())].into();
    let options = OpenOptions { namespaces, ..OpenOptions::default() };
    assert_eq!(lake.lines(&options).unwrap(), expected);

    // An unknown version, with leave to try.
    let lake = Lake::new().with_store(|store| store["format_version"] = json!("1.0"));
    let lenient = OpenOptions { tolerance: Tolerance::Lenient, ..OpenOptions::default() };
    assert_eq!(lake.lines(&lenient).unwrap(), expected);
    // Strict reading refuses text for numbers.
    let lake = Lake::new().with(|snapshot| snapshot["version"] = json!("1"));
    assert_eq!(lake.lines(&OpenOptions::default()).unwrap(), expected);
    let strict = OpenOptions { tolerance: Tolerance::Strict, ..OpenOptions::default() };
    assert_eq!(lake.lines(&strict).unwrap_err().broken_rule().unwrap().id, "GRAPHLAKE-NUMBER-TEXT");
}

#[test]
fn no_name_leads_out_of_the_store() {
    for path in ["../secret.bin", "graphs/../../secret.bin", "a\\b", "C:/secret", "a\u{0}b", "", "/etc/passwd"] {
        let lake = Lake::new().with_file(|file| file["path"] = json!(path));
        std::fs::write(lake.path.parent().unwrap().join("secret.bin"), b"secret").unwrap();
        let error = lake.lines(&OpenOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), Kind::Malformed | Kind::Incomplete), "{path:?}: {error:?}");
    }
}

#[test]
fn what_no_snapshot_names_is_noted() {
    let lake = Lake::new();
    lake.write("graphs/left.bin", b"left");
    assert_eq!(lake.broken(), ["GRAPHLAKE-ORPHAN"]);
    fn sendable<T: Send + Sync>(_: Option<T>) {}
    sendable(None::<GraphLake>);
    assert!(Path::new(&lake.path).is_dir());
}

#[test]
fn threads_find_the_same_breaches_in_the_same_order() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let options = isomorph_graphlake::WriteOptions { file_bytes: 2 << 10, ..Default::default() };
    common::write(&path, &options, |writer| {
        (0..400).try_for_each(|number| {
            let (subject, predicate) = (format!("http://example.org/{number}"), format!("urn:p{}", number % 3));
            let object = isomorph_model::faces::Object::Term("urn:o");
            writer.push(&isomorph_model::faces::Quad { subject: &subject, predicate: &predicate, object, graph: None })
        })
    })
    .unwrap();
    let sound = common::open(&path, &OpenOptions::default()).unwrap();
    // Several files are changed, and all violate their bounds.
    let files = &sound.snapshot().graphs[0].subject_files;
    assert!(files.len() > 6);
    for file in files.iter().step_by(3) {
        let mut bytes = std::fs::read(path.join(&file.path)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(path.join(&file.path), bytes).unwrap();
    }
    let name = path.join("snapshots").join(format!("{}.json", sound.snapshot().id));
    let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
    for graph in snapshot["graphs"].as_object_mut().unwrap().values_mut() {
        for file in graph["so_data_files"].as_array_mut().unwrap() {
            file["min_value"] = json!("~");
        }
    }
    std::fs::write(&name, snapshot.to_string()).unwrap();
    let found = |threads: usize| {
        let lake = common::open(&path, &OpenOptions { threads, ..OpenOptions::default() }).unwrap();
        let mut findings = isomorph_error::Findings::keeping(20);
        lake.validate(&mut findings).unwrap();
        let text = |(count, kept): (u64, &[isomorph_error::Finding])| {
            let kept = kept.iter().map(|one| format!("{} {} {}", one.rule.id, one.message, one.place));
            (count, kept.collect::<Vec<_>>())
        };
        findings.by_rule().map(text).collect::<Vec<_>>()
    };
    let one = found(1);
    assert!(one.len() >= 2 && one.iter().any(|(count, kept)| *count > 20 && kept.len() == 20), "{one:?}");
    for threads in [2, 5] {
        assert_eq!(found(threads), one);
    }
}
