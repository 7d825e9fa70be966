//! Subgraphs for mini-batches, compared with lists of edges in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::sync::Arc;

use isomorph_error::{Kind, Result};
use isomorph_model::{MemoryGraph, Progress, Source};
use isomorph_sampling::subgraph::{Seeds, Subgraph, SubgraphOf, Subgraphs, Topology, edges_of};
use isomorph_storage::{Budget, Location, Resources, Scratch};
use isomorph_zoo::{Build, Edges, Nodes, int64, text};
use tempfile::TempDir;

/// Reports nothing.
struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: Option<u64>) {}

    fn advance(&self, _: u64) -> Result<()> {
        Ok(())
    }

    fn end(&self) {}
}

/// Pseudo-random numbers below a limit.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn resources(memory: u64, threads: usize) -> Resources {
    Resources { threads, budget: Budget::new(memory), scratch: Scratch::new(None).unwrap() }
}

/// The edges of each relation, as pairs of source and target, in the order of their numbers.
type Ends = Vec<Vec<(u64, u64)>>;

/// A random graph: persons with integer keys, cities with text keys, rooms without keys.
fn made(seed: u64) -> (MemoryGraph, Ends) {
    let mut chance = Numbers(seed);
    let [persons, cities, rooms] = [1 + chance.below(60), 1 + chance.below(9), 1 + chance.below(30)];
    let mut build = Build::default();
    let keys: Vec<i64> = (0..persons).map(|at| (at * 7919 % 1009) as i64 - 500).collect();
    let names: Vec<String> = (0..cities).map(|at| format!("city {}", (at * 37) % 101)).collect();
    let person = build.nodes(Nodes::keyed("person", int64(keys.clone())));
    let city = build.nodes(Nodes::keyed("city", text(names.iter().map(String::as_str))));
    let room = build.nodes(Nodes::rows("room", rooms as usize));
    let mut pairs = |count: u64, sources: u64, targets: u64| -> Vec<(u64, u64)> {
        (0..count).map(|_| (chance.below(sources), chance.below(targets))).collect()
    };
    let (knows, lives, near, has) =
        (pairs(150, persons, persons), pairs(80, persons, cities), pairs(60, rooms, rooms), pairs(40, cities, rooms));
    let key = |at: &u64| keys[*at as usize];
    let sources = int64(knows.iter().map(|(one, _)| key(one)).collect::<Vec<_>>());
    let targets = int64(knows.iter().map(|(_, other)| key(other)).collect::<Vec<_>>());
    build.edges(Edges::keys(person, "knows", person, sources, targets));
    let sources = int64(lives.iter().map(|(one, _)| key(one)).collect::<Vec<_>>());
    let targets = text(lives.iter().map(|(_, other)| names[*other as usize].as_str()));
    build.edges(Edges::keys(person, "lives", city, sources, targets).undirected());
    // Loops are there once, and some rows are directed.
    let directed: Vec<Option<bool>> = (0..60).map(|at| [None, Some(true), Some(false)][at % 3]).collect();
    build.edges(Edges::rows(room, "near", room, near.clone()).directed(&directed));
    build.edges(Edges::rows(city, "has", room, has.clone()));
    let mut both = near.clone();
    let again = |(at, (one, other)): (usize, &(u64, u64))| (at % 3 == 2 && one != other).then_some((*other, *one));
    both.extend(near.iter().enumerate().filter_map(again));
    let back = lives.iter().map(|(one, other)| (*other, *one)).collect();
    (build.finish(), vec![knows, lives, back, both, has])
}

fn prepared(graph: &MemoryGraph, memory: u64, threads: usize) -> (TempDir, Arc<Topology>) {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join("topology"));
    let resources = resources(memory, threads);
    Topology::write(graph, "a graph", &place, &resources, &Silent).unwrap();
    assert!(Topology::open(&place, Some("another"), &resources.scratch).unwrap().is_none());
    (home, Arc::new(Topology::open(&place, Some("a graph"), &resources.scratch).unwrap().unwrap()))
}

fn asked(topology: &Topology, node_type: usize, rows: &[i64], counts: &[Option<u32>]) -> SubgraphOf {
    SubgraphOf {
        seeds: vec![Seeds { node_type, rows: rows.to_vec() }],
        counts: topology.relations().iter().map(|_| counts.to_vec()).collect(),
        replacement: false,
        disjoint: false,
        induced: false,
        seed: 1,
        epoch: 0,
    }
}

fn drawn(topology: &Arc<Topology>, asked: &SubgraphOf) -> Subgraph {
    Subgraphs::new(topology, &Budget::new(1 << 30)).draw(asked, &|| Ok(())).unwrap()
}

#[test]
fn prepared_edges_are_those_of_the_graph() {
    for seed in 0..20 {
        let (graph, ends) = made(seed);
        for (memory, threads) in [(1 << 30, 1), (1 << 30, 3), (8 << 20, 2)] {
            let (_home, topology) = prepared(&graph, memory, threads);
            let names: Vec<&str> = topology.relations().iter().map(|of| of.name.as_str()).collect();
            assert_eq!(names, ["knows", "lives", "rev_lives", "near", "has"]);
            for (at, expected) in ends.iter().enumerate() {
                let listed = topology.list(at).unwrap();
                let found: Vec<(u64, u64)> = listed
                    .sources
                    .iter()
                    .zip(&listed.targets)
                    .map(|(one, other)| (*one as u64, *other as u64))
                    .collect();
                assert_eq!(&found, expected, "seed {seed}, relation {at}");
                assert_eq!(topology.relations()[at].edges, expected.len() as u64);
                let rows = topology.rows_of(at, &(0..expected.len() as i64).collect::<Vec<_>>()).unwrap();
                let forward = topology.relations()[at].forward;
                let own = &ends[if at == 2 { 1 } else { at }];
                for (number, row) in rows.iter().enumerate() {
                    let (one, other) = own[*row as usize];
                    let is_forward = (number as u64) < forward;
                    assert_eq!(expected[number], if is_forward { (one, other) } else { (other, one) });
                }
                assert_eq!(topology.rows_of(at, &[expected.len() as i64]).unwrap_err().kind(), Kind::Usage);
                assert_eq!(topology.rows_of(at, &[-1]).unwrap_err().kind(), Kind::Usage);
            }
        }
        let (forward, back) = edges_of(&graph, 2, &resources(1 << 30, 2), &Silent).unwrap();
        let all = forward.sources.iter().chain(&back.sources).zip(forward.targets.iter().chain(&back.targets));
        assert_eq!(all.map(|(one, other)| (*one as u64, *other as u64)).collect::<Vec<_>>(), ends[3]);
    }
}

/// All neighbours, from lists of edges.
fn naive(topology: &Topology, ends: &Ends, node_type: usize, rows: &[i64], hops: usize) -> Subgraph {
    let (types, relations) = (topology.nodes().len(), ends.len());
    let mut nodes: Vec<Vec<i64>> = vec![Vec::new(); types];
    nodes[node_type] = rows.to_vec();
    let mut found = Subgraph {
        owners: vec![Vec::new(); types],
        sources: vec![Vec::new(); relations],
        targets: vec![Vec::new(); relations],
        edges: vec![Vec::new(); relations],
        nodes_by_hop: nodes.iter().map(|rows| vec![rows.len() as u64]).collect(),
        edges_by_hop: vec![Vec::new(); relations],
        ..Subgraph::default()
    };
    let mut begin = vec![0; types];
    for _ in 0..hops {
        let end: Vec<usize> = nodes.iter().map(Vec::len).collect();
        for (at, relation) in topology.relations().iter().enumerate() {
            let before = found.edges[at].len();
            for target in begin[relation.target]..end[relation.target] {
                let row = nodes[relation.target][target];
                for (number, (source, _)) in ends[at].iter().enumerate().filter(|(_, (_, to))| *to as i64 == row) {
                    let known = nodes[relation.source].iter().position(|row| *row == *source as i64);
                    let position = known.unwrap_or_else(|| {
                        nodes[relation.source].push(*source as i64);
                        nodes[relation.source].len() - 1
                    });
                    found.sources[at].push(position as i64);
                    found.targets[at].push(target as i64);
                    found.edges[at].push(number as i64);
                }
            }
            found.edges_by_hop[at].push((found.edges[at].len() - before) as u64);
        }
        begin = end;
        for (by_hop, (rows, begin)) in found.nodes_by_hop.iter_mut().zip(nodes.iter().zip(&begin)) {
            by_hop.push((rows.len() - begin) as u64);
        }
    }
    found.nodes = nodes;
    found
}

#[test]
fn all_neighbours_are_those_of_the_lists() {
    for seed in 0..40 {
        let (graph, ends) = made(seed);
        let (_home, topology) = prepared(&graph, 1 << 30, 2);
        let mut chance = Numbers(seed);
        for hops in 0..4 {
            let node_type = chance.below(3) as usize;
            let limit = topology.nodes()[node_type].nodes;
            let rows: Vec<i64> = (0..4).map(|_| chance.below(limit) as i64).collect();
            let found = drawn(&topology, &asked(&topology, node_type, &rows, &vec![None; hops]));
            assert_eq!(found, naive(&topology, &ends, node_type, &rows, hops), "seed {seed}, hops {hops}");
            // A number that no node exceeds is all of them.
            let many = drawn(&topology, &asked(&topology, node_type, &rows, &vec![Some(1000); hops]));
            assert_eq!(many, found);
        }
    }
}

#[test]
fn a_request_has_one_answer_and_others_have_others() {
    let (graph, _) = made(3);
    let (_home, topology) = prepared(&graph, 1 << 30, 2);
    let of = asked(&topology, 0, &[0, 1, 2, 1], &[Some(2), Some(2)]);
    let mut subgraphs = Subgraphs::new(&topology, &Budget::new(1 << 30));
    let expected = subgraphs.draw(&of, &|| Ok(())).unwrap();
    for other in [
        SubgraphOf { seed: 2, ..of.clone() },
        SubgraphOf { epoch: 1, ..of.clone() },
        SubgraphOf { replacement: true, ..of.clone() },
        SubgraphOf { seeds: vec![Seeds { node_type: 0, rows: vec![0, 1, 2] }], ..of.clone() },
        SubgraphOf { disjoint: true, ..of.clone() },
        SubgraphOf { induced: true, ..of.clone() },
    ] {
        assert_ne!(subgraphs.draw(&other, &|| Ok(())).unwrap(), expected, "{other:?}");
        assert_eq!(subgraphs.draw(&of, &|| Ok(())).unwrap(), expected);
    }
    assert_eq!(drawn(&topology, &of), expected);
}

#[test]
fn subgraphs_of_seeds_that_are_disjoint_are_those_of_each() {
    let (graph, _) = made(11);
    let (_home, topology) = prepared(&graph, 1 << 30, 2);
    let rows = [0, 1, 0];
    let all = drawn(&topology, &SubgraphOf { disjoint: true, ..asked(&topology, 0, &rows, &[None, None]) });
    for (owner, row) in rows.iter().enumerate() {
        let alone = drawn(&topology, &asked(&topology, 0, &[*row], &[None, None]));
        for (ty, nodes) in alone.nodes.iter().enumerate() {
            let own = all.nodes[ty].iter().zip(&all.owners[ty]).filter(|(_, own)| **own == owner as i64);
            let own: BTreeSet<i64> = own.map(|(row, _)| *row).collect();
            assert_eq!(own, nodes.iter().copied().collect(), "seed {owner}, type {ty}");
        }
    }
    for (at, relation) in topology.relations().iter().enumerate() {
        for (source, target) in all.sources[at].iter().zip(&all.targets[at]) {
            let owner = |ty: usize, at: i64| all.owners[ty][at as usize];
            assert_eq!(owner(relation.source, *source), owner(relation.target, *target));
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let (graph, _) = made(5);
    let (_home, topology) = prepared(&graph, 1 << 30, 1);
    let of = asked(&topology, 0, &[0], &[Some(1)]);
    let kind =
        |of: &SubgraphOf| Subgraphs::new(&topology, &Budget::new(1 << 30)).draw(of, &|| Ok(())).unwrap_err().kind();
    let seeds = |node_type: usize, rows: &[i64]| vec![Seeds { node_type, rows: rows.to_vec() }];
    assert_eq!(kind(&SubgraphOf { seeds: seeds(7, &[0]), ..of.clone() }), Kind::Usage);
    assert_eq!(kind(&SubgraphOf { seeds: seeds(0, &[-1]), ..of.clone() }), Kind::Usage);
    assert_eq!(kind(&SubgraphOf { seeds: seeds(0, &[1 << 40]), ..of.clone() }), Kind::Usage);
    assert_eq!(kind(&SubgraphOf { seeds: [seeds(0, &[0]), seeds(0, &[0])].concat(), ..of.clone() }), Kind::Usage);
    assert_eq!(kind(&SubgraphOf { counts: vec![vec![None]], ..of.clone() }), Kind::Usage);
    assert_eq!(kind(&SubgraphOf { disjoint: true, induced: true, ..of.clone() }), Kind::Unsupported);
    let everything = SubgraphOf { counts: vec![vec![None; 3]; 5], ..of };
    let small = Subgraphs::new(&topology, &Budget::new(64)).draw(&everything, &|| Ok(()));
    assert_eq!(small.unwrap_err().kind(), Kind::TooLarge);
    let stopped = Subgraphs::new(&topology, &Budget::new(1 << 30))
        .draw(&everything, &|| Err(isomorph_error::Error::new(Kind::Cancelled, "stop")));
    assert_eq!(stopped.unwrap_err().kind(), Kind::Cancelled);
}

#[test]
fn edges_without_their_nodes_are_an_error() {
    let mut build = Build::default();
    let person = build.nodes(Nodes::keyed("person", int64([1, 2])));
    build.edges(Edges::keys(person, "knows", person, int64([1, 1]), int64([2, 3])));
    let graph = build.finish();
    assert_eq!(graph.graph().edges.len(), 1);
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join("topology"));
    let error = Topology::write(&graph, "", &place, &resources(1 << 30, 1), &Silent).unwrap_err();
    assert_eq!(error.kind(), Kind::Malformed);
    assert!(error.to_string().contains("\"3\""), "{error}");
    assert!(Topology::open(&place, None, &resources(1 << 30, 1).scratch).unwrap().is_none());
}
