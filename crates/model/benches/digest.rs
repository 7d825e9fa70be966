//! The cost of a digest per row, compared with a plain pass over the same columns: `cargo bench -p isomorph-model`.
//!
//! It prints nanoseconds per row on one thread: the median of seven runs, and the best. A conversion reads and writes each
//! row too; the digest should take less than half of that.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray, UInt64Array};
use arrow_schema::DataType;
use isomorph_model::digest::ContentDigest;
use isomorph_model::{EdgeBatch, EdgeType, Ends, Graph, Key, NodeBatch, NodeType, Property};

const ROWS: usize = 65_536;

fn measure(what: &str, mut run: impl FnMut()) {
    let mut times: Vec<f64> = (0..7)
        .map(|_| {
            let start = Instant::now();
            (0..16).for_each(|_| run());
            start.elapsed().as_nanos() as f64 / (16 * ROWS) as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{what:<44} {:8.1} ns/row, best {:.1}", times[3], times[0]);
}

fn nodes(what: &str, key: Key, keys: ArrayRef, property: Property, cells: ArrayRef) {
    let mut ty = NodeType::new("n", key);
    ty.properties.push(property);
    let graph = Graph { nodes: vec![ty], ..Graph::default() };
    let batch = |cells| NodeBatch {
        ty: 0,
        start: 0,
        numbers: None,
        rows: ROWS,
        keys: Some(Arc::clone(&keys)),
        labels: None,
        properties: vec![cells],
    };
    let (bare, full) = (batch(None), batch(Some(cells)));
    let mut digest = ContentDigest::default();
    measure(&format!("{what}, key alone"), || {
        black_box(digest.nodes(&graph, &bare).unwrap());
    });
    measure(what, || {
        black_box(digest.nodes(&graph, &full).unwrap());
    });
}

fn main() {
    let numbers = || Int64Array::from_iter_values((0..ROWS as i64).map(|at| at.wrapping_mul(0x9e37_79b9)));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..ROWS).map(|at| format!("name of node {at}"))));
    let bags = (0..ROWS).map(|at| format!("{{\"minutes\":{at},\"title\":\"title {at}\",\"vegan\":true}}"));
    let bags: ArrayRef = Arc::new(StringArray::from_iter_values(bags));
    let ints: ArrayRef = Arc::new(numbers());

    measure("a plain sum of 64-bit integers", || {
        black_box(ints.as_primitive::<arrow_array::types::Int64Type>().values().iter().fold(0i64, |a, b| a ^ b));
    });
    let plain = |data_type: DataType| Property::new("p", data_type);
    nodes("nodes: int key, int", Key::int64(), Arc::clone(&ints), plain(DataType::Int64), Arc::clone(&ints));
    nodes("nodes: text key, text", Key::utf8(), Arc::clone(&names), plain(DataType::Utf8), Arc::clone(&names));
    nodes("nodes: text key, bag of three", Key::utf8(), Arc::clone(&names), Property::bag(), bags);

    let mut ty = EdgeType::new(0, "rel", 0);
    ty.properties.push(Property::new("w", DataType::Float64));
    let graph = Graph {
        nodes: vec![NodeType::new("row", Key::row()), NodeType::new("text", Key::utf8())],
        edges: vec![ty.clone(), EdgeType { source: 1, target: 1, ..ty }],
        ..Graph::default()
    };
    let rows = UInt64Array::from_iter_values((0..ROWS as u64).map(|at| at * 7919 % ROWS as u64));
    let weights: ArrayRef = Arc::new(Float64Array::from_iter_values((0..ROWS).map(|at| at as f64 / 8.0)));
    let edges = |ty, source, target, cells| EdgeBatch {
        ty,
        rows: ROWS,
        relations: None,
        source,
        target,
        layers: None,
        directed: None,
        keys: None,
        properties: vec![cells],
    };
    let mut digest = ContentDigest::default();
    let hashes: Vec<Vec<u128>> = vec![Vec::new(), (0..ROWS as u128).collect()];
    let ends = || Ends::Rows(rows.clone());
    for (what, batch) in [
        ("edges: rows without a key", edges(0, ends(), ends(), None)),
        ("edges: rows without a key, a float", edges(0, ends(), ends(), Some(Arc::clone(&weights)))),
        ("edges: rows of a keyed type", edges(1, ends(), ends(), None)),
        ("edges: text keys", edges(1, Ends::Keys(Arc::clone(&names)), Ends::Keys(Arc::clone(&names)), None)),
    ] {
        measure(what, || digest.edges(&graph, &batch, &hashes).unwrap());
    }
}
