//! The published engine's answers on the graphs that it wrote itself, request by request.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use common::{each_fixture, floats, ids, opened, rows, types};
use isomorph_sampling::{
    Ask, Bias, Choice, Dense, Draw, EdgeSampler, Edges, Generator, Missing, NeighborLists, NodeSampler, Picks, Push,
    Sampler, Sparse, Strings, TypeSet,
};
use serde_json::Value;

/// The parameters of the fixtures' requests.
const MISSING: Missing = Missing { node: -1, weight: -2.0, ty: -3, created: -1 };

#[test]
fn nodes_and_neighbours_are_those_of_the_published_engine() {
    each_fixture(|name, place, expected| {
        let graph = opened(place);
        assert_eq!(graph.nodes(), expected["counts"]["nodes_all"].as_u64().unwrap(), "{name}");
        assert_eq!(graph.edges(), expected["counts"]["edges_all"].as_u64().unwrap(), "{name}");
        for (ty, count) in expected["counts"]["edges_per_type"].as_array().unwrap().iter().enumerate() {
            assert_eq!(graph.edge_count(&TypeSet::of(&[ty as i32, ty as i32, 99])), count.as_u64().unwrap());
        }
        let nodes = [ids(&expected["known_ids"]), ids(&expected["missing_ids"])].concat();
        let mut sampler = Sampler::new(&graph, Generator::Compat, 1);
        for default in [-1, -7] {
            let mut found = vec![0; nodes.len()];
            graph.types_of(&nodes, default, &mut found).unwrap();
            assert_eq!(found, types(&expected[format!("node_types_default_{default}")]), "{name}");
        }
        let mut lists = NeighborLists::default();
        sampler.neighbors(&Ask::new(&nodes, &TypeSet::all()), &mut lists).unwrap();
        let mut at = 0;
        for (node, wanted) in nodes.iter().zip(expected["neighbors_all_types"].as_array().unwrap()) {
            let end = at + ids(&wanted["dst"]).len();
            assert_eq!(lists.ids[at..end], ids(&wanted["dst"]), "{name}: {node}");
            assert_eq!(lists.weights[at..end], floats(&wanted["w"]), "{name}: {node}");
            assert_eq!(lists.types[at..end], types(&wanted["t"]), "{name}: {node}");
            at = end;
        }
        assert_eq!(at, lists.ids.len());
        for (asked, wanted) in expected["neighbor_counts"].as_object().unwrap() {
            let types = asked.parse().map_or(TypeSet::all(), |ty| TypeSet::of(&[ty]));
            let mut counts = vec![0; nodes.len()];
            sampler.neighbor_counts(&Ask::new(&nodes, &types), &mut counts).unwrap();
            let wanted: Vec<u64> = ids(wanted).iter().map(|count| *count as u64).collect();
            assert_eq!(counts, wanted, "{name}: {asked}");
        }
    });
}

#[test]
fn features_are_those_of_the_published_engine() {
    each_fixture(|name, place, expected| {
        let graph = opened(place);
        let sampler = Sampler::new(&graph, Generator::Compat, 2);
        let nodes = [ids(&expected["known_ids"]), ids(&expected["missing_ids"])].concat();
        let wanted = expected["node_features_raw_hex"].as_array().unwrap();
        let count = wanted.first().map_or(0, |row| row.as_array().unwrap().len());
        let all: Vec<u32> = (0..count as u32).collect();
        let mut strings = Strings::default();
        sampler.node_strings(&nodes, &all, None, &mut strings).unwrap();
        assert_eq!(hex(&strings), wanted.iter().flat_map(hexes).collect::<Vec<_>>(), "{name}");

        let ends = rows(&expected["edges"]);
        let column = |at: usize| ends.iter().map(|edge| edge[at]).collect::<Vec<i64>>();
        let (sources, targets) = (column(0), column(1));
        let edge_types: Vec<i32> = column(2).iter().map(|ty| *ty as i32).collect();
        let edges = Edges { sources: &sources, targets: &targets, types: &edge_types };
        let wanted = expected["edge_features_raw_hex"].as_array().unwrap();
        let count = wanted.first().map_or(0, |row| row.as_array().unwrap().len());
        let all: Vec<u32> = (0..count as u32).collect();
        sampler.edge_strings(edges, &all, None, &mut strings).unwrap();
        assert_eq!(hex(&strings), wanted.iter().flat_map(hexes).collect::<Vec<_>>(), "{name}");

        for query in expected["typed_node_queries"].as_array().unwrap() {
            let asked = Typed::of(query);
            match asked.kind.as_str() {
                "dense" => {
                    let mut out = vec![1; nodes.len() * asked.width()];
                    sampler.node_features(&nodes, &asked.dense(), None, &mut out).unwrap();
                    assert_eq!(asked.numbers(&out), flat(&query["values"]), "{name}: {query}");
                }
                "string" => {
                    sampler.node_strings(&nodes, &asked.ids(), None, &mut strings).unwrap();
                    assert_eq!(strings.bytes, query["values"].as_str().unwrap().as_bytes(), "{name}");
                    assert_eq!(
                        strings.lengths.iter().map(|length| *length as f64).collect::<Vec<_>>(),
                        flat(&query["dims"])
                    );
                }
                _ => {
                    let mut out = vec![Sparse::default(); asked.features.len()];
                    sampler.node_sparse(&nodes, &asked.ids(), None, &mut out).unwrap();
                    compare_sparse(&asked, query, &out);
                }
            }
        }
        for query in expected["typed_edge_queries"].as_array().unwrap() {
            let asked = Typed::of(query);
            let own = query.get("edges").map(rows);
            let ends = own.as_ref().unwrap_or(&ends);
            let column = |at: usize| ends.iter().map(|edge| edge[at]).collect::<Vec<i64>>();
            let (sources, targets) = (column(0), column(1));
            let edge_types: Vec<i32> = column(2).iter().map(|ty| *ty as i32).collect();
            let edges = Edges { sources: &sources, targets: &targets, types: &edge_types };
            match asked.kind.as_str() {
                "dense" => {
                    let mut out = vec![1; sources.len() * asked.width()];
                    sampler.edge_features(edges, &asked.dense(), None, &mut out).unwrap();
                    assert_eq!(asked.numbers(&out), flat(&query["values"]), "{name}: {query}");
                }
                "string" => {
                    sampler.edge_strings(edges, &asked.ids(), None, &mut strings).unwrap();
                    assert_eq!(strings.bytes, query["values"].as_str().unwrap().as_bytes(), "{name}");
                }
                _ => {
                    let mut out = vec![Sparse::default(); asked.features.len()];
                    sampler.edge_sparse(edges, &asked.ids(), None, &mut out).unwrap();
                    compare_sparse(&asked, query, &out);
                }
            }
        }
    });
}

#[test]
fn seeds_give_what_they_give_in_the_published_engine() {
    each_fixture(|name, place, expected| {
        let graph = opened(place);
        let mut sampler = Sampler::new(&graph, Generator::Compat, 1);
        let nodes = ids(&expected["seeded"]["ids"]);
        let (all, zero) = (TypeSet::all(), TypeSet::of(&[0]));
        for (seed, wanted) in expected["seeded"].as_object().unwrap() {
            let Some(number) = seed.strip_prefix("seed_") else { continue };
            let draw = Draw::of(number.parse::<i64>().unwrap() as u64);
            for (question, types, count) in [
                ("weighted_all_types_count5", &all, 5),
                ("weighted_type0_count5", &zero, 5),
                ("uniform_all_types_count5", &all, 5),
                ("uniform_noreplace_all_types_count3", &all, 3),
            ] {
                let room = nodes.len() * count;
                let (mut ids, mut weights, mut kinds) = (vec![0; room], vec![0.0; room], vec![0; room]);
                let mut picks =
                    Picks { ids: &mut ids, weights: &mut weights, types: &mut kinds, created: &mut [], exact: &mut [] };
                let ask = Ask::new(&nodes, types);
                match question.starts_with("weighted") {
                    true => sampler.weighted(&ask, count, draw, &MISSING, &mut picks).unwrap(),
                    false => {
                        let replacement = !question.contains("noreplace");
                        sampler.uniform(&ask, count, replacement, draw, &MISSING, &mut picks).unwrap();
                    }
                }
                let wanted = wanted[question].as_array().unwrap();
                assert_eq!(ids, flat_ids(&wanted[0]), "{name} {seed} {question}");
                let type_column = if wanted.len() == 3 {
                    assert_eq!(weights, floats_of(&wanted[1]), "{name} {seed} {question}");
                    &wanted[2]
                } else {
                    &wanted[1]
                };
                let kinds: Vec<i64> = kinds.iter().map(|ty| i64::from(*ty)).collect();
                assert_eq!(kinds, flat_ids(type_column), "{name} {seed} {question}");
            }
            for (question, bias) in
                [("walk_p1_q1_len4", Bias::default()), ("walk_p0.25_q4_len4", Bias { back: 0.25, away: 4.0 })]
            {
                let mut out = vec![0; nodes.len() * 5];
                sampler.walk(&Ask::new(&nodes, &all), 4, bias, draw, -1, &mut out).unwrap();
                assert_eq!(out, flat_ids(&wanted[question]), "{name} {seed} {question}");
            }
            let last = TypeSet::of(&[graph.node_type_count() as i32 - 1]);
            for (question, types) in [("node_sampler_weighted_12", &all), ("node_sampler_weighted_type_last_12", &last)]
            {
                let mut nodes = NodeSampler::new(&graph, types, Choice::Weighted, Generator::Compat).unwrap();
                let (mut found, mut kinds) = ([0; 12], [0; 12]);
                assert_eq!(nodes.sample(draw, -1, &mut found, &mut kinds).unwrap(), 12);
                assert_eq!(found[..], ids(&wanted[question][0]), "{name} {seed} {question}");
                assert_eq!(kinds[..], types_of(&wanted[question][1]), "{name} {seed} {question}");
            }
            let mut edges = EdgeSampler::new(&graph, &all, Choice::Weighted, Generator::Compat).unwrap();
            let (mut sources, mut targets, mut kinds) = ([0; 12], [0; 12], [0; 12]);
            edges.sample(draw, -1, &mut sources, &mut targets, &mut kinds).unwrap();
            let wanted = &wanted["edge_sampler_weighted_12"];
            assert_eq!(sources[..], ids(&wanted[0]), "{name} {seed} edges");
            assert_eq!(targets[..], ids(&wanted[1]), "{name} {seed} edges");
            assert_eq!(kinds[..], types_of(&wanted[2]), "{name} {seed} edges");
        }
    });
}

#[test]
fn ranks_are_those_of_the_published_engine() {
    each_fixture(|name, place, expected| {
        let graph = opened(place);
        let mut sampler = Sampler::new(&graph, Generator::Stable, 1);
        let nodes = [ids(&expected["known_ids"]), ids(&expected["missing_ids"])].concat();
        let (mut found, mut ranks) = (vec![0; nodes.len() * 3], vec![0.0; nodes.len() * 3]);
        let mut picks =
            Picks { ids: &mut found, weights: &mut ranks, types: &mut [], created: &mut [], exact: &mut [] };
        sampler.pagerank(&Ask::new(&nodes, &TypeSet::all()), 3, Push::default(), &MISSING, &mut picks).unwrap();
        let wanted = floats_of(&expected["ppr_count3_alpha.5_eps1e-4"]["weights"]);
        for (rank, wanted) in ranks.iter().zip(&wanted) {
            // Pushing in another order stops at other nodes; the difference is below the smallest share that is pushed on.
            assert!((rank - wanted).abs() <= 1e-3, "{name}: {ranks:?} {wanted:?}");
        }
    });
}

fn types_of(value: &Value) -> Vec<i32> {
    types(value)
}

fn flat_ids(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().flat_map(ids).collect()
}

fn floats_of(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().flat_map(floats).collect()
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn hex(strings: &Strings) -> Vec<String> {
    let mut at = 0;
    let texts = strings.lengths.iter().map(|length| {
        let bytes = &strings.bytes[at..at + *length as usize];
        at += *length as usize;
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    });
    texts.collect()
}

fn hexes(row: &Value) -> Vec<String> {
    row.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A request of the fixtures for features of a type.
struct Typed {
    kind: String,
    features: Vec<Value>,
    dtype: String,
}

impl Typed {
    fn of(query: &Value) -> Typed {
        let features = query["features"].as_array().unwrap().clone();
        let text = |key: &str| query.get(key).and_then(Value::as_str).unwrap_or("uint8").to_owned();
        Typed { kind: text("kind"), features, dtype: text("dtype") }
    }

    fn size(&self) -> usize {
        let bits: String = self.dtype.chars().filter(char::is_ascii_digit).collect();
        bits.parse::<usize>().unwrap() / 8
    }

    fn dense(&self) -> Vec<Dense> {
        let feature = |pair: &Value| Dense {
            id: pair[0].as_u64().unwrap() as u32,
            bytes: pair[1].as_u64().unwrap() as usize * self.size(),
        };
        self.features.iter().map(feature).collect()
    }

    fn width(&self) -> usize {
        self.dense().iter().map(|feature| feature.bytes).sum()
    }

    fn ids(&self) -> Vec<u32> {
        self.features.iter().map(|id| id.as_u64().unwrap() as u32).collect()
    }

    fn numbers(&self, bytes: &[u8]) -> Vec<f64> {
        let each = bytes.chunks_exact(self.size());
        match self.dtype.as_str() {
            "float32" => each.map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect(),
            "float64" => each.map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
            "float16" => each.map(|b| half(u16::from_le_bytes(b.try_into().unwrap()))).collect(),
            "int8" => each.map(|b| f64::from(b[0] as i8)).collect(),
            "uint8" => each.map(|b| f64::from(b[0])).collect(),
            "int64" => each.map(|b| i64::from_le_bytes(b.try_into().unwrap()) as f64).collect(),
            "uint64" => each.map(|b| u64::from_le_bytes(b.try_into().unwrap()) as f64).collect(),
            "int32" => each.map(|b| f64::from(i32::from_le_bytes(b.try_into().unwrap()))).collect(),
            "uint16" => each.map(|b| f64::from(u16::from_le_bytes(b.try_into().unwrap()))).collect(),
            other => panic!("{other}"),
        }
    }
}

/// Converts a float of 16 bits, without infinities.
fn half(bits: u16) -> f64 {
    let (sign, exponent, part) = (bits >> 15, i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let value =
        if exponent == 0 { part / 1024.0 * 2f64.powi(-14) } else { (1.0 + part / 1024.0) * 2f64.powi(exponent - 15) };
    if sign == 1 { -value } else { value }
}

fn compare_sparse(asked: &Typed, query: &Value, out: &[Sparse]) {
    for (at, sparse) in out.iter().enumerate() {
        assert_eq!(sparse.indices.iter().map(|number| *number as f64).collect::<Vec<_>>(), flat(&query["indices"][at]));
        assert_eq!(asked.numbers(&sparse.values), flat(&query["values"][at]));
        assert_eq!(u64::from(sparse.dimensions), query["dims"][at].as_u64().unwrap());
    }
}
