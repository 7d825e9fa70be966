//! Decompresses pages into a buffer of exactly the declared size. A page whose content is larger is refused.

use std::cell::RefCell;
use std::io::{Cursor, Read};

use parquet::basic::Compression;

/// The decompressor of a column chunk, which is reused for all its pages.
pub(super) enum Codec {
    None,
    Snappy(Box<snap::raw::Decoder>),
    Gzip,
    Brotli,
    Lz4Hadoop,
    Lz4,
    Zstd,
}

/// The reason why a page could not be decompressed.
pub(super) type Reason = String;

impl Codec {
    /// Returns the decompressor for `compression`, or an error with its name if it is not supported.
    pub(super) fn new(compression: Compression) -> Result<Self, Reason> {
        Ok(match compression {
            Compression::UNCOMPRESSED => Codec::None,
            Compression::SNAPPY => Codec::Snappy(Box::default()),
            Compression::GZIP(_) => Codec::Gzip,
            Compression::BROTLI(_) => Codec::Brotli,
            Compression::LZ4 => Codec::Lz4Hadoop,
            Compression::LZ4_RAW => Codec::Lz4,
            Compression::ZSTD(_) => Codec::Zstd,
            other => return Err(format!("compression {other} is not supported")),
        })
    }

    /// Whether pages are not compressed.
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Codec::None)
    }

    /// The maximum compression ratio of the codec. A page that claims more is invalid, and no memory is reserved for it.
    /// LZ4 stores a length of 255 bytes in one byte, Snappy of 64 in three, DEFLATE of 258 in two bits, and Zstandard
    /// repeats a byte through a block of 128 KiB in four. Brotli has no such limit.
    pub(super) fn largest_ratio(&self) -> u64 {
        match self {
            Codec::None | Codec::Brotli => u64::MAX,
            Codec::Snappy(_) => 22,
            Codec::Gzip => 1_032,
            Codec::Lz4Hadoop | Codec::Lz4 => 255,
            Codec::Zstd => 32 << 10,
        }
    }

    /// Decompresses `packed` and appends it to `out`; it must have exactly `size` bytes.
    pub(super) fn unpack(&mut self, packed: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
        let start = out.len();
        if size == 0 {
            return Ok(());
        }
        match self {
            Codec::None => out.extend_from_slice(packed),
            Codec::Snappy(decoder) => {
                let claimed = snap::raw::decompress_len(packed).map_err(|error| error.to_string())?;
                if claimed == size {
                    out.resize(start + size, 0);
                    decoder.decompress(packed, &mut out[start..]).map_err(|error| error.to_string())?;
                }
            }
            Codec::Gzip => read_bounded(flate2::read::MultiGzDecoder::new(packed), size, out)?,
            Codec::Brotli => read_bounded(brotli::Decompressor::new(packed, 4096), size, out)?,
            Codec::Lz4Hadoop => unpack_hadoop(packed, size, out)?,
            Codec::Lz4 => {
                out.resize(start + size, 0);
                let unpacked =
                    lz4_flex::block::decompress_into(packed, &mut out[start..]).map_err(|error| error.to_string())?;
                out.truncate(start + unpacked);
            }
            Codec::Zstd => unpack_zstd(packed, size, out)?,
        }
        let unpacked = out.len() - start;
        if unpacked == size {
            Ok(())
        } else {
            Err(format!("the page decompresses to {unpacked} bytes instead of {size}"))
        }
    }
}

/// Reads to the end, but at most one byte more than `size`, which is enough to detect that there are too many.
fn read_bounded(reader: impl Read, size: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
    out.reserve_exact(size);
    reader.take(size as u64 + 1).read_to_end(out).map(drop).map_err(|error| error.to_string())
}

thread_local! {
    // The tables of a Zstandard decoder are large, so each thread has only one.
    static ZSTD: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

fn unpack_zstd(packed: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
    ZSTD.with_borrow_mut(|decoder| {
        let decoder = match decoder {
            Some(decoder) => decoder,
            none => none.insert(zstd::bulk::Decompressor::new().map_err(|error| error.to_string())?),
        };
        let start = out.len() as u64;
        out.reserve_exact(size);
        let mut behind = Cursor::new(out);
        behind.set_position(start);
        decoder.decompress_to_buffer(packed, &mut behind).map(drop).map_err(|error| error.to_string())
    })
}

/// Decompresses LZ4 as framed by Hadoop: each block is preceded by its decompressed and compressed sizes, big-endian. Older
/// writers used the same name for blocks without frames, so data without frames is treated as such a block.
fn unpack_hadoop(packed: &[u8], size: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
    let start = out.len();
    out.resize(start + size, 0);
    if unpack_hadoop_frames(packed, &mut out[start..]).is_some() {
        return Ok(());
    }
    let unpacked = lz4_flex::block::decompress_into(packed, &mut out[start..]).map_err(|error| error.to_string())?;
    out.truncate(start + unpacked);
    Ok(())
}

fn unpack_hadoop_frames(mut packed: &[u8], mut out: &mut [u8]) -> Option<()> {
    while !packed.is_empty() {
        let (unpacked_size, rest) = take_size(packed)?;
        let (packed_size, rest) = take_size(rest)?;
        let block = rest.get(..packed_size)?;
        let unpacked = lz4_flex::block::decompress_into(block, out.get_mut(..unpacked_size)?).ok()?;
        if unpacked != unpacked_size {
            return None;
        }
        out = out.get_mut(unpacked_size..)?;
        packed = &rest[packed_size..];
    }
    out.is_empty().then_some(())
}

fn take_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (size, rest) = bytes.split_first_chunk::<4>()?;
    Some((usize::try_from(u32::from_be_bytes(*size)).ok()?, rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_bomb_stops_at_the_claimed_size() {
        let bomb = gzip(&vec![0; 8 << 20]);
        let mut out = Vec::new();
        let reason = Codec::Gzip.unpack(&bomb, 1000, &mut out).unwrap_err();
        assert_eq!(reason, "the page decompresses to 1001 bytes instead of 1000");
        assert!(out.capacity() < 1 << 16);
    }

    #[test]
    fn a_page_shorter_than_it_claims_is_refused() {
        for (mut codec, packed) in [
            (Codec::Gzip, gzip(b"abc")),
            (Codec::Snappy(Box::default()), snap::raw::Encoder::new().compress_vec(b"abc").unwrap()),
            (Codec::Lz4, lz4_flex::block::compress(b"abc")),
            (Codec::Zstd, zstd::bulk::compress(b"abc", 1).unwrap()),
        ] {
            let mut out = Vec::new();
            codec.unpack(&packed, 3, &mut out).unwrap();
            assert_eq!(out, b"abc");
            assert!(codec.unpack(&packed, 4, &mut Vec::new()).is_err());
            assert!(codec.unpack(&packed, 2, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn hadoop_frames_and_bare_blocks_both_unpack() {
        let block = lz4_flex::block::compress(b"abcabcabc");
        let mut framed = Vec::new();
        framed.extend(9u32.to_be_bytes());
        framed.extend((block.len() as u32).to_be_bytes());
        framed.extend(&block);
        for packed in [framed, block] {
            let mut out = Vec::new();
            Codec::Lz4Hadoop.unpack(&packed, 9, &mut out).unwrap();
            assert_eq!(out, b"abcabcabc");
        }
    }
}
