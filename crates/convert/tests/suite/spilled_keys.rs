//! Graphs whose keys do not fit into memory: the same output as with plenty of memory.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use isomorph_convert::{ConvertOptions, Format, OpenOptions, Opened, Plan, Silent, convert};
use isomorph_error::{Error, Kind};
use isomorph_model::{Batch, MemoryGraph};
use isomorph_storage::{Budget, Location, Resources};
use isomorph_zoo::{Build, Edges, Nodes};

/// Number of persons, whose names take more than either of the small budgets has.
const PERSONS: u64 = 30_000;
/// Number of places, whose numbers fit into every budget.
const PLACES: u64 = 300;
const SMALL: [u64; 2] = [768 << 10, 1 << 20];

fn person(number: u64) -> String {
    format!("person number {:016x}", (number % PERSONS).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn persons(numbers: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(numbers.map(person)))
}

fn place(number: u64) -> i64 {
    (number % PLACES).wrapping_mul(0x9E37_79B9_7F4A_7C15) as i64
}

fn places(numbers: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(numbers.map(place)))
}

fn numbers(from: u64, count: u64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values((from..from + count).map(|number| number as i64)))
}

/// A number sequence that looks random.
fn mixed(number: u64, step: u64) -> u64 {
    number.wrapping_mul(step) ^ (number >> 3)
}

/// Both ends beyond memory, only the source, only the target, neither; several similar types; parallel edges that only
/// their columns distinguish. In pieces, as in a file.
fn graph() -> MemoryGraph {
    let mut build = Build::default();
    let node = build.nodes(Nodes::keyed("person", persons(0..PERSONS)).ordered().column("age", numbers(7, PERSONS)));
    let place = build.nodes(Nodes::keyed("place", places(0..PLACES)).ordered());
    let ends = |count: u64, step: u64| persons((0..count).map(move |number| mixed(number, step)));
    let homes = |count: u64| places((0..count).map(|number| mixed(number, 31)));
    build
        .edges(Edges::keys(node, "knows", node, ends(40_000, 7), ends(40_000, 11)).column("since", numbers(0, 40_000)));
    build.edges(Edges::keys(node, "likes", node, ends(9_000, 3), ends(9_000, 5)).column("since", numbers(5, 9_000)));
    build.edges(
        Edges::keys(node, "met", node, persons((0..5_000).map(|n| n % 2)), persons((0..5_000).map(|n| n % 3)))
            .column("when", numbers(9, 5_000)),
    );
    build.edges(Edges::keys(node, "follows", node, ends(20_000, 13), ends(20_000, 17)));
    build.edges(Edges::keys(node, "lives in", place, ends(20_000, 19), homes(20_000)));
    build.edges(Edges::keys(place, "hosts", node, homes(3_000), ends(3_000, 23)).column("rooms", numbers(1, 3_000)));
    build.edges(Edges::keys(place, "near", place, homes(400), places(0..400)));
    let mut graph = build.finish();
    let slices = |batch: &Batch| -> Vec<Batch> {
        let rows = batch.rows();
        (0..rows).step_by(1_000).map(|start| batch.slice(start, 1_000.min(rows - start))).collect()
    };
    graph.batches = graph.batches.iter().flat_map(slices).collect();
    graph
}

fn convert_within(graph: &MemoryGraph, to: &Path, memory: u64, threads: usize) -> Result<Resources, Error> {
    let graph = Arc::new(graph.clone());
    let location = Location::from_path(to);
    let opened = Opened {
        location: location.clone(),
        format: Format::GRAPHAR,
        native: graph.clone(),
        sidecar: None,
        graph,
        options: OpenOptions::default(),
        is_part: false,
    };
    let resources = Resources { threads, budget: Budget::new(memory), ..Resources::of_this_machine().unwrap() };
    let options = ConvertOptions { to: Some(Format::GRAPHAR), ..ConvertOptions::default() };
    let plan = Plan::new(&opened, &location, &options, &resources, &Silent)?;
    convert(&opened, &plan, &location, &options, &resources, &Silent)?;
    Ok(resources)
}

/// Every file below a directory, by its name.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name().into_string().unwrap())).unwrap();
        if path.is_dir() {
            all.extend(files(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            all.insert(name, std::fs::read(path).unwrap());
        }
    }
    all
}

#[test]
fn the_result_depends_neither_on_the_memory_nor_on_the_threads() {
    let home = tempfile::tempdir().unwrap();
    let graph = graph();
    let ample = home.path().join("ample");
    convert_within(&graph, &ample, 256 << 20, 2).unwrap();
    let ample = files(&ample);
    for (memory, threads) in [(SMALL[0], 2), (SMALL[1], 1), (SMALL[1], 4)] {
        let small = home.path().join(format!("{memory}-{threads}"));
        let resources = convert_within(&graph, &small, memory, threads).unwrap();
        // Two look-ups of 40,000 edges with two names of 30 bytes: the keys of persons were not looked up in memory.
        assert!(resources.scratch.peak() > 2 << 20, "{} bytes", resources.scratch.peak());
        assert!(resources.budget.peak() <= memory && resources.budget.used() == 0);
        assert!(files(&small) == ample, "{memory} bytes and {threads} threads give another result");
    }
}

/// The error of a conversion with little memory, which leaves no files.
fn refused(graph: &MemoryGraph) -> Error {
    let home = tempfile::tempdir().unwrap();
    let error = convert_within(graph, &home.path().join("result"), SMALL[1], 2).unwrap_err();
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    assert_eq!(error.kind(), convert_within(graph, &home.path().join("ample"), 256 << 20, 2).unwrap_err().kind());
    error
}

#[test]
fn an_edge_that_ends_in_no_node_is_named() {
    let with = |edges: Edges| {
        let mut build = Build::default();
        build.nodes(Nodes::keyed("person", persons(0..PERSONS)));
        build.nodes(Nodes::keyed("place", places(0..PLACES)));
        build.edges(edges);
        build.finish()
    };
    let (known, unknown) =
        (|| persons(0..3), || -> ArrayRef { Arc::new(StringArray::from(vec![person(5), "nobody".into(), person(6)])) });
    for graph in [
        with(Edges::keys(0, "knows", 0, unknown(), known())),
        with(Edges::keys(0, "knows", 0, known(), unknown())),
        with(Edges::keys(0, "lives in", 1, unknown(), places(0..3))),
        with(Edges::keys(1, "hosts", 0, places(0..3), unknown())),
    ] {
        let error = refused(&graph);
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some("MODEL-DANGLING-END"), "{error}");
        assert!(error.message().contains("\"nobody\""), "{error}");
        assert_eq!(error.place().file.as_deref(), Some("person"), "{error}");
    }
    // Numbers where the keys are names: none of them exists.
    refused(&with(Edges::keys(0, "knows", 0, numbers(0, 3), known())));
    refused(&with(Edges::keys(0, "knows", 0, known(), numbers(0, 3))));
}

#[test]
fn a_key_that_is_there_twice_is_an_error() {
    let mut build = Build::default();
    // The last one has the name of the fourth.
    let node = build.nodes(Nodes::keyed("person", persons((0..PERSONS).chain([3]))));
    build.edges(Edges::keys(node, "knows", node, persons(0..3), persons(1..4)));
    let error = refused(&build.finish());
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("MODEL-REPEATED-KEY"), "{error}");
    assert_eq!(error.place().row, Some(PERSONS));
    assert_eq!(error.kind(), Kind::Malformed);
}
