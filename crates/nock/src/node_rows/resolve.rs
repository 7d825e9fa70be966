//! Decides from the marks which rows are chosen.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use isomorph_error::{Place, Result};

use super::findings::{Breach, findings, out_of_sequence};
use super::shadows::{SaidAt, Shadows};
use super::shards::{Mark, SHARDS, Says, Shards};
use super::{Position, Settled, side_by_side};

/// Summary of one piece.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Piece {
    /// Number of rows.
    pub rows: u64,
    /// Number of node rows.
    pub nodes: u64,
    /// Number of edge rows.
    pub edges: u64,
    /// Hash of the name of the last node row, and whether that node is foreign.
    pub last: Option<(u128, bool)>,
    /// Number of edge rows after the row of a foreign node.
    pub foreign_edges: u64,
    /// Name and number of the edge rows before the first node row, if they all name one node.
    pub head: Option<(u128, u64)>,
    /// Number of edge rows that are certainly out of sequence.
    pub strays: u64,
    /// The first of them.
    pub first_stray: Option<u64>,
}

/// A hasher for values that are already hashes.
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

    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
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
    absent: Vec<Position>,
    unresolved: Vec<Position>,
    breaches: Vec<Breach>,
    shadows: Shadows,
    ties: BTreeSet<(usize, usize)>,
}

/// Callbacks into the files of the names.
pub(crate) struct Reader<'a> {
    /// Returns the place of a row.
    pub place_of: &'a dyn Fn(Position) -> Place,
    /// Returns the values of rows.
    pub said_at: &'a SaidAt<'a>,
}

/// Decides for all names which rows are chosen, on `threads` threads.
///
/// Of several node rows of one name, a local row takes precedence over foreign rows, then a later row over earlier ones. Of foreign
/// rows only, the one with the most values takes precedence, then the last one.
///
/// # Errors
/// Returns an error if temporary files or the values of shadow rows cannot be read.
pub(crate) fn resolve(
    shards: &Shards,
    pieces: &[Piece],
    threads: usize,
    partition_of: &(dyn Fn(usize) -> usize + Sync),
    reader: &Reader<'_>,
) -> Result<Settled> {
    let decided = side_by_side(SHARDS, threads, |shard| decide(shards, shard, partition_of))?;
    let mut all = Decided::default();
    for shard in decided {
        all.dropped.extend(shard.dropped);
        all.implicit.extend(shard.implicit);
        all.absent.extend(shard.absent);
        all.unresolved.extend(shard.unresolved);
        all.breaches.extend(shard.breaches);
        all.ties.extend(shard.ties);
        all.shadows.extend(shard.shadows);
    }
    let spoken = all.shadows.speak(partition_of, reader.said_at)?;
    all.dropped.extend(spoken.dropped);
    for row in &mut all.unresolved {
        *row = spoken.speakers.get(row).copied().unwrap_or(*row);
    }
    all.dropped.sort_unstable();
    all.implicit.sort_unstable();
    all.absent.sort_unstable();
    all.unresolved.sort_unstable();
    // The values of rows do not influence their order.
    let out_of_order = |breach: &Breach| !matches!(breach, Breach::Differs(_));
    let is_in_order = all.breaches.is_empty() && !spoken.breaches.iter().any(out_of_order);
    all.breaches.extend(spoken.breaches);

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
    settled.in_sequence = is_in_order && in_sequence(pieces, partition_of);
    settled.findings = findings(&all.implicit, &all.absent, &all.unresolved, all.breaches, reader.place_of);
    settled.out_of_sequence = out_of_sequence(pieces, partition_of, reader.place_of);
    settled.ties = all.ties;
    settled.dropped = all.dropped;
    settled.implicit = all.implicit;
    Ok(settled)
}

/// Returns whether the edges are in the order of their sources' rows: each after the chosen row of its node.
fn in_sequence(pieces: &[Piece], partition_of: &dyn Fn(usize) -> usize) -> bool {
    let mut last: Option<(usize, u128, bool)> = None;
    for (index, piece) in pieces.iter().enumerate() {
        let follows = |(head, _)| last.is_some_and(|before| before == (partition_of(index), head, false));
        if piece.strays > 0 || piece.foreign_edges > 0 || !piece.head.is_none_or(follows) {
            return false;
        }
        last = piece.last.map(|(hash, foreign)| (partition_of(index), hash, foreign)).or(last);
    }
    true
}

fn decide(shards: &Shards, shard: usize, partition_of: &(dyn Fn(usize) -> usize + Sync)) -> Result<Decided> {
    let nodes = shards.take(shard, Says::Node)?;
    let mut winners: ByName<Position> = ByName::with_capacity_and_hasher(nodes.len(), Default::default());
    let mut losers: Vec<Mark> = Vec::new();
    // The names of all rows that are not chosen, by partition.
    let mut others: HashSet<(u128, usize)> = HashSet::new();
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
        let (own, owner) = (partition_of(position.piece()), partition_of(winner.piece()));
        others.insert((loser.hash(), own));
        if winner.mark() {
            // All rows are shadow rows: their values decide.
            decided.shadows.open.push((winner, position));
            continue;
        }
        decided.dropped.push(position.unmarked());
        if own == owner {
            decided.breaches.push(Breach::Repeated(position));
        } else if position.mark() {
            decided.ties.insert((own, owner));
            decided.shadows.owned.push((winner, position));
        } else {
            decided.breaches.push(Breach::Owners(position));
        }
    }
    let mut implicit: ByName<Position> = ByName::default();
    let mut absent: HashMap<(u128, usize), Position> = HashMap::new();
    for mark in shards.take(shard, Says::Mention)? {
        let (hash, partition) = (mark.hash(), partition_of(mark.position.piece()));
        let first = match winners.get(&hash) {
            None => implicit.entry(hash).or_insert(mark.position),
            Some(winner) if partition_of(winner.piece()) == partition || others.contains(&(hash, partition)) => {
                continue;
            }
            Some(_) => absent.entry((hash, partition)).or_insert(mark.position),
        };
        *first = mark.position.min(*first);
    }
    decided.implicit.extend(implicit.into_values());
    decided.absent.extend(absent.into_values());
    decided.unresolved.extend(winners.into_values().filter(|winner| winner.mark()));
    Ok(decided)
}

/// Returns whether the first node row takes precedence over the second.
fn speaks_over(one: Position, other: Position) -> bool {
    (!one.mark(), one) > (!other.mark(), other)
}
