//! From marks to decisions.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use isomorph_error::{Place, Result};

use super::findings::{Breach, findings, out_of_sequence};
use super::shards::{Mark, SHARDS, Says, Shards};
use super::{Position, Settled, side_by_side};

/// What was found in one piece.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Piece {
    /// Rows.
    pub rows: u64,
    /// Node rows.
    pub nodes: u64,
    /// Edge rows.
    pub edges: u64,
    /// Hash of the name of the last node row, and whether that node is foreign.
    pub last: Option<(u128, bool)>,
    /// Edge rows behind the row of a foreign node.
    pub foreign_edges: u64,
    /// Name and number of the edge rows before the first node row, as long as they name one node.
    pub head: Option<(u128, u64)>,
    /// Edge rows that are certainly out of sequence.
    pub strays: u64,
    /// The first of them.
    pub first_stray: Option<u64>,
}

/// A hash of something that is a hash already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is one")]
    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }
}

type ByName<T> = HashMap<u128, T, BuildHasherDefault<AsIs>>;

/// Decisions of one shard.
#[derive(Default)]
struct Decided {
    dropped: Vec<Position>,
    implicit: Vec<Position>,
    unresolved: Vec<Position>,
    breaches: Vec<Breach>,
    ties: BTreeSet<(usize, usize)>,
}

/// Decides for all names, on `threads` threads. `partition_of` gives the partition of a piece, `place_of` the place of a row.
///
/// Of several node rows of one name a local one wins over foreign ones, then the last one over earlier ones.
///
/// # Errors
/// When temporary files cannot be read.
pub(crate) fn resolve(
    shards: &Shards,
    pieces: &[Piece],
    threads: usize,
    partition_of: &(dyn Fn(usize) -> usize + Sync),
    place_of: &dyn Fn(Position) -> Place,
) -> Result<Settled> {
    let decided = side_by_side(SHARDS, threads, |shard| decide(shards, shard, partition_of))?;
    let mut all = Decided::default();
    for shard in decided {
        all.dropped.extend(shard.dropped);
        all.implicit.extend(shard.implicit);
        all.unresolved.extend(shard.unresolved);
        all.breaches.extend(shard.breaches);
        all.ties.extend(shard.ties);
    }
    all.dropped.sort_unstable();
    all.implicit.sort_unstable();
    all.unresolved.sort_unstable();

    let mut settled = Settled {
        edges: pieces.iter().map(|piece| piece.edges).sum(),
        implicit_nodes: all.implicit.len() as u64,
        unresolved_shadows: all.unresolved.len() as u64,
        ..Settled::default()
    };
    for (index, piece) in pieces.iter().enumerate() {
        settled.starts.push(settled.nodes);
        let dropped = Position::within(&all.dropped, index).len() as u64;
        settled.nodes += piece.nodes.saturating_sub(dropped);
    }
    settled.nodes += settled.implicit_nodes;
    settled.in_sequence = in_sequence(pieces, &all.breaches, partition_of);
    settled.findings = findings(&all.implicit, &all.unresolved, all.breaches, place_of);
    settled.out_of_sequence = out_of_sequence(pieces, partition_of, place_of);
    settled.ties = all.ties;
    settled.dropped = all.dropped;
    settled.implicit = all.implicit;
    Ok(settled)
}

/// Whether the edges come in the order of their sources' rows: each behind the row that speaks for its node.
fn in_sequence(pieces: &[Piece], breaches: &[Breach], partition_of: &dyn Fn(usize) -> usize) -> bool {
    let mut last: Option<(usize, u128, bool)> = None;
    for (index, piece) in pieces.iter().enumerate() {
        let follows = |(head, _)| last.is_some_and(|before| before == (partition_of(index), head, false));
        if piece.strays > 0 || piece.foreign_edges > 0 || !piece.head.is_none_or(follows) {
            return false;
        }
        last = piece.last.map(|(hash, foreign)| (partition_of(index), hash, foreign)).or(last);
    }
    breaches.is_empty()
}

fn decide(shards: &Shards, shard: usize, partition_of: &(dyn Fn(usize) -> usize + Sync)) -> Result<Decided> {
    let nodes = shards.take(shard, Says::Node)?;
    let mut winners: ByName<Position> = ByName::with_capacity_and_hasher(nodes.len(), Default::default());
    let mut losers: Vec<Mark> = Vec::new();
    for mark in nodes {
        let hash = mark.hash();
        winners
            .entry(hash)
            .and_modify(|winner| {
                let (first, second) = if speaks_over(mark.position, *winner) {
                    (mark.position, *winner)
                } else {
                    (*winner, mark.position)
                };
                *winner = first;
                losers.push(Mark::new(hash, second));
            })
            .or_insert(mark.position);
    }
    let mut decided = Decided::default();
    for loser in losers {
        let Some(&winner) = winners.get(&loser.hash()) else { continue };
        let position = loser.position;
        decided.dropped.push(Position::new(position.piece(), position.row(), false));
        let (own, owner) = (partition_of(position.piece()), partition_of(winner.piece()));
        let together = own == owner;
        match (position.mark(), winner.mark()) {
            (_, _) if together => decided.breaches.push(Breach::Repeated(position)),
            (false, false) => decided.breaches.push(Breach::Owners(position)),
            // A shadow row whose owner is here.
            (true, false) => drop(decided.ties.insert((own, owner))),
            // One of several whose owner is nowhere.
            _ => {}
        }
    }
    let mut implicit: ByName<Position> = ByName::default();
    for mark in shards.take(shard, Says::Mention)? {
        if !winners.contains_key(&mark.hash()) {
            let first = implicit.entry(mark.hash()).or_insert(mark.position);
            *first = mark.position.min(*first);
        }
    }
    decided.implicit.extend(implicit.into_values());
    decided.unresolved.extend(winners.into_values().filter(|winner| winner.mark()));
    Ok(decided)
}

/// Whether a node row speaks for its node rather than another one.
fn speaks_over(one: Position, other: Position) -> bool {
    (!one.mark(), one) > (!other.mark(), other)
}
