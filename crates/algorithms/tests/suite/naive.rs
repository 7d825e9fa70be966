//! The algorithms as their definitions say, without any cleverness.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::Edge;

/// A graph of the tests, without edges that lead nowhere.
pub struct Naive {
    pub nodes: Vec<i64>,
    /// Arcs from source to target, both ways for undirected edges, loops once; with weights.
    pub arcs: Vec<(i64, i64, f64)>,
    pub edges: Vec<Edge>,
}

impl Naive {
    pub fn new(nodes: &[i64], edges: &[Edge]) -> Naive {
        let is_node = |key: &i64| nodes.contains(key);
        let edges: Vec<Edge> =
            edges.iter().filter(|edge| is_node(&edge.source) && is_node(&edge.target)).copied().collect();
        let mut arcs = Vec::new();
        for edge in &edges {
            arcs.push((edge.source, edge.target, edge.weight));
            if !edge.directed && edge.source != edge.target {
                arcs.push((edge.target, edge.source, edge.weight));
            }
        }
        Naive { nodes: nodes.to_vec(), arcs, edges }
    }

    pub fn page_rank(&self, damping: f64, iterations: u32) -> BTreeMap<i64, f64> {
        let n = self.nodes.len() as f64;
        let out = |node: i64| self.arcs.iter().filter(|arc| arc.0 == node).count() as f64;
        let degrees: BTreeMap<i64, f64> = self.nodes.iter().map(|node| (*node, out(*node))).collect();
        let mut ranks: BTreeMap<i64, f64> = self.nodes.iter().map(|node| (*node, 1.0 / n)).collect();
        for _ in 0..iterations {
            let sink: f64 = self.nodes.iter().filter(|node| degrees[node] == 0.0).map(|node| ranks[node]).sum();
            let mut next: BTreeMap<i64, f64> =
                self.nodes.iter().map(|node| (*node, (1.0 - damping) / n + damping * sink / n)).collect();
            for (source, target, _) in &self.arcs {
                *next.get_mut(target).unwrap() += damping * ranks[source] / degrees[source];
            }
            ranks = next;
        }
        ranks
    }

    /// Distances by relaxing all arcs until nothing changes.
    pub fn distances(&self, from: i64, weighted: bool, both_ways: bool) -> BTreeMap<i64, Option<f64>> {
        let mut found: BTreeMap<i64, Option<f64>> = self.nodes.iter().map(|node| (*node, None)).collect();
        found.insert(from, Some(0.0));
        let mut arcs = self.arcs.clone();
        if both_ways {
            arcs.extend(self.arcs.iter().map(|(source, target, weight)| (*target, *source, *weight)));
        }
        loop {
            let mut changed = false;
            for (source, target, weight) in &arcs {
                let Some(distance) = found[source] else { continue };
                let further = distance + if weighted { *weight } else { 1.0 };
                if found[target].is_none_or(|known| further < known) {
                    found.insert(*target, Some(further));
                    changed = true;
                }
            }
            if !changed {
                return found;
            }
        }
    }

    /// The smallest key of each node's component.
    pub fn components(&self) -> BTreeMap<i64, i64> {
        let mut labels: BTreeMap<i64, i64> = self.nodes.iter().map(|node| (*node, *node)).collect();
        loop {
            let mut changed = false;
            for (one, other, _) in &self.arcs {
                let least = labels[one].min(labels[other]);
                for node in [one, other] {
                    changed |= labels.insert(*node, least) != Some(least);
                }
            }
            if !changed {
                return labels;
            }
        }
    }

    pub fn clustering(&self) -> BTreeMap<i64, f64> {
        let arcs: BTreeSet<(i64, i64)> =
            self.arcs.iter().map(|arc| (arc.0, arc.1)).filter(|(one, other)| one != other).collect();
        let of = |node: i64| -> f64 {
            let near: BTreeSet<i64> = self
                .nodes
                .iter()
                .copied()
                .filter(|other| arcs.contains(&(node, *other)) || arcs.contains(&(*other, node)))
                .collect();
            let degree = near.len() as f64;
            let connected = near
                .iter()
                .flat_map(|one| near.iter().map(move |other| (*one, *other)))
                .filter(|pair| arcs.contains(pair));
            if degree < 2.0 { 0.0 } else { connected.count() as f64 / (degree * (degree - 1.0)) }
        };
        self.nodes.iter().map(|node| (*node, of(*node))).collect()
    }

    pub fn communities(&self, iterations: u32) -> BTreeMap<i64, i64> {
        let mut labels: BTreeMap<i64, i64> = self.nodes.iter().map(|node| (*node, *node)).collect();
        for _ in 0..iterations {
            let mut next = labels.clone();
            for node in &self.nodes {
                let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
                for edge in self.edges.iter().filter(|edge| edge.source != edge.target) {
                    for (own, other) in [(edge.source, edge.target), (edge.target, edge.source)] {
                        if own == *node {
                            *counts.entry(labels[&other]).or_default() += 1;
                        }
                    }
                }
                let most = counts.values().max().copied().unwrap_or_default();
                if let Some((label, _)) = counts.iter().find(|(_, count)| **count == most) {
                    next.insert(*node, *label);
                }
            }
            labels = next;
        }
        labels
    }
}
