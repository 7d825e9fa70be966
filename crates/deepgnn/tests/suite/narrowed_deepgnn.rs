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
