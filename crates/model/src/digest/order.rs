//! The digest of positions that mean something: GraphAr vertex ids beside a key.

use isomorph_error::Result;

use super::fact::{key_stem, of_parts, stem};
use super::table::{Digest, Line, LineKind, Sum, Table};
use crate::{Graph, KeyKind, NodeBatch};

/// Sums (type, position, key) over the node types whose order means something.
#[derive(Debug, Clone, Default)]
pub struct OrderDigest {
    table: Table,
}

impl OrderDigest {
    /// Adds the rows of a batch, given the hashes of their keys (see [`super::key_hashes`]).
    ///
    /// # Errors
    /// None today; kept for types whose order needs more than a key.
    pub fn nodes(&mut self, graph: &Graph, batch: &NodeBatch, keys: &[u128]) -> Result<()> {
        let Some(ty) = graph.nodes.get(batch.ty) else { return Ok(()) };
        // Without a key the position is content already.
        if !ty.ordered || ty.key.kind == KeyKind::Row {
            return Ok(());
        }
        let stem = stem("order", &[&ty.name], "");
        let mut sum = Sum::default();
        for (offset, key) in keys.iter().enumerate() {
            sum.add(of_parts([stem, u128::from(batch.start) + offset as u128, *key]));
        }
        let line = Line { kind: LineKind::Nodes, ty: vec![ty.name.clone()], property: String::new() };
        self.table.merge_line(line, sum);
        Ok(())
    }

    /// Adds what another thread has summed.
    pub fn merge(&mut self, other: OrderDigest) {
        self.table.merge(other.table);
    }

    /// The digest.
    pub fn digest(&self) -> Digest {
        self.table.digest()
    }
}

/// The stem of the keys of a node type.
pub(super) fn node_key_stem(graph: &Graph, ty: usize) -> u128 {
    graph.nodes.get(ty).map_or(0, |ty| key_stem("nodes", &[&ty.name], ty.key.kind))
}
