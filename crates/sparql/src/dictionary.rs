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
    /// A part of the hash of each key: a table that grows, or takes the terms of another, does not read the keys again.
    hashes: Vec<u32>,
    table: HashTable<u32>,
    // With a random seed: whoever chooses the terms of a graph cannot choose which of them collide.
    hasher: DefaultHashBuilder,
}

impl Dictionary {
    /// An empty dictionary that hashes as this one.
    pub fn alike(&self) -> Self {
        Dictionary { hasher: self.hasher.clone(), ..Dictionary::default() }
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The memory in use, in bytes.
    pub fn memory(&self) -> u64 {
        // A slot of the table is a number and a byte of control.
        (self.bytes.capacity() + 8 * self.ends.capacity() + 4 * self.hashes.capacity() + 6 * self.table.capacity())
            as u64
    }

    /// The key of a term.
    pub fn key(&self, number: u32) -> Option<&[u8]> {
        key(&self.bytes, &self.ends, number)
    }

    /// The number of the term with this key.
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        let hash = self.hash(key);
        let same = |number: &u32| hash_of(&self.hashes, *number) == Some(hash) && self.key(*number) == Some(key);
        self.table.find(spread(hash), same).copied()
    }

    fn hash(&self, key: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(key);
        // Both halves of a hash are as good as it.
        u32::try_from(hash & u64::from(u32::MAX)).unwrap_or_default()
    }

    /// The number of the term with this key, which is added if it is new.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if there are more than 2^32 − 1 terms.
    pub fn add(&mut self, new: &[u8]) -> Result<u32> {
        self.add_hashed(new, self.hash(new))
    }

    fn add_hashed(&mut self, new: &[u8], hash: u32) -> Result<u32> {
        let Dictionary { bytes, ends, hashes, table, .. } = self;
        let same = |number: &u32| hash_of(hashes, *number) == Some(hash) && key(bytes, ends, *number) == Some(new);
        if let Some(number) = table.find(spread(hash), same) {
            return Ok(*number);
        }
        let number = u32::try_from(ends.len() + 1)
            .map_err(|_| Error::new(Kind::TooLarge, "more than 4,294,967,295 different terms"))?;
        bytes.extend_from_slice(new);
        ends.push(bytes.len());
        hashes.push(hash);
        table.insert_unique(spread(hash), number, |number| spread(hash_of(hashes, *number).unwrap_or_default()));
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
        // Dictionaries that hash alike have one hash for one key; but a key with numbers inside may become another.
        let probe: &[u8] = b"isomorph";
        let alike = self.hash(probe) == other.hash(probe);
        for (end, hash) in other.ends.iter().zip(&other.hashes) {
            // The parts of a term have smaller numbers than the term.
            let known = |number: u32| numbers.get((number as usize).checked_sub(1)?).copied();
            let key = other.bytes.get(start..*end).unwrap_or_default();
            if term::renumbered(key, &mut buffer, &known).is_none() {
                return Err(Error::malformed("internal error: a term refers to a later one"));
            }
            let is_same = alike && buffer == key;
            numbers.push(if is_same { self.add_hashed(&buffer, *hash)? } else { self.add(&buffer)? });
            start = *end;
        }
        Ok(numbers)
    }
}

fn hash_of(hashes: &[u32], number: u32) -> Option<u32> {
    hashes.get((number as usize).checked_sub(1)?).copied()
}

/// A hash of 64 bits, of which a table uses the first and the last.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

fn key<'b>(bytes: &'b [u8], ends: &[usize], number: u32) -> Option<&'b [u8]> {
    let at = (number as usize).checked_sub(1)?;
    let start = match at.checked_sub(1) {
        Some(before) => *ends.get(before)?,
        None => 0,
    };
    bytes.get(start..*ends.get(at)?)
}
