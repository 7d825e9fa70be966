//! Marks of rows, kept apart by hash so that each part fits memory.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile};

use super::Position;

/// Number of shards: a dataset of 10^9 names has 4 million in each.
pub(crate) const SHARDS: usize = 256;

/// Bytes of a mark in a temporary file.
const MARK_BYTES: usize = 24;

/// A name, by its hash, and a row that speaks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    high: u64,
    low: u64,
    /// The row.
    pub position: Position,
}

impl Mark {
    /// The mark of a name.
    pub fn new(hash: u128, position: Position) -> Self {
        Mark { high: (hash >> 64) as u64, low: hash as u64, position }
    }

    /// The hash of the name.
    pub fn hash(self) -> u128 {
        (u128::from(self.high) << 64) | u128::from(self.low)
    }

    /// The shard of a name.
    pub fn shard(hash: u128) -> usize {
        (hash >> 120) as usize
    }
}

/// What a row says of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// It is the node's row; marked when the node is foreign.
    Node = 0,
    /// It mentions the node as an end of an edge; marked for the destination.
    Mention = 1,
}

/// The marks of one shard and kind: in memory, and what had to be written out.
#[derive(Default)]
struct Shard {
    marks: Vec<Mark>,
    reserved: u64,
    spilled: Option<ScratchFile>,
}

/// All marks.
pub(crate) struct Shards {
    shards: Vec<[Mutex<Shard>; 2]>,
    reservation: Mutex<Reservation>,
    scratch: Option<Scratch>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shards {
    /// No marks; memory is taken from `budget`.
    ///
    /// # Errors
    /// None that a budget of 0 bytes can cause.
    pub fn new(budget: &Budget, scratch: Option<Scratch>) -> Result<Self> {
        let shards = (0..SHARDS).map(|_| Default::default()).collect();
        Ok(Shards { shards, reservation: Mutex::new(budget.reserve(0)?), scratch })
    }

    /// Takes over the marks of one shard and leaves `marks` empty.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn add(&self, shard: usize, says: Says, marks: &mut Vec<Mark>) -> Result<()> {
        let Some(slot) = self.shards.get(shard).map(|pair| &pair[says as usize]) else { return Ok(()) };
        let mut shard = lock(slot);
        shard.marks.append(marks);
        let held = (shard.marks.capacity() * size_of::<Mark>()) as u64;
        let grown = held.saturating_sub(shard.reserved);
        if grown == 0 {
            return Ok(());
        }
        if lock(&self.reservation).try_grow(grown) {
            shard.reserved = held;
            return Ok(());
        }
        self.spill(&mut shard)
    }

    fn spill(&self, shard: &mut Shard) -> Result<()> {
        let mut bytes = Vec::with_capacity(shard.marks.len() * MARK_BYTES);
        for mark in &shard.marks {
            for word in [mark.high, mark.low, mark.position.0] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        if shard.spilled.is_none() {
            let scratch = match &self.scratch {
                Some(scratch) => scratch.clone(),
                None => Scratch::new(None)?,
            };
            shard.spilled = Some(scratch.create()?);
        }
        if let Some(file) = &mut shard.spilled {
            file.write_all(&bytes).map_err(|error| Error::from(error).at("temporary file"))?;
        }
        lock(&self.reservation).shrink(std::mem::take(&mut shard.reserved));
        shard.marks = Vec::new();
        Ok(())
    }

    /// Takes the marks of one shard out, in no order.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
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

    /// Bytes in temporary files.
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
        let shards = Shards::new(&Budget::new(0), None).unwrap();
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
}
