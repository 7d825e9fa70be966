//! Blosc frames of version 1: blocks of bytes that were shuffled and packed by zstd.

/// A frame begins with versions, flags, sizes.
const HEADER: usize = 16;
/// Bytes of one number stand together.
const SHUFFLED: u8 = 0x01;
/// Nothing is packed.
const COPIED: u8 = 0x02;
/// Bits of one place stand together.
const BIT_SHUFFLED: u8 = 0x04;
/// A block is one stream, not one for each byte of a number.
const ONE_STREAM: u8 = 0x10;
/// The codec, in the upper three bits.
const ZSTD: u8 = 4;

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
}

/// Unpacks a frame of `size` bytes.
///
/// # Errors
/// What is wrong with it.
pub(super) fn unpack(frame: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let damaged = || "the Blosc frame is damaged".to_owned();
    let header = frame.get(..HEADER).ok_or_else(damaged)?;
    let (flags, number) = (header[2], usize::from(header[3]));
    let lengths = u32_at(header, 4).zip(u32_at(header, 8)).zip(u32_at(header, 12));
    let ((length, block), stored) = lengths.ok_or_else(damaged)?;
    if length != size || stored > frame.len() || (block == 0 && length > 0) {
        return Err(damaged());
    }
    let frame = frame.get(..stored).ok_or_else(damaged)?;
    if flags & COPIED != 0 {
        return Ok(frame.get(HEADER..HEADER + length).ok_or_else(damaged)?.to_vec());
    }
    if flags & BIT_SHUFFLED != 0 || flags >> 5 != ZSTD {
        return Err("the Blosc frame is packed as annnet never does: not by zstd, or with shuffled bits".to_owned());
    }
    let mut out = vec![0; length];
    let mut plain = vec![0; block.min(length)];
    for (at, target) in out.chunks_mut(block.max(1)).enumerate() {
        let mut place = u32_at(frame, HEADER + 4 * at).ok_or_else(damaged)?;
        // The last block is never divided when it is shorter than the others.
        let divided = flags & ONE_STREAM == 0 && number > 1 && target.len() == block && block % number == 0;
        let streams = if divided { number } else { 1 };
        let plain = plain.get_mut(..target.len()).ok_or_else(damaged)?;
        for part in plain.chunks_mut((target.len() / streams).max(1)) {
            let packed = u32_at(frame, place).ok_or_else(damaged)?;
            let end = (place + 4).checked_add(packed).ok_or_else(damaged)?;
            let bytes = frame.get(place + 4..end).ok_or_else(damaged)?;
            if packed == part.len() {
                part.copy_from_slice(bytes);
            } else {
                let unpacked = zstd::bulk::decompress_to_buffer(bytes, part).map_err(|_| damaged())?;
                if unpacked != part.len() {
                    return Err(damaged());
                }
            }
            place = end;
        }
        if flags & SHUFFLED != 0 && number > 1 {
            let numbers = target.len() / number;
            for (at, byte) in target.iter_mut().enumerate().take(numbers * number) {
                *byte = plain[(at % number) * numbers + at / number];
            }
            target[numbers * number..].copy_from_slice(&plain[numbers * number..]);
        } else {
            target.copy_from_slice(plain);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A frame of shuffled numbers of four bytes, in blocks of `block` bytes.
    fn frame(plain: &[u8], block: usize, divided: bool) -> Vec<u8> {
        let blocks: Vec<&[u8]> = plain.chunks(block).collect();
        let flags = (ZSTD << 5) | SHUFFLED | if divided { 0 } else { ONE_STREAM };
        let mut body = Vec::new();
        let mut starts = Vec::new();
        for bytes in &blocks {
            starts.push((HEADER + 4 * blocks.len() + body.len()) as u32);
            let numbers = bytes.len() / 4;
            let shuffled: Vec<u8> = (0..numbers * 4).map(|at| bytes[at % numbers * 4 + at / numbers]).collect();
            let streams = if divided && bytes.len() == block { 4 } else { 1 };
            for part in shuffled.chunks(shuffled.len() / streams) {
                let packed = zstd::bulk::compress(part, 5).unwrap();
                let packed = if packed.len() < part.len() { packed } else { part.to_vec() };
                body.extend((packed.len() as u32).to_le_bytes());
                body.extend(packed);
            }
        }
        let mut out = vec![2, 1, flags, 4];
        let stored = HEADER + 4 * blocks.len() + body.len();
        for size in [plain.len(), block, stored] {
            out.extend((size as u32).to_le_bytes());
        }
        starts.iter().for_each(|start| out.extend(start.to_le_bytes()));
        out.extend(body);
        out
    }

    fn numbers() -> Vec<u8> {
        (0..1_000i32).flat_map(|number| (number * number % 77).to_le_bytes()).collect()
    }

    #[test]
    fn frames_unpack_to_what_was_packed() {
        for block in [4_000, 1_024, 512] {
            for divided in [false, true] {
                let packed = frame(&numbers(), block, divided);
                assert_eq!(unpack(&packed, 4_000).unwrap(), numbers(), "{block} {divided}");
            }
        }
        let mut copied = vec![2, 1, COPIED, 4];
        [4_000u32, 4_000, 4_016].iter().for_each(|size| copied.extend(size.to_le_bytes()));
        copied.extend(numbers());
        assert_eq!(unpack(&copied, 4_000).unwrap(), numbers());
    }

    #[test]
    fn damaged_frames_are_refused_or_survived() {
        let packed = frame(&numbers(), 1_024, true);
        for length in 0..packed.len() {
            assert!(unpack(&packed[..length], 4_000).is_err(), "{length}");
        }
        for at in 0..packed.len() {
            for bits in [0xff, 0x01, 0x80] {
                let mut packed = packed.clone();
                packed[at] ^= bits;
                let unpacked = unpack(&packed, 4_000);
                assert!(unpacked.is_err() || unpacked.is_ok_and(|bytes| bytes.len() == 4_000));
            }
        }
        assert!(unpack(&packed, 4_004).is_err(), "of another size");
    }
}
