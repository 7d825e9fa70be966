//! Scans of a binary that ask for less than everything: what they give is what a look at each row finds, and the rest is not read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use common::{built, text};
use isomorph_deepgnn::{BuildOptions, DeepGnn, OpenOptions};
use isomorph_model::{Batch, Cost, Ends, Narrowing, Predicate, Request, Set, Source, Tables, Way};
use isomorph_storage::Location;

const NODES: u64 = 20_000;

/// Nodes with 16 floats and an edge each, their ids ascending or not.
fn graph(home: &std::path::Path, ascending: bool, partitions: u32) -> DeepGnn {
    let mut lines = String::new();
    for at in 0..NODES {
        let id = if ascending { at } else { at * 7919 % NODES };
        let floats = vec![format!("{}.5", id % 100); 16].join(" ");
        writeln!(lines, "{id}\t{}\t1\tf:{floats}\t{},{},1", id % 3, id % 2, id * 31 % NODES).unwrap();
    }
    let path = text(home, "graph.tsv", &lines, None);
    let options = BuildOptions { partitions, ..BuildOptions::default() };
    built(&path, &home.join("out"), &OpenOptions::default(), &options).unwrap();
    DeepGnn::open(&Location::from_path(&home.join("out")), &OpenOptions::default()).unwrap()
}

/// Ids, or sources and targets, sorted; and how many bytes were read.
fn scan(graph: &DeepGnn, request: &Request) -> (Vec<(u64, u64)>, u64) {
    let before = graph.bytes_read();
    let mut found = Vec::new();
    for batch in graph.scan(request).unwrap().into_iter().flatten() {
        match batch.unwrap() {
            Batch::Nodes(nodes) => {
                let ids = nodes.keys.unwrap();
                found.extend(ids.as_primitive::<UInt64Type>().values().iter().map(|id| (*id, *id)));
            }
            Batch::Edges(edges) => {
                let (Ends::Keys(sources), Ends::Keys(targets)) = (&edges.source, &edges.target) else { panic!("rows") };
                let (sources, targets) = (sources.as_primitive::<UInt64Type>(), targets.as_primitive::<UInt64Type>());
                found.extend(sources.values().iter().copied().zip(targets.values().iter().copied()));
            }
            other => panic!("{other:?}"),
        }
    }
    found.sort_unstable();
    (found, graph.bytes_read() - before)
}

fn asking(tables: Tables, column: &str, properties: Vec<usize>, ids: &[u64]) -> Request {
    let set = Set::of_ints(ids.iter().copied().map(i128::from));
    let filter = Some(Predicate::In { column: column.to_owned(), set });
    Request::of(tables).narrowed(Narrowing { properties, filter, ..Narrowing::least() })
}

#[test]
fn ids_find_their_nodes_and_edges() {
    for (ascending, partitions) in [(true, 1), (false, 1), (true, 3)] {
        let home = tempfile::tempdir().unwrap();
        let graph = graph(home.path(), ascending, partitions);
        for (tables, column) in [(Tables::Nodes(0), Narrowing::KEY), (Tables::Edges(0), Narrowing::SOURCE)] {
            let (all, bytes) = scan(&graph, &Request::of(tables));
            assert_eq!(all.len() as u64, NODES);
            // The first look-up finds out whether the map is sorted.
            let every: Vec<u64> = (0..NODES).step_by(40).collect();
            for asked in [vec![], vec![5, 7777, NODES - 1, NODES, u64::MAX], every, (0..NODES).collect()] {
                let (mut found, few) = scan(&graph, &asking(tables, column, vec![0], &asked));
                found.retain(|(id, _)| asked.binary_search(id).is_ok());
                let expected: Vec<_> = all.iter().filter(|(id, _)| asked.binary_search(id).is_ok()).copied().collect();
                assert_eq!(found, expected, "{ascending} {partitions} {column}: {} ids", asked.len());
                if asked.len() == 5 {
                    // The map has 20 bytes of each node.
                    assert!(few * 2 < bytes, "{few} of {bytes} bytes");
                }
            }
            let (_, few) = scan(&graph, &asking(tables, column, vec![0], &[3, 9]));
            match graph.look_up_cost(tables, column) {
                Cost { way: Way::Sorted, rows } => {
                    assert!(rows == Some(0) && few * 50 < bytes, "{rows:?}, {few} of {bytes} bytes");
                }
                cost => assert!(!ascending || partitions > 1, "{cost:?}"),
            }
        }
    }
}

#[test]
fn features_that_nobody_wants_are_not_read() {
    let home = tempfile::tempdir().unwrap();
    let graph = graph(home.path(), true, 1);
    let wanting = |properties| {
        let narrowing = Narrowing { properties, ..Narrowing::least() };
        scan(&graph, &Request::of(Tables::Nodes(0)).narrowed(narrowing))
    };
    let all = Request::of(Tables::Nodes(0));
    let (nodes, _) = scan(&graph, &all);
    let (_, bytes) = scan(&graph, &all);
    let feature = graph.graph().nodes[0].properties.len() - 1;
    let (some, few) = wanting(vec![0]);
    assert_eq!(some, nodes);
    assert!(few * 2 < bytes, "{few} of {bytes} bytes");
    assert_eq!(wanting(vec![0, feature]), (nodes, bytes));
}

/// Nodes with three features: a few numbers, many numbers, and some more.
fn with_features(home: &std::path::Path) -> DeepGnn {
    let mut lines = String::new();
    for id in 0..300 {
        let floats = |count: usize, add: usize| vec![format!("{}.5", (id + add) % 100); count].join(" ");
        writeln!(lines, "{id}\t0\t1\tf:{};f:{};f:{}\t", floats(3, 0), floats(3000, 1), floats(5, 2)).unwrap();
    }
    let path = text(home, "graph.tsv", &lines, None);
    built(&path, &home.join("out"), &OpenOptions::default(), &BuildOptions::default()).unwrap();
    DeepGnn::open(&Location::from_path(&home.join("out")), &OpenOptions::default()).unwrap()
}

#[test]
fn of_several_features_only_those_that_are_wanted_are_read() {
    let home = tempfile::tempdir().unwrap();
    let graph = with_features(home.path());
    let first = graph.graph().nodes[0].properties.len() - 3;
    let read = |features: &[usize]| {
        let properties = features.iter().map(|feature| first + feature).collect();
        let request = Request::of(Tables::Nodes(0)).narrowed(Narrowing { properties, ..Narrowing::least() });
        let before = graph.bytes_read();
        let mut columns: Vec<Vec<arrow_array::ArrayRef>> = vec![Vec::new(); 3];
        for batch in graph.scan(&request).unwrap().into_iter().flatten() {
            let Batch::Nodes(nodes) = batch.unwrap() else { panic!("no nodes") };
            for (all, column) in columns.iter_mut().zip(&nodes.properties[first..]) {
                all.extend(column.clone());
            }
        }
        let bytes = graph.bytes_read() - before;
        let whole = |columns: &Vec<arrow_array::ArrayRef>| {
            let columns: Vec<&dyn arrow_array::Array> = columns.iter().map(AsRef::as_ref).collect();
            (!columns.is_empty()).then(|| arrow_select::concat::concat(&columns).unwrap())
        };
        (columns.iter().map(whole).collect::<Vec<_>>(), bytes)
    };
    read(&[0, 1, 2]);
    let (all, bytes) = read(&[0, 1, 2]);
    assert!(all.iter().all(Option::is_some));
    for wanted in [vec![0], vec![1], vec![2], vec![0, 2], vec![1, 2]] {
        let (some, few) = read(&wanted);
        for feature in 0..3 {
            let expected = all[feature].as_ref().filter(|_| wanted.contains(&feature));
            assert_eq!(some[feature].as_ref(), expected, "{wanted:?}: {feature}");
        }
        assert!(wanted.contains(&1) || few * 5 < bytes, "{wanted:?}: {few} of {bytes} bytes");
    }
}
