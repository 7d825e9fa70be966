//! Attributes of every type that the libraries store in Parquet: how each is read, and that it is preserved.
//!
//! `interop/annnet_types.py` wrote the files in `types/`.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, NullArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Fields};
use common::build::{Files, integers, text};
use common::open;
use common::write;
use common::write::options;
use isomorph_annnet::{Annnet, OpenOptions, WriteLayout, WriteOptions, holds};
use isomorph_error::Kind;
use isomorph_model::digest::schema_digest;
use isomorph_model::type_name::type_name;
use isomorph_model::{Batch, MemoryGraph, Source};
use isomorph_storage::Location;

/// The name and type of a column, and its first two cells; the third is null.
type Shown = (&'static str, &'static str, &'static str, &'static str);

/// Written by pyarrow 26.
const PYARROW: &[Shown] = &[
    ("int8", "int8", "1", "0"),
    ("int16", "int16", "1", "0"),
    ("int32", "int32", "1", "0"),
    ("int64", "int64", "-9223372036854775808", "9223372036854775807"),
    ("uint8", "uint8", "1", "0"),
    ("uint16", "uint16", "1", "0"),
    ("uint32", "uint32", "1", "0"),
    ("uint64", "uint64", "18446744073709551615", "0"),
    ("bool", "bool", "true", "false"),
    ("half", "half", "0.5", "-2"),
    ("float", "float", "0.5", "inf"),
    ("double", "double", "0.1", "NaN"),
    // Text, bytes and lists have several memory layouts, which are read as one type.
    ("string", "string", "é", ""),
    ("large_string", "string", "é", ""),
    ("string_view", "string", "é", ""),
    ("dictionary", "string", "x", "y"),
    ("binary", "bytes", "00ff", ""),
    ("large_binary", "bytes", "00ff", ""),
    ("binary_view", "bytes", "00ff", ""),
    ("fixed_binary", "bytes(2)", "00ff", "6162"),
    ("date32", "date", "2026-01-02", "0001-01-01"),
    ("date64", "date", "2026-01-02", "1901-01-01"),
    ("list", "list<int32>", "[1, ]", "[]"),
    ("large_list", "list<int32>", "[1, ]", "[]"),
    ("fixed_list", "list<int32>", "[1, ]", "[3, 4]"),
    ("deep_list", "list<list<string>>", "[[x], , []]", "[]"),
    ("spans", "list<duration[ms]>", "[-PT172799.995S, ]", "[]"),
    ("struct", "struct<a: int8, b: duration[us]>", "{a: 1, b: -PT172799.995S}", "{a: , b: }"),
    // A map is the list of its entries.
    ("map", "list<struct<key: string, value: int64>>", "[{key: x, value: 1}, {key: y, value: }]", "[]"),
    (
        "deep_map",
        "list<list<struct<key: string, value: list<struct<key: int32, value: bool>>>>>",
        "[[{key: x, value: [{key: 1, value: true}]}], ]",
        "[]",
    ),
    ("decimal32", "decimal(5, 2)", "-1.50", "0.00"),
    ("decimal64", "decimal(15, 2)", "-1.50", "0.00"),
    ("decimal128", "decimal(38, 10)", "-1.5000000000", "0.0000000000"),
    ("decimal256", "decimal256(50, 10)", "111111111111111111111111111111111111111.5000000000", "0.0000000000"),
    ("null", "string", "", ""),
    // Parquet has no seconds for times and timestamps, and no zones except UTC: zone names are in the embedded
    // schema, but not for seconds, whose unit contradicts it.
    ("time32_s", "time[ms]", "12:30:00", "00:00:00"),
    ("time32_ms", "time[ms]", "12:30:00", "00:00:00"),
    ("time64_us", "time[us]", "12:30:00.500", "00:00:00"),
    ("time64_ns", "time[ns]", "12:30:00.500", "00:00:00"),
    ("timestamp_s", "timestamp[ms]", "2026-03-29T01:30:00", "1901-12-13T20:45:52"),
    ("timestamp_ms", "timestamp[ms]", "2026-03-29T01:30:00.123", "1901-12-13T20:45:52"),
    ("timestamp_us", "timestamp[us]", "2026-03-29T01:30:00.123", "1901-12-13T20:45:52"),
    ("timestamp_ns", "timestamp[ns]", "2026-03-29T01:30:00.123", "1901-12-13T20:45:52"),
    ("timestamp_s_utc", "timestamp[ms, UTC]", "1774747800000", ""),
    ("timestamp_ms_utc", "timestamp[ms, UTC]", "1774747800123", ""),
    ("timestamp_us_utc", "timestamp[us, UTC]", "1774747800123000", ""),
    ("timestamp_ns_utc", "timestamp[ns, UTC]", "1774747800123000000", ""),
    ("timestamp_s_berlin", "timestamp[ms, UTC]", "1774747800000", ""),
    ("timestamp_ms_berlin", "timestamp[ms, Europe/Berlin]", "1774747800123", ""),
    ("timestamp_us_berlin", "timestamp[us, Europe/Berlin]", "1774747800123000", ""),
    ("timestamp_ns_berlin", "timestamp[ns, Europe/Berlin]", "1774747800123000000", ""),
    ("timestamp_s_offset", "timestamp[ms, UTC]", "1774747800000", ""),
    ("timestamp_ms_offset", "timestamp[ms, +02:00]", "1774747800123", ""),
    ("timestamp_us_offset", "timestamp[us, +02:00]", "1774747800123000", ""),
    ("timestamp_ns_offset", "timestamp[ns, +02:00]", "1774747800123000000", ""),
    // Durations are only in the embedded schema: Parquet has integers.
    ("duration_s", "duration[s]", "-PT172800S", "P0D"),
    ("duration_ms", "duration[ms]", "-PT172799.995S", "P0D"),
    ("duration_us", "duration[us]", "-PT172799.995S", "P0D"),
    ("duration_ns", "duration[ns]", "-PT172799.995S", "P0D"),
];

/// Written by Polars 2.1.
const POLARS: &[Shown] = &[
    ("int8", "int8", "1", "0"),
    ("int16", "int16", "1", "0"),
    ("int32", "int32", "1", "0"),
    ("int64", "int64", "1", "0"),
    ("uint8", "uint8", "1", "0"),
    ("uint16", "uint16", "1", "0"),
    ("uint32", "uint32", "1", "0"),
    ("uint64", "uint64", "1", "0"),
    ("boolean", "bool", "true", "false"),
    ("float32", "float", "0.5", "inf"),
    ("float64", "double", "0.1", "NaN"),
    ("string", "string", "é", ""),
    ("binary", "bytes", "00ff", ""),
    ("categorical", "string", "x", "y"),
    ("enum", "string", "x", "y"),
    ("date", "date", "2026-01-02", "0001-01-01"),
    ("time", "time[ns]", "12:30:00.500", "00:00:00"),
    ("decimal", "decimal(38, 10)", "-1.5000000000", "0.0000000000"),
    ("list", "list<int32>", "[1, ]", "[]"),
    ("array", "list<int32>", "[1, ]", "[3, 4]"),
    ("struct", "struct<a: int8, b: duration[us]>", "{a: 1, b: -PT172799.995S}", "{a: , b: }"),
    ("null", "string", "", ""),
    ("duration_ms", "duration[ms]", "-PT172799.995S", "P0D"),
    ("duration_us", "duration[us]", "-PT172799.995S", "P0D"),
    ("duration_ns", "duration[ns]", "-PT172799.995S", "P0D"),
    ("datetime_ms", "timestamp[ms]", "2026-03-29T01:30:00.123", "1901-12-13T20:45:52"),
    ("datetime_us", "timestamp[us]", "2026-03-29T01:30:00.123", "1901-12-13T20:45:52"),
    ("datetime_ns", "timestamp[ns]", "2026-03-29T01:30:00.123", "1901-12-13T20:45:52"),
    ("datetime_ms_berlin", "timestamp[ms, Europe/Berlin]", "1774747800123", ""),
    ("datetime_us_berlin", "timestamp[us, Europe/Berlin]", "1774747800123000", ""),
    ("datetime_ns_berlin", "timestamp[ns, Europe/Berlin]", "1774747800123000000", ""),
];

/// A graph of the nodes a, b and c, whose attributes are in this file.
fn files(name: &str) -> Files {
    let mut files = Files::small();
    files.table(
        "structure/entity_index.parquet",
        vec![
            ("entity_id", text(["a", "b", "c"])),
            ("layer_id", integers([0; 3])),
            ("idx", integers([0, 1, 2])),
            ("type", text(["node"; 3])),
        ],
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/types").join(name);
    files.put("tables/_node_table.parquet", std::fs::read(path).unwrap());
    files
}

/// A cell as text; timestamps with a zone as numbers, because the formatter does not know names of zones.
fn cell(column: &ArrayRef, row: usize) -> String {
    let plain: ArrayRef = match column.data_type() {
        arrow_schema::DataType::Timestamp(_, Some(_)) => {
            arrow_cast::cast(column, &arrow_schema::DataType::Int64).unwrap()
        }
        _ => column.clone(),
    };
    let options = FormatOptions::new();
    ArrayFormatter::try_new(plain.as_ref(), &options).unwrap().value(row).to_string()
}

/// Name, type and cells of each attribute of the nodes.
fn attributes(graph: &dyn Source) -> Vec<(String, String, [String; 3])> {
    let memory = MemoryGraph::read(graph).unwrap();
    let [Batch::Nodes(nodes)] =
        memory.batches.iter().filter(|batch| matches!(batch, Batch::Nodes(_))).collect::<Vec<_>>()[..]
    else {
        panic!("one batch of nodes");
    };
    assert_eq!(nodes.keys.as_ref().unwrap().as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["a", "b", "c"]);
    let properties = graph.graph().nodes[0].properties.iter().zip(&nodes.properties);
    properties
        .map(|(property, column)| {
            let cells = [0, 1, 2].map(|row| column.as_ref().map_or(String::new(), |column| cell(column, row)));
            if let Some(column) = column {
                assert_eq!(*column.data_type(), property.data_type, "{}", property.name);
                assert!(column.is_null(2), "{}", property.name);
            }
            (property.name.clone(), type_name(&property.data_type), cells)
        })
        .collect()
}

fn digests(graph: &Annnet) -> (String, String) {
    let content = MemoryGraph::read(graph).unwrap().digest().unwrap();
    (format!("{content:?}"), format!("{:?}", schema_digest(graph.graph())))
}

#[test]
fn attributes_without_a_value_are_text_at_any_depth() {
    let rows = 2;
    let nulls = || -> ArrayRef { Arc::new(NullArray::new(rows)) };
    let item = Arc::new(Field::new("item", DataType::Null, true));
    let empty = ListArray::try_new(Arc::clone(&item), OffsetBuffer::new(vec![0; 3].into()), nulls().slice(0, 0), None);
    let full = ListArray::try_new(item, OffsetBuffer::new(vec![0, 1, 2].into()), nulls(), None);
    let fields = Fields::from(vec![Field::new("u", DataType::Null, true), Field::new("v", DataType::Int64, true)]);
    let object = StructArray::try_new(fields, vec![nulls(), integers([1, 2])], None);
    let columns: [(&str, ArrayRef, &str, &str); 4] = [
        ("nothing", nulls(), "string", ""),
        ("empty", Arc::new(empty.unwrap()), "list<string>", "[]"),
        ("full", Arc::new(full.unwrap()), "list<string>", "[]"),
        ("object", Arc::new(object.unwrap()), "struct<u: string, v: int64>", "{u: , v: 1}"),
    ];
    for (name, column, data_type, first) in columns {
        let mut files = Files::small();
        for (table, id, ids) in [("node", "node_id", ["a", "b"]), ("edge", "edge_id", ["e", "h"])] {
            let table = format!("tables/_{table}_table.parquet");
            files.table(&table, vec![(id, text(ids)), (name, Arc::clone(&column))]);
        }
        files.with(|source| {
            let source = source.unwrap();
            for properties in [&source.graph().nodes[0].properties, &source.graph().edges[0].properties] {
                let shown = properties.iter().find(|property| property.name == name).unwrap();
                assert_eq!(type_name(&shown.data_type), data_type, "{name}");
            }
            let graph = MemoryGraph::read(&source).unwrap();
            let mut cells = graph.batches.iter().filter_map(|batch| match batch {
                Batch::Nodes(nodes) => Some(nodes.properties[0].clone()),
                _ => None,
            });
            let cells = cells.next().unwrap();
            assert_eq!(cells.map_or(String::new(), |cells| cell(&cells, 0)), first, "{name}");
            let digests = digests(&source);
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join("graph");
            write(&source, &place, &options(), 1 << 16).unwrap();
            assert_eq!(self::digests(&open(&place).unwrap()), digests, "{name}");
        });
    }
}

#[test]
fn each_type_becomes_what_is_promised_and_comes_back() {
    for (name, expected) in [("pyarrow.parquet", PYARROW), ("polars.parquet", POLARS)] {
        let folder = tempfile::tempdir().unwrap();
        let before = folder.path().join("before");
        files(name).write(&before);
        let source = open(&before).unwrap();
        let found = attributes(&source);
        for (column, data_type, first, second) in expected {
            let own = found.iter().find(|(own, ..)| own == column).unwrap_or_else(|| panic!("{name} has {column}"));
            assert_eq!(
                (own.1.as_str(), &own.2),
                (*data_type, &[(*first).into(), (*second).into(), String::new()]),
                "{name} {column}"
            );
        }
        assert_eq!(found.len(), expected.len(), "{name}: every column is in the list");
        for property in &source.graph().nodes[0].properties {
            assert!(holds(&property.data_type), "{}: no conversion is needed", property.name);
        }
        for layout in WriteLayout::ALL {
            for archive in [false, true] {
                let place = folder.path().join(format!("{layout}-{archive}.annnet"));
                write(&source, &place, &WriteOptions { layout, archive, ..options() }, 2).unwrap();
                let back = open(&place).unwrap();
                assert_eq!(attributes(&back), found, "{name} {layout}");
                assert_eq!(digests(&back), digests(&source), "{name} {layout}");
            }
        }
    }
}

#[test]
fn what_has_no_place_in_the_model_is_named() {
    let folder = tempfile::tempdir().unwrap();
    // DuckDB's INTERVAL of months, days and milliseconds.
    files("duckdb.parquet").write(folder.path());
    let error = Annnet::open(&Location::from_path(folder.path()), &OpenOptions::default()).err().unwrap();
    assert_eq!(error.kind(), Kind::Unsupported, "{error}");
    let place = error.place();
    assert_eq!(place.file.as_deref(), Some("tables/_node_table.parquet"));
    assert_eq!(place.field.as_deref(), Some("interval"));
    assert!(error.message().contains("Interval"), "{error}");
}
