//! The metadata, formatted as by Python.

use std::fmt::Write;

use crate::binary::layout::VERSION;
use crate::number::python_text;

/// A sum of weights.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub sum: f64,
    /// Whether a weight was written as a float. Sums of integers, and empty sums, are integers.
    pub is_float: bool,
}

/// One value for each type.
#[derive(Debug, Clone, Default)]
pub(super) struct PerType<T>(pub Vec<T>);

impl<T: Default + Clone> PerType<T> {
    /// Returns the value of type `ty`.
    #[inline]
    pub fn at(&mut self, ty: usize) -> &mut T {
        if self.0.len() <= ty {
            self.0.resize(ty + 1, T::default());
        }
        &mut self.0[ty]
    }
}

/// The metadata of a partition.
#[derive(Debug, Clone, Default)]
pub(super) struct PartitionMeta {
    pub nodes: u64,
    pub edges: u64,
    pub node_features: u64,
    pub edge_features: u64,
    pub node_weights: PerType<Sum>,
    pub edge_weights: PerType<Sum>,
    pub node_counts: PerType<u64>,
    pub edge_counts: PerType<u64>,
}

/// Returns the numbers of node types and edge types.
pub(super) fn types(partitions: &[PartitionMeta]) -> (usize, usize) {
    let most = |of: fn(&PartitionMeta) -> usize| partitions.iter().map(of).max().unwrap_or_default();
    (most(|meta| meta.node_counts.0.len()), most(|meta| meta.edge_counts.0.len()))
}

/// Returns the text of `meta.json`.
pub(super) fn text(partitions: &[PartitionMeta], watermark: Option<i64>) -> String {
    let (node_types, edge_types) = types(partitions);
    let total = |of: fn(&PartitionMeta) -> u64| partitions.iter().map(of).sum::<u64>();
    let most = |of: fn(&PartitionMeta) -> u64| partitions.iter().map(of).max().unwrap_or_default();
    let mut out = format!(
        "{{\"binary_data_version\": \"{VERSION}\", \"node_count\": {}, \"edge_count\": {}, \"node_type_count\": {node_types}, \
         \"edge_type_count\": {edge_types}, \"node_feature_count\": {}, \"edge_feature_count\": {}, \"partitions\": {{",
        total(|meta| meta.nodes),
        total(|meta| meta.edges),
        most(|meta| meta.node_features),
        most(|meta| meta.edge_features),
    );
    for (number, meta) in partitions.iter().enumerate() {
        let separator = if number == 0 { "" } else { ", " };
        let (nodes, edges) = (sums(&meta.node_weights, node_types), sums(&meta.edge_weights, edge_types));
        // Writing to a string does not fail.
        let _ = write!(out, "{separator}\"{number}\": {{\"node_weight\": [{nodes}], \"edge_weight\": [{edges}]}}");
    }
    let counts = |of: fn(&PartitionMeta) -> &PerType<u64>, types: usize| {
        let count = |ty: usize| partitions.iter().filter_map(|meta| of(meta).0.get(ty)).sum::<u64>();
        (0..types).map(|ty| count(ty).to_string()).collect::<Vec<_>>().join(", ")
    };
    let _ = write!(
        out,
        "}}, \"node_count_per_type\": [{}], \"edge_count_per_type\": [{}], \"watermark\": {}}}",
        counts(|meta| &meta.node_counts, node_types),
        counts(|meta| &meta.edge_counts, edge_types),
        watermark.unwrap_or(-1),
    );
    out
}

fn sums(weights: &PerType<Sum>, types: usize) -> String {
    let text = |ty: usize| match weights.0.get(ty) {
        Some(sum) if sum.is_float => python_text(sum.sum),
        Some(sum) => format!("{:.0}", sum.sum),
        None => "0".to_owned(),
    };
    (0..types).map(text).collect::<Vec<_>>().join(", ")
}
