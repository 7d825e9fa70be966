//! Text key → row: a hash table of row numbers, with the texts stored separately.

use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use isomorph_error::index;

use super::repeats::{Repeat, Repeats};
use super::row_keys::RowKeys;

/// An empty slot. No row has the number `u32::MAX`.
const EMPTY: u64 = u64::MAX;

/// Seven of ten slots are in use.
const SLOTS: (u64, u64) = (10, 7);

/// The number of concurrent probes, so that their cache misses overlap.
const AT_ONCE: usize = 32;

/// Open addressing with linear probing. A slot contains half of the hash and the row; texts are compared by
/// their bytes.
pub(super) struct Table {
    /// Secret, so that an attacker cannot choose keys that collide.
    seed: u64,
    slots: Vec<u64>,
}

impl Table {
    /// Returns the size for so many keys, bytes.
    pub fn bytes(keys: u64) -> u64 {
        Table::slots(keys) * size_of::<u64>() as u64
    }

    fn slots(keys: u64) -> u64 {
        keys / SLOTS.1 * SLOTS.0 + 2 * SLOTS.0
    }

    /// Creates the table from the texts of all rows, which must be fewer than `u32::MAX`.
    pub fn new(keys: &RowKeys, repeats: &mut Repeats) -> Self {
        let seed = RandomState::new().hash_one(keys.rows());
        let mut table = Table { seed, slots: vec![EMPTY; index(Table::slots(keys.rows()))] };
        for row in 0..keys.rows() {
            let Some(text) = keys.text(row) else { break };
            let hash = table.hash(text);
            match table.probe(table.home(hash), hash, text, keys) {
                Ok(first) => repeats.add(Repeat { row, first }),
                Err(slot) => table.slots[slot] = tag(hash) | row,
            }
        }
        table
    }

    #[inline]
    fn hash(&self, text: &[u8]) -> u64 {
        xxh3_64_with_seed(text, self.seed)
    }

    /// Returns the slot where the search for a hash starts.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a share of the number of slots")]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    /// Returns the next slot from `at` on with this tag, and its row; or the empty slot where the search ends.
    #[inline]
    fn candidate(&self, mut at: usize, hash: u64) -> Result<(usize, u64), usize> {
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return Err(at);
            }
            let row = slot & u64::from(u32::MAX);
            if slot ^ row == tag(hash) {
                return Ok((at, row));
            }
            at = self.after(at);
        }
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// Returns the row of a text, searched from a slot on, or the empty slot where the search ended.
    fn probe(&self, mut at: usize, hash: u64, text: &[u8], keys: &RowKeys) -> Result<u64, usize> {
        loop {
            let (slot, row) = self.candidate(at, hash)?;
            if keys.text(row) == Some(text) {
                return Ok(row);
            }
            at = self.after(slot);
        }
    }

    /// Calls `found` with each text and its row, in order.
    pub fn find<'a>(
        &self,
        keys: &RowKeys,
        mut texts: impl Iterator<Item = Option<&'a [u8]>>,
        mut found: impl FnMut(Option<&'a [u8]>, Option<u64>),
    ) {
        let mut group: Vec<(Option<&[u8]>, u64)> = Vec::with_capacity(AT_ONCE);
        let mut candidates: Vec<Option<(usize, u64, &[u8])>> = Vec::with_capacity(AT_ONCE);
        loop {
            group.clear();
            group.extend(texts.by_ref().take(AT_ONCE).map(|text| (text, text.map_or(0, |text| self.hash(text)))));
            if group.is_empty() {
                return;
            }
            // Slots, then rows, then texts: each step is done for all probes before the next one.
            let touched = group.iter().fold(0, |sum, (_, hash)| sum ^ self.slots[self.home(*hash)]);
            std::hint::black_box(touched);
            candidates.clear();
            candidates.extend(group.iter().map(|(_, hash)| {
                let (slot, row) = self.candidate(self.home(*hash), *hash).ok()?;
                Some((slot, row, keys.text(row)?))
            }));
            let touched = candidates.iter().flatten().fold(0, |sum, (.., text)| sum ^ text.first().unwrap_or(&0));
            std::hint::black_box(touched);
            for ((text, hash), candidate) in group.iter().zip(&candidates) {
                let row = match (text, candidate) {
                    (Some(text), Some((_, row, own))) if own == text => Some(*row),
                    (Some(text), Some((slot, ..))) => self.probe(self.after(*slot), *hash, text, keys).ok(),
                    _ => None,
                };
                found(*text, row);
            }
        }
    }
}

/// Returns the half of a hash that a slot contains, in its position. The other half determines the slot, more or less.
#[inline]
fn tag(hash: u64) -> u64 {
    hash << 32
}
