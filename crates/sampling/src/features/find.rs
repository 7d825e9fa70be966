//! Finds the features of requested nodes and edges.

use std::ops::Range;

use isomorph_error::Result;

use super::{Dense, Edges};
use crate::graph::{Graph, fits};
use crate::index::Entry;
use crate::partition::{Features, Partition, target};
use crate::prefetch::Look;

/// A batch of elements.
#[derive(Clone, Copy)]
pub(super) enum Elements<'a> {
    Nodes(&'a [i64]),
    Edges(Edges<'a>),
}

/// Prefetches features of nodes.
pub(super) struct AtFeatures<'a> {
    pub graph: &'a Graph,
    /// The features whose bytes are prefetched.
    pub features: &'a [Dense],
}

/// Slots of the features of a node's only entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeaturesAt {
    pub partition: usize,
    start: usize,
    end: usize,
}

impl FeaturesAt {
    /// Returns their numbers.
    #[inline]
    pub fn slots(&self) -> Range<usize> {
        self.start..self.end
    }
}

impl Look for AtFeatures<'_> {
    type Place = FeaturesAt;

    #[inline]
    fn hint(&self, partition: &Partition, entry: usize) {
        partition.fetch_node_slots(entry);
    }

    #[inline]
    fn place(&self, partition: &Partition, entry: Entry) -> Option<FeaturesAt> {
        // Prefetching is only a guess: a damaged entry is reported when its features are read.
        let slots = partition.node_slots(entry.entry).ok()?;
        partition.node_features.fetch_offset(slots.start);
        Some(FeaturesAt { partition: entry.partition, start: slots.start, end: slots.end })
    }

    #[inline]
    fn fetch(&self, place: &FeaturesAt) {
        let features = &self.graph.partitions[place.partition].node_features;
        for feature in self.features {
            features.fetch_data(&place.slots(), feature.id, feature.bytes);
        }
    }
}

/// Number of edges of one node and type that are searched linearly before their order is relied on.
const FEW: usize = 16;

impl Elements<'_> {
    /// Returns the time of finding the features of an element, in nanoseconds.
    pub fn each_takes(&self) -> u64 {
        match self {
            Elements::Nodes(_) => 40,
            Elements::Edges(_) => 300,
        }
    }

    /// Returns the number of elements.
    ///
    /// # Errors
    /// Returns an error if lengths differ.
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

    /// Passes the slots of the features of element `at` to `take`, entry by entry, until `take` stops. Returns the number of edges that
    /// were looked at.
    ///
    /// # Errors
    /// Returns an error if offsets are out of range, or the errors of `take`.
    #[inline]
    pub fn each<'g>(
        &self,
        graph: &'g Graph,
        at: usize,
        take: &mut dyn FnMut(&'g Features, Range<usize>) -> Result<bool>,
    ) -> Result<u64> {
        let mut looked_at = 0;
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
                    let Some(edge) = first_to(partition, run, edges.targets[at], &mut looked_at) else { continue };
                    if take(&partition.edge_features, partition.edge_slots(edge)?)? {
                        break;
                    }
                }
            }
        }
        Ok(looked_at)
    }
}

/// Returns the first edge of a run that leads to `wanted`: if there are many, by binary search, which finds it if they are sorted by
/// target, otherwise by linear search.
fn first_to(partition: &Partition, run: Range<usize>, wanted: i64, looked_at: &mut u64) -> Option<usize> {
    let edges = &partition.edges()[run.clone()];
    if edges.len() > FEW {
        let at = edges.partition_point(|edge| target(edge) < wanted);
        if edges.get(at).is_some_and(|edge| target(edge) == wanted) {
            return Some(run.start + at);
        }
    }
    let found = edges.iter().position(|edge| target(edge) == wanted);
    *looked_at += found.unwrap_or(edges.len()) as u64;
    found.map(|at| run.start + at)
}
