//! The first answers are cheap: measured by the bytes that are read.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use isomorph_graphlake::{
    Bindings, GraphLake, GraphNode, Join, JoinPattern, LakeWriter, Node, OpenOptions, Pattern, Question, Solutions,
    WriteOptions,
};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Location, Mode, Staging};

/// Triples of each predicate of the joins.
const TRIPLES: u64 = 12_000;

/// A store with this many triples of each predicate.
fn lake(path: &Path, predicates: &[&str], triples: u64) -> GraphLake {
    let place = Location::from_path(path);
    let staging = Staging::directory(&place, Mode::CreateNew).unwrap();
    let mut writer = LakeWriter::create(&staging, &WriteOptions::default()).unwrap();
    for predicate in predicates {
        for number in 0..triples {
            let subject = format!("urn:node:{number:05}");
            // Neighbours of neighbours are spread over the files.
            let object = format!("urn:node:{:05}", number * 7_919 % triples);
            let object = Object::Term(&object);
            writer.push(&Quad { subject: &subject, predicate, object, graph: None }).unwrap();
        }
    }
    writer.finish(&|_| Ok(())).unwrap();
    staging.commit(&LakeWriter::manifests().each_ref().map(String::as_str)).unwrap();
    open(path)
}

fn open(path: &Path) -> GraphLake {
    GraphLake::open(&Location::from_path(path), &OpenOptions { survey_up_to: 0, ..OpenOptions::default() }).unwrap()
}

/// `?w p ?x . ?x q ?y . ?y r ?z`
fn patterns() -> [JoinPattern<'static>; 3] {
    [(0, "urn:p"), (1, "urn:q"), (2, "urn:r")].map(|(at, predicate)| JoinPattern {
        nodes: [Node::Variable(at), Node::Term(Object::Term(predicate)), Node::Variable(at + 1)],
        graph: GraphNode::Any,
    })
}

#[test]
fn the_first_solutions_of_a_join_cost_a_small_part_of_it() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let whole = lake(&path, &["urn:p", "urn:q", "urn:r"], TRIPLES);
    assert_eq!(Join::new(&whole, &patterns(), 4).unwrap().count(2).unwrap(), TRIPLES);
    let first = open(&path);
    let mut join = Join::new(&first, &patterns(), 4).unwrap().with_small_batches();
    let mut rows = 0;
    while rows < 3 {
        rows += join.next_batch().unwrap().unwrap().rows();
    }
    assert!(rows < 100, "{rows} solutions at once");
    let (some, all) = (first.bytes_read(), whole.bytes_read());
    assert!(some * 3 < all, "{some} bytes for the first solutions, {all} for all");
    // The others are the same.
    while let Some(batch) = join.next_batch().unwrap() {
        rows += batch.rows();
    }
    assert_eq!(rows as u64, TRIPLES);
}

#[test]
fn the_first_triples_of_a_pattern_cost_a_small_part_of_it() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let predicates: Vec<String> = (0..10).map(|number| format!("urn:p:{number}")).collect();
    let triples = 2_000;
    let whole = lake(&path, &predicates.iter().map(String::as_str).collect::<Vec<_>>(), triples);
    let question = Question::from(&Pattern::default());
    let begin = |lake| Solutions::new(lake, &question, Arc::new(Bindings::unit())).unwrap();
    assert_eq!(whole.ask_count(&question, Arc::new(Bindings::unit()), 1).unwrap(), 10 * triples);
    let mut all = begin(&whole);
    let mut rows = 0;
    while let Some(found) = all.next_batch().unwrap() {
        rows += found.rows.len() as u64;
    }
    assert_eq!(rows, 10 * triples);
    let first = open(&path);
    let found = begin(&first).with_small_batches().next_batch().unwrap().unwrap();
    assert!((3..100).contains(&found.rows.len()), "{} rows", found.rows.len());
    let (some, all) = (first.bytes_read(), whole.bytes_read());
    assert!(some * 3 < all, "{some} bytes for the first triples, {all} for all");
}
