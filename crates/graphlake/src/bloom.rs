//! Bloom filters: whether a file can hold a key.
//!
//! Twelve bytes (`GLBF`, version 1, XXH64 with seed 0, keys of kind 1, 0, number of blocks) and the blocks of a
//! split-block filter as in Parquet. Anything else is a foreign filter, which this crate cannot use.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use isomorph_error::index;
use twox_hash::XxHash64;

const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

const HEADER: usize = 12;

/// Bytes of a block.
const BLOCK: usize = 32;

/// Blocks of the largest filter in a snapshot: every snapshot repeats every filter.
const MOST_BLOCKS: usize = 2048;

/// Number of keys at which a filter of [`MOST_BLOCKS`] still excludes three of four others: p = (1 − e^(−8n / bits))^8.
const MOST_KEYS: usize = 120_000;

/// A split-block Bloom filter. It may say "maybe" for a key that was never added, but never "no" for one that was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bloom {
    blocks: Vec<[u32; 8]>,
}

/// The hash of keys: XXH64, seed 0.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

impl Bloom {
    /// An empty filter of this many blocks of 256 bits; at least one, and at most as many as 32 bits can count.
    pub fn with_blocks(blocks: usize) -> Self {
        Bloom { blocks: vec![[0; 8]; blocks.clamp(1, u32::MAX as usize)] }
    }

    /// An empty filter for `keys` different keys, which excludes others with probability 0.99; `None` if the filter
    /// would be too large for a snapshot.
    pub fn for_keys(keys: usize) -> Option<Self> {
        if keys > MOST_KEYS {
            return None;
        }
        Some(Bloom::with_blocks(blocks_for(keys).min(MOST_BLOCKS)))
    }

    /// Adds a key.
    pub fn add(&mut self, key: &[u8]) {
        self.add_hash(hash(key));
    }

    /// The same for a key whose hash is known.
    pub(crate) fn add_hash(&mut self, hash: u64) {
        let at = self.block(hash);
        if let Some(block) = self.blocks.get_mut(at) {
            bits(hash).zip(block).for_each(|(bit, word)| *word |= bit);
        }
    }

    /// Whether the key may have been added.
    pub fn may_have(&self, key: &[u8]) -> bool {
        self.may_have_hash(hash(key))
    }

    /// The same for a key whose hash is known.
    pub(crate) fn may_have_hash(&self, hash: u64) -> bool {
        self.blocks.get(self.block(hash)).is_none_or(|block| bits(hash).zip(block).all(|(bit, word)| word & bit != 0))
    }

    /// The approximate number of different keys that were added: each sets one of the 32 bits of each word of its
    /// block, so a word with `n` keys has (1 − 1/32)^n of its bits unset.
    pub(crate) fn keys(&self) -> f64 {
        let set: u64 = self.blocks.iter().flatten().map(|word| u64::from(word.count_ones())).sum();
        let bits = (self.blocks.len() * 256) as f64;
        // A full filter only shows that there were many keys.
        let left = ((bits - set as f64) / bits).max(0.5 / bits);
        // The number of keys in a block is Poisson distributed: on average exp(−n/32) of the bits of a word are unset.
        -32.0 * left.ln() * self.blocks.len() as f64
    }

    fn block(&self, hash: u64) -> usize {
        index(((hash >> 32) * self.blocks.len() as u64) >> 32)
    }

    /// Number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// An empty filter of any size for `keys` different keys, which excludes others with probability 0.99.
    pub(crate) fn of_any_size(keys: usize) -> Self {
        Bloom::with_blocks(blocks_for(keys))
    }

    /// A filter of these blocks.
    pub(crate) fn of_blocks(bytes: &[u8]) -> Self {
        // The chunks have four bytes each.
        let word = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).unwrap_or_default();
        let block = |bytes: &[u8]| {
            let mut block = [0; 8];
            block.iter_mut().zip(bytes.chunks_exact(4)).for_each(|(out, bytes)| *out = word(bytes));
            block
        };
        Bloom { blocks: bytes.chunks_exact(BLOCK).map(block).collect() }
    }

    /// Appends its blocks.
    pub(crate) fn push_blocks(&self, out: &mut Vec<u8>) {
        self.blocks.iter().flatten().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }

    /// Reads the text in a snapshot; `None` for a foreign or empty filter.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text).ok()?;
        let (header, blocks) = bytes.split_at_checked(HEADER)?;
        let (kind, count) = header.split_at_checked(8)?;
        let count = u32::from_le_bytes(count.try_into().ok()?) as usize;
        if kind != b"GLBF\x01\x01\x01\x00" || count == 0 || Some(blocks.len()) != count.checked_mul(BLOCK) {
            return None;
        }
        Some(Bloom::of_blocks(blocks))
    }

    /// The text for a snapshot.
    #[expect(clippy::cast_possible_truncation, reason = "no filter has more blocks than 32 bits count")]
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::with_capacity(HEADER + self.blocks.len() * BLOCK);
        bytes.extend_from_slice(b"GLBF\x01\x01\x01\x00");
        bytes.extend_from_slice(&(self.blocks.len() as u32).to_le_bytes());
        self.push_blocks(&mut bytes);
        STANDARD.encode(bytes)
    }
}

/// Bits for this many keys: -8 n / ln(1 - 0.01^(1/8)).
fn bits_for(keys: usize) -> f64 {
    keys as f64 * -8.0 / (1.0 - 0.01f64.powf(0.125)).ln()
}

/// Blocks for this many keys.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; what is too large becomes the most"
)]
fn blocks_for(keys: usize) -> usize {
    (bits_for(keys) / 256.0).ceil() as usize
}

/// One bit for each word of a block.
#[expect(clippy::cast_possible_truncation, reason = "the low half of the hash is meant")]
fn bits(hash: u64) -> impl Iterator<Item = u32> {
    SALT.into_iter().map(move |salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn foreign_filters_are_none() {
        let own = Bloom::with_blocks(1).to_text();
        assert!(Bloom::parse(&own).is_some());
        for text in ["", "SGVsbG8sIFdvcmxkIQ==", "not base64", &own[4..], &own[..own.len() - 4]] {
            assert_eq!(Bloom::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_sizes_of_filters_keep_their_promise() {
        for keys in [1, 100, 5_000] {
            let mut filter = Bloom::for_keys(keys).unwrap();
            (0..keys).for_each(|key| filter.add(&key.to_le_bytes()));
            assert!((0..keys).all(|key| filter.may_have(&key.to_le_bytes())));
            let counted = filter.keys() / keys as f64;
            assert!((0.9..1.1).contains(&counted), "{counted} of {keys}");
            let wrong = (keys..keys + 10_000).filter(|key| filter.may_have(&key.to_le_bytes())).count();
            assert!(wrong < 250, "{wrong} of 10,000 strangers pass a filter of {keys}");
        }
        assert_eq!(Bloom::for_keys(1_000_000), None);
        assert_eq!(Bloom::with_blocks(5).keys(), 0.0);
    }
}
