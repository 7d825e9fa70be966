//! Blosc frames of version 1: blocks of shuffled bytes, compressed with zstd, LZ4, Snappy or zlib.

/// Size of the header: versions, flags, sizes.
const HEADER: usize = 16;
/// Flag: the bytes of all numbers with the same position are adjacent.
const SHUFFLED: u8 = 0x01;
/// Flag: the frame is not compressed.
const COPIED: u8 = 0x02;
/// Flag: the bits of all numbers with the same position are adjacent.
const BIT_SHUFFLED: u8 = 0x04;
/// Flag: a block is one stream, not one for each byte of a number.
const ONE_STREAM: u8 = 0x10;
/// Number of flag bits before those of the compressor.
const PACKER_SHIFT: u8 = 5;
/// Version of the frame format, and of the compressed format.
const VERSION: [u8; 2] = [2, 1];

/// The compressor of the blocks, in the upper three bits of the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packer {
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

impl Packer {
    /// Returns its name in the description of an array.
    pub fn name(self) -> &'static str {
        match self {
            Packer::Lz4 => "lz4",
            Packer::Snappy => "snappy",
            Packer::Zlib => "zlib",
            Packer::Zstd => "zstd",
        }
    }

    fn number(self) -> u8 {
        match self {
            Packer::Lz4 => 1,
            Packer::Snappy => 2,
            Packer::Zlib => 3,
            Packer::Zstd => 4,
        }
    }

    /// Returns the compressor of a frame. Blosc's own codec (0) is used only if it is requested explicitly.
    fn of(flags: u8) -> Option<Packer> {
        let all = [Packer::Lz4, Packer::Snappy, Packer::Zlib, Packer::Zstd];
        all.into_iter().find(|packer| packer.number() == flags >> PACKER_SHIFT)
    }

    /// Unpacks into `plain` and returns the number of bytes.
    fn unpack(self, packed: &[u8], plain: &mut [u8]) -> Option<usize> {
        match self {
            Packer::Lz4 => lz4_flex::block::decompress_into(packed, plain).ok(),
            Packer::Snappy => snap::raw::Decoder::new().decompress(packed, plain).ok(),
            Packer::Zlib => {
                let mut inflate = flate2::Decompress::new(true);
                let status = inflate.decompress(packed, plain, flate2::FlushDecompress::Finish).ok()?;
                (status == flate2::Status::StreamEnd).then_some(inflate.total_out() as usize)
            }
            Packer::Zstd => zstd::bulk::decompress_to_buffer(packed, plain).ok(),
        }
    }

    fn pack(self, plain: &[u8], level: i32) -> Result<Vec<u8>, String> {
        match self {
            Packer::Lz4 => Ok(lz4_flex::block::compress(plain)),
            Packer::Snappy => snap::raw::Encoder::new().compress_vec(plain).map_err(|error| error.to_string()),
            Packer::Zlib => {
                let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(level as u32));
                std::io::Write::write_all(&mut deflate, plain)
                    .and_then(|()| deflate.finish())
                    .map_err(|error| error.to_string())
            }
            Packer::Zstd => zstd::bulk::compress(plain, level).map_err(|error| error.to_string()),
        }
    }
}

/// Compresses numbers of this many bytes into a frame of one block.
///
/// # Errors
/// Returns the compressor's message if it fails.
pub(super) fn pack(plain: &[u8], number: usize, packer: Packer, level: i32) -> Result<Vec<u8>, String> {
    let size = |bytes: usize| u32::try_from(bytes).map_err(|_| "the chunk is too large for Blosc".to_owned());
    let width = u8::try_from(number).map_err(|_| "the numbers are too wide for Blosc".to_owned())?;
    let numbers = plain.len() / number.max(1);
    let mut shuffled = vec![0; plain.len()];
    for (at, byte) in plain.iter().enumerate().take(numbers * number) {
        shuffled[at % number * numbers + at / number] = *byte;
    }
    shuffled[numbers * number..].copy_from_slice(&plain[numbers * number..]);
    let packed = packer.pack(&shuffled, level)?;
    let mut frame = VERSION.to_vec();
    if packed.len() + 8 >= plain.len() {
        frame.extend([packer.number() << PACKER_SHIFT | COPIED, width]);
        for bytes in [plain.len(), plain.len(), HEADER + plain.len()] {
            frame.extend(size(bytes)?.to_le_bytes());
        }
        frame.extend(plain);
        return Ok(frame);
    }
    // Header, start of the only block, its length.
    let start = HEADER + 4;
    frame.extend([packer.number() << PACKER_SHIFT | ONE_STREAM | SHUFFLED, width]);
    for bytes in [plain.len(), plain.len(), start + 4 + packed.len(), start, packed.len()] {
        frame.extend(size(bytes)?.to_le_bytes());
    }
    frame.extend(packed);
    Ok(frame)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
}

/// Unpacks a frame of `size` bytes.
///
/// # Errors
/// Returns a message if the frame is malformed.
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
    let packer = Packer::of(flags).filter(|_| flags & BIT_SHUFFLED == 0);
    let packer = packer.ok_or("Blosc's own codec and bit shuffling are not supported")?;
    let mut out = vec![0; length];
    let mut plain = vec![0; block.min(length)];
    for (at, target) in out.chunks_mut(block.max(1)).enumerate() {
        let mut place = u32_at(frame, HEADER + 4 * at).ok_or_else(damaged)?;
        // The last block is not divided if it is shorter than the others.
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
                if packer.unpack(bytes, part) != Some(part.len()) {
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
        let flags = (Packer::Zstd.number() << PACKER_SHIFT) | SHUFFLED | if divided { 0 } else { ONE_STREAM };
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
    fn frames_of_every_packer_come_back() {
        // Incompressible data is copied: random bytes.
        let mut state = 1u64;
        let noise: Vec<u8> = (0..4_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        for packer in [Packer::Lz4, Packer::Snappy, Packer::Zlib, Packer::Zstd] {
            for plain in [numbers(), noise.clone(), vec![7; 3], Vec::new()] {
                let packed = pack(&plain, 4, packer, 5).unwrap();
                assert!(packed.len() <= plain.len() + HEADER, "{packer:?}");
                assert_eq!(unpack(&packed, plain.len()).unwrap(), plain, "{packer:?}");
            }
        }
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
