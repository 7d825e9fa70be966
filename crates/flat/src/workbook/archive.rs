//! The archive that a workbook is: members that are stored or deflated. Nothing of it is unpacked before it is read.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};

use bytes::Bytes;
use flate2::read::DeflateDecoder;
use isomorph_error::{Error, Kind, Result};
use quick_xml::Reader;

use super::{CONTENT_BYTES, broken};

/// The most members.
const MEMBERS: usize = 10_000;

/// Signatures, and sizes of the fixed parts of the records in bytes (PKWARE, APPNOTE 6.3, 4.3).
const END: [u8; 4] = *b"PK\x05\x06";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const END_BYTES: usize = 22;
const CENTRAL_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;

/// A reader of a member as XML.
pub(super) type Xml = Reader<BufReader<Box<dyn Read>>>;

/// A member: how it is packed, its packed size, and where its local header is.
struct Member {
    method: usize,
    packed: usize,
    offset: usize,
}

/// An archive.
pub(super) struct Archive {
    bytes: Bytes,
    members: BTreeMap<String, Member>,
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let own = bytes.get(at..at + size)?;
    own.iter().rev().try_fold(0usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))
}

impl Archive {
    /// Reads the directory.
    ///
    /// # Errors
    /// If it is none, or has two members with one name.
    pub fn open(bytes: &Bytes) -> Result<Archive> {
        let damaged = || broken("the archive is damaged");
        let last = bytes.len().checked_sub(END_BYTES).ok_or_else(damaged)?;
        let end = (last.saturating_sub(usize::from(u16::MAX))..=last).rev();
        let end = end.into_iter().find(|at| bytes[*at..].starts_with(&END)).ok_or_else(damaged)?;
        let field = |at, size| number(bytes, end + at, size).ok_or_else(damaged);
        let (count, mut at) = (field(10, 2)?, field(16, 4)?);
        if count == usize::from(u16::MAX) {
            return Err(Error::new(Kind::TooLarge, "the workbook has more than 65,534 files"));
        }
        let mut members = BTreeMap::new();
        for _ in 0..count {
            let own = bytes.get(at..).filter(|own| own.starts_with(&CENTRAL)).ok_or_else(damaged)?;
            let field = |at, size| number(own, at, size).ok_or_else(damaged);
            let length = field(28, 2)?;
            let name = own.get(CENTRAL_BYTES..CENTRAL_BYTES + length).ok_or_else(damaged)?;
            let member = Member { method: field(10, 2)?, packed: field(20, 4)?, offset: field(42, 4)? };
            if field(8, 2)? & 1 != 0 {
                return Err(Error::unsupported("the workbook is encrypted").hint("save it without a password"));
            }
            let name = String::from_utf8_lossy(name).into_owned();
            if members.insert(name.clone(), member).is_some() || members.len() > MEMBERS {
                return Err(broken(format!("the archive has two files {name:?}, or too many")));
            }
            at += CENTRAL_BYTES + length + field(30, 2)? + field(32, 2)?;
        }
        Ok(Archive { bytes: bytes.clone(), members })
    }

    /// A member, if it is there.
    ///
    /// # Errors
    /// If it is packed in another way.
    pub fn xml(&self, name: &str) -> Result<Option<Xml>> {
        let name = name.trim_start_matches('/');
        let Some(member) = self.members.get(name) else { return Ok(None) };
        let damaged = || broken(format!("the file {name:?} of the archive is damaged"));
        let header = self.bytes.get(member.offset..).filter(|own| own.starts_with(&LOCAL)).ok_or_else(damaged)?;
        let field = |at| number(header, at, 2).ok_or_else(damaged);
        let from = member.offset + LOCAL_BYTES + field(26)? + field(28)?;
        let to = from.checked_add(member.packed).filter(|to| *to <= self.bytes.len()).ok_or_else(damaged)?;
        let packed = std::io::Cursor::new(self.bytes.slice(from..to));
        let unpacked: Box<dyn Read> = match member.method {
            0 => Box::new(packed),
            8 => Box::new(DeflateDecoder::new(packed).take(CONTENT_BYTES)),
            other => return Err(Error::unsupported(format!("files packed by method {other} are not read"))),
        };
        Ok(Some(Reader::from_reader(BufReader::with_capacity(1 << 16, unpacked))))
    }
}
