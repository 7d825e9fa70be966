//! Nodes and edges as records, sorted as the specification requires, in memory or, beyond it, in a temporary file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write;

use isomorph_error::{Result, index};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile, pool};
use rayon::slice::ParallelSliceMut;

/// Memory is taken from the budget in steps of this many bytes.
const STEP: u64 = 1 << 20;

/// Minimum memory in bytes, so that runs are not tiny.
const LEAST: usize = 1 << 20;

/// Minimum and maximum number of bytes of a run that are read at a time.
const READ: (u64, u64) = (4 << 10, 256 << 10);

/// The sort key of records: by node, the node before its edges; edges by type, times and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The node, or the source of the edge.
    pub id: u64,
    /// 0 for a node, the type plus one for an edge.
    pub rank: u32,
    /// Times, if edges have them; edges that never end come last. The published converter also sorts edges of JSON by
    /// times.
    pub created: i64,
    pub removed: End,
    /// The target of an edge, the type of a node.
    pub other: u64,
}

/// The end of a lifetime, in chronological order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End(i64);

impl End {
    /// It never ends.
    pub const NEVER: End = End(i64::MAX);

    /// Returns the end at a time; −1 means that there is none, so that times from 0 on are shifted down by one.
    pub fn at(time: i64) -> End {
        match time {
            -1 => End::NEVER,
            0.. => End(time - 1),
            _ => End(time),
        }
    }

    /// Returns its time, or −1.
    pub fn time(self) -> i64 {
        match self.0 {
            i64::MAX => -1,
            -1.. => self.0 + 1,
            _ => self.0,
        }
    }
}

/// A record in memory. Records with equal keys keep their input order.
type Entry = (Key, usize, usize);

/// Bytes of a key in a file.
const KEY: usize = 36;

/// A collector of records.
pub(crate) struct Records {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    held: Reservation,
    /// Maximum number of bytes held.
    most: u64,
    scratch: Scratch,
    file: Option<ScratchFile>,
    /// Starts and ends of the sorted runs in the file.
    runs: Vec<(u64, u64)>,
}

impl Records {
    /// Creates an empty collector that may use half of `budget`.
    ///
    /// # Errors
    /// Returns an error if temporary files cannot be created.
    pub fn new(budget: &Budget, scratch: Option<&Scratch>) -> Result<Self> {
        Ok(Records {
            entries: Vec::new(),
            bytes: Vec::new(),
            held: budget.reserve(0)?,
            most: budget.limit() / 2,
            scratch: scratch.cloned().map_or_else(|| Scratch::new(None), Ok)?,
            file: None,
            runs: Vec::new(),
        })
    }

    /// Adds a record, whose bytes `append` appends.
    ///
    /// # Errors
    /// Returns the errors of `append`, and an error if a temporary file cannot be written.
    pub(super) fn push(&mut self, key: Key, append: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        append(&mut self.bytes)?;
        self.entries.push((key, start, self.bytes.len()));
        let used = self.bytes.len() + self.entries.len() * size_of::<Entry>();
        if used as u64 > self.held.bytes()
            && (self.held.bytes() + STEP > self.most || !self.held.try_grow(STEP))
            && used > LEAST
        {
            self.spill()?;
        }
        Ok(())
    }

    /// Adds an id without a record; `what` says what it is the id of, and is part of the sort key.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn push_id(&mut self, id: u64, what: u32) -> Result<()> {
        self.push(Key { id, rank: what, created: 0, removed: End::NEVER, other: 0 }, |_| Ok(()))
    }

    /// Delivers ids in their order, each with `what`.
    ///
    /// # Errors
    /// Returns the errors of [`Records::each`].
    pub fn each_id(self, mut take: impl FnMut(u64, u32) -> Result<()>) -> Result<()> {
        self.each(|key, _| take(key.id, key.rank))
    }

    fn sort(&mut self) {
        pool::run(|| self.entries.par_sort_unstable());
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(self.scratch.create()?),
        };
        let start = file.size();
        let mut out = Vec::with_capacity(index(STEP) + KEY);
        for (key, from, to) in &self.entries {
            let bytes = self.bytes.get(*from..*to).unwrap_or_default();
            out.extend_from_slice(&key.id.to_le_bytes());
            out.extend_from_slice(&key.rank.to_le_bytes());
            out.extend_from_slice(&key.created.to_le_bytes());
            out.extend_from_slice(&key.removed.0.to_le_bytes());
            out.extend_from_slice(&key.other.to_le_bytes());
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            out.extend_from_slice(bytes);
            if out.len() as u64 >= STEP {
                file.write_all(&out)?;
                out.clear();
            }
        }
        file.write_all(&out)?;
        self.runs.push((start, file.size()));
        self.entries.clear();
        self.bytes.clear();
        Ok(())
    }

    /// Delivers the records in their order.
    ///
    /// # Errors
    /// Returns the errors of `take`, and an error if a temporary file cannot be written or read.
    pub(super) fn each(mut self, mut take: impl FnMut(Key, &[u8]) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            self.sort();
            let bytes = &self.bytes;
            return self
                .entries
                .iter()
                .try_for_each(|(key, from, to)| take(*key, bytes.get(*from..*to).unwrap_or_default()));
        }
        if !self.entries.is_empty() {
            self.spill()?;
        }
        let Some(file) = self.file.take() else { return Ok(()) };
        let size = (self.held.bytes() / self.runs.len() as u64).clamp(READ.0, READ.1);
        // Everything collected is now in the file.
        (self.entries, self.bytes) = (Vec::new(), Vec::new());
        let mut runs: Vec<Run<'_>> = self.runs.iter().map(|(start, end)| Run::new(&file, *start, *end, size)).collect();
        let mut heap = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            heap.extend(run.next_key()?.map(|key| Reverse((key, number))));
        }
        // If keys are equal, earlier runs come first.
        while let Some(Reverse((key, number))) = heap.pop() {
            let Some(run) = runs.get_mut(number) else { break };
            take(key, run.record()?)?;
            heap.extend(run.next_key()?.map(|key| Reverse((key, number))));
        }
        Ok(())
    }
}

/// A sorted run that is read from its beginning.
struct Run<'a> {
    file: &'a ScratchFile,
    /// Position of the next bytes that are not in the buffer.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
    /// Length of the current record in bytes.
    length: usize,
    size: u64,
}

impl<'a> Run<'a> {
    fn new(file: &'a ScratchFile, start: u64, end: u64, size: u64) -> Self {
        Run { file, next: start, end, buffer: Vec::new(), at: 0, length: 0, size }
    }

    /// Makes sure that `wanted` bytes are in the buffer, if the run has them.
    fn fill(&mut self, wanted: usize) -> Result<()> {
        let left = self.buffer.len() - self.at;
        if left >= wanted {
            return Ok(());
        }
        self.buffer.copy_within(self.at.., 0);
        self.buffer.truncate(left);
        self.at = 0;
        let more = (self.size.max((wanted - left) as u64)).min(self.end - self.next);
        self.buffer.resize(left + index(more), 0);
        self.file.read_exact_at(&mut self.buffer[left..], self.next)?;
        self.next += more;
        Ok(())
    }

    fn next_key(&mut self) -> Result<Option<Key>> {
        self.fill(KEY + 8)?;
        let Some(head) = self.buffer.get(self.at..self.at + KEY + 8) else { return Ok(None) };
        let word = |at: usize| head[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let rank = head[8..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let (created, removed) = (word(12).cast_signed(), End(word(20).cast_signed()));
        let key = Key { id: word(0), rank, created, removed, other: word(28) };
        self.length = index(word(KEY));
        self.at += KEY + 8;
        Ok(Some(key))
    }

    /// Returns the bytes after the key that was read last.
    fn record(&mut self) -> Result<&[u8]> {
        self.fill(self.length)?;
        let record = self.buffer.get(self.at..self.at + self.length).unwrap_or_default();
        self.at += self.length;
        Ok(record)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sorted(budget: u64) -> (Vec<(Key, Vec<u8>)>, usize) {
        let mut records = Records::new(&Budget::new(budget), None).unwrap();
        for n in 0..100_000u64 {
            let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let key =
                Key { id: mixed % 1000, rank: (mixed % 3) as u32, created: 0, removed: End::NEVER, other: mixed % 2 };
            // Long records between short ones.
            let bytes = vec![n as u8; if n == 77 { 300_000 } else { n as usize % 5 }];
            let append = |out: &mut Vec<u8>| {
                out.extend_from_slice(&bytes);
                Ok(())
            };
            records.push(key, append).unwrap();
        }
        let (mut all, runs) = (Vec::new(), records.runs.len());
        let keep = |key, bytes: &[u8]| {
            all.push((key, bytes.to_vec()));
            Ok(())
        };
        records.each(keep).unwrap();
        (all, runs)
    }

    #[test]
    fn ends_are_in_the_order_of_time() {
        let times = [i64::MIN, -2, 0, 1, i64::MAX, -1];
        assert!(times.map(End::at).is_sorted());
        assert_eq!(times.map(|time| End::at(time).time()), times);
    }

    #[test]
    fn the_same_order_with_and_without_memory() {
        let (roomy, runs) = sorted(1 << 30);
        assert_eq!((roomy.len(), runs), (100_000, 0));
        assert!(roomy.is_sorted_by_key(|(key, _)| *key));
        let (tight, runs) = sorted(0);
        assert!(runs > 4, "{runs}");
        assert!(roomy == tight, "the order depends on the memory");
    }
}
