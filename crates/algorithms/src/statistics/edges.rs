//! Counts of edges by relation.

use isomorph_error::Result;
use isomorph_model::Graph;
use isomorph_storage::parallel::map;
use serde::Serialize;

use crate::adjacency::Adjacency;
use crate::arcs::{Arcs, FORWARD, UNDIRECTED, label};
use crate::read::{Edges, RelationOf, Relations};

/// The edges of one relation of an edge type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EdgeTypeStatistics {
    /// The type of their sources.
    pub source: String,
    /// Their relation.
    pub relation: String,
    /// The type of their targets.
    pub target: String,
    /// Their number, dangling ones included.
    pub edges: u64,
    /// Of those between nodes, how many are directed.
    pub directed: u64,
    /// Of those between nodes, how many are not.
    pub undirected: u64,
    /// Edges from a node to itself.
    pub loops: u64,
    /// Edges beyond the first with the same ends and direction.
    pub parallel: u64,
    /// Of directed edges between different nodes of one type, parallel ones counted once, the share whose reverse exists; `None` without such edges.
    pub reciprocity: Option<f64>,
    /// Edges of which an end is no node.
    pub dangling: u64,
    /// One such end.
    pub dangling_example: Option<String>,
    /// Different directed edges between different nodes, and how many of them have a reverse.
    #[serde(skip)]
    pub(crate) pairs: (u64, u64),
}

/// Adds edges as one arc each: directed ones from their source, undirected ones from the smaller number.
///
/// # Errors
/// If there is no space for temporary files.
pub(super) fn collect(arcs: &mut Arcs, edges: &Edges) -> Result<()> {
    for (row, (source, target)) in edges.sources.iter().zip(&edges.targets).enumerate() {
        let relation = edges.relations.get(row).copied().unwrap_or_default();
        match edges.undirected.get(row).copied().unwrap_or_default() {
            true => arcs.push(*source.min(target), *source.max(target), label(relation, UNDIRECTED), 0.0)?,
            false => arcs.push(*source, *target, label(relation, FORWARD), 0.0)?,
        }
    }
    Ok(())
}

/// Whether the label of [`collect`] is that of an undirected edge.
pub(super) fn is_undirected(label: u32) -> bool {
    label % 4 == UNDIRECTED
}

#[derive(Clone, Copy, Default)]
struct Counts {
    directed: u64,
    undirected: u64,
    loops: u64,
    parallel: u64,
    pairs: u64,
    returned: u64,
}

/// The numbers of relations that have the same name in other edge types, or in the same one: their edges can be equal.
struct Namesakes {
    /// Those between the same node types in the same order, itself included.
    alike: Vec<u32>,
    /// Those between two node types in the other order: an undirected edge is equal to its reverse.
    reversed: Vec<u32>,
}

impl Namesakes {
    fn of(one: &RelationOf, relations: &Relations, graph: &Graph) -> Namesakes {
        let ends = |one: &RelationOf| graph.edges.get(one.edge_type).map_or((0, 0), |ty| (ty.source, ty.target));
        let (source, target) = ends(one);
        let between = |wanted: (usize, usize)| {
            let all = (0..).zip(relations.all());
            let found = all.filter(|(_, other)| other.name == one.name && ends(other) == wanted);
            found.map(|(number, _)| number).collect()
        };
        let reversed = if source == target { Vec::new() } else { between((target, source)) };
        Namesakes { alike: between((source, target)), reversed }
    }

    /// Whether an earlier relation has an edge that is equal to this arc of a node.
    fn are_before(&self, arcs: &Adjacency, (node, own, other): (u32, u32, u32)) -> bool {
        let (relation, way) = (own / 4, own % 4);
        let reversed = if is_undirected(own) { self.reversed.as_slice() } else { &[] };
        let earlier = self.alike.iter().chain(reversed).filter(|number| **number < relation);
        earlier.into_iter().any(|number| leads(arcs, node, label(*number, way), other))
    }
}

/// Counts arcs by relation.
pub(super) fn count(arcs: &Adjacency, relations: &Relations, graph: &Graph, threads: usize) -> Vec<EdgeTypeStatistics> {
    let namesakes: Vec<Namesakes> = relations.all().iter().map(|one| Namesakes::of(one, relations, graph)).collect();
    let blocks = map(threads, arcs.blocks(threads), |range| {
        let mut counts = vec![Counts::default(); relations.all().len()];
        for node in range {
            let mut before = None;
            for (other, label) in arcs.of(node).iter().zip(arcs.labels_of(node)) {
                let relation = (label / 4) as usize;
                let Some((of, namesakes)) = counts.get_mut(relation).zip(namesakes.get(relation)) else { continue };
                let is_again = before.replace((*label, *other)) == Some((*label, *other))
                    || namesakes.are_before(arcs, (node, *label, *other));
                of.loops += u64::from(*other == node);
                of.parallel += u64::from(is_again);
                if is_undirected(*label) {
                    of.undirected += 1;
                    continue;
                }
                of.directed += 1;
                if !is_again && *other != node {
                    of.pairs += 1;
                    let is_returned = |number: &u32| leads(arcs, *other, self::label(*number, FORWARD), node);
                    of.returned += u64::from(namesakes.alike.iter().any(is_returned));
                }
            }
        }
        counts
    });
    let mut all = vec![Counts::default(); relations.all().len()];
    for (sum, part) in blocks.iter().flat_map(|block| (0..).zip(block)).filter_map(|(at, part): (usize, _)| {
        // The same relation in each block.
        Some((at, part)).filter(|(at, _)| *at < relations.all().len())
    }) {
        if let Some(sum) = all.get_mut(sum) {
            sum.directed += part.directed;
            sum.undirected += part.undirected;
            sum.loops += part.loops;
            sum.parallel += part.parallel;
            sum.pairs += part.pairs;
            sum.returned += part.returned;
        }
    }
    let of = |(one, counts): (&RelationOf, Counts)| {
        let ty = graph.edges.get(one.edge_type);
        let (source, _, target) = ty.map(|ty| graph.edge_name(ty)).unwrap_or_default();
        // Between two types, no edge has a reverse.
        let pairs = if ty.is_some_and(|ty| ty.source == ty.target) { (counts.pairs, counts.returned) } else { (0, 0) };
        EdgeTypeStatistics {
            source,
            relation: one.name.clone(),
            target,
            edges: one.edges,
            directed: counts.directed,
            undirected: counts.undirected,
            loops: counts.loops,
            parallel: counts.parallel,
            reciprocity: share(pairs),
            dangling: one.dangling,
            dangling_example: one.dangling_example.clone(),
            pairs,
        }
    };
    relations.all().iter().zip(all).map(of).collect()
}

/// Whether there is an arc with this label.
fn leads(arcs: &Adjacency, from: u32, label: u32, to: u32) -> bool {
    let (ends, labels) = (arcs.of(from), arcs.labels_of(from));
    let start = labels.partition_point(|own| *own < label);
    let end = labels.partition_point(|own| *own <= label);
    ends.get(start..end).is_some_and(|ends| ends.binary_search(&to).is_ok())
}

fn share((pairs, returned): (u64, u64)) -> Option<f64> {
    (pairs > 0).then(|| returned as f64 / pairs as f64)
}

/// The reciprocity of all relations together.
pub(super) fn reciprocity(all: &[EdgeTypeStatistics]) -> Option<f64> {
    let sum = |of: fn(&EdgeTypeStatistics) -> u64| all.iter().map(of).sum();
    share((sum(|ty| ty.pairs.0), sum(|ty| ty.pairs.1)))
}
