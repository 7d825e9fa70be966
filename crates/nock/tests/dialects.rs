//! Columns as other writers have them: widths, encodings, nulls, order, what is missing and what is too much.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, NullArray, RecordBatch, RecordBatchOptions};
use arrow_cast::cast;
use arrow_schema::{DataType, Schema};
use common::rows::{batch, edge, node, parquet};
use common::{open_bytes, view};
use isomorph_error::Result;
use isomorph_model::Source;
use isomorph_nock::{OpenOptions, Tolerance, rules};
use serde_json::{Value, json};

/// Columns by name, in any order.
type Columns = Vec<(String, ArrayRef)>;

fn columns() -> Columns {
    let batch = batch(&[node("a").labels("L"), edge("a", 0, "r", "b"), node("b")]);
    let names = batch.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    names.into_iter().zip(batch.columns().iter().cloned()).collect()
}

fn read(columns: Columns, tolerance: Tolerance) -> Result<Value> {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)));
    let nock = open_bytes(parquet(&batch.unwrap(), 2), &OpenOptions::default().tolerance(tolerance))?;
    view(&nock)
}

fn with(name: &str, change: impl Fn(&ArrayRef) -> ArrayRef) -> Columns {
    columns()
        .into_iter()
        .map(|(own, column)| if own == name { (own, change(&column)) } else { (own, column) })
        .collect()
}

fn without(name: &str) -> Columns {
    columns().into_iter().filter(|(own, _)| own != name).collect()
}

#[test]
fn any_width_and_encoding() {
    let wanted = read(columns(), Tolerance::Normal).unwrap();
    let words = DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Utf8));
    for (name, types) in [
        ("src_name", vec![DataType::LargeUtf8, DataType::Utf8View, words.clone()]),
        ("rel_name", vec![DataType::LargeUtf8, words.clone()]),
        ("labels", vec![DataType::LargeUtf8, words.clone()]),
        ("props", vec![DataType::LargeUtf8, words]),
        ("edge_id", vec![DataType::Int8, DataType::Int16, DataType::Int32]),
        ("shadow", vec![DataType::Int8, DataType::Int32]),
        ("truth", vec![DataType::Float16, DataType::Float32, DataType::Int32, DataType::UInt8]),
    ] {
        for ty in types {
            let found = read(with(name, |column| cast(column, &ty).unwrap()), Tolerance::Normal);
            assert_eq!(found.unwrap(), wanted, "{name} as {ty}");
        }
    }
}

#[test]
fn order_of_columns_and_pandas_index() {
    let wanted = read(columns(), Tolerance::Normal).unwrap();
    let mut other = columns();
    other.reverse();
    other.insert(3, ("__index_level_0__".to_owned(), Arc::new(Int64Array::from(vec![2, 0, 1]))));
    assert_eq!(read(other, Tolerance::Normal).unwrap(), wanted);
}

#[test]
fn columns_of_nulls_only() {
    // What pynock writes for a partition without edges.
    let nodes = batch(&[node("a"), node("b")]);
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (field, column) in nodes.schema().fields().iter().zip(nodes.columns()) {
        let nulls: ArrayRef = Arc::new(NullArray::new(2));
        let is_null = ["rel_name", "dst_name", "labels", "props", "shadow", "is_rdf"].contains(&field.name().as_str());
        columns.push((field.name().clone(), if is_null { nulls } else { column.clone() }));
    }
    let found = read(columns, Tolerance::Normal).unwrap();
    assert_eq!(found["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(found["edges"], json!([]));
}

#[test]
fn a_file_without_columns_is_an_empty_partition() {
    let options = RecordBatchOptions::new().with_row_count(Some(0));
    let empty = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
    let nock = open_bytes(parquet(&empty, 1), &OpenOptions::default()).unwrap();
    assert_eq!(view(&nock).unwrap(), json!({ "nodes": [], "edges": [] }));
    assert_eq!(nock.about().version, "no columns");
}

#[test]
fn what_is_missing() {
    let wanted = read(columns(), Tolerance::Normal).unwrap();
    for name in ["shadow", "is_rdf", "props"] {
        assert_eq!(read(without(name), Tolerance::Normal).unwrap(), wanted, "{name}");
        assert!(read(without(name), Tolerance::Strict).is_err(), "{name}");
    }
    assert_eq!(read(without("rel_name"), Tolerance::Normal).unwrap()["edges"][0]["rel"], json!(""));
    assert_eq!(read(without("labels"), Tolerance::Normal).unwrap()["nodes"][0]["labels"], json!([]));
    assert_eq!(read(without("truth"), Tolerance::Lenient).unwrap(), wanted);
    for name in ["src_name", "edge_id", "dst_name", "truth"] {
        let error = read(without(name), Tolerance::Normal).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&rules::FILE_COLUMNS), "{name}");
        assert_eq!(error.place().field.as_deref(), Some(name));
    }
}

#[test]
fn types_that_cannot_be_meant() {
    for (name, ty) in [
        ("src_name", DataType::Binary),
        ("props", DataType::Binary),
        ("is_rdf", DataType::Utf8),
        ("edge_id", DataType::Utf8),
        ("truth", DataType::Utf8),
    ] {
        let error = read(with(name, |column| cast(column, &ty).unwrap()), Tolerance::Lenient).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&rules::FILE_COLUMN_TYPE), "{name} as {ty}");
    }
}

#[test]
fn partitions_agree_on_types() {
    let home = tempfile::tempdir().unwrap();
    let write = |part: usize, columns: Columns| {
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        std::fs::write(home.path().join(format!("part_{part}.parq")), parquet(&batch, 10)).unwrap();
    };
    let mut narrow = with("truth", |column| cast(column, &DataType::Float32).unwrap());
    narrow.push(("n".to_owned(), Arc::new(arrow_array::Int16Array::from(vec![1, 2, 3]))));
    write(0, narrow);
    let mut wide = columns();
    wide.push(("n".to_owned(), Arc::new(Int64Array::from(vec![None, None, Some(1 << 40)]))));
    wide.push(("only_here".to_owned(), Arc::new(arrow_array::StringArray::from(vec!["x", "y", "z"]))));
    write(1, wide);
    let nock = common::open(home.path(), &OpenOptions::default()).unwrap();
    let types: Vec<(&str, &DataType)> =
        nock.graph().nodes[0].properties.iter().map(|property| (property.name.as_str(), &property.data_type)).collect();
    let wanted = [
        ("truth", &DataType::Float64),
        ("is_rdf", &DataType::Boolean),
        ("", &DataType::Utf8),
        ("n", &DataType::Int64),
        ("only_here", &DataType::Utf8),
    ];
    assert_eq!(types, wanted);
    assert_eq!(nock.about().findings.count(&rules::PART_SCHEMA), 1);
    assert_eq!(view(&nock).unwrap()["nodes"].as_array().unwrap().len(), 2);

    let mut other = columns();
    other.push(("n".to_owned(), Arc::new(arrow_array::StringArray::from(vec!["x", "y", "z"]))));
    write(2, other);
    assert!(common::open(home.path(), &OpenOptions::default()).is_err());
}
