//! A hash table of row numbers, for texts that are stored elsewhere.

use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// An empty slot. `u32::MAX` is not a row number.
const EMPTY: u64 = u64::MAX;

/// Number of searches that run at the same time.
const AT_ONCE: usize = 32;

/// Open addressing with linear probing, at most three quarters full. A slot holds half of the hash and the row; only a
/// comparison of the bytes decides whether texts are equal.
#[derive(Debug)]
pub(crate) struct Slots {
    /// Secret, so that nobody can choose colliding ids.
    seed: u64,
    slots: Vec<u64>,
    used: usize,
}

impl Slots {
    /// Creates a table that holds this many rows before it grows.
    pub fn for_rows(rows: usize) -> Self {
        Slots { seed: RandomState::new().hash_one(rows), slots: vec![EMPTY; Slots::len_for(rows)], used: 0 }
    }

    fn len_for(rows: usize) -> usize {
        rows / 3 * 4 + 8
    }

    /// Returns the number of bytes of a table for this many rows.
    pub fn bytes_for(rows: usize) -> u64 {
        (Slots::len_for(rows) * size_of::<u64>()) as u64
    }

    fn hash(&self, text: &[u8]) -> u64 {
        xxh3_64_with_seed(text, self.seed)
    }

    /// Returns the slot where the search for a hash begins.
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots.len() as u128) >> 64) as usize
    }

    /// Returns the row of a text, or the empty slot where the search for it ended.
    fn probe<'t>(&self, hash: u64, text: &[u8], of: impl Fn(u32) -> &'t [u8]) -> Result<u32, usize> {
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return Err(at);
            }
            let row = slot as u32;
            if slot ^ u64::from(row) == tag(hash) && of(row) == text {
                return Ok(row);
            }
            at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
        }
    }

    /// Returns the row of a text; `of` returns the text of a row.
    pub fn find<'t>(&self, text: &[u8], of: impl Fn(u32) -> &'t [u8]) -> Option<u32> {
        self.probe(self.hash(text), text, of).ok()
    }

    /// Calls `found` with the row of each text, in order.
    pub fn find_all<'t, 'i>(
        &self,
        mut texts: impl Iterator<Item = Option<&'i [u8]>>,
        of: impl Fn(u32) -> &'t [u8],
        mut found: impl FnMut(Option<u32>),
    ) {
        let mut group: Vec<(Option<&[u8]>, u64)> = Vec::with_capacity(AT_ONCE);
        loop {
            group.clear();
            group.extend(texts.by_ref().take(AT_ONCE).map(|text| (text, text.map_or(0, |text| self.hash(text)))));
            if group.is_empty() {
                return;
            }
            // First slots, then texts: each step is done for all searches before the next step, so that their memory
            // accesses overlap.
            let slots = group.iter().map(|(_, hash)| self.slots[self.home(*hash)]);
            let first =
                |slot: u64| if slot == EMPTY { 0 } else { of(slot as u32).first().copied().unwrap_or_default() };
            std::hint::black_box(slots.fold(0, |sum, slot| sum ^ first(slot)));
            for (text, hash) in &group {
                found(text.and_then(|text| self.probe(*hash, text, &of).ok()));
            }
        }
    }

    /// Returns the row of a text; a new text gets the row `next`.
    pub fn find_or_insert<'t>(&mut self, text: &[u8], next: u32, of: impl Fn(u32) -> &'t [u8]) -> u32 {
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            self.grow(&of);
        }
        let hash = self.hash(text);
        match self.probe(hash, text, of) {
            Ok(row) => row,
            Err(at) => {
                self.slots[at] = tag(hash) | u64::from(next);
                self.used += 1;
                next
            }
        }
    }

    fn grow<'t>(&mut self, of: &impl Fn(u32) -> &'t [u8]) {
        let larger = vec![EMPTY; self.slots.len() * 2];
        for slot in std::mem::replace(&mut self.slots, larger) {
            if slot != EMPTY {
                let hash = self.hash(of(slot as u32));
                let mut at = self.home(hash);
                while self.slots[at] != EMPTY {
                    at = if at + 1 == self.slots.len() { 0 } else { at + 1 };
                }
                self.slots[at] = slot;
            }
        }
    }
}

/// Returns the half of a hash that a slot holds, in its position. The other half mostly follows from the position of
/// the slot.
fn tag(hash: u64) -> u64 {
    hash << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_rows_while_the_table_grows() {
        let texts: Vec<String> = (0..5000).map(|number| format!("id {}", number % 4000)).collect();
        let mut slots = Slots::for_rows(0);
        let mut known: Vec<&[u8]> = Vec::new();
        for text in &texts {
            let next = known.len() as u32;
            let row = slots.find_or_insert(text.as_bytes(), next, |row| known[row as usize]);
            if row == next {
                known.push(text.as_bytes());
            }
        }
        assert_eq!(known.len(), 4000);
        for (row, text) in known.iter().enumerate() {
            assert_eq!(slots.find(text, |row| known[row as usize]), Some(row as u32));
        }
        let mut rows = Vec::new();
        let wanted = texts.iter().map(|text| Some(text.as_bytes())).chain([None, Some(&b"id 4000"[..])]);
        slots.find_all(wanted, |row| known[row as usize], |row| rows.push(row));
        assert_eq!(rows.len(), 5002);
        assert_eq!((rows[0], rows[4000], rows[4999]), (Some(0), Some(0), Some(999)));
        assert_eq!(rows[5000..], [None, None]);
        assert_eq!(slots.find(b"id 4000", |row| known[row as usize]), None);
        assert_eq!(slots.find(b"", |row| known[row as usize]), None);
    }
}
