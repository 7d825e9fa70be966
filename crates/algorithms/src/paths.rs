//! Shortest paths between two nodes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_model::Source;

use crate::adjacency::Adjacency;
use crate::answer::{Keys, ReadOf};
use crate::arcs::{BACKWARD, FORWARD, Kept, UNDIRECTED, Walk};
use crate::array::at;
use crate::distances::{Until, hops, weighted};
use crate::jobs::{Job, arcs};
use crate::nodes::{NOBODY, Nodes, unread};

/// Which paths are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct PathsBetween<'a> {
    /// Type, if there are several, and key of the first node.
    pub from: (Option<&'a str>, &'a str),
    /// Type, if there are several, and key of the last node.
    pub to: (Option<&'a str>, &'a str),
    /// The column whose sum is to be small; without it, the number of edges is.
    pub weight: Option<&'a str>,
    /// Walk directed edges backwards as well.
    pub both_ways: bool,
    /// All shortest paths instead of one.
    pub all: bool,
    /// The most edges of a path; not with weights.
    pub max_hops: Option<u32>,
    /// The most paths that are returned; all are counted.
    pub limit: usize,
}

/// Shortest paths.
#[derive(Debug)]
pub struct Paths {
    nodes: Nodes,
    paths: Vec<Vec<Step>>,
    /// Number of shortest paths: sequences of nodes, whichever of parallel edges they use. Without `all`, 0 or 1.
    pub count: u128,
    /// The sum of the weights of a path, or the number of its edges; `None` if there is no path.
    pub length: Option<f64>,
    is_weighted: bool,
    /// What was noticed while the graph was read.
    pub read: ReadOf,
}

/// A node of a path, and the arc that leads to it.
#[derive(Debug, Clone, Copy)]
struct Step {
    node: u32,
    /// The label of the arc; the first node has none.
    label: Option<u32>,
    distance: f64,
}

/// Finds the shortest paths between two nodes, reading the edges once. A path is a sequence of nodes; of parallel edges it shows the first relation.
///
/// # Errors
/// [`isomorph_error::Kind::NotFound`] if a node does not exist; [`isomorph_error::Kind::Usage`] if its key is that of nodes of several types, and none is given;
/// [`isomorph_error::Kind::Unsupported`] for weights below 0 or not finite, for sums of them that are not finite, and for all paths if edges on them have weight 0; otherwise if the graph cannot be read, or the work is cancelled.
pub fn shortest_paths(source: &Arc<dyn Source>, wanted: &PathsBetween<'_>, job: &Job<'_>) -> Result<Paths> {
    if wanted.weight.is_some() && wanted.max_hops.is_some() {
        return Err(Error::usage("paths are limited by their number of edges, or by weight, not by both"));
    }
    let walk = if wanted.both_ways { Walk::Both } else { Walk::Out };
    let kept = Kept { labels: true, weights: wanted.weight.is_some() };
    let (nodes, arcs, relations) = arcs(source, walk, kept, wanted.weight, 40, job)?;
    let (start, goal) = (nodes.find(wanted.from.0, wanted.from.1)?, nodes.find(wanted.to.0, wanted.to.1)?);
    let is_weighted = wanted.weight.is_some();
    let read = ReadOf::of(&nodes, relations);
    let found = match is_weighted {
        true => {
            let until = if wanted.all { Until::AsNear(goal) } else { Until::Node(goal) };
            let far = weighted(&arcs, start, until, job.resources, job.progress)?;
            if far.has_overflowed && at(&far.distances, goal).is_infinite() {
                let hops = hops(&arcs, start, Some(goal), NOBODY, job.resources, job.progress)?;
                if at(&hops.distances, goal) != NOBODY {
                    return Err(Error::unsupported(
                        "the weights of every path have a sum of more than 1.8e308, which 64-bit floats do not hold",
                    )
                    .hint("without --weight    the path of the fewest edges"));
                }
            }
            Between { arcs: &arcs, order: far.order(), distance: &|node| at(&far.distances, node), start, goal }
                .paths(wanted, is_weighted)?
        }
        false => {
            let most = wanted.max_hops.unwrap_or(NOBODY);
            let far = hops(&arcs, start, Some(goal), most, job.resources, job.progress)?;
            let distance = |node| match at(&far.distances, node) {
                NOBODY => f64::INFINITY,
                hops => f64::from(hops),
            };
            Between { arcs: &arcs, order: far.order(), distance: &distance, start, goal }.paths(wanted, is_weighted)?
        }
    };
    let (paths, count, length) = found;
    Ok(Paths { nodes, paths, count, length, is_weighted, read })
}

/// Edges of weight 0 that are looked at one by one.
const DETOURS: usize = 100;

fn incomplete() -> Error {
    Error::unsupported("an edge on a shortest path has weight 0, so that paths cannot be listed completely")
        .hint("without --all    one shortest path")
}

/// The nodes that were reached on the way.
struct Between<'a> {
    arcs: &'a Adjacency,
    /// The nodes, the nearest first.
    order: &'a [u32],
    distance: &'a dyn Fn(u32) -> f64,
    start: u32,
    goal: u32,
}

type Found = (Vec<Vec<Step>>, u128, Option<f64>);

impl Between<'_> {
    fn paths(&self, wanted: &PathsBetween<'_>, is_weighted: bool) -> Result<Found> {
        let length = (self.distance)(self.goal);
        if !length.is_finite() {
            return Ok((Vec::new(), 0, None));
        }
        // From the goal backwards: how many paths lead from each node to it. Only nodes on shortest paths are kept.
        let mut counts: HashMap<u32, u128> = HashMap::from([(self.goal, 1)]);
        for node in self.order.iter().rev().copied() {
            if node == self.goal {
                continue;
            }
            let mut count = 0u128;
            let mut last = None;
            self.each_next(node, is_weighted, |next, _, weight| {
                if let Some(further) = counts.get(&next) {
                    if wanted.all && is_weighted && weight == 0.0 {
                        return Err(incomplete());
                    }
                    if last != Some(next) {
                        count = count.saturating_add(*further);
                    }
                    last = Some(next);
                }
                Ok(())
            })?;
            if count > 0 {
                counts.insert(node, count);
            }
        }
        if wanted.all && is_weighted {
            self.check_detours(&counts)?;
        }
        let limit = if wanted.all { wanted.limit } else { 1 };
        let paths = self.walk(&counts, limit, is_weighted)?;
        let count = counts.get(&self.start).copied().unwrap_or_default();
        Ok((paths, if wanted.all { count } else { count.min(1) }, Some(length)))
    }

    /// The arcs of a node that are part of a shortest path from the start, each next node once or several times in a row, with the first label first.
    fn each_next(&self, node: u32, is_weighted: bool, mut take: impl FnMut(u32, u32, f64) -> Result<()>) -> Result<()> {
        let own = (self.distance)(node);
        let (ends, labels, weights) = (self.arcs.of(node), self.arcs.labels_of(node), self.arcs.weights_of(node));
        let mut next: Vec<(u32, u32, f64)> = Vec::new();
        for (row, end) in ends.iter().enumerate() {
            let weight = if is_weighted { weights.get(row).copied().unwrap_or_default() } else { 1.0 };
            if own + weight == (self.distance)(*end) && *end != node {
                next.push((*end, labels.get(row).copied().unwrap_or_default(), weight));
            }
        }
        // Arcs are sorted by label: those to one node are apart.
        next.sort_by_key(|(end, label, _)| (*end, *label));
        next.into_iter().try_for_each(|(end, label, weight)| take(end, label, weight))
    }

    /// Looks for edges of weight 0 that lead back to a node on a shortest path that was reached before: from another side than through that node itself, they
    /// make another shortest path.
    fn check_detours(&self, counts: &HashMap<u32, u128>) -> Result<()> {
        let mut detours = 0;
        for node in self.order.iter().copied().filter(|node| *node != self.goal) {
            let mut back = Vec::new();
            self.each_next(node, true, |next, _, weight| {
                if weight == 0.0 && counts.contains_key(&next) && back.last() != Some(&next) {
                    back.push(next);
                }
                Ok(())
            })?;
            for next in back {
                detours += 1;
                if detours > DETOURS || self.reaches(node, next)? {
                    return Err(incomplete());
                }
            }
        }
        Ok(())
    }

    /// Whether a shortest path leads to `node` that does not lead through `without`.
    fn reaches(&self, node: u32, without: u32) -> Result<bool> {
        if self.start == without {
            return Ok(false);
        }
        let mut seen = HashSet::from([self.start]);
        let mut open = vec![self.start];
        while let Some(from) = open.pop() {
            if from == node {
                return Ok(true);
            }
            self.each_next(from, true, |next, _, _| {
                if next != without && next != self.goal && seen.insert(next) {
                    open.push(next);
                }
                Ok(())
            })?;
        }
        Ok(false)
    }

    /// Up to `limit` paths through nodes from which paths lead to the goal.
    fn walk(&self, counts: &HashMap<u32, u128>, limit: usize, is_weighted: bool) -> Result<Vec<Vec<Step>>> {
        let place: HashMap<u32, usize> = match is_weighted {
            true => self
                .order
                .iter()
                .enumerate()
                .map(|(at, node)| (*node, at))
                .filter(|(node, _)| counts.contains_key(node))
                .collect(),
            false => HashMap::new(),
        };
        // Arcs of weight 0 may lead back to a node that was reached before.
        let leads_on = |node: u32, next: u32| !is_weighted || place.get(&node) < place.get(&next);
        let first = Step { node: self.start, label: None, distance: 0.0 };
        let mut paths = Vec::new();
        let mut path = vec![first];
        let mut open: Vec<Vec<Step>> = Vec::new();
        loop {
            let last = path.last().copied().unwrap_or(first);
            if last.node == self.goal {
                paths.push(path.clone());
                if paths.len() >= limit {
                    return Ok(paths);
                }
            } else {
                let mut next: Vec<Step> = Vec::new();
                self.each_next(last.node, is_weighted, |node, label, weight| {
                    let is_new = next.last().is_none_or(|step| step.node != node);
                    if is_new && counts.contains_key(&node) && leads_on(last.node, node) {
                        next.push(Step { node, label: Some(label), distance: last.distance + weight });
                    }
                    Ok(())
                })?;
                next.reverse();
                open.push(next);
            }
            // The next branch; what is behind it is left.
            loop {
                path.truncate(open.len());
                match open.last_mut().map(Vec::pop) {
                    None => return Ok(paths),
                    Some(Some(step)) => {
                        path.push(step);
                        break;
                    }
                    Some(None) => {
                        open.pop();
                    }
                }
            }
        }
    }
}

impl Paths {
    /// Number of paths that are returned.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is no path.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// A row for each node of each path: `path` from 1, `step` from 0, `type`, `key`, and how the edge leads there: `relation` and `direction` (`out`,
    /// `in`, `undirected`), null for the first node. With weights also `distance`.
    ///
    /// # Errors
    /// If keys cannot be read.
    pub fn rows(&self) -> Result<RecordBatch> {
        let keys = Keys::read(&self.nodes)?;
        let steps = || self.paths.iter().flatten();
        let nodes: Vec<u32> = steps().map(|step| step.node).collect();
        let [types, own] = keys.of(&nodes)?;
        let numbered = (1u64..).zip(&self.paths);
        let paths = UInt64Array::from_iter_values(numbered.flat_map(|(path, steps)| steps.iter().map(move |_| path)));
        let places =
            UInt32Array::from_iter_values(self.paths.iter().flat_map(|steps| (0u32..).zip(steps).map(|(at, _)| at)));
        let relation = |step: &Step| step.label.map(|label| self.read.relations.name(label / 4).to_owned());
        let relations = StringArray::from_iter(steps().map(relation));
        let ways = StringArray::from_iter(steps().map(|step| {
            step.label.map(|label| match label % 4 {
                FORWARD => "out",
                BACKWARD => "in",
                UNDIRECTED => "undirected",
                _ => "",
            })
        }));
        let mut fields = vec![
            Field::new("path", DataType::UInt64, false),
            Field::new("step", DataType::UInt32, false),
            Field::new("type", DataType::Utf8, true),
            Field::new("key", keys.data_type().clone(), true),
            Field::new("relation", DataType::Utf8, true),
            Field::new("direction", DataType::Utf8, true),
        ];
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(paths), Arc::new(places), types, own, Arc::new(relations), Arc::new(ways)];
        if self.is_weighted {
            fields.push(Field::new("distance", DataType::Float64, false));
            columns.push(Arc::new(Float64Array::from_iter_values(steps().map(|step| step.distance))));
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(unread)
    }
}
