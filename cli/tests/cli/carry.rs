//! `carry`: what travels beside the data.

use std::fs;

use crate::support::{Home, sample};

/// A directory with a GraphAr graph made from NOCK, and so with a carry inside.
fn carrying() -> Home {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people", "--to", "graphar"]).exits(0);
    home
}

/// Rewrites a file of the graph with other bytes that say the same.
fn touch(home: &Home) {
    let mut names = fs::read_dir(home.at("people")).unwrap().map(|entry| entry.unwrap().path());
    let graph = names.find(|path| path.to_str().unwrap().ends_with(".graph.yml")).unwrap();
    let text = fs::read_to_string(&graph).unwrap();
    fs::write(&graph, format!("# by hand\n{text}")).unwrap();
}

#[test]
fn it_says_of_what_it_is_and_that_it_fits() {
    let home = carrying();
    let done = home.run(&["carry", "show", "people"]).exits(0);
    assert!(done.out.starts_with("of       NOCK graph, written as GraphAr by isomorph "), "{}", done.out);
    assert!(done.out.ends_with("fits     no file has changed since\n"), "{}", done.out);
    let document = home.run(&["carry", "show", "people", "--json"]).exits(0).json();
    assert_eq!((document["of"].as_str(), document["stale"].as_bool()), (Some("nock"), Some(false)));
    let info = home.run(&["info", "people"]).exits(0).out;
    assert!(info.contains("carry    what this format cannot say of the NOCK graph"), "{info}");
}

#[test]
fn a_stale_one_is_refused_until_it_is_bound_again() {
    let home = carrying();
    touch(&home);
    let done = home.run(&["digest", "people"]).exits(4);
    assert!(done.err.starts_with("error CARRY-STALE: "), "{}", done.err);
    assert!(done.err.contains("isomorph carry rebind people "), "{}", done.err);
    home.run(&["carry", "show", "people"]).exits(1);
    home.run(&["validate", "people"]).exits(1);
    let info = home.run(&["info", "people"]).exits(0).out;
    assert!(info.contains("the data has changed since"), "{info}");
    let done = home.run(&["carry", "rebind", "people"]).exits(0);
    assert!(done.out.contains("the graph is still the same"), "{}", done.out);
    home.run(&["carry", "show", "people"]).exits(0);
    home.run(&["diff", "people.csv", "people"]).exits(0);
}

/// A byte in the middle of a file, which a look at sizes and ends does not see.
#[test]
fn every_byte_is_compared_when_asked_for() {
    let home = carrying();
    let carry = fs::read_to_string(home.at("people/_isomorph/carry.json")).unwrap();
    let mut carry: serde_json::Value = serde_json::from_str(&carry).unwrap();
    let file = &mut carry["files"][0];
    let name = file["name"].as_str().unwrap().to_owned();
    file["blake3"] = "0".repeat(64).into();
    fs::write(home.at("people/_isomorph/carry.json"), carry.to_string()).unwrap();
    home.run(&["carry", "show", "people"]).exits(0);
    let shown = home.run(&["carry", "show", "people", "--verify"]).exits(1).out;
    assert!(shown.contains(&format!("{name} has other bytes")), "{shown}");
    let found = home.run(&["validate", "people"]).exits(1);
    assert!(found.out.contains(&format!("{name} has other bytes")), "{}", found.out);
    home.run(&["carry", "rebind", "people"]).exits(0);
    home.run(&["carry", "show", "people", "--verify"]).exits(0);
}

#[test]
fn another_graph_is_not_bound() {
    let home = carrying();
    let other = crate::support::PEOPLE.replace("1791", "1792");
    home.write("other.csv", other);
    home.run(&["convert", "other.csv", "other", "--to", "graphar"]).exits(0);
    fs::copy(home.at("people/_isomorph/carry.json"), home.at("other/_isomorph/carry.json")).unwrap();
    let before = fs::read(home.at("other/_isomorph/carry.json")).unwrap();
    let done = home.run(&["carry", "rebind", "other"]).exits(4);
    assert!(done.err.contains("its content differs"), "{}", done.err);
    assert!(done.err.ends_with("nothing was changed\n"), "{}", done.err);
    assert_eq!(fs::read(home.at("other/_isomorph/carry.json")).unwrap(), before);
}

#[test]
fn without_it_the_data_is_what_it_is() {
    let home = carrying();
    home.run(&["carry", "drop", "people"]).exits(0);
    assert!(!home.at("people/_isomorph").exists());
    home.run(&["carry", "show", "people"]).exits(3);
    assert_eq!(home.run(&["info", "people", "--json"]).exits(0).json()["edges"].as_array().unwrap().len(), 2);
    home.run(&["validate", "people"]).exits(0);
}

#[test]
fn it_lies_beside_a_single_file() {
    let Some(graph) = sample("modern_graph/modern_graph.graph.yml") else { return };
    let home = Home::new();
    home.run(&["convert", &graph, "modern.parq"]).exits(0);
    assert_eq!(home.names(), ["modern.parq", "modern.parq.isomorph"]);
    assert_eq!(home.run(&["info", "modern.parq", "--json"]).exits(0).json()["nodes"].as_array().unwrap().len(), 2);
    home.run(&["carry", "drop", "modern.parq"]).exits(0);
    assert_eq!(home.names(), ["modern.parq"]);
    assert_eq!(home.run(&["info", "modern.parq", "--json"]).exits(0).json()["nodes"].as_array().unwrap().len(), 1);
}
