//! Folders with several graphs.

use std::fs;

use serde_json::json;

use crate::support::{Home, PEOPLE};

/// Creates a folder with a NOCK file and its sidecar, another NOCK file, and an RDF text.
fn folder() -> Home {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "social.parq", "--lossy"]).exits(0);
    home.write("other.ttl", "<urn:a> <urn:b> <urn:c> .\n");
    home
}

#[test]
fn info_lists_the_graphs_of_a_folder() {
    let home = folder();
    let document = home.run(&["info", ".", "--json"]).exits(0).json();
    let found: Vec<_> = document["graphs"].as_array().unwrap().iter().map(|graph| graph["format"].clone()).collect();
    assert_eq!(found, [json!("rdf"), json!("nock"), json!("nock")]);
    let done = home.run(&["info", "."]).exits(0);
    for name in ["people.csv", "social.parq", "other.ttl", "NOCK", "RDF"] {
        assert!(done.out.contains(name), "{name}: {}", done.out);
    }
}

#[test]
fn other_commands_refuse_a_folder_of_graphs_and_list_them() {
    let home = folder();
    for words in [
        &["validate", "."][..],
        &["convert", ".", "out.parq"],
        &["digest", "."],
        &["dump", "."],
        &["diff", ".", "people.csv"],
        &["diff", "people.csv", "."],
        &["neighbors", ".", "ada"],
        &["validate", ".", "--from", "nock"],
        &["sample", ".", "nodes"],
        &["carry", "show", "."],
    ] {
        let done = home.run(words).exits(3);
        assert!(done.err.contains("people.csv") && done.err.contains("social.parq"), "{words:?}: {}", done.err);
    }
    assert!(!home.names().contains(&"out.parq".to_owned()));
}

#[test]
fn a_folder_of_one_file_and_another_graph_is_not_that_file() {
    let home = Home::with_people();
    home.run(&["validate", "."]).exits(0);
    home.write("other.ttl", "<urn:a> <urn:b> <urn:c> .\n");
    let done = home.run(&["validate", "."]).exits(3);
    assert!(done.err.contains("people.csv") && done.err.contains("other.ttl"), "{}", done.err);
}

#[test]
fn partitions_in_a_folder_are_one_graph() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "parts", "--to", "nock", "--partitions", "2"]).exits(0);
    home.run(&["validate", "parts"]).exits(0);
    home.run(&["diff", "people.csv", "parts"]).exits(0);
    home.write("parts/part_00.parq", PEOPLE);
    let done = home.run(&["info", "parts"]).exits(3);
    assert!(done.err.contains("NOCK-PART-ID") && done.err.contains("part_00.parq"), "{}", done.err);
}

#[test]
fn unrelated_texts_of_deepgnn_in_a_folder_are_listed() {
    let home = Home::new();
    home.write("social.tsv", "1\t0\t1.0\t\t2,0,1.0\n");
    home.write("people.json", "{\"node_id\":1,\"node_type\":0,\"node_weight\":1.0,\"edge\":[]}\n");
    home.write("other.tsv", "1\t0\t1.0\t\t3,0,1.0\n");
    let document = home.run(&["info", ".", "--json"]).exits(0).json();
    assert_eq!(document["graphs"].as_array().unwrap().len(), 3);
    for more in [&[][..], &["--from", "deepgnn"]] {
        let done = home.run(&[&["convert", ".", "out.parq"][..], more].concat()).exits(3);
        for name in ["social.tsv", "people.json", "other.tsv"] {
            assert!(done.err.contains(name), "{name}: {}", done.err);
        }
    }
    home.run(&["convert", "*.tsv", "out.deepgnn"]).exits(0);
}

/// Links to directories are not followed in a listing, but a link that is named leads to its graph.
#[cfg(unix)]
#[test]
fn links_to_graphs_are_listed() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar"]).exits(0);
    fs::create_dir(home.at("links")).unwrap();
    for (to, name) in [("../g", "linked"), ("nowhere", "dangling"), (".", "itself")] {
        std::os::unix::fs::symlink(to, home.at("links").join(name)).unwrap();
    }
    let document = home.run(&["info", "links", "--json"]).exits(0).json();
    let graphs = document["graphs"].as_array().unwrap();
    assert_eq!(graphs.len(), 1, "{document}");
    let place = graphs[0]["path"].as_str().unwrap();
    assert!(place.ends_with("links/linked"), "{place}");
    home.run(&["info", place]).exits(0);
    let done = home.run(&["digest", "links"]).exits(3);
    assert!(done.err.contains("it holds 1 graph"), "{}", done.err);
}
