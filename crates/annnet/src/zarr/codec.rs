//! Codecs of chunks.
//!
//! The codecs of `zarrs` are not used. They unpack as much as a frame claims, whatever the size of its chunk, and their
//! Blosc is a C library with four others behind it, one of them in C++, which nothing isolates if a frame is malicious.
//! The codecs here unpack a chunk to exactly its size, or fail.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_tables::Compression;
use zarrs::array::codec::api::{
    ArrayBytesRaw, BytesRepresentation, BytesToBytesCodecTraits, CodecError, CodecMetadataOptions, CodecOptions,
    CodecTraits, PartialDecoderCapability, PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs::metadata::Configuration;
use zarrs::plugin::{ExtensionName, ZarrVersion};

use super::blosc::{self, Packer};

/// Level of zstd within Blosc in files of the published library.
const LEVEL: i32 = 5;
/// Maximum number of bytes by which a compressed chunk may exceed the plain one: headers of all codecs.
const OVERHEAD: u64 = 1 << 16;

/// A codec of a chunk's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    /// Blosc frames: numbers of this many bytes, shuffled and compressed.
    Blosc { packer: Packer, level: i32, number: usize },
    /// One frame of zstd.
    Zstd { level: i32 },
    /// Gzip.
    Gzip { level: u32 },
}

impl Codec {
    /// Returns the codecs for a compression, for numbers of this many bytes. The published library writes zstd within
    /// Blosc.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for Brotli, which Zarr does not support.
    pub fn of(compression: Compression, number: usize) -> Result<Vec<Codec>> {
        let blosc = |packer| vec![Codec::Blosc { packer, level: LEVEL, number }];
        Ok(match compression {
            Compression::None => Vec::new(),
            Compression::Zstd(_) => blosc(Packer::Zstd),
            // The Blosc of zarr-python has no Snappy; LZ4 is the most similar.
            Compression::Lz4 | Compression::Snappy => blosc(Packer::Lz4),
            Compression::Gzip(level) => vec![Codec::Gzip { level }],
            Compression::Brotli(_) => {
                return Err(Error::usage("Zarr arrays cannot be compressed with brotli").hint("--compression zstd"));
            }
        })
    }

    /// Returns the codecs for further chunks of an array: `wanted`, if they are of the array's kind. The compressor of
    /// a Blosc frame is stated in the frame itself.
    pub fn like(own: &[Codec], wanted: Vec<Codec>) -> Vec<Codec> {
        let kinds = own.iter().zip(&wanted);
        let same = own.len() == wanted.len()
            && kinds.into_iter().all(|(own, wanted)| std::mem::discriminant(own) == std::mem::discriminant(wanted));
        if same { wanted } else { own.to_vec() }
    }

    fn json(self) -> serde_json::Value {
        match self {
            Codec::Blosc { packer, level, number } => serde_json::json!({
                "typesize": number, "cname": packer.name(), "clevel": level, "shuffle": "shuffle", "blocksize": 0,
            }),
            Codec::Zstd { level } => serde_json::json!({ "level": level, "checksum": false }),
            Codec::Gzip { level } => serde_json::json!({ "level": level }),
        }
    }

    fn pack(self, plain: &[u8]) -> std::result::Result<Vec<u8>, String> {
        match self {
            Codec::Blosc { packer, level, number } => blosc::pack(plain, number, packer, level),
            Codec::Zstd { level } => zstd::bulk::compress(plain, level).map_err(|error| error.to_string()),
            Codec::Gzip { level } => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
                encoder.write_all(plain).and_then(|()| encoder.finish()).map_err(|error| error.to_string())
            }
        }
    }

    fn unpack(self, packed: &[u8], size: usize) -> std::result::Result<Vec<u8>, String> {
        match self {
            Codec::Blosc { .. } => blosc::unpack(packed, size),
            Codec::Zstd { .. } => zstd::bulk::decompress(packed, size).map_err(|error| error.to_string()),
            Codec::Gzip { .. } => {
                let mut plain = Vec::with_capacity(size);
                let mut from = flate2::read::MultiGzDecoder::new(packed).take(size as u64 + 1);
                from.read_to_end(&mut plain).map_err(|error| error.to_string())?;
                Ok(plain)
            }
        }
    }
}

impl ExtensionName for Codec {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        let name = match self {
            Codec::Blosc { .. } => "blosc",
            Codec::Zstd { .. } => "zstd",
            Codec::Gzip { .. } => "gzip",
        };
        (version == ZarrVersion::V3).then_some(Cow::Borrowed(name))
    }
}

impl CodecTraits for Codec {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        match self.json() {
            serde_json::Value::Object(members) => Some(Configuration::from(members)),
            _ => None,
        }
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: false, partial_decode: false }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: false }
    }
}

impl BytesToBytesCodecTraits for Codec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(
        &self,
        _: &BytesRepresentation,
    ) -> std::result::Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, plain: &BytesRepresentation) -> BytesRepresentation {
        let bounded = |size: u64| BytesRepresentation::BoundedSize(size.saturating_add(size / 8 + OVERHEAD));
        plain.size().map_or(BytesRepresentation::UnboundedSize, bounded)
    }

    fn encode<'a>(
        &self,
        plain: ArrayBytesRaw<'a>,
        _: &CodecOptions,
    ) -> std::result::Result<ArrayBytesRaw<'a>, CodecError> {
        self.pack(&plain).map(Cow::Owned).map_err(CodecError::Other)
    }

    fn decode<'a>(
        &self,
        packed: ArrayBytesRaw<'a>,
        plain: &BytesRepresentation,
        _: &CodecOptions,
    ) -> std::result::Result<ArrayBytesRaw<'a>, CodecError> {
        let size = plain.size().and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or_else(|| CodecError::Other("the size of the chunk is not known".to_owned()))?;
        let unpacked = self.unpack(&packed, size).map_err(CodecError::Other)?;
        match unpacked.len() == size {
            true => Ok(Cow::Owned(unpacked)),
            false => Err(CodecError::Other(format!("the chunk has {} bytes, expected {size}", unpacked.len()))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_packed_unpacks_and_never_to_more() {
        let plain: Vec<u8> = (0..2_000i32).flat_map(|number| (number / 3).to_le_bytes()).collect();
        let all = [Compression::Zstd(1), Compression::Lz4, Compression::Snappy, Compression::Gzip(6)];
        let own = all.into_iter().flat_map(|compression| Codec::of(compression, 4).unwrap());
        for codec in own.chain([Codec::Zstd { level: 3 }]) {
            let packed = codec.pack(&plain).unwrap();
            assert!(packed.len() < plain.len() / 2, "{codec:?}: {}", packed.len());
            assert_eq!(codec.unpack(&packed, plain.len()).unwrap(), plain, "{codec:?}");
            let less = codec.unpack(&packed, plain.len() - 4);
            assert!(less.is_err() || less.is_ok_and(|bytes| bytes.len() <= plain.len() - 3), "{codec:?}");
        }
        assert!(Codec::of(Compression::None, 4).unwrap().is_empty());
        assert!(Codec::of(Compression::Brotli(4), 4).is_err());
    }
}
