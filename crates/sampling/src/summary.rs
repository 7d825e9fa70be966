//! The summary of a graph, with the content of a binary's metadata.

use crate::graph::{Drawing, Graph};
use crate::partition::{DUMMY, mass, type_of};
use crate::source::Names;

/// The summary of a graph. Lists of types have one entry for each type, lists of partitions one for each partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of nodes, without entries that only represent ends of edges.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// Maximum number of features of a node.
    pub node_features: u64,
    /// Maximum number of features of an edge.
    pub edge_features: u64,
    /// Number of nodes of each type.
    pub node_counts: Vec<u64>,
    /// Number of edges of each type.
    pub edge_counts: Vec<u64>,
    /// Total weight of the nodes of each type for each partition: for all partitions of a binary, whichever are opened.
    pub node_weights: Vec<Vec<f64>>,
    /// Total weight of the edges of each type for each partition.
    pub edge_weights: Vec<Vec<f64>>,
    /// The latest known time; −1 without times.
    pub watermark: i64,
}

impl Graph {
    /// Returns the summary of this graph: for a binary, from its metadata; for any other graph, whose `names` describe its features,
    /// from a scan of all nodes and edges. Weights that are negative or not numbers are not added.
    pub fn summary(&self, names: Option<&Names>) -> Summary {
        let lists = |number: u32, weights: &[Vec<f64>], partitions: usize| {
            let mut all = weights.to_vec();
            all.resize(partitions, Vec::new());
            all.iter_mut().for_each(|weights| weights.resize(number as usize, 0.0));
            all
        };
        let counts = |number: u32, counts: &[u64]| {
            let mut counts = counts.to_vec();
            counts.resize(number as usize, 0);
            counts
        };
        let (node_counts, edge_counts) = (
            counts(self.node_types.number, &self.node_types.counts),
            counts(self.edge_types.number, &self.edge_types.counts),
        );
        if let Drawing::Files(files) = &self.drawing {
            let meta = &files.meta;
            return Summary {
                nodes: meta.nodes,
                edges: meta.edges,
                node_features: u64::from(meta.node_features),
                edge_features: u64::from(meta.edge_features),
                node_counts,
                edge_counts,
                node_weights: lists(meta.node_types.number, &meta.node_types.weights, meta.partitions.len()),
                edge_weights: lists(meta.edge_types.number, &meta.edge_types.weights, meta.partitions.len()),
                watermark: meta.watermark,
            };
        }
        let (mut node_weights, mut edge_weights) = (vec![0.0; node_counts.len()], vec![0.0; edge_counts.len()]);
        let add = |sums: &mut [f64], ty: i32, mass: f64| {
            if let Some(sum) = usize::try_from(ty).ok().and_then(|ty| sums.get_mut(ty)).filter(|_| !mass.is_nan()) {
                *sum += mass;
            }
        };
        let mut latest = -1;
        for partition in &self.partitions {
            if let Drawing::Weights(weights) = &self.drawing {
                for (entry, weight) in weights.list.iter().enumerate() {
                    let ty = partition.node_type(entry);
                    if ty != DUMMY {
                        add(&mut node_weights, ty, mass(*weight));
                    }
                }
            }
            let edges = partition.edges().get(..partition.edge_count()).unwrap_or_default();
            for (number, edge) in edges.iter().enumerate() {
                add(&mut edge_weights, type_of(edge), mass(partition.exact(number)));
                latest = latest.max(partition.life(number).0);
            }
        }
        Summary {
            nodes: self.nodes(),
            edges: self.edges(),
            node_features: names.map_or(0, |names| names.stated_features()[0]),
            edge_features: names.map_or(0, |names| names.stated_features()[1]),
            node_counts,
            edge_counts,
            node_weights: vec![node_weights],
            edge_weights: vec![edge_weights],
            // A graph with times has a latest one, even if all are before 1970.
            watermark: if self.has_times() { latest.max(0) } else { -1 },
        }
    }
}
