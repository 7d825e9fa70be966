//! Shortest paths against all paths.

use std::collections::BTreeSet;

use isomorph_algorithms::{Paths, PathsBetween, shortest_paths};
use isomorph_error::Kind;
use isomorph_zoo::{Build, Edges, Nodes, int64, text};
use std::sync::Arc;

use crate::naive::Naive;
use crate::oracle::random;
use crate::support::{Dice, Edge, graph, job, resources, texts};

/// The paths as keys.
fn keys(paths: &Paths) -> Vec<Vec<i64>> {
    let rows = paths.rows().unwrap();
    let numbers: Vec<usize> = texts(rows.column(0)).into_iter().map(|n| n.unwrap().parse().unwrap()).collect();
    let own: Vec<i64> = texts(rows.column(3)).into_iter().map(|key| key.unwrap().parse().unwrap()).collect();
    let mut found = vec![Vec::new(); paths.len()];
    numbers.into_iter().zip(own).for_each(|(path, key)| found[path - 1].push(key));
    found
}

/// All shortest paths, by trying every arc that leads one step further.
fn naive(graph: &Naive, from: i64, to: i64, weighted: bool, both: bool) -> (Option<f64>, BTreeSet<Vec<i64>>) {
    let distances = graph.distances(from, weighted, both);
    let Some(length) = distances[&to] else { return (None, BTreeSet::new()) };
    let mut arcs = graph.arcs.clone();
    if both {
        arcs.extend(graph.arcs.iter().map(|(source, target, weight)| (*target, *source, *weight)));
    }
    let (mut open, mut found) = (vec![vec![from]], BTreeSet::new());
    while let Some(path) = open.pop() {
        let last = *path.last().unwrap();
        if last == to {
            found.insert(path);
            continue;
        }
        for (source, target, weight) in &arcs {
            let step = if weighted { *weight } else { 1.0 };
            let (Some(here), Some(there)) = (distances[&last], distances[target]) else { continue };
            if *source == last && here + step == there && there <= length && !path.contains(target) {
                let mut longer = path.clone();
                longer.push(*target);
                open.push(longer);
            }
        }
    }
    (Some(length), found)
}

#[test]
fn all_shortest_paths_of_random_graphs_are_found() {
    let mut dice = Dice(77);
    let (mut several, mut none) = (0, 0);
    for round in 0..300u64 {
        let (nodes, mut edges) = random(&mut dice);
        // Paths of edges with weight 0 have a test of their own.
        edges.iter_mut().for_each(|edge| edge.weight += 0.25);
        let plain = Naive::new(&nodes, &edges);
        let mut pick = || nodes[dice.below(nodes.len() as u64) as usize];
        let (from, to) = (pick(), pick());
        let (one, other) = (from.to_string(), to.to_string());
        let resources = resources(if round % 2 == 0 { 16 << 20 } else { 300 << 10 }, 2);
        let source = graph(&nodes, &edges, round % 3 == 0);
        for (weight, both) in [(None, false), (None, true), (Some("weight"), false), (Some("weight"), true)] {
            let wanted = PathsBetween {
                from: (None, &one),
                to: (None, &other),
                weight,
                both_ways: both,
                all: true,
                limit: usize::MAX,
                ..PathsBetween::default()
            };
            let what = format!("round {round}: {from} to {to}, {weight:?}, both {both}: {edges:?}");
            let (length, expected) = naive(&plain, from, to, weight.is_some(), both);
            let found = shortest_paths(&source, &wanted, &job(&resources)).unwrap();
            assert_eq!((found.length, found.count), (length, expected.len() as u128), "{what}");
            let own = keys(&found);
            assert_eq!(own.iter().cloned().collect::<BTreeSet<_>>(), expected, "{what}");
            assert_eq!(own.len(), expected.len(), "{what}: paths are listed once");
            (several, none) = (several + u32::from(own.len() > 1), none + u32::from(own.is_empty()));
            let single = shortest_paths(&source, &PathsBetween { all: false, ..wanted }, &job(&resources)).unwrap();
            assert_eq!(single.len(), expected.len().min(1), "{what}");
            assert!(keys(&single).iter().all(|path| expected.contains(path)), "{what}");
            if weight.is_none()
                && let Some(length) = length
                && length > 0.0
            {
                let most = |most: f64| PathsBetween { max_hops: Some(most as u32), ..wanted };
                assert_eq!(shortest_paths(&source, &most(length), &job(&resources)).unwrap().count, found.count);
                assert!(shortest_paths(&source, &most(length - 1.0), &job(&resources)).unwrap().is_empty(), "{what}");
            }
        }
    }
    assert!(several > 30 && none > 100, "{several} with several paths, {none} without");
}

#[test]
fn one_path_is_found_through_edges_of_weight_0_and_all_are_refused() {
    let mut dice = Dice(5);
    for _ in 0..200 {
        let (nodes, mut edges) = random(&mut dice);
        edges.iter_mut().for_each(|edge| edge.weight = if edge.weight > 1.0 { 1.0 } else { 0.0 });
        let plain = Naive::new(&nodes, &edges);
        let (from, to) = (nodes[0], nodes[nodes.len() - 1]);
        let (one, other) = (from.to_string(), to.to_string());
        let resources = resources(16 << 20, 2);
        let wanted = PathsBetween {
            from: (None, &one),
            to: (None, &other),
            weight: Some("weight"),
            limit: 1,
            ..PathsBetween::default()
        };
        let source = graph(&nodes, &edges, true);
        let found = shortest_paths(&source, &wanted, &job(&resources)).unwrap();
        let length = plain.distances(from, true, false)[&to];
        assert_eq!((found.length, found.len()), (length, usize::from(length.is_some())));
        let path = keys(&found);
        for step in path.iter().flat_map(|path| path.windows(2)) {
            assert!(plain.arcs.iter().any(|arc| (arc.0, arc.1) == (step[0], step[1])));
        }
    }
}

#[test]
fn all_paths_through_edges_of_weight_0_are_complete_or_refused() {
    let mut dice = Dice(6);
    let (mut refused, mut several, mut without) = (0, 0, 0);
    for round in 0..400u64 {
        let (nodes, mut edges) = random(&mut dice);
        edges.iter_mut().for_each(|edge| edge.weight = if edge.weight == 0.0 { 0.0 } else { edge.weight.ceil() });
        let plain = Naive::new(&nodes, &edges);
        let mut pick = || nodes[dice.below(nodes.len() as u64) as usize];
        let (from, to) = (pick(), pick());
        let (one, other) = (from.to_string(), to.to_string());
        let resources = resources(16 << 20, 2);
        let source = graph(&nodes, &edges, round % 3 == 0);
        for both_ways in [false, true] {
            let wanted = PathsBetween {
                from: (None, &one),
                to: (None, &other),
                weight: Some("weight"),
                both_ways,
                all: true,
                limit: usize::MAX,
                ..PathsBetween::default()
            };
            let (length, expected) = naive(&plain, from, to, true, both_ways);
            let what = format!("round {round}: {from} to {to}, both {both_ways}: {edges:?}");
            match shortest_paths(&source, &wanted, &job(&resources)) {
                Ok(found) => {
                    assert_eq!((found.length, found.count), (length, expected.len() as u128), "{what}");
                    assert_eq!(keys(&found).into_iter().collect::<BTreeSet<_>>(), expected, "{what}");
                    several += u32::from(expected.len() > 1);
                    without += u32::from(expected.is_empty());
                }
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Unsupported, "{error}");
                    assert!(!expected.is_empty(), "{what}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 10 && several > 10 && without > 10, "{refused} {several} {without}");
}

#[test]
fn sums_beyond_floats_are_no_missing_paths() {
    let edge = |source, target, weight| Edge { source, target, directed: true, weight };
    let edges = [edge(1, 2, 1e308), edge(2, 3, 1e308), edge(4, 4, 1.0)];
    let source = graph(&[1, 2, 3, 4], &edges, false);
    let resources = resources(1 << 20, 1);
    let wanted = |to| PathsBetween {
        from: (None, "1"),
        to: (None, to),
        weight: Some("weight"),
        limit: 1,
        ..PathsBetween::default()
    };
    for all in [false, true] {
        let error = shortest_paths(&source, &PathsBetween { all, ..wanted("3") }, &job(&resources)).unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported, "{error}");
        // No path leads there, however long.
        assert!(shortest_paths(&source, &PathsBetween { all, ..wanted("4") }, &job(&resources)).unwrap().is_empty());
        let near = shortest_paths(&source, &PathsBetween { all, ..wanted("2") }, &job(&resources)).unwrap();
        assert_eq!(near.length, Some(1e308));
    }
}

/// Two types with the same keys, several relations, a hub.
fn typed() -> Arc<dyn isomorph_model::Source> {
    let mut build = Build::default();
    let person = build.nodes(Nodes::keyed("person", int64([1, 2, 3])));
    let city = build.nodes(Nodes::keyed("city", text(["1", "Rome"])));
    build.edges(Edges::rows(person, "knows", person, [(0, 1), (0, 1), (1, 2)]));
    build.edges(Edges::rows(person, "likes", person, [(0, 1)]).undirected());
    build.edges(Edges::rows(person, "livesIn", city, [(2, 1), (2, 0)]));
    Arc::new(build.finish())
}

#[test]
fn rows_tell_types_relations_and_directions() {
    let resources = resources(1 << 20, 1);
    let between = |from, to| PathsBetween { from, to, limit: 10, all: true, ..PathsBetween::default() };
    let rows = |wanted: &PathsBetween<'_>| {
        let found = shortest_paths(&typed(), wanted, &job(&resources)).unwrap();
        let rows = found.rows().unwrap();
        let columns: Vec<Vec<Option<String>>> = rows.columns()[2..].iter().map(texts).collect();
        let cell = |column: usize, row: usize| columns[column][row].clone().unwrap_or("–".to_owned());
        (0..rows.num_rows())
            .map(|row| (0..columns.len()).map(|column| cell(column, row)).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let found = rows(&between((Some("person"), "1"), (None, "Rome")));
    assert_eq!(found, ["person 1 – –", "person 2 knows out", "person 3 knows out", "city Rome livesIn out"]);
    // Nothing leads back but the undirected edge.
    assert_eq!(rows(&between((None, "2"), (Some("person"), "1"))), ["person 2 – –", "person 1 likes undirected"]);
    assert_eq!(rows(&between((None, "Rome"), (None, "3"))), [""; 0]);
    let both = PathsBetween { both_ways: true, ..between((None, "Rome"), (None, "3")) };
    assert_eq!(rows(&both), ["city Rome – –", "person 3 livesIn in"]);
    assert_eq!(rows(&between((None, "3"), (None, "3"))), ["person 3 – –"]);
    let of = |wanted: PathsBetween<'_>| shortest_paths(&typed(), &wanted, &job(&resources)).unwrap_err();
    let ambiguous = of(between((None, "1"), (None, "3")));
    assert_eq!(
        (ambiguous.kind(), ambiguous.message()),
        (Kind::Usage, "nodes of the types person and city have the key \"1\"")
    );
    assert_eq!(of(between((None, "7"), (None, "3"))).kind(), Kind::NotFound);
    assert!(of(between((Some("persn"), "1"), (None, "3"))).message().contains("did you mean"));
    let weighted = PathsBetween { weight: Some("since"), ..between((None, "3"), (None, "2")) };
    assert!(of(weighted).message().contains("no column since"));
}
