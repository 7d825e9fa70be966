//! The digest of significant positions: vertex ids of GraphAr in addition to keys, slices of annnet.

use isomorph_error::Result;

use super::fact::{of_parts, stem};
use super::table::{Digest, Line, LineKind, Sum, Table};
use crate::batch::GroupBatch;
use crate::{Graph, KeyKind, NodeBatch};

/// Sums of (type, position, key) over the types whose order is significant.
#[derive(Debug, Clone, Default)]
pub struct OrderDigest {
    table: Table,
}

impl OrderDigest {
    /// Adds the rows of a batch, given the hashes of their keys (see [`super::key_hashes`]).
    ///
    /// # Errors
    /// Currently none; for future types whose order needs more than a key.
    pub fn nodes(&mut self, graph: &Graph, batch: &NodeBatch, keys: &[u128]) -> Result<()> {
        let Some(ty) = graph.nodes.get(batch.ty) else { return Ok(()) };
        // Without a key, the position is already content.
        if !ty.ordered || ty.key.kind == KeyKind::Row {
            return Ok(());
        }
        self.positions(LineKind::Nodes, &ty.name, batch.start, keys);
        Ok(())
    }

    /// Adds groups, given the hashes of their keys (see [`super::ContentDigest::groups`]).
    ///
    /// # Errors
    /// Currently none; for future kinds whose order needs more than a key.
    pub fn groups(&mut self, graph: &Graph, batch: &GroupBatch, keys: &[u128]) -> Result<()> {
        if let Some(kind) = graph.groups.get(batch.kind).filter(|kind| kind.ordered) {
            self.positions(LineKind::Groups, &kind.kind, batch.start, keys);
        }
        Ok(())
    }

    fn positions(&mut self, kind: LineKind, ty: &str, start: u64, keys: &[u128]) {
        let stem = stem("order", &[kind.word(), ty], "");
        let mut sum = Sum::default();
        for (offset, key) in keys.iter().enumerate() {
            sum.add(of_parts([stem, u128::from(start) + offset as u128, *key]));
        }
        self.table.merge_line(Line::new(kind, &[ty], ""), sum);
    }

    /// Adds the sums of another thread.
    pub fn merge(&mut self, other: OrderDigest) {
        self.table.merge(other.table);
    }

    /// Returns the digest.
    pub fn digest(&self) -> Digest {
        self.table.digest()
    }
}
