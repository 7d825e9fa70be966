//! Marks of rows, partitioned by hash so that each shard fits into memory.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile};

use super::Position;

/// Number of shards: with 10^9 names, each shard has 4 million.
pub(crate) const SHARDS: usize = 256;

/// Size of a mark in a temporary file, in bytes.
const MARK_BYTES: usize = 24;

/// Minimum number of marks in a shard for which removing repeated names is worthwhile.
const THIN_FROM: usize = 4096;

/// Number of marks that are written at once.
const WRITTEN_AT_ONCE: usize = 4096;

/// The hash of a name, and a row that contains the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    high: u64,
    low: u64,
    /// The row.
    pub position: Position,
}

impl Mark {
    /// Creates the mark of a name.
    #[expect(clippy::cast_possible_truncation, reason = "both halves are kept")]
    pub fn new(hash: u128, position: Position) -> Self {
        Mark { high: (hash >> 64) as u64, low: hash as u64, position }
    }

    /// Returns the hash of the name.
    pub fn hash(self) -> u128 {
        (u128::from(self.high) << 64) | u128::from(self.low)
    }

    /// Returns the shard of a name.
    pub fn shard(hash: u128) -> usize {
        (hash >> 120) as usize
    }
}

/// The role of a name in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// The row is the node's row; marked if the node is foreign.
    Node = 0,
    /// The row mentions the node as an end of an edge; marked for the destination.
    Mention = 1,
}

/// The marks of one shard and kind: in memory and in temporary files.
#[derive(Default)]
struct Shard {
    marks: Vec<Mark>,
    reserved: u64,
    spilled: Option<ScratchFile>,
}

impl Shard {
    /// Keeps only the first mark of each name in each partition: edges mention most names repeatedly.
    fn thin_out(&mut self, partitions: &[usize]) {
        // A stable sort, because the marks kept before are already in order.
        self.marks.sort();
        self.marks.dedup_by_key(|mark| (mark.hash(), partitions.get(mark.position.piece())));
    }

    /// Makes room for `more` marks of kind `says`: by removing repeated names if that frees a quarter, otherwise by growing.
    fn make_room(&mut self, says: Says, more: usize, partitions: &[usize]) {
        let capacity = self.marks.capacity();
        if says == Says::Mention && capacity >= THIN_FROM && self.marks.len() + more > capacity {
            self.thin_out(partitions);
            if self.marks.len() + more > capacity - capacity / 4 {
                self.marks.reserve_exact(2 * capacity - self.marks.len());
            }
        }
    }
}

/// Marks of every shard and kind that are waiting to be passed on.
pub(super) type Waiting = Vec<[Vec<Mark>; 2]>;

/// All marks.
pub(crate) struct Shards {
    shards: Vec<[Mutex<Shard>; 2]>,
    /// Buffers for the next collector: empty, but with capacity.
    spare: Mutex<Vec<Waiting>>,
    reservation: Mutex<Reservation>,
    /// Maximum memory in bytes.
    memory: u64,
    scratch: Option<Scratch>,
    /// The partition of each piece.
    partitions: Vec<usize>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shards {
    /// Creates empty shards for pieces in these `partitions`; at most half of the memory of `budget` is used, because many
    /// small allocations take more memory than is counted.
    ///
    /// # Errors
    /// Never fails because of a budget of 0 bytes.
    pub fn new(budget: &Budget, scratch: Option<Scratch>, partitions: Vec<usize>) -> Result<Self> {
        let shards = (0..SHARDS).map(|_| Default::default()).collect();
        Ok(Shards {
            shards,
            spare: Mutex::default(),
            reservation: Mutex::new(budget.reserve(0)?),
            memory: budget.limit() / 2,
            scratch,
            partitions,
        })
    }

    /// Returns buffers for the marks of a collector.
    pub fn waiting(&self) -> Waiting {
        lock(&self.spare).pop().unwrap_or_else(|| vec![Default::default(); SHARDS])
    }

    /// Takes back the buffers of a collector that has passed on all marks.
    pub fn give_back(&self, waiting: Waiting) {
        lock(&self.spare).push(waiting);
    }

    /// Moves `marks` into one shard, leaving `marks` empty.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn add(&self, shard: usize, says: Says, marks: &mut Vec<Mark>) -> Result<()> {
        let Some(slot) = self.shards.get(shard).map(|pair| &pair[says as usize]) else { return Ok(()) };
        let mut shard = lock(slot);
        shard.make_room(says, marks.len(), &self.partitions);
        shard.marks.append(marks);
        let held = (shard.marks.capacity() * size_of::<Mark>()) as u64;
        let grown = held.saturating_sub(shard.reserved);
        if grown == 0 {
            return Ok(());
        }
        let mut reservation = lock(&self.reservation);
        if reservation.bytes() + grown <= self.memory && reservation.try_grow(grown) {
            shard.reserved = held;
            return Ok(());
        }
        drop(reservation);
        if says == Says::Mention {
            shard.thin_out(&self.partitions);
        }
        self.spill(&mut shard)
    }

    fn spill(&self, shard: &mut Shard) -> Result<()> {
        if shard.spilled.is_none() {
            let scratch = match &self.scratch {
                Some(scratch) => scratch.clone(),
                None => Scratch::new(None)?,
            };
            shard.spilled = Some(scratch.create()?);
        }
        if let Some(file) = &mut shard.spilled {
            let mut bytes = Vec::with_capacity(WRITTEN_AT_ONCE.min(shard.marks.len()) * MARK_BYTES);
            for marks in shard.marks.chunks(WRITTEN_AT_ONCE) {
                bytes.clear();
                let words = marks.iter().flat_map(|mark| [mark.high, mark.low, mark.position.0]);
                words.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
                file.write_all(&bytes).map_err(|error| Error::from(error).at("temporary file"))?;
            }
        }
        lock(&self.reservation).shrink(std::mem::take(&mut shard.reserved));
        shard.marks = Vec::new();
        Ok(())
    }

    /// Takes the marks out of one shard, in no particular order.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be read.
    pub fn take(&self, shard: usize, says: Says) -> Result<Vec<Mark>> {
        let Some(slot) = self.shards.get(shard).map(|pair| &pair[says as usize]) else { return Ok(Vec::new()) };
        let shard = std::mem::take(&mut *lock(slot));
        lock(&self.reservation).shrink(shard.reserved);
        let Some(file) = shard.spilled else { return Ok(shard.marks) };
        let bytes = file.read_at(0..file.size())?;
        let mut marks = Vec::with_capacity(bytes.len() / MARK_BYTES + shard.marks.len());
        for mark in bytes.chunks_exact(MARK_BYTES) {
            let word = |at: usize| {
                let mut word = [0; 8];
                word.copy_from_slice(&mark[8 * at..8 * at + 8]);
                u64::from_le_bytes(word)
            };
            marks.push(Mark { high: word(0), low: word(1), position: Position(word(2)) });
        }
        marks.extend(shard.marks);
        Ok(marks)
    }

    /// Returns the number of bytes in temporary files.
    #[cfg(test)]
    pub fn spilled_bytes(&self) -> u64 {
        let size = |slot: &Mutex<Shard>| lock(slot).spilled.as_ref().map_or(0, ScratchFile::size);
        self.shards.iter().flatten().map(size).sum()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn marks_survive_without_memory() {
        let shards = Shards::new(&Budget::new(0), None, Vec::new()).unwrap();
        let mark =
            |n: u64| Mark::new(u128::from(n) << 64 | u128::from(n * 7), Position::new(3, n, n.is_multiple_of(2)));
        let mut wanted = Vec::new();
        for round in 0..10 {
            let mut marks: Vec<Mark> = (round * 1000..round * 1000 + 1000).map(mark).collect();
            wanted.extend_from_slice(&marks);
            shards.add(5, Says::Node, &mut marks).unwrap();
            assert!(marks.is_empty());
        }
        assert!(shards.spilled_bytes() > 0);
        let mut found = shards.take(5, Says::Node).unwrap();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        assert!(shards.take(5, Says::Node).unwrap().is_empty());
        assert!(shards.take(5, Says::Mention).unwrap().is_empty());
    }

    #[test]
    fn what_is_mentioned_often_is_kept_once_with_its_first_row() {
        for (memory, spills) in [(1 << 20, false), (64 << 10, true)] {
            let shards = Shards::new(&Budget::new(2 * memory), None, vec![0]).unwrap();
            // The same thousand names repeatedly, later rows first.
            for round in (0..200u64).rev() {
                let mark = |name: u64| Mark::new(u128::from(name), Position::new(0, round * 1000 + name, true));
                shards.add(0, Says::Mention, &mut (0..1000).map(mark).collect()).unwrap();
            }
            assert_eq!(shards.spilled_bytes() > 0, spills);
            let mut found = shards.take(0, Says::Mention).unwrap();
            assert!(found.len() < 100_000, "{} marks of 200,000", found.len());
            found.sort_unstable();
            found.dedup_by_key(|mark| mark.hash());
            let rows: Vec<u64> = found.iter().map(|mark| mark.position.row()).collect();
            assert_eq!(rows, (0..1000).collect::<Vec<_>>());
        }
    }
}
