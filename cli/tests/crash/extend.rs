//! Kills changes of an existing graph: a property group, an adjacency list; annnet edges in both layouts, annnet views.
//!
//! GraphAr is changed by this test binary, started again with the name of one test and a variable that selects the
//! change.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::DataType;
use isomorph::Location;
use isomorph::formats::graphar::extend::NewGroup;
use isomorph::formats::graphar::info::AdjListType;
use isomorph::formats::graphar::{GraphAr, OpenOptions};
use isomorph::model::Property;
use isomorph::storage::{Budget, Scratch};

use crate::kill::{KILLS, Random, killed, moment, setting};
use crate::support::{Home, PEOPLE};
use crate::tree::{self, Tree};

const GRAPH: &str = "CRASH_EXTEND_GRAPH";
const CHANGE: &str = "CRASH_EXTEND_CHANGE";

#[test]
fn does_what_the_environment_says() {
    let (Ok(graph), Ok(change)) = (std::env::var(GRAPH), std::env::var(CHANGE)) else { return };
    let graph = GraphAr::open(&Location::parse(&graph).unwrap(), &OpenOptions::default()).unwrap();
    if let Some(kind) = AdjListType::from_word(&change) {
        graph.add_list(0, kind, &Budget::new(64 << 20), &Scratch::new(None).unwrap()).unwrap();
        return;
    }
    let group = NewGroup::new([Property::new(change, DataType::Int64)]);
    let rows = |start: u64, rows: usize| Int64Array::from_iter_values((start..).take(rows).map(|row| row as i64));
    graph
        .add_vertex_group(0, &group, &mut |batch| Ok(vec![Some(Arc::new(rows(batch.start, batch.rows)) as ArrayRef)]))
        .unwrap();
}

fn command(home: &Home, change: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "extend::does_what_the_environment_says"])
        .env(GRAPH, home.at("graph"))
        .env(CHANGE, change);
    command.env("TMPDIR", home.at("tmp")).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command
}

/// The same by the command: the rows of a table become edges of an annnet graph.
fn extend_annnet(home: &Home, change: &str) -> Command {
    let table = format!("{change}.csv");
    let mut command = home.command(&["extend", "graph", "--edges", &table]);
    command.env("TMPDIR", home.at("tmp")).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command
}

/// Makes a change.
type Make = fn(&Home, &str) -> Command;

fn apply(home: &Home, make: Make, change: &str) {
    assert!(make(home, change).status().unwrap().success(), "{change}");
}

/// Returns the files of the graph, without those of changes in progress.
fn files(home: &Home) -> Tree {
    tree::read(&home.at("graph"), |name| name == Path::new("_isomorph"))
}

fn side(home: &Home) -> Tree {
    tree::read(&home.at("graph/_isomorph"), |_| false)
}

fn reset(home: &Home, old: &Tree) {
    let graph = home.at("graph");
    tree::clear(&graph, |_| false);
    fs::create_dir(graph.join("_isomorph")).unwrap();
    tree::write(&graph, old);
}

/// Creates a GraphAr graph in small chunks.
fn graphar() -> Home {
    let home = Home::new();
    fs::create_dir(home.at("tmp")).unwrap();
    home.write("people.csv", PEOPLE);
    let arguments = ["--vertex-chunk", "2", "--adj-lists", "ordered_by_source", "--lossy"];
    home.run(&[&["convert", "people.csv", "graph", "--to", "graphar"][..], &arguments].concat()).exits(0);
    home
}

/// Creates an annnet graph with so many edges that their table grows by a file, and two tables of further edges.
fn annnet(layout: &str) -> Home {
    let home = Home::new();
    fs::create_dir(home.at("tmp")).unwrap();
    home.write("people.csv", PEOPLE);
    home.run(&["convert", "people.csv", "graph", "--to", "annnet", "--layout", layout, "--lossy"]).exits(0);
    let edges = |start: usize, count: usize| {
        let row = |at: usize| format!("{at:x}-{:x},ada,mary,{}\n", at * 7919 % 65_537, at * 31 % 1009);
        format!("id,source,target,weight\n{}", (start..start + count).map(row).collect::<String>())
    };
    home.write("first.csv", edges(0, 12_000));
    home.write("more.csv", edges(20_000, 50));
    home.write("others.csv", edges(30_000, 50));
    apply(&home, extend_annnet, "first");
    home
}

/// Kills the change `killed_change`; afterwards `next` must succeed.
fn kill_and_look(home: &Home, make: Make, killed_change: &str, next: &str) {
    let old = files(home);
    reset(home, &old);
    let begun = Instant::now();
    apply(home, make, killed_change);
    let mut whole = begun.elapsed();
    let new = files(home);
    apply(home, make, next);
    let both = files(home);
    home.run(&["validate", "graph"]).exits(0);
    let seed = setting("CRASH_SEED").unwrap_or(1) ^ killed_change.len() as u64;
    let kills = setting("CRASH_KILLS").map_or(KILLS, |kills| kills as usize);
    let mut random = Random(seed);
    let (mut done, mut tried, mut middle, mut recorded) = (0, 0, 0, 0);
    while done < kills || middle == 0 {
        assert!(tried < 5 * kills + 50, "{killed_change}: kills come too late or too early");
        tried += 1;
        reset(home, &old);
        let moment = moment(tried, whole, &mut random);
        let begun = Instant::now();
        if !killed(&mut make(home, killed_change), &home.at("graph/_isomorph"), moment) {
            // The machine was busier when the first run was measured.
            whole = whole.min(begun.elapsed());
            continue;
        }
        done += 1;
        let what = format!("{killed_change}, seed {seed}, kill {done}, {moment:?}");
        let record = home.at("graph/_isomorph/redo.json").exists();
        middle += usize::from(!side(home).is_empty());
        recorded += usize::from(record);
        let found = files(home);
        assert!(record || found == old || found == new, "{what}: a mix: {}", tree::difference(&found, &new));
        // Opening completes recorded changes.
        home.run(&["digest", "graph"]).exits(0);
        assert!(!home.at("graph/_isomorph/redo.json").exists(), "{what}: the record is still there");
        let found = files(home);
        assert!(
            found == new || !record && found == old,
            "{what}: a mix after opening: {}",
            tree::difference(&found, &new)
        );
        if found == old {
            apply(home, make, killed_change);
            assert!(files(home) == new, "{what}: the next run made something else");
        }
        apply(home, make, next);
        assert!(files(home) == both, "{what}: the next change made something else");
        assert_eq!(side(home), Tree::new(), "{what}: left behind");
        assert_eq!(fs::read_dir(home.at("tmp")).unwrap().count(), 0, "{what}: temporary files");
    }
    println!(
        "{killed_change}: seed {seed}, {whole:?} undisturbed, {done} kills of {tried} runs, {middle} in the middle, {recorded} with a record"
    );
}

#[test]
fn a_property_group_that_is_added() {
    kill_and_look(&graphar(), command, "rank", "unordered_by_source");
}

#[test]
fn an_adjacency_list_that_is_added() {
    kill_and_look(&graphar(), command, "ordered_by_dest", "rank");
}

#[test]
fn edges_that_are_added_to_annnet() {
    let home = annnet("v2");
    apply(&home, extend_annnet, "more");
    assert!(home.at("graph/structure/edges.parquet").is_dir(), "the table grows by a file");
    kill_and_look(&annnet("v2"), extend_annnet, "more", "others");
}

#[test]
fn edges_that_are_added_to_the_layout_of_the_text() {
    let home = annnet("1.1");
    apply(&home, extend_annnet, "more");
    assert!(home.at("graph/structure/edge_definitions.parquet").is_dir(), "the table grows by a file");
    // Every change also changes a matrix, which grows, and checksums: opening compares them.
    kill_and_look(&annnet("1.1"), extend_annnet, "more", "others");
}

/// Adds the look-up views.
fn add_views(home: &Home, _: &str) -> Command {
    let mut command = home.command(&["extend", "graph", "--cache"]);
    command.env("TMPDIR", home.at("tmp")).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command
}

#[test]
fn views_that_are_made_for_annnet() {
    kill_and_look(&annnet("v2"), add_views, "views", "views");
}
