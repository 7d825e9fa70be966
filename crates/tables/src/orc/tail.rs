//! The end of an ORC file: the postscript, the footer, and the description of the stripes.
//!
//! Source: <https://orc.apache.org/specification/ORCv1/>.

use std::ops::Range;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Result, index};
use isomorph_storage::Blob;

use super::proto::{Fields, Reason};
use super::stream::{Codec, Packing, unpack_all};
use crate::Limits;
use crate::rules::ORC_FILE;

/// The number of bytes that are read first: enough for the tail of a file of ordinary size.
const TAIL: u64 = 16 << 10;
const MAGIC: &[u8] = b"ORC";
/// The maximum decompressed size of a block, bytes.
const LARGEST_BLOCK: u64 = 64 << 20;
/// The block size of writers that do not record one, bytes.
const USUAL_BLOCK: u64 = 256 << 10;
/// The nesting depth of types. Deeper schemas exist only to exhaust the stack.
pub(super) const DEPTH: usize = 32;
/// A file that claims more rows than this per stored byte is refused.
const ROWS_PER_BYTE: u64 = 1 << 20;

/// A column, or a part of a column, as declared in the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Type {
    /// `Type.Kind` of the format.
    pub kind: u64,
    /// The numbers of the nested types.
    pub inner: Vec<usize>,
    /// The names of the fields of a struct.
    pub names: Vec<String>,
}

/// A stripe. Its parts follow each other in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stripe {
    /// Streams: row indexes, then data.
    pub streams: Range<u64>,
    /// The footer of the stripe.
    pub footer: Range<u64>,
    pub rows: u64,
}

/// The contents of the end of a file.
#[derive(Debug)]
pub(super) struct Tail {
    pub packing: Packing,
    pub types: Vec<Type>,
    pub stripes: Vec<Stripe>,
}

/// Reads and checks the end of `blob`.
pub(super) fn read(blob: &Blob, limits: &Limits) -> Result<Tail> {
    let size = blob.size();
    let broken = |reason: &str| Error::broken(&ORC_FILE, reason).at(blob.place());
    if size < 4 {
        return Err(broken("the file is too short to be an ORC file"));
    }
    let start = size - size.min(TAIL);
    let tail = blob.read(start..size)?;
    let length = usize::from(tail[tail.len() - 1]);
    let Some(postscript_at) = (tail.len() - 1).checked_sub(length) else {
        return Err(broken("the postscript is longer than the file"));
    };
    let postscript = postscript(&tail[postscript_at..tail.len() - 1]).map_err(broken)?;
    let end = start + postscript_at as u64;
    if postscript.footer_length > limits.footer_bytes {
        let message = format!(
            "the ORC footer has {} bytes, but the limit is {} bytes",
            postscript.footer_length, limits.footer_bytes
        );
        return Err(Error::new(Kind::TooLarge, message).at(blob.place()));
    }
    let footer_at = end.checked_sub(postscript.footer_length).filter(|at| *at >= MAGIC.len() as u64);
    let footer_at = footer_at.ok_or_else(|| broken("the footer is longer than the file"))?;
    let footer = if footer_at >= start {
        tail.slice(index(footer_at - start)..postscript_at)
    } else {
        blob.read(footer_at..end)?
    };
    let most = usize::try_from(limits.footer_bytes).unwrap_or(usize::MAX);
    let footer = unpack_all(Bytes::clone(&footer), postscript.packing, most).map_err(broken)?;
    let (types, stripes) = self::footer(&footer, footer_at).map_err(broken)?;
    if types.len() > limits.columns {
        let message = format!("the file has {} columns, but the limit is {}", types.len(), limits.columns);
        return Err(Error::new(Kind::TooLarge, message).at(blob.place()));
    }
    Ok(Tail { packing: postscript.packing, types, stripes })
}

struct Postscript {
    footer_length: u64,
    packing: Packing,
}

fn postscript(message: &[u8]) -> Result<Postscript, Reason> {
    let (mut footer_length, mut kind, mut block, mut magic) = (0, 0, USUAL_BLOCK, false);
    for field in Fields::new(message) {
        match field? {
            (1, value) => footer_length = value.int(),
            (2, value) => kind = value.int(),
            (3, value) => block = value.int(),
            (8000, value) => magic = value.bytes() == MAGIC,
            _ => {}
        }
    }
    if !magic {
        return Err("the file does not end with the ORC magic bytes");
    }
    let codec = Codec::of_kind(kind).ok_or("unknown compression")?;
    if codec != Codec::None && (block == 0 || block > LARGEST_BLOCK) {
        return Err("the size of compression blocks is out of range");
    }
    Ok(Postscript { footer_length, packing: Packing { codec, block: index(block) } })
}

fn footer(message: &[u8], room: u64) -> Result<(Vec<Type>, Vec<Stripe>), Reason> {
    let (mut types, mut stripes, mut rows) = (Vec::new(), Vec::new(), None);
    for field in Fields::new(message) {
        match field? {
            (3, value) => stripes.push(stripe(value.bytes(), room)?),
            (4, value) => types.push(self::types(value.bytes())?),
            (6, value) => rows = Some(value.int()),
            _ => {}
        }
    }
    let total = stripes.iter().try_fold(0u64, |total, stripe: &Stripe| total.checked_add(stripe.rows));
    if total.is_none() || rows.is_some_and(|rows| total != Some(rows)) {
        return Err("the number of rows in the stripes differs from that of the file");
    }
    Ok((types, stripes))
}

fn types(message: &[u8]) -> Result<Type, Reason> {
    let mut found = Type { kind: 0, inner: Vec::new(), names: Vec::new() };
    for field in Fields::new(message) {
        match field? {
            (1, value) => found.kind = value.int(),
            (2, value) => {
                for inner in value.ints()? {
                    found.inner.push(usize::try_from(inner).map_err(|_| "the number of a type is out of range")?);
                }
            }
            (3, value) => found.names.push(value.text()?.to_owned()),
            _ => {}
        }
    }
    Ok(found)
}

fn stripe(message: &[u8], room: u64) -> Result<Stripe, Reason> {
    let (mut offset, mut index, mut data, mut footer, mut rows) = (0u64, 0, 0, 0, 0);
    for field in Fields::new(message) {
        match field? {
            (1, value) => offset = value.int(),
            (2, value) => index = value.int(),
            (3, value) => data = value.int(),
            (4, value) => footer = value.int(),
            (5, value) => rows = value.int(),
            (6.., _) => return Err("the file is encrypted"),
            _ => {}
        }
    }
    let streams_end = offset.checked_add(index).and_then(|end| end.checked_add(data));
    let ends = streams_end.and_then(|end| Some((end, end.checked_add(footer)?)));
    let (streams_end, end) = ends.filter(|(_, end)| *end <= room).ok_or("a stripe ends beyond the end of the file")?;
    if rows > (end - offset).saturating_add(64).saturating_mul(ROWS_PER_BYTE) {
        return Err("a stripe claims more rows than its bytes can hold");
    }
    Ok(Stripe { streams: offset..streams_end, footer: streams_end..end, rows })
}

/// The position of a stream in a stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StreamPlace {
    /// `Stream.Kind` of the format.
    pub kind: u64,
    /// The number of its type.
    pub column: usize,
    /// Its range in the file.
    pub range: Range<u64>,
}

/// The encoding of a type's values in a stripe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Encoding {
    /// `ColumnEncoding.Kind` of the format.
    pub kind: u64,
    pub dictionary_size: u64,
}

/// The footer of a stripe.
#[derive(Debug, Default)]
pub(super) struct StripeFooter {
    pub streams: Vec<StreamPlace>,
    pub encodings: Vec<Encoding>,
    pub time_zone: Option<String>,
}

/// Parses the decompressed footer of `stripe`.
pub(super) fn stripe_footer(message: &[u8], stripe: &Stripe) -> Result<StripeFooter, Reason> {
    let mut footer = StripeFooter::default();
    let mut at = stripe.streams.start;
    for field in Fields::new(message) {
        match field? {
            (1, value) => {
                let (mut kind, mut column, mut length) = (0, 0, 0);
                for field in Fields::new(value.bytes()) {
                    match field? {
                        (1, value) => kind = value.int(),
                        (2, value) => column = value.u32()? as usize,
                        (3, value) => length = value.int(),
                        _ => {}
                    }
                }
                let end = at.checked_add(length).filter(|end| *end <= stripe.streams.end);
                let range = at..end.ok_or("a stream ends beyond the end of its stripe")?;
                at = range.end;
                footer.streams.push(StreamPlace { kind, column, range });
            }
            (2, value) => {
                let mut encoding = Encoding::default();
                for field in Fields::new(value.bytes()) {
                    match field? {
                        (1, value) => encoding.kind = value.int(),
                        (2, value) => encoding.dictionary_size = value.int(),
                        _ => {}
                    }
                }
                footer.encodings.push(encoding);
            }
            (3, value) => footer.time_zone = Some(value.text()?.to_owned()),
            _ => {}
        }
    }
    Ok(footer)
}
