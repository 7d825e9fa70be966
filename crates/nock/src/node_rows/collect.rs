//! Collects names, piece by piece.

use isomorph_error::Result;
use xxhash_rust::xxh3::xxh3_128;

use super::shards::{Mark, Says, Shards, Waiting};
use super::{Position, resolve::Piece};
use crate::rows::{Rows, no_destination};

/// Number of marks of one shard that are passed on together: those of all shards fit into a processor's cache.
const TOGETHER: usize = 64;

/// Number of slots for recently seen names.
const RECENT: usize = 1 << 12;

/// Collects the names of one piece.
pub(crate) struct Collector<'a> {
    shards: &'a Shards,
    piece: usize,
    row: u64,
    waiting: Waiting,
    /// Hashes of recently seen names: the edges of a hub repeat its name.
    recent: Vec<u128>,
    /// Name of the node whose edge rows are being read.
    current: Vec<u8>,
    found: Piece,
}

impl<'a> Collector<'a> {
    /// Creates a collector for piece number `piece`.
    pub fn new(shards: &'a Shards, piece: usize) -> Self {
        Collector {
            shards,
            piece,
            row: 0,
            waiting: shards.waiting(),
            recent: vec![0; RECENT],
            current: Vec::new(),
            found: Piece::default(),
        }
    }

    /// Adds the next rows of the piece.
    ///
    /// # Errors
    /// Returns an error if the budget is exhausted and a temporary file cannot be written.
    pub fn add(&mut self, rows: &Rows) -> Result<()> {
        let nodes = rows.edge_ids.nodes();
        let views = rows.names.views();
        // The row of this batch that names the current node, if one does.
        let mut current: Option<usize> = None;
        for row in 0..rows.len {
            let name = rows.names.value(row);
            if nodes.value(row) {
                let foreign = rows.shadow.as_ref().is_some_and(|shadow| is_foreign(shadow, row));
                let hash = xxh3_128(name.as_bytes());
                self.push(hash, Says::Node, Position::new(self.piece, self.row, foreign))?;
                // Mentions of a node with a row are not needed.
                self.recent[hash as usize % RECENT] = hash;
                self.found.nodes += 1;
                self.found.last = Some((hash, foreign));
                current = Some(row);
            } else {
                // Equal views of one column mean equal texts: usually the texts need not be compared.
                let same = current.is_some_and(|current| views[current] == views[row]);
                let now = || current.map_or(self.current.as_slice(), |row| rows.names.value(row).as_bytes());
                if !same && (self.found.nodes == 0 || name.as_bytes() != now()) {
                    self.stray(name)?;
                }
                self.found.foreign_edges += u64::from(self.found.last.is_some_and(|(_, foreign)| foreign));
                match rows.dsts.as_ref().map(|names| names.value(row)) {
                    None | Some("") => return Err(no_destination(rows)),
                    Some(target) => self.mention(xxh3_128(target.as_bytes()), true)?,
                }
                self.found.edges += 1;
            }
            self.row += 1;
        }
        if let Some(row) = current {
            self.current.clear();
            self.current.extend_from_slice(rows.names.value(row).as_bytes());
        }
        Ok(())
    }

    /// Handles an edge row that does not follow its node row in this piece.
    fn stray(&mut self, name: &str) -> Result<()> {
        let hash = xxh3_128(name.as_bytes());
        if self.found.nodes == 0 && self.found.head.is_none_or(|(head, _)| head == hash) {
            // It may belong to the last node of the previous piece.
            let count = self.found.head.map_or(0, |(_, count)| count);
            self.found.head = Some((hash, count + 1));
        } else {
            self.found.strays += 1;
            self.found.first_stray.get_or_insert(self.row);
        }
        self.mention(hash, false)
    }

    fn mention(&mut self, hash: u128, target: bool) -> Result<()> {
        let slot = &mut self.recent[hash as usize % RECENT];
        if *slot == hash {
            return Ok(());
        }
        *slot = hash;
        self.push(hash, Says::Mention, Position::new(self.piece, self.row, target))
    }

    fn push(&mut self, hash: u128, says: Says, position: Position) -> Result<()> {
        let shard = Mark::shard(hash);
        let marks = &mut self.waiting[shard][says as usize];
        marks.push(Mark::new(hash, position));
        if marks.len() >= TOGETHER { self.shards.add(shard, says, marks) } else { Ok(()) }
    }

    /// Passes on the remaining marks, and returns a summary of the piece.
    ///
    /// # Errors
    /// As [`Collector::add`].
    pub fn finish(mut self) -> Result<Piece> {
        for (shard, [nodes, mentions]) in self.waiting.iter_mut().enumerate() {
            self.shards.add(shard, Says::Node, nodes)?;
            self.shards.add(shard, Says::Mention, mentions)?;
        }
        self.shards.give_back(self.waiting);
        Position::check(self.piece, self.row)?;
        self.found.rows = self.row;
        Ok(self.found)
    }
}

/// Returns whether a node row is a shadow row of a node in another partition.
pub(crate) fn is_foreign(shadow: &arrow_array::Int64Array, row: usize) -> bool {
    use arrow_array::Array;
    shadow.is_valid(row) && shadow.value(row) >= 0
}
