//! Statistics of random graphs and of all constructs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isomorph_algorithms::{Degrees, Distinct, GraphStatistics, statistics};
use isomorph_zoo::{Build, Edges, Nodes, int64, text};

use crate::naive::Naive;
use crate::oracle::random;
use crate::support::{Dice, graph, job, resources};

fn check(own: &Degrees, mut degrees: Vec<u64>, what: &str) {
    degrees.sort_unstable();
    let part = |percent: usize| degrees[(degrees.len() * percent).div_ceil(100).max(1) - 1];
    assert_eq!((own.min, own.median, own.p99, own.max), (part(0), part(50), part(99), part(100)), "{what}");
    let mean = degrees.iter().sum::<u64>() as f64 / degrees.len() as f64;
    assert!((own.mean - mean).abs() < 1e-12, "{what}");
    for bar in &own.histogram {
        let inside = degrees.iter().filter(|degree| (bar.from..=bar.to).contains(degree)).count() as u64;
        assert_eq!(bar.count, inside, "{what}: {bar:?}");
    }
    assert_eq!(own.histogram.iter().map(|bar| bar.count).sum::<u64>(), degrees.len() as u64, "{what}");
}

#[test]
fn random_graphs_are_counted_as_naively() {
    let mut dice = Dice(9);
    for round in 0..200u64 {
        let (nodes, edges) = random(&mut dice);
        let naive = Naive::new(&nodes, &edges);
        let resources = resources(if round % 2 == 0 { 64 << 20 } else { 300 << 10 }, 1 + round as usize % 2);
        let what = format!("round {round}: {nodes:?} {edges:?}");
        let found: GraphStatistics = statistics(&graph(&nodes, &edges, round % 3 == 0), &job(&resources)).unwrap();
        assert_eq!((found.nodes, found.edges), (nodes.len() as u64, edges.len() as u64), "{what}");
        assert_eq!(found.dangling, (edges.len() - naive.edges.len()) as u64, "{what}");
        let ends = |node: i64| {
            naive.edges.iter().map(|edge| u64::from(edge.source == node) + u64::from(edge.target == node)).sum()
        };
        let degrees: Vec<u64> = nodes.iter().map(|node| ends(*node)).collect();
        check(&found.degree, degrees.clone(), &what);
        assert_eq!(found.isolated, degrees.iter().filter(|degree| **degree == 0).count() as u64, "{what}");
        assert_eq!(found.node_types[0].isolated, found.isolated);
        let directed: Vec<(i64, i64)> =
            naive.edges.iter().filter(|edge| edge.directed).map(|edge| (edge.source, edge.target)).collect();
        let out: Vec<u64> =
            nodes.iter().map(|node| directed.iter().filter(|edge| edge.0 == *node).count() as u64).collect();
        let incoming: Vec<u64> =
            nodes.iter().map(|node| directed.iter().filter(|edge| edge.1 == *node).count() as u64).collect();
        assert_eq!(found.out_degree.is_some(), !directed.is_empty(), "{what}");
        if let (Some(own), Some(of_in)) = (&found.out_degree, &found.in_degree) {
            check(own, out, &what);
            check(of_in, incoming, &what);
        }
        assert_eq!(found.loops, naive.edges.iter().filter(|edge| edge.source == edge.target).count() as u64, "{what}");
        let distinct: BTreeSet<(bool, i64, i64)> = naive
            .edges
            .iter()
            .map(|edge| match edge.directed {
                true => (true, edge.source, edge.target),
                false => (false, edge.source.min(edge.target), edge.source.max(edge.target)),
            })
            .collect();
        assert_eq!(found.parallel, (naive.edges.len() - distinct.len()) as u64, "{what}");
        let pairs: BTreeSet<(i64, i64)> = directed.into_iter().filter(|(one, other)| one != other).collect();
        let returned = pairs.iter().filter(|(one, other)| pairs.contains(&(*other, *one))).count();
        let share = (!pairs.is_empty()).then(|| returned as f64 / pairs.len() as f64);
        assert_eq!(found.reciprocity, share, "{what}");
        let mut sizes: BTreeMap<i64, u64> = BTreeMap::new();
        naive.components().values().for_each(|label| *sizes.entry(*label).or_default() += 1);
        assert_eq!(found.components.count, sizes.len() as u64, "{what}");
        assert_eq!(Some(found.components.largest), sizes.values().max().copied(), "{what}");
        let bars: u64 = found.components.histogram.iter().map(|bar| bar.count).sum();
        assert_eq!(bars, sizes.len() as u64, "{what}");
    }
}

#[test]
fn types_relations_and_columns() {
    let mut build = Build::default();
    let person = build.nodes(
        Nodes::keyed("person", int64([1, 2, 3]))
            .column("name", text([Some("ann"), None, Some("ann")]))
            .column("n", int64([None, None, Some(4)])),
    );
    let city = build.nodes(Nodes::rows("city", 2));
    build.edges(
        Edges::rows(person, "knows", person, [(0, 1), (1, 0), (0, 1), (2, 2)])
            .column("since", int64([Some(1), Some(2), None, Some(1)])),
    );
    build.edges(Edges::rows(person, "livesIn", city, [(0, 0), (1, 9)]));
    build.edges(Edges::keys(person, "likes", person, int64([1, 7]), int64([3, 1])).undirected());
    let source: Arc<dyn isomorph_model::Source> = Arc::new(build.finish());
    let resources = resources(64 << 20, 2);
    let found = statistics(&source, &job(&resources)).unwrap();
    let types: Vec<(&str, u64, u64)> =
        found.node_types.iter().map(|ty| (ty.name.as_str(), ty.nodes, ty.isolated)).collect();
    assert_eq!(types, [("person", 3, 0), ("city", 2, 1)]);
    let edges: Vec<_> = found
        .edge_types
        .iter()
        .map(|ty| (ty.relation.as_str(), ty.edges, ty.directed, ty.undirected, ty.loops, ty.parallel, ty.dangling))
        .collect();
    assert_eq!(edges, [("knows", 4, 4, 0, 1, 1, 0), ("livesIn", 2, 1, 0, 0, 0, 1), ("likes", 2, 0, 1, 0, 0, 1)]);
    assert_eq!(found.edge_types[0].reciprocity, Some(1.0));
    assert_eq!(found.edge_types[1].dangling_example.as_deref(), Some("row 9"));
    assert_eq!(found.edge_types[2].dangling_example.as_deref(), Some("7"));
    assert_eq!((found.nodes, found.edges, found.dangling, found.hyperedges), (5, 8, 2, Some(0)));
    // Nodes first.
    let columns: Vec<(String, u64, u64)> = found
        .tables
        .iter()
        .flat_map(|table| {
            table
                .columns
                .iter()
                .map(move |column| (format!("{}.{}", table.table, column.name), column.nulls, column.distinct.values))
        })
        .collect();
    let shown: Vec<(&str, u64, u64)> =
        columns.iter().map(|(name, nulls, values)| (name.as_str(), *nulls, *values)).collect();
    assert_eq!(
        shown,
        [("person.id", 0, 3), ("person.name", 1, 1), ("person.n", 2, 1), ("person_knows_person.since", 1, 2)]
    );
    assert_eq!(found.tables[0].columns[1].distinct, Distinct { values: 1, exact: true });
}

/// Edges of one relation are equal whichever edge type has them: a relation may have several between two node types.
#[test]
fn equal_edges_of_several_edge_types_are_parallel() {
    let mut dice = Dice(31);
    for round in 0..100 {
        let mut build = Build::default();
        let ty = [0, 1].map(|at| build.nodes(Nodes::keyed(["a", "b"][at], int64([0, 1, 2]))));
        let (mut all, mut count, mut pairs) = (BTreeSet::new(), 0, BTreeSet::new());
        for (source, relation, target, is_directed) in [
            (0, "r", 1, false),
            (1, "r", 0, false),
            (0, "r", 1, false),
            (0, "s", 1, true),
            (1, "s", 0, true),
            (0, "t", 0, true),
            (0, "t", 0, true),
        ] {
            let rows: Vec<(u64, u64)> = (0..dice.below(5)).map(|_| (dice.below(3), dice.below(3))).collect();
            count += rows.len();
            for (from, to) in &rows {
                let (from, to) = ((source, *from), (target, *to));
                let ends = if is_directed { (from, to) } else { (from.min(to), from.max(to)) };
                all.insert((relation, ends));
                if relation == "t" && from != to {
                    pairs.insert(ends);
                }
            }
            let edges = Edges::rows(ty[source], relation, ty[target], rows);
            build.edges(if is_directed { edges } else { edges.undirected() });
        }
        let source: Arc<dyn isomorph_model::Source> = Arc::new(build.finish());
        let resources = resources(64 << 20, 1 + round % 2);
        let found = statistics(&source, &job(&resources)).unwrap();
        assert_eq!(found.parallel, (count - all.len()) as u64, "round {round}");
        let returned = pairs.iter().filter(|(from, to)| pairs.contains(&(*to, *from))).count();
        let share = (!pairs.is_empty()).then(|| returned as f64 / pairs.len() as f64);
        assert_eq!(found.reciprocity, share, "round {round}");
    }
}

#[test]
fn nodes_that_only_edges_name_are_nodes_of_implied_types() {
    let mut build = Build::default();
    let ty = build.nodes(Nodes::keyed("v", int64([5])).implied());
    build.edges(Edges::keys(ty, "e", ty, int64([5, 8, 9]), int64([8, 9, 8])));
    let source: Arc<dyn isomorph_model::Source> = Arc::new(build.finish());
    let resources = resources(1 << 20, 2);
    let found = statistics(&source, &job(&resources)).unwrap();
    assert_eq!((found.nodes, found.dangling, found.components.count, found.degree.max), (3, 0, 1, 3));
    let components = isomorph_algorithms::components(&source, &job(&resources)).unwrap();
    assert_eq!(components.sizes().collect::<Vec<_>>(), [3]);
    assert_eq!(crate::support::by_key(components.each()).into_keys().collect::<Vec<_>>(), [5, 8, 9]);
}
