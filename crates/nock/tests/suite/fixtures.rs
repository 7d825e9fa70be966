//! Every fixture, read as a source and compared with the expectation next to it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::path::Path;

use common::{assert_same, edge_order, fixtures, open, view};
use isomorph_nock::{OpenOptions, Tolerance, rules};
use serde_json::{Value, json};

fn expected(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    if let Some(edges) = value.get_mut("edges").and_then(Value::as_array_mut) {
        edges.sort_by_key(edge_order);
    }
    value
}

fn read(path: &Path) -> Value {
    view(&open(path, &OpenOptions::default()).unwrap()).unwrap()
}

/// If pynock copied the truth of an edge to its destination, the expectation describes pynock, not the file.
fn without_node_truth(mut value: Value) -> Value {
    for node in value["nodes"].as_array_mut().unwrap() {
        node.as_object_mut().unwrap().remove("truth");
        node.as_object_mut().unwrap().remove("is_rdf");
    }
    value
}

#[test]
fn tiny() {
    let root = fixtures();
    let wanted = expected(&root.join("01_tiny/expected.json"));
    let found = read(&root.join("01_tiny/tiny.parq"));
    assert_eq!(without_node_truth(found.clone()), without_node_truth(wanted));
    assert!(found["nodes"].as_array().unwrap().iter().all(|node| node["truth"].is_f64()));
}

#[test]
fn text_twins_say_the_same() {
    let root = fixtures();
    for stem in [
        "01_tiny/tiny",
        "03_karate_example/part_0",
        "03_karate_example/part_1",
        "04_rdf_literals/out",
        "05_rdf_uris/out",
    ] {
        let table = read(&root.join(format!("{stem}.parq")));
        assert_same(&read(&root.join(format!("{stem}.csv"))), &table, stem);
    }
}

#[test]
fn karate_partitions_one_by_one() {
    let root = fixtures();
    for part in ["part_0", "part_1"] {
        let directory = root.join("03_karate_example");
        let wanted = expected(&directory.join(format!("{part}.expected.json")));
        assert_eq!(read(&directory.join(format!("{part}.parq"))), wanted, "{part}");
    }
}

#[test]
fn karate_partitions_together() {
    let root = fixtures();
    let nock = open(&root.join("03_karate_example"), &OpenOptions::default()).unwrap();
    let settled = nock.settle().unwrap();
    assert_eq!((settled.nodes, settled.edges), (34, 156));
    assert_eq!((settled.unresolved_shadows, settled.implicit_nodes), (0, 0));
    let whole = view(&nock).unwrap();
    assert!(whole["nodes"].as_array().unwrap().iter().all(|node| node["shadow"] == json!(-1)));
    assert_eq!(whole["edges"].as_array().unwrap().len(), 156);
}

#[test]
fn rdf_files() {
    let root = fixtures();
    for case in ["04_rdf_literals", "05_rdf_uris"] {
        let wanted = expected(&root.join(case).join("expected.json"));
        assert_eq!(read(&root.join(case).join("out.parq")), wanted, "{case}");
    }
}

#[test]
fn every_codec_and_both_spellings_of_nothing() {
    let root = fixtures();
    let directory = root.join("06_spec_schema");
    let wanted = expected(&directory.join("expected.json"));
    let mut files = 0;
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|suffix| suffix == "parq") {
            assert_eq!(read(&path), wanted, "{}", path.display());
            files += 1;
        }
    }
    assert_eq!(files, 12);
}

#[test]
fn quirks() {
    let root = fixtures();
    let directory = root.join("08_quirks");
    let all = expected(&directory.join("expected_spec.json"));
    for (stem, wanted) in all.as_object().unwrap() {
        let path = directory.join(format!("{stem}.parq"));
        // Input that a reader would have to guess is an error, unless guessing is requested.
        let (rule, guess) = match stem.as_str() {
            "truth_nan" | "truth_null" => (Some(&rules::TRUTH_MISSING), ("truth", json!(1.0))),
            "props_nan" => (Some(&rules::PROPS_NAN), ("props", json!({"a": null}))),
            "props_array" => (Some(&rules::PROPS_OBJECT), ("props", json!({"": [1, 2]}))),
            _ => (None, ("", Value::Null)),
        };
        let mut wanted = wanted.clone();
        wanted["edges"].as_array_mut().unwrap().sort_by_key(edge_order);
        let normal = open(&path, &OpenOptions::default()).and_then(|nock| view(&nock));
        let Some(rule) = rule else {
            assert_eq!(normal.unwrap(), wanted, "{stem}");
            continue;
        };
        let error = normal.unwrap_err();
        assert_eq!(error.broken_rule(), Some(rule), "{stem}");
        assert_eq!(error.place().row, Some(0), "{stem}");
        assert!(error.place().file.as_ref().unwrap().ends_with(&format!("{stem}.parq")));
        let lenient = OpenOptions::default().tolerance(Tolerance::Lenient);
        let found = open(&path, &lenient).and_then(|nock| view(&nock)).unwrap();
        wanted["nodes"][0][guess.0] = guess.1;
        assert_eq!(found, wanted, "{stem}");
    }
}
