//! Every rule is violated once, and reported with its row.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use common::rows::{Row, batch, edge, file, file_of_groups, node, parquet as parquet_of};
use common::{fixtures, open, open_bytes, view};
use isomorph_error::{Findings, Rule, Severity};
use isomorph_model::Source;
use isomorph_nock::{OpenOptions, Tolerance, rules};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;

fn findings(bytes: Vec<u8>) -> Findings {
    let nock = open_bytes(bytes, &OpenOptions::default()).unwrap();
    let mut findings = Findings::keeping(3);
    nock.validate(&mut findings).unwrap();
    findings
}

fn ids(findings: &Findings) -> Vec<&'static str> {
    findings.by_rule().map(|(_, kept)| kept[0].rule.id).collect()
}

/// Checks that the rows violate `rule` in row `row`, and no other rule except the note on pynock's types.
fn breaks(rows: &[Row], rule: &'static Rule, row: u64) {
    for group in [1, 100] {
        let findings = findings(file_of_groups(rows, group));
        let others: Vec<_> =
            ids(&findings).into_iter().filter(|id| *id != rule.id && *id != "NOCK-FILE-TYPES").collect();
        assert!(others.is_empty(), "{}: {others:?}", rule.id);
        let (count, kept) = findings.by_rule().find(|(_, kept)| kept[0].rule == rule).expect(rule.id);
        assert_eq!((count, kept[0].place.row), (1, Some(row)), "{}", rule.id);
        let strict = OpenOptions::default().tolerance(Tolerance::Strict);
        let refused = open_bytes(file_of_groups(rows, group), &strict).and_then(|nock| view(&nock));
        assert_eq!(refused.is_err(), rule.severity > Severity::Note, "{}", rule.id);
    }
}

#[test]
fn a_sound_file_breaks_nothing() {
    let found = findings(file(&[node("a"), edge("a", 0, "r", "a"), edge("a", 1, "r", "b"), node("b")]));
    assert_eq!(ids(&found), ["NOCK-FILE-TYPES"]);
}

/// The Arrow schema embedded in a footer is not used here, but pyarrow, pandas and Polars cannot open a file in which it is damaged.
#[test]
fn a_damaged_arrow_schema_is_found() {
    let mut bytes = file(&[node("a"), edge("a", 0, "r", "b"), node("b")]);
    let at = bytes.windows(12).position(|window| window == b"ARROW:schema").unwrap();
    bytes[at + 60] = b'!';
    assert_eq!(ids(&findings(bytes)), ["NOCK-FILE-TYPES", "PARQUET-FOOTER"]);
}

#[test]
fn each_rule_of_rows() {
    let a = || node("a");
    let e = |id| edge("a", id, "r", "a");
    breaks(&[a(), Row { edge_id: None, ..e(0) }], &rules::EDGE_ID, 1);
    assert_eq!(ids(&findings(file(&[a(), e(i32::MAX.into())]))), ["NOCK-FILE-TYPES"]);
    breaks(&[a(), e(i64::from(i32::MAX) + 1)], &rules::EDGE_ID_RANGE, 1);
    breaks(&[Row { edge_id: Some(i64::MIN), ..a() }, e(0)], &rules::EDGE_ID_RANGE, 0);
    breaks(&[Row { edge_id: Some(-5), ..a() }, e(0)], &rules::EDGE_ID_RANGE, 0);
    breaks(&[a(), e(0), e(1), e(1)], &rules::EDGE_ID_REPEATED, 3);
    breaks(&[a(), e(1), e(1)], &rules::EDGE_ID_REPEATED, 2);
    breaks(&[e(0), a()], &rules::EDGE_SEQUENCE, 0);
    breaks(&[a(), node("b"), e(0)], &rules::EDGE_SEQUENCE, 2);
    breaks(&[Row { rel_name: Some("r"), ..a() }], &rules::IGNORED, 0);
    breaks(&[a(), e(0).labels("L")], &rules::IGNORED, 1);
    breaks(&[a(), e(0).shadow(1)], &rules::IGNORED, 1);
    breaks(&[a().labels("A, B")], &rules::LABELS, 0);
    breaks(&[a().labels(",A")], &rules::LABELS, 0);
    breaks(&[Row { labels: None, ..a() }], &rules::LABELS_NULL, 0);
    breaks(&[Row { dst_name: None, ..a() }], &rules::MISSING_NULL, 0);
    breaks(&[a(), Row { labels: None, ..e(0) }], &rules::MISSING_NULL, 1);
    breaks(&[Row { src_name: Some(""), ..a() }], &rules::NAME_EMPTY, 0);
    breaks(&[a(), Row { dst_name: None, ..e(0) }], &rules::NAME_EMPTY, 1);
    breaks(&[a(), edge("a", 0, "r", "b")], &rules::NODE_IMPLICIT, 1);
    breaks(&[a(), a()], &rules::NODE_REPEATED, 0);
    breaks(&[Row { props: Some(r#"{"a":"#), ..a() }], &rules::PROPS_JSON, 0);
    breaks(&[Row { props: Some(" "), ..a() }], &rules::PROPS_JSON, 0);
    for half in [r#"{"a":"\ud800"}"#, r#"{"a":[{"b":"\udc00x"}]}"#, r#"{"\ud800":1}"#] {
        breaks(&[Row { props: Some(half), ..a() }], &rules::PROPS_JSON, 0);
    }
    let whole = Row { props: Some(r#"{"a":"\ud83d\ude00 \\ud800","\"":"\u0041"}"#), ..a() };
    assert_eq!(findings(file(&[whole])).count(&rules::PROPS_JSON), 0);
    breaks(&[Row { props: Some(r#"{"a":Infinity}"#), ..a() }], &rules::PROPS_NAN, 0);
    breaks(&[Row { props: None, ..a() }], &rules::PROPS_NULL, 0);
    breaks(&[Row { props: Some("[1]"), ..a() }], &rules::PROPS_OBJECT, 0);
    breaks(&[Row { props: Some(r#"{"a":1,"b":2,"a":3}"#), ..a() }], &rules::PROPS_REPEATED, 0);
    breaks(
        &[a(), Row { is_rdf: Some(true), rel_name: Some("urn:r"), dst_name: Some("urn:a"), ..e(0) }, node("urn:a")],
        &rules::RDF_EDGE,
        1,
    );
    breaks(&[Row { is_rdf: Some(true), ..a() }], &rules::RDF_NAME, 0);
    breaks(&[Row { is_rdf: None, ..a() }], &rules::RDF_NULL, 0);
    breaks(&[a(), Row { rel_name: None, ..e(0) }], &rules::REL_NULL, 1);
    breaks(&[a().shadow(2)], &rules::SHADOW_OWNER, 0);
    breaks(&[a().shadow(-2)], &rules::SHADOW_RANGE, 0);
    breaks(&[Row { truth: None, ..a() }], &rules::TRUTH_MISSING, 0);
    breaks(&[Row { truth: Some(f64::NAN), ..a() }], &rules::TRUTH_MISSING, 0);
    breaks(&[Row { truth: Some(-0.5), ..a() }], &rules::TRUTH_RANGE, 0);
}

#[test]
fn edges_of_a_foreign_node() {
    let found = findings(file(&[node("a").shadow(1), edge("a", 0, "r", "a"), edge("a", 1, "r", "a")]));
    assert_eq!(found.count(&rules::SHADOW_EDGES), 1);
}

#[test]
fn rules_of_files() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("part_0.parq"), file(&[node("a")])).unwrap();
    let text =
        "\u{feff}src_name,edge_id,rel_name,dst_name,truth,shadow,labels,props\n\"b\",-1,\"\",\"\",1.0,-1,\"\",\"\"\n";
    std::fs::write(home.path().join("part_1.csv"), text).unwrap();
    let nock = open(home.path(), &OpenOptions::default()).unwrap();
    let mut found = Findings::keeping(3);
    nock.validate(&mut found).unwrap();
    assert_eq!(ids(&found), ["NOCK-CSV-BOM", "NOCK-FILE-COLUMNS", "NOCK-FILE-TYPES", "NOCK-PART-SCHEMA"]);
    assert_eq!(found.worst(), Some(Severity::Error));
}

#[test]
fn texts_are_spelled_as_the_published_library_reads_them() {
    let header =
        "\"src_name\",\"edge_id\",\"rel_name\",\"dst_name\",\"truth\",\"shadow\",\"is_rdf\",\"labels\",\"props\"\n";
    let sound = "\"a \"\"b\"\"\",-1,\"\",\"\",1.0,-1,False,\"A\",\"{\"\"k\"\":\"\"x\n\ny,true\"\"}\"\n";
    let sound = sound.replace("x\n\ny", "x\\n");
    let cases = [
        (sound.clone(), None),
        (sound.replace("False", "0"), None),
        (sound.replace('\n', "\r\n"), None),
        (sound.replace("False", "\"True\""), None),
        (sound.replace("False", "true"), Some((&rules::CSV_FLAG, 2))),
        (sound.replace("False", "FALSE"), Some((&rules::CSV_FLAG, 2))),
        (format!("\n{sound}"), Some((&rules::CSV_BLANK, 2))),
        (format!("{sound}\r\n"), Some((&rules::CSV_BLANK, 3))),
        (sound.replace("\"A\"", "A"), Some((&rules::CSV_QUOTES, 2))),
        (sound.replace("\"a ", "\"a\r\n"), Some((&rules::CSV_RETURN, 2))),
        (sound.replace("\"A\"", "\"A\rB\""), Some((&rules::CSV_RETURN, 2))),
        (
            "\"a\",-1,\"\",\"\",1.0,-1,False,\"A\nB\",\"\"\nb,-1,,,1.0,-1,True,,\n".to_owned(),
            Some((&rules::CSV_QUOTES, 4)),
        ),
    ];
    for (rows, broken) in cases {
        let found = findings(format!("{header}{rows}").into_bytes());
        let wanted: Vec<&str> = broken.iter().map(|(rule, _)| rule.id).collect();
        let ids: Vec<&str> = ids(&found).into_iter().filter(|id| *id != "NOCK-RDF-NAME").collect();
        assert_eq!(ids, wanted, "{rows}");
        if let Some((rule, line)) = broken {
            let (count, kept) = found.by_rule().find(|(_, kept)| kept[0].rule == rule).unwrap();
            assert_eq!((count, kept[0].place.line), (1, Some(line)), "{rows}");
        }
    }
}

#[test]
fn the_index_of_pandas_is_no_property() {
    for name in ["", "__index_level_0__", "__null_dask_index__"] {
        let text = format!(
            "\"{name}\",src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n\
             0,\"a\",-1,\"\",\"\",1.0,-1,True,\"\",\"\"\n"
        );
        let nock = open_bytes(text.into_bytes(), &OpenOptions::default()).unwrap();
        let names: Vec<&str> = nock.graph().nodes[0].properties.iter().map(|property| property.name.as_str()).collect();
        assert_eq!(names, ["truth", "is_rdf", ""], "{name}: the bag is the one without a name");
        assert_eq!(nock.about().findings.count(&rules::FILE_INDEX), 1, "{name}: who knows what it holds");
    }
}

#[test]
fn several_levels_of_an_index_in_text_are_one_finding() {
    let header = "\"\",\"\",\"src_name\",\"edge_id\",\"rel_name\",\"dst_name\",\"truth\",\"shadow\",\"is_rdf\",\"labels\",\"props\"";
    let text = format!("{header}\n\"x\",0,\"a\",-1,\"\",\"\",1.0,-1,True,\"\",\"\"\n");
    let nock = open_bytes(text.into_bytes(), &OpenOptions::default()).unwrap();
    assert_eq!(nock.about().findings.count(&rules::FILE_INDEX), 1);
    assert_eq!(view(&nock).unwrap()["nodes"][0]["name"], "a");
}

#[test]
fn an_index_is_passed_over_in_silence_where_pandas_says_that_it_is_one() {
    let rows = batch(&[node("a")]);
    let with = |name: &str, metadata: Option<&str>| {
        let named = rows.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
        let columns = named.iter().map(String::as_str).zip(rows.columns().iter().cloned()).chain([(name, texts)]);
        let all = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, cells)| (name, cells, true))).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), all.schema(), None).unwrap();
        writer.write(&all).unwrap();
        if let Some(metadata) = metadata {
            writer.append_key_value_metadata(KeyValue::new("pandas".to_owned(), metadata.to_owned()));
        }
        findings(writer.into_inner().unwrap()).count(&rules::FILE_INDEX)
    };
    assert_eq!(with("__index_level_0__", Some(r#"{"index_columns":["__index_level_0__"]}"#)), 0);
    assert_eq!(with("__index_level_0__", Some(r#"{"index_columns":[]}"#)), 1);
    assert_eq!(with("", None), 1);
    assert_eq!(with("index", None), 0, "it is read");
}

#[test]
fn labels_and_relations_that_are_no_text_are_told_as_other_columns_are() {
    let rows = batch(&[node("a")]);
    for (at, name) in [(7, "labels"), (2, "rel_name"), (0, "src_name")] {
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_value([Some("A")]);
        let mut columns: Vec<(String, ArrayRef)> = rows
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .zip(rows.columns().iter().cloned())
            .collect();
        columns[at].1 = Arc::new(lists.finish());
        let columns = columns.into_iter().map(|(name, cells)| (name, cells, true));
        let file = parquet_of(&RecordBatch::try_from_iter_with_nullable(columns).unwrap(), 10);
        let error = open_bytes(file, &OpenOptions::default()).map(|_| ()).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&rules::FILE_COLUMN_TYPE), "{error}");
        assert_eq!((error.place().field.as_deref(), error.place().file.is_some()), (Some(name), true), "{error}");
    }
}

#[test]
fn long_fields_of_text() {
    let long = "x".repeat(200_000);
    let text =
        format!("src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n\"{long}\",-1,,,1.0,-1,True,,\n");
    let found = findings(text.into_bytes());
    assert_eq!(found.count(&rules::CSV_FIELD), 1);
}

#[test]
fn fixtures_have_no_errors_but_quirks() {
    let root = fixtures();
    for file in
        ["01_tiny/tiny.parq", "05_rdf_uris/out.parq", "06_spec_schema/spec_none_empty.parq", "03_karate_example"]
    {
        let nock = open(&root.join(file), &OpenOptions::default()).unwrap();
        let mut found = Findings::keeping(3);
        nock.validate(&mut found).unwrap();
        assert!(found.worst() <= Some(Severity::Warning), "{file}: {:?}", ids(&found));
    }
}

#[test]
fn whoever_fails_on_props_is_told_where_they_are() {
    let rows = [node("a"), edge("a", 0, "r", "a"), Row { props: Some(r#"{"a":}"#), ..edge("a", 1, "r", "a") }];
    let nock = open_bytes(file(&rows), &OpenOptions::default()).unwrap();
    let error = view(&nock).unwrap_err();
    assert_eq!(error.broken_rule(), Some(&rules::PROPS_JSON));
    assert_eq!((error.place().row, error.place().file.as_deref()), (Some(2), Some("memory.parq")));
}
