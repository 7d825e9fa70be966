//! Slices of new elements, in addition to the default slice, which lists everything.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Result};
use isomorph_model::batch::{Ends, MembershipBatch};

use crate::read::slices::Slices;
use crate::rules;

/// Memberships while they are collected.
pub(super) struct Listed<'a> {
    slices: &'a Slices,
    /// The slice that contains all new elements anyway.
    default: String,
    nodes: Rows,
    edges: [Rows; 3],
}

#[derive(Default)]
struct Rows {
    slices: StringBuilder,
    members: StringBuilder,
    weights: Float64Builder,
}

/// The membership table that a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Edges with two ends.
    Edges,
    /// Hyperedges.
    Hyperedges,
    /// Edges that are entities without ends.
    Placeholders,
}

impl<'a> Listed<'a> {
    /// Creates an empty collection for the slices of a graph.
    pub fn new(slices: &'a Slices, default: &str) -> Self {
        Listed { slices, default: default.to_owned(), nodes: Rows::default(), edges: Default::default() }
    }

    fn check(&self, slice: &str) -> Result<()> {
        match self.slices.find(slice).is_some() {
            true => Ok(()),
            false => Err(Error::broken(&rules::SLICE_UNKNOWN, format!("there is no slice {slice:?}"))),
        }
    }

    /// Lists a vertex in a slice.
    ///
    /// # Errors
    /// Returns an error if the slice does not exist.
    pub fn node(&mut self, slice: &str, id: &str) -> Result<()> {
        self.check(slice)?;
        if slice != self.default {
            self.nodes.push(slice, id, None);
        }
        Ok(())
    }

    /// Lists an edge in a slice, with its weight there.
    ///
    /// # Errors
    /// Returns an error if the slice does not exist.
    pub fn edge(&mut self, of: Of, slice: &str, id: &str, weight: Option<f64>) -> Result<()> {
        self.check(slice)?;
        if slice != self.default || weight.is_some() {
            self.edges[of as usize].push(slice, id, weight);
        }
        Ok(())
    }

    /// Returns the batches for group kind 0: nodes, then the three tables of edges.
    pub fn finish(mut self) -> Vec<MembershipBatch> {
        let mut batches = vec![self.nodes.finish(0, false)];
        batches.extend(self.edges.iter_mut().enumerate().map(|(at, rows)| rows.finish(at + 1, true)));
        batches.retain(|batch| !batch.member.is_empty());
        batches
    }
}

impl Rows {
    fn push(&mut self, slice: &str, id: &str, weight: Option<f64>) {
        self.slices.append_value(slice);
        self.members.append_value(id);
        self.weights.append_option(weight);
    }

    fn finish(&mut self, table: usize, weighted: bool) -> MembershipBatch {
        let weights: ArrayRef = Arc::new(self.weights.finish());
        let weights = (weights.null_count() < weights.len()).then_some(weights);
        MembershipBatch {
            kind: 0,
            table,
            group: Ends::Keys(Arc::new(self.slices.finish())),
            member: Ends::Keys(Arc::new(self.members.finish())),
            properties: if weighted { vec![weights] } else { Vec::new() },
        }
    }
}
