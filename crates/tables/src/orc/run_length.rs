//! Decodes runs of bytes, bits, and integers in both versions.
//!
//! Source: <https://orc.apache.org/specification/ORCv1/#run-length-encoding>.

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};

use isomorph_error::index;

use super::stream::{Reason, Stream};

/// A stream of bytes in runs.
pub(super) struct Bytes {
    stream: Stream,
    /// The remaining values of the run, and the value if all are the same.
    left: usize,
    same: Option<u8>,
}

impl Bytes {
    pub(super) fn new(stream: Stream) -> Self {
        Bytes { stream, left: 0, same: None }
    }

    pub(super) fn next(&mut self) -> Result<u8, Reason> {
        if self.left == 0 {
            let head = self.stream.byte()?;
            if head < 128 {
                self.left = usize::from(head) + 3;
                self.same = Some(self.stream.byte()?);
            } else {
                self.left = 256 - usize::from(head);
                self.same = None;
            }
        }
        self.left -= 1;
        match self.same {
            Some(byte) => Ok(byte),
            None => self.stream.byte(),
        }
    }
}

/// Bits, eight to a byte, the highest first.
pub(super) struct Bits {
    bytes: Bytes,
    byte: u8,
    left: u32,
}

impl Bits {
    pub(super) fn new(stream: Stream) -> Self {
        Bits { bytes: Bytes::new(stream), byte: 0, left: 0 }
    }

    /// Reads the next `count` bits.
    pub(super) fn read(&mut self, count: usize) -> Result<BooleanBuffer, Reason> {
        let mut bits = BooleanBufferBuilder::new(count);
        for _ in 0..count {
            if self.left == 0 {
                self.byte = self.bytes.next()?;
                self.left = 8;
            }
            self.left -= 1;
            bits.append(self.byte >> self.left & 1 == 1);
        }
        Ok(bits.finish())
    }
}

/// The version of a column's integer encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    First,
    Second,
}

/// A stream of integers in runs.
pub(super) struct Ints {
    stream: Stream,
    version: Version,
    signed: bool,
    run: Vec<i64>,
    at: usize,
    packed: Vec<u8>,
}

impl Ints {
    pub(super) fn new(stream: Stream, version: Version, signed: bool) -> Self {
        Ints { stream, version, signed, run: Vec::new(), at: 0, packed: Vec::new() }
    }

    /// Reads the next `count` integers.
    pub(super) fn read(&mut self, count: usize) -> Result<Vec<i64>, Reason> {
        // Memory is reserved as it is filled, because the size that a file claims is not trusted.
        let mut out = Vec::new();
        while out.len() < count {
            if self.at == self.run.len() {
                self.next_run()?;
            }
            let here = (count - out.len()).min(self.run.len() - self.at);
            out.extend_from_slice(&self.run[self.at..self.at + here]);
            self.at += here;
        }
        Ok(out)
    }

    fn next_run(&mut self) -> Result<(), Reason> {
        self.run.clear();
        self.at = 0;
        match self.version {
            Version::First => self.first_version(),
            Version::Second => {
                let head = self.stream.byte()?;
                match head >> 6 {
                    0 => self.short_repeat(head),
                    1 => self.direct(head),
                    2 => self.patched_base(head),
                    _ => self.delta(head),
                }
            }
        }
    }

    fn varint(&mut self) -> Result<i64, Reason> {
        let value = self.stream.varint()?;
        Ok(self.sign(value))
    }

    fn sign(&self, value: u64) -> i64 {
        if self.signed { unzigzag(value) } else { value.cast_signed() }
    }

    fn first_version(&mut self) -> Result<(), Reason> {
        let head = self.stream.byte()?;
        if head < 128 {
            let delta = i64::from(self.stream.byte()?.cast_signed());
            let base = self.varint()?;
            self.run.extend((0..i64::from(head) + 3).map(|index| base.wrapping_add(index.wrapping_mul(delta))));
        } else {
            for _ in 0..256 - usize::from(head) {
                let value = self.varint()?;
                self.run.push(value);
            }
        }
        Ok(())
    }

    fn short_repeat(&mut self, head: u8) -> Result<(), Reason> {
        let value = self.big_endian(usize::from(head >> 3 & 7) + 1)?;
        let value = self.sign(value);
        self.run.extend(std::iter::repeat_n(value, usize::from(head & 7) + 3));
        Ok(())
    }

    fn direct(&mut self, head: u8) -> Result<(), Reason> {
        let (width, count) = self.width_and_count(head)?;
        self.packed(width, count)?;
        let (packed, signed) = (&self.packed, self.signed);
        self.run.extend(
            Unpacked::new(packed, width)
                .take(count)
                .map(|value| if signed { unzigzag(value) } else { value.cast_signed() }),
        );
        Ok(())
    }

    fn patched_base(&mut self, head: u8) -> Result<(), Reason> {
        let (width, count) = self.width_and_count(head)?;
        let (third, fourth) = (self.stream.byte()?, self.stream.byte()?);
        let base_bytes = usize::from(third >> 5) + 1;
        let patch_width = decode_width(third & 31);
        let gap_width = u32::from(fourth >> 5) + 1;
        let patches = usize::from(fourth & 31);
        let base = self.big_endian(base_bytes)?;
        // The highest bit of the base is its sign.
        let sign = 1u64 << (base_bytes * 8 - 1);
        let base = if base & sign == 0 { base.cast_signed() } else { (base & !sign).cast_signed().wrapping_neg() };
        self.packed(width, count)?;
        self.run.extend(Unpacked::new(&self.packed, width).take(count).map(|value| value.cast_signed()));
        let entry_width = closest_width(patch_width + gap_width).ok_or("a patch has more than 64 bits")?;
        self.packed(entry_width, patches)?;
        let mut at = 0usize;
        for entry in Unpacked::new(&self.packed, entry_width).take(patches) {
            at += index(entry >> patch_width) & ((1 << gap_width) - 1);
            let patch = entry & (u64::MAX >> (64 - patch_width));
            // A gap that is too long for its bits consists of several entries, of which all but the last have no patch.
            if patch != 0 {
                let value = self.run.get_mut(at).ok_or("a patch is beyond the end of its run")?;
                *value |= patch.checked_shl(width).unwrap_or_default().cast_signed();
            }
        }
        for value in &mut self.run {
            *value = base.wrapping_add(*value);
        }
        Ok(())
    }

    fn delta(&mut self, head: u8) -> Result<(), Reason> {
        let is_fixed = head >> 1 & 31 == 0;
        let (width, count) = self.width_and_count(head)?;
        let base = self.varint()?;
        let first = unzigzag(self.stream.varint()?);
        self.run.push(base);
        if is_fixed {
            let rest = (1..).take(count.saturating_sub(1));
            self.run.extend(rest.map(|index| base.wrapping_add(first.wrapping_mul(index))));
            return Ok(());
        }
        let mut value = base;
        if count > 1 {
            value = base.wrapping_add(first);
            self.run.push(value);
        }
        let rest = count.saturating_sub(2);
        self.packed(width, rest)?;
        self.run.extend(Unpacked::new(&self.packed, width).take(rest).map(|delta| {
            let delta = delta.cast_signed();
            value = if first < 0 { value.wrapping_sub(delta) } else { value.wrapping_add(delta) };
            value
        }));
        Ok(())
    }

    /// Returns the width and the number of values from the header of a run, whose first byte is `head`.
    fn width_and_count(&mut self, head: u8) -> Result<(u32, usize), Reason> {
        let low = self.stream.byte()?;
        Ok((decode_width(head >> 1 & 31), (usize::from(head & 1) << 8 | usize::from(low)) + 1))
    }

    fn big_endian(&mut self, bytes: usize) -> Result<u64, Reason> {
        let mut value = 0;
        for _ in 0..bytes {
            value = value << 8 | u64::from(self.stream.byte()?);
        }
        Ok(value)
    }

    /// Reads `count` values of `width` bits.
    fn packed(&mut self, width: u32, count: usize) -> Result<(), Reason> {
        self.packed.clear();
        self.stream.append((count * width as usize).div_ceil(8), &mut self.packed)
    }
}

/// Values of a fixed number of bits, the highest bit first.
struct Unpacked<'a> {
    bytes: std::slice::Iter<'a, u8>,
    width: u32,
    held: u128,
    bits: u32,
}

impl<'a> Unpacked<'a> {
    fn new(bytes: &'a [u8], width: u32) -> Self {
        Unpacked { bytes: bytes.iter(), width, held: 0, bits: 0 }
    }
}

impl Iterator for Unpacked<'_> {
    type Item = u64;

    #[expect(clippy::cast_possible_truncation, reason = "truncation to the low bits is intended")]
    fn next(&mut self) -> Option<u64> {
        while self.bits < self.width {
            self.held = self.held << 8 | u128::from(*self.bytes.next()?);
            self.bits += 8;
        }
        self.bits -= self.width;
        Some((self.held >> self.bits) as u64 & (u64::MAX >> (64 - self.width)))
    }
}

pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Returns the width in bits for a five-bit code.
fn decode_width(code: u8) -> u32 {
    match code {
        0..=23 => u32::from(code) + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

/// Returns the code of the smallest width of at least `bits` bits, and that width.
pub(super) fn encode_width(bits: u32) -> (u8, u32) {
    (0..31).map(|code| (code, decode_width(code))).find(|(_, width)| *width >= bits).unwrap_or((31, 64))
}

fn closest_width(bits: u32) -> Option<u32> {
    (bits <= 64).then(|| encode_width(bits).1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::stream::{Codec, Packing};
    use super::*;

    fn stream(bytes: &[u8]) -> Stream {
        Stream::new(bytes.to_vec().into(), Packing { codec: Codec::None, block: 64 })
    }

    fn ints(bytes: &[u8], version: Version, signed: bool, count: usize) -> Vec<i64> {
        let mut ints = Ints::new(stream(bytes), version, signed);
        let read = ints.read(count).unwrap();
        assert!(ints.read(1).is_err());
        for end in 0..bytes.len() {
            assert!(Ints::new(stream(&bytes[..end]), version, signed).read(count).is_err());
        }
        read
    }

    /// The examples of the specification.
    #[test]
    fn the_examples_of_the_specification() {
        assert_eq!(ints(&[0x61, 0x00, 0x07], Version::First, false, 100), [7; 100]);
        let falling: Vec<i64> = (1..=100).rev().collect();
        assert_eq!(ints(&[0x61, 0xff, 0x64], Version::First, false, 100), falling);
        assert_eq!(ints(&[0xfb, 0x02, 0x03, 0x06, 0x07, 0xb], Version::First, false, 5), [2, 3, 6, 7, 11]);
        assert_eq!(ints(&[0x0a, 0x27, 0x10], Version::Second, false, 5), [10_000; 5]);
        let direct = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
        assert_eq!(ints(&direct, Version::Second, false, 4), [23_713, 43_806, 57_005, 48_879]);
        let patched = [
            0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e,
            0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
        ];
        let expected = [
            2030, 2000, 2020, 1_000_000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130, 2140, 2150, 2160,
            2170, 2180, 2190,
        ];
        assert_eq!(ints(&patched, Version::Second, false, 20), expected);
        let delta = [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46];
        assert_eq!(ints(&delta, Version::Second, false, 10), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }

    #[test]
    fn bytes_and_bits() {
        let mut bytes = Bytes::new(stream(&[0x61, 0x00, 0xfe, 0x44, 0x45]));
        let read: Vec<u8> = (0..102).map(|_| bytes.next().unwrap()).collect();
        assert_eq!(&read[98..], [0, 0, 0x44, 0x45]);
        assert!(bytes.next().is_err());
        let bits = Bits::new(stream(&[0xff, 0x80])).read(8).unwrap();
        assert_eq!(bits.iter().collect::<Vec<_>>(), [true, false, false, false, false, false, false, false]);
    }

    #[test]
    fn any_bytes_are_values_or_an_error() {
        let mut state = 5u64;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..12)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 56) as u8
                })
                .collect();
            for version in [Version::First, Version::Second] {
                let mut ints = Ints::new(stream(&bytes), version, bytes[0] & 1 == 0);
                while ints.read(1).is_ok() {}
            }
        }
    }
}
