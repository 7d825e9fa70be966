//! The hybrid of run lengths and bit packing in which levels and dictionary keys are stored, decoded from any position:
//! runs before the wanted values are skipped without unpacking.
//!
//! Source: <https://parquet.apache.org/docs/file-format/data-pages/encodings/#run-length-encoding--bit-packing-hybrid-rle--3>.

use std::ops::Range;

/// The reason why a stream cannot be decoded.
pub(super) type Reason = &'static str;

const TRUNCATED: Reason = "unexpected end of a run-length encoded stream";

/// A run of a stream.
enum Run<'a> {
    /// A repeated value.
    Same { value: u32, count: usize },
    /// Values of the stream's width.
    Packed { bytes: &'a [u8], count: usize },
}

/// Reads runs one after another.
struct Runs<'a> {
    bytes: &'a [u8],
    width: u32,
}

impl<'a> Runs<'a> {
    fn next(&mut self) -> Result<Run<'a>, Reason> {
        let head = self.varint()?;
        let count = usize::try_from(head >> 1).map_err(|_| TRUNCATED)?;
        if head & 1 == 0 {
            let length = self.width.div_ceil(8) as usize;
            let stored = self.take(length)?;
            let mut value = [0; 4];
            value[..length].copy_from_slice(stored);
            return Ok(Run::Same { value: u32::from_le_bytes(value), count });
        }
        let length = count.checked_mul(self.width as usize).ok_or(TRUNCATED)?;
        // The last run may be truncated after its last value.
        let bytes = self.take(length.min(self.bytes.len()))?;
        Ok(Run::Packed { bytes, count: count.checked_mul(8).ok_or(TRUNCATED)? })
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Reason> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(TRUNCATED)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Reason> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first().ok_or(TRUNCATED)?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a run has a length of more than ten bytes")
    }
}

/// Appends the values with the numbers `wanted` of the stream `bytes`, whose values have `width` bits (at most 32).
pub(super) fn decode(bytes: &[u8], width: u32, wanted: Range<usize>, out: &mut Vec<u32>) -> Result<(), Reason> {
    if width > 32 {
        return Err("values have more than 32 bits");
    }
    let mut runs = Runs { bytes, width };
    let mut position = 0usize;
    while position < wanted.end {
        let run = runs.next()?;
        let (Run::Same { count, .. } | Run::Packed { count, .. }) = run;
        if count == 0 {
            return Err("a run has no values");
        }
        let end = position.saturating_add(count);
        let part = wanted.start.max(position)..wanted.end.min(end);
        if part.start < part.end {
            match run {
                Run::Same { value, .. } => out.extend(std::iter::repeat_n(value, part.len())),
                Run::Packed { bytes, .. } => {
                    let within = part.start - position..part.end - position;
                    if (within.end * width as usize).div_ceil(8) > bytes.len() {
                        return Err(TRUNCATED);
                    }
                    out.extend(within.map(|index| unpack(bytes, index * width as usize, width)));
                }
            }
        }
        position = end;
    }
    Ok(())
}

/// Checks that the stream contains `count` values of `width` bits (at most 32), none above `most`, because decoders disagree on
/// how to handle others.
pub(super) fn check(bytes: &[u8], width: u32, most: u32, count: usize) -> Result<(), Reason> {
    if width > 32 {
        return Err("values have more than 32 bits");
    }
    let mut runs = Runs { bytes, width };
    const LARGE: Reason = "a run contains a value that is too large";
    // If every value of that width is valid, packed ones need no check.
    let any = u64::from(most) + 1 == 1 << width;
    let width_of = width as usize;
    let mut left = count;
    while left > 0 {
        let length = match runs.next()? {
            Run::Same { count: 0, .. } | Run::Packed { count: 0, .. } => return Err("a run has no values"),
            Run::Same { value, .. } if value > most => return Err(LARGE),
            Run::Packed { bytes, count } if (count.min(left) * width_of).div_ceil(8) > bytes.len() => {
                return Err(TRUNCATED);
            }
            Run::Packed { bytes, count }
                if !any && (0..count.min(left)).any(|at| unpack(bytes, at * width_of, width) > most) =>
            {
                return Err(LARGE);
            }
            Run::Same { count, .. } | Run::Packed { count, .. } => count,
        };
        left = left.saturating_sub(length);
    }
    Ok(())
}

/// Whether the first `count` values of the stream are one run of `value`.
pub(super) fn starts_with_run(bytes: &[u8], width: u32, value: u32, count: usize) -> bool {
    matches!(Runs { bytes, width }.next(), Ok(Run::Same { value: found, count: length }) if found == value && length >= count)
}

/// Returns `width` bits from bit `from` on.
#[expect(clippy::cast_possible_truncation, reason = "`width` is at most 32")]
fn unpack(bytes: &[u8], from: usize, width: u32) -> u32 {
    let start = from / 8;
    let word = match bytes.get(start..).and_then(<[u8]>::first_chunk::<8>) {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            let rest = bytes.get(start..).unwrap_or_default();
            word[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(word)
        }
    };
    ((word >> (from % 8)) & ((1 << width) - 1)) as u32
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// 5 × 3, then 0..8 bit-packed, in three bits.
    const STREAM: [u8; 6] = [10, 3, 0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010];

    #[test]
    fn any_part_of_a_stream() {
        let all = [3, 3, 3, 3, 3, 0, 1, 2, 3, 4, 5, 6, 7];
        for start in 0..=all.len() {
            for end in start..=all.len() {
                let mut out = Vec::new();
                decode(&STREAM, 3, start..end, &mut out).unwrap();
                assert_eq!(out, all[start..end]);
            }
        }
        assert!(decode(&STREAM, 3, 0..14, &mut Vec::new()).is_err());
        assert!(starts_with_run(&STREAM, 3, 3, 5) && !starts_with_run(&STREAM, 3, 3, 6));
    }

    #[test]
    fn runs_of_values_that_are_too_large_are_errors() {
        assert_eq!(check(&STREAM, 3, 7, 13), Ok(()));
        assert_eq!(check(&STREAM, 3, 3, 9), Ok(()));
        assert!(check(&STREAM, 3, 3, 10).is_err());
        assert!(check(&STREAM, 3, 2, 1).is_err());
        assert!(check(&STREAM, 3, 7, 14).is_err());
    }

    #[test]
    fn cut_streams_are_errors() {
        for end in 0..STREAM.len() {
            assert!(check(&STREAM[..end], 3, 7, 13).is_err());
            assert!(decode(&STREAM[..end], 3, 0..13, &mut Vec::new()).is_err());
        }
        assert!(decode(&[0, 0], 3, 0..1, &mut Vec::new()).is_err());
    }
}
