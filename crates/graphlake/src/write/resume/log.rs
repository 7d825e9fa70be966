//! An append-only log whose incomplete end is ignored.
//!
//! It begins with [`MAGIC`]. Each record is the length of its text (32 bits), the XXH3 of its text (64 bits), both
//! little-endian, and its text. Reading ends at the first incomplete record: what was written after it was never
//! acknowledged.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::Budget;
use xxhash_rust::xxh3::xxh3_64;

/// The beginning of a log; its last byte is the version of the format of logs and runs.
pub(super) const MAGIC: [u8; 8] = *b"isoload\x01";

/// Length and checksum before the text of a record, in bytes.
const HEAD: usize = 12;

/// A log that is open for writing.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    name: String,
}

impl Log {
    /// Opens the log at `path`, or creates one, and passes the texts of its records to `take`. An incomplete end is cut
    /// off. A file that is not a log of this version becomes an empty one: then the result is `false`.
    ///
    /// # Errors
    /// Errors of `take`; [`Kind::TooLarge`] if it does not fit into the budget; [`Kind::NoSpace`], [`Kind::Io`].
    pub(super) fn open(
        path: &Path,
        budget: &Budget,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<(Self, bool)> {
        let name = path.display().to_string();
        Log::open_named(path, &name, budget, take).map_err(|error| error.at(Place::file(name)))
    }

    fn open_named(
        path: &Path,
        name: &str,
        budget: &Budget,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<(Self, bool)> {
        let file = File::options().read(true).append(true).create(true).open(path)?;
        let mut log = Log { file, name: name.to_owned() };
        let _held = budget.reserve(log.file.metadata()?.len())?;
        let bytes = std::fs::read(path)?;
        let Some(mut rest) = bytes.strip_prefix(&MAGIC) else {
            log.clear()?;
            // A log that was just created does not count as one of another version.
            return Ok((log, MAGIC.starts_with(&bytes)));
        };
        while let Some((text, behind)) = record(rest) {
            take(text)?;
            rest = behind;
        }
        log.file.set_len((bytes.len() - rest.len()) as u64)?;
        Ok((log, true))
    }

    /// Drops all records.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&MAGIC).map_err(Error::from)
    }

    /// Adds records, in one write.
    ///
    /// # Errors
    /// [`Kind::TooLarge`], [`Kind::NoSpace`], [`Kind::Io`].
    pub(super) fn append(&mut self, texts: &[Vec<u8>]) -> Result<()> {
        let mut bytes = Vec::with_capacity(texts.iter().map(|text| HEAD + text.len()).sum());
        for text in texts {
            let too_long = |_| Error::new(Kind::TooLarge, "a record in the log of the load is longer than 4 GiB");
            bytes.extend_from_slice(&u32::try_from(text.len()).map_err(too_long)?.to_le_bytes());
            bytes.extend_from_slice(&xxh3_64(text).to_le_bytes());
            bytes.extend_from_slice(text);
        }
        self.file.write_all(&bytes).map_err(|error| Error::from(error).at(Place::file(self.name.clone())))
    }

    /// Makes what was added durable.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| Error::from(error).at(Place::file(self.name.clone())))
    }
}

/// The text of the first record and the bytes after it; `None` if there is no complete record.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let length = u32::from_le_bytes(*head.first_chunk()?) as usize;
    let sum = u64::from_le_bytes(*head.last_chunk()?);
    let (text, behind) = rest.split_at_checked(length)?;
    (xxh3_64(text) == sum).then_some((text, behind))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn read(path: &Path) -> (Vec<Vec<u8>>, bool) {
        let mut texts = Vec::new();
        let (_, ours) = Log::open(path, &Budget::default(), &mut |text| {
            texts.push(text.to_vec());
            Ok(())
        })
        .unwrap();
        (texts, ours)
    }

    fn written(path: &Path) -> Vec<Vec<u8>> {
        let texts = vec![b"one".to_vec(), Vec::new(), b"three".repeat(100)];
        let (mut log, ours) = Log::open(path, &Budget::default(), &mut |_| Ok(())).unwrap();
        assert!(ours);
        log.append(&texts[..2]).unwrap();
        log.append(&texts[2..]).unwrap();
        log.sync().unwrap();
        texts
    }

    #[test]
    fn a_torn_end_is_cut_off_wherever_it_is_torn() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let texts = written(&path);
        let bytes = std::fs::read(&path).unwrap();
        for end in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..end]).unwrap();
            let (found, ours) = read(&path);
            assert!(ours && texts.starts_with(&found), "{end}");
            // New records follow the last complete one.
            let (mut log, _) = Log::open(&path, &Budget::default(), &mut |_| Ok(())).unwrap();
            log.append(&[b"more".to_vec()]).unwrap();
            let mut wanted = found.clone();
            wanted.push(b"more".to_vec());
            assert_eq!(read(&path).0, wanted, "{end}");
            let whole = if end < 8 { 0 } else { [23, 35, bytes.len()].iter().filter(|place| **place <= end).count() };
            assert_eq!(found.len(), whole, "{end}");
        }
    }

    #[test]
    fn a_flipped_bit_ends_the_log_before_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let texts = written(&path);
        let bytes = std::fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 0x10;
            std::fs::write(&path, &broken).unwrap();
            let (found, ours) = read(&path);
            assert_eq!(ours, at >= MAGIC.len(), "{at}");
            assert!(texts.starts_with(&found) && found.len() < texts.len(), "{at}");
        }
    }

    #[test]
    fn a_log_of_another_version_becomes_an_empty_one() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        std::fs::write(&path, b"isoload\x02 and what only that version knows").unwrap();
        assert_eq!(read(&path), (Vec::new(), false));
        assert_eq!(read(&path), (Vec::new(), true));
    }
}
