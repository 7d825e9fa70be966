//! Columns of other writers: widths, encodings, nulls, order, missing and additional columns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, NullArray, RecordBatch, RecordBatchOptions};
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

/// A node row with two nested edge rows, and a node row without edges.
fn nested(ids: Option<[Option<i64>; 2]>, props: Option<ArrayRef>, of_nodes: Option<ArrayRef>) -> Vec<u8> {
    use arrow_array::{BooleanArray, Float64Array, ListArray, StringArray, StructArray};
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::Field;

    let text = |cells: &[&str]| Arc::new(StringArray::from(cells.to_vec())) as ArrayRef;
    let truth = || Arc::new(Float64Array::from(vec![1.0, 1.0])) as ArrayRef;
    let mut members = vec![("rel_name", text(&["r", "s"])), ("dst_name", text(&["b", "b"])), ("truth", truth())];
    members.push(("props", props.unwrap_or_else(|| text(&["", ""]))));
    members.push(("x", text(&["m", "n"])));
    members.extend(ids.map(|ids| ("edge_id", Arc::new(Int64Array::from(ids.to_vec())) as ArrayRef)));
    let field =
        |(name, column): (&str, ArrayRef)| (Arc::new(Field::new(name, column.data_type().clone(), true)), column);
    let members = StructArray::from(members.into_iter().map(field).collect::<Vec<_>>());
    let item = Arc::new(Field::new("element", members.data_type().clone(), true));
    let edges = ListArray::new(item, OffsetBuffer::from_lengths([2, 0]), Arc::new(members), None);
    let mut columns = vec![
        ("src_name", text(&["a", "b"])),
        ("truth", truth()),
        ("shadow", Arc::new(Int64Array::from(vec![-1, -1])) as ArrayRef),
        ("is_rdf", Arc::new(BooleanArray::from(vec![false, false])) as ArrayRef),
        ("labels", text(&["", ""])),
        ("props", text(&["", ""])),
        ("edges", Arc::new(edges) as ArrayRef),
    ];
    columns.extend(of_nodes.map(|column| ("x", column)));
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    parquet(&RecordBatch::try_from_iter_with_nullable(columns).unwrap(), 10)
}

#[test]
fn nested_edges_keep_the_numbers_that_they_state() {
    use isomorph_model::{Batch, NodeId, Part, Side};

    let numbers = |part: &mut dyn Part| {
        let mut numbers: Vec<i64> = Vec::new();
        part.read(&mut |batch| {
            if let Batch::Edges(batch) = batch {
                let ids = batch.properties[1].as_ref().unwrap().as_primitive::<arrow_array::types::Int64Type>();
                numbers.extend(ids.values());
            }
            Ok(())
        })
        .map(|_| numbers)
    };
    let keep = OpenOptions::default().keep_edge_id(true);
    let scanned = |bytes: Vec<u8>| {
        let nock = open_bytes(bytes, &keep)?;
        numbers(&mut *nock.scan(&isomorph_model::Request::of(isomorph_model::Tables::All))?.remove(0))
    };
    assert_eq!(scanned(nested(Some([Some(7), Some(9)]), None, None)).unwrap(), [7, 9]);
    let nock = open_bytes(nested(Some([Some(7), Some(9)]), None, None), &keep).unwrap();
    assert_eq!(numbers(&mut *nock.neighbors(0, NodeId::Key("a"), Side::Out).unwrap()).unwrap(), [7, 9]);
    for ids in [[Some(-1), Some(2)], [Some(2), None]] {
        let error = scanned(nested(Some(ids), None, None)).unwrap_err();
        assert_eq!((error.broken_rule(), error.place().row), (Some(&rules::EDGE_ID), Some(0)));
        // If they are missing, it does not matter: a member of the list is an edge.
        assert!(
            open_bytes(nested(Some(ids), None, None), &OpenOptions::default()).and_then(|nock| view(&nock)).is_ok()
        );
    }
    let error = scanned(nested(None, None, None)).unwrap_err();
    assert_eq!(error.broken_rule(), Some(&rules::FILE_COLUMNS), "there is nothing to keep");

    let found = |ids, rule| {
        let nock = open_bytes(nested(Some(ids), None, None), &OpenOptions::default()).unwrap();
        let mut found = isomorph_error::Findings::keeping(3);
        nock.validate(&mut found).unwrap();
        found.count(rule)
    };
    let all = [&rules::EDGE_ID, &rules::EDGE_ID_RANGE, &rules::EDGE_ID_REPEATED];
    for (ids, wanted) in [
        ([Some(7), Some(9)], [0, 0, 0]),
        ([Some(-1), None], [2, 0, 0]),
        ([Some(4), Some(4)], [0, 0, 1]),
        ([Some(1), Some(1 << 40)], [0, 1, 0]),
    ] {
        assert_eq!(all.map(|rule| found(ids, rule)), wanted, "{ids:?}");
    }
}

#[test]
fn nan_in_a_map_of_props_is_nan_in_props() {
    use arrow_array::builder::{Float64Builder, MapBuilder, StringBuilder};

    let map = |values: &[f64]| {
        let mut map = MapBuilder::new(None, StringBuilder::new(), Float64Builder::new());
        for value in values {
            map.keys().append_value("k");
            map.values().append_value(*value);
            map.append(true).unwrap();
        }
        Arc::new(map.finish()) as ArrayRef
    };
    let flat = |value: f64| {
        let batch = with("props", |_| map(&[value, 1.0, 1.0]));
        let batch = batch.into_iter().map(|(name, column)| (name, column, true));
        parquet(&RecordBatch::try_from_iter_with_nullable(batch).unwrap(), 10)
    };
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for bytes in [flat(value), nested(None, Some(map(&[value, 1.0])), None)] {
            let nock = open_bytes(bytes.clone(), &OpenOptions::default()).unwrap();
            assert_eq!(view(&nock).unwrap_err().broken_rule(), Some(&rules::PROPS_NAN), "{value}");
            let mut found = isomorph_error::Findings::keeping(3);
            nock.validate(&mut found).unwrap();
            assert_eq!(found.count(&rules::PROPS_NAN), 1, "{value}");
            let lenient = OpenOptions::default().tolerance(Tolerance::Lenient);
            assert!(open_bytes(bytes, &lenient).and_then(|nock| view(&nock)).is_ok(), "{value}");
        }
    }
}

#[test]
fn one_name_for_two_types_in_a_nested_file_says_where() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let error = open_bytes(nested(None, None, Some(numbers)), &OpenOptions::default()).err().unwrap();
    assert_eq!(error.message(), "column x is Int64 on node rows and Utf8 in the list edges");
    assert!(error.place().file.is_some());
}
