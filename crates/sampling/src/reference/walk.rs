//! The published engine's random walk.

use isomorph_error::Result;

use crate::graph::Graph;
use crate::neighbors::no_weight;
use crate::partition::target;
use crate::random::Xoroshiro;
use crate::request::{Ask, Draw, TypeSet};
use crate::sampler::{Sampler, Worker};
use crate::walk::Bias;

use super::neighbors::{is_there, runs};

impl Sampler {
    /// One generator for the call; steps are the outer loop. A walk can go back to the previous node although no edge leads
    /// there; at the start, the node itself counts as the previous node.
    pub(crate) fn compat_walk(
        &mut self,
        ask: &Ask<'_>,
        length: usize,
        bias: Bias,
        draw: Draw,
        default: i64,
        out: &mut [i64],
    ) -> Result<()> {
        let mut random = Xoroshiro::new(draw.seed);
        #[expect(clippy::cast_possible_truncation, reason = "rounded as the published engine does")]
        let (back, away) = (bias.back as f32, bias.away as f32);
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        let Worker { walk, steps, .. } = worker;
        let Steps { here, before, candidates } = steps;
        let stride = length + 1;
        walk.ended.clear();
        walk.ended.resize(ask.nodes.len(), false);
        ask.nodes.iter().enumerate().for_each(|(at, node)| out[at * stride] = *node);
        for step in 1..=length {
            for (at, ended) in walk.ended.iter_mut().enumerate() {
                let row = at * stride;
                let now = out[row + step - 1];
                let parent = if step == 1 { now } else { out[row + step - 2] };
                neighbors(&self.graph, now, ask.types, ask.time(at), here)?;
                before.clear();
                if step > 1 {
                    neighbors(&self.graph, parent, ask.types, ask.time(at), before)?;
                    // The first of each id counts.
                    before.sort_unstable_by_key(|neighbor| (neighbor.id, neighbor.at));
                }
                let came = |id: i64| {
                    let first = before.partition_point(|neighbor| neighbor.id < id);
                    before.get(first).filter(|neighbor| neighbor.id == id)
                };
                candidates.clear();
                if let Some(neighbor) = came(now) {
                    candidates.push((parent, neighbor.weight / back));
                }
                for Neighbor { id, weight, .. } in here.iter().filter(|neighbor| neighbor.id != parent) {
                    candidates.push((*id, if came(*id).is_some() { *weight } else { weight / away }));
                }
                let mut sum = 0.0;
                for (_, weight) in candidates.iter_mut() {
                    sum += *weight;
                    *weight = sum;
                }
                *ended |= candidates.is_empty();
                out[row + step] = if *ended {
                    default
                } else {
                    let wanted = sum * random.unit();
                    let chosen = candidates.partition_point(|(_, sum)| *sum < wanted).min(candidates.len() - 1);
                    candidates[chosen].0
                };
            }
        }
        Ok(())
    }
}

/// A neighbour, and its position among those of its node.
#[derive(Debug, Clone, Copy)]
struct Neighbor {
    id: i64,
    at: usize,
    weight: f32,
}

/// Buffers of a walk.
#[derive(Default)]
pub(crate) struct Steps {
    here: Vec<Neighbor>,
    before: Vec<Neighbor>,
    candidates: Vec<(i64, f32)>,
}

/// Lists the neighbours of a node in the order of partitions and files, with the engine's weights.
fn neighbors(graph: &Graph, node: i64, types: &TypeSet, time: Option<i64>, list: &mut Vec<Neighbor>) -> Result<()> {
    list.clear();
    for entry in graph.find(node) {
        let partition = graph.partition(entry);
        let range = partition.edge_range(entry.entry)?;
        let found = runs(partition, &range, types).flatten();
        let found = found.filter(|edge| time.is_none_or(|time| is_there(partition, *edge, time)));
        let mut sums = super::Sums::new(partition, range);
        for number in found {
            let edge = &partition.edges()[number];
            if partition.mass(number, edge).is_nan() {
                return Err(no_weight());
            }
            list.push(Neighbor { id: target(edge), at: list.len(), weight: sums.weight(number) });
        }
    }
    Ok(())
}
