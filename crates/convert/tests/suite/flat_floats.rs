//! Keys and ends of edges that are floats without a fraction, as pandas writes a column of integers if a row has none; floats that JSON has no
//! numbers for.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array};
use isomorph_convert::{Format, OpenOptions, Opened};
use isomorph_error::Severity;
use isomorph_flat::mapping_of;
use isomorph_storage::{Blob, Location};
use serde_json::json;

use super::flat_alone::{findings, integers, lenient, refused, shown, table, texts};
use super::flat_tables::{columns, digests, directory, lines, open, write};

fn floats(all: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(all.to_vec()))
}

/// The columns of which opening says that their floats are integers.
fn noted(opened: &Opened) -> Vec<String> {
    let found = opened.native.about().findings;
    let own = found.by_rule().flat_map(|(_, all)| all).filter(|one| one.rule.id == "FLAT-FLOAT-KEY");
    own.inspect(|one| assert_eq!(one.rule.severity, Severity::Note)).filter_map(|one| one.place.field.clone()).collect()
}

/// What a reading of the whole graph ends with.
fn failed(path: &Path) -> isomorph_error::Error {
    match super::flat_tables::opened(path) {
        Err(error) => error,
        Ok(opened) => digests(&opened).unwrap_err(),
    }
}

#[test]
fn ends_that_are_floats_are_the_integers_of_keys() {
    let whole = directory(&[("nodes.csv", "id,n\n1,a\n2,b\n3,c\n"), ("edges.csv", "source,target\n1,2\n3,1\n")]);
    let expected = digests(&open(whole.path())).unwrap().content;
    for nodes in [("nodes.csv", "id,n\n1,a\n2,b\n3,c\n"), ("nodes.csv", "id,n\n1.0,a\n2.0,b\n3,c\n")] {
        for edges in [
            ("edges.csv", "source,target\n1.0,2\n3.0,1\n"),
            ("edges.csv", "source,target\n1.0,2.0\n3,1.0\n"),
            ("edges.jsonl", "{\"source\":1.0,\"target\":2.0}\n{\"source\":3.0,\"target\":1}\n"),
        ] {
            let home = directory(&[nodes, edges]);
            let graph = open(home.path());
            assert_eq!(columns(graph.graph.graph()), ["node(id Int): n string", "node edge node: "], "{edges:?}");
            assert_eq!(digests(&graph).unwrap().content, expected, "{edges:?}");
            assert!(noted(&graph).contains(&"source".to_owned()), "{edges:?}");
            // A mapping file says so.
            let mapping = mapping_of(&Location::from_path(home.path())).unwrap();
            assert!(mapping.contains("isomorph.integers"), "{mapping}");
            std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
            let graph = open(home.path());
            assert_eq!(digests(&graph).unwrap().content, expected, "{edges:?}");
            assert!(noted(&graph).is_empty());
        }
    }
    for ending in ["parquet", "arrow", "orc"] {
        let home = tempfile::tempdir().unwrap();
        let [nodes, edges] = ["nodes", "edges"].map(|name| home.path().join(format!("{name}.{ending}")));
        let n = || ("n", texts(&["a", "b", "c"]));
        for (ids, sources) in [
            (integers(&[1, 2, 3]), floats(&[1.0, 3.0])),
            (floats(&[1.0, 2.0, 3.0]), integers(&[1, 3])),
            (floats(&[1.0, 2.0, 3.0]), floats(&[1.0, 3.0])),
            (Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0])) as ArrayRef, floats(&[1.0, 3.0])),
        ] {
            table(&nodes, vec![("id", ids), n()]);
            table(&edges, vec![("source", sources), ("target", floats(&[2.0, 1.0]))]);
            let graph = open(home.path());
            assert_eq!(digests(&graph).unwrap().content, expected, "{ending}");
            assert!(noted(&graph).contains(&"target".to_owned()));
            std::fs::write(home.path().join("graph.pgq"), mapping_of(&Location::from_path(home.path())).unwrap())
                .unwrap();
            assert_eq!(digests(&open(home.path())).unwrap().content, expected, "{ending}");
            std::fs::remove_file(home.path().join("graph.pgq")).unwrap();
        }
    }
}

#[test]
fn an_end_with_a_fraction_is_refused_with_its_place_and_set_aside() {
    let nodes = ("nodes.csv", "id\n1\n2\n");
    for (name, edges) in [
        ("edges.csv", "source,target\n1.0,2\n2.5,1\n2.0,2\n"),
        (
            "edges.jsonl",
            "{\"source\":1.0,\"target\":2}\n{\"source\":2.5,\"target\":1}\n{\"source\":2.0,\"target\":2}\n",
        ),
    ] {
        let home = directory(&[nodes, (name, edges)]);
        let error = failed(home.path());
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-END"), "{error:?}");
        assert_eq!((error.place().row, error.place().field.as_deref()), (Some(1), Some("source")), "{error:?}");
        assert!(error.message().contains("2.5"), "{error:?}");
        if name == "edges.csv" {
            assert_eq!(shown(&lenient(home.path())).1, [json!([1, 2]), json!([2, 2])]);
        }
    }
    let home = tempfile::tempdir().unwrap();
    table(&home.path().join("nodes.parquet"), vec![("id", integers(&[1, 2]))]);
    let edges = home.path().join("edges.parquet");
    for (odd, text) in [(2.5, "2.5"), (f64::NAN, "NaN"), (-0.0, "-0.0"), (9_007_199_254_740_992.0, "9007199254740992")]
    {
        table(&edges, vec![("source", floats(&[1.0, odd, 2.0])), ("target", integers(&[2, 1, 2]))]);
        let error = failed(home.path());
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-END"), "{error:?}");
        assert_eq!((error.place().row, error.place().field.as_deref()), (Some(1), Some("source")), "{error:?}");
        assert!(error.message().contains(text), "{error:?}");
        assert_eq!(shown(&lenient(home.path())).1, [json!([1, 2]), json!([2, 2])]);
    }
    // No end is what it is otherwise.
    let some: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(2.0)]));
    table(&edges, vec![("source", some), ("target", integers(&[2, 1, 2]))]);
    let error = failed(home.path());
    assert_eq!((error.broken_rule().map(|rule| rule.id), error.place().row), (Some("FLAT-END"), Some(1)));
    assert!(error.message().contains("no end"), "{error:?}");
    assert!(findings(home.path()).contains(&("FLAT-END", Some(1))));
}

#[test]
fn a_table_of_edges_alone_has_integers_if_all_its_ends_are() {
    let home = tempfile::tempdir().unwrap();
    let (of_integers, of_floats) = (home.path().join("i.parquet"), home.path().join("f.parquet"));
    table(&of_integers, vec![("source", integers(&[7, 3])), ("target", integers(&[3, 9]))]);
    let expected = digests(&open(&of_integers)).unwrap();
    table(&of_floats, vec![("source", floats(&[7.0, 3.0])), ("target", floats(&[3.0, 9.0]))]);
    let graph = open(&of_floats);
    assert_eq!((digests(&graph).unwrap(), noted(&graph)), (expected, vec!["source".to_owned(), "target".to_owned()]));
    let out = home.path().join("out");
    write(&graph, Format::CSV, &out);
    assert_eq!(digests(&open(&out)).unwrap(), expected);
    table(&of_floats, vec![("source", integers(&[7, 3])), ("target", floats(&[3.0, 9.0]))]);
    assert_eq!(digests(&open(&of_floats)).unwrap(), expected);
    // One that is none is named, and so is a type that no key has.
    table(&of_floats, vec![("source", floats(&[7.0, 3.0])), ("target", floats(&[3.0, 9.5]))]);
    let error = refused(&of_floats);
    assert!(error.message().contains("source of the table edges is of type double: 9.5 is no integer"), "{error:?}");
    assert!(error.message().contains("row 1, target"), "{error:?}");
    table(&of_floats, vec![("source", floats(&[1.0])), ("target", texts(&["1.0"]))]);
    assert!(refused(&of_floats).message().contains("source of the table edges is of type double"));
    // Lines of JSON have the same, and never one node twice.
    for (rows, keys) in [
        ("{\"source\":7.0,\"target\":3}\n{\"source\":3,\"target\":9.0}\n", vec![json!(7), json!(3), json!(9)]),
        ("{\"source\":\"x\",\"target\":3}\n", vec![json!("x"), json!("3")]),
    ] {
        let lines = directory(&[("edges.jsonl", rows)]);
        assert_eq!(shown(&open(&lines.path().join("edges.jsonl"))).0, keys, "{rows}");
    }
    for rows in ["{\"source\":1.0,\"target\":2.5}\n", "{\"source\":1.0,\"target\":\"1.0\"}\n"] {
        let lines = directory(&[("edges.jsonl", rows)]);
        assert!(refused(&lines.path().join("edges.jsonl")).message().contains("1.0 is no key"), "{rows}");
    }
    // Texts that are no floats as a program writes them stay texts.
    let mapping = "CREATE EXTERNAL TABLE nodes STORED AS CSV LOCATION 'edges.csv' OPTIONS ('isomorph.ends' '[\"source\",\"target\"]');
CREATE EXTERNAL TABLE edges STORED AS CSV LOCATION 'edges.csv';
CREATE PROPERTY GRAPH g VERTEX TABLES (nodes KEY (id))
EDGE TABLES (edges SOURCE KEY (\"source\") REFERENCES nodes (id) DESTINATION KEY (target) REFERENCES nodes (id));";
    for (rows, keys) in [
        ("1.0,2\n3.0,1.0\n", vec![json!(1), json!(2), json!(3)]),
        ("1.10,1.1\n", vec![json!("1.10"), json!("1.1")]),
        ("1.0,01\n", vec![json!("1.0"), json!("01")]),
        ("1.0,2.5\n", vec![json!("1.0"), json!("2.5")]),
    ] {
        let home = directory(&[("graph.pgq", mapping), ("edges.csv", &format!("source,target\n{rows}"))]);
        assert_eq!(shown(&open(home.path())).0, keys, "{rows}");
    }
}

#[test]
fn parts_may_have_integers_where_others_have_floats() {
    let home = tempfile::tempdir().unwrap();
    let parts = [("part-0.parquet", integers(&[1 << 60, 2])), ("part-1.parquet", floats(&[2.0, 3.0]))];
    for (name, sources) in parts {
        table(&home.path().join(name), vec![("source", sources), ("target", integers(&[2, 1]))]);
    }
    assert_eq!(shown(&open(home.path())).1, [json!([1u64 << 60, 2]), json!([2, 1]), json!([2, 2]), json!([3, 1])]);
}

#[test]
fn a_stream_may_be_a_table_of_edges() {
    let home = tempfile::tempdir().unwrap();
    let stream = |name: &str, format: Option<Format>| {
        let bytes = std::fs::read(home.path().join(name)).unwrap();
        let place = Location::of_stream(Blob::from_bytes("standard input", &bytes.into()));
        Opened::open(&place, &OpenOptions { from: format, ..OpenOptions::default() })
    };
    for (ending, format) in [
        ("parquet", Format::PARQUET),
        ("orc", Format::PARQUET),
        ("arrow", Format::ARROW),
        ("jsonl", Format::JSON_LINES),
        ("csv", Format::CSV),
    ] {
        let name = format!("edges.{ending}");
        let place = home.path().join(&name);
        table(&place, vec![("source", integers(&[7, 3])), ("target", integers(&[3, 9])), ("w", floats(&[0.5, 1.5]))]);
        // Lines with commas are an edge list, unless another format is named.
        let named = (ending == "csv").then_some(format);
        let options = OpenOptions { from: named, ..OpenOptions::default() };
        let expected = digests(&Opened::open(&Location::from_path(&place), &options).unwrap()).unwrap();
        for from in [named, Some(format)] {
            let graph = stream(&name, from).unwrap();
            assert_eq!((graph.format, digests(&graph).unwrap()), (format, expected), "{ending}");
        }
        let graph = stream(&name, named).unwrap();
        let out = home.path().join(format!("out_{ending}"));
        write(&graph, Format::PARQUET, &out);
        assert_eq!(digests(&open(&out)).unwrap(), expected);
        // A table of nodes is none.
        table(&place, vec![("id", integers(&[7, 3]))]);
        let error = stream(&name, Some(format)).map(|_| ()).unwrap_err();
        assert!(error.message().contains("source and target: id"), "{ending} {error:?}");
        let error = stream(&name, None).map(|_| ()).unwrap_err();
        let is_told = !["jsonl", "csv"].contains(&ending);
        assert_eq!(error.message().contains("source and target: id"), is_told, "{ending} {error:?}");
    }
}

#[test]
fn words_of_python_are_floats_in_lines_of_json() {
    let home = directory(&[
        (
            "nodes.jsonl",
            "{\"id\":1,\"x\":NaN,\"l\":[1.5,-Infinity]}\n{\"id\":2,\"x\":Infinity,\"t\":\"NaN, Infinity\"}\n{\"id\":3,\"x\":2,\"l\":[NaN]}\n",
        ),
        ("edges.jsonl", "{\"source\":1,\"target\":2,\"w\": -Infinity}\n{\"source\":2,\"target\":3,\"w\":null}\n"),
    ]);
    let graph = open(home.path());
    assert_eq!(
        columns(graph.graph.graph()),
        ["node(id Int): x double, l list<double>, t string", "node edge node: w double"]
    );
    let all = lines(&graph);
    assert_eq!(all[0]["properties"], json!({"x": "NaN", "l": [1.5, "-Infinity"]}));
    assert_eq!(all[1]["properties"], json!({"x": "Infinity", "t": "NaN, Infinity"}));
    let out = tempfile::tempdir().unwrap();
    let out = out.path().join("out");
    write(&graph, Format::PARQUET, &out);
    assert_eq!(digests(&open(&out)).unwrap(), digests(&graph).unwrap());
    // They are no JSON in the place of anything else, and no keys.
    for (rows, place) in [
        ("{\"id\":1}\n{\"id\":2,NaN:1}\n", 2),
        ("{\"id\":1,\"x\":NaN1}\n", 1),
        ("{\"id\":1,\"x\":nan}\n", 1),
        ("{\"id\":1,\"x\":NaN\n", 1),
    ] {
        let home = directory(&[("nodes.jsonl", rows), ("edges.jsonl", "{\"source\":1,\"target\":1}\n")]);
        let error = failed(home.path());
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("JSON-RECORD"), "{rows} {error:?}");
        assert_eq!(error.place().line, Some(place), "{rows}");
    }
    let home = directory(&[("nodes.jsonl", "{\"id\":1}\n"), ("edges.jsonl", "{\"source\":1,\"target\":NaN}\n")]);
    assert_eq!(failed(home.path()).place().row, Some(0));
}
