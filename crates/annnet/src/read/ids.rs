//! Ids by their 128-bit hashes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The hash of an id.
pub(crate) fn hash(id: &str) -> u128 {
    xxh3_128(id.as_bytes())
}

/// The hash of two ids.
pub(crate) fn hash_pair(first: &str, second: &str) -> u128 {
    let mut state = Xxh3::new();
    state.update(&(first.len() as u64).to_le_bytes());
    state.update(first.as_bytes());
    state.update(second.as_bytes());
    state.digest128()
}

/// What is known of ids.
pub(crate) type IdMap<T> = HashMap<u128, T, BuildHasherDefault<Taken>>;

/// Bytes that an entry of an [`IdMap`] takes, about.
pub(crate) const ENTRY_BYTES: u64 = 40;

/// A hash that is taken as it is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Taken(u64);

impl Hasher for Taken {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }
}
