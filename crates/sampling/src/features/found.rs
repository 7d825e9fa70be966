//! Nodes and edges whose features are asked for, and where these are.

use std::ops::Range;

use isomorph_error::Result;

use super::{Dense, Edges};
use crate::ahead::Look;
use crate::graph::{Graph, fits};
use crate::index::Entry;
use crate::partition::{Features, Partition, target};

/// A batch of elements.
#[derive(Clone, Copy)]
pub(super) enum Elements<'a> {
    Nodes(&'a [i64]),
    Edges(Edges<'a>),
}

/// Looks at features of nodes.
pub(super) struct AtFeatures<'a> {
    pub graph: &'a Graph,
    /// Those whose bytes are fetched.
    pub features: &'a [Dense],
}

/// Slots of the features of the one entry that a node has.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeaturesAt {
    pub partition: usize,
    start: usize,
    end: usize,
}

impl FeaturesAt {
    /// Their numbers.
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
        // What is fetched ahead is a guess: an entry that is damaged is met again, and told of, where its features are read.
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

/// Edges of one node and type that are looked at one after another before their order is relied on.
const FEW: usize = 16;

impl Elements<'_> {
    /// What it takes to find the features of an element, nanoseconds.
    pub fn each_takes(&self) -> u64 {
        match self {
            Elements::Nodes(_) => 40,
            Elements::Edges(_) => 300,
        }
    }

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
