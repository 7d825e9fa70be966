//! 64-bit key → small number, for keys in ascending order.

use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation, Scratch};

use super::bytes::{BytesBuilder, Frozen};

/// The size of a key and its number, bytes.
const WIDTH: usize = 10;

/// The number of keys per directory entry: searching that many touches one or two pages.
const APART: u64 = 256;

/// Collects keys in ascending order, each with its number.
pub struct NumberedBuilder {
    bytes: BytesBuilder,
    budget: Budget,
    /// Every 256th key.
    directory: Vec<u64>,
    held: Option<Reservation>,
    count: u64,
    last: Option<u64>,
}

impl NumberedBuilder {
    /// Creates an empty collection. The keys stay in memory as long as they take at most `memory` bytes of the budget (10
    /// each); after that they are written to a temporary file, which is mapped. For every 256th key, 8 bytes stay in
    /// memory.
    pub fn new(budget: &Budget, scratch: &Scratch, memory: u64) -> Self {
        NumberedBuilder {
            bytes: BytesBuilder::new(budget, scratch, memory),
            budget: budget.clone(),
            directory: Vec::new(),
            held: None,
            count: 0,
            last: None,
        }
    }

    /// Appends a key, which must be greater than the previous one, and its number.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) if it is not greater; [`Kind::TooLarge`](isomorph_error::Kind::TooLarge),
    /// [`Kind::NoSpace`](isomorph_error::Kind::NoSpace), [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn push(&mut self, key: u64, number: u16) -> Result<()> {
        if self.last.is_some_and(|last| last >= key) {
            return Err(Error::usage("keys with numbers must be in ascending order"));
        }
        if self.count.is_multiple_of(APART) {
            if self.directory.len() == self.directory.capacity() {
                let more = self.directory.capacity().max(1024);
                match &mut self.held {
                    Some(held) => held.grow(8 * more as u64)?,
                    None => self.held = Some(self.budget.reserve(8 * more as u64)?),
                }
                self.directory.reserve_exact(more);
            }
            self.directory.push(key);
        }
        let mut record = [0; WIDTH];
        record[..8].copy_from_slice(&key.to_le_bytes());
        record[8..].copy_from_slice(&number.to_le_bytes());
        self.bytes.push(&record)?;
        (self.count, self.last) = (self.count + 1, Some(key));
        Ok(())
    }

    /// Returns the keys for look-ups.
    ///
    /// # Errors
    /// Same as [`NumberedBuilder::push`].
    pub fn finish(self) -> Result<Numbered> {
        Ok(Numbered { records: self.bytes.finish()?, directory: self.directory, _held: self.held })
    }
}

/// Keys with numbers, in memory or mapped from a temporary file. Several threads may look up concurrently.
pub struct Numbered {
    records: Frozen,
    directory: Vec<u64>,
    _held: Option<Reservation>,
}

impl Numbered {
    /// Returns the number of keys.
    pub fn len(&self) -> u64 {
        self.records.count::<WIDTH>()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of a key, if it exists.
    pub fn get(&self, key: u64) -> Option<u16> {
        let block = self.directory.partition_point(|first| *first <= key).checked_sub(1)? as u64;
        let (mut from, mut to) = (block * APART, self.len().min((block + 1) * APART));
        while from < to {
            let middle = from + (to - from) / 2;
            let record: [u8; WIDTH] = self.records.get(middle)?;
            let own = record.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            match own.cmp(&key) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => return record.last_chunk().map(|bytes| u16::from_le_bytes(*bytes)),
            }
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_memory_and_in_a_file() {
        for memory in [1 << 20, 0] {
            let mut builder = NumberedBuilder::new(&Budget::new(1 << 20), &Scratch::new(None).unwrap(), memory);
            let keys: Vec<u64> = (0..5_000u64).map(|n| n * n * 7 + 3).chain([u64::MAX]).collect();
            for (at, key) in keys.iter().enumerate() {
                builder.push(*key, (at % 1000) as u16).unwrap();
            }
            assert!(builder.push(9, 0).is_err());
            assert_eq!(builder.bytes.is_spilled(), memory == 0);
            let numbered = builder.finish().unwrap();
            assert_eq!(numbered.len(), 5_001);
            for (at, key) in keys.iter().enumerate() {
                assert_eq!(numbered.get(*key), Some((at % 1000) as u16), "{key}");
                assert_eq!(numbered.get(key - 1), None, "{key}");
            }
        }
    }

    #[test]
    fn nothing_is_in_nothing() {
        let numbered = NumberedBuilder::new(&Budget::new(1 << 10), &Scratch::new(None).unwrap(), 0).finish().unwrap();
        assert!(numbered.is_empty() && numbered.get(0).is_none());
    }
}
