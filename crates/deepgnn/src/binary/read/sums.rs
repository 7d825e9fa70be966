//! Comparing the counts and sums of the metadata with the nodes and edges of the partitions.

use isomorph_error::{Findings, Place};

use super::meta::{Meta, Types};
use crate::binary::layout::DUMMY;
use crate::block::{Edges, Nodes};
use crate::rules;

/// Counts and sums of the partitions by type. Blocks arrive partition by partition, so that only the sums of one are
/// held.
pub(crate) struct Sums<'a> {
    meta: &'a Meta,
    /// Index of the current partition.
    partition: usize,
    nodes: Of,
    edges: Of,
}

/// Nodes, or edges.
#[derive(Default)]
struct Of {
    /// Counts over all partitions.
    counts: Vec<u64>,
    /// For the current partition: number, sum of the weights, and sum of their magnitudes.
    sums: Vec<(u64, f64, f64)>,
}

impl Of {
    fn add(&mut self, ty: i32, weight: f64) {
        // Types that were read are from 0 to 65535.
        let ty = ty.unsigned_abs() as usize;
        if self.counts.len() <= ty {
            self.counts.resize(ty + 1, 0);
        }
        if self.sums.len() <= ty {
            self.sums.resize(ty + 1, (0, 0.0, 0.0));
        }
        self.counts[ty] += 1;
        let (count, sum, size) = &mut self.sums[ty];
        (*count, *sum, *size) = (*count + 1, *sum + weight, *size + weight.abs());
    }
}

impl<'a> Sums<'a> {
    pub fn new(meta: &'a Meta) -> Self {
        Sums { meta, partition: 0, nodes: Of::default(), edges: Of::default() }
    }

    /// Adds the nodes of a block of a partition.
    pub fn nodes(&mut self, partition: usize, nodes: &Nodes, findings: &mut Findings) {
        self.turn_to(partition, findings);
        nodes.types.iter().filter(|ty| **ty != DUMMY).for_each(|ty| self.nodes.add(*ty, 0.0));
    }

    /// Adds the edges of a block of a partition.
    pub fn edges(&mut self, partition: usize, edges: &Edges, findings: &mut Findings) {
        self.turn_to(partition, findings);
        edges.types.iter().zip(&edges.weights).for_each(|(ty, weight)| self.edges.add(*ty, *weight));
    }

    fn turn_to(&mut self, partition: usize, findings: &mut Findings) {
        if self.partition != partition {
            self.end_partition(findings);
            self.partition = partition;
        }
    }

    /// Compares the sums of the current partition.
    fn end_partition(&mut self, findings: &mut Findings) {
        let place = |name: &str| Place::field(format!("partitions.{}.{name}", self.partition));
        let stated = |types: &'a Types| types.weights.get(self.partition).map(Vec::as_slice).unwrap_or_default();
        for (ty, sum) in stated(&self.meta.node_types).iter().enumerate() {
            // Weights of nodes are not known from anywhere else, but without nodes the sum must be 0.
            if *sum != 0.0 && self.nodes.sums.get(ty).is_none_or(|(count, ..)| *count == 0) {
                let message = format!("the sum is {sum} for type {ty}, which has no nodes");
                findings.push(&rules::SUMS, message, place("node_weight"));
            }
        }
        for (ty, stated) in stated(&self.meta.edge_types).iter().enumerate() {
            let (count, sum, size) = self.edges.sums.get(ty).copied().unwrap_or_default();
            // Edges have 32 bits of each weight; the sum was computed before they were rounded.
            let slack = size * (f64::from(f32::EPSILON) + count as f64 * f64::EPSILON)
                + count as f64 * f64::from(f32::MIN_POSITIVE);
            if (sum - stated).abs() > slack {
                let message =
                    format!("the sum is {stated} for type {ty}, but its {count} edges have a total weight of {sum}");
                findings.push(&rules::SUMS, message, place("edge_weight"));
            }
        }
        self.nodes.sums.clear();
        self.edges.sums.clear();
    }

    /// Compares the rest: the sums of the last partition, and the counts of all.
    pub fn end(mut self, findings: &mut Findings) {
        self.end_partition(findings);
        let sides = [("node", &self.meta.node_types, &self.nodes), ("edge", &self.meta.edge_types, &self.edges)];
        for (what, types, found) in sides {
            let place = |field: String| Place::field(field);
            if found.counts.len() > types.number as usize {
                let message = format!(
                    "there are {} types of {what}s, but the largest type is {}",
                    types.number,
                    found.counts.len() - 1
                );
                findings.push(&rules::COUNTS, message, place(format!("{what}_type_count")));
            }
            for (ty, stated) in types.counts.iter().enumerate() {
                let count = found.counts.get(ty).copied().unwrap_or(0);
                if count != *stated {
                    let message =
                        format!("the count is {stated} {what}s of type {ty}, but the partitions have {count}");
                    findings.push(&rules::COUNTS, message, place(format!("{what}_count_per_type")));
                }
            }
        }
    }
}
