//! A decoder of DELTA_BINARY_PACKED: for the lengths that are checked before other decoding, and for look-ups, which
//! need a few values of a page without the overhead of a scan.
//!
//! Source: <https://parquet.apache.org/docs/file-format/data-pages/encodings/#delta-encoding-delta_binary_packed--5>.

use isomorph_error::index;

/// The reason why a stream cannot be decoded.
pub(super) type Reason = &'static str;

const TRUNCATED: Reason = "unexpected end of a delta-encoded run";
/// The maximum number of values in a block. Writers use 128 or a few thousand.
const BLOCK: u64 = 1 << 20;

/// The header of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    miniblocks: usize,
    /// The number of values in a miniblock, a multiple of 8.
    miniblock: usize,
    /// The number of values in the stream.
    pub count: usize,
    first: i64,
}

impl Head {
    /// Parses the header at `at` and moves `at` after it. The stream may declare at most `most` values.
    pub(super) fn parse(bytes: &[u8], at: &mut usize, most: usize) -> Result<Self, Reason> {
        let block = varint(bytes, at)?;
        let miniblocks = varint(bytes, at)?;
        let count = varint(bytes, at)?;
        let first = zigzag(varint(bytes, at)?);
        if block == 0 || block > BLOCK || block % 128 != 0 {
            return Err("the block size of a delta-encoded run is out of range");
        }
        if miniblocks == 0 || block % miniblocks != 0 || (block / miniblocks) % 8 != 0 {
            return Err("the number of miniblocks of a delta-encoded run is out of range");
        }
        let count = usize::try_from(count).ok().filter(|count| *count <= most);
        Ok(Head {
            miniblocks: index(miniblocks),
            miniblock: index(block / miniblocks),
            count: count.ok_or("a delta-encoded run declares more values than its page")?,
            first,
        })
    }
}

/// Decodes the first `until` values of the stream at `at` into `out`, and moves `at` after the bytes that were read: after
/// the whole stream if `until` is its count.
pub(super) fn decode(
    bytes: &[u8],
    at: &mut usize,
    most: usize,
    until: usize,
    out: &mut Vec<i64>,
) -> Result<(), Reason> {
    let head = Head::parse(bytes, at, most)?;
    let until = until.min(head.count);
    out.clear();
    if until == 0 {
        return Ok(());
    }
    out.reserve(until);
    out.push(head.first);
    let mut value = head.first;
    while out.len() < until {
        let least = zigzag(varint(bytes, at)?);
        let widths_at = *at;
        let widths = bytes.get(widths_at..widths_at + head.miniblocks).ok_or(TRUNCATED)?;
        *at += head.miniblocks;
        for &width in widths {
            if out.len() >= until {
                break;
            }
            if width > 64 {
                return Err("a delta-encoded run has values of more than 64 bits");
            }
            let wanted = head.miniblock.min(until - out.len());
            let length = head.miniblock / 8 * usize::from(width);
            // The last miniblock may be truncated after its last value.
            let needed = (wanted * usize::from(width)).div_ceil(8);
            let packed = bytes.get(*at..).ok_or(TRUNCATED)?;
            let packed = &packed[..packed.len().min(length)];
            if packed.len() < needed {
                return Err(TRUNCATED);
            }
            unpack(packed, width, wanted, least, &mut value, out);
            *at += packed.len();
        }
    }
    Ok(())
}

/// Adds `wanted` deltas of `width` bits, and `least`, to the running `value`.
fn unpack(packed: &[u8], width: u8, wanted: usize, least: i64, value: &mut i64, out: &mut Vec<i64>) {
    let mut running = *value;
    let mut push = |delta: u64| {
        running = running.wrapping_add(least).wrapping_add(delta.cast_signed());
        running
    };
    match width {
        0 => out.extend((0..wanted).map(|_| push(0))),
        1..=56 => {
            let width = usize::from(width);
            let mask = (1u64 << width) - 1;
            // The eight bytes from the one in which a value starts contain all of it. The last values are copied, so that
            // they have as many.
            let whole = if packed.len() < 8 { 0 } else { ((packed.len() - 8) * 8 / width + 1).min(wanted) };
            out.extend((0..whole).map(|index| {
                let bit = index * width;
                let word = packed.get(bit / 8..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
                push(u64::from_le_bytes(word) >> (bit % 8) & mask)
            }));
            out.extend((whole..wanted).map(|index| push(bits(packed, index * width, width))));
        }
        width => {
            let width = usize::from(width);
            out.extend((0..wanted).map(|index| push(bits(packed, index * width, width))));
        }
    }
    *value = running;
}

/// Returns `width` bits from bit `from` on. Bits beyond the end are zero.
#[expect(clippy::cast_possible_truncation, reason = "truncation to the low bits is intended")]
fn bits(packed: &[u8], from: usize, width: usize) -> u64 {
    let mut word = [0u8; 16];
    let start = (from / 8).min(packed.len());
    let length = (packed.len() - start).min(9);
    word[..length].copy_from_slice(&packed[start..start + length]);
    let value = (u128::from_le_bytes(word) >> (from % 8)) as u64;
    if width == 64 { value } else { value & ((1 << width) - 1) }
}

fn varint(bytes: &[u8], at: &mut usize) -> Result<u64, Reason> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or(TRUNCATED)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a delta-encoded run contains an integer of more than ten bytes")
}

fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A plain encoder that follows the specification: blocks of 128 values, four miniblocks.
    fn encode(values: &[i64]) -> Vec<u8> {
        fn put(out: &mut Vec<u8>, mut value: u64) {
            while value >= 0x80 {
                out.push(value as u8 | 0x80);
                value >>= 7;
            }
            out.push(value as u8);
        }
        let zig = |value: i64| ((value << 1) ^ (value >> 63)) as u64;
        let mut out = Vec::new();
        for head in [128, 4, values.len() as u64, zig(values.first().copied().unwrap_or_default())] {
            put(&mut out, head);
        }
        let deltas: Vec<i64> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        for block in deltas.chunks(128) {
            let least = *block.iter().min().unwrap();
            put(&mut out, zig(least));
            let packed: Vec<u64> = block.iter().map(|delta| delta.wrapping_sub(least) as u64).collect();
            let widths: Vec<u32> = (0..4)
                .map(|mini| packed.iter().skip(mini * 32).take(32).map(|v| 64 - v.leading_zeros()).max().unwrap_or(0))
                .collect();
            out.extend(widths.iter().map(|width| *width as u8));
            for (mini, width) in widths.iter().enumerate() {
                let mut bits = vec![0u8; 4 * *width as usize];
                for (index, value) in packed.iter().skip(mini * 32).take(32).enumerate() {
                    for bit in 0..*width as usize {
                        let to = index * *width as usize + bit;
                        bits[to / 8] |= ((value >> bit & 1) as u8) << (to % 8);
                    }
                }
                out.extend(bits);
            }
        }
        out
    }

    fn samples() -> Vec<Vec<i64>> {
        let mut state = 7u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 1) as i64
        };
        vec![
            vec![],
            vec![-5],
            (0..1000).collect(),
            (0..300).map(|i| i * i % 17).collect(),
            (0..500).map(|_| random()).collect(),
            (0..129).map(|i| if i % 2 == 0 { i64::MIN } else { i64::MAX }).collect(),
            (0..4096).map(|_| random() % 1_000_000).collect(),
        ]
    }

    #[test]
    fn decodes_what_the_specification_encodes() {
        for values in samples() {
            let mut bytes = encode(&values);
            let end = bytes.len();
            bytes.extend([0xab; 3]);
            for until in [values.len(), values.len() / 2, 1, 0] {
                let (mut at, mut out) = (0, Vec::new());
                decode(&bytes, &mut at, values.len(), until, &mut out).unwrap();
                assert_eq!(out, values[..until.min(values.len())]);
                if until == values.len() {
                    assert_eq!(at, end);
                }
            }
        }
    }

    #[test]
    fn truncated_and_flipped_streams_are_errors_or_other_values() {
        for values in samples() {
            let bytes = encode(&values);
            for end in 0..bytes.len() {
                let (mut at, mut out) = (0, Vec::new());
                let decoded = decode(&bytes[..end], &mut at, values.len(), values.len(), &mut out);
                assert!(decoded.is_err() || out == values, "{end}");
            }
            for index in 0..bytes.len().min(200) {
                let mut flipped = bytes.clone();
                flipped[index] ^= 1 << (index % 8);
                let (mut at, mut out) = (0, Vec::new());
                let _ = decode(&flipped, &mut at, values.len(), values.len(), &mut out);
                assert!(out.len() <= values.len());
            }
        }
    }

    #[test]
    fn more_values_than_the_page_has_are_refused() {
        let bytes = encode(&(0..100).collect::<Vec<_>>());
        assert!(decode(&bytes, &mut 0, 99, 99, &mut Vec::new()).is_err());
    }
}
