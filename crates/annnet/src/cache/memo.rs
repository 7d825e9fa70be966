//! A cache of numbers for repeated look-ups.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::Result;
use isomorph_storage::{Budget, Reservation};

use super::CHUNK;
use crate::members::Members;
use crate::zarr::{ArrayReader, broken};

/// Maximum number of bytes kept for all arrays together.
const MOST: u64 = 64 << 20;

/// Unpacked chunks of all arrays.
pub(super) struct Kept {
    chunks: Mutex<(Chunks, Reservation)>,
    most: u64,
}

/// Chunks by array and number.
type Chunks = HashMap<(usize, u64), Arc<[i64]>>;

impl Kept {
    /// Creates an empty cache of at most an eighth of the budget.
    ///
    /// # Errors
    /// Returns an error if no memory is left in the budget.
    pub fn within(budget: &Budget) -> Result<Self> {
        Ok(Kept { chunks: Mutex::new((Chunks::new(), budget.reserve(0)?)), most: MOST.min(budget.limit() / 8) })
    }

    fn get(&self, key: (usize, u64)) -> Option<Arc<[i64]>> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner).0.get(&key).cloned()
    }

    fn keep(&self, key: (usize, u64), chunk: &Arc<[i64]>) {
        let bytes = size_of_val::<[i64]>(chunk) as u64;
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let (kept, held) = &mut *chunks;
        // All chunks at once: it is not known which one is needed next.
        if held.bytes() + bytes > self.most {
            kept.clear();
            held.shrink(held.bytes());
        }
        // Without memory for it, the chunk is unpacked again when it is needed: only time is lost.
        if held.grow(bytes).is_ok() {
            kept.insert(key, Arc::clone(chunk));
        }
    }
}

/// An array of integers whose chunks are cached.
pub(super) struct Numbers {
    name: String,
    /// Index of the array.
    at: usize,
    array: ArrayReader,
}

impl Numbers {
    /// Opens the array of a group.
    ///
    /// # Errors
    /// Returns an error if it is missing or malformed.
    pub fn open(members: &Members, group: &str, name: &str, at: usize) -> Result<Self> {
        let name = format!("{group}/{name}");
        let array = ArrayReader::open(members, &name)?;
        let array =
            array.filter(ArrayReader::is_integer).ok_or_else(|| broken(&name, "expected an array of integers"))?;
        Ok(Numbers { name, at, array })
    }

    pub fn len(&self) -> u64 {
        self.array.len()
    }

    /// Returns the numbers of the chunk that contains a position, and the position of its first number.
    pub fn chunk_of(&self, at: u64, kept: &Kept) -> Result<(u64, Arc<[i64]>)> {
        let number = at / CHUNK;
        let start = number * CHUNK.get();
        let key = (self.at, number);
        if let Some(chunk) = kept.get(key) {
            return Ok((start, chunk));
        }
        let mut chunk = Vec::new();
        self.array.integers(start..start + CHUNK.get(), &mut chunk)?;
        let chunk = Arc::from(chunk);
        kept.keep(key, &chunk);
        Ok((start, chunk))
    }

    /// Appends a range of the numbers, all of which must exist.
    pub fn read(&self, range: Range<u64>, kept: &Kept, out: &mut Vec<i64>) -> Result<()> {
        let missing = || broken(&self.name, "the array is shorter than other arrays require");
        let mut at = range.start;
        while at < range.end {
            let (start, chunk) = self.chunk_of(at, kept)?;
            let end = range.end.min(start + chunk.len() as u64);
            let own =
                chunk.get((at - start) as usize..end.saturating_sub(start) as usize).filter(|own| !own.is_empty());
            out.extend_from_slice(own.ok_or_else(missing)?);
            at = end;
        }
        Ok(())
    }
}
