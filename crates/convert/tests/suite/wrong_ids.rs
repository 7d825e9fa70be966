//! Ids and ends in lines of APOC, against a comparison of all with all; tables without rows; columns of Arrow that hold nothing, or structs.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, NullArray, RecordBatch, StringArray, StructArray};
use arrow_schema::Field;
use isomorph_convert::{Format, OpenOptions, Opened, Silent, dump};
use isomorph_error::{Findings, Severity};
use isomorph_storage::{Budget, Location, Resources};
use isomorph_tables::{Encoding, TableWriter, WriteOptions};
use proptest::prelude::*;
use serde_json::json;

use super::databases::write;
use super::flat_tables::{columns, counts, digests, directory, lines, open, opened};

fn apoc(path: &Path, lenient: bool, memory: u64) -> Opened {
    let resources = Resources { budget: Budget::new(memory), ..Resources::of_this_machine().unwrap() };
    let mut options = OpenOptions { unsound: true, resources: Some(resources), ..OpenOptions::default() };
    options.get_mut::<isomorph_neo4j::OpenOptions>().lenient = lenient;
    Opened::open(&Location::from_path(path), &options).unwrap_or_else(|error| panic!("{error:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nodes and relationships come in any order after the first node.
    #[test]
    fn ids_of_apoc_are_compared_when_a_file_is_opened(
        records in prop::collection::vec(prop_oneof![
            (0u8..6).prop_map(|id| (id, None)),
            (0u8..7, 0u8..7).prop_map(|(from, to)| (from, Some(to))),
        ], 0..12),
        memory in prop::sample::select(vec![1u64 << 28, 40_000]),
    ) {
        let records: Vec<(u8, Option<u8>)> = std::iter::once((0, None)).chain(records).collect();
        let line = |(id, to): &(u8, Option<u8>)| match to {
            None => format!("{{\"type\":\"node\",\"id\":\"{id}\",\"labels\":[\"p\"],\"properties\":{{\"n\":{id}}}}}\n"),
            Some(to) => format!("{{\"type\":\"relationship\",\"id\":\"0\",\"label\":\"k\",\"start\":{{\"id\":\"{id}\"}},\"end\":{{\"id\":\"{to}\"}}}}\n"),
        };
        let ids: Vec<u8> = records.iter().filter(|(_, to)| to.is_none()).map(|(id, _)| *id).collect();
        let (mut seen, mut repeated, mut lost, mut clean) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        for (number, record) in (1u64..).zip(&records) {
            let ends = record.1.map(|to| [record.0, to].into_iter().filter(|end| !ids.contains(end)).count());
            match ends {
                None if seen.contains(&record.0) => repeated.push(number),
                None => {
                    seen.push(record.0);
                    clean.push_str(&line(record));
                }
                Some(0) => clean.push_str(&line(record)),
                Some(ends) => lost.extend(std::iter::repeat_n(number, ends)),
            }
        }
        let text: String = records.iter().map(line).collect();
        let home = directory(&[("x.json", &text), ("clean.json", &clean)]);
        let graph = apoc(&home.path().join("x.json"), false, memory);
        let told = |findings: &Findings, rule: &str| -> Vec<u64> {
            let all = findings.by_rule().flat_map(|(_, kept)| kept).filter(|one| one.rule.id == rule);
            all.map(|one| one.place.line.unwrap()).collect()
        };
        let findings = graph.native.about().findings;
        prop_assert_eq!((told(&findings, "NEO4J-ID"), told(&findings, "NEO4J-END")), (repeated.clone(), lost.clone()));
        let is_wrong = !repeated.is_empty() || !lost.is_empty();
        let resources = Resources::of_this_machine().unwrap();
        prop_assert_eq!(dump(graph.graph.as_ref(), &mut Vec::new(), &resources, &Silent).is_err(), is_wrong);
        prop_assert_eq!(opened(&home.path().join("x.json")).is_err(), is_wrong);
        let lenient = apoc(&home.path().join("x.json"), true, memory);
        prop_assert_eq!(digests(&lenient).unwrap(), digests(&open(&home.path().join("clean.json"))).unwrap());
        prop_assert_eq!(counts(lenient.graph.graph()), counts(open(&home.path().join("clean.json")).graph.graph()));
        let set_aside: Vec<u64> = lenient.format.set_aside(lenient.native.as_ref()).iter().map(|one| one.place.line.unwrap()).collect();
        lost.dedup();
        prop_assert_eq!(set_aside, repeated.into_iter().chain(lost).collect::<Vec<_>>());
    }
}

#[test]
fn json_lines_without_a_line_are_a_table_without_rows() {
    let home = directory(&[("nodes.jsonl", "{\"id\":1,\"n\":\"a\"}\n{\"id\":2}\n"), ("edges.jsonl", "")]);
    let graph = open(home.path());
    assert_eq!(counts(graph.graph.graph()), (vec![2], vec![0]));
    assert_eq!(columns(graph.graph.graph())[0], "node(id Int): n string");
    let findings = graph.native.about().findings;
    assert_eq!(findings.worst(), Some(Severity::Warning), "{findings:?}");
    let all: Vec<_> =
        findings.by_rule().flat_map(|(_, all)| all).map(|one| (one.rule.id, one.place.file.clone())).collect();
    assert_eq!(all, [("FLAT-EMPTY", Some("edges.jsonl".to_owned()))]);
    assert_eq!(
        lines(&graph).len(),
        lines(&open(directory(&[("nodes.csv", "id,n\n1,a\n2,\n"), ("edges.csv", "source,target\n")]).path())).len()
    );
    let out = tempfile::tempdir().unwrap();
    write(&graph, Format::GRAPHAR, &out.path().join("out"), false).unwrap();
    // Nodes without which edges end in nothing are not supplied; keys of a table without rows are as the ends.
    let home = directory(&[("nodes.jsonl", "\n"), ("edges.jsonl", "{\"source\":1,\"target\":2}\n")]);
    let error = opened(home.path()).and_then(|opened| digests(&opened)).unwrap_err();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("FLAT-END"), "{error:?}");
    let home = directory(&[("nodes.jsonl", ""), ("edges.jsonl", "")]);
    assert_eq!(counts(open(home.path()).graph.graph()), (vec![0], vec![0]));
}

#[test]
fn arrow_columns_of_nulls_are_text_and_structs_stay() {
    let home = directory(&[("edges.csv", "source,target\n1,2\n")]);
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    let inner: ArrayRef = Arc::new(NullArray::new(2));
    let parts = vec![
        (Arc::new(Field::new("x", names.data_type().clone(), true)), Arc::clone(&names)),
        (Arc::new(Field::new("nothing", inner.data_type().clone(), true)), inner),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("id", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef, false),
        ("nothing", Arc::new(NullArray::new(2)) as ArrayRef, true),
        ("place", Arc::new(StructArray::from(parts)) as ArrayRef, true),
    ])
    .unwrap();
    let file = std::fs::File::create(home.path().join("nodes.arrow")).unwrap();
    let mut writer = TableWriter::create(file, Encoding::Arrow, &batch.schema(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let graph = open(home.path());
    assert_eq!(
        columns(graph.graph.graph())[0],
        "node(id Int): nothing string, place struct<x: string, nothing: string>"
    );
    let all: Vec<_> = lines(&graph).iter().filter_map(|line| line.get("properties").cloned()).collect();
    assert_eq!(all[0], json!({ "place": { "x": "a" } }), "{all:?}");
    let out = tempfile::tempdir().unwrap();
    for to in [Format::GRAPHAR, Format::GRAPHML, Format::PARQUET, Format::ARROW, Format::CSV] {
        write(&graph, to, &out.path().join(to.id()), false).unwrap();
    }
}
