//! Graphs in the shape of DeepGNN's texts: ids, types and relations as numbers, features of every kind.

use std::path::Path;

use isomorph_convert::{OpenOptions, Opened};
use isomorph_model::{MemoryGraph, Request, Tables};
use isomorph_storage::Location;
use proptest::prelude::*;

/// Two types of nodes, three of edges, features of all kinds, missing features, parallel edges, loops, 64-bit ids.
const EVERYTHING: &str = "\
-1 7 0 1.5 float32 3 0.5 -0.0 nan uint64 2 18446744073709551615 0 binary_feature 1 seven int32 2 5 -2 uint16 3,2,3 0 1 2 3 4 5 7 8 9 7 9 0 0.1 float64 1 3.5 7 9 0 0.2 7 18446744073709551615 10 1.0 uint8 0 binary_feature 1 edge
-1 9 1 0.0 uint8 0 uint8 0 binary_feature 1 \u{3b2},\"x\" uint8 0 uint8 0 int8 3 -128 0 127 9 7 2 0.3 uint8 0 uint8 0 int64 2,2 5 9 -1 1 9 9 2 1e-3
-1 18446744073709551615 0 2.0 float32 1 1e30
";

/// Times of nodes and edges, some of which edges inherit from their nodes, and values of several types under one id.
const TIMES: &str = r#"
{"node_id": 3, "node_type": 0, "node_weight": 0.25, "created_at": 2, "removed_at": 90, "float_feature": {"0": [1, 2]}, "edge": [{"src_id": 3, "dst_id": 8, "edge_type": 1, "weight": 1}, {"src_id": 3, "dst_id": 3, "edge_type": 1, "weight": 2, "created_at": 4, "removed_at": 9, "int64_feature": {"0": [7]}}]}
{"node_id": 8, "node_type": 1, "node_weight": 1, "binary_feature": {"0": "ab"}, "sparse_int8_feature": {"1": {"coordinates": [[1, 2]], "values": [3]}}, "edge": [{"src_id": 8, "dst_id": 3, "edge_type": 0, "weight": 1, "created_at": 5, "binary_feature": {"0": "x"}}]}
{"node_id": 9, "node_type": 1, "node_weight": 1, "created_at": -4, "float_feature": {"0": [4]}, "edge": []}
"#;

/// The graphs that are tested in every run.
pub fn cases() -> Vec<(String, MemoryGraph)> {
    let all =
        [("numbers and features", EVERYTHING), ("numbers alone", "-1 1 0 1.0 1 1 0 1.0\n"), ("a text of nothing", "")];
    let all = all.into_iter().map(|(name, text)| (name, graph_of(text, "graph.linear")));
    let times = ("times and several types", graph_of(TIMES.trim_start(), "graph.json"));
    all.chain([times]).map(|(name, graph)| (name.to_owned(), graph)).collect()
}

/// The graph of a text of this name.
fn graph_of(text: &str, name: &str) -> MemoryGraph {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(name);
    std::fs::write(&path, text).unwrap();
    graph_at(&path)
}

fn graph_at(path: &Path) -> MemoryGraph {
    let opened = Opened::open(&Location::from_path(path), &OpenOptions::default()).unwrap();
    let mut memory = MemoryGraph { graph: opened.graph.graph().clone(), batches: Vec::new() };
    for mut part in opened.graph.scan(&Request::of(Tables::All)).unwrap() {
        part.read(&mut |batch| {
            memory.batches.push(batch);
            Ok(())
        })
        .unwrap();
    }
    memory
}

/// A feature of one of eight kinds as text, or a missing one.
fn feature(kind: usize) -> BoxedStrategy<String> {
    fn numbers<T: ToString + std::fmt::Debug + 'static>(
        name: &'static str,
        values: impl Strategy<Value = T> + 'static,
    ) -> BoxedStrategy<String> {
        let words = |list: Vec<T>| list.iter().map(T::to_string).collect::<Vec<_>>();
        let list = prop::collection::vec(values, 1..4);
        list.prop_map(move |list| format!("{name} {} {}", list.len(), words(list).join(" "))).boxed()
    }
    let value = match kind {
        0 => numbers("float32", any::<f32>()),
        1 => numbers("float64", any::<f64>()),
        2 => numbers("int64", any::<i64>()),
        3 => numbers("uint64", any::<u64>()),
        4 => numbers("int8", any::<i8>()),
        5 => numbers("float16", (-64i8..64).prop_map(|value| f32::from(value) / 8.0)),
        6 => "[a-z\u{e0}-\u{ff}\"\\\\,:;|]{1,6}".prop_map(|text| format!("binary_feature 1 {text}")).boxed(),
        _ => prop::collection::vec((0u8..9, any::<i16>()), 2..4)
            .prop_map(|points| {
                let at: Vec<String> = points.iter().map(|(at, _)| at.to_string()).collect();
                let values: Vec<String> = points.iter().map(|(_, value)| value.to_string()).collect();
                format!("int16 {0},{0} {1} {2}", points.len(), at.join(" "), values.join(" "))
            })
            .boxed(),
    };
    prop_oneof![1 => Just("uint8 0".to_owned()), 3 => value].boxed()
}

/// Up to two features of these kinds, and occasionally of another.
fn features(kinds: [usize; 2]) -> BoxedStrategy<String> {
    let one = |kind: usize| prop_oneof![5 => feature(kind), 1 => (0usize..8).prop_flat_map(feature)];
    let both = (one(kinds[0]), one(kinds[1]), 0usize..3);
    both.prop_map(|(first, second, count)| [first, second][..count.min(2)].join(" ")).boxed()
}

/// Graphs of such texts, whose edges end at nodes.
pub fn graphs() -> BoxedStrategy<MemoryGraph> {
    let kinds = || [0usize..8, 0usize..8];
    let text = (kinds(), kinds()).prop_flat_map(|(of_nodes, of_edges)| {
        let ids = prop::collection::btree_set(prop_oneof![0u64..20, any::<u64>()], 1..6);
        let nodes = prop::collection::vec((0u8..3, 0u8..4, features(of_nodes)), 6);
        let ends = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
        let edges = prop::collection::vec((ends, 0u8..3, 0u8..9, features(of_edges)), 0..8);
        (ids, nodes, edges)
    });
    let graph = text.prop_map(|(ids, nodes, edges)| {
        let ids: Vec<u64> = ids.into_iter().collect();
        let mut lines = String::new();
        for (id, (ty, weight, features)) in ids.iter().zip(nodes) {
            lines.push_str(&format!("-1 {id} {ty} {weight} {features}\n"));
        }
        for ((from, to), ty, weight, features) in edges {
            lines.push_str(&format!("{} {} {ty} {weight} {features}\n", from.get(&ids), to.get(&ids)));
        }
        graph_of(&lines, "graph.linear")
    });
    graph.boxed()
}
