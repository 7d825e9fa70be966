//! Compares every strategy with exact probabilities, by χ² with fixed seeds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::collections::BTreeMap;

use common::{Built, opened};
use isomorph_sampling::{
    Ask, Bias, Choice, Draw, EdgeSampler, Generator, Missing, NodeSampler, Picks, Sampler, TypeSet,
};

/// Number of draws of one test.
const DRAWS: usize = 40_000;

/// Compares counts with probabilities that add up to 1. Correct counts exceed the limit for one in ten thousand seeds.
fn check(what: &str, counts: &BTreeMap<i64, u64>, chances: &[(i64, f64)]) {
    let total: u64 = counts.values().sum();
    let known: u64 = chances.iter().map(|(id, _)| counts.get(id).copied().unwrap_or(0)).sum();
    assert_eq!(known, total, "{what}: {counts:?} has others than {chances:?}");
    let mut chi = 0.0;
    for (id, chance) in chances {
        let (found, wanted) = (counts.get(id).copied().unwrap_or(0) as f64, chance * total as f64);
        if *chance == 0.0 {
            assert_eq!(found, 0.0, "{what}: {id} cannot be drawn");
        } else {
            chi += (found - wanted).powi(2) / wanted;
        }
    }
    let freedom = chances.iter().filter(|(_, chance)| *chance > 0.0).count() as f64 - 1.0;
    // Wilson and Hilferty's approximation of the quantile at 3.72 standard deviations.
    let part = 2.0 / (9.0 * freedom);
    let limit = freedom * (1.0 - part + 3.72 * part.sqrt()).powi(3);
    assert!(chi <= limit, "{what}: χ² {chi:.1} above {limit:.1}: {counts:?} for {chances:?}");
}

/// Counts the neighbours of `node` that `ask` draws, with a new seed for each call.
fn drawn(
    sampler: &mut Sampler,
    node: i64,
    count: usize,
    ask: impl Fn(&mut Sampler, Ask<'_>, Draw, &mut Picks<'_>),
) -> BTreeMap<i64, u64> {
    let mut counts = BTreeMap::new();
    let mut ids = vec![0; count];
    let types = TypeSet::all();
    for seed in 0..(DRAWS / count) as u64 {
        let mut picks = Picks::of_ids(&mut ids);
        ask(sampler, Ask::new(&[node], &types), Draw::of(seed), &mut picks);
        ids.iter().for_each(|id| *counts.entry(*id).or_default() += 1);
    }
    counts
}

/// Node 1 with neighbours of two types and many weights, one of them 0.
fn star() -> Built {
    Built::of(
        "-1 1 0 1.0 1 2 0 1.0 1 3 0 2.5 1 4 0 0.0 1 5 1 0.5 1 6 1 4.0\n\
         -1 2 0 3.0 2 1 0 1.0 2 3 0 1.0\n-1 3 1 0.5 3 1 0 1.0\n-1 4 1 2.0\n-1 5 1 0.0\n-1 6 0 1.0\n",
        2,
    )
}

const WEIGHTS: [(i64, f64); 5] = [(2, 1.0), (3, 2.5), (4, 0.0), (5, 0.5), (6, 4.0)];

fn chances(weights: &[(i64, f64)]) -> Vec<(i64, f64)> {
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.iter().map(|(id, weight)| (*id, weight / total)).collect()
}

#[test]
fn weighted_neighbours() {
    let built = star();
    let graph = opened(&built.path);
    for generator in [Generator::Stable, Generator::Compat] {
        for count in [1, 7] {
            let mut sampler = Sampler::new(&graph, generator, 1);
            let counts = drawn(&mut sampler, 1, count, |sampler, ask, draw, picks| {
                sampler.weighted(&ask, count, draw, &Missing::default(), picks).unwrap();
            });
            check(&format!("weighted, {generator:?}"), &counts, &chances(&WEIGHTS));
        }
    }
}

#[test]
fn weighted_neighbours_of_a_large_node() {
    let mut line = "-1 0 0 1.0".to_owned();
    let weights: Vec<(i64, f64)> = (1..200).map(|id| (id, f64::from(id as u32 % 7))).collect();
    weights.iter().for_each(|(id, weight)| line.push_str(&format!(" 0 {id} 0 {weight}")));
    let built = Built::of(&line, 1);
    let mut sampler = Sampler::new(&opened(&built.path), Generator::Stable, 1);
    let counts = drawn(&mut sampler, 0, 50, |sampler, ask, draw, picks| {
        sampler.weighted(&ask, 50, draw, &Missing::default(), picks).unwrap();
    });
    check("weighted, many", &counts, &chances(&weights));
}

#[test]
fn uniform_neighbours() {
    let built = star();
    let graph = opened(&built.path);
    let even: Vec<(i64, f64)> = WEIGHTS.iter().map(|(id, _)| (*id, 1.0)).collect();
    for generator in [Generator::Stable, Generator::Compat] {
        for (count, replacement) in [(1, true), (7, true), (1, false), (3, false), (4, false)] {
            let mut sampler = Sampler::new(&graph, generator, 1);
            let counts = drawn(&mut sampler, 1, count, |sampler, ask, draw, picks| {
                sampler.uniform(&ask, count, replacement, draw, &Missing::default(), picks).unwrap();
            });
            // Without replacement, the counts of one call are dependent, which makes χ² smaller, never larger.
            check(&format!("uniform {count} {replacement}, {generator:?}"), &counts, &chances(&even));
        }
    }
}

#[test]
fn sets_without_replacement_are_equally_likely() {
    let built = star();
    let graph = opened(&built.path);
    for generator in [Generator::Stable, Generator::Compat] {
        let mut sampler = Sampler::new(&graph, generator, 1);
        let (mut counts, mut ids) = (BTreeMap::new(), [0; 3]);
        for seed in 0..20_000 {
            let mut picks = Picks::of_ids(&mut ids);
            let ask = Ask { nodes: &[1], types: &TypeSet::all(), times: None };
            sampler.uniform(&ask, 3, false, Draw::of(seed), &Missing::default(), &mut picks).unwrap();
            let set = ids.iter().fold(0i64, |set, id| set | 1 << id);
            assert_eq!(set.count_ones(), 3, "{ids:?} has one twice");
            *counts.entry(set).or_default() += 1;
        }
        let sets: Vec<(i64, f64)> =
            (0..128i64).filter(|set| set.count_ones() == 3 && set & 3 == 0).map(|set| (set, 0.1)).collect();
        check(&format!("sets, {generator:?}"), &counts, &sets);
    }
}

#[test]
fn walks_of_second_order() {
    // From 1 via 2: back to 1, on to 3 (also a neighbour of 1), on to 4 (not a neighbour of 1).
    let built =
        Built::of("-1 1 0 1 1 2 0 1.0 1 3 0 0.0\n-1 2 0 1 2 1 0 1.0 2 3 0 2.0 2 4 0 1.0\n-1 3 0 1\n-1 4 0 1\n", 1);
    let graph = opened(&built.path);
    let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
    for (back, away) in [(1.0, 1.0), (0.25, 4.0), (4.0, 0.5)] {
        let mut counts = BTreeMap::new();
        for seed in 0..20_000 {
            let mut out = [0; 3];
            let types = TypeSet::all();
            sampler.walk(&Ask::new(&[1], &types), 2, Bias { back, away }, Draw::of(seed), -1, &mut out).unwrap();
            assert_eq!(out[..2], [1, 2]);
            *counts.entry(out[2]).or_default() += 1;
        }
        check(&format!("walk {back} {away}"), &counts, &chances(&[(1, 1.0 / back), (3, 2.0), (4, 1.0 / away)]));
    }
}

#[test]
fn walks_use_edges_that_exist() {
    // 1 → 2, and no edge leads from 2 back to 1.
    let built = Built::of("-1 1 0 1 1 2 0 1.0\n-1 2 0 1 2 3 0 1.0\n-1 3 0 1\n", 1);
    let graph = opened(&built.path);
    let types = TypeSet::all();
    let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
    let mut out = [0; 5];
    let bias = Bias { back: 1e-9, away: 1e9 };
    sampler.walk(&Ask::new(&[1], &types), 4, bias, Draw::of(5), -1, &mut out).unwrap();
    assert_eq!(out, [1, 2, 3, -1, -1]);
    // The published engine goes back there.
    Sampler::new(&graph, Generator::Compat, 1)
        .walk(&Ask::new(&[1], &types), 4, bias, Draw::of(5), -1, &mut out)
        .unwrap();
    assert_eq!(out[..3], [1, 2, 1]);
}

#[test]
fn nodes_and_edges_of_the_whole_graph() {
    let built = star();
    let graph = opened(&built.path);
    let all = TypeSet::all();
    let weights = [(1, 1.0), (2, 3.0), (3, 0.5), (4, 2.0), (5, 0.0), (6, 1.0)];
    let even: Vec<(i64, f64)> = weights.iter().map(|(id, _)| (*id, 1.0)).collect();
    for generator in [Generator::Stable, Generator::Compat] {
        for (choice, wanted) in
            [(Choice::Weighted, &weights[..]), (Choice::Uniform, &even), (Choice::WithoutReplacement, &even)]
        {
            let mut sampler = NodeSampler::new(&graph, &all, choice, generator).unwrap();
            let (mut counts, mut ids, mut types) = (BTreeMap::new(), [0; 4], [0; 4]);
            for seed in 0..10_000 {
                assert_eq!(sampler.sample(Draw::of(seed), -1, &mut ids, &mut types).unwrap(), 4);
                ids.iter().for_each(|id| *counts.entry(*id).or_default() += 1);
                let mut wanted = [0; 4];
                graph.types_of(&ids, -1, &mut wanted).unwrap();
                assert_eq!(types, wanted);
            }
            check(&format!("nodes, {choice:?}, {generator:?}"), &counts, &chances(wanted));
        }
    }
    let edges = [(12, 1.0), (13, 2.5), (14, 0.0), (15, 0.5), (16, 4.0), (21, 1.0), (23, 1.0), (31, 1.0)];
    let even: Vec<(i64, f64)> = edges.iter().map(|(id, _)| (*id, 1.0)).collect();
    let without_tables = built.without_tables();
    for graph in [graph, opened(&without_tables.path)] {
        for (choice, wanted) in
            [(Choice::Weighted, &edges[..]), (Choice::Uniform, &even), (Choice::WithoutReplacement, &even)]
        {
            let mut sampler = EdgeSampler::new(&graph, &all, choice, Generator::Stable).unwrap();
            let (mut counts, mut sources, mut targets, mut types) = (BTreeMap::new(), [0; 5], [0; 5], [0; 5]);
            for seed in 0..10_000 {
                sampler.sample(Draw::of(seed), -1, &mut sources, &mut targets, &mut types).unwrap();
                let names = sources.iter().zip(&targets).map(|(source, target)| source * 10 + target);
                names.for_each(|name| *counts.entry(name).or_default() += 1);
            }
            check(&format!("edges, {choice:?}"), &counts, &chances(wanted));
        }
    }
}

/// Node 1 with a thousand edges, of which every third has a target that is also a target of node 2; and node 2 with three hundred.
fn hubs() -> Built {
    let edge = |from: i64, to: i64| format!(" {from} {to} 0 {}", 1 + to % 5);
    let of = |from: i64, targets: &mut dyn Iterator<Item = i64>| {
        format!("-1 {from} 0 1.0{}\n", targets.map(|to| edge(from, to)).collect::<String>())
    };
    Built::of(&(of(1, &mut (2..1002)) + &of(2, &mut (0..300).map(|at| if at == 0 { 1 } else { at * 3 }))), 1)
}

#[test]
fn many_edges_are_drawn_from_as_few_are() {
    let built = hubs();
    let weight = |to: i64| (1 + to % 5) as f64;
    let total: f64 = (2..1002).map(weight).sum();
    let chances: Vec<(i64, f64)> = (2..1002).map(|to| (to, weight(to) / total)).collect();
    // Walks from 2 via 1: back to 2, on to targets of 2, and on to others.
    let bias = Bias { back: 0.25, away: 3.0 };
    let factor = |to: i64| match to {
        2 => 1.0 / bias.back,
        to if to % 3 == 0 && to < 900 => 1.0,
        _ => 1.0 / bias.away,
    };
    let biased_total: f64 = (2..1002).map(|to| weight(to) * factor(to)).sum();
    let biased: Vec<(i64, f64)> = (2..1002).map(|to| (to, weight(to) * factor(to) / biased_total)).collect();
    let mut answers = Vec::new();
    // With kept sums, and without memory for them: the same results.
    for memory in [64 << 20, 4096] {
        let options =
            isomorph_sampling::GraphOptions { budget: isomorph_storage::Budget::new(memory), ..common::options() };
        let graph = isomorph_sampling::Graph::open(&isomorph_storage::Location::from_path(&built.path), &options);
        let graph = std::sync::Arc::new(graph.unwrap());
        let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
        let counts = drawn(&mut sampler, 1, 100, |sampler, ask, draw, picks| {
            sampler.weighted(&ask, 100, draw, &Missing::default(), picks).unwrap();
        });
        check("of a thousand", &counts, &chances);
        assert_eq!(options.budget.used() > 8000, memory > 8000, "sums are kept where there is room for them");
        let all = TypeSet::all();
        let nodes = [2; 400];
        let (mut steps, mut out) = (BTreeMap::new(), vec![0; nodes.len() * 3]);
        let mut seen = 0;
        for seed in 0..6000 {
            sampler.walk(&Ask::new(&nodes, &all), 2, bias, Draw::of(seed), -1, &mut out).unwrap();
            for walk in out.chunks(3).filter(|walk| walk[1] == 1) {
                *steps.entry(walk[2]).or_default() += 1;
                seen += 1;
            }
        }
        assert!(seen > 2000, "{seen}");
        check("the second step", &steps, &biased);
        answers.push((counts, steps));
    }
    assert_eq!(answers[0], answers[1]);
}

/// Counts what some calls write into a buffer, each with its own seed.
fn counted(calls: u64, count: usize, mut call: impl FnMut(Draw, &mut [i64])) -> BTreeMap<i64, u64> {
    let (mut counts, mut ids) = (BTreeMap::new(), vec![0; count]);
    for seed in 0..calls {
        call(Draw::of(seed), &mut ids);
        ids.iter().for_each(|id| *counts.entry(*id).or_default() += 1);
    }
    counts
}

#[test]
fn some_types_of_edges() {
    let graph = opened(&star().path);
    for (types, left) in [(&[1][..], &WEIGHTS[3..]), (&[0], &WEIGHTS[..3]), (&[0, 1, 7], &WEIGHTS[..])] {
        let even: Vec<(i64, f64)> = left.iter().map(|(id, _)| (*id, 1.0)).collect();
        let types = TypeSet::of(types);
        let (ask, missing) = (Ask::new(&[1], &types), Missing::default());
        for generator in [Generator::Stable, Generator::Compat] {
            let mut sampler = Sampler::new(&graph, generator, 1);
            let counts = counted(8_000, 4, |draw, ids| {
                sampler.weighted(&ask, 4, draw, &missing, &mut Picks::of_ids(ids)).unwrap();
            });
            check(&format!("weighted {types:?}, {generator:?}"), &counts, &chances(left));
            for replacement in [true, false] {
                let counts = counted(16_000, 2, |draw, ids| {
                    sampler.uniform(&ask, 2, replacement, draw, &missing, &mut Picks::of_ids(ids)).unwrap();
                });
                check(&format!("uniform {types:?} {replacement}, {generator:?}"), &counts, &chances(&even));
            }
        }
    }
}

/// The edges of node 1 distributed over partitions: draws from several entries equal draws from one.
#[test]
fn edges_on_several_entries() {
    let lines = WEIGHTS.iter().map(|(to, weight)| format!("1,{},{to},{weight}\n", i32::from(*to > 4)));
    let text: String = std::iter::once("1,-1,0,1\n".to_owned()).chain(lines).collect();
    let graph = opened(&Built::with(&text, "edgelist", 3, None).path);
    let even: Vec<(i64, f64)> = WEIGHTS.iter().map(|(id, _)| (*id, 1.0)).collect();
    let all = TypeSet::all();
    let (ask, missing) = (Ask::new(&[1], &all), Missing::default());
    for generator in [Generator::Stable, Generator::Compat] {
        let mut sampler = Sampler::new(&graph, generator, 1);
        let counts = counted(8_000, 4, |draw, ids| {
            sampler.weighted(&ask, 4, draw, &missing, &mut Picks::of_ids(ids)).unwrap();
        });
        match generator {
            Generator::Stable => check("weighted", &counts, &chances(&WEIGHTS)),
            // The published engine writes the draws of an entry over the first slots, which have the first types: its counts.
            Generator::Compat => assert_eq!(counts, BTreeMap::from([(2, 1772), (3, 10114), (5, 4161), (6, 15953)])),
        }
        for replacement in [true, false] {
            let counts = counted(16_000, 2, |draw, ids| {
                sampler.uniform(&ask, 2, replacement, draw, &missing, &mut Picks::of_ids(ids)).unwrap();
            });
            check(&format!("uniform {replacement}, {generator:?}"), &counts, &chances(&even));
        }
    }
}

#[test]
fn edges_at_a_time() {
    let edge = |to: i64, weight: f64, from: i64, until: i64| {
        format!(
            r#"{{"src_id":1,"dst_id":{to},"edge_type":0,"weight":{weight},"created_at":{from},"removed_at":{until}}}"#
        )
    };
    let edges = [edge(2, 1.0, 1, 30), edge(3, 2.0, 10, 20), edge(4, 0.5, 15, -1), edge(5, 4.0, 16, 40)].join(",");
    let text = format!("{{\"node_id\":1,\"node_type\":0,\"node_weight\":1.0,\"created_at\":1,\"edge\":[{edges}]}}\n");
    let graph = opened(&Built::with(&text, "json", 1, Some(100)).path);
    let all = TypeSet::all();
    let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
    for (time, left) in [
        (12, &[(2, 1.0), (3, 2.0)][..]),
        (16, &[(2, 1.0), (3, 2.0), (4, 0.5), (5, 4.0)]),
        (20, &[(2, 1.0), (4, 0.5), (5, 4.0)]),
        (30, &[(4, 0.5), (5, 4.0)]),
    ] {
        let even: Vec<(i64, f64)> = left.iter().map(|(id, _)| (*id, 1.0)).collect();
        let (ask, missing) = (Ask { nodes: &[1], types: &all, times: Some(&[time]) }, Missing::default());
        let counts = counted(8_000, 4, |draw, ids| {
            sampler.weighted(&ask, 4, draw, &missing, &mut Picks::of_ids(ids)).unwrap();
        });
        check(&format!("weighted at {time}"), &counts, &chances(left));
        for replacement in [true, false] {
            let counts = counted(16_000, 2, |draw, ids| {
                sampler.uniform(&ask, 2, replacement, draw, &missing, &mut Picks::of_ids(ids)).unwrap();
            });
            check(&format!("uniform at {time} {replacement}"), &counts, &chances(&even));
        }
    }
}

/// The distribution of a first-order walk after each step: the powers of its transition matrix.
#[test]
fn walks_of_first_order() {
    let weights = [[0.0, 1.0, 3.0, 0.0], [1.0, 0.0, 0.5, 2.0], [3.0, 0.5, 0.0, 0.0], [0.0, 2.0, 0.0, 1.0]];
    let line = |from: usize| {
        let edges = (0..4).filter(|to| weights[from][*to] > 0.0);
        edges.fold(format!("-1 {from} 0 1.0"), |line, to| line + &format!(" {from} {to} 0 {}", weights[from][to]))
            + "\n"
    };
    let graph = opened(&Built::of(&(0..4).map(line).collect::<String>(), 1).path);
    let all = TypeSet::all();
    for generator in [Generator::Stable, Generator::Compat] {
        let mut sampler = Sampler::new(&graph, generator, 1);
        let mut counts = vec![BTreeMap::new(); 4];
        for seed in 0..20_000 {
            let mut out = [0; 4];
            sampler.walk(&Ask::new(&[0], &all), 3, Bias::default(), Draw::of(seed), -1, &mut out).unwrap();
            out.iter().zip(&mut counts).for_each(|(id, counts)| *counts.entry(*id).or_default() += 1);
        }
        let mut place = [1.0, 0.0, 0.0, 0.0];
        for counts in &counts[1..] {
            let mut next = [0.0; 4];
            for (row, share) in weights.iter().zip(place) {
                let total: f64 = row.iter().sum();
                next.iter_mut().zip(row).for_each(|(next, weight)| *next += share * weight / total);
            }
            place = next;
            let wanted: Vec<(i64, f64)> = (0..4).zip(place).collect();
            check(&format!("steps, {generator:?}"), counts, &wanted);
        }
    }
}

#[test]
fn nodes_and_edges_of_some_types() {
    // The tables of nodes and edges are opened by the samplers.
    let built = star();
    let graph = opened(&built.path);
    let kinds = TypeSet::of(&[1]);
    let nodes = [(3, 0.5), (4, 2.0), (5, 0.0)];
    let edges = [(5, 0.5), (6, 4.0)];
    for generator in [Generator::Stable, Generator::Compat] {
        for choice in [Choice::Weighted, Choice::Uniform] {
            let wanted = |weights: &[(i64, f64)]| match choice {
                Choice::Weighted => chances(weights),
                _ => chances(&weights.iter().map(|(id, _)| (*id, 1.0)).collect::<Vec<_>>()),
            };
            let (mut ofs, mut ends) = ([0; 4], [0; 4]);
            let mut sampler = NodeSampler::new(&graph, &kinds, choice, generator).unwrap();
            let counts = counted(8_000, 4, |draw, ids| {
                sampler.sample(draw, -1, ids, &mut ofs).unwrap();
            });
            check(&format!("nodes, {choice:?}, {generator:?}"), &counts, &wanted(&nodes));
            let mut sampler = EdgeSampler::new(&graph, &kinds, choice, generator).unwrap();
            let counts = counted(8_000, 4, |draw, ids| {
                sampler.sample(draw, -1, &mut ends, ids, &mut ofs).unwrap();
            });
            check(&format!("edges, {choice:?}, {generator:?}"), &counts, &wanted(&edges));
        }
    }
    // Without replacement, each set of three nodes has the same probability.
    let mut sampler = NodeSampler::new(&graph, &TypeSet::all(), Choice::WithoutReplacement, Generator::Stable).unwrap();
    let (mut sets, mut ids, mut types) = (BTreeMap::new(), [0; 3], [0; 3]);
    for seed in 0..20_000 {
        assert_eq!(sampler.sample(Draw::of(seed), -1, &mut ids, &mut types).unwrap(), 3);
        *sets.entry(ids.iter().fold(0i64, |set, id| set | 1 << id)).or_default() += 1;
    }
    let wanted: Vec<(i64, f64)> =
        (0..128i64).filter(|set| set.count_ones() == 3 && set & 1 == 0).map(|set| (set, 0.05)).collect();
    check("sets of nodes", &sets, &wanted);
}
