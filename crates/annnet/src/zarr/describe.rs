//! What a `zarr.json` says of an array, checked before anything is made of it.

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

/// An array of one dimension.
#[derive(Debug)]
pub(super) struct Description {
    pub length: u64,
    /// Numbers of a chunk.
    pub chunk: NonZeroU64,
    pub number: NumberType,
    pub fill: FillValue,
    pub codecs: Vec<Codec>,
    /// Between `c` and the number of a chunk.
    pub separator: ChunkKeySeparator,
}

/// What was read so far.
#[derive(Default)]
struct Found {
    length: Option<u64>,
    chunk: Option<u64>,
    number: Option<NumberType>,
    fill: Option<String>,
    codecs: Vec<Codec>,
    /// Codecs seen; the first one turns numbers into bytes.
    seen: usize,
    dotted: bool,
    /// Whether it says that it is an array of this version.
    is_named: [bool; 2],
}

impl Description {
    /// Reads a description.
    ///
    /// # Errors
    /// Returns an error if it is none of an array of one dimension, of a type of numbers that is known, in chunks of a
    /// sane size; if chunks are packed by something else than Blosc, zstd or gzip.
    pub fn read(text: &str, file: &str) -> Result<Description> {
        let mut found = Found::default();
        json::members(text, file, |name, value| found.member(name, value, file))?;
        if found.is_named != [true; 2] {
            return Err(broken(file, "zarr_format or node_type is missing"));
        }
        let number = found.number.ok_or_else(|| broken(file, "the type of its numbers is not known"))?;
        let chunk = found.chunk.and_then(NonZeroU64::new);
        let bytes = |chunk: &NonZeroU64| chunk.get().checked_mul(number.bytes() as u64);
        let chunk = chunk.filter(|chunk| bytes(chunk).is_some_and(|bytes| bytes <= CHUNK_BYTES));
        let chunk = chunk.ok_or_else(|| broken(file, "its chunks are empty or too large"))?;
        let length = found.length.ok_or_else(|| broken(file, "the shape is missing"))?;
        if found.seen == 0 {
            return Err(broken(file, "the codecs are missing"));
        }
        let fill = found.fill.ok_or_else(|| broken(file, "the fill value is missing"))?;
        let fill = number.fill(&fill).ok_or_else(|| broken(file, format!("{fill} is no fill value of its numbers")))?;
        let separator = if found.dotted { ChunkKeySeparator::Dot } else { ChunkKeySeparator::Slash };
        Ok(Description { length, chunk, number, fill, codecs: found.codecs, separator })
    }

    /// The way to make an array of it: little-endian numbers, packed as it says, without a trace of the crate's name.
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

    /// How its metadata are written.
    pub fn metadata_options() -> ArrayMetadataOptions {
        ArrayMetadataOptions::default().with_include_zarrs_metadata(false)
    }
}

impl Found {
    fn member(&mut self, name: &str, value: &str, file: &str) -> Result<()> {
        match name {
            "zarr_format" if json::count(value) != Some(3) => {
                return Err(broken(file, "this is not version 3 of Zarr"));
            }
            "node_type" if json::string(value).as_deref() != Some("array") => {
                return Err(broken(file, "this is no array"));
            }
            "zarr_format" => self.is_named[0] = true,
            "node_type" => self.is_named[1] = true,
            "shape" => self.length = Some(only(value, file)?),
            "data_type" => self.number = json::string(value).and_then(|name| NumberType::of(&name)),
            "fill_value" => self.fill = Some(value.to_owned()),
            "chunk_grid" => {
                let (name, configuration) = named(value, file)?;
                if name != "regular" {
                    return Err(unsupported(file, format!("chunks lie in a grid called {name}")));
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
                    return Err(unsupported(file, format!("chunks are named in the way {name}")));
                }
                json::members(&configuration, file, |name, value| {
                    self.dotted |= name == "separator" && json::string(value).as_deref() == Some(".");
                    Ok(())
                })?;
            }
            "codecs" => json::items(value, file, |codec| self.codec(codec, file))?,
            "storage_transformers" => json::items(value, file, |transformer| {
                Err(unsupported(file, format!("the storage is transformed by {transformer}")))
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
                    return Err(unsupported(file, "numbers are big-endian".to_owned()));
                }
            }
            // What a frame is packed by it says itself.
            (2.., "blosc") => {
                json::members(&configuration, file, |name, value| {
                    let number = value.trim().parse::<i64>().ok();
                    let is_number = match name {
                        "clevel" | "blocksize" => number.is_some(),
                        "typesize" => value.trim() == "null" || number.is_some_and(|number| number > 0),
                        _ => true,
                    };
                    if is_number { Ok(()) } else { Err(broken(file, format!("the {name} of Blosc is {value}"))) }
                })?;
                self.codecs.push(Codec::Blosc { packer: Packer::Zstd, level: 5, number: 1 });
            }
            (2.., "zstd") => self.codecs.push(Codec::Zstd { level: 0 }),
            (2.., "gzip") => self.codecs.push(Codec::Gzip { level: 6 }),
            _ => return Err(unsupported(file, format!("chunks are packed by {name}"))),
        }
        Ok(())
    }
}

fn unsupported(file: &str, what: String) -> Error {
    Error::unsupported(what).at(Place::file(file))
}

/// The only number of a list.
fn only(value: &str, file: &str) -> Result<u64> {
    let mut sides = Vec::new();
    json::items(value, file, |side| {
        sides.push(json::count(side));
        Ok(())
    })?;
    match sides.as_slice() {
        [Some(side)] => Ok(*side),
        _ => Err(broken(file, "the array has not one side")),
    }
}

/// Name and configuration of an extension, which is an object or a name alone.
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
