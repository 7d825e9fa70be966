//! Neighbours at a time, counted, listed and the latest of them, against what the text of a random graph says.

use std::cmp::Reverse;

use isomorph_error::Kind;
use isomorph_sampling::{Ask, Generator, Missing, NeighborLists, Picks, Sampler, Stop, TypeSet, Why};

use crate::common::{Built, opened};

/// The same numbers each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % limit
    }
}

/// An edge as the text states it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Edge {
    ty: i32,
    created: i64,
    removed: i64,
    to: i64,
    weight: f32,
}

impl Edge {
    fn is_there(&self, time: Option<i64>) -> bool {
        time.is_none_or(|time| self.created <= time && (self.removed > time || self.removed == -1))
    }
}

/// Nodes 0 to 11 with up to 30 edges each, few times and few targets, so that many are equal; and its text.
fn random(dice: &mut Dice) -> (Vec<Vec<Edge>>, String) {
    let mut text = String::new();
    let nodes: Vec<Vec<Edge>> = (0..12)
        .map(|_| {
            let mut edges: Vec<Edge> = (0..dice.below(31))
                .map(|_| {
                    let created = dice.below(6);
                    let removed = if dice.below(3) == 0 { -1 } else { created + 1 + dice.below(6) };
                    let weight = (1 + dice.below(40)) as f32 / 8.0;
                    Edge { ty: dice.below(3) as i32, created, removed, to: dice.below(12), weight }
                })
                .collect();
            // As its text is written to a binary; parallel edges with equal times differ in nothing that is compared here but the weight.
            let never = |removed: i64| if removed == -1 { i64::MAX } else { removed };
            edges.sort_by_key(|edge| (edge.ty, edge.created, never(edge.removed), edge.to));
            edges
        })
        .collect();
    for (node, edges) in nodes.iter().enumerate() {
        let edges: Vec<String> = edges
            .iter()
            .map(|Edge { ty, created, removed, to, weight }| {
                format!(
                    r#"{{"src_id": {node}, "dst_id": {to}, "edge_type": {ty}, "weight": {weight}, "created_at": {created}, "removed_at": {removed}}}"#
                )
            })
            .collect();
        let edges = edges.join(", ");
        text.push_str(&format!(
            "{{\"node_id\": {node}, \"node_type\": 0, \"node_weight\": 1, \"created_at\": 0, \"removed_at\": -1, \"edge\": [{edges}]}}\n"
        ));
    }
    (nodes, text)
}

/// The published engine's method, as its source states it: a heap of the kept edges by time and slot.
fn latest(edges: &[Edge], types: &[i32], time: i64, count: usize) -> Vec<(i64, i32, f32, i64)> {
    let mut slots: Vec<(i64, i32, f32, i64)> = Vec::new();
    let mut heap: Vec<(i64, usize)> = Vec::new();
    let (mut sum, mut run) = (0.0f32, -1);
    for edge in edges {
        let before = if edge.ty == run { sum } else { 0.0 };
        (sum, run) = (before + edge.weight, edge.ty);
        if !types.contains(&edge.ty) || !edge.is_there(Some(time)) {
            continue;
        }
        let kept = (edge.to, edge.ty, sum - before, edge.created);
        if slots.len() < count {
            heap.push((edge.created, slots.len()));
            slots.push(kept);
        } else if let Some((at, (oldest, slot))) = heap.iter().copied().enumerate().min_by_key(|(_, kept)| *kept)
            && oldest < edge.created
        {
            heap[at] = (edge.created, slot);
            slots[slot] = kept;
        }
    }
    slots
}

fn last(sampler: &mut Sampler, ask: &Ask<'_>, count: usize) -> Vec<Vec<(i64, i32, f32, i64)>> {
    let room = ask.nodes.len() * count;
    let (mut ids, mut weights) = (vec![0; room], vec![0.0; room]);
    let (mut types, mut created) = (vec![0; room], vec![0; room]);
    let mut picks =
        Picks { ids: &mut ids, weights: &mut weights, types: &mut types, created: &mut created, exact: &mut [] };
    let missing = Missing { node: -1, weight: -1.0, ty: -1, created: -1 };
    sampler.last(ask, count, &missing, &mut picks).unwrap();
    let all: Vec<_> =
        (0..room).map(|at| (ids[at], types[at], weights[at], created[at])).filter(|kept| kept.0 != -1).collect();
    let mut rows = vec![Vec::new(); ask.nodes.len()];
    let mut kept = all.into_iter();
    for (row, slots) in rows.iter_mut().zip(ids.chunks(count)) {
        row.extend(kept.by_ref().take(slots.iter().filter(|id| **id != -1).count()));
    }
    rows
}

#[test]
fn neighbors_at_a_time_are_those_that_the_text_states() {
    let (mut dice, mut kept) = (Dice(18), 0);
    for round in 0..12 {
        let (edges, text) = random(&mut dice);
        let built = Built::with(&text, "json", 1 + (round % 3), Some(20));
        let graph = opened(&built.path);
        let nodes: Vec<i64> = (0..13).collect();
        for types in [vec![0, 1, 2], vec![1], vec![0, 2], vec![]] {
            let set = TypeSet::of(&types);
            for time in 0..13 {
                let times = vec![time; nodes.len()];
                let ask = Ask { nodes: &nodes, types: &set, times: Some(&times) };
                let there = |node: i64| -> Vec<Edge> {
                    let own = edges.get(node as usize).cloned().unwrap_or_default();
                    own.into_iter().filter(|edge| types.contains(&edge.ty) && edge.is_there(Some(time))).collect()
                };
                for generator in [Generator::Stable, Generator::Compat] {
                    let mut sampler = Sampler::new(&graph, generator, 1);
                    let (mut lists, mut counts) = (NeighborLists::default(), vec![0; nodes.len()]);
                    sampler.neighbors(&ask, &mut lists).unwrap();
                    sampler.neighbor_counts(&ask, &mut counts).unwrap();
                    assert_eq!(lists.counts, counts);
                    let expected: Vec<Edge> = nodes.iter().flat_map(|node| there(*node)).collect();
                    assert_eq!(lists.ids, expected.iter().map(|edge| edge.to).collect::<Vec<_>>());
                    assert_eq!(lists.types, expected.iter().map(|edge| edge.ty).collect::<Vec<_>>());
                    assert_eq!(lists.created, expected.iter().map(|edge| edge.created).collect::<Vec<_>>());
                    assert_eq!(counts, nodes.iter().map(|node| there(*node).len() as u64).collect::<Vec<_>>());
                    if types.is_empty() {
                        continue;
                    }
                    for count in [1, 2, 5, 40] {
                        let rows = last(&mut sampler, &ask, count);
                        for (node, row) in nodes.iter().zip(&rows) {
                            let own = edges.get(*node as usize).map_or(&[][..], Vec::as_slice);
                            let theirs = latest(own, &types, time, count);
                            kept += theirs.len();
                            if generator == Generator::Compat {
                                assert_eq!(row, &theirs, "node {node} at {time}, {count} of {own:?}");
                                continue;
                            }
                            let mut own = there(*node);
                            own.sort_by_key(|edge| (Reverse(edge.created), edge.to, edge.ty));
                            own.truncate(count);
                            let of = |row: &[(i64, i32, f32, i64)]| {
                                row.iter().map(|kept| (kept.3, kept.0, kept.1)).collect::<Vec<_>>()
                            };
                            let expected: Vec<_> = own.iter().map(|edge| (edge.created, edge.to, edge.ty)).collect();
                            assert_eq!(of(row), expected);
                        }
                    }
                }
            }
        }
    }
    assert!(kept > 10_000, "{kept}");
}

/// A call of a sampler.
type Call<'a> = Box<dyn FnMut(&mut Sampler) -> isomorph_error::Result<()> + 'a>;

#[test]
fn calls_end_early_when_they_are_stopped() {
    let (_, text) = random(&mut Dice(7));
    let built = Built::with(&text, "json", 2, Some(20));
    let graph = opened(&built.path);
    let nodes: Vec<i64> = (0..12).cycle().take(60_000).collect();
    let (types, times) = (TypeSet::of(&[0, 1, 2]), vec![4; nodes.len()]);
    for generator in [Generator::Stable, Generator::Compat] {
        for threads in [1, 3] {
            let ask = Ask { nodes: &nodes, types: &types, times: Some(&times) };
            let mut calls: Vec<(&str, Call<'_>)> = vec![
                ("neighbors", Box::new(|sampler| sampler.neighbors(&ask, &mut NeighborLists::default()))),
                ("counts", Box::new(|sampler| sampler.neighbor_counts(&ask, &mut vec![0; ask.nodes.len()]))),
                ("edges", Box::new(|sampler| sampler.edges_of(ask.nodes, u64::MAX).map(drop))),
                ("found", Box::new(|sampler| sampler.found(ask.nodes, u64::MAX, &mut Vec::new()))),
            ];
            for strategy in 0..3 {
                calls.push((
                    ["weighted", "uniform", "last"][strategy],
                    Box::new(move |sampler| {
                        let mut ids = vec![0; ask.nodes.len() * 2];
                        let (draw, missing) = (isomorph_sampling::Draw::of(1), Missing::default());
                        let picks = &mut Picks::of_ids(&mut ids);
                        match strategy {
                            0 => sampler.weighted(&ask, 2, draw, &missing, picks),
                            1 => sampler.uniform(&ask, 2, false, draw, &missing, picks),
                            _ => sampler.last(&ask, 2, &missing, picks),
                        }
                    }),
                ));
            }
            for (name, call) in &mut calls {
                let mut sampler = Sampler::new(&graph, generator, threads);
                let whole = Stop::new(None, u64::MAX);
                sampler.until(&whole);
                call(&mut sampler).unwrap();
                assert!(whole.done() >= nodes.len() as u64, "{name}: {}", whole.done());
                let part = Stop::new(None, 20_000);
                sampler.until(&part);
                assert_eq!(call(&mut sampler).unwrap_err().kind(), Kind::Cancelled, "{name}");
                assert_eq!(part.why(), Some(Why::TooMuch));
                // Each thread looks after 4096 units of work.
                assert!(part.done() <= 20_000 + 3 * 8192, "{name}: {} of {}", part.done(), whole.done());
                // Without it, everything is done again.
                sampler.until(&Stop::default());
                call(&mut sampler).unwrap();
            }
        }
    }
}
