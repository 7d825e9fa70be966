//! The description of an array in `zarr.json`, checked before it is used.

use std::num::NonZeroU64;
use std::sync::Arc;

use isomorph_error::{Error, Place, Result};
use zarrs::array::codec::{BytesCodec, api::BytesToBytesCodecTraits};
use zarrs::array::{ArrayBuilder, ArrayMetadataOptions, FillValue};
use zarrs::metadata::ChunkKeySeparator;

use super::blosc::Packer;
use super::codec::Codec;
use super::number::NumberType;
use super::{CHUNK_BYTES, broken};
use crate::read::json;

/// A one-dimensional array.
#[derive(Debug)]
pub(super) struct Description {
    pub length: u64,
    /// Number of elements of a chunk.
    pub chunk: NonZeroU64,
    pub number: NumberType,
    pub fill: FillValue,
    pub codecs: Vec<Codec>,
    /// Separator between `c` and the number of a chunk.
    pub separator: ChunkKeySeparator,
}

/// What has been read so far.
#[derive(Default)]
struct Found {
    length: Option<u64>,
    chunk: Option<u64>,
    number: Option<NumberType>,
    fill: Option<String>,
    codecs: Vec<Codec>,
    /// Number of codecs seen; the first one turns numbers into bytes.
    seen: usize,
    dotted: bool,
    /// Whether the file states that it is an array, and that it has this version.
    is_named: [bool; 2],
}

impl Description {
    /// Parses a description.
    ///
    /// # Errors
    /// Returns an error if it does not describe a one-dimensional array of a supported number type with chunks of a
    /// reasonable size, or if the chunks are compressed with anything but Blosc, zstd or gzip.
    pub fn read(text: &str, file: &str) -> Result<Description> {
        let mut found = Found::default();
        json::members(text, file, |name, value| found.member(name, value, file))?;
        if found.is_named != [true; 2] {
            return Err(broken(file, "zarr_format or node_type is missing"));
        }
        let number = found.number.ok_or_else(|| broken(file, "the data type is not supported"))?;
        let chunk = found.chunk.and_then(NonZeroU64::new);
        let bytes = |chunk: &NonZeroU64| chunk.get().checked_mul(number.bytes() as u64);
        let chunk = chunk.filter(|chunk| bytes(chunk).is_some_and(|bytes| bytes <= CHUNK_BYTES));
        let chunk = chunk.ok_or_else(|| broken(file, "the chunks are empty or too large"))?;
        let length = found.length.ok_or_else(|| broken(file, "the shape is missing"))?;
        if found.seen == 0 {
            return Err(broken(file, "the codecs are missing"));
        }
        let fill = found.fill.ok_or_else(|| broken(file, "the fill value is missing"))?;
        let fill = number
            .fill(&fill)
            .ok_or_else(|| broken(file, format!("{fill} is not a valid fill value for the data type")))?;
        let separator = if found.dotted { ChunkKeySeparator::Dot } else { ChunkKeySeparator::Slash };
        Ok(Description { length, chunk, number, fill, codecs: found.codecs, separator })
    }

    /// Returns a builder for the array: little-endian numbers, compressed as described, without a mention of `zarrs` in
    /// the metadata.
    pub fn builder(&self) -> ArrayBuilder {
        let mut builder =
            ArrayBuilder::new(vec![self.length], [self.chunk], self.number.data_type(), self.fill.clone());
        let packed = self.codecs.iter().map(|codec| Arc::new(*codec) as Arc<dyn BytesToBytesCodecTraits>);
        builder
            .array_to_bytes_codec(Arc::new(BytesCodec::little()))
            .bytes_to_bytes_codecs(packed.collect())
            .chunk_key_encoding_default_separator(self.separator);
        builder
    }

    /// Returns how its metadata is written.
    pub fn metadata_options() -> ArrayMetadataOptions {
        ArrayMetadataOptions::default().with_include_zarrs_metadata(false)
    }
}

impl Found {
    fn member(&mut self, name: &str, value: &str, file: &str) -> Result<()> {
        match name {
            "zarr_format" if json::count(value) != Some(3) => {
                return Err(broken(file, "expected version 3 of Zarr"));
            }
            "node_type" if json::string(value).as_deref() != Some("array") => {
                return Err(broken(file, "expected a Zarr array"));
            }
            "zarr_format" => self.is_named[0] = true,
            "node_type" => self.is_named[1] = true,
            "shape" => self.length = Some(only(value, file)?),
            "data_type" => self.number = json::string(value).and_then(|name| NumberType::of(&name)),
            "fill_value" => self.fill = Some(value.to_owned()),
            "chunk_grid" => {
                let (name, configuration) = named(value, file)?;
                if name != "regular" {
                    return Err(unsupported(file, format!("chunk grid {name} is not supported")));
                }
                json::members(&configuration, file, |name, value| {
                    if name == "chunk_shape" {
                        self.chunk = Some(only(value, file)?);
                    }
                    Ok(())
                })?;
            }
            "chunk_key_encoding" => {
                let (name, configuration) = named(value, file)?;
                if name != "default" {
                    return Err(unsupported(file, format!("chunk key encoding {name} is not supported")));
                }
                json::members(&configuration, file, |name, value| {
                    self.dotted |= name == "separator" && json::string(value).as_deref() == Some(".");
                    Ok(())
                })?;
            }
            "codecs" => json::items(value, file, |codec| self.codec(codec, file))?,
            "storage_transformers" => json::items(value, file, |transformer| {
                Err(unsupported(file, format!("storage transformer {transformer} is not supported")))
            })?,
            _ => {}
        }
        Ok(())
    }

    fn codec(&mut self, codec: &str, file: &str) -> Result<()> {
        let (name, configuration) = named(codec, file)?;
        self.seen += 1;
        match (self.seen, name.as_str()) {
            (1, "bytes") => {
                if configuration.contains("\"big\"") {
                    return Err(unsupported(file, "big-endian numbers are not supported".to_owned()));
                }
            }
            // The compressor of a Blosc frame is stated in the frame itself.
            (2.., "blosc") => {
                json::members(&configuration, file, |name, value| {
                    let number = value.trim().parse::<i64>().ok();
                    let is_number = match name {
                        "clevel" | "blocksize" => number.is_some(),
                        "typesize" => value.trim() == "null" || number.is_some_and(|number| number > 0),
                        _ => true,
                    };
                    if is_number {
                        Ok(())
                    } else {
                        Err(broken(file, format!("{name} of Blosc is {value}, which is not supported")))
                    }
                })?;
                self.codecs.push(Codec::Blosc { packer: Packer::Zstd, level: 5, number: 1 });
            }
            (2.., "zstd") => self.codecs.push(Codec::Zstd { level: 0 }),
            (2.., "gzip") => self.codecs.push(Codec::Gzip { level: 6 }),
            _ => return Err(unsupported(file, format!("codec {name} is not supported"))),
        }
        Ok(())
    }
}

fn unsupported(file: &str, what: String) -> Error {
    Error::unsupported(what).at(Place::file(file))
}

/// Returns the only number of a list.
fn only(value: &str, file: &str) -> Result<u64> {
    let mut sides = Vec::new();
    json::items(value, file, |side| {
        sides.push(json::count(side));
        Ok(())
    })?;
    match sides.as_slice() {
        [Some(side)] => Ok(*side),
        _ => Err(broken(file, "the array must have one dimension")),
    }
}

/// Returns the name and configuration of an extension, which is an object or just a name.
fn named(value: &str, file: &str) -> Result<(String, String)> {
    if let Some(name) = json::string(value) {
        return Ok((name.into_owned(), "{}".to_owned()));
    }
    let (mut name, mut configuration) = (None, "{}".to_owned());
    json::members(value, file, |member, value| {
        match member {
            "name" => name = json::string(value).map(|name| name.into_owned()),
            "configuration" => configuration = value.to_owned(),
            _ => {}
        }
        Ok(())
    })?;
    let name = name.ok_or_else(|| broken(file, "a part of the description has no name"))?;
    Ok((name, configuration))
}
