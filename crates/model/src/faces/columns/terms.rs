//! Texts, each kept once and known by a number.

use isomorph_error::index;
use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// No number of a text.
pub(super) const NONE: u32 = u32::MAX;

/// A slot of the table without a text.
const EMPTY: u64 = u64::MAX;

/// The number of a text, a row or a type, from its position.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32: `is_full` and `has_room` see to it")]
pub(super) fn narrow(position: usize) -> u32 {
    position as u32
}

/// The number in a slot of the table, whose other half is of a hash.
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
fn in_slot(slot: u64) -> u32 {
    slot as u32
}

/// Different texts, numbered in the order in which they came.
pub(super) struct Terms {
    bytes: String,
    /// Where each text begins, and where the last one ends.
    starts: Vec<u64>,
    /// Half a hash and a number. Its length is a power of two.
    table: Vec<u64>,
    /// Drawn for each: whoever chooses texts cannot choose which of them collide.
    seed: u64,
    /// The text that was asked for last: subjects mostly follow each other. [`NONE`] before the first.
    last: u32,
}

impl Default for Terms {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0u8);
        Terms { bytes: String::new(), starts: vec![0], table: vec![EMPTY; 64], seed, last: NONE }
    }
}

impl Terms {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Bytes of all texts together.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// What they take, bytes.
    pub fn memory(&self) -> u64 {
        self.bytes.capacity() as u64 + 8 * (self.starts.capacity() + self.table.len()) as u64
    }

    /// The text of a number; nothing for others.
    pub fn text(&self, number: u32) -> &str {
        let at = |at: usize| index(self.starts.get(at).copied().unwrap_or_default());
        self.bytes.get(at(number as usize)..at(number as usize + 1)).unwrap_or_default()
    }

    /// The number of a text, and whether it is new. There are fewer than 2^32 texts: the memory that more would need is refused before.
    pub fn number(&mut self, text: &str) -> (u32, bool) {
        // What is said of the same subjects by another predicate comes in the same order.
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

    /// Forgets how to find texts; the texts stay.
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
