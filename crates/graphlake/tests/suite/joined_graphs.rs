//! Graphs in a column that another pattern fills: names of graphs are resources, and one graph is hidden.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::sync::Arc;

use isomorph_graphlake::{
    GraphLake, GraphNode, InGraph, Join, JoinPattern, Lake, Node, OpenOptions, Pattern, QUOTED_GRAPH, WriteOptions,
};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;

const TRIPLE: &str = "<<( <urn:s> <urn:a> <urn:o> )>>";

/// A store whose graphs have this many triples each: patterns with fewer results are evaluated first.
fn store(home: &tempfile::TempDir, each: usize) -> Arc<GraphLake> {
    let path = home.path().join(format!("lake{each}"));
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let mut transaction = lake.begin().unwrap();
    let objects: Vec<String> = (0..each).map(|number| format!("urn:{number}")).collect();
    let mut say = |predicate, object, graph| {
        transaction.insert(&Quad { subject: "urn:s", predicate, object, graph }).unwrap();
    };
    for graph in [None, Some("urn:g"), Some("_:b")] {
        objects.iter().for_each(|object| say("urn:a", Object::Term(object), graph));
    }
    for text in ["", "urn:g", "_:b", QUOTED_GRAPH] {
        say("urn:text", Object::plain(text, ""), None);
    }
    say("urn:text", Object::Literal { lexical: "urn:g", datatype: "", language: Some("en"), direction: None }, None);
    for name in ["urn:g", "_:b", QUOTED_GRAPH] {
        say("urn:name", Object::Term(name), None);
    }
    say("urn:says", Object::Term(TRIPLE), None);
    transaction.commit().unwrap();
    let lake = common::open(&path, &OpenOptions::default()).unwrap();
    assert!(lake.snapshot().graphs.iter().any(|graph| graph.name == QUOTED_GRAPH));
    Arc::new(lake)
}

/// The graphs that both patterns find, each once, and whether the names are evaluated first.
fn graphs(lake: &Arc<GraphLake>, predicate: &str) -> (Vec<String>, bool) {
    let term = |text| Node::Term(Object::Term(text));
    let (subject, name) = (Node::Variable(0), Node::Variable(1));
    let patterns = [
        JoinPattern { nodes: [subject, term(predicate), name], graph: GraphNode::Default },
        JoinPattern { nodes: [subject, term("urn:a"), Node::Variable(2)], graph: GraphNode::Variable(1) },
    ];
    let mut join = Join::new(Arc::clone(lake), &patterns, 3).unwrap();
    let (names_first, column) = (join.plan()[0].pattern == 0, join.column(1).unwrap());
    let (mut found, mut rows) = (Vec::new(), 0);
    while let Some(batch) = join.next_batch().unwrap() {
        found.extend((0..batch.rows()).map(|row| batch.columns()[column].text(row).to_owned()));
        rows += batch.rows() as u64;
    }
    assert_eq!(Join::new(Arc::clone(lake), &patterns, 3).unwrap().count(2).unwrap(), rows);
    found.sort();
    found.dedup();
    (found, names_first)
}

#[test]
fn literals_name_no_graph() {
    let home = tempfile::tempdir().unwrap();
    for (each, names_first) in [(1, false), (20, true)] {
        assert_eq!(graphs(&store(&home, each), "urn:text"), (Vec::new(), names_first));
    }
}

#[test]
fn resources_name_graphs_but_not_the_hidden_one() {
    let home = tempfile::tempdir().unwrap();
    for (each, names_first) in [(1, false), (20, true)] {
        let found = ["_:b", "urn:g"].map(str::to_owned).to_vec();
        assert_eq!(graphs(&store(&home, each), "urn:name"), (found, names_first));
    }
}

#[test]
fn names_of_the_default_graph_name_no_graph() {
    let home = tempfile::tempdir().unwrap();
    let lake = store(&home, 1);
    let count = |graph| {
        let (pattern, mut count) = (Pattern { predicate: Some("urn:a"), graph, ..Pattern::default() }, [0, 0]);
        for (number, found) in count.iter_mut().enumerate() {
            let mut take = |_: Quad<'_>| {
                *found += 1;
                Ok(())
            };
            match number {
                0 => lake.matching(&pattern, &mut take).unwrap(),
                _ => lake.matching_on(2, &pattern, &mut take).unwrap(),
            }
        }
        count
    };
    assert_eq!((count(InGraph::Default), count(InGraph::Named("urn:g"))), ([1, 1], [1, 1]));
    for name in ["urn:x-arq:DefaultGraph", "", "urn:x-rdflib:default"] {
        assert_eq!(count(InGraph::Named(name)), [0, 0], "{name:?}");
    }
}
