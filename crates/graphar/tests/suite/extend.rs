//! Adds property groups and adjacency lists to existing graphs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Findings, Kind, Severity};
use isomorph_graphar::extend::NewGroup;
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::{GraphAr, OpenOptions, WriteOptions};
use isomorph_model::{Batch, Ends, MemoryGraph, Property, Source};
use isomorph_storage::fault::{Fault, FaultDisk, RealDisk};
use isomorph_storage::{Budget, Location, Scratch};
use support::pump::write_as;
use support::social::social;

fn written(path: &Path) -> Location {
    let to = Location::from_path(path);
    let graph = social(50);
    let write = WriteOptions {
        vertex_chunk: Some(16),
        edge_chunk: Some(10),
        adjacency: Some(vec![AdjListType::OrderedBySource]),
        ..WriteOptions::default()
    };
    write_as(&graph, &graph.graph, &write, &to, 1000).unwrap();
    to
}

fn open(at: &Location) -> GraphAr {
    GraphAr::open(at, &OpenOptions::default()).unwrap()
}

fn assert_sound(at: &Location) {
    let mut findings = Findings::keeping(10);
    open(at).validate(&mut findings).unwrap();
    assert!(findings.worst() <= Some(Severity::Note), "{findings:#?}");
}

fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    support::files(path).into_iter().collect()
}

/// Returns the files that existed before and have changed.
fn changed(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    before.iter().filter(|(name, bytes)| after.get(*name) != Some(*bytes)).map(|(name, _)| name.clone()).collect()
}

#[test]
fn a_property_group_of_vertices_is_added_beside_the_others() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("social");
    let at = written(&path);
    let before = files(&path);
    let group = NewGroup {
        file_type: FileType::Csv,
        ..NewGroup::new([Property::new("row", DataType::Int64), Property::new("shout", DataType::Utf8)])
    };
    let graph = open(&at);
    graph
        .add_vertex_group(0, &group, &mut |batch| {
            let rows = (batch.start as i64)..(batch.start as i64 + batch.rows as i64);
            let names = batch.properties[0].as_ref().unwrap().as_string::<i32>();
            let shouts: StringArray = names.iter().map(|name| name.map(str::to_uppercase)).collect();
            let rows: ArrayRef = Arc::new(Int64Array::from_iter_values(rows));
            Ok(vec![Some(rows), Some(Arc::new(shouts) as ArrayRef)])
        })
        .unwrap();
    assert_eq!(changed(&before, &files(&path)), ["person.vertex.yml"]);
    assert_sound(&at);
    let graph = open(&at);
    let names: Vec<&str> = graph.graph().nodes[0].properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names[names.len() - 2..], ["row", "shout"]);
    let found = graph.vertices(0, &[49, 7]).unwrap();
    let rows = found.properties[names.len() - 2].as_ref().unwrap();
    assert_eq!(rows.as_primitive::<arrow_array::types::Int64Type>().values().as_ref(), [49, 7]);
    assert_eq!(found.properties[names.len() - 1].as_ref().unwrap().as_string::<i32>().value(0), "P, \"49\"");
}

#[test]
fn a_property_group_of_edges_is_added_to_every_list() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("social");
    let at = written(&path);
    let memory = || (Budget::new(64 << 20), Scratch::new(None).unwrap());
    let (budget, scratch) = memory();
    let before = files(&path);
    open(&at).add_list(0, AdjListType::OrderedByDest, &budget, &scratch).unwrap();
    assert_eq!(changed(&before, &files(&path)), ["person_knows_person.edge.yml"]);
    assert_sound(&at);
    for kind in [AdjListType::UnorderedBySource, AdjListType::UnorderedByDest] {
        open(&at).add_list(0, kind, &budget, &scratch).unwrap();
    }
    let before = files(&path);
    let group = NewGroup::new([Property::new("double", DataType::Float64)]);
    open(&at)
        .add_edge_group(0, &group, &mut |batch| {
            let weights = batch.properties[0].as_ref().unwrap().as_primitive::<Float64Type>();
            let doubled: Float64Array = weights.iter().map(|weight| weight.map(|weight| weight * 2.0)).collect();
            Ok(vec![Some(Arc::new(doubled) as ArrayRef)])
        })
        .unwrap();
    assert_eq!(changed(&before, &files(&path)), ["person_knows_person.edge.yml"]);
    assert_sound(&at);
    for adjacency in AdjListType::ALL {
        let graph = GraphAr::open(&at, &OpenOptions { adjacency: Some(adjacency), ..OpenOptions::default() }).unwrap();
        let mut rows = 0;
        for batch in MemoryGraph::read(&graph).unwrap().batches {
            let Batch::Edges(batch) = batch else { continue };
            if batch.ty == 0 {
                let of = |at: usize| batch.properties[at].as_ref().unwrap().as_primitive::<Float64Type>().clone();
                let doubled: Float64Array = of(0).iter().map(|weight| weight.map(|weight| weight * 2.0)).collect();
                assert_eq!(of(2), doubled);
                assert!(matches!(batch.source, Ends::Rows(_)));
                rows += batch.rows;
            }
        }
        assert_eq!(rows as u64, graph.graph().edges[0].rows.unwrap());
    }
    let again = open(&at).add_list(0, AdjListType::OrderedByDest, &budget, &scratch).unwrap_err();
    assert_eq!((again.kind(), again.broken_rule().unwrap().id), (Kind::Usage, "GAR-META-LIST-TWICE"));
}

#[test]
fn what_cannot_be_added_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("social");
    let at = written(&path);
    let before = files(&path);
    let none = &mut |_: &isomorph_model::NodeBatch| Ok(vec![None]);
    let group = |name: &str, data_type| NewGroup::new([Property::new(name, data_type)]);
    let refused = |group: &NewGroup| open(&at).add_vertex_group(0, group, &mut |_| Ok(vec![None])).unwrap_err();
    assert_eq!(refused(&group("name", DataType::Utf8)).broken_rule().unwrap().id, "GAR-META-PROPERTY-TWICE");
    assert_eq!(refused(&group("_graphArX", DataType::Utf8)).broken_rule().unwrap().id, "GAR-META-RESERVED");
    assert_eq!(refused(&group("x", DataType::UInt64)).kind(), Kind::WouldLose);
    assert_eq!(
        refused(&NewGroup::new([Property::new("x", DataType::Utf8).required()])).broken_rule().unwrap().id,
        "GAR-NULL"
    );
    let failing = open(&at).add_vertex_group(0, &group("x", DataType::Utf8), &mut |batch| {
        if batch.start > 0 { Err(isomorph_error::Error::usage("no more")) } else { Ok(vec![None]) }
    });
    assert_eq!(failing.unwrap_err().message(), "no more");
    assert_eq!(files(&path), before);
    let elsewhere = home.path().join("info");
    std::fs::create_dir(&elsewhere).unwrap();
    for name in before.keys().filter(|name| name.ends_with(".yml")) {
        std::fs::copy(path.join(name), elsewhere.join(name)).unwrap();
    }
    let apart = OpenOptions { root: Some(at.clone()), ..OpenOptions::default() };
    let apart = GraphAr::open(&Location::from_path(&elsewhere), &apart).unwrap();
    assert_eq!(apart.add_vertex_group(0, &group("x", DataType::Utf8), none).unwrap_err().kind(), Kind::Unsupported);
}

#[test]
fn of_two_additions_at_once_one_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("social");
    let at = written(&path);
    let add = |graph: &GraphAr, name: &str| {
        let group = NewGroup::new([Property::new(name, DataType::Float64)]);
        graph.add_vertex_group(0, &group, &mut |batch| {
            Ok(vec![Some(Arc::new(Float64Array::from(vec![0.5; batch.rows])) as ArrayRef)])
        })
    };
    let names = || -> Vec<String> {
        open(&at).graph().nodes[0].properties.iter().map(|property| property.name.clone()).collect()
    };
    // Both are opened before either is changed.
    let (first, second) = (open(&at), open(&at));
    add(&first, "one").unwrap();
    assert_eq!(add(&second, "other").unwrap_err().kind(), Kind::Conflict);
    assert!(names().contains(&"one".to_owned()) && !names().contains(&"other".to_owned()));
    // The other one writes after the first has checked that the graph is unchanged.
    let refused = Arc::new(Mutex::new(None));
    let (outcome, elsewhere) = (Arc::clone(&refused), at.clone());
    let step = format!("rename to new {}/_isomorph/redo.json", path.display());
    let disk = FaultDisk::new(Arc::new(RealDisk), Fault::None).meanwhile(&step, move || {
        let group = NewGroup::new([Property::new("other", DataType::Int64)]);
        let done = open(&elsewhere).add_vertex_group(0, &group, &mut |batch| {
            Ok(vec![Some(Arc::new(Int64Array::from(vec![1; batch.rows])) as ArrayRef)])
        });
        *outcome.lock().unwrap() = Some(done.unwrap_err().kind());
    });
    add(&open(&at.clone().on_disk(Arc::new(disk))), "two").unwrap();
    assert_eq!(*refused.lock().unwrap(), Some(Kind::Conflict));
    add(&open(&at), "other").unwrap();
    for name in ["one", "two", "other"] {
        assert!(names().contains(&name.to_owned()), "{name}");
    }
    assert_sound(&at);
}

#[test]
fn a_group_whose_nulls_would_be_empty_lines_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("social");
    let at = written(&path);
    let before = files(&path);
    let group = |property| NewGroup { file_type: FileType::Csv, ..NewGroup::new([property]) };
    let graph = open(&at);
    let value = Property::new("rank", DataType::Int64);
    let error = graph.add_edge_group(0, &group(value.clone()), &mut |_| Ok(Vec::new())).unwrap_err();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("GAR-CSV-BLANK"));
    assert_eq!(before, files(&path));
    // Every edge has a value, or there is another column.
    let ones = |rows: usize| Some(Arc::new(Int64Array::from(vec![1; rows])) as ArrayRef);
    graph.add_edge_group(0, &group(value.required()), &mut |batch| Ok(vec![ones(batch.rows)])).unwrap();
    graph.add_vertex_group(0, &group(Property::new("rank", DataType::Int64)), &mut |_| Ok(vec![None])).unwrap();
    assert_sound(&at);
}

#[test]
fn a_list_whose_nulls_would_be_empty_lines_is_refused_with_a_remedy() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("social");
    let at = written(&path);
    let group =
        NewGroup { file_type: FileType::Csv, ..NewGroup::new([Property::new("rank", DataType::Int64).required()]) };
    let ones = |rows: usize| Some(Arc::new(Int64Array::from(vec![1; rows])) as ArrayRef);
    open(&at).add_edge_group(0, &group, &mut |batch| Ok(vec![ones(batch.rows)])).unwrap();
    // As other writers write it: a null in the only column is an empty line.
    for (name, bytes) in files(&path) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let changed = match name.contains("/rank/") {
            true => text.replacen("\n1\n", "\n\n", 1),
            false if name.ends_with(".edge.yml") && text.contains("name: rank") => {
                let (before, after) = text.split_once("name: rank").unwrap();
                format!("{before}name: rank{}", after.replacen("is_nullable: false", "is_nullable: true", 1))
            }
            false => continue,
        };
        assert_ne!(changed, text, "{name}");
        std::fs::write(path.join(&name), changed).unwrap();
    }
    let before = files(&path);
    let scratch = Scratch::new(None).unwrap();
    let error = open(&at).add_list(0, AdjListType::OrderedByDest, &Budget::new(1 << 26), &scratch).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported, "{error}");
    let lists = "--adj-lists ordered_by_source,ordered_by_dest";
    assert!(error.hints().any(|hint| hint.contains("isomorph convert") && hint.contains(lists)), "{error:?}");
    assert_eq!(before, files(&path));
}

#[test]
fn a_list_of_parts_that_are_too_large_to_count_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("social");
    let to = Location::from_path(&path);
    let graph = social(20);
    let write = WriteOptions { adjacency: Some(vec![AdjListType::UnorderedBySource]), ..WriteOptions::default() };
    write_as(&graph, &graph.graph, &write, &to, 1000).unwrap();
    for file in std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).filter(|file| file.is_file()) {
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("chunk_size: 65536", "chunk_size: 9223372036854775807")).unwrap();
    }
    // The size is legal, and such a graph can be read.
    let graph = open(&to);
    assert_eq!(graph.info().vertices[0].chunk_size, i64::MAX as u64);
    assert_eq!(graph.neighbors_batch(0, &[0, 19], isomorph_model::Side::Out).unwrap().edges.rows, 6);
    assert_sound_but(&to, "GAR-META-CHUNK-LARGE");
    let before = files(&path);
    let error = graph.add_list(0, AdjListType::OrderedBySource, &Budget::default(), &Scratch::new(None).unwrap());
    assert_eq!(error.unwrap_err().kind(), Kind::Unsupported);
    assert_eq!(before, files(&path));
}

/// Checks that a graph is valid except for warnings of one rule.
fn assert_sound_but(at: &Location, id: &str) {
    let mut findings = Findings::keeping(10);
    open(at).validate(&mut findings).unwrap();
    let others = findings.by_rule().filter(|(_, kept)| kept[0].rule.severity > Severity::Note);
    assert!(others.into_iter().all(|(_, kept)| kept[0].rule.id == id), "{findings:#?}");
}
