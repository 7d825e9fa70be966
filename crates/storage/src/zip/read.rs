//! Reads archives.

use std::io::{self, Read};

use bytes::Bytes;
use crc32fast::Hasher;
use flate2::bufread::DeflateDecoder;
use isomorph_error::{Error, Kind, Place, Result};

use super::{CENTRAL, DEFLATED, END, END_64, EXTENSION_64, IN_64, LOCAL, LOCATOR_64, STORED};
use crate::{Blob, BlobReader, limits};

/// Sizes of the fixed parts of the records in bytes.
const END_BYTES: usize = 22;
const LOCATOR_BYTES: u64 = 20;
const END_64_BYTES: u64 = 56;
const CENTRAL_BYTES: usize = 46;
const LOCAL_BYTES: u64 = 30;
/// Maximum size of the comment after the end record.
const COMMENT_BYTES: u64 = 65_535;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// An archive whose central directory was read.
#[derive(Debug)]
pub struct ZipArchive {
    blob: Blob,
    directory: Bytes,
}

/// A member, as in the central directory.
#[derive(Debug)]
pub struct ZipMember {
    name: Bytes,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    /// Position of its local header.
    offset: u64,
    is_link: bool,
}

impl ZipMember {
    /// Returns its name; `None` if it is not UTF-8.
    pub fn name(&self) -> Option<&str> {
        std::str::from_utf8(&self.name).ok()
    }

    /// Returns its stated size when it is unpacked, bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.is_link
    }

    fn place(&self) -> Place {
        Place::file(String::from_utf8_lossy(&self.name).chars().take(80).collect::<String>())
    }
}

impl ZipArchive {
    /// Reads the central directory of the archive in `blob`.
    ///
    /// # Errors
    /// [`Kind::Malformed`] if it is truncated or damaged.
    pub fn open(blob: &Blob) -> Result<ZipArchive> {
        let from = blob.size().saturating_sub(END_BYTES as u64 + COMMENT_BYTES);
        let tail = blob.read(from..blob.size())?;
        let starts = (0..=tail.len().saturating_sub(END_BYTES)).rev();
        let is_end = |at: &usize| {
            let comment = u16_at(&tail, at + 20).map(usize::from);
            tail.get(*at..at + 4) == Some(&END[..]) && comment == Some(tail.len() - at - END_BYTES)
        };
        let no_end = || Error::malformed("the archive has no end record: it is truncated or damaged");
        let at = starts.filter(|at| tail.len() >= at + END_BYTES).find(is_end).ok_or_else(no_end)?;
        let end = &tail[at..];
        let mut place = u32_at(end, 16).map(u64::from).zip(u32_at(end, 12).map(u64::from));
        let position = from + at as u64;
        if u32_at(end, 16) == Some(IN_64) || u32_at(end, 12) == Some(IN_64) || u16_at(end, 10) == Some(u16::MAX) {
            place = central_64(blob, position)?.or(place);
        }
        let (offset, size) = place.ok_or_else(no_end)?;
        let range = offset..offset.checked_add(size).filter(|end| *end <= position).ok_or_else(no_end)?;
        // A name has at most 64 KiB; real archives do not have so many long ones.
        if size > limits::ZIP_MEMBERS as u64 * 4096 {
            return Err(Error::malformed("the central directory is too large"));
        }
        Ok(ZipArchive { blob: blob.clone(), directory: blob.read(range)? })
    }

    /// Returns the members in the order of the directory. What follows an error is not read.
    pub fn members(&self) -> impl Iterator<Item = Result<ZipMember>> {
        let mut rest = self.directory.clone();
        let mut count = 0;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            count += 1;
            if count > limits::ZIP_MEMBERS {
                rest = Bytes::new();
                return Some(Err(Error::new(Kind::TooLarge, "the archive has more than 100,000 members")));
            }
            match member(&rest) {
                Some((member, length)) => {
                    rest = rest.slice(length..);
                    Some(Ok(member))
                }
                None => {
                    rest = Bytes::new();
                    Some(Err(Error::malformed("the central directory is damaged")))
                }
            }
        })
    }

    /// Returns a reader of a member. Its last read fails if the content does not have the stated size and checksum.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if it is encrypted or packed in another way, [`Kind::Malformed`] if its own header is damaged.
    pub fn reader(&self, member: &ZipMember) -> Result<ZipReader> {
        if member.flags & 1 != 0 {
            let error = Error::unsupported("the member is encrypted").at(member.place());
            return Err(error.hint("save the file without a password"));
        }
        let blob = &self.blob;
        let outside = || Error::malformed("the member is outside the archive").at(member.place());
        let end = member.offset.checked_add(LOCAL_BYTES).filter(|end| *end <= blob.size()).ok_or_else(outside)?;
        let header = blob.read(member.offset..end)?;
        if header.get(..4) != Some(&LOCAL[..]) {
            return Err(outside());
        }
        let skipped = u16_at(&header, 26).zip(u16_at(&header, 28)).ok_or_else(outside)?;
        let name_end = end + u64::from(skipped.0);
        if blob.read(end..name_end.min(blob.size()))? != member.name {
            return Err(Error::malformed("the name in the member's own header differs").at(member.place()));
        }
        let start = name_end + u64::from(skipped.1);
        let end = start.checked_add(member.packed).filter(|end| *end <= blob.size()).ok_or_else(outside)?;
        let packed = blob.reader().within(start..end);
        let from = match member.method {
            STORED => Content::Stored(packed),
            DEFLATED => Content::Deflated(Box::new(DeflateDecoder::new(packed))),
            other => {
                let what = format!("compression method {other} is not supported");
                return Err(Error::unsupported(what).at(member.place()));
            }
        };
        Ok(ZipReader { from, left: member.size, crc: member.crc, hasher: Hasher::new() })
    }
}

/// Returns position and size of the central directory of a large archive.
fn central_64(blob: &Blob, end: u64) -> Result<Option<(u64, u64)>> {
    let Some(at) = end.checked_sub(LOCATOR_BYTES) else { return Ok(None) };
    let locator = blob.read(at..end)?;
    if locator.get(..4) != Some(&LOCATOR_64[..]) {
        return Ok(None);
    }
    let Some(at) = u64_at(&locator, 8) else { return Ok(None) };
    let Some(end) = at.checked_add(END_64_BYTES).filter(|end| *end <= blob.size()) else { return Ok(None) };
    let record = blob.read(at..end)?;
    Ok(u64_at(&record, 48).zip(u64_at(&record, 40)).filter(|_| record.get(..4) == Some(&END_64[..])))
}

/// Parses the next member of the directory. Returns it with its length in bytes.
fn member(bytes: &Bytes) -> Option<(ZipMember, usize)> {
    if bytes.get(..4)? != CENTRAL {
        return None;
    }
    let lengths = [28, 30, 32].map(|at| u16_at(bytes, at).map(usize::from));
    let [Some(name), Some(extra), Some(comment)] = lengths else { return None };
    let length = CENTRAL_BYTES + name + extra + comment;
    bytes.get(..length)?;
    let mut sizes = [u32_at(bytes, 24)?, u32_at(bytes, 20)?, u32_at(bytes, 42)?].map(u64::from);
    let mut extra = bytes.get(CENTRAL_BYTES + name..CENTRAL_BYTES + name + extra)?;
    while let Some((id, size)) = u16_at(extra, 0).zip(u16_at(extra, 2).map(usize::from)) {
        let body = extra.get(4..4 + size)?;
        if id == EXTENSION_64 {
            let mut at = 0;
            for value in sizes.iter_mut().filter(|value| **value == u64::from(IN_64)) {
                *value = u64_at(body, at)?;
                at += 8;
            }
        }
        extra = extra.get(4 + size..)?;
    }
    // The upper half of the attributes is the mode of a Unix file.
    let mode = u32_at(bytes, 38)? >> 16;
    let member = ZipMember {
        name: bytes.slice(CENTRAL_BYTES..CENTRAL_BYTES + name),
        flags: u16_at(bytes, 8)?,
        method: u16_at(bytes, 10)?,
        crc: u32_at(bytes, 16)?,
        size: sizes[0],
        packed: sizes[1],
        offset: sizes[2],
        is_link: mode & 0o170_000 == 0o120_000,
    };
    Some((member, length))
}

/// A reader of one member, see [`ZipArchive::reader`].
#[derive(Debug)]
pub struct ZipReader {
    from: Content,
    /// Bytes that are still to come.
    left: u64,
    crc: u32,
    hasher: Hasher,
}

#[derive(Debug)]
enum Content {
    Stored(BlobReader),
    Deflated(Box<DeflateDecoder<BlobReader>>),
}

impl Read for ZipReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = match &mut self.from {
            Content::Stored(from) => from.read(buffer)?,
            Content::Deflated(from) => from.read(buffer)?,
        };
        let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
        self.left = self
            .left
            .checked_sub(read as u64)
            .filter(|left| read > 0 || *left == 0)
            .ok_or_else(|| damaged("the unpacked member does not have the stated size"))?;
        self.hasher.update(&buffer[..read]);
        if read == 0 && self.hasher.clone().finalize() != self.crc {
            return Err(damaged("the checksum of the member is wrong"));
        }
        Ok(read)
    }
}
