//! Features of nodes and edges.
//!
//! A binary does not say of what type a feature is: who asks says how many bytes of each are wanted, or asks for texts or sparse
//! features.

mod found;
mod moments;

use std::ops::Range;

use isomorph_deepgnn::rules;
use isomorph_error::{Error, Result};

use crate::ask::Generator;
use crate::graph::{Graph, fits};
use crate::sampler::Sampler;
use found::Elements;

/// Elements below which a batch is not divided among threads.
const ALONE: usize = 64;

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

    fn dense(&self, elements: Elements<'_>, features: &[Dense], times: Option<&[i64]>, out: &mut [u8]) -> Result<()> {
        let count = elements.check(times)?;
        let width = features.iter().try_fold(0usize, |sum, feature| sum.checked_add(feature.bytes));
        let width = width.ok_or_else(|| Error::usage("the features are too long"))?;
        fits(count.saturating_mul(width), out.len())?;
        let asked = Asked { graph: &self.graph, elements, times, holes: self.generator == Generator::Compat };
        dense(&asked, 0..count, features, width, self.workers.len(), out)
    }

    fn strings(
        &self,
        elements: Elements<'_>,
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut Strings,
    ) -> Result<()> {
        let count = elements.check(times)?;
        out.bytes.clear();
        out.lengths.clear();
        let asked = Asked { graph: &self.graph, elements, times, holes: self.generator == Generator::Compat };
        for at in 0..count {
            for feature in features {
                let bytes = asked.feature(at, *feature)?.unwrap_or_default();
                out.bytes.extend_from_slice(bytes);
                out.lengths.push(bytes.len() as u64);
            }
        }
        Ok(())
    }

    fn sparse(
        &self,
        elements: Elements<'_>,
        features: &[u32],
        times: Option<&[i64]>,
        out: &mut [Sparse],
    ) -> Result<()> {
        let count = elements.check(times)?;
        fits(features.len(), out.len())?;
        let asked = Asked { graph: &self.graph, elements, times, holes: self.generator == Generator::Compat };
        for (feature, out) in features.iter().zip(out) {
            out.indices.clear();
            out.values.clear();
            out.dimensions = 0;
            for at in 0..count {
                let bytes = asked.feature(at, *feature)?.unwrap_or_default();
                if !bytes.is_empty() {
                    out.add(at, bytes)?;
                }
            }
        }
        Ok(())
    }
}

impl Sparse {
    /// Adds a stored feature: number of coordinates and of those of a point (32 bits each), coordinates, values.
    fn add(&mut self, row: usize, bytes: &[u8]) -> Result<()> {
        let wrong = |what: &str| Error::broken(&rules::COORDINATES, what.to_owned());
        let head =
            |at: usize| bytes.get(at..at + 4).and_then(|four| four.first_chunk()).map(|four| u32::from_le_bytes(*four));
        let (Some(count), Some(each)) = (head(0), head(4)) else {
            return Err(wrong("a feature is too short for a sparse one"));
        };
        let end = (count as usize).saturating_mul(8).saturating_add(8);
        if each == 0 || count % each != 0 || bytes.len() < end {
            return Err(wrong("a feature has not the form of a sparse one"));
        }
        if self.dimensions != 0 && self.dimensions != each {
            return Err(wrong(&format!("points of {each} coordinates, where others have {}", self.dimensions)));
        }
        self.dimensions = each;
        let coordinates = bytes[8..end].as_chunks::<8>().0;
        for point in coordinates.chunks_exact(each as usize) {
            self.indices.push(row as i64);
            self.indices.extend(point.iter().map(|number| i64::from_le_bytes(*number)));
        }
        self.values.extend_from_slice(&bytes[end..]);
        Ok(())
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
    /// The bytes of a feature of an element.
    #[inline]
    fn feature(&self, at: usize, id: u32) -> Result<Option<&'a [u8]>> {
        let mut best = None;
        self.elements.each(self.graph, at, &mut |features, slots| {
            let Some(bytes) = features.get(&slots, id)? else { return Ok(false) };
            if bytes.is_empty() {
                return Ok(self.holes);
            }
            best = match self.times {
                None => Some(bytes),
                Some(times) => match moments::value_at(bytes, times[at]) {
                    Some(value) => value,
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

fn dense(
    asked: &Asked<'_>,
    range: Range<usize>,
    features: &[Dense],
    width: usize,
    threads: usize,
    out: &mut [u8],
) -> Result<()> {
    if threads > 1 && range.len() >= 2 * ALONE {
        let middle = range.start + range.len() / 2;
        let (left, right) = out.split_at_mut((middle - range.start) * width);
        let (first, second) = rayon::join(
            || dense(asked, range.start..middle, features, width, threads / 2, left),
            || dense(asked, middle..range.end, features, width, threads - threads / 2, right),
        );
        return first.and(second);
    }
    if width == 0 {
        return Ok(());
    }
    for (at, row) in range.zip(out.chunks_exact_mut(width)) {
        let mut rest = row;
        for feature in features {
            let (place, others) = rest.split_at_mut(feature.bytes);
            let bytes = asked.feature(at, feature.id)?.unwrap_or_default();
            let copied = bytes.len().min(place.len());
            let (begin, end) = place.split_at_mut(copied);
            begin.copy_from_slice(&bytes[..copied]);
            end.fill(0);
            rest = others;
        }
    }
    Ok(())
}
