//! Ids by their 128-bit hashes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_128;

/// The hash of an id.
pub(crate) fn hash(id: &str) -> u128 {
    xxh3_128(id.as_bytes())
}

/// The hash of two ids in their order, from the hashes of both.
pub(crate) fn pair(first: u128, second: u128) -> u128 {
    first.rotate_left(64).wrapping_mul(PAIR).wrapping_add(second)
}

/// An odd number without order in its bits: the hash of a pair is no sum of its ids.
const PAIR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

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
