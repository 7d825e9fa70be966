//! Keys of tables that are missing or repeated, and files of a table that are not quite alike.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, NullArray, RecordBatch, StringArray};
use isomorph_convert::{OpenOptions, Opened};
use isomorph_error::{Error, Findings, Severity};
use isomorph_storage::Location;
use isomorph_tables::{Encoding, TableWriter, WriteOptions};
use serde_json::json;

use super::flat_tables::{columns, counts, digests, directory, lines, open, opened};

fn lenient(path: &Path) -> Opened {
    let mut options = OpenOptions { unsound: true, ..OpenOptions::default() };
    options.get_mut::<isomorph_flat::OpenOptions>().lenient = true;
    Opened::open(&Location::from_path(path), &options).unwrap_or_else(|error| panic!("{error:?}"))
}

/// What `validate` finds: rule, file and line.
fn findings(path: &Path, is_lenient: bool) -> Vec<(&'static str, String, Option<u64>)> {
    let opened = match is_lenient {
        true => lenient(path),
        false => {
            let options = OpenOptions { unsound: true, ..OpenOptions::default() };
            Opened::open(&Location::from_path(path), &options).unwrap()
        }
    };
    let mut findings = Findings::keeping(100);
    opened.native.validate(&mut findings).unwrap();
    let all = findings.by_rule().flat_map(|(_, all)| all);
    all.map(|one| (one.rule.id, one.place.file.clone().unwrap_or_default(), one.place.line)).collect()
}

#[track_caller]
fn refused(error: Error, rule: &str, file: &str, words: &str) {
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{error:?}");
    assert_eq!(error.place().file.as_deref(), Some(file), "{error:?}");
    assert!(error.message().contains(words), "{error:?}");
}

const EDGES: (&str, &str) = ("edges.csv", "source,target\n1,1\n");

/// A look-up would find one of two nodes, and a count both: so neither is done.
#[test]
fn a_repeated_key_ends_every_reading_when_tables_are_opened() {
    for (name, text, place) in [
        ("nodes.csv", "id,n\n1,a\n2,b\n\n1,c\n", "line 2"),
        ("nodes.tsv", "id\tn\nx\ta\ny\tb\nx\tc\n", "line 2"),
        ("nodes.jsonl", "{\"id\":1}\n{\"id\":2}\n{\"id\":1}\n", "line 1"),
    ] {
        let mapping = format!(
            "CREATE EXTERNAL TABLE n STORED AS {} LOCATION '{name}' OPTIONS ('format.has_header' 'true'{});
CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id));",
            if name.ends_with("jsonl") { "JSON" } else { "CSV" },
            if name.ends_with("tsv") { ", 'format.delimiter' '\t'" } else { "" },
        );
        let home = directory(&[("graph.pgq", &mapping), (name, text)]);
        refused(opened(home.path()).err().unwrap(), "FLAT-KEY", name, place);
        assert_eq!(counts(lenient(home.path()).graph.graph()).0, [2], "{name}");
        assert_eq!(findings(home.path(), false), findings(home.path(), true), "{name}");
    }
    // In Parquet, and the earlier one in another file.
    let home = directory(&[EDGES]);
    std::fs::create_dir(home.path().join("nodes")).unwrap();
    for (at, keys) in [vec![1, 2], vec![3, 2]].into_iter().enumerate() {
        let keys: ArrayRef = Arc::new(Int64Array::from(keys));
        parquet(&home.path().join(format!("nodes/{at}.parquet")), &[("id", keys)]);
    }
    let error = opened(home.path()).err().unwrap();
    assert_eq!(error.place().row, Some(1), "{error:?}");
    refused(error, "FLAT-KEY", "nodes/1.parquet", "row 1 of nodes/0.parquet");
    let read = lenient(home.path());
    assert_eq!(counts(read.graph.graph()).0, [3]);
    assert_eq!(lines(&read).iter().filter(|line| line.get("node").is_some()).count(), 3);
}

#[test]
fn rows_without_a_key_are_set_aside() {
    let home = directory(&[("nodes.csv", "id,n\n1,a\n,b\n3,c\n,d\n1,e\n"), EDGES]);
    refused(opened(home.path()).err().unwrap(), "FLAT-KEY", "nodes.csv", "no key");
    let clean = directory(&[("nodes.csv", "id,n\n1,a\n3,c\n"), EDGES]);
    assert_eq!(digests(&lenient(home.path())).unwrap(), digests(&open(clean.path())).unwrap());
    let found = |line| ("FLAT-KEY", "nodes.csv".to_owned(), Some(line));
    assert_eq!(findings(home.path(), false), [found(3), found(5), found(6)]);
    assert_eq!(findings(home.path(), true), [found(3), found(5), found(6)]);
    // A key that the mapping declares as required.
    let mapping = "CREATE EXTERNAL TABLE n (id BIGINT NOT NULL, n VARCHAR NOT NULL) STORED AS CSV LOCATION 'n.csv' OPTIONS ('format.has_header' 'true');
CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id));";
    let home = directory(&[("graph.pgq", mapping), ("n.csv", "id,n\n1,a\n,b\n3,\n4,d\n")]);
    refused(opened(home.path()).and_then(|opened| digests(&opened)).unwrap_err(), "TEXT-VALUE", "n.csv", "missing");
    assert_eq!(counts(lenient(home.path()).graph.graph()).0, [2]);
    let found = |line| ("TEXT-VALUE", "n.csv".to_owned(), Some(line));
    assert_eq!(findings(home.path(), false), [found(3), found(4)]);
}

/// One pass of `validate` names what is wrong in every table.
#[test]
fn every_wrong_row_is_a_finding() {
    let home = directory(&[
        ("n.csv", "id:ID,age:int\na,1\nb,x\na,2\n,3\nc,y\n"),
        ("r.csv", ":START_ID,:END_ID,:TYPE\na,b,K\na,a,K\nz,a,K\n"),
    ]);
    let all = findings(home.path(), false);
    assert_eq!(all, findings(home.path(), true));
    let of = |rule: &str| {
        let mut lines: Vec<u64> = all.iter().filter(|one| one.0 == rule).map(|one| one.2.unwrap()).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!((of("TEXT-VALUE"), of("FLAT-KEY"), of("FLAT-END")), (vec![3, 6], vec![4, 5], vec![2, 4]));
}

fn parquet(path: &Path, columns: &[(&str, ArrayRef)]) {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.iter().map(|(name, column)| (*name, Arc::clone(column), true)),
    )
    .unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = TableWriter::create(file, Encoding::Parquet, &batch.schema(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn files_of_a_table_may_have_narrower_types() {
    let home = directory(&[EDGES]);
    std::fs::create_dir(home.path().join("nodes")).unwrap();
    let write = |name: &str, columns: &[(&str, ArrayRef)]| parquet(&home.path().join("nodes").join(name), columns);
    let ids = |ids: Vec<i64>| Arc::new(Int64Array::from(ids)) as ArrayRef;
    let ints = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values)) as ArrayRef;
    write(
        "a.parquet",
        &[("id", Arc::new(Int32Array::from(vec![1]))), ("w", ints(vec![Some(7)])), ("t", ints(vec![None]))],
    );
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None]));
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.5]));
    write("b.parquet", &[("t", Arc::new(NullArray::new(2))), ("id", ids(vec![2, 3])), ("w", floats)]);
    assert_eq!(columns(open(home.path()).graph.graph())[0], "node(id Int): w double, t int64");
    let all: Vec<_> = lines(&open(home.path())).iter().filter_map(|line| line.get("properties").cloned()).collect();
    assert!(all.contains(&json!({ "w": 7.0 })), "{all:?}");
    // A column that no file has a value in is text.
    write("a.parquet", &[("id", ids(vec![1])), ("w", ints(vec![None])), ("t", Arc::new(NullArray::new(1)))]);
    assert_eq!(columns(open(home.path()).graph.graph())[0], "node(id Int): w double, t string");
    // An integer that no double is.
    write(
        "a.parquet",
        &[("id", ids(vec![1, 9])), ("w", ints(vec![None, Some((1 << 53) + 1)])), ("t", Arc::new(NullArray::new(2)))],
    );
    let error = opened(home.path()).and_then(|opened| digests(&opened)).unwrap_err();
    assert_eq!(error.place().row, Some(1), "{error:?}");
    refused(error, "VALUE-INEXACT", "nodes/a.parquet", "exactly");
    // Texts and integers have no common type.
    write("a.parquet", &[("id", ids(vec![1])), ("w", ints(vec![None])), ("t", ints(vec![Some(1)]))]);
    write("b.parquet", &[("t", texts), ("id", ids(vec![2, 3])), ("w", ints(vec![None, None]))]);
    assert!(opened(home.path()).is_err());
}

#[test]
fn files_without_bytes_are_skipped_with_a_finding() {
    let home = directory(&[EDGES]);
    std::fs::create_dir(home.path().join("nodes")).unwrap();
    for (name, text) in [("a.csv", ""), ("b.csv", "id\n1\n"), ("c.csv", "")] {
        std::fs::write(home.path().join("nodes").join(name), text).unwrap();
    }
    let read = open(home.path());
    assert_eq!(counts(read.graph.graph()).0, [1]);
    let found = read.native.about().findings;
    assert_eq!(found.worst(), Some(Severity::Warning), "{found:?}");
    let names: Vec<_> = found.by_rule().flat_map(|(_, all)| all).map(|one| one.place.file.clone().unwrap()).collect();
    assert_eq!(names, ["nodes/a.csv", "nodes/c.csv"]);
    // A table of nothing else has no columns.
    std::fs::write(home.path().join("nodes/b.csv"), "").unwrap();
    assert!(opened(home.path()).is_err());
}

#[test]
fn records_with_another_number_of_fields_are_set_aside() {
    let (nodes, edges) = ("id,n\n1,5\n2\n3,7,8\n4,\"a\nb\",c\n\n5,6\n", "source,target\n1,5\n1\n5,1\n3,1\n");
    let home = directory(&[("nodes.csv", nodes), ("edges.csv", edges)]);
    refused(opened(home.path()).err().unwrap(), "CSV-RECORD", "nodes.csv", "the record has 1 fields");
    let clean = directory(&[("nodes.csv", "id,n\n1,5\n5,6\n"), ("edges.csv", "source,target\n1,5\n5,1\n")]);
    let read = lenient(home.path());
    assert_eq!(digests(&read).unwrap(), digests(&open(clean.path())).unwrap());
    assert_eq!(columns(read.graph.graph()), columns(open(clean.path()).graph.graph()));
    let found = |rule, file: &str, line| (rule, file.to_owned(), Some(line));
    let all = [
        found("CSV-RECORD", "nodes.csv", 3),
        found("CSV-RECORD", "nodes.csv", 4),
        found("CSV-RECORD", "nodes.csv", 5),
        found("CSV-RECORD", "edges.csv", 3),
        found("FLAT-END", "edges.csv", 5),
    ];
    assert_eq!(findings(home.path(), true), all);
    // Compressed, with declared types, and in pieces.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, nodes.as_bytes()).unwrap();
    std::fs::write(home.path().join("nodes.csv"), packed.finish().unwrap()).unwrap();
    assert_eq!(digests(&lenient(home.path())).unwrap(), digests(&open(clean.path())).unwrap());
    let mapping = "CREATE EXTERNAL TABLE n (id BIGINT NOT NULL, n BIGINT NOT NULL) STORED AS CSV LOCATION 'nodes.csv' OPTIONS ('format.has_header' 'true');
CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id));";
    std::fs::write(home.path().join("graph.pgq"), mapping).unwrap();
    assert_eq!(counts(lenient(home.path()).graph.graph()).0, [2]);
    // Where the record with an open quotation mark ends is unknown.
    let home = directory(&[("nodes.csv", "id,n\n1,\"a\n2,b\n"), EDGES]);
    let mut options = OpenOptions { unsound: true, ..OpenOptions::default() };
    options.get_mut::<isomorph_flat::OpenOptions>().lenient = true;
    let error = Opened::open(&Location::from_path(home.path()), &options).err().unwrap();
    refused(error, "CSV-RECORD", "nodes.csv", "no closing quote");
}

#[test]
fn an_edge_of_kgx_without_a_predicate_is_set_aside() {
    let nodes = "{\"id\":\"a:1\",\"category\":[\"x\"]}\n{\"id\":\"a:2\",\"category\":[\"x\"]}\n";
    let edge = |predicate: &str| format!("{{\"subject\":\"a:1\",{predicate}\"object\":\"a:2\"}}\n");
    let edges = [edge("\"predicate\":\"b:c\","), edge(""), edge("\"predicate\":null,")].concat();
    let home = directory(&[("nodes.jsonl", nodes), ("edges.jsonl", &edges)]);
    let error = opened(home.path()).and_then(|opened| digests(&opened)).unwrap_err();
    assert!(error.message().contains("names no relation"), "{error:?}");
    let read = lenient(home.path());
    assert_eq!(counts(read.graph.graph()), (vec![2], vec![1]));
    let clean = directory(&[("nodes.jsonl", nodes), ("edges.jsonl", &edge("\"predicate\":\"b:c\","))]);
    assert_eq!(digests(&read).unwrap(), digests(&open(clean.path())).unwrap());
    assert_eq!(findings(home.path(), true), [2, 3].map(|line| ("FLAT-RELATION", "edges.jsonl".to_owned(), Some(line))));
}
