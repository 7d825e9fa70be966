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

/// How the texts of blank nodes begin.
const BLANK: &str = "_:";

/// The smallest number of slots.
const LEAST_SLOTS: usize = 64;

/// Distinct texts, numbered in the order of their first occurrence.
pub(super) struct Terms {
    bytes: String,
    /// The start of each text, followed by the end of the last one.
    starts: Vec<u64>,
    /// The look-up tables of names and of blank nodes. Most blank nodes are reifiers: there are many, and they are rarely looked up
    /// out of order. The table of names stays small without them, and names are looked up in any order.
    tables: [Table; 2],
    /// Random for each collection, so that an attacker cannot choose texts that collide.
    seed: u64,
    /// The text that was requested last, because subjects are often consecutive. [`NONE`] before the first.
    last: u32,
}

impl Default for Terms {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0u8);
        Terms { bytes: String::new(), starts: vec![0], tables: Default::default(), seed, last: NONE }
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
        let slots = self.tables.iter().map(|table| table.slots.len()).sum::<usize>();
        self.bytes.capacity() as u64 + 8 * (self.starts.capacity() + slots) as u64
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
        let [names, blank] = &self.tables;
        let is_blank = text.starts_with(BLANK);
        let slot = match (if is_blank { blank } else { names }).find(hash, |number| self.text(number) == text) {
            Ok(number) => {
                self.last = number;
                return (number, false);
            }
            Err(slot) => slot,
        };
        let number = narrow(self.len());
        self.bytes.push_str(text);
        self.starts.push(self.bytes.len() as u64);
        let [names, blank] = &mut self.tables;
        (if is_blank { blank } else { names }).insert(slot, hash, number);
        self.last = number;
        (number, true)
    }

    /// Drops the look-up tables; the texts stay.
    pub fn close(&mut self) {
        self.tables = Default::default();
        self.bytes.shrink_to_fit();
        self.starts.shrink_to_fit();
    }
}

/// Numbers of texts by their hashes.
struct Table {
    /// Half of a hash and a number per slot. The length is a power of two; the half determines the slot.
    slots: Vec<u64>,
    used: usize,
}

impl Default for Table {
    fn default() -> Self {
        Table { slots: vec![EMPTY; LEAST_SLOTS], used: 0 }
    }
}

impl Table {
    /// Returns the number of the text with this hash for which `is_it` is true, or the slot where it would be.
    fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let (half, mask) = (hash >> 32, self.slots.len() - 1);
        let mut at = index(half) & mask;
        while let Some(slot) = self.slots.get(at).copied().filter(|slot| *slot != EMPTY) {
            if slot >> 32 == half && is_it(in_slot(slot)) {
                return Ok(in_slot(slot));
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    fn insert(&mut self, slot: usize, hash: u64, number: u32) {
        if let Some(slot) = self.slots.get_mut(slot) {
            *slot = hash >> 32 << 32 | u64::from(number);
        }
        self.used += 1;
        if self.used * 2 > self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![EMPTY; mask + 1];
        for slot in self.slots.iter().filter(|slot| **slot != EMPTY) {
            let mut at = index(slot >> 32) & mask;
            while slots.get(at).is_some_and(|slot| *slot != EMPTY) {
                at = (at + 1) & mask;
            }
            if let Some(empty) = slots.get_mut(at) {
                *empty = *slot;
            }
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_number() {
        let mut terms = Terms::default();
        let stems = ["", "_:", "_", "_:_:"];
        let text = |at: usize| format!("{}{}{at}", stems[at % 4], "x".repeat(at % 7));
        let texts: Vec<String> = (0..5_000).map(text).collect();
        for round in 0..2 {
            for (at, text) in texts.iter().enumerate() {
                assert_eq!(terms.number(text), (at as u32, round == 0));
                assert_eq!(terms.number(text), (at as u32, false));
            }
        }
        assert_eq!((terms.len(), terms.text(4_999), terms.text(5_000), terms.text(NONE)), (5_000, "_:_:x4999", "", ""));
    }
}
