//! The archive that a workbook is. Nothing of it is unpacked before it is read.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::BufReader;

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::Blob;
use isomorph_storage::zip::{ZipArchive, ZipMember, ZipReader};
use quick_xml::Reader;

use super::{CONTENT_BYTES, allowance, broken, too_much};
use crate::rules;

/// A reader of a member as XML.
pub(super) type Xml = Reader<BufReader<ZipReader>>;

/// An archive.
pub(super) struct Archive {
    archive: ZipArchive,
    members: BTreeMap<String, ZipMember>,
    /// Bytes that may still be unpacked: several sheets may be one member.
    left: Cell<u64>,
}

/// A damaged archive is a damaged workbook.
fn ruled(error: Error) -> Error {
    match error.kind() {
        Kind::Malformed => error.rule(&rules::WORKBOOK),
        _ => error,
    }
}

impl Archive {
    /// Reads the directory.
    ///
    /// # Errors
    /// If it is none, or has two members with one name.
    pub fn open(blob: &Blob) -> Result<Archive> {
        let archive = ZipArchive::open(blob).map_err(ruled)?;
        let mut members = BTreeMap::new();
        for member in archive.members() {
            let member = member.map_err(ruled)?;
            // The parts of a workbook have names in ASCII; others are not read.
            let Some(name) = member.name().map(str::to_owned) else { continue };
            if members.insert(name.clone(), member).is_some() {
                return Err(broken(format!("the archive has two files {name:?}")));
            }
        }
        Ok(Archive { archive, members, left: Cell::new(allowance(blob.size())) })
    }

    /// A member, if it is there.
    ///
    /// # Errors
    /// If it is packed in another way, or too large.
    pub fn xml(&self, name: &str) -> Result<Option<Xml>> {
        let Some(member) = self.members.get(name.trim_start_matches('/')) else { return Ok(None) };
        if member.size() > CONTENT_BYTES {
            return Err(Error::new(Kind::TooLarge, format!("the file {name:?} of the workbook has more than 2 GiB")));
        }
        self.left.set(self.left.get().checked_sub(member.size()).ok_or_else(too_much)?);
        let unpacked = self.archive.reader(member).map_err(ruled)?;
        Ok(Some(Reader::from_reader(BufReader::with_capacity(1 << 16, unpacked))))
    }
}
