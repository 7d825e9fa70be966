//! Repeated texts, each stored once and identified by a number.

#![expect(
    clippy::cast_possible_truncation,
    reason = "halves of 64 bits are taken, and has_room keeps all offsets in 32"
)]

use isomorph_error::{Error, Kind, Result};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Texts with a tag each, by number. Pairs of text and tag are unique.
pub(super) struct Interner {
    /// One after another: number, tag, length and text of each, so that a comparison reads one place in memory.
    entries: Vec<u8>,
    /// Where each entry begins, and where the last one ends.
    starts: Vec<u32>,
    /// Half a hash and the start of an entry; [`EMPTY`] for an empty slot. Its length is a power of two.
    table: Vec<u64>,
    /// Number of slots of the table when it was last dropped.
    slots: usize,
    /// Drawn for each table: whoever chooses the texts cannot choose which of them collide.
    seed: u64,
}

/// Slots of the smallest table.
const LEAST_SLOTS: usize = 64;

/// An empty slot: no entry begins at this offset. It is not 0, so that new tables are written at once; zeroed memory
/// that is read first is mapped twice by the system, and the second time all threads of the process are stopped for it.
const EMPTY: u64 = u64::MAX;

/// Number, tag and length before the text of an entry, 4 bytes each.
pub(super) const HEAD: usize = 12;

impl Interner {
    pub(super) fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        let seed = RandomState::new().hash_one(0u8);
        Interner { entries: Vec::new(), starts: vec![0], table: vec![EMPTY; LEAST_SLOTS], slots: LEAST_SLOTS, seed }
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Bytes of all texts together.
    pub(super) fn text_bytes(&self) -> usize {
        self.entries.len() - HEAD * self.len()
    }

    /// Whether entries of this many bytes still fit: offsets have 32 bits.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.entries.len() as u64 + (bytes as u64) < u64::from(u32::MAX)
    }

    /// Tag, length and text: the form of a term in a run.
    pub(super) fn tagged(&self, id: u32) -> &[u8] {
        let at = |at: usize| self.starts.get(at).map_or(0, |start| *start as usize);
        self.entries.get(at(id as usize) + 4..at(id as usize + 1)).unwrap_or_default()
    }

    pub(super) fn text(&self, id: u32) -> &[u8] {
        self.tagged(id).get(HEAD - 4..).unwrap_or_default()
    }

    pub(super) fn tag(&self, id: u32) -> u32 {
        self.tagged(id).first_chunk().map_or(0, |tag| u32::from_le_bytes(*tag))
    }

    /// Returns the number of a text; a new one is added if `check` accepts it.
    ///
    /// # Errors
    /// Errors of `check`; [`Kind::TooLarge`] if there are 4 GiB of texts.
    pub(super) fn intern(&mut self, tag: u32, text: &str, check: impl FnOnce() -> Result<()>) -> Result<u32> {
        let hash = self.hash(tag, text.as_bytes());
        match self.find(hash, tag, text.as_bytes()) {
            Ok(id) => Ok(id),
            Err(slot) => {
                if !self.has_room(HEAD + text.len()) {
                    let message = "names of graphs, predicates and datatypes must have less than 4 GiB of text";
                    return Err(Error::new(Kind::TooLarge, message));
                }
                check()?;
                Ok(self.add(slot, hash, tag, text.as_bytes()))
            }
        }
    }

    /// The hash by which [`Interner::touch`] and [`Interner::intern_hashed`] find a text.
    pub(super) fn hash(&self, tag: u32, text: &[u8]) -> u32 {
        (xxh3_64_with_seed(text, self.seed ^ u64::from(tag)) >> 32) as u32
    }

    /// Touches the slots where texts with these hashes would be, so that they are in the cache when they are used one
    /// by one: the machine waits for many of them at the same time. The result has no meaning.
    pub(super) fn touch(&self, hashes: impl Iterator<Item = u32> + Clone) -> u64 {
        let mask = self.table.len() - 1;
        let slot = |hash: u32| self.table.get(hash as usize & mask).copied().unwrap_or(EMPTY);
        let slots = hashes.clone().fold(0u64, |sum, hash| sum.wrapping_add(slot(hash)));
        hashes.fold(slots, |sum, hash| {
            let at = slot(hash) as u32;
            sum.wrapping_add(self.entries.get(at as usize).copied().map_or(0, u64::from))
        })
    }

    /// Returns the number of a text with this hash, and adds the text if it is new. The caller has checked that it [has
    /// room](Interner::has_room).
    pub(super) fn intern_hashed(&mut self, hash: u32, tag: u32, text: &[u8]) -> u32 {
        match self.find(hash, tag, text) {
            Ok(id) => id,
            Err(slot) => self.add(slot, hash, tag, text),
        }
    }

    /// The number of a text, or the slot where it would be.
    fn find(&self, hash: u32, tag: u32, text: &[u8]) -> std::result::Result<u32, usize> {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.table.get(at).copied().unwrap_or(EMPTY);
            if slot == EMPTY {
                return Err(at);
            }
            if (slot >> 32) as u32 == hash {
                let entry = self.entries.get(slot as u32 as usize..).unwrap_or_default();
                let number = |at: usize| entry.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
                let alike = number(4) == Some(tag) && number(8) == Some(text.len() as u32);
                if alike && entry.get(HEAD..HEAD + text.len()) == Some(text) {
                    return Ok(number(0).unwrap_or_default());
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn add(&mut self, slot: usize, hash: u32, tag: u32, text: &[u8]) -> u32 {
        let (id, start) = (self.len() as u32, self.entries.len() as u64);
        self.entries.extend_from_slice(&id.to_le_bytes());
        self.entries.extend_from_slice(&tag.to_le_bytes());
        self.entries.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.entries.extend_from_slice(text);
        self.starts.push(self.entries.len() as u32);
        if let Some(slot) = self.table.get_mut(slot) {
            *slot = u64::from(hash) << 32 | start;
        }
        if self.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        id
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let mut table = vec![EMPTY; mask + 1];
        for slot in self.table.iter().filter(|slot| **slot != EMPTY) {
            let mut at = (slot >> 32) as usize & mask;
            while table.get(at).is_some_and(|slot| *slot != EMPTY) {
                at = (at + 1) & mask;
            }
            if let Some(empty) = table.get_mut(at) {
                *empty = *slot;
            }
        }
        self.table = table;
    }

    /// Drops the table; the texts stay.
    pub(super) fn close(&mut self) {
        self.slots = self.table.len();
        self.table = Vec::new();
    }

    /// Drops everything. Memory for texts stays allocated, and a table of the previous size is created.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.starts.truncate(1);
        self.table = vec![EMPTY; self.slots];
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_pair_has_one_number() {
        let mut interner = Interner::new();
        let mut of = |tag, text: &str| interner.intern(tag, text, || Ok(())).unwrap();
        let texts: Vec<String> = (0..5_000).map(|n| "x".repeat(n % 7) + &n.to_string()).collect();
        for round in 0..2 {
            for (at, text) in texts.iter().enumerate() {
                assert_eq!((of(0, text), of(7, text)), (2 * at as u32, 2 * at as u32 + 1), "{round}");
            }
        }
        assert_eq!((interner.len(), interner.text(9_999), interner.tag(9_999)), (10_000, b"x4999".as_slice(), 7));
    }

    #[test]
    fn what_is_refused_is_not_there_the_next_time() {
        let mut interner = Interner::new();
        for _ in 0..2 {
            let refused = interner.intern(0, "x", || Err(isomorph_error::Error::usage("no")));
            assert!(refused.is_err());
        }
        assert_eq!(interner.len(), 0);
    }
}
