//! Graphs and resources of the tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_algorithms::{Job, NodeValues, Order};
use isomorph_model::{Progress, Source};
use isomorph_storage::{Budget, Resources, Scratch};
use isomorph_zoo::{Build, Edges, Nodes};

/// Tells nobody.
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _: &str, _: Option<u64>) {}

    fn advance(&self, _: u64) -> isomorph_error::Result<()> {
        Ok(())
    }

    fn end(&self) {}
}

pub fn resources(memory: u64, threads: usize) -> Resources {
    Resources { threads, budget: Budget::new(memory), scratch: Scratch::new(None).unwrap() }
}

pub fn job(resources: &Resources) -> Job<'_> {
    Job { resources, relations: None, progress: &Quiet }
}

/// An edge: ends, whether it is directed, and its weight.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub source: i64,
    pub target: i64,
    pub directed: bool,
    pub weight: f64,
}

/// A graph with integer keys, whose edges name ends by key or by row; keys that are no nodes stay keys.
pub fn graph(nodes: &[i64], edges: &[Edge], by_row: bool) -> Arc<dyn Source> {
    let mut build = Build::default();
    let ty = build.nodes(Nodes::keyed("v", Arc::new(Int64Array::from(nodes.to_vec()))));
    let row = |key: i64| nodes.iter().position(|node| *node == key).map_or(u64::from(u32::MAX), |row| row as u64);
    let column = |of: fn(&Edge) -> i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values(edges.iter().map(of))) };
    let made = match by_row {
        true => Edges::rows(ty, "e", ty, edges.iter().map(|edge| (row(edge.source), row(edge.target)))),
        false => Edges::keys(ty, "e", ty, column(|edge| edge.source), column(|edge| edge.target)),
    };
    let directed: Vec<Option<bool>> = edges.iter().map(|edge| Some(edge.directed)).collect();
    let weights: ArrayRef = Arc::new(Float64Array::from_iter_values(edges.iter().map(|edge| edge.weight)));
    build.edges(made.directed(&directed).column("weight", weights));
    Arc::new(build.finish())
}

/// The values of nodes by key.
pub fn values(of: &NodeValues, order: Order) -> Vec<(String, Option<f64>)> {
    let batches: Vec<RecordBatch> = of.rows(order, None).unwrap().collect::<Result<_, _>>().unwrap();
    let mut all = Vec::new();
    for batch in batches {
        let keys = texts(batch.column(1));
        let last = batch.column(batch.num_columns() - 1);
        let numbers: Vec<Option<f64>> = match last.data_type() {
            DataType::Float64 => last.as_primitive::<Float64Type>().iter().collect(),
            DataType::UInt32 => last.as_primitive::<UInt32Type>().iter().map(|n| n.map(f64::from)).collect(),
            _ => texts(last).iter().map(|text| text.as_ref().and_then(|text| text.parse().ok())).collect(),
        };
        all.extend(keys.into_iter().map(Option::unwrap).zip(numbers));
    }
    all
}

pub fn by_key(of: &NodeValues) -> BTreeMap<i64, Option<f64>> {
    values(of, Order::Nodes).into_iter().map(|(key, value)| (key.parse().unwrap(), value)).collect()
}

pub fn texts(column: &ArrayRef) -> Vec<Option<String>> {
    let column = cast(column, &DataType::Utf8).unwrap();
    let column: &StringArray = column.as_string();
    (0..column.len()).map(|row| column.is_valid(row).then(|| column.value(row).to_owned())).collect()
}

/// Numbers that look random.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most.max(1)
    }
}
