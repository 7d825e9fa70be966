//! `info`: describes a graph.

use crate::support::{Home, assert_screen, sample};

#[test]
fn a_nock_file_in_a_few_lines() {
    let home = Home::with_people();
    let done = home.run(&["info", "people.csv"]).exits(0);
    assert_eq!(done.err, "");
    assert_screen("info_nock", &done.out);
}

#[test]
fn a_graphar_graph_in_a_few_lines() {
    let Some(graph) = sample("ldbc_sample/parquet/ldbc_sample.graph.yml") else { return };
    let done = Home::new().run(&["info", &graph]).exits(0);
    assert_screen("info_graphar", &done.out);
}

#[test]
fn a_graph_without_data_can_be_described() {
    let Some(graph) = sample("ldbc/parquet/ldbc.graph.yml") else { return };
    let document = Home::new().run(&["info", &graph, "--json"]).exits(0).json();
    let nodes = document["nodes"].as_array().unwrap();
    let count = |name: &str| nodes.iter().find(|node| node["type"] == name).unwrap()["count"].as_u64();
    assert_eq!((count("organisation"), count("person"), count("place")), (Some(7955), Some(1528), None));
}

#[test]
fn the_json_document_has_types_and_counts() {
    let Some(graph) = sample("ldbc_sample/parquet/ldbc_sample.graph.yml") else { return };
    let document = Home::new().run(&["info", &graph, "--json"]).exits(0).json();
    assert_eq!(document["format"], "graphar");
    assert_eq!(document["name"], "ldbc_sample");
    let node = &document["nodes"][0];
    assert_eq!((node["type"].as_str(), node["count"].as_u64()), (Some("person"), Some(903)));
    assert_eq!(node["key"], serde_json::json!({"kind": "int", "name": "id", "type": "int64"}));
    assert_eq!(node["properties"][0]["name"], "firstName");
    assert_eq!(node["properties"][0]["type"], "string");
    let edge = &document["edges"][0];
    assert_eq!((edge["source"].as_str(), edge["relation"].as_str()), (Some("person"), Some("knows")));
    assert_eq!((edge["count"].as_u64(), edge["direction"].as_str()), (Some(6626), Some("undirected")));
    assert!(document["carry"].is_null());
}

#[test]
fn every_property_has_a_line_when_asked() {
    let Some(graph) = sample("ldbc_sample/parquet/ldbc_sample.graph.yml") else { return };
    let done = Home::new().run(&["info", &graph, "-v"]).exits(0);
    assert!(done.out.contains("           lastName                      string\n"), "{}", done.out);
}

#[test]
fn columns_of_the_sidecar_and_of_the_file_are_told_apart() {
    let home = Home::new();
    home.run(&["convert", &crate::support::social(), "social.parq"]).exits(0);
    let document = home.run(&["info", "social.parq", "--json"]).exits(0).json();
    assert_eq!(document["nodes"][0]["type"], "person");
    let stored = document["stored"]["nodes"].as_array().unwrap();
    assert_eq!((stored.len(), stored[0]["type"].as_str()), (1, Some("node")));
    assert_eq!(stored[0]["key"]["name"], "src_name");
    let done = home.run(&["info", "social.parq"]).exits(0);
    let line = done.out.lines().find(|line| line.starts_with("stored")).unwrap_or_default();
    assert!(line.contains("src_name") && line.contains("truth"), "{}", done.out);
    let plain = home.run(&["info", "social.parq", "--sidecar", "ignore", "--json"]).exits(0).json();
    assert!(plain["stored"].is_null());
}

#[cfg(unix)]
#[test]
fn a_graph_of_links_is_opened_where_the_user_says_so() {
    let home = Home::new();
    let mut copy = std::process::Command::new("cp");
    assert!(copy.args(["-r", &crate::support::social(), "data"]).current_dir(home.path()).status().unwrap().success());
    let graph = home.path().join("java/social");
    std::fs::create_dir_all(&graph).unwrap();
    for entry in std::fs::read_dir(home.path().join("data")).unwrap() {
        let name = entry.unwrap().file_name();
        std::os::unix::fs::symlink(std::path::Path::new("../../data").join(&name), graph.join(&name)).unwrap();
    }
    let path = "java/social/social.graph.yml";
    let refused = home.run(&["info", path]).exits(3);
    assert!(refused.err.contains("is a link to ../../data/"), "{}", refused.err);
    assert!(refused.err.contains("--follow-links"), "{}", refused.err);
    let content = |args: &[&str]| home.run(&[&["digest", "--json"], args].concat()).exits(0).json()["content"].clone();
    assert_eq!(content(&[path, "--follow-links", "."]), content(&["data"]));
    home.run(&["validate", path, "--follow-links", "."]).exits(0);
    home.run(&["validate", path, "--follow-links", "java"]).exits(3);
    home.run(&["info", "data", "--follow-links", "java"]).exits(2);
}

#[test]
fn literals_are_counted_in_the_document_as_on_the_screen() {
    let home = Home::new();
    home.write("a.nq", "<urn:a> <urn:p> \"1\" .\n<urn:a> <urn:p> \"2\" <urn:g> .\n<urn:a> <urn:q> \"3\" .\n");
    home.run(&["lake", "load", "lake", "a.nq"]).exits(0);
    for graph in ["a.nq", "lake"] {
        let document = home.run(&["info", graph, "--json"]).exits(0).json();
        let values = document["values"].as_array().unwrap();
        let mut counts: Vec<(&str, Option<u64>)> =
            values.iter().map(|own| (own["property"]["name"].as_str().unwrap(), own["count"].as_u64())).collect();
        counts.sort_unstable();
        assert_eq!(counts, [("urn:p", Some(2)), ("urn:q", Some(1))], "{graph}");
        assert_eq!(values[0]["of"], serde_json::json!(["node", "resource"]));
        assert_eq!(values[0]["qualifiers"][0]["name"], "graph");
        let screen = home.run(&["info", graph]).exits(0).out;
        for (name, count) in counts {
            let count = count.unwrap().to_string();
            let is_line = |line: &str| line.contains(name) && line.contains(&format!(" {count} "));
            assert!(screen.lines().any(is_line), "{screen}");
        }
    }
}
