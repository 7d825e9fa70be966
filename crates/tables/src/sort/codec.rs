//! Encodes spilled blocks: integers in as few bytes as a block needs, buffers compressed if that saves space.
//!
//! This is not a file format: only the process that wrote the bytes reads them. They are still checked when they are decoded,
//! because disks fail.

use std::cell::RefCell;
use std::io;

use arrow_buffer::MutableBuffer;
use isomorph_error::{Error, Result};
use zstd::bulk::{Compressor, Decompressor};

/// Smaller buffers are not compressed, bytes.
const COMPRESSED_FROM: usize = 1 << 10;

/// Compression level: fast, but with entropy coding, which halves identifiers in hexadecimal.
const LEVEL: i32 = 1;

/// The number of bytes of a buffer that are compressed as a trial.
const TRIAL: usize = 4 << 10;

/// The storage of a buffer.
const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;
/// All first bytes of the values, then all second bytes, and so on; then compressed.
const TRANSPOSED: u8 = 2;

thread_local! {
    // Kept, because creating one takes longer than compressing a small buffer.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| match kept {
        Some(compressor) => compressor.compress(bytes),
        none => none.insert(Compressor::new(LEVEL)?).compress(bytes),
    })
}

fn decompress(compressed: &[u8], bytes: &mut [u8]) -> io::Result<usize> {
    DECOMPRESSOR.with_borrow_mut(|kept| match kept {
        Some(decompressor) => decompressor.decompress_to_buffer(compressed, bytes),
        none => none.insert(Decompressor::new()?).decompress_to_buffer(compressed, bytes),
    })
}

/// The bytes that are not decoded yet.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = tail;
        Ok(head)
    }

    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn word(&mut self) -> Result<u64> {
        let mut word = [0; 8];
        word.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(word))
    }

    pub fn length(&mut self) -> Result<usize> {
        usize::try_from(self.word()?).map_err(|_| damaged())
    }
}

/// Returns the error for bytes that differ from what was written.
pub(crate) fn damaged() -> Error {
    Error::malformed("a temporary file is damaged").hint("use another --temp-dir").hint("check the disk")
}

pub(crate) fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&(length as u64).to_le_bytes());
}

/// Added to the width of numbers whose constant bits are omitted.
const SCATTERED: u8 = 0x80;

/// The maximum number of runs of bits that are extracted.
const MOST_SPANS: usize = 4;

/// A run of adjacent bits of a number: its shift in the number, its shift in the extracted number, and
/// the mask of the latter.
type Span = (u32, u32, u64);

/// Returns the runs of bits that are set in `mask`.
fn spans(mask: u64) -> Vec<Span> {
    let (mut spans, mut rest, mut kept) = (Vec::new(), mask, 0);
    while rest != 0 {
        let start = rest.trailing_zeros();
        let length = (rest >> start).trailing_ones();
        let ones = 1u64.checked_shl(length).map_or(u64::MAX, |one| one - 1);
        spans.push((start, kept, ones));
        rest &= !(ones << start);
        kept += length;
    }
    spans
}

/// Appends numbers, all with the same width: as differences from the smallest, or, if that is shorter, only those of their
/// bits that are not equal in all of them. A sequence number consists of a number within a part and, in its high bits, the
/// number of the part.
pub(crate) fn put_numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    let first = numbers.first().copied().unwrap_or(0);
    let varying = numbers.iter().fold(0, |bits, number| bits | (number ^ first));
    let spans = spans(varying);
    let width = varying.count_ones().div_ceil(8) as usize;
    if spans.len() > 1 && spans.len() <= MOST_SPANS && width < distance_width(numbers) {
        out.extend_from_slice(&(first & !varying).to_le_bytes());
        put_byte(out, width | usize::from(SCATTERED));
        out.extend_from_slice(&varying.to_le_bytes());
        let kept =
            |number: &u64| spans.iter().fold(0, |kept, (from, to, ones)| kept | (((number >> from) & ones) << to));
        return put_width(out, width, numbers.iter().map(kept));
    }
    let least = numbers.iter().copied().min().unwrap_or(0);
    let bits = numbers.iter().fold(0, |bits, number| bits | (number - least));
    put_distances(out, least, bits, numbers.iter().map(|number| number - least));
}

/// Returns the number of bytes of the largest difference from the smallest number.
fn distance_width(numbers: &[u64]) -> usize {
    let least = numbers.iter().copied().min().unwrap_or(0);
    let greatest = numbers.iter().copied().max().unwrap_or(0);
    (u64::BITS - (greatest - least).leading_zeros()).div_ceil(8) as usize
}

/// Appends ascending numbers as differences from their predecessors, all with the same width.
pub(crate) fn put_ascending(out: &mut Vec<u8>, numbers: &[u64]) {
    let first = numbers.first().copied().unwrap_or(0);
    let distances = std::iter::once(0).chain(numbers.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])));
    let bits = distances.clone().fold(0, |bits, distance| bits | distance);
    put_distances(out, first, bits, distances.take(numbers.len()));
}

fn put_distances(out: &mut Vec<u8>, start: u64, bits: u64, distances: impl Iterator<Item = u64>) {
    let width = (u64::BITS - bits.leading_zeros()).div_ceil(8) as usize;
    out.extend_from_slice(&start.to_le_bytes());
    put_byte(out, width);
    put_width(out, width, distances);
}

/// Appends a width in bytes, which is small.
#[expect(clippy::cast_possible_truncation, reason = "numbers have at most 32 bytes")]
fn put_byte(out: &mut Vec<u8>, width: usize) {
    out.push(width as u8);
}

fn put_width(out: &mut Vec<u8>, width: usize, distances: impl Iterator<Item = u64>) {
    match width {
        0 => {}
        1 => put_fixed::<1>(out, distances),
        2 => put_fixed::<2>(out, distances),
        3 => put_fixed::<3>(out, distances),
        4 => put_fixed::<4>(out, distances),
        5 => put_fixed::<5>(out, distances),
        6 => put_fixed::<6>(out, distances),
        7 => put_fixed::<7>(out, distances),
        _ => put_fixed::<8>(out, distances),
    }
}

fn put_fixed<const WIDTH: usize>(out: &mut Vec<u8>, distances: impl Iterator<Item = u64>) {
    for distance in distances {
        let bytes = distance.to_le_bytes();
        out.extend_from_slice(&bytes[..WIDTH]);
    }
}

/// Reads `count` numbers written by [`put_numbers`].
pub(crate) fn numbers(input: &mut Input, count: usize) -> Result<Vec<u64>> {
    let start = input.word()?;
    let width = input.byte()?;
    if width & SCATTERED == 0 {
        return values(input, count, usize::from(width), |distance| start.wrapping_add(distance));
    }
    let spans = spans(input.word()?);
    values(input, count, usize::from(width & !SCATTERED), |kept| {
        spans.iter().fold(start, |number, (from, to, ones)| number | (((kept >> to) & ones) << from))
    })
}

/// Reads `count` numbers written by [`put_ascending`].
pub(crate) fn ascending(input: &mut Input, count: usize) -> Result<Vec<u64>> {
    let mut last = input.word()?;
    let width = usize::from(input.byte()?);
    values(input, count, width, move |distance| {
        last = last.wrapping_add(distance);
        last
    })
}

/// Reads `count` values of `width` bytes each, converted by `number`.
fn values(input: &mut Input, count: usize, width: usize, number: impl FnMut(u64) -> u64) -> Result<Vec<u64>> {
    let bytes = input.take(count.checked_mul(width).ok_or_else(damaged)?)?;
    match width {
        0 => Ok(std::iter::repeat_n(0, count).map(number).collect()),
        1 => Ok(fixed::<1>(bytes, number)),
        2 => Ok(fixed::<2>(bytes, number)),
        3 => Ok(fixed::<3>(bytes, number)),
        4 => Ok(fixed::<4>(bytes, number)),
        5 => Ok(fixed::<5>(bytes, number)),
        6 => Ok(fixed::<6>(bytes, number)),
        7 => Ok(fixed::<7>(bytes, number)),
        8 => Ok(fixed::<8>(bytes, number)),
        _ => Err(damaged()),
    }
}

fn fixed<const WIDTH: usize>(bytes: &[u8], mut number: impl FnMut(u64) -> u64) -> Vec<u64> {
    let (values, _) = bytes.as_chunks::<WIDTH>();
    let word = |value: &[u8; WIDTH]| {
        let mut word = [0; 8];
        word[..WIDTH].copy_from_slice(value);
        number(u64::from_le_bytes(word))
    };
    values.iter().map(word).collect()
}

/// Appends a buffer of values of `width` bytes each, compressed if that saves at least an eighth.
///
/// # Errors
/// [`Kind::Io`](isomorph_error::Kind::Io) if the compressor fails.
pub(crate) fn put_buffer(out: &mut Vec<u8>, buffer: &[u8], width: usize) -> Result<()> {
    put_length(out, buffer.len());
    if buffer.len() >= COMPRESSED_FROM {
        let transposed = matches!(width, 2 | 4 | 8 | 16);
        let compress = |part: &[u8]| if transposed { compress(&transpose(part, width)) } else { compress(part) };
        let trial = &buffer[..buffer.len().min(TRIAL)];
        if pays(compress(trial)?.len(), trial.len()) {
            let compressed = compress(buffer)?;
            if pays(compressed.len(), buffer.len()) {
                out.push(if transposed { TRANSPOSED } else { COMPRESSED });
                put_byte(out, width);
                put_length(out, compressed.len());
                out.extend_from_slice(&compressed);
                return Ok(());
            }
        }
    }
    out.push(PLAIN);
    out.extend_from_slice(buffer);
    Ok(())
}

fn pays(compressed: usize, plain: usize) -> bool {
    compressed < plain - plain / 8
}

/// Reads a buffer written by [`put_buffer`], which must have `length` bytes.
pub(crate) fn buffer(input: &mut Input, length: usize) -> Result<MutableBuffer> {
    if input.length()? != length {
        return Err(damaged());
    }
    let how = input.byte()?;
    let mut bytes = MutableBuffer::new(length);
    if how == PLAIN {
        bytes.extend_from_slice(input.take(length)?);
        return Ok(bytes);
    }
    let width = usize::from(input.byte()?);
    let compressed_length = input.length()?;
    let compressed = input.take(compressed_length)?;
    bytes.resize(length, 0);
    let decoded = decompress(compressed, bytes.as_slice_mut()).map_err(|_| damaged())?;
    if decoded != length {
        return Err(damaged());
    }
    if how == TRANSPOSED {
        let mut values = MutableBuffer::from_len_zeroed(length);
        transpose_back(bytes.as_slice(), values.as_slice_mut(), width);
        return Ok(values);
    }
    Ok(bytes)
}

fn transpose(values: &[u8], width: usize) -> Vec<u8> {
    let count = values.len() / width;
    let mut planes = vec![0; values.len()];
    for (byte, plane) in planes.chunks_exact_mut(count.max(1)).take(width).enumerate() {
        for (to, value) in plane.iter_mut().zip(values.chunks_exact(width)) {
            *to = value[byte];
        }
    }
    planes
}

fn transpose_back(planes: &[u8], values: &mut [u8], width: usize) {
    let count = values.len() / width.max(1);
    for (byte, plane) in planes.chunks_exact(count.max(1)).take(width).enumerate() {
        for (from, value) in plane.iter().zip(values.chunks_exact_mut(width)) {
            value[byte] = *from;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_come_back() {
        for bits in 0..=64u32 {
            let top = 1u64.checked_shl(bits).map_or(u64::MAX, |one| one - 1);
            for base in [0, u64::MAX - top] {
                let plain = [base + top, base, base + top / 2, base + top / 3];
                let mut sorted = plain;
                sorted.sort_unstable();
                let mut out = Vec::new();
                put_numbers(&mut out, &plain);
                put_ascending(&mut out, &sorted);
                put_numbers(&mut out, &[]);
                put_ascending(&mut out, &[]);
                let mut input = Input::new(&out);
                assert_eq!(numbers(&mut input, 4).unwrap(), plain);
                assert_eq!(ascending(&mut input, 4).unwrap(), sorted);
                assert!(numbers(&mut input, 0).unwrap().is_empty());
                assert!(ascending(&mut input, 0).unwrap().is_empty());
                assert!(input.byte().is_err(), "nothing is left");
            }
        }
    }

    #[test]
    fn bits_that_never_change_take_no_space() {
        let plain: Vec<u64> = (0..1_000u64).map(|n| (3 << 56) | ((n * 7 % 61) << 36) | (n * 31 % 4_096)).collect();
        let edges = [[0, u64::MAX, 1 << 63, 5], [u64::MAX, 1, (1 << 63) | 1, 1 << 40], [1 << 63, 0, 1, 1 << 32]];
        let mut out = Vec::new();
        put_numbers(&mut out, &plain);
        assert!(out.len() < 3_050, "{} bytes for 18 bits each", out.len());
        edges.iter().for_each(|some| put_numbers(&mut out, some));
        let mut input = Input::new(&out);
        assert_eq!(numbers(&mut input, plain.len()).unwrap(), plain);
        edges.iter().for_each(|some| assert_eq!(numbers(&mut input, 4).unwrap(), some));
        assert!(input.byte().is_err(), "nothing is left");
    }

    #[test]
    fn small_integers_shrink_and_come_back() {
        for width in [1usize, 2, 3, 4, 8, 16] {
            let values: Vec<u8> =
                (0..3_000u32).flat_map(|n| (n % 100).to_le_bytes().into_iter().chain([0; 12]).take(width)).collect();
            let mut out = Vec::new();
            put_buffer(&mut out, &values, width).unwrap();
            assert!(out.len() < values.len() * 7 / 8 + 32, "width {width}: {} of {}", out.len(), values.len());
            let mut input = Input::new(&out);
            assert_eq!(buffer(&mut input, values.len()).unwrap().as_slice(), values);
        }
    }

    #[test]
    fn a_cut_block_is_an_error() {
        let mut out = Vec::new();
        put_buffer(&mut out, &[7; 5_000], 8).unwrap();
        for cut in [0, 5, 9, 12, out.len() - 1] {
            assert!(buffer(&mut Input::new(&out[..cut]), 5_000).is_err());
        }
        assert!(buffer(&mut Input::new(&out), 4_999).is_err());
    }
}
