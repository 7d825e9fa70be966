//! Nodes and edges whose features are asked for, and where these are.

use std::ops::Range;

use isomorph_error::Result;

use super::Edges;
use crate::graph::{Graph, fits};
use crate::partition::{Features, Partition, target};

/// A batch of elements.
#[derive(Clone, Copy)]
pub(super) enum Elements<'a> {
    Nodes(&'a [i64]),
    Edges(Edges<'a>),
}

/// Edges of one node and type that are looked at one after another before their order is relied on.
const FEW: usize = 16;

impl Elements<'_> {
    /// Number of elements.
    ///
    /// # Errors
    /// When lengths differ.
    pub fn check(&self, times: Option<&[i64]>) -> Result<usize> {
        let count = match self {
            Elements::Nodes(nodes) => nodes.len(),
            Elements::Edges(edges) => {
                fits(edges.sources.len(), edges.targets.len())?;
                fits(edges.sources.len(), edges.types.len())?;
                edges.sources.len()
            }
        };
        times.map_or(Ok(()), |times| fits(count, times.len()))?;
        Ok(count)
    }

    /// Hands over the slots of the features of element `at`, entry by entry, until `take` has what it wants.
    ///
    /// # Errors
    /// When offsets point outside, and those of `take`.
    #[inline]
    pub fn each<'g>(
        &self,
        graph: &'g Graph,
        at: usize,
        take: &mut dyn FnMut(&'g Features, Range<usize>) -> Result<bool>,
    ) -> Result<()> {
        match self {
            Elements::Nodes(nodes) => {
                for entry in graph.find(nodes[at]) {
                    let partition = &graph.partitions[entry.partition];
                    if take(&partition.node_features, partition.node_slots(entry.entry)?)? {
                        break;
                    }
                }
            }
            Elements::Edges(edges) => {
                for entry in graph.find(edges.sources[at]) {
                    let partition = &graph.partitions[entry.partition];
                    let run = partition.run(&partition.edge_range(entry.entry)?, edges.types[at]);
                    let Some(edge) = first_to(partition, run, edges.targets[at]) else { continue };
                    if take(&partition.edge_features, partition.edge_slots(edge)?)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The first edge of a run that leads to `wanted`: where there are many by halving, which finds it if they are sorted by
/// target, and else one after another.
fn first_to(partition: &Partition, run: Range<usize>, wanted: i64) -> Option<usize> {
    let edges = &partition.edges()[run.clone()];
    if edges.len() > FEW {
        let at = edges.partition_point(|edge| target(edge) < wanted);
        if edges.get(at).is_some_and(|edge| target(edge) == wanted) {
            return Some(run.start + at);
        }
    }
    edges.iter().position(|edge| target(edge) == wanted).map(|at| run.start + at)
}
