//! Random graphs: every algorithm gives what its definition says, with much memory and with little, on one thread and on two.

use std::collections::BTreeMap;

use isomorph_algorithms::{Order, PageRank, clustering, communities, components, distances, page_rank};

use crate::naive::Naive;
use crate::support::{Dice, Edge, by_key, graph, job, resources, values};

/// Keys that are spread and in no order, edges that repeat, loop and lead nowhere.
pub fn random(dice: &mut Dice) -> (Vec<i64>, Vec<Edge>) {
    let count = dice.below(30) as usize + 1;
    let mut nodes: Vec<i64> = (0..count as i64).map(|at| (at * 37 % 101) * 3 - 90).collect();
    nodes.sort_unstable_by_key(|key| key.wrapping_mul(7919) % 1009);
    nodes.dedup();
    let edges = dice.below(3 * count as u64 + 1);
    let directedness = dice.below(3);
    let key =
        |dice: &mut Dice| if dice.below(40) == 0 { 777_777 } else { nodes[dice.below(nodes.len() as u64) as usize] };
    let edge = |_| {
        let (source, target) = (key(dice), key(dice));
        let directed = match directedness {
            0 => true,
            1 => false,
            _ => dice.below(2) == 0,
        };
        Edge { source, target, directed, weight: dice.below(8) as f64 / 4.0 }
    };
    let edges = (0..edges).map(edge).collect();
    (nodes, edges)
}

fn close(own: &BTreeMap<i64, Option<f64>>, naive: &BTreeMap<i64, f64>, what: &str) {
    assert_eq!(own.len(), naive.len(), "{what}");
    for (key, value) in naive {
        let found = own[key].unwrap();
        assert!((found - value).abs() < 1e-12, "{what} of {key}: {found}, expected {value}");
    }
}

#[test]
fn random_graphs_have_the_results_of_the_definitions() {
    let mut dice = Dice(20);
    for round in 0..150u64 {
        let (nodes, edges) = random(&mut dice);
        let naive = Naive::new(&nodes, &edges);
        let from = nodes[dice.below(nodes.len() as u64) as usize];
        let dangling = (edges.len() - naive.edges.len()) as u64;
        let mut first = None;
        for (memory, threads, by_row) in
            [(64 << 20, 1, true), (64 << 20, 2, false), (300 << 10, 2, true), (300 << 10, 1, false)]
        {
            let resources = resources(memory, threads);
            let (job, source) = (job(&resources), graph(&nodes, &edges, by_row));
            let what =
                format!("round {round}, {memory} bytes, {threads} threads, by row {by_row}: {nodes:?} {edges:?}");
            let how = PageRank { damping: 0.85, iterations: 7, tolerance: 0.0 };
            let ranks = page_rank(&source, &how, &job).unwrap();
            assert_eq!((ranks.read.relations.dangling(), ranks.iterations), (dangling, Some(7)), "{what}");
            close(&by_key(&ranks), &naive.page_rank(0.85, 7), &what);
            // To the last bit, whatever the memory.
            let bits: Vec<(String, u64)> =
                values(&ranks, Order::Nodes).into_iter().map(|(key, rank)| (key, rank.unwrap().to_bits())).collect();
            assert_eq!(&bits, first.get_or_insert_with(|| bits.clone()), "{what}");
            close(&by_key(&clustering(&source, &job).unwrap()), &naive.clustering(), &what);
            let found = by_key(&communities(&source, 4, &job).unwrap());
            let expected = naive.communities(4);
            assert!(
                expected.iter().all(|(key, label)| found[key] == Some(*label as f64)),
                "{what}: {found:?}, expected {expected:?}"
            );
            for (weight, both) in [(None, false), (None, true), (Some("weight"), false), (Some("weight"), true)] {
                let key = from.to_string();
                let found = by_key(&distances(&source, (None, &key), weight, both, &job).unwrap());
                assert_eq!(
                    found,
                    naive.distances(from, weight.is_some(), both),
                    "{what} {weight:?} {both} from {from}"
                );
            }
            let found = components(&source, &job).unwrap();
            let expected = naive.components();
            let mut sizes: BTreeMap<i64, u64> = BTreeMap::new();
            expected.values().for_each(|label| *sizes.entry(*label).or_default() += 1);
            let mut sizes: Vec<u64> = sizes.into_values().collect();
            sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
            assert_eq!(found.sizes().collect::<Vec<_>>(), sizes, "{what}");
            let each = by_key(found.each());
            for one in &nodes {
                for other in &nodes {
                    assert_eq!(each[one] == each[other], expected[one] == expected[other], "{what}: {one}, {other}");
                }
            }
            drop((ranks, found));
            assert_eq!((resources.budget.used(), resources.scratch.used()), (0, 0), "{what}");
        }
    }
}

#[test]
fn orders_and_limits() {
    let edges: Vec<Edge> = [(1, 9), (2, 9), (3, 9), (9, 5)]
        .map(|(source, target)| Edge { source, target, directed: true, weight: 1.0 })
        .to_vec();
    let source = graph(&[1, 2, 3, 5, 9], &edges, true);
    let resources = resources(1 << 20, 2);
    let ranks = page_rank(&source, &PageRank::default(), &job(&resources)).unwrap();
    assert!(ranks.change.unwrap() < 1e-9 && ranks.iterations.unwrap() > 3);
    let first = |order, limit| -> Vec<String> {
        let rows = ranks.rows(order, limit).unwrap().map(Result::unwrap);
        rows.flat_map(|batch| crate::support::texts(batch.column(1))).map(Option::unwrap).collect()
    };
    assert_eq!(first(Order::Greatest, Some(2)), ["5", "9"]);
    assert_eq!(first(Order::Smallest, Some(3)), ["1", "2", "3"]);
    assert_eq!(first(Order::Greatest, None), ["5", "9", "1", "2", "3"]);
    assert_eq!(first(Order::Nodes, Some(4)), ["1", "2", "3", "5"]);
    assert_eq!(first(Order::Greatest, Some(0)), [""; 0]);
    let wrong = PageRank { damping: 1.5, ..PageRank::default() };
    assert_eq!(page_rank(&source, &wrong, &job(&resources)).unwrap_err().kind(), isomorph_error::Kind::Usage);
}
