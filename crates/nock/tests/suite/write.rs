//! The form of written files for other readers, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, ListArray, StringArray};
use arrow_schema::{DataType, Field};
use common::graphs::{Data, Edge, Node, write_batches};
use common::rows::{edge, file, node};
use common::{open, open_bytes, view};
use isomorph_error::{Error, Kind};
use isomorph_model::{Batch, Delivery, Ends, Graph, MemoryGraph, Property, Source};
use isomorph_nock::{
    By, CreateOptions, Format, NockWriter, OpenOptions, Partitioning, Types, partition_of_name, rules,
};
use isomorph_storage::{Location, Mode, Staging};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::file::reader::{FileReader, SerializedFileReader};

/// Three nodes in a row.
fn chain() -> Data {
    let node = |name: &str, part| Node {
        name: name.to_owned(),
        labels: vec!["B".into(), "A".into()],
        truth: 0.5,
        is_rdf: true,
        shadow: None,
        props: serde_json::Map::new(),
        part,
    };
    let edge = |source, target| Edge { source, rel: "r".into(), target, truth: 0.25, props: serde_json::Map::new() };
    Data {
        nodes: vec![node("x", 2), node("y", 0), node("z", 2)],
        edges: vec![edge(0, 1), edge(0, 2), edge(1, 2)],
        double: false,
        part_column: false,
    }
}

fn written(data: &Data, options: &CreateOptions) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    data.write(&home.path().join("out"), options, (2, 2)).unwrap();
    home
}

fn footer(path: &Path) -> SerializedFileReader<std::fs::File> {
    SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap()
}

#[test]
fn the_specifications_schema_to_the_letter() {
    for (types, integer, float, required) in [
        (Types::Specification, PhysicalType::INT32, PhysicalType::FLOAT, Repetition::REQUIRED),
        (Types::Pynock, PhysicalType::INT64, PhysicalType::DOUBLE, Repetition::OPTIONAL),
    ] {
        let home = written(&chain(), &CreateOptions { types, row_group_rows: 4, ..CreateOptions::default() });
        let reader = footer(&home.path().join("out"));
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
        let wanted = ["src_name", "edge_id", "rel_name", "dst_name", "truth", "shadow", "is_rdf", "labels", "props"];
        assert_eq!(names, wanted);
        for (index, column) in schema.columns().iter().enumerate() {
            let physical = match index {
                1 | 5 => integer,
                4 => float,
                6 => PhysicalType::BOOLEAN,
                _ => PhysicalType::BYTE_ARRAY,
            };
            assert_eq!(column.physical_type(), physical);
            let repetition = if index == 0 { required } else { Repetition::OPTIONAL };
            assert_eq!(column.self_type().get_basic_info().repetition(), repetition);
            if physical == PhysicalType::BYTE_ARRAY {
                assert_eq!(column.logical_type_ref(), Some(&LogicalType::String));
            }
        }
        let rows: Vec<i64> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
        assert_eq!(rows, [4, 2]);
    }
}

#[test]
fn an_empty_graph_has_nine_columns_and_no_row_group() {
    let empty = Data { nodes: Vec::new(), edges: Vec::new(), ..chain() };
    let home = written(&empty, &CreateOptions::default());
    let reader = footer(&home.path().join("out"));
    assert_eq!(reader.metadata().file_metadata().schema_descr().num_columns(), 9);
    assert_eq!((reader.metadata().num_row_groups(), reader.metadata().file_metadata().num_rows()), (0, 0));
}

#[test]
fn rows_as_they_are_meant() {
    let home = written(&chain(), &CreateOptions { format: Format::Csv, ..CreateOptions::default() });
    let text = std::fs::read_to_string(home.path().join("out")).unwrap();
    let wanted = "\"src_name\",\"edge_id\",\"rel_name\",\"dst_name\",\"truth\",\"shadow\",\"is_rdf\",\"labels\",\"props\"\n\
                  \"x\",-1,\"\",\"\",0.5,-1,True,\"A,B\",\"\"\n\
                  \"x\",0,\"r\",\"y\",0.25,-1,True,\"\",\"\"\n\
                  \"x\",1,\"r\",\"z\",0.25,-1,True,\"\",\"\"\n\
                  \"y\",-1,\"\",\"\",0.5,-1,True,\"A,B\",\"\"\n\
                  \"y\",0,\"r\",\"z\",0.25,-1,True,\"\",\"\"\n\
                  \"z\",-1,\"\",\"\",0.5,-1,True,\"A,B\",\"\"\n";
    assert_eq!(text, wanted);
}

#[test]
fn text_is_sorted_by_code_points() {
    let mut data = chain();
    for (node, name) in data.nodes.iter_mut().zip(["é", "a\"", "Z"]) {
        node.name = name.to_owned();
    }
    for budget in [1 << 20, 0] {
        let budget = isomorph_storage::Budget::new(budget);
        let options = CreateOptions { format: Format::Csv, sort: true, budget, ..CreateOptions::default() };
        let home = written(&data, &options);
        let text = std::fs::read_to_string(home.path().join("out")).unwrap();
        let starts: Vec<&str> = text.lines().skip(1).map(|line| line.split(",\"").next().unwrap()).collect();
        let wanted = ["\"Z\",-1", "\"a\"\"\",-1", "\"a\"\"\",0", "\"é\",-1", "\"é\",0", "\"é\",1"];
        assert_eq!(starts, wanted);
    }
}

#[test]
fn partitions_hold_shadows_with_their_owners() {
    let data = Data { part_column: true, ..chain() };
    let by_name = Partitioning { count: 2, by: By::Name };
    let by_column = Partitioning { count: 3, by: By::Column("part".into()) };
    for partitioning in [by_name, by_column] {
        let owner = |name: &str| match &partitioning.by {
            By::Name => i64::from(partition_of_name(name, 2)),
            By::Column(_) => data.nodes.iter().find(|node| node.name == name).unwrap().part,
        };
        let options = CreateOptions { partitions: Some(partitioning.clone()), ..CreateOptions::default() };
        let home = written(&data, &options);
        for part in 0..partitioning.count {
            let path = home.path().join("out").join(format!("part_{part}.parq"));
            let found = view(&open(&path, &OpenOptions::default()).unwrap()).unwrap();
            for node in found["nodes"].as_array().unwrap() {
                let owner = owner(node["name"].as_str().unwrap());
                let shadow = if owner == i64::from(part) { -1 } else { owner };
                assert_eq!(node["shadow"], shadow, "{node} in partition {part}");
            }
            for edge in found["edges"].as_array().unwrap() {
                assert_eq!(owner(edge["src"].as_str().unwrap()), i64::from(part));
            }
        }
        let whole = view(&open(&home.path().join("out"), &OpenOptions::default()).unwrap()).unwrap();
        assert_eq!(whole, data.view());
    }
}

#[test]
fn nodes_without_an_owner_keep_their_values_in_partitions() {
    let mut data = chain();
    for node in &mut data.nodes[1..] {
        node.shadow = Some(7);
        node.props = serde_json::Map::from_iter([("v".to_owned(), node.part.into())]);
    }
    for count in [1, 2, 3, 5] {
        let partitions = Some(Partitioning { count, by: By::Name });
        let home = written(&data, &CreateOptions { partitions, ..CreateOptions::default() });
        let opened = open(&home.path().join("out"), &OpenOptions::default()).unwrap();
        assert_eq!(view(&opened).unwrap(), data.view(), "{count} partitions");
        let findings = &opened.settle().unwrap().findings;
        for rule in [&rules::SHADOW_MISSING, &rules::SHADOW_VALUES, &rules::NODE_IMPLICIT] {
            assert_eq!(findings.count(rule), 0, "{findings:?}");
        }
        // Every partition that refers to such a node has all its values.
        for part in 0..count {
            let path = home.path().join("out").join(format!("part_{part}.parq"));
            let found = view(&open(&path, &OpenOptions::default()).unwrap()).unwrap();
            for edge in found["edges"].as_array().unwrap() {
                let target = |nodes: &serde_json::Value| {
                    let nodes = nodes.as_array().unwrap();
                    nodes.iter().find(|node| node["name"] == edge["dst"]).cloned().unwrap()
                };
                assert_eq!(target(&found["nodes"]), target(&data.view()["nodes"]), "partition {part} of {count}");
            }
        }
        let mut found = isomorph_error::Findings::keeping(3);
        opened.validate(&mut found).unwrap();
        assert_ne!(found.worst(), Some(isomorph_error::Severity::Error), "{found:?}");
    }
}

#[test]
fn a_partition_is_a_whole_number_that_the_node_states() {
    let by = |count| CreateOptions {
        partitions: Some(Partitioning { count, by: By::Column("part".into()) }),
        ..CreateOptions::default()
    };
    let with = |column: ArrayRef, count| {
        let add = |graph: &mut Graph, batches: &mut Vec<Batch>| {
            graph.nodes[0].properties.push(Property::new("part", column.data_type().clone()));
            nodes(batches).properties.push(Some(column.clone()));
        };
        refused(add, &by(count))
    };
    let broken = |column: ArrayRef, row, hint: &str| {
        let error = with(column, 2);
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("NOCK-WRITE-VALUE"), "{error}");
        assert_eq!((error.place().row, error.place().field.as_deref()), (Some(row), Some("part")), "{error}");
        assert!(error.hints().any(|given| given.contains(hint)), "{error:?}");
    };
    broken(Arc::new(Float64Array::from(vec![1.0, 1.7, 0.0])), 1, "whole number from 0 to 1");
    broken(Arc::new(Int64Array::from(vec![Some(1), Some(0), None])), 2, "whole number from 0 to 1");
    broken(Arc::new(Int64Array::from(vec![1, 0, 4])), 2, "--partitions 5");
    broken(Arc::new(StringArray::from(vec!["1", "x", "0"])), 1, "whole number from 0 to 1");
    let moments = with(Arc::new(arrow_array::TimestampSecondArray::from(vec![0, 1, 0])), 2);
    assert_eq!(moments.kind(), Kind::Usage, "{moments}");
}

#[test]
fn the_partition_function_is_a_promise() {
    // Changing it would move every node when a dataset is rewritten. The numbers are those of the reference
    // implementation of XXH3.
    let of = |name| [2, 16, 1000].map(|count| partition_of_name(name, count));
    assert_eq!(of("ann"), [0, 8, 888]);
    assert_eq!(of("東京"), [0, 6, 966]);
}

/// Writes one changed batch of nodes.
fn refused(change: impl FnOnce(&mut Graph, &mut Vec<Batch>), options: &CreateOptions) -> Error {
    let data = chain();
    let (mut graph, mut batches) = (data.graph(), data.batches(3, 3));
    change(&mut graph, &mut batches);
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("out");
    let error = write_batches(&path, &graph, options, batches).unwrap_err();
    assert!(!path.exists(), "nothing is published");
    error
}

fn nodes(batches: &mut [Batch]) -> &mut isomorph_model::NodeBatch {
    let Batch::Nodes(nodes) = &mut batches[0] else { panic!() };
    nodes
}

fn edges(batches: &mut [Batch]) -> &mut isomorph_model::EdgeBatch {
    let Batch::Edges(edges) = &mut batches[1] else { panic!() };
    edges
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let names = |names: [&str; 3]| -> ArrayRef { Arc::new(StringArray::from(names.to_vec())) };
    let floats = |values: [f32; 3]| -> ArrayRef { Arc::new(Float32Array::from(values.to_vec())) };
    let defaults = CreateOptions::default();
    type Change = Box<dyn FnOnce(&mut Graph, &mut Vec<Batch>)>;
    let changes: Vec<Change> = vec![
        Box::new(move |_, batches| nodes(batches).keys = Some(names(["x", "", "z"]))),
        Box::new(move |_, batches| edges(batches).target = Ends::Keys(names(["x", "", "z"]))),
        Box::new(move |_, batches| nodes(batches).properties[0] = Some(floats([1.0, f32::NAN, 1.0]))),
        Box::new(|_, batches| {
            let labels = nodes(batches).labels.take().unwrap();
            nodes(batches).labels = Some(labels.map_sets(|_| vec!["a,b".to_owned()]));
        }),
        Box::new(move |_, batches| nodes(batches).properties[2] = Some(names(["{}", "[1]", ""]))),
        Box::new(move |_, batches| nodes(batches).properties[2] = Some(names(["{}", r#"{"a":NaN}"#, ""]))),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let error = refused(change, &defaults);
        // The remedies of NaN and of names differ.
        let expected = if index == 5 { &rules::WRITE_NAN } else { &rules::WRITE_VALUE };
        assert_eq!(error.broken_rule(), Some(expected), "{index}: {error}");
        assert!(error.place().field.is_some(), "{index}");
    }
}

#[test]
fn a_truth_that_float_cannot_hold_asks_for_double() {
    let tenth = |_: &mut Graph, batches: &mut Vec<Batch>| {
        nodes(batches).properties[0] = Some(Arc::new(Float64Array::from(vec![0.1, 0.5, 1.0])));
    };
    let error = refused(tenth, &CreateOptions::default());
    assert!(error.hints().any(|hint| hint.contains("double")), "{error:?}");
    let data = Data { double: true, ..chain() };
    let home = written(&data, &CreateOptions { truth_double: true, ..CreateOptions::default() });
    assert_eq!(view(&open(&home.path().join("out"), &OpenOptions::default()).unwrap()).unwrap(), data.view());
}

#[test]
fn graphs_of_another_shape_are_refused() {
    type Change = Box<dyn FnOnce(&mut Graph)>;
    let changes: Vec<Change> = vec![
        Box::new(|graph| graph.nodes.clear()),
        Box::new(|graph| graph.nodes[0].key = isomorph_model::Key::int64()),
        Box::new(|graph| graph.edges[0].relation = isomorph_model::Relation::Fixed("r".into())),
        Box::new(|graph| graph.edges[0].direction = isomorph_model::Direction::PerRow),
        Box::new(|graph| graph.nodes[0].properties.push(Property::new("labels", DataType::Utf8))),
        Box::new(|graph| {
            graph.nodes[0].properties.push(Property::new("w", DataType::Utf8));
            graph.edges[0].properties.push(Property::new("w", DataType::Int64));
        }),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let error = refused(|graph, _| change(graph), &CreateOptions::default());
        // The name of a property is the graph's, not the caller's.
        let kind = if index == 4 { Kind::Unsupported } else { Kind::Usage };
        assert_eq!(error.kind(), kind, "{index}: {error}");
    }
}

#[test]
fn options_that_contradict_each_other() {
    let text = || CreateOptions { format: Format::Csv, ..CreateOptions::default() };
    for options in [
        CreateOptions { sort: true, ..CreateOptions::default() },
        CreateOptions { nested_edges: true, ..text() },
        CreateOptions { props_map: true, ..text() },
        CreateOptions { partitions: Some(Partitioning { count: 0, by: By::Name }), ..text() },
        CreateOptions { partitions: Some(Partitioning { count: 2, by: By::Column("part".into()) }), ..text() },
    ] {
        assert_eq!(refused(|_, _| {}, &options).kind(), Kind::Usage);
    }
}

#[test]
fn promises_of_the_delivery_are_checked() {
    let data = chain();
    let staging = tempfile::tempdir().unwrap();
    let place = Location::from_path(&staging.path().join("x"));
    let staging = Staging::file(&place, Mode::CreateNew).unwrap();
    let writer = NockWriter::create(&staging, &data.graph(), &CreateOptions::default()).unwrap();
    assert_eq!(writer.deliveries(), [Delivery::NodesWithOutEdges]);
    let rows = |rows: [u64; 3]| Ends::Rows(rows.to_vec().into());
    for sources in [[1, 0, 2], [0, 1, 3], [2, 1, 1]] {
        let error = refused(|_, batches| edges(batches).source = rows(sources), &CreateOptions::default());
        assert_eq!(error.kind(), Kind::Usage, "{sources:?}");
    }
    let error = refused(|_, batches| batches.swap(0, 1), &CreateOptions::default());
    assert_eq!(error.kind(), Kind::Usage);
}

#[test]
fn further_columns_come_back() {
    let list: ArrayRef = {
        let values = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let offsets = arrow_buffer::OffsetBuffer::from_lengths([2, 0, 1]);
        Arc::new(ListArray::new(Arc::new(Field::new("element", DataType::Int64, true)), offsets, values, None))
    };
    let data = chain();
    for nested_edges in [false, true] {
        let (mut graph, mut batches) = (data.graph(), data.batches(3, 3));
        graph.nodes[0].properties.push(Property::new("tags", list.data_type().clone()));
        graph.nodes[0].properties.push(Property::new("note", DataType::Utf8));
        graph.edges[0].properties.push(Property::new("note", DataType::Utf8));
        nodes(&mut batches).properties.push(Some(list.clone()));
        nodes(&mut batches).properties.push(Some(Arc::new(StringArray::from(vec![Some("n"), None, Some("")]))));
        edges(&mut batches).properties.push(Some(Arc::new(StringArray::from(vec![None, Some("e"), None]))));
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("out");
        write_batches(&path, &graph, &CreateOptions { nested_edges, ..CreateOptions::default() }, batches).unwrap();
        let read = MemoryGraph::read(&open(&path, &OpenOptions::default()).unwrap()).unwrap();
        let names: Vec<&str> = read.graph.nodes[0].properties.iter().map(|property| property.name.as_str()).collect();
        assert_eq!(names, ["truth", "is_rdf", "", "note", "tags"]);
        let Batch::Nodes(found) = &read.batches[0] else { panic!() };
        assert_eq!(found.properties[4].as_ref().unwrap().as_ref(), list.as_ref(), "nested {nested_edges}");
        let notes: ArrayRef = Arc::new(StringArray::from(vec![Some("n"), None, Some("")]));
        assert_eq!(found.properties[3].as_ref(), Some(&notes));
        let Batch::Edges(found) = &read.batches[1] else { panic!() };
        let notes: ArrayRef = Arc::new(StringArray::from(vec![None, Some("e"), None]));
        assert_eq!(found.properties[2].as_ref(), Some(&notes));
        assert!(found.properties[3].is_none(), "edges have no tags");
    }
}

#[test]
fn edge_numbers_are_kept_on_request() {
    let bytes = file(&[node("a"), edge("a", 7, "r", "a"), edge("a", 3, "r", "a")]);
    let keep = OpenOptions::default().keep_edge_id(true);
    let nock = open_bytes(bytes, &keep).unwrap();
    let mut read = MemoryGraph::read(&nock).unwrap();
    edges(&mut read.batches).source = Ends::Rows(vec![0, 0].into());
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("out.csv");
    let options = CreateOptions { format: Format::Csv, ..CreateOptions::default() };
    write_batches(&path, nock.graph(), &options, read.batches).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let ids: Vec<&str> = text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(ids, ["-1", "7", "3"]);
}

#[test]
fn owners_of_foreign_nodes_are_kept() {
    let mut data = chain();
    data.nodes[2].shadow = Some(5);
    let home = written(&data, &CreateOptions::default());
    assert_eq!(view(&open(&home.path().join("out"), &OpenOptions::default()).unwrap()).unwrap(), data.view());
}
