//! Integers from 2^63 on: no format makes others of them, negative ones least of all.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_convert::Format;
use serde_json::{Value, json};

use super::databases::{alone, write};
use super::flat_tables::{columns, digests, directory, lines, open};

const LARGE: &str = "18446744073709551615";

/// Whether a value has a number or a text with this text anywhere.
fn has(value: &Value, wanted: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| has(item, wanted)),
        Value::Object(members) => members.values().any(|member| has(member, wanted)),
        Value::String(text) => text.contains(wanted),
        other => other.as_u64().is_some_and(|number| number.to_string() == wanted),
    }
}

/// Formats with the name of an output, and whether they have properties of nodes.
const FORMATS: &[(Format, &str)] = &[
    (Format::APOC, "a.json"),
    (Format::CYPHER, "a.cypher"),
    (Format::NEO4J, "neo4j"),
    (Format::GRAPHAR, "graphar"),
    (Format::NOCK, "a.parq"),
    (Format::ANNNET, "a.annnet"),
    (Format::GRAPHML, "a.graphml"),
    (Format::PARQUET, "parquet"),
    (Format::CSV, "csv"),
    (Format::JSON_LINES, "jsonl"),
];

#[test]
fn values_and_keys_are_themselves_in_every_format() {
    let home = tempfile::tempdir().unwrap();
    let files = directory(&[
        ("nodes.jsonl", &format!("{{\"id\":{LARGE},\"u\":{LARGE},\"l\":[1,{LARGE}]}}\n{{\"id\":2,\"u\":7}}\n")),
        ("edges.jsonl", &format!("{{\"source\":2,\"target\":{LARGE},\"w\":{LARGE}}}\n")),
    ]);
    let source = open(files.path());
    assert_eq!(columns(source.graph.graph())[0], "node(id Int): u uint64, l list<uint64>");
    let wanted = digests(&source).unwrap();
    for (format, name) in FORMATS {
        let place = home.path().join(name);
        write(&source, *format, &place, false).unwrap_or_else(|error| panic!("{format}: {error:?}"));
        assert_eq!(digests(&open(&place)).unwrap(), wanted, "{format}");
        // What another tool reads.
        let elements = |line: &Value| line.get("node").is_some() || line.get("edge").is_some();
        for line in lines(&alone(&place)).into_iter().filter(elements) {
            assert!(!has(&line, "-1"), "{format}: {line}");
            let is_large = !has(&line, "7") || line.get("edge").is_some();
            assert!(!is_large || has(&line, LARGE), "{format}: {line}");
        }
    }
}

#[test]
fn unsigned_keys_that_are_small_stay_integers() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
    use isomorph_tables::{Encoding, TableWriter, WriteOptions};

    let home = tempfile::tempdir().unwrap();
    let table = |name: &str, columns: Vec<(&str, ArrayRef)>| {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = std::fs::File::create(home.path().join(name)).unwrap();
        let mut writer =
            TableWriter::create(file, Encoding::Parquet, &batch.schema(), &WriteOptions::default()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    };
    let numbers = |numbers: &[u64]| -> ArrayRef { Arc::new(UInt64Array::from(numbers.to_vec())) };
    table(
        "nodes.parquet",
        vec![("id", numbers(&[7, i64::MAX as u64])), ("t", Arc::new(StringArray::from(vec!["a", "b"])))],
    );
    table("edges.parquet", vec![("source", numbers(&[7])), ("target", numbers(&[i64::MAX as u64]))]);
    let source = open(home.path());
    let out = tempfile::tempdir().unwrap();
    let place = out.path().join("out");
    write(&source, Format::GRAPHAR, &place, false).unwrap();
    let written = alone(&place);
    assert_eq!(written.graph.graph().nodes[0].key.data_type, arrow_schema::DataType::Int64);
    let keys: Vec<Value> = lines(&written).iter().filter_map(|line| line.get("key").cloned()).collect();
    assert_eq!(keys[..2], [json!(7), json!(i64::MAX)]);
    assert_eq!(digests(&open(&place)).unwrap(), digests(&source).unwrap());
}
