//! Zip archives, as far as annnet writes them: stored or deflated members, no encryption.
//!
//! This is a parser of its own, because the published crate keeps only the last of several members with the same name,
//! and two readers must never see two different graphs in one file.

use std::io::Read;

use bytes::Bytes;
use flate2::read::DeflateDecoder;
use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, limits};

use super::unpacked::{Unpacked, Unpacking, refused};
use crate::OpenOptions;
use crate::layout::file;

/// Signatures of the records.
const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";

/// Sizes of the fixed parts of the records in bytes.
const END_BYTES: usize = 22;
const LOCATOR_BYTES: u64 = 20;
const END_64_BYTES: u64 = 56;
const CENTRAL_BYTES: usize = 46;
const LOCAL_BYTES: u64 = 30;
/// Maximum size of the comment after the end record.
const COMMENT_BYTES: u64 = 65_535;

/// Stands for a value that is in the 64-bit extension.
const IN_64: u32 = u32::MAX;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// One member, as in the central directory.
#[derive(Debug)]
struct Member {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    /// Position of its local header.
    offset: u64,
    is_link: bool,
}

/// Unpacks an archive.
///
/// # Errors
/// Returns an error if it is truncated or damaged, or must not be unpacked.
pub(super) fn unpack(blob: &Blob, options: &OpenOptions) -> Result<Unpacked> {
    let directory = central(blob)?;
    let mut unpacking = Unpacking::new(blob.size(), options)?;
    let mut rest = directory.as_ref();
    while !rest.is_empty() {
        let (member, length) = member(rest).ok_or_else(|| damaged("the central directory is damaged"))?;
        rest = rest.get(length..).unwrap_or_default();
        if member.is_link {
            return Err(refused("the member is a symbolic link", &member.name));
        }
        if unpacking.begin(&member.name)? {
            add(blob, &member, &mut unpacking)?;
        }
    }
    unpacking.finish()
}

/// Returns whether the names in an archive are those of a graph.
pub(super) fn names_graph(blob: &Blob) -> bool {
    let Ok(directory) = central(blob) else { return false };
    let mut rest = directory.as_ref();
    while let Some((member, length)) = member(rest) {
        let below = member.name.split_once('/').map(|(_, below)| below);
        if below.is_some_and(|below| below == file::EDGES || below == file::EDGE_DEFINITIONS) {
            return true;
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

fn damaged(what: &str) -> Error {
    refused(what, "")
}

fn add(blob: &Blob, member: &Member, unpacking: &mut Unpacking) -> Result<()> {
    let name = member.name.as_str();
    if member.flags & 1 != 0 {
        return Err(Error::unsupported("the member is encrypted").at(name));
    }
    let outside = || refused("the member is outside the archive", name);
    let end = member.offset.checked_add(LOCAL_BYTES).filter(|end| *end <= blob.size()).ok_or_else(outside)?;
    let header = blob.read(member.offset..end)?;
    if header.get(..4) != Some(&LOCAL[..]) {
        return Err(outside());
    }
    let skipped = u16_at(&header, 26).zip(u16_at(&header, 28)).ok_or_else(outside)?;
    let name_end = end + u64::from(skipped.0);
    let own = blob.read(end..name_end.min(blob.size()))?;
    if own.as_ref() != name.as_bytes() {
        return Err(refused("the name in the member's own header differs", name));
    }
    let start = name_end + u64::from(skipped.1);
    let packed = start.checked_add(member.packed).filter(|end| *end <= blob.size()).ok_or_else(outside)?;
    let mut packed = Ranged { blob, at: start, end: packed };
    let mut checked = Checked { hasher: crc32fast::Hasher::new(), from: &mut packed as &mut dyn Read };
    match member.method {
        0 => unpacking.add(name, member.size, &mut checked)?,
        8 => {
            let mut inflated = DeflateDecoder::new(&mut *checked.from);
            let mut own = Checked { hasher: crc32fast::Hasher::new(), from: &mut inflated };
            unpacking.add(name, member.size, &mut own)?;
            checked.hasher = own.hasher;
        }
        other => return Err(Error::unsupported(format!("compression method {other} is not supported")).at(name)),
    }
    if checked.hasher.finalize() != member.crc {
        return Err(refused("the checksum of the member is wrong", name));
    }
    Ok(())
}

/// Reads the central directory.
fn central(blob: &Blob) -> Result<Bytes> {
    let from = blob.size().saturating_sub(END_BYTES as u64 + COMMENT_BYTES);
    let tail = blob.read(from..blob.size())?;
    let starts = (0..=tail.len().saturating_sub(END_BYTES)).rev();
    let is_end = |at: &usize| {
        let comment = u16_at(&tail, at + 20).map(usize::from);
        tail.get(*at..at + 4) == Some(&END[..]) && comment == Some(tail.len() - at - END_BYTES)
    };
    let no_end = || damaged("the archive has no end record: it is truncated or damaged");
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
        return Err(damaged("the central directory is too large"));
    }
    blob.read(range)
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
fn member(bytes: &[u8]) -> Option<(Member, usize)> {
    if bytes.get(..4)? != CENTRAL {
        return None;
    }
    let lengths = [28, 30, 32].map(|at| u16_at(bytes, at).map(usize::from));
    let [Some(name), Some(extra), Some(comment)] = lengths else { return None };
    let length = CENTRAL_BYTES + name + extra + comment;
    bytes.get(..length)?;
    let text = std::str::from_utf8(bytes.get(CENTRAL_BYTES..CENTRAL_BYTES + name)?).ok()?;
    let mut sizes = [u32_at(bytes, 24)?, u32_at(bytes, 20)?, u32_at(bytes, 42)?].map(u64::from);
    let mut extra = bytes.get(CENTRAL_BYTES + name..CENTRAL_BYTES + name + extra)?;
    while let Some((id, size)) = u16_at(extra, 0).zip(u16_at(extra, 2).map(usize::from)) {
        let body = extra.get(4..4 + size)?;
        if id == 1 {
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
    let member = Member {
        name: text.to_owned(),
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

/// A range of a blob, read from start to end.
struct Ranged<'a> {
    blob: &'a Blob,
    at: u64,
    end: u64,
}

impl Read for Ranged<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = (self.end - self.at).min(buffer.len() as u64).min(1 << 20);
        let bytes = self.blob.read(self.at..self.at + length).map_err(std::io::Error::other)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}

/// Computes the checksum of the bytes that it passes on.
struct Checked<'a> {
    hasher: crc32fast::Hasher,
    from: &'a mut dyn Read,
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        Ok(read)
    }
}
