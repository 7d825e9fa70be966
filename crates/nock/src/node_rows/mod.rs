//! Settling: decides which row is chosen if a node has several, and finds the nodes without a row.
//!
//! The pass reads names only. Names are compared by 128-bit hashes (XXH3), as everywhere in the model; each row takes
//! 24 bytes, in shards that spill to temporary files when the budget is exhausted. The result is small: the rows to
//! drop, and the first mention of each node without a row. If a node has shadow rows, their values are read
//! too: a row with only the name must not hide a row with values.

mod collect;
mod decoded;
mod findings;
mod position;
mod resolve;
mod shadows;
mod shards;
mod threads;
mod values;

pub(crate) use collect::{Collector, is_foreign};
pub(crate) use decoded::{Kept, KeptPiece};
pub(crate) use position::Position;
pub(crate) use resolve::{Reader, resolve};
pub(crate) use shards::Shards;
pub(crate) use threads::side_by_side;
pub(crate) use values::Said;

use std::collections::BTreeSet;

use isomorph_error::Findings;

/// The result of comparing names.
#[derive(Debug, Clone, Default)]
pub struct Settled {
    /// Number of nodes, including those without their own row.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// Number of nodes without their own row, which only edge rows mention.
    pub implicit_nodes: u64,
    /// Number of foreign nodes that no partition here owns.
    pub unresolved_shadows: u64,
    /// Whether edges are in the order of their sources' rows.
    pub in_sequence: bool,
    /// Findings: repeated rows, several owners, missing rows and owners, contradicting rows.
    pub findings: Findings,
    /// Edge rows that do not follow the row of their node; only the first of each piece has a place.
    pub out_of_sequence: Findings,
    /// Pairs of partitions: a shadow row of the first names a node that is local in the second.
    pub(crate) ties: BTreeSet<(usize, usize)>,
    /// Rows that are dropped, ascending.
    pub(crate) dropped: Vec<Position>,
    /// First mentions of nodes without a row, ascending.
    pub(crate) implicit: Vec<Position>,
    /// For each piece, the number of its first node.
    pub(crate) starts: Vec<u64>,
}

impl Settled {
    /// Returns the dropped rows of `piece`, ascending.
    pub(crate) fn dropped_in(&self, piece: usize) -> &[Position] {
        Position::within(&self.dropped, piece)
    }

    /// Returns the first mentions in `piece` of nodes without a row, ascending.
    pub(crate) fn implicit_in(&self, piece: usize) -> &[Position] {
        Position::within(&self.implicit, piece)
    }
}
