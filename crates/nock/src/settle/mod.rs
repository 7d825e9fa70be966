//! Settling: which row speaks for a node when several do, and which nodes have no row at all.
//!
//! A pass over names alone. Names are compared by 128-bit hashes (XXH3), as everywhere in the model; what is kept of a
//! row are 24 bytes, in shards that spill to temporary files when the budget is used up. The result is small: rows to
//! leave out, and the first mention of each node without a row. Where a node has shadow rows, what these say is read
//! too: a row that only names the node must not silence one that says something of it.

mod collect;
mod findings;
mod kept;
mod position;
mod resolve;
mod said;
mod shadows;
mod shards;
mod side_by_side;

pub(crate) use collect::{Collector, is_foreign};
pub(crate) use kept::{Kept, KeptPiece};
pub(crate) use position::Position;
pub(crate) use resolve::{Reader, resolve};
pub(crate) use said::Said;
pub(crate) use shards::Shards;
pub(crate) use side_by_side::side_by_side;

use std::collections::BTreeSet;

use isomorph_error::Findings;

/// What a pass over the names found out.
#[derive(Debug, Clone, Default)]
pub struct Settled {
    /// Number of nodes, those without a row of their own included.
    pub nodes: u64,
    /// Number of edges.
    pub edges: u64,
    /// Nodes without a row of their own, which only edge rows mention.
    pub implicit_nodes: u64,
    /// Foreign nodes of which no partition says that it owns them.
    pub unresolved_shadows: u64,
    /// Whether edges come in the order of their sources' rows.
    pub in_sequence: bool,
    /// What was noticed: repeated rows, several owners, missing rows and owners, rows that contradict each other.
    pub findings: Findings,
    /// Edge rows that do not follow the row of their node; of each piece only the first has a place.
    pub out_of_sequence: Findings,
    /// Pairs of partitions: a shadow row of the first names a node that is local in the second.
    pub(crate) ties: BTreeSet<(usize, usize)>,
    /// Rows that are left out, ascending.
    pub(crate) dropped: Vec<Position>,
    /// First mentions of nodes without a row, ascending.
    pub(crate) implicit: Vec<Position>,
    /// For each piece, the number of its first node.
    pub(crate) starts: Vec<u64>,
}

impl Settled {
    /// Rows of `piece` that are left out: their numbers in the piece, ascending.
    pub(crate) fn dropped_in(&self, piece: usize) -> &[Position] {
        Position::within(&self.dropped, piece)
    }

    /// First mentions in `piece` of nodes without a row, ascending.
    pub(crate) fn implicit_in(&self, piece: usize) -> &[Position] {
        Position::within(&self.implicit, piece)
    }
}
