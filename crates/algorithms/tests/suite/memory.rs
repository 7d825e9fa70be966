//! With little memory, keys, arcs and arrays are in temporary files, and results are the same to the last bit.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray};
use isomorph_algorithms::{
    NodeValues, Order, PageRank, PathsBetween, clustering, communities, components, distances, page_rank,
    shortest_paths, statistics,
};
use isomorph_model::Source;
use isomorph_zoo::{Build, Edges, Nodes};

use crate::support::{Dice, job, resources, values};

const NODES: u64 = 20_000;

/// People and cities with texts as keys; some edges lead nowhere.
fn graph() -> Arc<dyn Source> {
    let mut dice = Dice(3);
    let mut build = Build::default();
    let keys = |prefix: &str, count: u64| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            (0..count).map(|at| format!("{prefix}/{:x}", at.wrapping_mul(0x9E37_79B9_7F4A_7C15))),
        ))
    };
    let person = build.nodes(Nodes::keyed("person", keys("person", NODES)));
    let city = build.nodes(Nodes::keyed("city", keys("city", 100)));
    let key = |prefix: &str, at: u64| format!("{prefix}/{:x}", at.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut ends = |count: usize, prefix: &'static str, most: u64| -> ArrayRef {
        // A few numbers occur often.
        let mut pick = || dice.below(most).min(dice.below(most)) + u64::from(dice.below(500) == 0) * 1_000_000;
        Arc::new(StringArray::from_iter_values((0..count).map(|_| key(prefix, pick()))))
    };
    let weights: ArrayRef = Arc::new(Float64Array::from_iter_values((0..60_000).map(|at| f64::from(at % 17) + 0.5)));
    let knows = Edges::keys(person, "knows", person, ends(60_000, "person", NODES), ends(60_000, "person", NODES));
    let directed: Vec<Option<bool>> = (0..60_000).map(|at| Some(at % 3 > 0)).collect();
    build.edges(knows.directed(&directed).column("weight", weights));
    let weights: ArrayRef = Arc::new(Float64Array::from_iter_values((0..9_000).map(f64::from)));
    build.edges(
        Edges::keys(person, "livesIn", city, ends(9_000, "person", NODES), ends(9_000, "city", 100))
            .column("weight", weights),
    );
    Arc::new(build.finish())
}

type Bits = Vec<(String, Option<u64>)>;

fn bits(of: &NodeValues) -> Bits {
    values(of, Order::Nodes).into_iter().map(|(key, value)| (key, value.map(f64::to_bits))).collect()
}

#[test]
fn results_do_not_depend_on_memory() {
    let source = graph();
    let mut first: Option<Vec<Bits>> = None;
    let mut told = None;
    for (memory, threads) in [(256 << 20, 2), (256 << 20, 1), (2 << 20, 2), (1 << 20, 1)] {
        let resources = resources(memory, threads);
        let job = job(&resources);
        let start = (Some("person"), "person/0");
        let how = PageRank { iterations: 10, ..PageRank::default() };
        let found = [
            page_rank(&source, &how, &job).unwrap(),
            clustering(&source, &job).unwrap(),
            communities(&source, 3, &job).unwrap(),
            distances(&source, start, None, true, &job).unwrap(),
            distances(&source, start, Some("weight"), false, &job).unwrap(),
        ];
        let mut all: Vec<Vec<(String, Option<u64>)>> = found.iter().map(bits).collect();
        assert!(found[0].read.relations.dangling() > 100);
        drop(found);
        let parts = components(&source, &job).unwrap();
        all.push(bits(parts.each()));
        assert!(parts.count() > 1);
        drop(parts);
        let what = format!("{memory} bytes, {threads} threads");
        assert!(all == *first.get_or_insert_with(|| all.clone()), "{what}");
        let statistics = statistics(&source, &job).unwrap();
        let mut tables = statistics.clone();
        tables.tables.clear();
        tables.edge_types.iter_mut().for_each(|ty| ty.dangling_example = None);
        let to = format!("person/{:x}", 11u64.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let wanted = PathsBetween {
            from: start,
            to: (None, &to),
            both_ways: true,
            all: true,
            limit: 50,
            ..PathsBetween::default()
        };
        let paths = shortest_paths(&source, &wanted, &job).unwrap();
        assert!(paths.count > 0);
        let own = (tables, paths.count, paths.length, paths.rows().unwrap());
        assert_eq!(&own, told.get_or_insert_with(|| own.clone()), "{what}");
        drop(paths);
        assert!(resources.budget.peak() <= memory, "{what}: {:?}", resources.budget);
        assert_eq!(
            resources.scratch.peak() > 0,
            memory < 256 << 20,
            "{what}: {} bytes of temporary files",
            resources.scratch.peak()
        );
        assert_eq!((resources.budget.used(), resources.scratch.used()), (0, 0), "{what}");
    }
}
