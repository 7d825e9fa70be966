//! What was kept when a file was opened is what reading the file again gives, and the type of a property fits values of all parts.

use arrow_schema::DataType;
use isomorph_graphfile::gexf::Gexf;
use isomorph_graphfile::gml::Gml;
use isomorph_graphfile::nodelink::NodeLink;
use isomorph_graphfile::{OpenOptions, RecordGraph, Syntax};
use isomorph_model::{Source, ValueKind};
use isomorph_storage::{Budget, Location};

use crate::gml::LABELLED;
use crate::{json, shown};

/// Returns what is read within this much memory.
fn within(memory: u64, syntax: &'static dyn Syntax, text: &str) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    std::fs::write(&path, text).unwrap();
    let options = OpenOptions { budget: Budget::new(memory), ..OpenOptions::default() };
    shown(&RecordGraph::open(&Location::from_path(&path), syntax, options).unwrap())
}

#[test]
fn a_file_that_is_not_kept_is_read_again() {
    let json = r#"{"directed": true, "nodes": [{"id": "a", "x": 1, "m": [1]}, {"id": 2, "x": 1.50, "y": null}, {"id": "c", "y": true}],
        "edges": [{"source": "a", "target": 2, "w": "1"}, {"source": "c", "target": "a", "w": 1e300}]}"#;
    let gexf = "<gexf><graph defaultedgetype=\"directed\"><attributes class=\"node\"><attribute id=\"0\" title=\"x\" type=\"double\"/></attributes>
        <nodes><node id=\"a\"><attvalues><attvalue for=\"0\" value=\"\"/></attvalues></node><node id=\"b\" label=\"B\"><attvalues><attvalue for=\"0\" value=\"INF\"/></attvalues></node></nodes>
        <edges><edge source=\"a\" target=\"b\" weight=\"+1.50\"/><edge source=\"b\" target=\"a\" type=\"undirected\"/></edges></graph></gexf>";
    let all: [(&'static dyn Syntax, &str); 3] = [(&NodeLink, json), (&Gexf, gexf), (&Gml, LABELLED)];
    for (syntax, text) in all {
        let kept = within(1 << 30, syntax, text);
        assert!(kept.len() > 3, "{kept:?}");
        assert_eq!(within(6_000, syntax, text), kept);
    }
}

/// Returns a graph whose first 70,000 nodes have one value of `x`, and whose last node has another.
fn with_last(first: &str, last: &str) -> RecordGraph {
    let nodes: Vec<String> = (0..70_000).map(|at| format!("{{\"id\": {at}, \"x\": {first}}}")).collect();
    json(&format!(
        "{{\"directed\": true, \"nodes\": [{}, {{\"id\": -1, \"x\": {last}}}], \"links\": []}}",
        nodes.join(",")
    ))
    .unwrap()
}

#[test]
fn a_type_fits_the_values_of_all_parts() {
    for (first, last, data_type, is_json, expected) in [
        ("1", "2.5", DataType::Float64, false, ["0 1.0", "-1 2.5"]),
        ("1", "\"a\"", DataType::Utf8, true, ["0 \"1\"", "-1 \"\\\"a\\\"\""]),
        ("1.10", "true", DataType::Utf8, true, ["0 \"1.10\"", "-1 \"true\""]),
        ("9007199254740993", "0.5", DataType::Utf8, true, ["0 \"9007199254740993\"", "-1 \"0.5\""]),
        ("1", "18446744073709551615", DataType::UInt64, false, ["0 1", "-1 18446744073709551615"]),
        ("\"a\"", "null", DataType::Utf8, false, ["0 \"a\"", "-1 -"]),
        ("-0", "1", DataType::Float64, false, ["0 -0.0", "-1 1.0"]),
    ] {
        let graph = with_last(first, last);
        let property = &graph.graph().nodes[0].properties[0];
        assert_eq!((&property.data_type, property.kind == ValueKind::Json), (&data_type, is_json), "{first} {last}");
        let lines = shown(&graph);
        assert_eq!([lines[0].as_str(), lines[70_000].as_str()], expected, "{first} {last}");
    }
}
