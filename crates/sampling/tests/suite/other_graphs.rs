//! Graphs that are read through the model give the same samples as their binaries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::sync::Arc;

use common::{Built, opened};
use isomorph_deepgnn::{BuildOptions, DeepGnn, OpenOptions, Text};
use isomorph_sampling::{
    Ask, Bias, Choice, Dense, Draw, Generator, Graph, GraphOptions, Missing, NodeSampler, Picks, Sampler, Stated,
    Strings, TypeSet,
};
use isomorph_storage::{Budget, Location, Mode, Scratch, Staging};

/// A random graph in Linear: nodes 3, 6, 9 … with two features each, edges of three types to nodes, and to some ids that are not nodes.
fn linear(nodes: u64) -> String {
    let mut state = 1u64;
    let mut next = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut text = String::new();
    for node in (1..=nodes).map(|node| node * 3) {
        text.push_str(&format!("-1 {node} {} {}.5 float32 2 {node} 0.25 binary_feature 1 n{node}", next(2), next(9)));
        let mut edges: Vec<(u64, u64)> = (0..next(12)).map(|_| (next(3), next(nodes * 4))).collect();
        edges.sort_unstable();
        edges.dedup();
        for (ty, target) in edges {
            text.push_str(&format!(" {node} {target} {ty} {}.25", next(5)));
        }
        text.push('\n');
    }
    text
}

/// Draws from a graph by several strategies.
fn drawn(graph: &Arc<Graph>, nodes: &[i64]) -> (Vec<i64>, Vec<u32>, Vec<u8>) {
    let mut sampler = Sampler::new(graph, Generator::Stable, 2);
    let types = TypeSet::of(&[0, 2]);
    let ask = Ask::new(nodes, &types);
    let (mut ids, mut weights) = (vec![0; nodes.len() * 5], vec![0.0f32; nodes.len() * 5]);
    let mut picks = Picks { ids: &mut ids, weights: &mut weights, types: &mut [], created: &mut [], exact: &mut [] };
    sampler.weighted(&ask, 5, Draw::of(3), &Missing::default(), &mut picks).unwrap();
    let mut all = ids.clone();
    sampler.uniform(&ask, 5, false, Draw::of(3), &Missing::default(), &mut Picks::of_ids(&mut ids)).unwrap();
    all.extend(&ids);
    sampler.walk(&ask, 4, Bias { back: 0.5, away: 3.0 }, Draw::of(3), -1, &mut ids).unwrap();
    all.extend(&ids);
    let mut bytes = vec![0; nodes.len() * 8];
    sampler.node_features(nodes, &[Dense { id: 0, bytes: 8 }], None, &mut bytes).unwrap();
    (all, weights.iter().map(|weight| weight.to_bits()).collect(), bytes)
}

#[test]
fn a_text_is_sampled_like_its_binary() {
    let text = linear(500);
    let built = Built::of(&text, 3);
    let place = Location::from_path(&built.path.parent().unwrap().join("graph.linear"));
    let source = DeepGnn::open(&place, &OpenOptions::default()).unwrap();
    let nodes: Vec<i64> = (0..1600).collect();
    let binary = opened(&built.path);
    // Also with so little memory that edges are sorted in temporary files.
    for memory in [64 << 20, 1 << 20] {
        let options = GraphOptions::new(&Budget::new(memory), &Scratch::new(None).unwrap());
        let (graph, names) = Graph::of_source(&source, &options).unwrap();
        let graph = Arc::new(graph);
        assert_eq!((graph.nodes(), graph.edges()), (binary.nodes(), binary.edges()));
        assert_eq!(names.edge_types(), ["0", "1", "2"]);
        assert_eq!(names.id(None, "12").unwrap(), 12);
        for types in [TypeSet::all(), TypeSet::of(&[1])] {
            assert_eq!(graph.edge_count(&types), binary.edge_count(&types));
            assert_eq!(graph.node_count(&types), binary.node_count(&types));
        }
        let (ids, weights, _) = drawn(&binary, &nodes);
        let (found, found_weights, _) = drawn(&graph, &nodes);
        assert_eq!(ids, found);
        assert_eq!(weights, found_weights);

        let sampler = Sampler::new(&graph, Generator::Stable, 1);
        let mut bytes = vec![0; 8];
        sampler.node_features(&[33], &[Dense { id: 0, bytes: 8 }], None, &mut bytes).unwrap();
        assert_eq!(bytes, [33f32.to_le_bytes(), 0.25f32.to_le_bytes()].concat());
        let mut strings = Strings::default();
        sampler.node_strings(&[33, 34], &[1], None, &mut strings).unwrap();
        assert_eq!((strings.bytes.as_slice(), strings.lengths.as_slice()), (&b"n33"[..], &[3, 0][..]));

        // Weights of nodes: nodes of weight 0 are never drawn, others by their share.
        let mut sampler = NodeSampler::new(&graph, &TypeSet::all(), Choice::Weighted, Generator::Stable).unwrap();
        assert_eq!(sampler.size(), 500);
        let (mut ids, mut types) = (vec![0; 2000], vec![0; 2000]);
        assert_eq!(sampler.sample(Draw::of(1), -1, &mut ids, &mut types).unwrap(), 2000);
        let mut wanted = vec![0; 2000];
        binary.types_of(&ids, -1, &mut wanted).unwrap();
        assert_eq!(types, wanted);
    }
}

/// Times, edge features and sparse features: a graph that is read gives the same as its binary.
#[test]
fn times_and_features_of_edges_are_those_of_the_binary() {
    let home = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for node in 0..60u64 {
        let edges: Vec<String> = (0..node % 7)
            .map(|step| {
                let (target, relation) = ((node * 11 + step * 5) % 60, step % 2);
                let created = step * 4 + node % 3 + 1;
                let removed = if step % 3 == 0 { format!(", \"removed_at\": {}", created + 9) } else { String::new() };
                format!(
                    "{{\"src_id\": {node}, \"dst_id\": {target}, \"edge_type\": {relation}, \"weight\": {step}.5, \"created_at\": {created}{removed}, \"float_feature\": {{\"0\": [{node}, {step}]}}, \"binary_feature\": {{\"2\": \"e{node}-{step}\"}}}}"
                )
            })
            .collect();
        lines.push_str(&format!(
            "{{\"node_id\": {node}, \"node_type\": 0, \"node_weight\": 1, \"sparse_float_feature\": {{\"1\": {{\"coordinates\": [[{node}, 2], [3, 4]], \"values\": [0.5, {node}]}}}}, \"edge\": [{}]}}\n",
            edges.join(", ")
        ));
    }
    let (text, binary) = (home.path().join("graph.json"), home.path().join("binary"));
    std::fs::write(&text, lines).unwrap();
    let place = Location::from_path(&text);
    let build = BuildOptions { partitions: 2, watermark: Some(100), ..BuildOptions::default() };
    let staging = Staging::directory(&Location::from_path(&binary), Mode::CreateNew).unwrap();
    isomorph_deepgnn::build(&Text::open(&place, &OpenOptions::default()).unwrap(), &staging, &build, &|_| Ok(()))
        .unwrap();
    staging.commit(&["meta.json"]).unwrap();
    let binary = opened(&binary);
    let source = DeepGnn::open(&place, &OpenOptions::default()).unwrap();
    for memory in [64 << 20, 1 << 20] {
        let options = GraphOptions::new(&Budget::new(memory), &Scratch::new(None).unwrap());
        let (graph, names) = Graph::of_source(&source, &options).unwrap();
        let graph = Arc::new(graph);
        assert!(graph.has_times());
        assert_eq!(names.edge_features(), ["0", "", "2"]);
        let nodes: Vec<i64> = (0..60).collect();
        let types = TypeSet::all();
        for time in [None, Some(0), Some(8), Some(21), Some(1000)] {
            let times = time.map(|time| vec![time; nodes.len()]);
            let ask = Ask { nodes: &nodes, types: &types, times: times.as_deref() };
            let of = |graph: &Arc<Graph>| {
                let mut lists = isomorph_sampling::NeighborLists::default();
                Sampler::new(graph, Generator::Stable, 1).neighbors(&ask, &mut lists).unwrap();
                let mut edges = Vec::new();
                let mut at = 0;
                for (node, count) in nodes.iter().zip(&lists.counts) {
                    for edge in at..at + *count as usize {
                        let weight = lists.weights[edge].to_bits();
                        edges.push((*node, lists.types[edge], lists.ids[edge], weight, lists.created[edge]));
                    }
                    at += *count as usize;
                }
                edges.sort_unstable();
                edges
            };
            let expected = of(&binary);
            assert_eq!(expected, of(&graph), "{time:?}");
            let (sources, targets): (Vec<i64>, Vec<i64>) = expected.iter().map(|edge| (edge.0, edge.2)).unzip();
            let kinds: Vec<i32> = expected.iter().map(|edge| edge.1).collect();
            let edges = isomorph_sampling::Edges { sources: &sources, targets: &targets, types: &kinds };
            let strings = |graph: &Arc<Graph>, ids: &[u32]| {
                let mut strings = Strings::default();
                Sampler::new(graph, Generator::Stable, 1).edge_strings(edges, ids, None, &mut strings).unwrap();
                strings
            };
            assert_eq!(strings(&binary, &[0, 2]), strings(&graph, &[0, 2]), "{time:?}");
        }
        let sparse = |graph: &Arc<Graph>, id: u32| {
            let mut sparse = [isomorph_sampling::Sparse::default()];
            Sampler::new(graph, Generator::Stable, 1).node_sparse(&nodes, &[id], None, &mut sparse).unwrap();
            sparse
        };
        assert_eq!(sparse(&binary, 1), sparse(&graph, 1));
        assert_eq!(sparse(&graph, 1)[0].dimensions, 2);
    }
}

/// Edges that do not connect pairs are refused by name, not dropped.
#[test]
fn hyperedges_are_refused() {
    let rich = isomorph_zoo::annnet();
    let options = GraphOptions::new(&Budget::new(64 << 20), &Scratch::new(None).unwrap());
    let error = Graph::of_source(&rich, &options).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), isomorph_error::Kind::Unsupported, "{error:?}");
    assert!(error.message().contains("hyperedges"), "{error:?}");
}

/// Values that are neither numbers nor texts are JSON text; lists of booleans are bytes, a list with nulls is a hole.
#[test]
fn lists_of_texts_and_structs_are_features() {
    use isomorph_zoo::{Build, Edges, Nodes, bools, float64, int64, lists, structs, text};
    let decimals: arrow_array::ArrayRef =
        Arc::new(arrow_array::Decimal128Array::from(vec![150, -7]).with_precision_and_scale(10, 2).unwrap());
    let columns = [
        ("names", lists(text(["a \"b\"", "ü", "c"]), &[Some(2), Some(1)]), ["[\"a \\\"b\\\"\",\"ü\"]", "[\"c\"]"]),
        ("none", lists(text([None::<&str>, Some("x")]), &[Some(2), None]), ["[null,\"x\"]", ""]),
        ("flags", lists(bools([true, false, true]), &[Some(3), Some(0)]), ["\u{1}\0\u{1}", ""]),
        ("gaps", lists(int64([Some(1), None]), &[Some(2), Some(0)]), ["", ""]),
        ("deep", lists(lists(float64([0.5, f64::NAN]), &[Some(2)]), &[Some(1), Some(0)]), ["[[0.5,\"NaN\"]]", "[]"]),
        (
            "both",
            structs(&[("n", int64([Some(3), None])), ("t", text(["x", "y"]))]),
            ["{\"n\":3,\"t\":\"x\"}", "{\"t\":\"y\"}"],
        ),
        ("money", decimals, ["1.50", "-0.07"]),
    ];
    let mut build = Build::default();
    let mut nodes = Nodes::keyed("thing", int64([10, 11])).open_labels(&[&["b", "a \"x\""], &[]]);
    let mut edges = Edges::rows(0, "near", 0, [(0, 1), (1, 0)]);
    for (name, column, _) in &columns {
        nodes = nodes.column(name, Arc::clone(column));
        edges = edges.column(name, Arc::clone(column));
    }
    build.nodes(nodes);
    build.edges(edges);
    let options = GraphOptions::new(&Budget::new(64 << 20), &Scratch::new(None).unwrap());
    let (graph, names) = Graph::of_source(&build.finish(), &options).unwrap();
    let sampler = Sampler::new(&Arc::new(graph), Generator::Stable, 1);
    assert_eq!(names.features().last().map(String::as_str), Some(isomorph_sampling::LABELS));
    let mut labels = Strings::default();
    sampler.node_strings(&[10, 11], &[columns.len() as u32], None, &mut labels).unwrap();
    let set: Vec<String> = serde_json::from_slice(&labels.bytes).unwrap();
    assert_eq!(set.iter().map(String::as_str).collect::<std::collections::BTreeSet<_>>(), ["a \"x\"", "b"].into());
    assert_eq!(labels.lengths[1], 0);
    for (at, (name, column, wanted)) in columns.iter().enumerate() {
        assert_eq!((&names.features()[at], &names.edge_features()[at]), (&(*name).to_owned(), &(*name).to_owned()));
        let is_json = wanted.iter().any(|text| text.starts_with(['[', '{', '-']));
        assert_eq!(isomorph_sampling::is_json_feature(column.data_type()), is_json, "{name}");
        let (mut of_nodes, mut of_edges) = (Strings::default(), Strings::default());
        sampler.node_strings(&[10, 11], &[at as u32], None, &mut of_nodes).unwrap();
        let edges = isomorph_sampling::Edges { sources: &[10, 11], targets: &[11, 10], types: &[0, 0] };
        sampler.edge_strings(edges, &[at as u32], None, &mut of_edges).unwrap();
        assert_eq!(String::from_utf8(of_nodes.bytes.clone()).unwrap(), wanted.concat(), "{name}");
        assert_eq!(of_nodes.lengths, wanted.map(|text| text.len() as u64), "{name}");
        assert_eq!(of_nodes, of_edges, "{name}");
        // An empty feature exists and differs from a missing one; a list with nulls is neither.
        let stated = sampler.node_stated(&[10, 11], u32::try_from(at).unwrap()).unwrap();
        let expected = match *name {
            "none" => [Stated::Yes, Stated::No],
            "gaps" => [Stated::WithNulls, Stated::Yes],
            _ => [Stated::Yes; 2],
        };
        assert_eq!(stated, expected, "{name}");
        assert_eq!(sampler.edge_stated(edges, u32::try_from(at).unwrap()).unwrap(), expected, "{name}");
    }
}

/// Opens the graph of a source in memory.
fn of_memory(build: isomorph_zoo::Build) -> isomorph_error::Result<(Graph, isomorph_sampling::Names)> {
    let options = GraphOptions::new(&Budget::new(64 << 20), &Scratch::new(None).unwrap());
    Graph::of_source(&build.finish(), &options)
}

/// Signed and unsigned integers are kept by their bits, but no text finds a key of one type in the other.
#[test]
fn a_key_has_the_sign_of_its_type() {
    use isomorph_zoo::{Build, Nodes, int64};
    let mut build = Build::default();
    build.nodes(Nodes::keyed("whole", Arc::new(arrow_array::UInt64Array::from(vec![7, u64::MAX]))));
    build.nodes(Nodes::keyed("signed", int64([-1, 3])));
    let (_, names) = of_memory(build).unwrap();
    let most = u64::MAX.to_string();
    assert_eq!([names.id(Some("whole"), &most).unwrap(), names.id(Some("signed"), "-1").unwrap()], [1, 2]);
    assert_eq!([names.id(None, &most).unwrap(), names.id(None, "-1").unwrap()], [1, 2]);
    for (ty, key) in [("whole", "-1"), ("signed", most.as_str())] {
        assert_eq!(names.id(Some(ty), key).unwrap_err().kind(), isomorph_error::Kind::NotFound, "{ty} {key}");
    }
}

#[test]
fn relations_that_read_as_one_number_are_two() {
    use isomorph_zoo::{Build, Edges, Nodes, int64};
    let mut build = Build::default();
    build.nodes(Nodes::keyed("n", int64([10, 11])));
    build.edges(Edges::rows(0, "1", 0, [(0, 1), (1, 0)]));
    build.edges(Edges::rows(0, "01", 0, [(1, 0)]));
    let (graph, names) = of_memory(build).unwrap();
    assert_eq!(names.edge_types(), ["1", "01"]);
    assert_eq!([0, 1].map(|ty| graph.edge_count(&TypeSet::of(&[ty]))), [2, 1]);
}

#[test]
fn a_type_that_is_none_is_an_error() {
    use isomorph_zoo::{Build, Nodes, int64};
    for ty in [-1, 70_000] {
        let mut build = Build::default();
        let types = arrow_array::Int32Array::from(vec![0, ty]);
        build.nodes(Nodes::keyed("n", int64([10, 11])).column("type", Arc::new(types)));
        let error = of_memory(build).map(|_| ()).unwrap_err();
        assert_eq!(error.message(), format!("{ty} is not a node type: types are numbers from 0 to 65535"));
        assert_eq!(error.place().row, Some(1));
    }
}

/// Formats with a row for each end of an edge write one for an end that is not a node: it is not a node here either.
#[test]
fn a_row_that_only_stands_for_an_end_is_no_node() {
    use isomorph_zoo::{Build, Edges, Nodes, int64};
    let types = arrow_array::Int32Array::from(vec![Some(1), Some(0), None]);
    let weights = arrow_array::Float32Array::from(vec![Some(1.0), Some(0.5), None]);
    let nodes = Nodes::keyed("n", int64([0, 1, 999]));
    let mut build = Build::default();
    build.nodes(nodes.column("type", Arc::new(types)).column("weight", Arc::new(weights)).implied());
    build.edges(Edges::rows(0, "0", 0, [(0, 2), (1, 0)]));
    build.describe().nodes[0].properties.iter_mut().for_each(|property| property.nullable = false);
    let (graph, _) = of_memory(build).unwrap();
    let graph = Arc::new(graph);
    assert_eq!((graph.nodes(), graph.edges()), (2, 2));
    for (choice, types, wanted) in [
        (Choice::Weighted, TypeSet::all(), [0, 1].as_slice()),
        (Choice::Uniform, TypeSet::all(), &[0, 1]),
        (Choice::WithoutReplacement, TypeSet::all(), &[0, 1]),
        (Choice::Uniform, TypeSet::of(&[0]), &[1]),
    ] {
        let mut sampler = NodeSampler::new(&graph, &types, choice, Generator::Stable).unwrap();
        let (mut ids, mut kinds) = (vec![0; 100], vec![0; 100]);
        let filled = sampler.sample(Draw::of(0), -1, &mut ids, &mut kinds).unwrap();
        let seen: std::collections::BTreeSet<i64> = ids[..filled].iter().copied().collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), wanted, "{choice:?} {types:?}");
    }
    let mut found = [0; 3];
    graph.types_of(&[0, 1, 999], -1, &mut found).unwrap();
    assert_eq!(found, [1, 0, -1]);
}

/// Parallel edges with several weights, and a node with several consecutive entries: in any stored order, one seed draws the
/// same.
#[test]
fn parallel_edges_and_entries_that_follow_each_other_are_drawn_as_from_the_text() {
    let edge = |source: u64, target: u64, weight: &str| {
        format!("{{\"src_id\":{source},\"dst_id\":{target},\"edge_type\":0,\"weight\":{weight}}}")
    };
    let line = |node: u64, edges: &[String]| {
        format!("{{\"node_id\":{node},\"node_type\":0,\"node_weight\":1,\"edge\":[{}]}}\n", edges.join(","))
    };
    let repeated = [line(1, &[edge(1, 10, "1")]), line(2, &[edge(2, 10, "1")]), line(1, &[edge(1, 5, "1")])].concat();
    let weights = ["2", "1", "0", "4", "0.5", "1"];
    let parallel: Vec<String> = weights.iter().map(|weight| edge(1, 2, weight)).chain([edge(1, 3, "1")]).collect();
    let parallel = [line(1, &parallel), line(2, &[edge(2, 2, "3"), edge(2, 3, "2"), edge(2, 3, "1")])].concat();
    let types = TypeSet::all();
    for text in [repeated, parallel] {
        let drawn = |graph: &Arc<Graph>| {
            let mut sampler = Sampler::new(graph, Generator::Stable, 1);
            let (ask, missing) = (Ask::new(&[1, 2], &types), Missing::default());
            let mut all = Vec::new();
            for seed in 0..20 {
                for how in 0..4 {
                    let count = if how == 3 { 9 } else { 4 };
                    let (mut ids, mut weights) = (vec![0; 2 * count], vec![0.0f32; 2 * count]);
                    let mut picks = Picks { weights: &mut weights, ..Picks::of_ids(&mut ids) };
                    match how {
                        0 => sampler.weighted(&ask, count, Draw::of(seed), &missing, &mut picks).unwrap(),
                        how => sampler.uniform(&ask, count, how == 1, Draw::of(seed), &missing, &mut picks).unwrap(),
                    }
                    all.push((ids, weights));
                }
                let mut walks = vec![0; 8];
                sampler.walk(&ask, 3, Bias { back: 1.0, away: 1.0 }, Draw::of(seed), -1, &mut walks).unwrap();
                all.push((walks, Vec::new()));
            }
            all
        };
        let built = Built::with(&text, "json", 1, None);
        let place = Location::from_path(&built.path.parent().unwrap().join("graph.json"));
        let source = DeepGnn::open(&place, &OpenOptions::default()).unwrap();
        let options = GraphOptions::new(&Budget::new(64 << 20), &Scratch::new(None).unwrap());
        let wanted = drawn(&Arc::new(Graph::of_source(&source, &options).unwrap().0));
        // An edge of weight 0 is not drawn by weight.
        assert!(wanted.iter().step_by(5).all(|(_, weights)| !weights.contains(&0.0)));
        assert_eq!(drawn(&opened(&built.path)), wanted);
        for partitions in [2, 3] {
            let built = Built::with(&text, "json", partitions, None);
            assert_eq!(drawn(&opened(&built.path)), wanted, "{partitions} partitions");
        }
    }
}

/// A relation without edges is a type, and a name takes precedence over a number.
#[test]
fn a_relation_without_edges_is_a_type() {
    use isomorph_zoo::{Build, Edges, Nodes, int64};
    for other in ["knows", "1"] {
        let mut build = Build::default();
        build.nodes(Nodes::keyed("n", int64([10, 11])));
        build.edges(Edges::rows(0, "0", 0, []));
        build.edges(Edges::rows(0, other, 0, [(0, 1)]));
        let (graph, found) = of_memory(build).unwrap();
        let count = |name: &str| {
            let number = found.edge_types().iter().position(|known| known == name);
            graph.edge_count(&TypeSet::of(&[number.unwrap() as i32]))
        };
        assert_eq!([count("0"), count(other)], [0, 1]);
    }
}
