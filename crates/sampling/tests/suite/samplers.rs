//! General properties of samplers: partitions and threads, times, missing elements, damaged files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use common::{Built, fixtures, ids, opened, options};
use isomorph_error::Kind;
use isomorph_sampling::{
    Ask, Bias, Choice, Dense, Draw, EdgeSampler, Edges, Generator, Graph, Hold, Missing, NeighborLists, NodeSampler,
    Picks, Push, Sampler, Sparse, Strings, TypeSet,
};
use isomorph_storage::Location;

/// Returns everything that is drawn for some nodes with one seed.
fn everything(graph: &std::sync::Arc<Graph>, threads: usize, nodes: &[i64]) -> (Vec<i64>, Vec<u32>, Vec<i32>) {
    let mut sampler = Sampler::new(graph, Generator::Stable, threads);
    let all = TypeSet::all();
    let ask = Ask::new(nodes, &all);
    let (mut every_id, mut every_weight, mut every_type) = (Vec::new(), Vec::new(), Vec::new());
    for question in 0..5 {
        let room = nodes.len() * 6;
        let (mut ids, mut weights, mut types) = (vec![0; room], vec![0.0f32; room], vec![0; room]);
        let mut picks =
            Picks { ids: &mut ids, weights: &mut weights, types: &mut types, created: &mut [], exact: &mut [] };
        let (draw, missing) = (Draw { seed: 9, hop: question }, Missing::default());
        match question {
            0 => sampler.weighted(&ask, 6, draw, &missing, &mut picks),
            1 => sampler.uniform(&ask, 6, true, draw, &missing, &mut picks),
            2 => sampler.uniform(&ask, 6, false, draw, &missing, &mut picks),
            3 => sampler.top(&ask, 6, &missing, &mut picks),
            _ => sampler.pagerank(&ask, 6, Push::default(), &missing, &mut picks),
        }
        .unwrap();
        every_id.extend(ids);
        every_weight.extend(weights.iter().map(|weight| weight.to_bits()));
        every_type.extend(types);
    }
    for bias in [Bias::default(), Bias { back: 0.5, away: 2.0 }] {
        let mut walks = vec![0; nodes.len() * 8];
        sampler.walk(&ask, 7, bias, Draw::of(4), -1, &mut walks).unwrap();
        every_id.extend(walks);
    }
    for types in [TypeSet::all(), TypeSet::of(&[0, 2])] {
        let (mut lists, mut counts) = (NeighborLists::default(), vec![0; nodes.len()]);
        let ask = Ask::new(nodes, &types);
        // The order of lists is that of partitions and files, so it is removed before different partitionings are compared.
        Sampler::new(graph, Generator::Compat, threads).neighbors(&ask, &mut lists).unwrap();
        sampler.neighbor_counts(&ask, &mut counts).unwrap();
        assert_eq!(lists.counts, counts);
        assert!(
            [lists.weights.len(), lists.types.len(), lists.created.len()]
                .iter()
                .all(|length| *length == lists.ids.len())
        );
        sampler.neighbors(&ask, &mut lists).unwrap();
        let mut at = 0;
        for count in counts.iter().map(|count| *count as usize) {
            let mut row: Vec<(i32, i64, u32)> = (at..at + count)
                .map(|edge| (lists.types[edge], lists.ids[edge], lists.weights[edge].to_bits()))
                .collect();
            row.sort_unstable();
            every_type.extend(row.iter().map(|edge| edge.0));
            every_id.extend(row.iter().map(|edge| edge.1));
            every_weight.extend(row.iter().map(|edge| edge.2));
            at += count;
        }
        assert_eq!(at, lists.ids.len());
    }
    (every_id, every_weight, every_type)
}

#[test]
fn neither_threads_nor_partitions_change_what_is_drawn() {
    let root = fixtures();
    for (one, others) in [
        ("karate/bin_linear_p1", ["karate/bin_linear_p3", "karate/bin_edgelist_p3", "karate/bin_linear_mod3"]),
        ("hetero/bin_linear_p1", ["hetero/bin_linear_p3", "hetero/bin_edgelist_p3", "hetero/bin_edgelist_p1"]),
    ] {
        let graph = opened(&root.join(one));
        let mut lists = NeighborLists::default();
        // Nodes of the graph, many times, with some that do not exist.
        let known: Vec<i64> = (0..40).chain([1 << 40]).collect();
        Sampler::new(&graph, Generator::Stable, 1).neighbors(&Ask::new(&known, &TypeSet::all()), &mut lists).unwrap();
        let nodes: Vec<i64> = known.iter().copied().cycle().take(4000).collect();
        let wanted = everything(&graph, 1, &nodes);
        let lists_of = |threads: usize, generator: Generator| {
            let mut lists = NeighborLists::default();
            Sampler::new(&graph, generator, threads).neighbors(&Ask::new(&nodes, &TypeSet::all()), &mut lists).unwrap();
            lists
        };
        for threads in [2, 3, 8] {
            for generator in [Generator::Stable, Generator::Compat] {
                assert_eq!(lists_of(threads, generator), lists_of(1, generator), "{one}, {threads} threads");
            }
            assert_eq!(everything(&graph, threads, &nodes), wanted, "{one}, {threads} threads");
        }
        for other in others {
            assert_eq!(everything(&opened(&root.join(other)), 2, &nodes), wanted, "{one} and {other}");
        }
    }
}

#[test]
fn a_node_that_comes_again_draws_anew() {
    let built = Built::of(&("-1 0 0 1 ".to_owned() + &(1..60).map(|id| format!("0 {id} 0 1 ")).collect::<String>()), 1);
    let graph = opened(&built.path);
    let all = TypeSet::all();
    let draws = |nodes: &[i64], hop| {
        let mut ids = vec![0; nodes.len() * 8];
        let mut picks = Picks::of_ids(&mut ids);
        let draw = Draw { seed: 1, hop };
        Sampler::new(&graph, Generator::Stable, 1)
            .uniform(&Ask::new(nodes, &all), 8, true, draw, &Missing::default(), &mut picks)
            .unwrap();
        ids
    };
    let twice = draws(&[0, 0], 0);
    assert_ne!(twice[..8], twice[8..]);
    assert_eq!(draws(&[7, 0, 9], 0)[8..16], twice[..8]);
    assert_ne!(draws(&[0], 1), twice[..8]);
}

#[test]
fn what_is_missing_is_filled() {
    let built = Built::of("-1 1 0 1.0 1 2 0 0.0 1 3 0 0.0\n-1 2 0 1.0 2 3 0 1.0\n", 1);
    let graph = opened(&built.path);
    let all = TypeSet::all();
    let none = TypeSet::of(&[]);
    let missing = Missing { node: -9, weight: -8.0, ty: -7, created: -6 };
    for generator in [Generator::Stable, Generator::Compat] {
        let mut sampler = Sampler::new(&graph, generator, 1);
        // No edges of the types, weights of 0, an unknown node; and a count of 0, on which the published engine aborts.
        for (types, nodes) in [(&none, [1, 2]), (&all, [1, 77])] {
            let (mut ids, mut weights, mut kinds, mut created) = ([0; 4], [0.0; 4], [0; 4], [0; 4]);
            let mut picks = Picks {
                ids: &mut ids,
                weights: &mut weights,
                types: &mut kinds,
                created: &mut created,
                exact: &mut [],
            };
            sampler.weighted(&Ask::new(&nodes, types), 2, Draw::of(1), &missing, &mut picks).unwrap();
            assert_eq!((ids, weights, kinds, created), ([-9; 4], [-8.0; 4], [-7; 4], [-6; 4]));
        }
        let mut picks = Picks { ids: &mut [], weights: &mut [], types: &mut [], created: &mut [], exact: &mut [] };
        for replacement in [true, false] {
            sampler.uniform(&Ask::new(&[1, 2], &all), 0, replacement, Draw::of(1), &missing, &mut picks).unwrap();
        }
        let mut ids = [0; 5];
        let mut picks = Picks::of_ids(&mut ids);
        sampler.uniform(&Ask::new(&[1], &all), 5, false, Draw::of(1), &missing, &mut picks).unwrap();
        assert_eq!(picks.ids, [2, 3, -9, -9, -9]);
        let error = sampler.weighted(&Ask::new(&[1], &all), 3, Draw::of(1), &missing, &mut picks).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
    }
    // Types that no element has: nothing is drawn, whereas the published engine fails.
    let mut nodes = NodeSampler::new(&graph, &TypeSet::of(&[5]), Choice::Weighted, Generator::Stable).unwrap();
    let (mut ids, mut types) = ([0; 3], [0; 3]);
    assert_eq!(nodes.sample(Draw::of(1), -1, &mut ids, &mut types).unwrap(), 0);
    assert_eq!(ids, [-1; 3]);
    // More elements than exist, without replacement: the rest is filled, not left unchanged.
    let mut nodes = NodeSampler::new(&graph, &all, Choice::WithoutReplacement, Generator::Stable).unwrap();
    assert_eq!(nodes.sample(Draw::of(1), -1, &mut ids, &mut types).unwrap(), 2);
    ids.sort_unstable();
    assert_eq!(ids, [-1, 1, 2]);
}

#[test]
fn totals_are_those_of_the_edges_that_are_drawn_from() {
    let mut text = String::new();
    for node in 0..30 {
        text += &format!("{node},-1,0,1.0\n");
        for edge in 0..node % 12 {
            text += &format!("{node},{},{},{}.25\n", edge / 4, (node * 7 + edge) % 30, edge % 3);
        }
    }
    let nodes = [5, 77, 11, 5, 0, 23, 29, -1];
    let (missing, draw) = (Missing::default(), Draw::of(3));
    for (partitions, types) in
        [(1, TypeSet::all()), (3, TypeSet::all()), (1, TypeSet::of(&[0, 1])), (3, TypeSet::of(&[2]))]
    {
        let built = Built::with(&text, "edgelist", partitions, None);
        let (graph, ask) = (opened(&built.path), Ask::new(&nodes, &types));
        for generator in [Generator::Stable, Generator::Compat] {
            let mut sampler = Sampler::new(&graph, generator, 1);
            let (mut found, mut lists) = (Vec::new(), NeighborLists::default());
            sampler.found(&nodes, 66, &mut found).unwrap();
            assert_eq!(found, nodes.map(|node| graph.has(node)));
            assert_eq!(sampler.found(&nodes, 10, &mut found).unwrap_err().kind(), Kind::TooLarge);
            sampler.neighbors(&ask, &mut lists).unwrap();
            for count in [0, 1, 6] {
                let (mut weights, mut counts, mut ids, mut others) =
                    (Vec::new(), Vec::new(), vec![0; nodes.len() * count], vec![0; nodes.len() * count]);
                let (own, plain) = (&mut Picks::of_ids(&mut ids), &mut Picks::of_ids(&mut others));
                sampler.weighted_and_totals(&ask, count, draw, &missing, own, &mut weights).unwrap();
                sampler.weighted(&ask, count, draw, &missing, plain).unwrap();
                assert_eq!(own.ids, plain.ids);
                for replacement in [true, false] {
                    sampler.uniform_and_counts(&ask, count, replacement, draw, &missing, own, &mut counts).unwrap();
                    sampler.uniform(&ask, count, replacement, draw, &missing, plain).unwrap();
                    assert_eq!((&own.ids, &counts), (&plain.ids, &lists.counts), "{replacement}");
                }
                let mut rest = lists.weights.as_slice();
                for (number, total) in lists.counts.iter().zip(weights) {
                    let (these, others) = rest.split_at(*number as usize);
                    // Quarters have no rounding errors.
                    assert_eq!(these.iter().sum::<f32>(), total);
                    rest = others;
                }
            }
        }
    }
}

/// If a node has no edges of a requested type, but edges of lower and higher types, the engine skips the next ones, unless it
/// has found the previous ones. These are the answers of deepgnn-ge 0.1.66; the other generator draws the existing edges.
#[test]
fn the_engine_passes_over_edges_behind_a_type_that_is_not_there() {
    let others = "-1 5 0 1.0 5 0 0 1.0 5 0 1 1.0 5 0 2 1.0\n";
    let built = Built::of(&format!("-1 0 0 1.0 0 1 0 1.0 0 2 2 1.0 0 3 2 1.0 0 4 3 1.0\n{others}"), 1);
    let graph = opened(&built.path);
    let missing = Missing::default();
    for (types, found) in [
        (&[1, 2][..], &[-1][..]),
        (&[1, 2, 3], &[4]),
        (&[1, 3], &[4]),
        (&[0, 1, 2], &[1, 2, 3]),
        (&[2, 3], &[2, 3, 4]),
        (&[0, 1, 2, 3], &[1, 2, 3, 4]),
        (&[1], &[-1]),
    ] {
        let types = TypeSet::of(types);
        let ask = Ask::new(&[0], &types);
        let seen = |ids: &[i64]| ids.iter().copied().collect::<std::collections::BTreeSet<_>>();
        let wanted = seen(found);
        let mut sampler = Sampler::new(&graph, Generator::Compat, 1);
        let mut ids = [0; 200];
        sampler.weighted(&ask, 200, Draw::of(7), &missing, &mut Picks::of_ids(&mut ids)).unwrap();
        assert_eq!(seen(&ids), wanted, "{types:?}");
        sampler.uniform(&ask, 200, true, Draw::of(7), &missing, &mut Picks::of_ids(&mut ids)).unwrap();
        assert_eq!(seen(&ids), wanted, "{types:?}");
        let mut ids = [0; 4];
        sampler.uniform(&ask, 4, false, Draw::of(7), &missing, &mut Picks::of_ids(&mut ids)).unwrap();
        let drawn: Vec<i64> = ids.iter().copied().filter(|id| *id != -1).collect();
        assert_eq!(drawn, found.iter().copied().filter(|id| *id != -1).collect::<Vec<_>>(), "{types:?}");
        let mut steps = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let mut walk = [0; 2];
            sampler.walk(&ask, 1, Bias::default(), Draw::of(seed), -1, &mut walk).unwrap();
            steps.insert(walk[1]);
        }
        assert_eq!(steps, wanted, "{types:?}");
        let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
        let mut ids = [0; 200];
        sampler.weighted(&ask, 200, Draw::of(7), &missing, &mut Picks::of_ids(&mut ids)).unwrap();
        let there = [(1, 0), (2, 2), (3, 2), (4, 3)];
        let there = there.iter().filter(|(_, ty)| types.has(*ty)).map(|(id, _)| *id).collect::<Vec<i64>>();
        assert_eq!(seen(&ids), seen(if there.is_empty() { &[-1] } else { &there }), "{types:?}");
    }
}

#[test]
fn the_heaviest_come_first() {
    let built = Built::of("-1 1 0 1.0 1 9 0 2.0 1 4 0 5.0 1 7 0 2.0 1 7 1 2.0 1 3 1 -1.0\n", 1);
    let graph = opened(&built.path);
    let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
    for count in 1..7 {
        let (mut ids, mut weights) = (vec![0; count], vec![0.0; count]);
        let mut picks =
            Picks { ids: &mut ids, weights: &mut weights, types: &mut [], created: &mut [], exact: &mut [] };
        sampler.top(&Ask::new(&[1], &TypeSet::all()), count, &Missing::default(), &mut picks).unwrap();
        assert_eq!(ids, &[4, 7, 7, 9, 3, -1][..count]);
        assert_eq!(weights, &[5.0, 2.0, 2.0, 2.0, -1.0, 0.0][..count]);
    }
}

/// Node 1 with three edges: 2 exists from 1 to 30, 3 from 10 to 20, 4 from 15 on.
fn temporal() -> Built {
    let edge = |to: i64, from: i64, until: i64| {
        format!(r#"{{"src_id":1,"dst_id":{to},"edge_type":0,"weight":1.0,"created_at":{from},"removed_at":{until}}}"#)
    };
    let edges = [edge(2, 1, 30), edge(3, 10, 20), edge(4, 15, -1)].join(",");
    let feature = r#""float_feature":{"0":[{"values":[1.5],"created_at":5},{"values":[2.5],"created_at":12}]}"#;
    let text = format!(
        "{{\"node_id\":1,\"node_type\":0,\"node_weight\":1.0,\"created_at\":1,{feature},\"edge\":[{edges}]}}\n"
    );
    Built::with(&text, "json", 1, Some(100))
}

#[test]
fn counts_and_samples_at_a_time_are_those_of_the_neighbours() {
    let built = temporal();
    let graph = opened(&built.path);
    assert!(graph.has_times());
    let all = TypeSet::all();
    for generator in [Generator::Stable, Generator::Compat] {
        let mut sampler = Sampler::new(&graph, generator, 1);
        for (time, wanted) in
            [(0, &[][..]), (9, &[2]), (12, &[2, 3]), (20, &[2, 4]), (25, &[2, 4]), (30, &[4]), (99, &[4])]
        {
            let ask = Ask { nodes: &[1], types: &all, times: Some(&[time]) };
            let mut lists = NeighborLists::default();
            sampler.neighbors(&ask, &mut lists).unwrap();
            assert_eq!(lists.ids, wanted, "at {time}");
            let mut counts = [0];
            sampler.neighbor_counts(&ask, &mut counts).unwrap();
            assert_eq!(counts[0], wanted.len() as u64, "at {time}");
            for seed in 0..20 {
                let (mut ids, mut created) = ([0; 6], [0; 6]);
                let mut picks =
                    Picks { ids: &mut ids, weights: &mut [], types: &mut [], created: &mut created, exact: &mut [] };
                sampler.weighted(&ask, 6, Draw::of(seed), &Missing::default(), &mut picks).unwrap();
                let born = |id: i64| [-1, 1, 10, 15][if id < 0 { 0 } else { id as usize - 1 }];
                assert!(
                    ids.iter().all(|id| wanted.contains(id) || wanted.is_empty() && *id == -1),
                    "{ids:?} at {time}"
                );
                assert!(ids.iter().zip(&created).all(|(id, created)| *created == born(*id)), "{ids:?} {created:?}");
                let mut picks = Picks::of_ids(&mut ids);
                sampler.uniform(&ask, 6, true, Draw::of(seed), &Missing::default(), &mut picks).unwrap();
                assert!(
                    ids.iter().all(|id| wanted.contains(id) || wanted.is_empty() && *id == -1),
                    "{ids:?} at {time}"
                );
            }
        }
    }
    let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
    let mut ids = [0; 3];
    let mut picks = Picks::of_ids(&mut ids);
    let ask = Ask { nodes: &[1], types: &all, times: Some(&[17]) };
    sampler.last(&ask, 3, &Missing::default(), &mut picks).unwrap();
    assert_eq!(ids, [4, 3, 2]);
    let ask = Ask { nodes: &[1], types: &all, times: Some(&[20]) };
    let mut picks = Picks::of_ids(&mut ids);
    sampler.last(&ask, 3, &Missing::default(), &mut picks).unwrap();
    assert_eq!(ids, [4, 2, -1], "what is removed at 20 is not there at 20");
}

#[test]
fn features_at_a_time_are_the_newest_before_it() {
    let built = temporal();
    let graph = opened(&built.path);
    let sampler = Sampler::new(&graph, Generator::Stable, 1);
    for (time, wanted) in [(4, 0.0f32), (5, 1.5), (11, 1.5), (12, 2.5), (1000, 2.5)] {
        let mut out = [7; 4];
        sampler.node_features(&[1], &[Dense { id: 0, bytes: 4 }], Some(&[time]), &mut out).unwrap();
        assert_eq!(f32::from_le_bytes(out), wanted, "at {time}");
    }
    // For a feature without times, the published engine reads its bytes as times and hangs.
    let plain = Built::of("-1 1 0 1.0 float32 2 1.0 2.0\n", 1);
    let sampler = Sampler::new(&opened(&plain.path), Generator::Stable, 1);
    let error = sampler.node_features(&[1], &[Dense { id: 0, bytes: 8 }], Some(&[1]), &mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), isomorph_error::Kind::Usage, "{error:?}");
    assert!(error.message().contains("without times"), "{error:?}");
}

#[test]
fn tables_that_are_missing_are_an_error_or_not_needed() {
    let built = Built::of("-1 1 0 1.0 1 2 0 1.0\n-1 2 0 3.0 2 1 0 1.0\n", 1).without_tables();
    let graph = opened(&built.path);
    let all = TypeSet::all();
    let error = NodeSampler::new(&graph, &all, Choice::Weighted, Generator::Stable).err().unwrap();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("DEEPGNN-FILE"));
    assert_eq!(NodeSampler::new(&graph, &all, Choice::Uniform, Generator::Stable).unwrap().size(), 2);
    assert_eq!(EdgeSampler::new(&graph, &all, Choice::Weighted, Generator::Stable).unwrap().size(), 2);
}

#[test]
fn maps_in_any_order_are_searched() {
    for (text, partitions) in [
        ("-1 9 0 1 9 1 0 1\n-1 3 0 1 3 2 0 1\n-1 5 0 1 5 3 0 1\n", 1),
        ("-1 10 0 1 10 1 0 1\n-1 20 0 1 20 2 0 1\n-1 30 0 1 30 3 0 1\n-1 31 0 1 31 4 0 1\n", 1),
        (
            "-1 1 0 1 1 1 0 1\n-1 2 0 1 2 2 0 1\n-1 3 0 1 3 3 0 1\n-1 4 0 1 4 4 0 1\n-1 5 0 1 5 5 0 1\n-1 6 0 1 6 6 0 1\n",
            6,
        ),
        ("-1 18446744073709551615 0 1 18446744073709551615 1 0 1\n-1 0 0 1 0 2 0 1\n", 1),
    ] {
        let graph = opened(&Built::of(text, partitions).path);
        let nodes: Vec<i64> =
            text.lines().map(|line| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap() as i64).collect();
        let mut lists = NeighborLists::default();
        let all = TypeSet::all();
        Sampler::new(&graph, Generator::Stable, 1).neighbors(&Ask::new(&nodes, &all), &mut lists).unwrap();
        assert_eq!(lists.counts, vec![1; nodes.len()], "{text}");
        let wanted: Vec<i64> = text.lines().map(|line| line.split(' ').nth(5).unwrap().parse().unwrap()).collect();
        assert_eq!(lists.ids, wanted);
    }
}

#[test]
fn nodes_in_no_order_are_found_by_a_table() {
    // Scattered ids, each on three lines: the first is the node, the others have later edges of it.
    let ids: Vec<i64> = (0..3000u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as i64).collect();
    let mut text = ids.iter().map(|id| format!("{id},-1,0,1\n{id},0,1,1\n")).collect::<String>();
    for more in 2..4 {
        text += &ids.iter().map(|id| format!("{id},0,{more},1\n")).collect::<String>();
    }
    for partitions in [1, 7] {
        let graph = opened(&Built::with(&text, "edgelist", partitions, None).path);
        for threads in [1, 3] {
            let mut sampler = Sampler::new(&graph, Generator::Stable, threads);
            let all = TypeSet::all();
            let mut lists = NeighborLists::default();
            // Unknown ids between known ones.
            let nodes: Vec<i64> = ids.iter().flat_map(|id| [*id, id + 1]).collect();
            sampler.neighbors(&Ask::new(&nodes, &all), &mut lists).unwrap();
            assert_eq!(lists.counts.iter().sum::<u64>(), 9000, "{partitions} partitions");
            let mut picked = vec![0; nodes.len() * 4];
            let mut picks = Picks::of_ids(&mut picked);
            sampler.uniform(&Ask::new(&nodes, &all), 4, false, Draw::of(1), &Missing::default(), &mut picks).unwrap();
            for row in picked.chunks(8) {
                assert_eq!(row, [1, 2, 3, -1, -1, -1, -1, -1], "{partitions} partitions");
            }
            let mut types = vec![0; nodes.len()];
            graph.types_of(&nodes, -5, &mut types).unwrap();
            assert!(types.chunks(2).all(|pair| pair == [0, -5]));
        }
    }
}

#[test]
fn threads_do_not_change_features_nor_elements() {
    let mut text = String::new();
    for node in 0..900 {
        text += &format!("{},-1,0,{}", node * 7 % 901, 1 + node % 3);
        match node % 4 {
            0 => text += &format!(",float32,2,{node},1,binary,1,text {node},uint8,2/1,1,{node},7,8\n"),
            1 => text += ",uint8,0,binary,1,,uint8,0\n",
            2 => text += ",float32,1,5\n",
            _ => text += "\n",
        }
        text += &format!("{},0,{},2,float32,2,{node},3\n", node * 7 % 901, node);
    }
    let built = Built::with(&text, "edgelist", 2, None);
    let graph = opened(&built.path);
    let nodes: Vec<i64> = (0..1000).rev().cycle().take(6000).collect();
    let (sources, targets): (Vec<i64>, Vec<i64>) = (0..900).map(|node| (node * 7 % 901, node)).unzip();
    let kinds = vec![0; 900];
    let answers = |threads: usize| {
        let sampler = Sampler::new(&graph, Generator::Stable, threads);
        let mut dense = vec![0; nodes.len() * 10];
        let features = [Dense { id: 0, bytes: 8 }, Dense { id: 2, bytes: 2 }];
        sampler.node_features(&nodes, &features, None, &mut dense).unwrap();
        let mut of_edges = vec![0; 900 * 8];
        let edges = Edges { sources: &sources, targets: &targets, types: &kinds };
        sampler.edge_features(edges, &[Dense { id: 0, bytes: 8 }], None, &mut of_edges).unwrap();
        let (mut strings, mut sparse) = (Strings::default(), [Sparse::default(), Sparse::default()]);
        sampler.node_strings(&nodes, &[1, 9, 0], None, &mut strings).unwrap();
        sampler.node_sparse(&nodes, &[2, 5], None, &mut sparse).unwrap();
        let mut drawn = Vec::new();
        for choice in [Choice::Weighted, Choice::Uniform, Choice::WithoutReplacement] {
            let count = 20_000;
            let (mut first, mut second, mut types) = (vec![0; count], vec![0; count], vec![0; count]);
            let mut elements = NodeSampler::new(&graph, &TypeSet::all(), choice, Generator::Stable).unwrap();
            elements = elements.threads(threads);
            elements.sample(Draw::of(3), -1, &mut first, &mut types).unwrap();
            drawn.push(first.clone());
            let elements = EdgeSampler::new(&graph, &TypeSet::all(), choice, Generator::Stable).unwrap();
            elements.threads(threads).sample(Draw::of(3), -1, &mut first, &mut second, &mut types).unwrap();
            drawn.extend([first, second]);
        }
        (dense, of_edges, strings, sparse, drawn)
    };
    let wanted = answers(1);
    assert!(wanted.2.bytes.len() > 1000 && wanted.3[0].dimensions == 1 && wanted.3[1].dimensions == 0);
    assert!(wanted.1.iter().any(|byte| *byte != 0));
    for threads in [2, 5, 0] {
        assert_eq!(answers(threads), wanted, "{threads} threads");
    }
    // The error for features that disagree does not depend on the number of threads.
    let odd = opened(
        &Built::of(
            &(0..600)
                .map(|node| format!("-1 {node} 0 1 uint8 {}\n", if node == 500 { "1,2,1 3 4 1" } else { "1,1 3 1" }))
                .collect::<String>(),
            1,
        )
        .path,
    );
    let nodes: Vec<i64> = (0..600).cycle().take(6000).collect();
    let told = |threads: usize| {
        let mut sparse = [Sparse::default()];
        Sampler::new(&odd, Generator::Stable, threads)
            .node_sparse(&nodes, &[0], None, &mut sparse)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(told(1), told(4));
}

#[test]
fn damage_is_an_error_where_it_is_met() {
    let root = fixtures();
    let whole = root.join("hetero/bin_linear_p1");
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(root.join("hetero/bin_linear_p1.expected.json")).unwrap()).unwrap();
    let nodes = ids(&expected["known_ids"]);
    let home = tempfile::tempdir().unwrap();
    let (mut refused, mut tried) = (0, 0);
    for name in std::fs::read_dir(&whole).unwrap().map(|entry| entry.unwrap().file_name()) {
        let bytes = std::fs::read(whole.join(&name)).unwrap();
        let step = (bytes.len() / 40).max(1);
        for at in (0..bytes.len()).step_by(step) {
            for damage in [0xff, 0x80, 0x01] {
                let place = home.path().join(format!("{tried}"));
                std::fs::create_dir(&place).unwrap();
                for other in std::fs::read_dir(&whole).unwrap().map(|entry| entry.unwrap().file_name()) {
                    std::fs::copy(whole.join(&other), place.join(&other)).unwrap();
                }
                let mut damaged = bytes.clone();
                damaged[at] ^= damage;
                if damage == 0x01 {
                    damaged.truncate(at);
                }
                std::fs::write(place.join(&name), damaged).unwrap();
                tried += 1;
                refused += usize::from(use_all(&Location::from_path(&place), &nodes).is_err());
                std::fs::remove_dir_all(&place).unwrap();
            }
        }
    }
    // Nothing panics. Changed ids, weights and feature bytes give other graphs, not damaged ones.
    assert!(refused * 4 > tried, "{refused} of {tried}");
}

fn use_all(place: &Location, nodes: &[i64]) -> isomorph_error::Result<()> {
    let options = isomorph_sampling::GraphOptions { hold: Hold::Copied, ..options() };
    let graph = std::sync::Arc::new(Graph::open(place, &options)?);
    let all = TypeSet::all();
    let ask = Ask::new(nodes, &all);
    for generator in [Generator::Stable, Generator::Compat] {
        let mut sampler = Sampler::new(&graph, generator, 2);
        sampler.neighbors(&ask, &mut NeighborLists::default())?;
        let mut ids = vec![0; nodes.len() * 4];
        let missing = Missing::default();
        sampler.weighted(&ask, 4, Draw::of(1), &missing, &mut Picks::of_ids(&mut ids))?;
        sampler.uniform(&ask, 4, false, Draw::of(1), &missing, &mut Picks::of_ids(&mut ids))?;
        sampler.top(&ask, 4, &missing, &mut Picks::of_ids(&mut ids))?;
        sampler.pagerank(&ask, 4, Push::default(), &missing, &mut Picks::of_ids(&mut ids))?;
        sampler.walk(&ask, 3, Bias { back: 0.5, away: 2.0 }, Draw::of(1), -1, &mut ids)?;
        let mut bytes = vec![0; nodes.len() * 8];
        for id in 0..12 {
            sampler.node_features(nodes, &[Dense { id, bytes: 8 }], None, &mut bytes)?;
        }
        for choice in [Choice::Weighted, Choice::WithoutReplacement] {
            let (mut some, mut others, mut types) = ([0; 9], [0; 9], [0; 9]);
            NodeSampler::new(&graph, &all, choice, generator)?.sample(Draw::of(1), -1, &mut some, &mut types)?;
            EdgeSampler::new(&graph, &all, choice, generator)?.sample(
                Draw::of(1),
                -1,
                &mut some,
                &mut others,
                &mut types,
            )?;
        }
    }
    Ok(())
}
