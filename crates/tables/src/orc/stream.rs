//! The bytes of one stream, decompressed block by block when they are read.

use std::io::Read;

use bytes::Bytes;

/// The reason why a stream cannot be read.
pub(super) type Reason = &'static str;

const TRUNCATED: Reason = "unexpected end of a stream";
const DAMAGED: Reason = "a compressed block is damaged";

/// The compression of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Zlib,
    Snappy,
    Lz4,
    Zstd,
}

/// The compression of a file and the decompressed size of its blocks, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packing {
    pub codec: Codec,
    pub block: usize,
}

impl Codec {
    /// Returns the codec with this `CompressionKind`.
    pub(super) fn of_kind(kind: u64) -> Option<Self> {
        Some(match kind {
            0 => Codec::None,
            1 => Codec::Zlib,
            2 => Codec::Snappy,
            4 => Codec::Lz4,
            5 => Codec::Zstd,
            _ => return None,
        })
    }

    /// Returns its `CompressionKind`.
    pub(super) fn kind(self) -> u64 {
        match self {
            Codec::None => 0,
            Codec::Zlib => 1,
            Codec::Snappy => 2,
            Codec::Lz4 => 4,
            Codec::Zstd => 5,
        }
    }
}

impl Packing {
    /// Decompresses one block into `out`; the result must not be larger than a block.
    fn unpack(self, packed: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
        out.clear();
        match self.codec {
            Codec::None => out.extend_from_slice(packed),
            Codec::Zlib => read_bounded(flate2::read::DeflateDecoder::new(packed), self.block, out)?,
            Codec::Snappy => {
                let size = snap::raw::decompress_len(packed).map_err(|_| DAMAGED)?;
                if size > self.block {
                    return Err(DAMAGED);
                }
                out.resize(size, 0);
                snap::raw::Decoder::new().decompress(packed, out).map_err(|_| DAMAGED)?;
            }
            Codec::Lz4 => {
                out.resize(self.block, 0);
                let size = lz4_flex::block::decompress_into(packed, out).map_err(|_| DAMAGED)?;
                out.truncate(size);
            }
            Codec::Zstd => {
                read_bounded(zstd::Decoder::with_buffer(packed).map_err(|_| DAMAGED)?, self.block, out)?;
            }
        }
        Ok(())
    }
}

fn read_bounded(reader: impl Read, most: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
    reader.take(most as u64 + 1).read_to_end(out).map_err(|_| DAMAGED)?;
    if out.len() > most { Err(DAMAGED) } else { Ok(()) }
}

/// A stream that is read from start to end.
pub(super) struct Stream {
    packed: Bytes,
    packing: Packing,
    block: Vec<u8>,
    at: usize,
}

impl Stream {
    /// Creates a stream from its stored bytes.
    pub(super) fn new(packed: Bytes, packing: Packing) -> Self {
        Stream { packed, packing, block: Vec::new(), at: 0 }
    }

    /// Moves to the next block that is not empty; returns false at the end.
    fn fill(&mut self) -> Result<bool, Reason> {
        while self.at == self.block.len() {
            if self.packed.is_empty() {
                return Ok(false);
            }
            self.at = 0;
            if self.packing.codec == Codec::None {
                let length = self.packed.len().min(self.packing.block.max(1 << 16));
                self.block.clear();
                self.block.extend_from_slice(&self.packed.split_to(length));
                continue;
            }
            let head = self.packed.first_chunk::<3>().ok_or(TRUNCATED)?;
            let head = u32::from_le_bytes([head[0], head[1], head[2], 0]);
            let length = (head >> 1) as usize;
            let stored = self.packed.get(3..3 + length).ok_or(TRUNCATED)?;
            if head & 1 == 1 {
                self.block.clear();
                self.block.extend_from_slice(stored);
            } else {
                self.packing.unpack(stored, &mut self.block)?;
            }
            self.packed = self.packed.slice(3 + length..);
        }
        Ok(true)
    }

    /// Reads the next byte.
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Reason> {
        if self.at == self.block.len() && !self.fill()? {
            return Err(TRUNCATED);
        }
        let byte = self.block[self.at];
        self.at += 1;
        Ok(byte)
    }

    /// Appends the next `length` bytes to `out`.
    pub(super) fn append(&mut self, mut length: usize, out: &mut Vec<u8>) -> Result<(), Reason> {
        while length > 0 {
            if !self.fill()? {
                return Err(TRUNCATED);
            }
            let here = length.min(self.block.len() - self.at);
            out.extend_from_slice(&self.block[self.at..self.at + here]);
            self.at += here;
            length -= here;
        }
        Ok(())
    }

    /// Reads a number of variable length.
    pub(super) fn varint(&mut self) -> Result<u64, Reason> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number has more than ten bytes")
    }
}

/// Decompresses all of `packed` to at most `most` bytes.
pub(super) fn unpack_all(packed: Bytes, packing: Packing, most: usize) -> Result<Vec<u8>, Reason> {
    let mut stream = Stream::new(packed, packing);
    let mut out = Vec::new();
    while stream.fill()? {
        if out.len() + stream.block.len() > most {
            return Err("a decompressed footer is too large");
        }
        out.extend_from_slice(&stream.block[stream.at..]);
        stream.at = stream.block.len();
    }
    Ok(out)
}

/// Compresses streams.
pub(super) struct Packer {
    packing: Packing,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl Packer {
    /// `level` is the compression level of Zstandard; other codecs ignore it.
    pub(super) fn new(packing: Packing, level: i32) -> Result<Self, std::io::Error> {
        let zstd = (packing.codec == Codec::Zstd).then(|| zstd::bulk::Compressor::new(level)).transpose()?;
        Ok(Packer { packing, zstd })
    }

    /// Returns the stored form of `bytes`.
    pub(super) fn pack(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, std::io::Error> {
        if self.packing.codec == Codec::None {
            return Ok(bytes);
        }
        let mut out = Vec::new();
        for block in bytes.chunks(self.packing.block) {
            let packed = self.pack_block(block)?;
            let (stored, original) = if packed.len() < block.len() { (packed.as_slice(), 0) } else { (block, 1) };
            // A block has fewer than 2^23 bytes, so its size and one bit fit into three bytes.
            let head = stored.len() << 1 | original;
            out.extend_from_slice(&head.to_le_bytes()[..3]);
            out.extend_from_slice(stored);
        }
        Ok(out)
    }

    fn pack_block(&mut self, block: &[u8]) -> Result<Vec<u8>, std::io::Error> {
        match (self.packing.codec, &mut self.zstd) {
            (Codec::Zstd, Some(zstd)) => zstd.compress(block),
            (Codec::Snappy, _) => snap::raw::Encoder::new().compress_vec(block).map_err(std::io::Error::other),
            (Codec::Lz4, _) => Ok(lz4_flex::block::compress(block)),
            (Codec::Zlib, _) => {
                let mut encoder = flate2::read::DeflateEncoder::new(block, flate2::Compression::default());
                let mut packed = Vec::new();
                encoder.read_to_end(&mut packed)?;
                Ok(packed)
            }
            _ => Ok(block.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn streams_come_back_in_every_packing() {
        let bytes: Vec<u8> = (0..100_000u32).flat_map(|value| (value / 7).to_le_bytes()).collect();
        for codec in [Codec::None, Codec::Zlib, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
            let packing = Packing { codec, block: 10_000 };
            let packed: Bytes = Packer::new(packing, 1).unwrap().pack(bytes.clone()).unwrap().into();
            assert_eq!(unpack_all(packed.clone(), packing, 1 << 20).unwrap(), bytes);
            assert!(unpack_all(packed.clone(), packing, 1000).is_err());
            let mut stream = Stream::new(packed.clone(), packing);
            let mut out = vec![stream.byte().unwrap()];
            stream.append(bytes.len() - 1, &mut out).unwrap();
            assert_eq!(out, bytes);
            assert!(stream.byte().is_err());
            let cut = unpack_all(packed.slice(..packed.len() - 1), packing, 1 << 20);
            assert!(cut.is_err() || cut.unwrap() != bytes);
        }
    }

    #[test]
    fn a_block_cannot_unpack_to_more_than_a_block() {
        let packing = Packing { codec: Codec::Zlib, block: 1 << 20 };
        let bomb: Bytes = Packer::new(packing, 1).unwrap().pack(vec![0; 1 << 20]).unwrap().into();
        assert!(unpack_all(bomb, Packing { block: 1000, ..packing }, 1 << 30).is_err());
    }
}
