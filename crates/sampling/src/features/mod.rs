//! Features of nodes and edges.
//!
//! A binary does not state the types of features: the caller states how many bytes of each are wanted, or requests texts or sparse
//! features.

mod dense;
mod find;
mod sparse;
mod strings;
mod times;
mod values;

use std::ops::Range;

use isomorph_error::Result;

use crate::graph::Graph;
use crate::prefetch::Ahead;
use crate::request::Generator;
use crate::sampler::Sampler;
use find::{AtFeatures, Elements, FeaturesAt};
pub use values::{Value, Values};

/// A requested dense feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dense {
    /// Its id.
    pub id: u32,
    /// Number of requested bytes: number of elements times the size of one.
    pub bytes: usize,
}

/// Edges whose features are requested: source, target and type of each.
#[derive(Debug, Clone, Copy)]
pub struct Edges<'a> {
    /// Sources.
    pub sources: &'a [i64],
    /// Targets.
    pub targets: &'a [i64],
    /// Types.
    pub types: &'a [i32],
}

/// Whether an element has a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stated {
    /// It does not have the feature.
    No,
    /// It has the feature, which may be empty if the graph is not a binary: in a binary, empty and missing are the same.
    Yes,
    /// It has a list of numbers with nulls, which has no bytes.
    WithNulls,
}

/// Texts, or any bytes, of a batch. If it is reused, its buffers are allocated only once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Strings {
    /// The bytes of all features, element by element, feature by feature.
    pub bytes: Vec<u8>,
    /// Number of bytes of each: *elements × features*, 0 for a missing feature.
    pub lengths: Vec<u64>,
}

/// One sparse feature of a batch: the points of the elements that have it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sparse {
    /// For each point, the row of the element in the batch, then its coordinates.
    pub indices: Vec<i64>,
    /// The values of the points, in bytes.
    pub values: Vec<u8>,
    /// Number of coordinates of a point; 0 if no element has the feature.
    pub dimensions: u32,
}

impl Sampler {
    /// Writes dense features of nodes to `out`: for each node, the bytes of each feature in order. A shorter feature is
    /// filled with zeros, a longer one is truncated, a missing one is zeros. A node with several entries has the feature of the first
    /// that has it; with the stable generator, a hole does not count as having it, unlike in the published engine.
    ///
    /// With times (one for each node, for features that were stored with times), it is the latest value that was created then
    /// or before.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`](isomorph_error::Kind::Usage) if `out` has another length; `DEEPGNN-BOUNDS` if an offset is out of range,
    /// or if a time is requested of a feature without times.
    pub fn node_features(
        &self,
        nodes: &[i64],
        features: &[Dense],
        times: Option<&[i64]>,
        out: &mut [u8],
    ) -> Result<()> {
        self.dense(Elements::Nodes(nodes), features, times, out)
    }

    /// Writes dense features of edges, as for nodes. Of several edges with the same ends and type, the first has the features.
    ///
    /// # Errors
    /// As [`Sampler::node_features`], and if the lengths of `edges` differ.
    pub fn edge_features(
        &self,
        edges: Edges<'_>,
        features: &[Dense],
        times: Option<&[i64]>,
        out: &mut [u8],
    ) -> Result<()> {
        self.dense(Elements::Edges(edges), features, times, out)
    }

    /// Returns features of nodes as texts, or any bytes.
    ///
    /// # Errors
    /// As [`Sampler::node_features`].
    pub fn node_strings(
        &self,
        nodes: &[i64],
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut Strings,
    ) -> Result<()> {
        self.strings(Elements::Nodes(nodes), features, times, out)
    }

    /// Returns features of edges as texts, or any bytes.
    ///
    /// # Errors
    /// As [`Sampler::edge_features`].
    pub fn edge_strings(
        &self,
        edges: Edges<'_>,
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut Strings,
    ) -> Result<()> {
        self.strings(Elements::Edges(edges), features, times, out)
    }

    /// Returns which nodes have a feature: texts and numbers do not distinguish an empty feature from a missing one.
    ///
    /// # Errors
    /// As [`Sampler::node_features`].
    pub fn node_stated(&self, nodes: &[i64], feature: u32) -> Result<Vec<Stated>> {
        self.stated(Elements::Nodes(nodes), feature)
    }

    /// Returns which edges have a feature.
    ///
    /// # Errors
    /// As [`Sampler::edge_features`].
    pub fn edge_stated(&self, edges: Edges<'_>, feature: u32) -> Result<Vec<Stated>> {
        self.stated(Elements::Edges(edges), feature)
    }

    fn stated(&self, elements: Elements<'_>, feature: u32) -> Result<Vec<Stated>> {
        let count = elements.check(None)?;
        let stated = |at: usize| {
            let mut stated = Stated::No;
            elements.each(&self.graph, at, &mut |features, slots| {
                stated = features.stated(&slots, feature)?;
                Ok(stated != Stated::No)
            })?;
            Ok(stated)
        };
        (0..count).map(stated).collect()
    }

    /// Returns sparse features of nodes, one element of `out` for each feature.
    ///
    /// # Errors
    /// As [`Sampler::node_features`]; `DEEPGNN-COORDINATES` if a feature is not encoded as a sparse one, or nodes
    /// disagree on the number of coordinates.
    pub fn node_sparse(
        &self,
        nodes: &[i64],
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut [Sparse],
    ) -> Result<()> {
        self.sparse(Elements::Nodes(nodes), features, times, out)
    }

    /// Returns sparse features of edges.
    ///
    /// # Errors
    /// As [`Sampler::node_sparse`] and [`Sampler::edge_features`].
    pub fn edge_sparse(
        &self,
        edges: Edges<'_>,
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut [Sparse],
    ) -> Result<()> {
        self.sparse(Elements::Edges(edges), features, times, out)
    }

    fn asked<'a>(&'a self, elements: Elements<'a>, times: Option<&'a [i64]>) -> Asked<'a> {
        Asked { graph: &self.graph, elements, times, holes: self.generator == Generator::Compat }
    }
}

/// Elements, and the request for them.
struct Asked<'a> {
    graph: &'a Graph,
    elements: Elements<'a>,
    times: Option<&'a [i64]>,
    /// Whether a hole ends the search, as in the published engine.
    holes: bool,
}

impl<'a> Asked<'a> {
    /// Returns a prefetcher for features of the elements.
    fn ahead(&self, features: &'a [Dense]) -> Ahead<AtFeatures<'a>> {
        Ahead::new(AtFeatures { graph: self.graph, features })
    }

    /// Returns the position of the features of element `at` of `range`, if `ahead` knows it.
    #[inline]
    fn features_at(&self, ahead: &mut Ahead<AtFeatures<'_>>, at: usize, range: &Range<usize>) -> Option<FeaturesAt> {
        match self.elements {
            Elements::Nodes(nodes) => {
                let nodes = &nodes[range.clone()];
                ahead.place(self.graph, at - range.start, nodes.len(), |at| nodes[at])
            }
            Elements::Edges(_) => None,
        }
    }

    /// Returns the bytes of a feature of an element.
    #[inline]
    fn feature(&self, at: usize, place: Option<FeaturesAt>, id: u32) -> Result<Option<&'a [u8]>> {
        if let (Some(place), None) = (place, self.times) {
            // A single entry, whose holes hide nothing.
            return self.graph.partitions[place.partition].node_features.get(&place.slots(), id);
        }
        let mut best = None;
        self.elements.each(self.graph, at, &mut |features, slots| {
            let Some(bytes) = features.get(&slots, id)? else { return Ok(false) };
            if bytes.is_empty() {
                return Ok(self.holes);
            }
            best = match self.times {
                None => Some(bytes),
                Some(times) => match times::value_at(bytes, times[at]) {
                    Some(value) => value.map(|(bytes, _)| bytes),
                    None => {
                        return Err(times::without_times());
                    }
                },
            };
            Ok(best.is_some())
        })?;
        Ok(best)
    }
}
