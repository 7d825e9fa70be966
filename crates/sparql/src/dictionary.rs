//! Terms and their numbers.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use isomorph::error::{Error, Kind, Result};

use crate::term;

/// Keys of terms ([`crate::term`]) in one piece of memory, and a hash table of their numbers, which count from 1.
#[derive(Default)]
pub(crate) struct Dictionary {
    bytes: Vec<u8>,
    /// Where each key ends.
    ends: Vec<usize>,
    table: HashTable<u32>,
    // With a random seed: whoever chooses the terms of a graph cannot choose which of them collide.
    hasher: DefaultHashBuilder,
}

impl Dictionary {
    /// The number of terms.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The memory in use, in bytes.
    pub fn memory(&self) -> u64 {
        // A slot of the table is a number and a byte of control.
        (self.bytes.capacity() + 8 * self.ends.capacity() + 6 * self.table.capacity()) as u64
    }

    /// The key of a term.
    pub fn key(&self, number: u32) -> Option<&[u8]> {
        key(&self.bytes, &self.ends, number)
    }

    /// The number of the term with this key.
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        let same = |number: &u32| self.key(*number) == Some(key);
        self.table.find(self.hasher.hash_one(key), same).copied()
    }

    /// The number of the term with this key, which is added if it is new.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if there are more than 2^32 − 1 terms.
    pub fn add(&mut self, new: &[u8]) -> Result<u32> {
        let Dictionary { bytes, ends, table, hasher } = self;
        let hash = hasher.hash_one(new);
        if let Some(number) = table.find(hash, |number| key(bytes, ends, *number) == Some(new)) {
            return Ok(*number);
        }
        let number = u32::try_from(ends.len() + 1)
            .map_err(|_| Error::new(Kind::TooLarge, "more than 4,294,967,295 different terms"))?;
        bytes.extend_from_slice(new);
        ends.push(bytes.len());
        table.insert_unique(hash, number, |number| hasher.hash_one(key(bytes, ends, *number).unwrap_or_default()));
        Ok(number)
    }

    /// Adds the terms of another dictionary. Returns their numbers here, by number there less one.
    ///
    /// # Errors
    /// As [`Dictionary::add`].
    pub fn absorb(&mut self, other: &Dictionary) -> Result<Vec<u32>> {
        let mut numbers: Vec<u32> = Vec::with_capacity(other.len());
        let mut buffer = Vec::new();
        let mut start = 0;
        for end in &other.ends {
            // The parts of a term have smaller numbers than the term.
            let known = |number: u32| numbers.get((number as usize).checked_sub(1)?).copied();
            let key = other.bytes.get(start..*end).unwrap_or_default();
            if term::renumbered(key, &mut buffer, &known).is_none() {
                return Err(Error::malformed("internal error: a term refers to a later one"));
            }
            numbers.push(self.add(&buffer)?);
            start = *end;
        }
        Ok(numbers)
    }
}

fn key<'b>(bytes: &'b [u8], ends: &[usize], number: u32) -> Option<&'b [u8]> {
    let at = (number as usize).checked_sub(1)?;
    let start = match at.checked_sub(1) {
        Some(before) => *ends.get(before)?,
        None => 0,
    };
    bytes.get(start..*ends.get(at)?)
}
