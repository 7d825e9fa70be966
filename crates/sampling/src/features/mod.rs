//! Features of nodes and edges.
//!
//! A binary does not say of what type a feature is: who asks says how many bytes of each are wanted, or asks for texts or sparse
//! features.

mod dense;
mod found;
mod moments;
mod sparse;
mod strings;
mod values;

use std::ops::Range;

use isomorph_error::Result;

use crate::ahead::Ahead;
use crate::ask::Generator;
use crate::graph::Graph;
use crate::sampler::Sampler;
use found::{AtFeatures, Elements, FeaturesAt};
pub use values::{Value, Values};

/// A dense feature that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dense {
    /// Its id.
    pub id: u32,
    /// Bytes that are wanted of it: number of elements by the size of one.
    pub bytes: usize,
}

/// Edges whose features are asked for: source, target and type of each.
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
    /// It has none.
    No,
    /// It has one, which may be empty where the graph is no binary: there an empty one and none are alike.
    Yes,
    /// It has a list of numbers with nulls, which no bytes stand for.
    WithNulls,
}

/// Texts, or any bytes, of a batch. Kept from call to call, its buffers are allocated once.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Strings {
    /// The bytes of all, element by element, feature by feature.
    pub bytes: Vec<u8>,
    /// Number of bytes of each: *elements × features*, 0 for what is missing.
    pub lengths: Vec<u64>,
}

/// One sparse feature of a batch: its points, of those elements that have it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sparse {
    /// For each point the row of the element in the batch, then its coordinates.
    pub indices: Vec<i64>,
    /// The values of the points, in bytes.
    pub values: Vec<u8>,
    /// Coordinates of a point; 0 when no element has the feature.
    pub dimensions: u32,
}

impl Sampler {
    /// Dense features of nodes: for each node the bytes of each feature, one after another, in `out`. What is shorter is
    /// filled with zeros, what is longer cut, what is missing is zeros. A node on several entries has the feature of the first
    /// that has it; with the stable generator a hole does not count as having it, as it does in the published engine.
    ///
    /// At times (one for each node, on features that were stored with times) it is the newest value that was created then
    /// or before.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) when `out` has another length; `DEEPGNN-BOUNDS` when an offset points outside,
    /// or a time is asked of a feature without times.
    pub fn node_features(
        &self,
        nodes: &[i64],
        features: &[Dense],
        times: Option<&[i64]>,
        out: &mut [u8],
    ) -> Result<()> {
        self.dense(Elements::Nodes(nodes), features, times, out)
    }

    /// Dense features of edges, as of nodes. Of several edges with the same ends and type the first has the features.
    ///
    /// # Errors
    /// As of [`Sampler::node_features`], and when lengths of `edges` differ.
    pub fn edge_features(
        &self,
        edges: Edges<'_>,
        features: &[Dense],
        times: Option<&[i64]>,
        out: &mut [u8],
    ) -> Result<()> {
        self.dense(Elements::Edges(edges), features, times, out)
    }

    /// Features of nodes as texts, or any bytes.
    ///
    /// # Errors
    /// As of [`Sampler::node_features`].
    pub fn node_strings(
        &self,
        nodes: &[i64],
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut Strings,
    ) -> Result<()> {
        self.strings(Elements::Nodes(nodes), features, times, out)
    }

    /// Features of edges as texts, or any bytes.
    ///
    /// # Errors
    /// As of [`Sampler::edge_features`].
    pub fn edge_strings(
        &self,
        edges: Edges<'_>,
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut Strings,
    ) -> Result<()> {
        self.strings(Elements::Edges(edges), features, times, out)
    }

    /// Which nodes have a feature: of what is empty neither texts nor numbers tell.
    ///
    /// # Errors
    /// As of [`Sampler::node_features`].
    pub fn node_stated(&self, nodes: &[i64], feature: u32) -> Result<Vec<Stated>> {
        self.stated(Elements::Nodes(nodes), feature)
    }

    /// Which edges have a feature.
    ///
    /// # Errors
    /// As of [`Sampler::edge_features`].
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

    /// Sparse features of nodes, one of `out` for each feature.
    ///
    /// # Errors
    /// As of [`Sampler::node_features`]; `DEEPGNN-COORDINATES` when a feature has not the form of sparse ones, or nodes
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

    /// Sparse features of edges.
    ///
    /// # Errors
    /// As of [`Sampler::node_sparse`] and [`Sampler::edge_features`].
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

/// Elements with what is asked of them.
struct Asked<'a> {
    graph: &'a Graph,
    elements: Elements<'a>,
    times: Option<&'a [i64]>,
    /// Whether a hole ends the search, as in the published engine.
    holes: bool,
}

impl<'a> Asked<'a> {
    /// Looks ahead to features of the elements.
    fn ahead(&self, features: &'a [Dense]) -> Ahead<AtFeatures<'a>> {
        Ahead::new(AtFeatures { graph: self.graph, features })
    }

    /// Where the features of element `at` of `range` are, if `ahead` knows it.
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

    /// The bytes of a feature of an element.
    #[inline]
    fn feature(&self, at: usize, place: Option<FeaturesAt>, id: u32) -> Result<Option<&'a [u8]>> {
        if let (Some(place), None) = (place, self.times) {
            // One entry, whose holes hide nothing.
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
                Some(times) => match moments::value_at(bytes, times[at]) {
                    Some(value) => value.map(|(bytes, _)| bytes),
                    None => {
                        return Err(features.broken("the feature was stored without times").hint("ask without a time"));
                    }
                },
            };
            Ok(best.is_some())
        })?;
        Ok(best)
    }
}
