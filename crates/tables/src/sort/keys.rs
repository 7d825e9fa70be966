//! Sort keys: both ends of an edge and its position, in as few bits as the buffered edges need.
//!
//! The key of an edge is the number `aligned · 2^o + other`, where `o` is the width of the largest `other`. Its highest
//! bits, the *digit*, select a bucket and are not stored. The remaining bits are followed by the position of the edge among
//! the buffered ones, if a payload must be reordered. For most graphs that is one `u64`: 5 million edges of
//! 500,000 vertices take 19 + 19 − 8 + 23 bits.

#![expect(clippy::cast_possible_truncation, reason = "bits are extracted from keys")]

use std::fmt::Debug;

use isomorph_error::index;

/// The maximum number of key bits that select a bucket.
const MAX_DIGIT: u32 = 11;

/// The intended number of edges in a bucket, as a power of two: two copies of a bucket fit into a second-level cache.
const BUCKET_ROWS: u32 = 14;

/// Number of bits that `value` needs.
pub(super) fn width(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Widths of the parts of a key, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// Of the aligned end.
    aligned: u32,
    /// Of the other end.
    other: u32,
    /// Of the position; 0 if there is none.
    index: u32,
    /// Of the bucket number.
    digit: u32,
    /// Whether positions are stored.
    indexed: bool,
}

/// The smallest [`Element`] for a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// `u64`.
    Narrow,
    /// `u128`.
    Medium,
    /// [`Wide`].
    Wide,
}

impl Size {
    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Size::Narrow => size_of::<u64>(),
            Size::Medium => size_of::<u128>(),
            Size::Wide => size_of::<Wide>(),
        }
    }
}

impl Layout {
    /// Returns the layout for `rows` edges whose ends have at most this many bits; `indexed` if positions are stored.
    pub fn new(aligned: u32, other: u32, rows: usize, indexed: bool) -> Self {
        let rows_width = width(rows.saturating_sub(1) as u64);
        let digit = rows_width.saturating_sub(BUCKET_ROWS).min(MAX_DIGIT).min(aligned + other);
        Layout { aligned, other, index: if indexed { rows_width } else { 0 }, digit, indexed }
    }

    /// Returns the size of the element to use.
    pub fn size(&self) -> Size {
        match self.rest() + self.index {
            ..=64 => Size::Narrow,
            65..=128 => Size::Medium,
            _ => Size::Wide,
        }
    }

    /// Whether positions are stored.
    pub fn indexed(&self) -> bool {
        self.indexed
    }

    /// Returns the number of buckets.
    pub fn buckets(&self) -> usize {
        1 << self.digit
    }

    /// Returns the number of key bits that an element stores.
    fn rest(&self) -> u32 {
        self.aligned + self.other - self.digit
    }

    /// Returns the bucket of an edge. Buckets are in the order of the keys.
    #[inline]
    pub fn bucket(&self, aligned: u64, other: u64) -> usize {
        let bucket = match self.digit.checked_sub(self.aligned) {
            None => aligned.checked_shr(self.aligned - self.digit).unwrap_or(0),
            Some(0) => aligned,
            Some(taken) => (aligned << taken) | (other >> (self.other - taken)),
        };
        index(bucket)
    }

    /// Returns the bucket that contains the first edge of `aligned`, or the number of buckets if `aligned` is above all.
    pub fn first_bucket(&self, aligned: u64) -> usize {
        if width(aligned) > self.aligned { self.buckets() } else { self.bucket(aligned, 0) }
    }

    /// Returns both ends from a bucket and the stored rest of a key.
    #[inline]
    fn ends<R: Rest>(&self, bucket: usize, rest: R) -> (u64, u64) {
        let bucket = bucket as u64;
        match self.rest().checked_sub(self.other) {
            Some(of_aligned) => (shl(bucket, of_aligned) | rest.shr(self.other), rest.low(self.other)),
            None => {
                let taken = self.other - self.rest();
                (bucket >> taken, shl(bucket & mask(taken), self.rest()) | rest.low(64))
            }
        }
    }
}

#[inline]
fn mask(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |one| one - 1)
}

#[inline]
fn shl(value: u64, bits: u32) -> u64 {
    value.checked_shl(bits).unwrap_or(0)
}

/// The stored rest of a key, as an integer.
trait Rest: Copy {
    /// The low 64 bits of `self >> bits`.
    fn shr(self, bits: u32) -> u64;
    /// The lowest `bits`, at most 64.
    fn low(self, bits: u32) -> u64;
}

impl Rest for u64 {
    #[inline]
    fn shr(self, bits: u32) -> u64 {
        self.checked_shr(bits).unwrap_or(0)
    }
    #[inline]
    fn low(self, bits: u32) -> u64 {
        self & mask(bits)
    }
}

impl Rest for u128 {
    #[inline]
    fn shr(self, bits: u32) -> u64 {
        self.checked_shr(bits).unwrap_or(0) as u64
    }
    #[inline]
    fn low(self, bits: u32) -> u64 {
        self as u64 & mask(bits)
    }
}

/// The type that the radix sort moves. Its order is that of (rest of the key, position).
pub(super) trait Element: Copy + Ord + Default + Send + Sync + Debug {
    /// Packs an edge.
    fn pack(layout: &Layout, aligned: u64, other: u64, index: u32) -> Self;
    /// Returns the two ends.
    fn ends(self, layout: &Layout, bucket: usize) -> (u64, u64);
    /// Returns the position of the edge, or 0 if positions are not stored.
    fn index(self, layout: &Layout) -> u32;
    /// Returns the lowest bit of the key; the bits below contain the position.
    fn key_start(layout: &Layout) -> u32;
    /// Returns the eight bits from bit `shift` upwards.
    fn byte(self, shift: u32) -> u8;
    /// Returns the number of low bits in which elements differ; the bits above are equal in all of them.
    fn spread(elements: &[Self]) -> u32;
}

macro_rules! packed_element {
    ($integer:ty) => {
        impl Element for $integer {
            #[inline]
            fn pack(layout: &Layout, aligned: u64, other: u64, index: u32) -> Self {
                let key = <$integer>::from(aligned).checked_shl(layout.other).unwrap_or(0) | <$integer>::from(other);
                let unused = Self::BITS - layout.rest();
                let rest = key.checked_shl(unused).unwrap_or(0).checked_shr(unused).unwrap_or(0);
                rest.checked_shl(layout.index).unwrap_or(0) | <$integer>::from(index)
            }
            #[inline]
            fn ends(self, layout: &Layout, bucket: usize) -> (u64, u64) {
                layout.ends(bucket, self >> layout.index)
            }
            #[inline]
            fn index(self, layout: &Layout) -> u32 {
                self.low(layout.index) as u32
            }
            fn key_start(layout: &Layout) -> u32 {
                layout.index
            }
            #[inline]
            fn byte(self, shift: u32) -> u8 {
                (self >> shift) as u8
            }
            fn spread(elements: &[Self]) -> u32 {
                let first = elements.first().copied().unwrap_or_default();
                Self::BITS - elements.iter().fold(0, |bits, element| bits | (element ^ first)).leading_zeros()
            }
        }
    };
}

packed_element!(u64);
packed_element!(u128);

/// An element for ends of any width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Wide {
    rest: u128,
    index: u32,
}

impl Element for Wide {
    fn pack(layout: &Layout, aligned: u64, other: u64, index: u32) -> Self {
        let alone = Layout { index: 0, ..*layout };
        Wide { rest: u128::pack(&alone, aligned, other, 0), index }
    }
    fn ends(self, layout: &Layout, bucket: usize) -> (u64, u64) {
        layout.ends(bucket, self.rest)
    }
    fn index(self, _: &Layout) -> u32 {
        self.index
    }
    fn key_start(_: &Layout) -> u32 {
        0
    }
    fn byte(self, shift: u32) -> u8 {
        (self.rest >> shift) as u8
    }
    fn spread(elements: &[Self]) -> u32 {
        let first = elements.first().copied().unwrap_or_default().rest;
        u128::BITS - elements.iter().fold(0, |bits, element| bits | (element.rest ^ first)).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back_and_forth<E: Element>(layout: &Layout, edge: (u64, u64), index: u32) {
        let element = E::pack(layout, edge.0, edge.1, index);
        assert_eq!(element.ends(layout, layout.bucket(edge.0, edge.1)), edge, "{layout:?}");
        assert_eq!(element.index(layout), index, "{layout:?}");
    }

    #[test]
    fn every_layout_gives_the_edge_back() {
        for rows in [0, 1, 2, 1 << 14, 1 << 20, 1 << 31] {
            for aligned in [0, 1, 5, 19, 32, 63, 64] {
                for other in [0, 1, 5, 19, 32, 63, 64] {
                    for indexed in [false, true] {
                        let layout = Layout::new(aligned, other, rows, indexed);
                        let index = if indexed { rows.saturating_sub(1) as u32 } else { 0 };
                        for edge in [(0, 0), (mask(aligned), mask(other)), (mask(aligned) / 3, mask(other) / 5)] {
                            match layout.size() {
                                Size::Narrow => back_and_forth::<u64>(&layout, edge, index),
                                Size::Medium => back_and_forth::<u128>(&layout, edge, index),
                                Size::Wide => {}
                            }
                            back_and_forth::<Wide>(&layout, edge, index);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn common_graphs_take_one_word() {
        assert_eq!(Layout::new(19, 19, 5_000_000, true).size(), Size::Narrow);
        assert_eq!(Layout::new(24, 24, 4_000_000, true).size(), Size::Narrow);
        assert_eq!(Layout::new(32, 32, 1 << 30, false).size(), Size::Narrow);
    }
}
