//! The algorithms over any graph: each reads the edges once.

use std::collections::BTreeSet;
use std::sync::Arc;

use isomorph_error::Result;
use isomorph_model::{KeyKind, Progress, Source};
use isomorph_storage::Resources;

use crate::adjacency::Adjacency;
use crate::answer::{Components, NodeValues, ReadOf, Values, texts};
use crate::arcs::{Arcs, Kept, Walk};
use crate::array::{Array, at};
use crate::clustering::{DOWN, UP, coefficients};
use crate::communities::propagate;
use crate::components::Union;
use crate::distances::{Until, hops, weighted};
use crate::nodes::{NOBODY, Nodes};
use crate::pagerank::PageRank;
use crate::read::{self, Relations, Wanted};

/// What all algorithms need.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Memory, threads and temporary files.
    pub resources: &'a Resources,
    /// Only edges of these relations are walked.
    pub relations: Option<&'a BTreeSet<String>>,
    /// Told how far the work is, and asked whether it should go on.
    pub progress: &'a dyn Progress,
}

impl Job<'_> {
    pub(crate) fn wanted<'w>(&'w self, weight: Option<&'w str>) -> Wanted<'w> {
        Wanted { relations: self.relations, weight, observer: None }
    }
}

/// The arcs of a graph from one side of its edges.
pub(crate) fn arcs(
    source: &Arc<dyn Source>,
    walk: Walk,
    kept: Kept,
    weight: Option<&str>,
    beside: u64,
    job: &Job<'_>,
) -> Result<(Nodes, Adjacency, Relations)> {
    let mut nodes = Nodes::read(source, job.resources, job.progress)?;
    let mut arcs = Arcs::new(job.resources, kept, nodes.count(), beside);
    let relations = read::edges(&mut nodes, &job.wanted(weight), job.progress, &mut |edges| arcs.walk(&edges, walk))?;
    let arcs = arcs.finish(nodes.len())?;
    Ok((nodes, arcs, relations))
}

fn values(nodes: Nodes, values: Values, column: &'static str, relations: Relations) -> NodeValues {
    let read = ReadOf::of(&nodes, relations);
    NodeValues { nodes, values, column, read, iterations: None, change: None }
}

/// The PageRank of each node, a column `rank`: its share of the walks that follow an edge with the probability `damping` and else jump to any node, as do walks
/// at nodes without edges. Parallel edges count as often as they occur; undirected edges lead both ways.
///
/// # Errors
/// [`isomorph_error::Kind::Usage`] for numbers out of range; otherwise if the graph cannot be read, or the work is cancelled.
pub fn page_rank(source: &Arc<dyn Source>, how: &PageRank, job: &Job<'_>) -> Result<NodeValues> {
    how.check()?;
    let (nodes, incoming, relations) = arcs(source, Walk::In, Kept::default(), None, 28, job)?;
    let ranked = how.run(&incoming, job.resources, job.progress)?;
    let mut ranks = values(nodes, Values::Numbers(ranked.ranks), "rank", relations);
    (ranks.iterations, ranks.change) = (Some(ranked.iterations), Some(ranked.change));
    Ok(ranks)
}

/// The weakly connected components: parts between which there is no edge, whatever its direction.
///
/// # Errors
/// If the graph cannot be read, or the work is cancelled.
pub fn components(source: &Arc<dyn Source>, job: &Job<'_>) -> Result<Components> {
    let mut nodes = Nodes::read(source, job.resources, job.progress)?;
    let mut union = Union::new(nodes.count(), job.resources)?;
    let mut unite = |edges: read::Edges| {
        let most = edges.sources.iter().chain(&edges.targets).max().copied();
        union.grow(most.map_or(0, |most| most + 1))?;
        edges.sources.iter().zip(&edges.targets).for_each(|(one, other)| union.unite(*one, *other));
        Ok(())
    };
    let relations = read::edges(&mut nodes, &job.wanted(None), job.progress, &mut unite)?;
    let roots = union.finish(nodes.len(), job.resources)?;
    let (numbers, sizes) = by_size(roots, job.resources)?;
    Ok(Components { each: values(nodes, Values::Counts(numbers), "component", relations), sizes })
}

/// The size of each component, and its first node.
pub(crate) type Sizes = Vec<(u64, u32)>;

/// Numbers components from 1 by their size: of each node the number of its component, and of each component its size and first node.
pub(crate) fn by_size(mut roots: Array<u32>, resources: &Resources) -> Result<(Array<u32>, Sizes)> {
    let mut counts: Array<u32> = Array::zeros(roots.len() as u64, 0, resources)?;
    for root in roots.iter() {
        if let Some(count) = counts.get_mut(*root as usize) {
            *count += 1;
        }
    }
    let found = counts.iter().filter(|count| **count > 0).count();
    let _held = resources.budget.reserve(16 * found as u64)?;
    let mut sizes: Sizes = counts
        .iter()
        .zip(0..)
        .filter(|(count, _)| **count > 0)
        .map(|(count, root)| (u64::from(*count), root))
        .collect();
    sizes.sort_unstable_by_key(|(size, root)| (std::cmp::Reverse(*size), *root));
    for ((_, root), number) in sizes.iter().zip(1..) {
        if let Some(slot) = counts.get_mut(*root as usize) {
            *slot = number;
        }
    }
    roots.iter_mut().for_each(|root| *root = at(&counts, *root));
    Ok((roots, sizes))
}

/// How far each node is from one of them: a column `distance`, the fewest edges or the smallest sum of weights; null for nodes that are not reached.
/// Directed edges are walked forwards, or both ways with `both_ways`.
///
/// # Errors
/// [`isomorph_error::Kind::NotFound`] if there is no such node; [`isomorph_error::Kind::Unsupported`] for weights that are negative or not finite; otherwise
/// if the graph cannot be read, or the work is cancelled.
pub fn distances(
    source: &Arc<dyn Source>,
    from: (Option<&str>, &str),
    weight: Option<&str>,
    both_ways: bool,
    job: &Job<'_>,
) -> Result<NodeValues> {
    let walk = if both_ways { Walk::Both } else { Walk::Out };
    let kept = Kept { labels: false, weights: weight.is_some() };
    let (nodes, arcs, relations) = arcs(source, walk, kept, weight, 24, job)?;
    let start = nodes.find(from.0, from.1)?;
    let found = match weight {
        Some(_) => Values::Numbers(weighted(&arcs, start, Until::All, job.resources, job.progress)?.distances),
        None => Values::Counts(hops(&arcs, start, None, NOBODY, job.resources, job.progress)?.distances),
    };
    Ok(values(nodes, found, "distance", relations))
}

/// The local clustering coefficient of each node, a column `coefficient`: of the ordered pairs of different neighbours, the share between which there is an edge.
/// Neighbours are nodes at the other end of an edge, whatever its direction. Parallel edges and loops count nothing.
///
/// # Errors
/// If the graph cannot be read, or the work is cancelled.
pub fn clustering(source: &Arc<dyn Source>, job: &Job<'_>) -> Result<NodeValues> {
    let mut nodes = Nodes::read(source, job.resources, job.progress)?;
    let mut pairs = Arcs::new(job.resources, Kept { labels: true, weights: false }, nodes.count(), 24);
    let mut take = |edges: read::Edges| {
        for (row, (one, other)) in edges.sources.iter().zip(&edges.targets).enumerate().filter(|(_, (a, b))| a != b) {
            let undirected = edges.undirected.get(row).copied().unwrap_or_default();
            let (low, high) = (*one.min(other), *one.max(other));
            if undirected || one < other {
                pairs.push(low, high, UP, 0.0)?;
            }
            if undirected || one > other {
                pairs.push(low, high, DOWN, 0.0)?;
            }
        }
        Ok(())
    };
    let relations = read::edges(&mut nodes, &job.wanted(None), job.progress, &mut take)?;
    let pairs = pairs.finish(nodes.len())?;
    let coefficients = coefficients(pairs, job.resources, job.progress)?;
    Ok(values(nodes, Values::Numbers(coefficients), "coefficient", relations))
}

/// Communities by `iterations` of the propagation of labels (CDLP): columns `community_type` and `community` with the node whose label a node has at the end.
/// Of several labels that are equally frequent among neighbours, the smallest wins: by key if the graph has one node type with integer keys, else the node that comes first.
/// A neighbour counts once for each edge, in either direction.
///
/// # Errors
/// If the graph cannot be read, or the work is cancelled.
pub fn communities(source: &Arc<dyn Source>, iterations: u32, job: &Job<'_>) -> Result<NodeValues> {
    let (nodes, both, relations) = arcs(source, Walk::Both, Kept::default(), None, 16, job)?;
    let (labels, of_labels) = labels(&nodes, job.resources)?;
    let mut labels = propagate(&both, labels, iterations, job.resources, job.progress)?;
    labels.iter_mut().for_each(|label| *label = at(&of_labels, *label));
    Ok(values(nodes, Values::Nodes(labels), "community", relations))
}

/// The label of each node, in the order of keys that are integers, and the node of each label.
fn labels(nodes: &Nodes, resources: &Resources) -> Result<(Array<u32>, Array<u32>)> {
    let count = u64::from(nodes.len());
    let mut of_labels: Array<u32> = Array::zeros(count, 0, resources)?;
    of_labels.iter_mut().zip(0..).for_each(|(slot, node)| *slot = node);
    let mut labels: Array<u32> = Array::zeros(count, 0, resources)?;
    if nodes.kinds().collect::<Vec<_>>() == [KeyKind::Int] {
        let keys = crate::answer::Keys::read(nodes)?;
        // Signed and unsigned integers in one order.
        let mut ordinals: Array<u64> = Array::zeros(count, 0, resources)?;
        for first in (0..nodes.len()).step_by(1 << 16) {
            let some: Vec<u32> = (first..nodes.len()).take(1 << 16).collect();
            let [_, own] = keys.of(&some)?;
            for (node, text) in some.iter().zip(&texts(&own)?) {
                let number: i128 = text.and_then(|text| text.parse().ok()).unwrap_or_default();
                let signed = own.data_type() == &arrow_schema::DataType::Int64;
                let number = if signed { number - i128::from(i64::MIN) } else { number };
                if let Some(slot) = ordinals.get_mut(*node as usize) {
                    *slot = u64::try_from(number).unwrap_or_default();
                }
            }
        }
        of_labels.sort_unstable_by_key(|node| (at(&ordinals, *node), *node));
    }
    for (node, label) in of_labels.iter().zip(0..) {
        if let Some(slot) = labels.get_mut(*node as usize) {
            *slot = label;
        }
    }
    Ok((labels, of_labels))
}
