//! Types of the files of a table that no type holds together, and columns that are none of the graph's.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, TimestampMicrosecondArray};
use isomorph_convert::Format;
use isomorph_error::{Error, Findings};
use isomorph_storage::Location;
use serde_json::{Value, json};

use super::flat_alone::{integers, refused, shown, table, texts};
use super::flat_tables::{columns, digests, directory, lines, open, opened, write};

fn times(zone: Option<&str>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(vec![0]).with_timezone_opt(zone))
}

fn edges(place: &Path, value: ArrayRef) {
    table(place, vec![("source", integers(&[1])), ("target", integers(&[2])), ("t", value)]);
}

fn rule(error: &Error) -> Option<&'static str> {
    error.broken_rule().map(|rule| rule.id)
}

#[test]
fn instants_and_local_times_are_no_column_together() {
    let bytes = || Arc::new(BinaryArray::from(vec![&b"x"[..]])) as ArrayRef;
    for ending in ["parquet", "arrow"] {
        let home = tempfile::tempdir().unwrap();
        let [first, second] = ["part-0", "part-1"].map(|name| home.path().join(format!("{name}.{ending}")));
        for (one, other) in [
            (times(Some("Europe/Berlin")), times(None)),
            (times(None), times(Some("UTC"))),
            (texts(&["x"]), bytes()),
            (bytes(), texts(&["x"])),
        ] {
            edges(&first, one);
            edges(&second, other);
            let error = refused(home.path());
            assert_eq!(rule(&error), Some("FLAT-PARTS"), "{ending}: {error:?}");
            assert!(error.message().contains("\"t\"") && error.place().to_string().contains("part-1"), "{error:?}");
        }
        // Instants are the same in every zone.
        edges(&first, times(Some("Europe/Berlin")));
        edges(&second, times(Some("UTC")));
        assert_eq!(shown(&open(home.path())).1.len(), 2);
    }
}

#[test]
fn a_timestamp_is_declared_with_its_zone() {
    for ending in ["parquet", "arrow"] {
        for (zone, declared, is_read) in [
            (Some("Europe/Berlin"), "TIMESTAMP(6)", false),
            (Some("UTC"), "TIMESTAMP(3)", false),
            (None, "TIMESTAMP(6) WITH TIME ZONE", false),
            (None, "TIMESTAMP(6)", true),
            (Some("UTC"), "TIMESTAMP(6) WITH TIME ZONE", true),
        ] {
            let home = tempfile::tempdir().unwrap();
            edges(&home.path().join(format!("e.{ending}")), times(zone));
            let mapping = format!(
                "CREATE EXTERNAL TABLE n (id BIGINT) STORED AS {0} LOCATION 'e.{ending}' OPTIONS ('isomorph.ends' '[\"source\",\"target\"]');
CREATE EXTERNAL TABLE e (\"source\" BIGINT, target BIGINT, t {declared}) STORED AS {0} LOCATION 'e.{ending}';
CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id)) EDGE TABLES (e SOURCE KEY (\"source\") REFERENCES n (id) DESTINATION KEY (target) REFERENCES n (id));",
                ending.to_uppercase()
            );
            std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
            let found = opened(home.path()).and_then(|opened| digests(&opened).map(|_| ()));
            match found {
                Ok(()) => assert!(is_read, "{ending} {zone:?} {declared}"),
                Err(error) => {
                    assert!(!is_read, "{error:?}");
                    assert_eq!((rule(&error), error.place().line), (Some("FLAT-MAPPING"), Some(2)), "{error:?}");
                    assert!(error.message().contains("time zone"), "{error:?}");
                }
            }
        }
    }
}

#[test]
fn the_index_of_pandas_is_no_property() {
    for ending in ["parquet", "arrow"] {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(format!("e.{ending}"));
        let index = ("__index_level_0__", integers(&[7]));
        table(&place, vec![("source", integers(&[1])), ("target", integers(&[2])), ("w", integers(&[3])), index]);
        let found = open(&place);
        assert_eq!(columns(found.graph.graph())[1], "node edge node: w int64");
        let mut findings = Findings::keeping(9);
        found.native.validate(&mut findings).unwrap();
        let told: Vec<_> = findings.by_rule().flat_map(|(_, all)| all).map(|one| one.rule.id).collect();
        assert_eq!(told, ["FLAT-INDEX"]);
        // The mapping file that is written says the same.
        let mapping = isomorph_flat::mapping_of(&Location::from_path(&place)).unwrap();
        assert!(!mapping.contains("__index"), "{mapping}");
        // One that declares it has it.
        let pgq = home.path().join("graph.pgq");
        std::fs::write(&pgq, &mapping).unwrap();
        assert_eq!(digests(&open(home.path())).unwrap(), digests(&found).unwrap(), "{mapping}");
        let listed = mapping.replace("w BIGINT", "w BIGINT, \"__index_level_0__\" BIGINT");
        std::fs::write(&pgq, &listed).unwrap();
        assert!(columns(open(home.path()).graph.graph())[1].contains("__index_level_0__ int64"), "{listed}");
    }
}

#[test]
fn keys_of_json_lines_are_texts_where_one_is() {
    let nodes = ("nodes.jsonl", "{\"id\":0}\n{\"id\":\"a\"}\n{\"id\":12345678901234567}\n");
    let edges = ("edges.jsonl", "{\"source\":0,\"target\":\"a\"}\n{\"source\":12345678901234567,\"target\":\"0\"}\n");
    let home = directory(&[nodes, edges]);
    let expected = [json!("0"), json!("a"), json!("12345678901234567")];
    assert_eq!(shown(&open(home.path())).0, expected);
    let text = isomorph_flat::mapping_of(&Location::from_path(home.path())).unwrap();
    let before = digests(&open(home.path())).unwrap();
    std::fs::write(home.path().join("graph.pgq"), text).unwrap();
    assert_eq!(digests(&open(home.path())).unwrap(), before);
    // The ends of a table of edges alone.
    let alone = directory(&[edges]);
    let (nodes, ends) = shown(&open(&alone.path().join("edges.jsonl")));
    assert_eq!((nodes.len(), ends.len()), (3, 2));
    assert!(nodes.iter().all(serde_json::Value::is_string), "{nodes:?}");
    // Nothing else is a key.
    let home = directory(&[("nodes.jsonl", "{\"id\":0}\n{\"id\":\"a\"}\n{\"id\":1.5}\n"), edges]);
    assert!(refused(home.path()).to_string().contains("1.5"));
}

#[test]
fn null_is_no_value_whatever_the_other_values_are() {
    for values in [["1", "2"], ["1", "\"n/a\""], ["true", "{\"a\":null}"]] {
        let row = |at: usize, x: &str| format!("{{\"source\":{at},\"target\":0,\"x\":{x}}}\n");
        let text = [row(0, values[0]), row(1, values[1]), row(2, "null")].concat() + "{\"source\":3,\"target\":0}\n";
        let home = directory(&[("edges.jsonl", &text)]);
        let all = lines(&open(home.path()));
        let of = |line: &&serde_json::Value| line.get("edge").is_some();
        let there: Vec<bool> = all.iter().filter(of).map(|line| line["properties"].get("x").is_some()).collect();
        assert_eq!(there, [true, true, false, false], "{values:?}");
    }
}

#[test]
fn maps_are_lists_of_entries_and_intervals_are_named() {
    use arrow_array::builder::{Int64Builder, MapBuilder, StringBuilder};
    for ending in ["parquet", "arrow"] {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(format!("e.{ending}"));
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
        for (key, value) in [("b", Some(1)), ("a", None)] {
            maps.keys().append_value(key);
            maps.values().append_option(value);
        }
        maps.append(true).unwrap();
        maps.append(false).unwrap();
        let ends = || [("source", integers(&[1, 2])), ("target", integers(&[2, 2]))];
        table(&place, ends().into_iter().chain([("m", Arc::new(maps.finish()) as ArrayRef)]).collect());
        let graph = open(&place);
        assert_eq!(columns(graph.graph.graph())[1], "node edge node: m list<struct<key: string, value: int64>>");
        let all = lines(&graph);
        let edges: Vec<&Value> = all.iter().filter(|line| line.get("edge").is_some()).collect();
        assert_eq!(edges[0]["properties"]["m"], json!([{"key": "b", "value": 1}, {"key": "a"}]), "{}", edges[0]);
        assert!(edges[1]["properties"].get("m").is_none(), "{}", edges[1]);
        for to in [Format::PARQUET, Format::CSV, Format::GRAPHAR] {
            let out = tempfile::tempdir().unwrap();
            let out = out.path().join(to.suggested_name("out", &Default::default()));
            write(&graph, to, &out);
            assert_eq!(digests(&open(&out)).unwrap(), digests(&graph).unwrap(), "{ending} {to}");
        }
        let mapping = isomorph_flat::mapping_of(&Location::from_path(&place)).unwrap();
        std::fs::write(home.path().join("graph.pgq"), &mapping).unwrap();
        assert_eq!(digests(&open(home.path())).unwrap(), digests(&graph).unwrap(), "{mapping}");
    }
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("e.arrow");
    let spans: ArrayRef = Arc::new(arrow_array::IntervalYearMonthArray::from(vec![1, 2]));
    let all =
        vec![("source", integers(&[1, 2])), ("target", integers(&[2, 2])), ("w", integers(&[5, 6])), ("span", spans)];
    table(&place, all);
    let error = refused(&place);
    assert!(error.message().contains("the column span has intervals"), "{error:?}");
    assert_eq!(error.place().field.as_deref(), Some("span"));
    let command = format!("isomorph import init {}", place.display());
    assert!(error.hints().any(|hint| hint.starts_with(&command)), "{error:?}");
    std::fs::write(home.path().join("graph.pgq"), isomorph_flat::mapping_of(&Location::from_path(&place)).unwrap())
        .unwrap();
    let graph = open(home.path());
    assert_eq!(columns(graph.graph.graph())[1], "node edge node: w int64");
    digests(&graph).unwrap();
}
