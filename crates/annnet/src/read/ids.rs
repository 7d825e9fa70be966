//! Ids represented by 128-bit hashes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_128;

/// Returns the hash of an id.
pub(crate) fn hash(id: &str) -> u128 {
    xxh3_128(id.as_bytes())
}

/// Returns the hash of an ordered pair of ids, from the hashes of both.
pub(crate) fn pair(first: u128, second: u128) -> u128 {
    first.rotate_left(64).wrapping_mul(PAIR).wrapping_add(second)
}

/// An odd number with irregular bits, so that the hash of a pair is not a plain sum of its ids.
const PAIR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// A map keyed by hashes of ids.
pub(crate) type IdMap<T> = HashMap<u128, T, BuildHasherDefault<Taken>>;

/// Approximate number of bytes of an entry of an [`IdMap`].
pub(crate) const ENTRY_BYTES: u64 = 40;

/// A hasher that uses a hash unchanged.
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
