//! Where fields that are not quoted end, found for 64 bytes at once.

/// The bytes that are looked at together.
const BLOCK: usize = 64;

/// Collects the lowest bits of eight bytes, each of which is 0 or 1, in the highest byte of a product.
const COLLECT: u64 = 0x0102_0408_1020_4080;

/// Finds separators and ends of lines in bytes that are looked at from the first to the last.
pub(super) struct Marks {
    separator: u8,
    /// The block that was looked at last; none is at this place before the first one.
    block: usize,
    /// A bit for each of its bytes that ends a field.
    bits: u64,
}

impl Marks {
    pub fn new(separator: u8) -> Self {
        Marks { separator, block: usize::MAX, bits: 0 }
    }

    /// Forgets what was seen, because there are more bytes now.
    pub fn forget(&mut self) {
        self.block = usize::MAX;
    }

    /// The first place from `from` on that has a separator or ends a line, or where `bytes` end.
    #[inline]
    pub fn next(&mut self, bytes: &[u8], from: usize) -> usize {
        let block = from - from % BLOCK;
        if block != self.block {
            self.look(bytes, block);
        }
        let mut bits = self.bits & (u64::MAX << (from % BLOCK));
        while bits == 0 {
            let next = self.block + BLOCK;
            if next >= bytes.len() {
                return bytes.len();
            }
            self.look(bytes, next);
            bits = self.bits;
        }
        self.block + bits.trailing_zeros() as usize
    }

    fn look(&mut self, bytes: &[u8], block: usize) {
        self.block = block;
        let rest = bytes.get(block..).unwrap_or_default();
        self.bits = match rest.first_chunk::<BLOCK>() {
            Some(whole) => self.bits_of(whole),
            None => {
                let mut padded = [0; BLOCK];
                padded[..rest.len()].copy_from_slice(rest);
                self.bits_of(&padded) & !(u64::MAX << rest.len())
            }
        };
    }

    /// Loops without branches, which compilers make vectors of.
    fn bits_of(&self, bytes: &[u8; BLOCK]) -> u64 {
        let mut ends = [0u8; BLOCK];
        for (end, byte) in ends.iter_mut().zip(bytes) {
            *end = u8::from(*byte == self.separator) | u8::from(*byte == b'\n') | u8::from(*byte == b'\r');
        }
        let (words, _) = ends.as_chunks::<8>();
        let of = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(COLLECT) >> 56;
        words.iter().rev().fold(0, |bits, word| bits << 8 | of(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_found_from_every_place() {
        let mut state = 7u64;
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    [b'a', b',', b'\n', b'\r', 0, b';', 0x81, b'a', b'a', b'"', b'a'][(state >> 33) as usize % 11]
                })
                .collect();
            for separator in [b',', b';', 0, 0x81] {
                let ends = |byte: &u8| *byte == separator || matches!(byte, b'\n' | b'\r');
                let mut ascending = Marks::new(separator);
                for from in 0..=length {
                    let expected = bytes[from..].iter().position(ends).map_or(length, |at| from + at);
                    assert_eq!(Marks::new(separator).next(&bytes, from), expected);
                    assert_eq!(ascending.next(&bytes, from), expected);
                }
            }
        }
    }

    #[test]
    fn more_bytes_are_seen_after_what_was_seen_is_forgotten() {
        let mut marks = Marks::new(b',');
        assert_eq!(marks.next(b"abc", 0), 3);
        marks.forget();
        assert_eq!(marks.next(b"abcd,", 3), 4);
    }
}
