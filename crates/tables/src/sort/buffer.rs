//! Edges in memory that wait to be sorted.

use arrow_array::ArrayRef;

use super::keys::{Layout, width};
use super::sequence::Numbers;

/// Both ends of the edges of a push.
pub(super) enum Keys {
    /// `aligned · 2^32 + other`, if both ends have at most 32 bits.
    Narrow(Vec<u64>),
    /// (aligned, other).
    Wide(Vec<(u64, u64)>),
}

/// The edges of a push.
pub(super) struct Chunk {
    pub keys: Keys,
    pub payload: Vec<ArrayRef>,
    pub numbers: Numbers,
    payload_bytes: usize,
    /// The number of significant bits of the aligned and of the other ends.
    widths: (u32, u32),
    ascending: bool,
}

impl Chunk {
    /// `payload_bytes` is the size of the payload.
    pub fn new(aligned: &[u64], other: &[u64], payload: Vec<ArrayRef>, payload_bytes: usize, numbers: Numbers) -> Self {
        let widths = (width(union(aligned)), width(union(other)));
        let pairs = || aligned.iter().copied().zip(other.iter().copied());
        let (keys, ascending) = if widths.0.max(widths.1) <= u32::BITS {
            let keys: Vec<u64> = pairs().map(|(aligned, other)| aligned << u32::BITS | other).collect();
            let ascending = keys.is_sorted();
            (Keys::Narrow(keys), ascending)
        } else {
            let keys: Vec<(u64, u64)> = pairs().collect();
            let ascending = keys.is_sorted();
            (Keys::Wide(keys), ascending)
        };
        Chunk { keys, payload, numbers, payload_bytes, widths, ascending }
    }

    pub fn rows(&self) -> usize {
        match &self.keys {
            Keys::Narrow(keys) => keys.len(),
            Keys::Wide(keys) => keys.len(),
        }
    }

    fn key_bytes(&self) -> usize {
        match &self.keys {
            Keys::Narrow(keys) => size_of_val(keys.as_slice()),
            Keys::Wide(keys) => size_of_val(keys.as_slice()),
        }
    }

    /// Calls `f` with both ends of every edge, in order.
    #[inline]
    pub fn each(&self, mut f: impl FnMut(u64, u64)) {
        match &self.keys {
            Keys::Narrow(keys) => keys.iter().for_each(|key| f(key >> u32::BITS, key & u64::from(u32::MAX))),
            Keys::Wide(keys) => keys.iter().for_each(|(aligned, other)| f(*aligned, *other)),
        }
    }

    fn first(&self) -> Option<(u64, u64)> {
        match &self.keys {
            Keys::Narrow(keys) => keys.first().map(|key| (key >> u32::BITS, key & u64::from(u32::MAX))),
            Keys::Wide(keys) => keys.first().copied(),
        }
    }

    fn last(&self) -> Option<(u64, u64)> {
        match &self.keys {
            Keys::Narrow(keys) => keys.last().map(|key| (key >> u32::BITS, key & u64::from(u32::MAX))),
            Keys::Wide(keys) => keys.last().copied(),
        }
    }
}

/// Returns the bitwise or of the values.
fn union(values: &[u64]) -> u64 {
    values.iter().fold(0, |bits, value| bits | value)
}

/// Chunks, and the memory that they need.
#[derive(Default)]
pub(super) struct Buffer {
    pub chunks: Vec<Chunk>,
    rows: usize,
    key_bytes: usize,
    number_bytes: usize,
    payload_bytes: usize,
    widths: (u32, u32),
}

impl Buffer {
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the layout of the sort keys.
    pub fn layout(&self, indexed: bool) -> Layout {
        Layout::new(self.widths.0, self.widths.1, self.rows, indexed)
    }

    /// Returns the maximum size for storing and sorting these edges; `indexed` if there is a payload.
    pub fn cost(&self, indexed: bool) -> u64 {
        let elements = self.rows * self.layout(indexed).size().bytes();
        // First the keys and the elements made from them, then the elements and, at worst, a copy of one huge bucket.
        // Payload columns are concatenated before rows are taken from them.
        (elements + self.key_bytes.max(elements) + self.number_bytes + 2 * self.payload_bytes) as u64
    }

    /// Adds a chunk.
    pub fn push(&mut self, chunk: Chunk) {
        self.rows += chunk.rows();
        self.key_bytes += chunk.key_bytes();
        self.number_bytes += chunk.numbers.bytes();
        self.payload_bytes += chunk.payload_bytes;
        self.widths = (self.widths.0.max(chunk.widths.0), self.widths.1.max(chunk.widths.1));
        self.chunks.push(chunk);
    }

    /// Removes the last chunk. The widths are not reduced, which costs only a few bits.
    pub fn pop(&mut self) -> Option<Chunk> {
        let chunk = self.chunks.pop()?;
        self.rows -= chunk.rows();
        self.key_bytes -= chunk.key_bytes();
        self.number_bytes -= chunk.numbers.bytes();
        self.payload_bytes -= chunk.payload_bytes;
        Some(chunk)
    }

    /// Sorts the chunks by their sequence numbers.
    pub fn order(&mut self) {
        self.chunks.sort_by_key(|chunk| chunk.numbers.first());
    }

    /// Whether the edges, in the order of the chunks, are already sorted.
    pub fn ascending(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.ascending)
            && self.chunks.windows(2).all(|pair| pair[0].last() <= pair[1].first())
    }
}
