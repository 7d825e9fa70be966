//! A graph that the published library cannot read is invalid, even if isomorph does not need the missing part.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use common::build::{Files, text};
use common::{copy, fixtures, open};
use isomorph_error::{Findings, Severity};
use isomorph_model::Source;
use isomorph_tables::{Compression, Encoding, TableWriter, WriteOptions};

/// The rules of errors that validation finds, or with which it ends.
fn errors(path: &Path) -> Vec<&'static str> {
    let mut findings = Findings::keeping(1);
    let error = open(path).and_then(|graph| graph.validate(&mut findings)).err();
    let found = findings.by_rule().map(|(_, kept)| kept[0].rule).filter(|rule| rule.severity == Severity::Error);
    found.map(|rule| rule.id).chain(error.map(|error| error.broken_rule().unwrap().id)).collect()
}

/// The bytes of a table in which the first value of a column has an impossible length.
fn damaged(columns: Vec<(&str, arrow_array::ArrayRef)>, value: &str) -> Vec<u8> {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let options = WriteOptions { compression: Compression::None, ..WriteOptions::default() };
    let mut writer = TableWriter::create(Vec::new(), Encoding::Parquet, &batch.schema(), &options).unwrap();
    writer.write(&batch).unwrap();
    let (mut bytes, _) = writer.finish().unwrap();
    let stored = [&(value.len() as u32).to_le_bytes(), value.as_bytes()].concat();
    let at = bytes.windows(stored.len()).position(|window| window == stored).unwrap();
    bytes[at..at + 4].fill(0xff);
    bytes
}

#[test]
fn columns_that_nothing_needs_are_read_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let sound = folder.path().join("sound");
    Files::small().write(&sound);
    assert!(errors(&sound).is_empty());
    let memberships = || vec![("slice_id", text(["default", "default", "s"])), ("node_id", text(["a", "b", "a"]))];
    for (name, file, mut columns) in [
        ("presence", "layers/node_presence.parquet", vec![("node_id", text(["a", "b"]))]),
        ("memberships", "slices/node_memberships.parquet", memberships()),
        ("registry", "slices/registry.parquet", vec![("slice_id", text(["default", "s"]))]),
    ] {
        let rows = columns[0].1.len();
        columns.push(("other", text(vec!["a marked value"; rows])));
        let place = folder.path().join(name);
        let mut files = Files::small();
        files.put(file, damaged(columns, "a marked value"));
        files.write(&place);
        assert!(!errors(&place).is_empty(), "{name}");
    }
}

#[test]
fn a_damaged_arrow_schema_is_found() {
    let folder = tempfile::tempdir().unwrap();
    for table in ["structure/edges.parquet", "tables/_node_table.parquet"] {
        let place = folder.path().join(table.replace('/', "-"));
        copy(&fixtures().join("everything_flat/graph.annnet.d"), &place);
        assert!(errors(&place).is_empty());
        let mut bytes = fs::read(place.join(table)).unwrap();
        let at = bytes.windows(12).position(|window| window == b"ARROW:schema").unwrap();
        bytes[at + 60] = b'!';
        fs::write(place.join(table), bytes).unwrap();
        assert_eq!(errors(&place), ["PARQUET-FOOTER"], "{table}");
    }
}

/// The published library trusts the embedded types of columns, and fails if they are wrong.
#[test]
fn an_arrow_schema_of_other_types_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("graph");
    copy(&fixtures().join("everything_flat/graph.annnet.d"), &place);
    assert!(errors(&place).is_empty());
    let file = place.join("structure/edges.parquet");
    let bytes = bytes::Bytes::from(fs::read(&file).unwrap());
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    let schema = batches[0].schema();
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    for (column, ty, expected) in [
        ("edge_id", DataType::LargeUtf8, &[][..]),
        ("edge_id", DataType::Binary, &["PARQUET-FOOTER"]),
        ("col_idx", time, &["PARQUET-FOOTER"]),
        ("weight", DataType::Float32, &["PARQUET-FOOTER"]),
    ] {
        let fields = schema.fields().iter().map(|field| match field.name() == column {
            true => Field::new(column, ty.clone(), true),
            false => field.as_ref().clone(),
        });
        let embedded = parquet::arrow::encode_arrow_schema(&Schema::new(fields.collect::<Vec<_>>()));
        let entry = parquet::file::metadata::KeyValue::new("ARROW:schema".to_owned(), embedded);
        let properties =
            parquet::file::properties::WriterProperties::builder().set_key_value_metadata(Some(vec![entry]));
        let options = parquet::arrow::arrow_writer::ArrowWriterOptions::new()
            .with_properties(properties.build())
            .with_skip_arrow_metadata(true);
        let out = fs::File::create(&file).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new_with_options(out, schema.clone(), options).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.close().unwrap();
        assert_eq!(errors(&place), expected, "{column} {ty}");
    }
}

#[test]
fn values_of_the_manifest_have_their_types() {
    let with = |key: &str, value: &str| {
        let mut files = Files::small();
        let others =
            [("graph_version", "3"), ("directed", "true"), ("active_slice", "\"s\""), ("default_slice", "\"default\"")];
        let own = |(name, other)| format!("\"{name}\": {}", if name == key { value } else { other });
        files.put("manifest.json", format!("{{{}}}", others.map(own).join(", ")));
        files.broken()
    };
    for value in ["\"yes\"", "\"true\"", "0", "1", "[]", "{}"] {
        assert_eq!(with("directed", value), ["ANNNET-MANIFEST"], "{value}");
    }
    for (key, value) in
        [("graph_version", "\"x\""), ("graph_version", "1.5"), ("active_slice", "1"), ("default_slice", "[]")]
    {
        assert!(with(key, value).contains(&"ANNNET-MANIFEST"), "{key} {value}");
    }
    for (key, value) in
        [("directed", "null"), ("directed", "false"), ("graph_version", "null"), ("graph_version", "-1")]
    {
        assert!(with(key, value).is_empty(), "{key} {value}");
    }
}

#[test]
fn older_layouts_may_lack_sections_and_newer_ones_may_not() {
    let folder = tempfile::tempdir().unwrap();
    for (fixture, expected) in [("v1_0.1.1/flat", &[][..]), ("everything_flat", &["ANNNET-MEMBER"][..])] {
        let place = folder.path().join(expected.len().to_string());
        copy(&fixtures().join(fixture).join("graph.annnet.d"), &place);
        fs::remove_dir_all(place.join("slices")).unwrap();
        assert_eq!(errors(&place), expected, "{fixture}");
    }
}

/// A repeated id is found when the graph is opened, so that no command continues with one of the two edges.
#[test]
fn edges_of_one_id_are_found_at_opening() {
    let mut files = Files::small();
    let noticed = |files: &Files| {
        files.with(|opened| {
            let opened = opened.unwrap();
            let told = opened.about();
            let kept = told.findings.by_rule().flat_map(|(_, kept)| kept);
            let own = kept.filter(|kept| kept.rule.id == "ANNNET-EDGE-ID");
            own.map(|kept| kept.message.to_string()).collect::<Vec<_>>()
        })
    };
    assert!(noticed(&files).is_empty());
    files.column("structure/edges.parquet", "edge_id", text(["e", "e"]));
    assert_eq!(noticed(&files), ["id \"e\" is repeated: row 0 has it as well"]);
}
