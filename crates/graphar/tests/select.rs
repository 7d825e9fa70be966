//! Selection while reading: types, properties, conditions; and what it saves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;

use isomorph_error::Kind;
use isomorph_graphar::write::Grouping;
use isomorph_graphar::{GraphAr, OpenOptions, WriteOptions};
use isomorph_model::{Batch, Ends, MemoryGraph, Request, Source, Tables};
use isomorph_model::{Comparison, Literal, Predicate};
use isomorph_storage::Location;
use support::pump::write_as;
use support::social::social;

const PEOPLE: usize = 3000;

fn written() -> (tempfile::TempDir, Location) {
    written_with(PEOPLE, 1000, Grouping::Each)
}

fn written_with(people: usize, chunk: u64, grouping: Grouping) -> (tempfile::TempDir, Location) {
    let home = tempfile::tempdir().unwrap();
    let to = Location::from_path(&home.path().join("social"));
    let graph = social(people);
    let write = WriteOptions { vertex_chunk: Some(chunk), grouping: Some(grouping), ..WriteOptions::default() };
    write_as(&graph, &graph.graph, &write, &to, 10_000).unwrap();
    (home, to)
}

fn read(at: &Location, options: &OpenOptions) -> (MemoryGraph, u64) {
    let graph = GraphAr::open(at, options).unwrap();
    let before = graph.root().bytes_read();
    let read = MemoryGraph::read(&graph).unwrap();
    (read, graph.root().bytes_read() - before)
}

fn nodes(graph: &MemoryGraph, ty: usize) -> usize {
    let rows = |batch: &Batch| match batch {
        Batch::Nodes(batch) if batch.ty == ty => batch.rows,
        _ => 0,
    };
    graph.batches.iter().map(rows).sum()
}

fn pairs(graph: &MemoryGraph, ty: usize) -> Vec<(u64, u64)> {
    let mut pairs = Vec::new();
    for batch in &graph.batches {
        match batch {
            Batch::Edges(batch) if batch.ty == ty => match (&batch.source, &batch.target) {
                (Ends::Rows(source), Ends::Rows(target)) => {
                    pairs.extend(source.values().iter().copied().zip(target.values().iter().copied()));
                }
                _ => panic!("ends as keys"),
            },
            _ => {}
        }
    }
    pairs.sort_unstable();
    pairs
}

fn select(types: Option<&[&str]>, columns: Option<&[&str]>) -> OpenOptions {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    OpenOptions { types: types.map(owned), columns: columns.map(owned), ..OpenOptions::default() }
}

#[test]
fn types_bring_what_they_need() {
    let (_home, at) = written();
    let names = |options: &OpenOptions| {
        let graph = GraphAr::open(&at, options).unwrap();
        let graph = graph.graph();
        let nodes: Vec<String> = graph.nodes.iter().map(|ty| ty.name.clone()).collect();
        let edges: Vec<String> = graph.edges.iter().map(|ty| graph.edge_name(ty).1).collect();
        (nodes.join(" "), edges.join(" "))
    };
    assert_eq!(names(&select(None, None)), ("person city".into(), "knows lives_in".into()));
    assert_eq!(names(&select(Some(&["person"]), None)), ("person".into(), "knows".into()));
    assert_eq!(names(&select(Some(&["city"]), None)), ("city".into(), String::new()));
    assert_eq!(names(&select(Some(&["lives_in"]), None)), ("person city".into(), "lives_in".into()));
    assert_eq!(names(&select(Some(&["person_knows_person"]), None)), ("person".into(), "knows".into()));
    let unknown = GraphAr::open(&at, &select(Some(&["dog"]), None)).err().unwrap();
    assert_eq!(unknown.kind(), Kind::Usage);
}

#[test]
fn properties_that_are_left_out_are_not_read() {
    let (_home, at) = written();
    let (all, bytes) = read(&at, &OpenOptions::default());
    let (some, fewer) = read(&at, &select(None, Some(&["person.name", "weight"])));
    assert_eq!(nodes(&some, 0), nodes(&all, 0));
    let names: Vec<&str> = some.graph.nodes[0].properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!((names, some.graph.nodes[1].properties.len()), (vec!["name"], 0));
    assert!(fewer * 4 < bytes * 3, "{fewer} of {bytes} bytes");
    assert_eq!(GraphAr::open(&at, &select(None, Some(&["nothing"]))).err().unwrap().kind(), Kind::Usage);
    assert_eq!(GraphAr::open(&at, &select(None, Some(&["city.age"]))).err().unwrap().kind(), Kind::Usage);
}

fn filtered(ty: &str, filter: Predicate) -> OpenOptions {
    OpenOptions { filters: BTreeMap::from([(ty.to_owned(), filter)]), ..OpenOptions::default() }
}

#[test]
fn conditions_on_properties_that_a_type_lacks_are_refused_at_once() {
    let (_home, at) = written();
    for (ty, column) in [("person", "weight"), ("knows", "age"), ("person_knows_person", "nothing")] {
        let error = GraphAr::open(&at, &filtered(ty, Predicate::IsNull(column.to_owned()))).err().unwrap();
        assert_eq!(error.kind(), Kind::Usage, "{ty}.{column}: {error}");
        assert!(error.message().contains(column), "{error}");
    }
    let labelled = Predicate::Has { column: "@labels".to_owned(), literal: "Student".into() };
    let error = GraphAr::open(&at, &filtered("person", labelled)).err().unwrap();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().contains("labels of person"), "{error}");
}

#[test]
fn conditions_are_pushed_down_to_the_files() {
    let (_home, at) = written_with(60_000, 40_000, Grouping::One);
    let people = |options: &OpenOptions| {
        let graph = GraphAr::open(&at, options).unwrap();
        let (before, mut rows) = (graph.root().bytes_read(), 0);
        for mut part in graph.scan(&Request::of(Tables::Nodes(0))).unwrap() {
            part.read(&mut |batch| {
                rows += batch.rows();
                Ok(())
            })
            .unwrap();
        }
        (rows, graph.root().bytes_read() - before)
    };
    let (all, bytes) = people(&OpenOptions::default());
    // The last ten vertices, by the statistics of the key: nothing of the first chunk, and one page of the second.
    let few = Predicate::compare("id", Comparison::LessOrEqual, Literal::Int(1000 - 7 * 59_990));
    let (found, fewer) = people(&filtered("person", few));
    assert_eq!((all, found), (60_000, 10));
    assert!(fewer * 3 < bytes * 2, "{fewer} of {bytes} bytes");
}

#[test]
fn vertices_that_go_take_their_edges_with_them() {
    let (_home, at) = written();
    let (all, _) = read(&at, &OpenOptions::default());
    // Conditions on three groups: row % 4 != 0 and even, or row 5.
    let even = Predicate::equal("active", true);
    let five = Predicate::And(vec![Predicate::equal("id", 965), Predicate::IsNotNull("age".into())]);
    let (some, _) = read(&at, &filtered("person", Predicate::Or(vec![even, five])));
    let kept: Vec<u64> = (0..PEOPLE as u64).filter(|row| (row % 2 == 0 && row % 4 != 0) || *row == 5).collect();
    assert_eq!(nodes(&some, 0), kept.len());
    for ty in [0, 1] {
        let rank = |row: u64| kept.binary_search(&row).ok().map(|rank| rank as u64);
        let target = |row: u64| if ty == 0 { rank(row) } else { Some(row) };
        let expected: Vec<(u64, u64)> =
            pairs(&all, ty).into_iter().filter_map(|(from, to)| Some((rank(from)?, target(to)?))).collect();
        assert!(!expected.is_empty());
        assert_eq!(pairs(&some, ty), expected);
    }
    let (none, _) = read(&at, &filtered("person", Predicate::Not(Box::new(Predicate::IsNotNull("id".into())))));
    assert_eq!((nodes(&none, 0), nodes(&none, 1), pairs(&none, 0).len()), (0, 3, 0));
}

#[test]
fn edges_are_filtered_by_their_properties() {
    let (_home, at) = written();
    let heavy = Predicate::compare("weight", Comparison::Greater, 100.0);
    let noted = Predicate::equal("note", "line\n3");
    let (all, _) = read(&at, &OpenOptions::default());
    let (some, _) = read(&at, &filtered("knows", Predicate::And(vec![heavy, noted])));
    // Edge n has weight n / 10 unless n % 8 = 0, and note n % 10 unless n % 3 = 0.
    let total = pairs(&all, 0).len();
    let expected = (0..total).filter(|n| n % 8 != 0 && *n as f64 * 0.1 > 100.0 && n % 3 != 0 && n % 10 == 3).count();
    assert_eq!(pairs(&some, 0).len(), expected);
    assert_eq!(pairs(&some, 1).len(), PEOPLE);
    assert_eq!(nodes(&some, 0), PEOPLE);
    let unknown = GraphAr::open(&at, &filtered("dog", Predicate::And(Vec::new()))).err().unwrap();
    assert_eq!(unknown.kind(), Kind::Usage);
    let unknown = GraphAr::open(&at, &filtered("person", Predicate::equal("bark", 1))).err().unwrap();
    assert_eq!(unknown.kind(), Kind::Usage);
}

#[test]
fn nothing_compares_with_nan() {
    let (_home, at) = written_with(20, 10, Grouping::Each);
    for literal in [Literal::Text("NaN".into()), Literal::Text("nan".into()), Literal::Float(f64::NAN)] {
        for (column, is_float) in [("height", true), ("name", false)] {
            if !is_float && matches!(literal, Literal::Float(_)) {
                continue;
            }
            let filter = Predicate::Not(Box::new(Predicate::compare(column, Comparison::Equal, literal.clone())));
            let options =
                OpenOptions { filters: BTreeMap::from([("person".to_owned(), filter)]), ..OpenOptions::default() };
            let opened = GraphAr::open(&at, &options).map(|_| ());
            assert_eq!(
                opened.as_ref().is_err_and(|error| error.kind() == Kind::Usage),
                is_float,
                "{column}: {opened:?}"
            );
        }
    }
}
