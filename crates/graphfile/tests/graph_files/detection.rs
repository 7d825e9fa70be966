//! Which format a file has.

use isomorph_graphfile::gexf::Gexf;
use isomorph_graphfile::gml::Gml;
use isomorph_graphfile::nodelink::{Kgx, NodeLink};
use isomorph_storage::Location;

use crate::gml::LABELLED;
use crate::node_link::NODES;

#[test]
fn formats_are_told_by_their_content() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x");
    let detected = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let place = Location::from_path(&path);
        [
            NodeLink::detect(&place).unwrap(),
            Kgx::detect(&place).unwrap(),
            Gexf::detect(&place).unwrap(),
            Gml::detect(&place).unwrap(),
        ]
    };
    let long =
        format!("{{\"nodes\": [{{\"id\": 1, \"x\": \"{}\"}}, {{\"id\": 2}}], \"links\": []}}", "x".repeat(100_000));
    let sorted = format!(
        "{{\"directed\": false, \"edges\": [{{\"source\": 1, \"target\": 1, \"x\": \"{}\"}}]}}",
        "x".repeat(100)
    );
    for (text, expected) in [
        (NODES, [true, false, false, false]),
        (long.as_str(), [true, false, false, false]),
        (sorted.as_str(), [true, false, false, false]),
        ("{\"nodes\": [], \"edges\": []}", [true, false, false, false]),
        (
            "{\"nodes\": [{\"id\": \"a\", \"category\": []}], \"edges\": [{\"subject\": \"a\", \"object\": \"a\"}]}",
            [false, true, false, false],
        ),
        // Without edges: NetworkX says more, and D3 calls the list links.
        ("{\"nodes\": [{\"id\": \"a\", \"name\": \"x\"}], \"edges\": []}", [false, true, false, false]),
        ("{\"nodes\": [{\"id\": \"a\"}],\n\"edges\": [\n]\n}\n", [false, true, false, false]),
        ("{\"nodes\": [{\"id\": \"a\"}], \"edges\": [], \"directed\": true}", [true, false, false, false]),
        ("{\"nodes\": [{\"id\": \"a\"}], \"links\": []}", [true, false, false, false]),
        ("{\"nodes\": [{\"name\": \"a\"}], \"edges\": []}", [true, false, false, false]),
        ("{\"data\": [], \"elements\": {\"nodes\": [], \"edges\": []}}", [false; 4]),
        ("{\"nodes\": 5, \"edges\": 7}", [false; 4]),
        ("{\"id\": 1, \"edges\": [1]}", [false; 4]),
        ("<?xml version=\"1.0\"?><gexf/>", [false, false, true, false]),
        (LABELLED, [false, false, false, true]),
        ("graph [ ]", [false, false, false, true]),
        ("graph [] { <a:a> <a:b> <a:c> }", [false; 4]),
        ("graph <a:g> { }", [false; 4]),
        ("", [false; 4]),
    ] {
        assert_eq!(detected(text), expected, "{}", text.chars().take(60).collect::<String>());
    }
}
