//! Tables that a graph is extended with keep the types of their columns.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{DurationMicrosecondBuilder, ListBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use isomorph_annnet::update::AttributeTable;
use isomorph_convert::{Extension, OpenOptions, Opened, Registry, Silent, extend_annnet};
use isomorph_model::Property;
use isomorph_storage::{Location, Resources};
use isomorph_tables::{Encoding, TableWriter, WriteOptions};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Types that Parquet alone does not state: durations, and zones.
fn types() -> Vec<(&'static str, DataType)> {
    let span = |unit| DataType::Duration(unit);
    let moment = |zone: &str| DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into()));
    vec![
        ("s", span(TimeUnit::Second)),
        ("ms", span(TimeUnit::Millisecond)),
        ("zone", moment("Europe/Berlin")),
        ("offset", moment("+02:00")),
        ("list", DataType::List(Arc::new(Field::new("item", span(TimeUnit::Microsecond), true)))),
        ("struct", DataType::Struct(Fields::from(vec![Field::new("span", span(TimeUnit::Nanosecond), true)]))),
    ]
}

/// Writes a table of one row with a value of each type.
fn table(path: &Path, ids: &[(&str, &str)]) {
    let mut columns: Vec<(String, ArrayRef)> =
        ids.iter().map(|(name, id)| ((*name).to_owned(), Arc::new(StringArray::from(vec![*id])) as ArrayRef)).collect();
    for (name, data_type) in types() {
        let column = match &data_type {
            DataType::List(_) => {
                let mut values = ListBuilder::new(DurationMicrosecondBuilder::new());
                values.values().append_value(1);
                values.append(true);
                Arc::new(values.finish()) as ArrayRef
            }
            DataType::Struct(fields) => {
                let own = cast(&Int64Array::from(vec![1]), fields[0].data_type()).unwrap();
                Arc::new(StructArray::new(fields.clone(), vec![own], None))
            }
            other => cast(&Int64Array::from(vec![1]), other).unwrap(),
        };
        columns.push((name.to_owned(), column));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, own)| (name, own, true)));
    let batch = batch.unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = TableWriter::create(file, Encoding::Parquet, &batch.schema(), &WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

fn check(what: &str, properties: &[Property]) {
    for (name, data_type) in types() {
        let found = properties.iter().find(|property| property.name == name);
        let found = found.unwrap_or_else(|| panic!("{what}: {name} is there"));
        assert!(found.data_type.equals_datatype(&data_type), "{what}: {name} is {}", found.data_type);
    }
}

#[test]
fn spans_of_time_and_zones_are_what_they_were() {
    let home = tempfile::tempdir().unwrap();
    let resources = Resources::of_this_machine().unwrap();
    let place = |name: &str| Some(Location::from_path(&home.path().join(name)));
    table(&home.path().join("vertices.parquet"), &[("id", "new")]);
    table(&home.path().join("edges.parquet"), &[("id", "edge"), ("source", "new"), ("target", "new")]);
    table(&home.path().join("nodes.parquet"), &[("node_id", "new")]);
    let graph = home.path().join("graph");
    copy(&isomorph_fixtures::fixture("annnet/one_node/graph.annnet.d"), &graph);
    let location = Location::from_path(&graph);
    let extend = |own: Extension| extend_annnet(&location, &own, &Registry::standard(), &resources, &Silent).unwrap();
    let look = |what: &str| {
        let opened = Opened::open(&location, &OpenOptions::default()).unwrap();
        let graph = opened.graph.graph();
        check(what, if what == "edges" { &graph.edges[0].properties } else { &graph.nodes[0].properties });
    };
    extend(Extension { vertices: place("vertices.parquet"), ..Extension::default() });
    look("vertices");
    extend(Extension { edges: place("edges.parquet"), ..Extension::default() });
    look("edges");
    let table = place("nodes.parquet").map(|file| (AttributeTable::Nodes, file));
    extend(Extension { table, ..Extension::default() });
    look("nodes");
}
