//! Numbers distinct texts, storing each only once.

use isomorph_error::index;
use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Marks a missing text.
pub(super) const NONE: u32 = u32::MAX;

/// A slot of the table without a text.
const EMPTY: u64 = u64::MAX;

/// Returns the number of a text, a row or a type, from its position.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32: `is_full` and `has_room` check that")]
pub(super) fn narrow(position: usize) -> u32 {
    position as u32
}

/// Returns the number in a slot of the table, whose other half is part of a hash.
#[expect(clippy::cast_possible_truncation, reason = "truncation to the low half is intended")]
fn in_slot(slot: u64) -> u32 {
    slot as u32
}

/// Distinct texts, numbered in the order of their first occurrence.
pub(super) struct Terms {
    bytes: String,
    /// The start of each text, followed by the end of the last one.
    starts: Vec<u64>,
    /// Half of a hash and a number per slot. The length is a power of two.
    table: Vec<u64>,
    /// Random for each table, so that an attacker cannot choose texts that collide.
    seed: u64,
    /// The text that was requested last, because subjects are often consecutive. [`NONE`] before the first.
    last: u32,
}

impl Default for Terms {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0u8);
        Terms { bytes: String::new(), starts: vec![0], table: vec![EMPTY; 64], seed, last: NONE }
    }
}

impl Terms {
    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the total size of all texts, bytes.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns its size in memory, bytes.
    pub fn memory(&self) -> u64 {
        self.bytes.capacity() as u64 + 8 * (self.starts.capacity() + self.table.len()) as u64
    }

    /// Returns the text of a number, or an empty string if there is none.
    pub fn text(&self, number: u32) -> &str {
        let at = |at: usize| index(self.starts.get(at).copied().unwrap_or_default());
        self.bytes.get(at(number as usize)..at(number as usize + 1)).unwrap_or_default()
    }

    /// Returns the number of a text, and whether it is new. There are fewer than 2^32 texts: callers refuse the memory for
    /// more beforehand.
    pub fn number(&mut self, text: &str) -> (u32, bool) {
        // Quads with another predicate usually have the same subjects in the same order.
        for near in [self.last, self.last.wrapping_add(1)] {
            if (near as usize) < self.len() && self.text(near) == text {
                self.last = near;
                return (near, false);
            }
        }
        let hash = xxh3_64_with_seed(text.as_bytes(), self.seed);
        let (half, mask) = (hash >> 32 << 32, self.table.len() - 1);
        let mut at = index(hash) & mask;
        while let Some(slot) = self.table.get(at).copied().filter(|slot| *slot != EMPTY) {
            let number = in_slot(slot);
            if slot >> 32 << 32 == half && self.text(number) == text {
                self.last = number;
                return (number, false);
            }
            at = (at + 1) & mask;
        }
        let number = narrow(self.len());
        self.bytes.push_str(text);
        self.starts.push(self.bytes.len() as u64);
        if let Some(slot) = self.table.get_mut(at) {
            *slot = half | u64::from(number);
        }
        if self.len() * 2 > self.table.len() {
            self.grow();
        }
        self.last = number;
        (number, true)
    }

    fn grow(&mut self) {
        let mut table = vec![EMPTY; self.table.len() * 2];
        let mask = table.len() - 1;
        for number in 0..narrow(self.len()) {
            let hash = xxh3_64_with_seed(self.text(number).as_bytes(), self.seed);
            let mut at = index(hash) & mask;
            while table.get(at).is_some_and(|slot| *slot != EMPTY) {
                at = (at + 1) & mask;
            }
            if let Some(slot) = table.get_mut(at) {
                *slot = hash >> 32 << 32 | u64::from(number);
            }
        }
        self.table = table;
    }

    /// Drops the look-up table; the texts stay.
    pub fn close(&mut self) {
        self.table = vec![EMPTY; 1];
        self.bytes.shrink_to_fit();
        self.starts.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_number() {
        let mut terms = Terms::default();
        let texts: Vec<String> = (0..5_000).map(|at| "x".repeat(at % 7) + &at.to_string()).collect();
        for round in 0..2 {
            for (at, text) in texts.iter().enumerate() {
                assert_eq!(terms.number(text), (at as u32, round == 0));
                assert_eq!(terms.number(text), (at as u32, false));
            }
        }
        assert_eq!((terms.len(), terms.text(4_999), terms.text(5_000), terms.text(NONE)), (5_000, "x4999", "", ""));
    }
}
