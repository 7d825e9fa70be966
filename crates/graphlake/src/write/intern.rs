//! Texts that come again and again, each kept once and known by a number.

use isomorph_error::Result;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Texts with a tag each, by number. Of a pair of text and tag there is one.
pub(super) struct Interner {
    bytes: Vec<u8>,
    /// Where each text begins, and where the last one ends.
    starts: Vec<u32>,
    tags: Vec<u32>,
    /// Half a hash and a number from 1 on; 0 where there is none. Its length is a power of two.
    table: Vec<u64>,
    /// Drawn for each: whoever chooses texts cannot choose which of them collide.
    seed: u64,
}

/// Slots of the smallest table.
const LEAST_SLOTS: usize = 64;

impl Interner {
    pub(super) fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        let seed = RandomState::new().hash_one(0u8);
        Interner { bytes: Vec::new(), starts: vec![0], tags: Vec::new(), table: vec![0; LEAST_SLOTS], seed }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.tags.len()
    }

    /// Bytes of all texts together.
    pub(super) fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Whether a text of so many bytes still has a place: offsets have 32 bits.
    pub(super) fn has_room(&self, text: usize) -> bool {
        self.bytes.len() as u64 + text as u64 <= u64::from(u32::MAX) && self.tags.len() < u32::MAX as usize - 1
    }

    pub(super) fn text(&self, id: u32) -> &[u8] {
        let at = |at: usize| self.starts.get(at).map_or(0, |start| *start as usize);
        self.bytes.get(at(id as usize)..at(id as usize + 1)).unwrap_or_default()
    }

    pub(super) fn tag(&self, id: u32) -> u32 {
        self.tags.get(id as usize).copied().unwrap_or_default()
    }

    /// The number of a text; one that is not there yet is added if `check` has nothing against it.
    ///
    /// # Errors
    /// Those of `check`.
    pub(super) fn intern(&mut self, tag: u32, text: &str, check: impl FnOnce() -> Result<()>) -> Result<u32> {
        let hash = xxh3_64_with_seed(text.as_bytes(), self.seed ^ u64::from(tag)) >> 32;
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.table.get(at).copied().unwrap_or_default();
            if slot == 0 {
                break;
            }
            if slot >> 32 == hash {
                let id = slot as u32 - 1;
                if self.tag(id) == tag && self.text(id) == text.as_bytes() {
                    return Ok(id);
                }
            }
            at = (at + 1) & mask;
        }
        check()?;
        let id = self.tags.len() as u32;
        self.bytes.extend_from_slice(text.as_bytes());
        self.starts.push(self.bytes.len() as u32);
        self.tags.push(tag);
        if let Some(slot) = self.table.get_mut(at) {
            *slot = hash << 32 | u64::from(id + 1);
        }
        if self.tags.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        Ok(id)
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let mut table = vec![0u64; mask + 1];
        for slot in self.table.iter().filter(|slot| **slot != 0) {
            let mut at = (slot >> 32) as usize & mask;
            while table.get(at).is_some_and(|slot| *slot != 0) {
                at = (at + 1) & mask;
            }
            if let Some(empty) = table.get_mut(at) {
                *empty = *slot;
            }
        }
        self.table = table;
    }

    /// Forgets how to find texts; the texts stay.
    pub(super) fn close(&mut self) {
        self.table = Vec::new();
    }

    /// Forgets everything, and keeps what was allocated for texts.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.starts.truncate(1);
        self.tags.clear();
        self.table = vec![0; LEAST_SLOTS];
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
