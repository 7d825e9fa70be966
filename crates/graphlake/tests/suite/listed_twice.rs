//! A file that two graphs list: with equal metadata it is one file; if the listings contradict each other, each graph
//! is read by its own.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::{Path, PathBuf};

use common::{broken, lines, open, write};
use isomorph_graphlake::{Bloom, InGraph, OpenOptions, Order, Pattern, WriteOptions, push_quad};
use isomorph_model::faces::{Object, Quad};
use serde_json::{Value, json};

const DEFAULT: &str = "urn:x-arq:DefaultGraph";
const COPY: &str = "http://example.org/copy";
const P: &str = "http://example.org/p";

fn subject(number: usize) -> String {
    format!("http://example.org/s{number:02}")
}

/// A store of 50 triples of one predicate, alternately with a literal and an IRI.
fn store() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    write(&path, &WriteOptions::default(), |writer| {
        (0..50).try_for_each(|number| {
            let (subject, value) = (subject(number), format!("v{number}"));
            let object = match number % 2 {
                0 => Object::Term(&subject),
                _ => Object::Literal { lexical: &value, datatype: "", language: None, direction: None },
            };
            writer.push(&Quad { subject: &subject, predicate: P, object, graph: None })
        })
    })
    .unwrap();
    (home, path)
}

fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let name = path.join("snapshots/snapshot1.json");
    let mut snapshot: Value = serde_json::from_slice(&std::fs::read(&name).unwrap()).unwrap();
    change(&mut snapshot);
    std::fs::write(name, snapshot.to_string()).unwrap();
}

/// Lists the files of the default graph in another one as well, with different metadata.
fn list_again(snapshot: &mut Value, lie: impl Fn(&mut Value)) {
    let graphs = snapshot["graphs"].as_object_mut().unwrap();
    let mut copy = graphs[DEFAULT].clone();
    copy["id"] = json!("11111111-1111-8111-8111-111111111111");
    for list in ["so_data_files", "os_data_files"] {
        for file in copy[list].as_array_mut().unwrap() {
            file["graph"] = json!(COPY);
            lie(file);
        }
    }
    graphs.insert(COPY.to_owned(), copy);
}

/// Changes the namespace of the files in the metadata.
fn elsewhere(file: &mut Value) {
    let map = file["prefix_map"].as_object().unwrap();
    assert!(!map.is_empty(), "{file}");
    let other = |text: &str| text.replace("http://example.org/", "http://other.example/");
    let renamed = map.iter().map(|(prefix, id)| (other(prefix), id.clone())).collect();
    file["prefix_map"] = Value::Object(renamed);
    file["prefixes"] =
        file["prefixes"].as_array().unwrap().iter().map(|one| json!(other(one.as_str().unwrap()))).collect();
    // Without filters and a stated order, the store is read as a foreign one.
    for (name, value) in [("bloom_filter", json!("")), ("id_bloom_filter", Value::Null), ("sort_order", Value::Null)] {
        file[name] = value;
    }
    let file = file.as_object_mut().unwrap();
    file.retain(|_, value| !value.is_null());
    for name in ["min_value", "max_value"] {
        file[name] = json!(other(file[name].as_str().unwrap()));
    }
}

fn found(lake: &isomorph_graphlake::GraphLake, graph: InGraph<'_>) -> Vec<String> {
    let pattern = Pattern { subject: None, predicate: Some(P), object: None, graph };
    let mut all = Vec::new();
    lake.matching(&pattern, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        all.push(line);
        Ok(())
    })
    .unwrap();
    all
}

#[test]
fn what_a_second_graph_says_of_a_file_is_checked() {
    let (_home, sound) = store();
    change(&sound, |snapshot| list_again(snapshot, |_| {}));
    assert_eq!(broken(&sound, &OpenOptions::default()), Vec::<&str>::new(), "a copy is sound");
    type Lie = fn(&mut Value);
    let lies: &[(&str, Lie)] = &[
        ("GRAPHLAKE-COUNT", |file| file["triple_count"] = json!(49)),
        ("GRAPHLAKE-COUNT", |file| file["literal_count"] = json!(24)),
        ("GRAPHLAKE-CHECKSUM", |file| file["checksum"] = json!("xxh64:0000000000000000")),
        ("GRAPHLAKE-BOUNDS", |file| file["min_value"] = json!("~~~")),
        ("GRAPHLAKE-BOUNDS", |file| file["max_value"] = json!("!")),
        ("GRAPHLAKE-BLOOM", |file| file["bloom_filter"] = json!(Bloom::with_blocks(1).to_text())),
        ("GRAPHLAKE-BLOOM", |file| file["id_bloom_filter"] = json!(Bloom::with_blocks(1).to_text())),
        ("GRAPHLAKE-FILE", |file| file["size"] = json!(1)),
        ("GRAPHLAKE-RECORD", |file| (file["prefix_map"], file["prefixes"]) = (json!({}), json!([]))),
    ];
    for (rule, lie) in lies {
        let (_home, path) = store();
        change(&path, |snapshot| list_again(snapshot, lie));
        let found = broken(&path, &OpenOptions::default());
        assert!(found.contains(rule), "{rule}: {found:?}");
    }
    // Both orders of each graph agree, though the two graphs do not.
    let (_home, path) = store();
    change(&path, |snapshot| list_again(snapshot, elsewhere));
    let found = broken(&path, &OpenOptions::default());
    assert!(!found.contains(&"GRAPHLAKE-ORDERS-DIFFER") && !found.contains(&"GRAPHLAKE-BOUNDS"), "{found:?}");
}

#[test]
fn no_graph_is_read_with_the_prefixes_of_another() {
    let (_home, path) = store();
    change(&path, |snapshot| list_again(snapshot, elsewhere));
    let graphs = [InGraph::Default, InGraph::Named(COPY), InGraph::Any];
    for first in graphs {
        // Whichever is read first.
        let lake = open(&path, &OpenOptions::default()).unwrap();
        found(&lake, first);
        let own = found(&lake, InGraph::Default);
        assert_eq!(own.len(), 50);
        assert!(own.iter().all(|line| line.starts_with("<http://example.org/s")), "{own:?}");
        let copied = found(&lake, InGraph::Named(COPY));
        assert_eq!(copied.len(), 50);
        assert!(copied.iter().all(|line| line.starts_with("<http://other.example/s")), "{copied:?}");
        let mut both: Vec<String> = found(&lake, InGraph::Any).into_iter().map(|line| line + "\n").collect();
        both.sort();
        assert_eq!(both.concat(), lines(&lake, Order::Subject).unwrap());
    }
}

#[test]
fn bounds_and_filters_of_one_graph_hide_nothing_in_another() {
    let (_home, path) = store();
    change(&path, |snapshot| {
        list_again(snapshot, |file| file["bloom_filter"] = json!(Bloom::with_blocks(1).to_text()));
    });
    let lake = open(&path, &OpenOptions::default()).unwrap();
    for graph in [InGraph::Named(COPY), InGraph::Default] {
        let (subject, mut count) = (subject(3), 0);
        let pattern = Pattern { subject: Some(&subject), predicate: Some(P), object: None, graph };
        lake.matching(&pattern, &mut |_| {
            count += 1;
            Ok(())
        })
        .unwrap();
        // The wrong listing applies where it is stated.
        assert_eq!(count, u32::from(matches!(graph, InGraph::Default)), "{graph:?}");
    }
}
