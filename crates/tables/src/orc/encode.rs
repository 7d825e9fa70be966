//! Encodes runs in the second version of ORC.

use super::proto::put_varint;
use super::run_length::encode_width;

/// The maximum number of values in a run.
const RUN: usize = 512;

/// Writes integers as runs.
pub(super) struct IntWriter {
    signed: bool,
    pending: Vec<i64>,
    out: Vec<u8>,
}

impl IntWriter {
    pub(super) fn new(signed: bool) -> Self {
        IntWriter { signed, pending: Vec::with_capacity(RUN), out: Vec::new() }
    }

    pub(super) fn push(&mut self, value: i64) {
        self.pending.push(value);
        if self.pending.len() == RUN {
            self.flush();
        }
    }

    /// Bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns the stream, and starts an empty one.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.flush();
        std::mem::take(&mut self.out)
    }

    fn flush(&mut self) {
        let values = std::mem::take(&mut self.pending);
        if !values.is_empty() {
            self.run(&values);
        }
        self.pending = values;
        self.pending.clear();
    }

    fn run(&mut self, values: &[i64]) {
        let first = values[0];
        if (3..=10).contains(&values.len()) && values.iter().all(|value| *value == first) {
            return self.short_repeat(first, values.len());
        }
        let direct = values.iter().map(|value| bits(self.sign(*value))).max().unwrap_or(1);
        match Deltas::of(values) {
            Some(deltas) if deltas.width == 0 || encode_width(deltas.width.max(2)).1 < encode_width(direct).1 => {
                self.delta(values, &deltas);
            }
            _ => self.direct(values, direct),
        }
    }

    fn sign(&self, value: i64) -> u64 {
        if self.signed { zigzag(value) } else { value.cast_unsigned() }
    }

    fn short_repeat(&mut self, value: i64, count: usize) {
        let value = self.sign(value);
        let bytes = bits(value).div_ceil(8) as usize;
        self.out.push(low_byte((bytes - 1) << 3 | (count - 3)));
        self.out.extend_from_slice(&value.to_be_bytes()[8 - bytes..]);
    }

    fn direct(&mut self, values: &[i64], bits: u32) {
        let (code, width) = encode_width(bits);
        self.head(1, code, values.len());
        let signed = self.signed;
        let encoded = values.iter().map(|value| if signed { zigzag(*value) } else { value.cast_unsigned() });
        pack(encoded, width, &mut self.out);
    }

    fn delta(&mut self, values: &[i64], deltas: &Deltas) {
        // Code 0 means no bits here, so one bit is written as two.
        let (code, width) = if deltas.width == 0 { (0, 0) } else { encode_width(deltas.width.max(2)) };
        self.head(3, code, values.len());
        let base = self.sign(values[0]);
        put_varint(&mut self.out, base);
        put_varint(&mut self.out, zigzag(deltas.first));
        if width > 0 {
            let rest = values[1..].windows(2).map(|pair| pair[1].abs_diff(pair[0]));
            pack(rest, width, &mut self.out);
        }
    }

    fn head(&mut self, kind: u8, code: u8, count: usize) {
        let count = count - 1;
        self.out.push(kind << 6 | code << 1 | low_byte(count >> 8));
        self.out.push(low_byte(count));
    }
}

/// The differences between adjacent values, all of the same sign.
struct Deltas {
    first: i64,
    /// The number of bits of the largest difference after the first; 0 if all are the same.
    width: u32,
}

impl Deltas {
    /// Returns `None` if the values rise and fall, or their differences are too large.
    fn of(values: &[i64]) -> Option<Self> {
        let first = values.get(1)?.checked_sub(values[0])?;
        let (mut is_fixed, mut largest) = (true, 0);
        for pair in values[1..].windows(2) {
            let delta = pair[1].checked_sub(pair[0])?;
            // The sign of all differences is that of the first; zero counts as positive.
            if delta != 0 && (delta < 0) != (first < 0) {
                return None;
            }
            is_fixed &= delta == first;
            largest = largest.max(delta.unsigned_abs());
        }
        Some(Deltas { first, width: if is_fixed { 0 } else { bits(largest) } })
    }
}

/// Writes bytes as runs.
#[derive(Default)]
pub(super) struct ByteWriter {
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl ByteWriter {
    pub(super) fn push(&mut self, byte: u8) {
        self.pending.push(byte);
        let length = self.pending.len();
        let repeats = self.repeats();
        if repeats == length {
            if length == 130 {
                self.flush_run();
            }
        } else if length > 3 && self.pending[..length - 1].iter().all(|other| *other == self.pending[0]) {
            // A run ended just before this byte.
            self.pending.pop();
            self.flush_run();
            self.pending.push(byte);
        } else if repeats == 3 {
            // A run starts with the last three bytes.
            let literals = self.pending.len() - 3;
            self.flush_literals(literals);
        } else if length == 128 {
            self.flush_literals(length);
        }
    }

    /// Returns how many bytes at the end are the same.
    fn repeats(&self) -> usize {
        let last = self.pending.last();
        self.pending.iter().rev().take_while(|byte| Some(*byte) == last).count()
    }

    fn flush_run(&mut self) {
        if let Some(byte) = self.pending.first() {
            self.out.extend_from_slice(&[low_byte(self.pending.len() - 3), *byte]);
        }
        self.pending.clear();
    }

    fn flush_literals(&mut self, count: usize) {
        if count > 0 {
            self.out.push(low_byte(256 - count));
            self.out.extend(self.pending.drain(..count));
        }
    }

    /// Bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns the stream, and starts an empty one.
    pub(super) fn take(&mut self) -> Vec<u8> {
        if self.pending.len() >= 3 && self.repeats() == self.pending.len() {
            self.flush_run();
        } else {
            self.flush_literals(self.pending.len());
        }
        std::mem::take(&mut self.out)
    }
}

/// Writes bits, eight to a byte, the highest first.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: ByteWriter,
    byte: u8,
    count: u32,
}

impl BitWriter {
    pub(super) fn push(&mut self, bit: bool) {
        self.byte = self.byte << 1 | u8::from(bit);
        self.count += 1;
        if self.count == 8 {
            self.bytes.push(self.byte);
            (self.byte, self.count) = (0, 0);
        }
    }

    /// Bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the stream, and starts an empty one.
    pub(super) fn take(&mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.byte << (8 - self.count));
            (self.byte, self.count) = (0, 0);
        }
        self.bytes.take()
    }
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// Returns the low byte of a count. A run is so short that its higher bits are written separately or are zero.
#[expect(clippy::cast_possible_truncation, reason = "truncation to the low byte is intended")]
fn low_byte(count: usize) -> u8 {
    count as u8
}

/// Returns the number of bits of a number, at least one.
fn bits(value: u64) -> u32 {
    (64 - value.leading_zeros()).max(1)
}

/// Appends numbers of `width` bits, the highest bit first.
#[expect(clippy::cast_possible_truncation, reason = "the bytes are taken one after another")]
fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut held, mut count) = (0u128, 0);
    for value in values {
        held = held << width | u128::from(value);
        count += width;
        while count >= 8 {
            count -= 8;
            out.push((held >> count) as u8);
        }
        held &= (1 << count) - 1;
    }
    if count > 0 {
        out.push((held << (8 - count)) as u8);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::run_length::{Bits, Bytes, Ints, Version};
    use super::super::stream::{Codec, Packing, Stream};
    use super::*;

    fn stream(bytes: Vec<u8>) -> Stream {
        Stream::new(bytes.into(), Packing { codec: Codec::None, block: 1 << 16 })
    }

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 11
    }

    #[test]
    fn integers_come_back() {
        let mut state = 9;
        let samples: Vec<Vec<i64>> = vec![
            vec![],
            vec![5],
            vec![-7, -7],
            vec![3; 7],
            vec![0; 2000],
            (0..5000).collect(),
            (0..600).rev().map(|value| value * 3).collect(),
            (0..700).map(|value| value * value).collect(),
            (0..700).map(|value| value / 2).collect(),
            vec![9, 9, 5, 4],
            (0..1500).map(|_| random(&mut state) as i64 % 1000).collect(),
            (0..1500).map(|_| (random(&mut state) as i64) << 11).collect(),
            vec![i64::MIN, i64::MAX, 0, -1, i64::MIN, i64::MIN, i64::MAX],
            (0..100).map(|index| i64::MIN + index * (i64::MAX / 100)).collect(),
        ];
        for values in samples {
            for signed in [true, false] {
                let mut writer = IntWriter::new(signed);
                values.iter().for_each(|value| writer.push(*value));
                let mut ints = Ints::new(stream(writer.take()), Version::Second, signed);
                assert_eq!(ints.read(values.len()).unwrap(), values);
                assert!(ints.read(1).is_err());
            }
        }
    }

    #[test]
    fn what_rises_evenly_is_short() {
        let mut writer = IntWriter::new(true);
        (0..512).for_each(|value| writer.push(value));
        assert_eq!(writer.take().len(), 4);
    }

    #[test]
    fn bytes_and_bits_come_back() {
        let mut state = 4;
        for length in [0, 1, 2, 3, 127, 128, 129, 130, 131, 400, 1000] {
            for kinds in [1, 2, 3, 200] {
                let bytes: Vec<u8> = (0..length).map(|_| (random(&mut state) % kinds) as u8).collect();
                let mut writer = ByteWriter::default();
                bytes.iter().for_each(|byte| writer.push(*byte));
                let stored = writer.take();
                assert!(stored.len() <= length + length / 128 + 1);
                let mut reader = Bytes::new(stream(stored));
                let read: Vec<u8> = (0..length).map(|_| reader.next().unwrap()).collect();
                assert_eq!(read, bytes);
                assert!(reader.next().is_err());

                let mut writer = BitWriter::default();
                bytes.iter().for_each(|byte| writer.push(*byte % 2 == 1));
                let read = Bits::new(stream(writer.take())).read(length).unwrap();
                assert_eq!(read.iter().collect::<Vec<_>>(), bytes.iter().map(|byte| byte % 2 == 1).collect::<Vec<_>>());
            }
        }
    }
}
