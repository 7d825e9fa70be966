//! Generates graphs for property tests.

use arrow_array::ArrayRef;
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::arrays::*;
use super::build::{Build, Edges, Nodes};
use super::bundled::{BundledEdge, BundledNode, bundled};
use isomorph_model::{Cardinality, Direction, MemoryGraph, Property};

/// Text with unusual content.
pub fn awkward_text() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec!["", " ", "null", "NaN", "1", "{}", "a,b", "a/b", "\"", "\\", "é", "😀", "\n", "\0", "true"])
            .prop_map(str::to_owned),
        "[a-c]{1,3}",
        any::<String>(),
    ]
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, 0.1]), any::<f64>()]
}

/// A column of `rows` cells, of a type that every typed format has. Boxed, because a graph has many columns and the stacks
/// of tests are small.
fn column(name: &'static str, rows: usize) -> BoxedStrategy<(Property, ArrayRef)> {
    let plain = move |cells: ArrayRef| (Property::new(name, cells.data_type().clone()), cells);
    let texts = move || vec(option::of(awkward_text()), rows);
    let lists = vec(option::of(vec(option::of(-2i64..3), 0..4)), rows);
    let sets = vec(option::of(vec(awkward_text(), 0..4)), rows);
    prop_oneof![
        vec(option::of(any::<bool>()), rows).prop_map(bools).prop_map(plain),
        vec(option::of(any::<i32>()), rows).prop_map(int32).prop_map(plain),
        vec(option::of(prop_oneof![-3i64..3, any::<i64>()]), rows).prop_map(int64).prop_map(plain),
        vec(option::of(float().prop_map(|value| value as f32)), rows).prop_map(float32).prop_map(plain),
        vec(option::of(float()), rows).prop_map(float64).prop_map(plain),
        texts().prop_map(|cells| text(cells.iter().map(Option::as_deref))).prop_map(plain),
        vec(option::of(-719_162..2_932_896i32), rows).prop_map(dates).prop_map(plain),
        vec(option::of(-62_135_596_800_000..253_402_300_799_999i64), rows).prop_map(millis).prop_map(plain),
        lists
            .prop_map(|cells| {
                let lengths: Vec<Option<usize>> = cells.iter().map(|list| list.as_ref().map(Vec::len)).collect();
                super::lists(int64(cells.into_iter().flatten().flatten()), &lengths)
            })
            .prop_map(plain),
        sets.prop_map(move |cells| {
            let lengths: Vec<Option<usize>> = cells.iter().map(|list| list.as_ref().map(Vec::len)).collect();
            let items = super::lists(text(cells.iter().flatten().flatten().map(String::as_str)), &lengths);
            (Property::new(name, items.data_type().clone()).with_cardinality(Cardinality::Set), items)
        }),
    ]
    .boxed()
}

fn some_columns(rows: usize) -> impl Strategy<Value = Vec<(Property, ArrayRef)>> {
    (option::of(column("p", rows)), option::of(column("q", rows)), option::of(column("a b,ü", rows)))
        .prop_map(|(p, q, r)| [p, q, r].into_iter().flatten().collect())
}

/// Nodes of a type, and their number.
fn nodes(name: &'static str) -> impl Strategy<Value = (Nodes, usize)> {
    let keys = prop_oneof![
        btree_set(prop_oneof![-3i64..3, any::<i64>()], 0..8).prop_map(|keys| (keys.len(), Some(int64(keys)))),
        btree_set(awkward_text(), 0..8).prop_map(|keys| (keys.len(), Some(text(keys.iter().map(String::as_str))))),
        (0usize..8).prop_map(|rows| (rows, None)),
    ];
    let labels = |rows| option::of(vec(btree_set(select(vec!["A", "B", "ü", "node"]), 0..3), rows));
    keys.prop_flat_map(move |(rows, keys)| (Just((rows, keys)), some_columns(rows), labels(rows), any::<bool>()))
        .prop_map(move |((rows, keys), columns, labels, ordered)| {
            let mut nodes = keys.map_or_else(|| Nodes::rows(name, rows), |keys| Nodes::keyed(name, keys));
            if let Some(labels) = labels {
                let labels: Vec<Vec<&str>> = labels.into_iter().map(|set| set.into_iter().collect()).collect();
                nodes = nodes.labels(&labels.iter().map(Vec::as_slice).collect::<Vec<_>>());
            }
            nodes = if ordered { nodes.ordered() } else { nodes };
            (columns.into_iter().fold(nodes, |nodes, (property, cells)| nodes.property(property, cells)), rows)
        })
}

/// Pairs of rows that are connected, directions, columns.
type SomeEdges = (Vec<(u64, u64)>, Direction, Vec<Option<bool>>, Vec<(Property, ArrayRef)>);

fn edges(source: usize, target: usize) -> impl Strategy<Value = SomeEdges> {
    let count = if source == 0 || target == 0 { 0..1 } else { 0..10usize };
    let (source, target) = (source.max(1) as u64, target.max(1) as u64);
    let directions = select(vec![Direction::Directed, Direction::Undirected, Direction::PerRow]);
    (vec((0..source, 0..target), count), directions).prop_flat_map(|(ends, direction)| {
        let rows = ends.len();
        (Just(ends), Just(direction), vec(option::of(any::<bool>()), rows), some_columns(rows))
    })
}

/// A property graph in the typed shape: two node types, edges within the first and between both.
pub fn property_graph() -> impl Strategy<Value = MemoryGraph> {
    (nodes("n"), nodes("m"))
        .prop_flat_map(|(n, m)| {
            let counts = (n.1, m.1);
            (Just(n.0), Just(m.0), edges(counts.0, counts.0), edges(counts.0, counts.1))
        })
        .prop_map(|(n, m, within, between)| {
            let mut build = Build::default();
            let (n, m) = (build.nodes(n), build.nodes(m));
            for (target, (ends, direction, directed, columns)) in [(n, within), (m, between)] {
                let edges = Edges::rows(n, "rel", target, ends);
                let edges = match direction {
                    Direction::Directed => edges,
                    Direction::Undirected => edges.undirected(),
                    Direction::PerRow => edges.directed(&directed),
                };
                build
                    .edges(columns.into_iter().fold(edges, |edges, (property, cells)| edges.property(property, cells)));
            }
            build.finish()
        })
}

/// A JSON value, as text.
pub fn json_value() -> impl Strategy<Value = String> {
    let quoted = awkward_text().prop_map(|text| serde_json::Value::String(text).to_string());
    let scalar = prop_oneof![
        select(vec!["null", "true", "false", "0", "1", "1.0", "-0.0", "1e3", "18446744073709551616", "1e400", "\"1\""])
            .prop_map(str::to_owned),
        any::<i64>().prop_map(|value| value.to_string()),
        any::<f64>()
            .prop_filter("JSON has no number for it", |value| value.is_finite())
            .prop_map(|value| format!("{value:?}")),
        quoted,
    ];
    scalar.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            vec((awkward_text(), inner), 0..4).prop_map(|members| object(&members)),
        ]
    })
}

fn object(members: &[(String, String)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("{}:{value}", serde_json::Value::String(name.clone()))).collect();
    format!("{{{}}}", members.join(","))
}

fn bag() -> impl Strategy<Value = String> {
    let name = prop_oneof![select(vec!["a", "b", "truth", "directed"]).prop_map(str::to_owned), awkward_text()];
    prop_oneof![Just(String::new()), vec((name, json_value()), 0..4).prop_map(|members| object(&members))]
}

fn truth() -> impl Strategy<Value = f32> {
    select(vec![1.0, 1.0, 0.0, 0.1, 0.5])
}

/// A property graph in the bundled shape.
pub fn bundled_graph() -> impl Strategy<Value = MemoryGraph> {
    let name = awkward_text().prop_filter("names are never empty", |name| !name.is_empty());
    let labels = || btree_set(select(vec!["A", "B", "ü", "a b"]), 0..3);
    btree_set(name, 1..8)
        .prop_flat_map(move |names| {
            let count = names.len();
            let nodes = vec((labels(), truth(), bag()), count);
            let relation = select(vec!["", "r", "r s", "é"]);
            (Just(names), nodes, vec((0..count, relation, 0..count, truth(), bag()), 0..10))
        })
        .prop_map(|(names, nodes, edges)| {
            let names: Vec<String> = names.into_iter().collect();
            let labels: Vec<Vec<&str>> = nodes.iter().map(|(labels, _, _)| labels.iter().copied().collect()).collect();
            let nodes: Vec<BundledNode<'_>> = names
                .iter()
                .zip(&nodes)
                .zip(&labels)
                .map(|((name, (_, truth, bag)), labels)| (name.as_str(), labels.as_slice(), *truth, bag.as_str()))
                .collect();
            let edges: Vec<BundledEdge<'_>> = edges
                .iter()
                .map(|(from, relation, to, truth, bag)| {
                    (names[*from].as_str(), *relation, names[*to].as_str(), *truth, bag.as_str())
                })
                .collect();
            bundled(&nodes, &edges)
        })
}
