//! The archive form: one zip file with a single top-level directory.
//!
//! Files are stored uncompressed: the tables are already compressed, and the rest is small. Sizes and checksums are
//! known before a file is written, so that every reader can read the archive from start to end. Times are the earliest
//! that zip supports, so that the same files give the same bytes.

use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom, Write};

use crc32fast::Hasher;
use isomorph_error::{Error, Place, Result};
use isomorph_storage::{ScratchFile, StagedFile};

/// The folder that contains everything.
const FOLDER: &str = "graph.annnet/";
/// 1980-01-01 in the MS-DOS format.
const DATE: u16 = 1 << 5 | 1;
/// Version of the format that a reader needs: 2.0, or 4.5 for 64-bit sizes.
const NEEDS: u16 = 20;
const NEEDS_64: u16 = 45;
/// Made by Unix, so that the external attributes are modes.
const MADE_BY: u16 = 3 << 8 | NEEDS_64;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// Value of a 32-bit field whose real value is in the 64-bit field.
const ELSEWHERE: u32 = u32::MAX;
/// Modes of files and folders.
const FILE_MODE: u32 = 0o100_644 << 16;
const FOLDER_MODE: u32 = 0o040_755 << 16 | 0x10;
/// Bytes that are copied at a time.
const COPY: usize = 1 << 17;

/// One entry of the archive.
struct Entry {
    name: String,
    crc: u32,
    size: u64,
    offset: u64,
}

/// Writes the archive of `folders` (even if files go into them) and of `files`, which are sorted by name; returns its
/// size in bytes.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub(crate) fn write(
    file: StagedFile,
    place: &str,
    folders: &BTreeSet<String>,
    files: &[(String, ScratchFile)],
) -> Result<u64> {
    let mut archive = Archive::new(file, place, folders);
    for (name, content) in files {
        archive.add(name, content)?;
    }
    archive.finish()
}

/// An archive that is being written.
struct Archive {
    file: StagedFile,
    place: String,
    entries: Vec<Entry>,
    /// Folders that are not yet written, with a trailing slash, in reverse order.
    folders: Vec<String>,
    at: u64,
}

impl Archive {
    /// Creates an archive without files that contains these folders, even if files go into them.
    fn new(file: StagedFile, place: &str, folders: &BTreeSet<String>) -> Self {
        let mut folders: Vec<String> = folders.iter().map(|folder| format!("{folder}/")).collect();
        folders.sort_unstable_by(|left, right| right.cmp(left));
        Archive { file, place: place.to_owned(), entries: Vec::new(), folders, at: 0 }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes).map_err(|error| Error::from(error).at(Place::file(&self.place)))
    }

    /// Adds a file. Names must be in ascending order.
    ///
    /// # Errors
    /// Returns an error if it cannot be copied.
    fn add(&mut self, name: &str, content: &ScratchFile) -> Result<()> {
        self.add_folders(Some(name))?;
        let failed = |error: std::io::Error| Error::from(error).at(Place::file("temporary file"));
        let mut reader = content.as_file();
        let mut buffer = vec![0; COPY];
        let mut crc = Hasher::new();
        reader.seek(SeekFrom::Start(0)).map_err(failed)?;
        loop {
            match reader.read(&mut buffer).map_err(failed)? {
                0 => break,
                read => crc.update(buffer.get(..read).unwrap_or_default()),
            }
        }
        self.begin(format!("{FOLDER}{name}"), crc.finalize(), content.size())?;
        reader.seek(SeekFrom::Start(0)).map_err(failed)?;
        loop {
            match reader.read(&mut buffer).map_err(failed)? {
                0 => return Ok(()),
                read => self.put(buffer.get(..read).unwrap_or_default())?,
            }
        }
    }

    /// Adds the folders that sort before `name`, or all that are left.
    fn add_folders(&mut self, name: Option<&str>) -> Result<()> {
        while let Some(folder) = self.folders.pop_if(|folder| name.is_none_or(|name| folder.as_str() < name)) {
            self.begin(format!("{FOLDER}{folder}"), 0, 0)?;
        }
        Ok(())
    }

    fn begin(&mut self, name: String, crc: u32, size: u64) -> Result<()> {
        let entry = Entry { name, crc, size, offset: self.at };
        let large = size >= u64::from(ELSEWHERE);
        let mut header = Vec::with_capacity(64 + entry.name.len());
        header.extend(b"PK\x03\x04");
        header.extend(if large { NEEDS_64 } else { NEEDS }.to_le_bytes());
        push_common(&mut header, &entry, large);
        header.extend((if large { 20_u16 } else { 0 }).to_le_bytes());
        header.extend(entry.name.as_bytes());
        if large {
            push_64(&mut header, &[size, size]);
        }
        self.entries.push(entry);
        self.put(&header)
    }

    /// Writes the central directory and returns the size of the archive in bytes.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    fn finish(mut self) -> Result<u64> {
        self.add_folders(None)?;
        let start = self.at;
        let mut directory = Vec::new();
        for entry in &self.entries {
            let (large, far) = (entry.size >= u64::from(ELSEWHERE), entry.offset >= u64::from(ELSEWHERE));
            let values: Vec<u64> = [(large, entry.size), (large, entry.size), (far, entry.offset)]
                .iter()
                .filter(|(used, _)| *used)
                .map(|(_, value)| *value)
                .collect();
            directory.extend(b"PK\x01\x02");
            directory.extend(MADE_BY.to_le_bytes());
            directory.extend(if values.is_empty() { NEEDS } else { NEEDS_64 }.to_le_bytes());
            push_common(&mut directory, entry, large);
            let extra = if values.is_empty() { 0 } else { 4 + 8 * values.len() as u16 };
            directory.extend(extra.to_le_bytes());
            // No comment, first disk, no internal attributes.
            directory.extend([0; 6]);
            let mode = if entry.name.ends_with('/') { FOLDER_MODE } else { FILE_MODE };
            directory.extend(mode.to_le_bytes());
            directory.extend((if far { ELSEWHERE } else { entry.offset as u32 }).to_le_bytes());
            directory.extend(entry.name.as_bytes());
            if !values.is_empty() {
                push_64(&mut directory, &values);
            }
        }
        self.put(&directory)?;
        let count = self.entries.len() as u16;
        let size = self.at - start;
        if start >= u64::from(ELSEWHERE) {
            let end = end_64(start, size, u64::from(count), self.at);
            self.put(&end)?;
        }
        let mut end = Vec::with_capacity(22);
        end.extend(b"PK\x05\x06");
        end.extend([0; 4]);
        end.extend(count.to_le_bytes());
        end.extend(count.to_le_bytes());
        end.extend((size as u32).to_le_bytes());
        end.extend(u32::try_from(start).unwrap_or(ELSEWHERE).to_le_bytes());
        end.extend([0; 2]);
        self.put(&end)?;
        Ok(self.file.finish()?.size)
    }
}

/// Appends the fields that both headers have: flags, method, time, date, checksum, sizes and length of the name.
fn push_common(out: &mut Vec<u8>, entry: &Entry, large: bool) {
    let size = if large { ELSEWHERE } else { entry.size as u32 };
    out.extend(FLAGS.to_le_bytes());
    // Stored, at midnight.
    out.extend([0; 4]);
    out.extend(DATE.to_le_bytes());
    out.extend(entry.crc.to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend((entry.name.len() as u16).to_le_bytes());
}

/// Appends the field for values that exceed 32 bits.
fn push_64(out: &mut Vec<u8>, values: &[u64]) {
    out.extend(1_u16.to_le_bytes());
    out.extend((8 * values.len() as u16).to_le_bytes());
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

/// Returns the end of an archive whose central directory begins beyond 4 GiB, and the record that locates it.
fn end_64(start: u64, size: u64, count: u64, at: u64) -> Vec<u8> {
    let mut end = Vec::with_capacity(76);
    end.extend(b"PK\x06\x06");
    end.extend(44_u64.to_le_bytes());
    end.extend(MADE_BY.to_le_bytes());
    end.extend(NEEDS_64.to_le_bytes());
    end.extend([0; 8]);
    for value in [count, count, size, start] {
        end.extend(value.to_le_bytes());
    }
    end.extend(b"PK\x06\x07");
    end.extend([0; 4]);
    end.extend(at.to_le_bytes());
    end.extend(1_u32.to_le_bytes());
    end
}
