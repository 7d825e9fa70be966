//! Writes archives.
//!
//! Sizes and checksums are known before a member is written, so that every reader can read the archive from start to end. Times are the
//! earliest that ZIP supports, so that the same members give the same bytes.

use std::io::{self, Read, Seek, SeekFrom, Write};

use crc32fast::Hasher;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use isomorph_error::{Error, Kind, Place, Result};

use super::{CENTRAL, DEFLATED, END, END_64, EXTENSION_64, IN_64, LOCAL, LOCATOR_64, STORED};
use crate::{ScratchFile, StagedFile};

/// 1980-01-01 in the MS-DOS format.
const DATE: u16 = 1 << 5 | 1;
/// Version of the format that a reader needs: 2.0, or 4.5 for 64-bit sizes.
const NEEDS: u16 = 20;
const NEEDS_64: u16 = 45;
/// Made by Unix, so that the external attributes are modes.
const MADE_BY: u16 = 3 << 8 | NEEDS_64;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// Modes of files and folders.
const FILE_MODE: u32 = 0o100_644 << 16;
const FOLDER_MODE: u32 = 0o040_755 << 16 | 0x10;
/// Bytes that are copied at a time.
const COPY: usize = 1 << 17;
/// The fastest levels leave text much larger, and the slower ones hardly make it smaller.
const LEVEL: u32 = 6;

/// A deflated member: a temporary file, and what the headers say of it.
#[derive(Debug)]
pub struct ZipPacked {
    file: ScratchFile,
    crc: u32,
    size: u64,
}

/// Deflates the content of a member into a temporary file.
#[derive(Debug)]
pub struct ZipPacker {
    encoder: DeflateEncoder<ScratchFile>,
    hasher: Hasher,
    size: u64,
}

impl ZipPacker {
    /// Writes to `file`, which is empty.
    pub fn new(file: ScratchFile) -> Self {
        ZipPacker { encoder: DeflateEncoder::new(file, Compression::new(LEVEL)), hasher: Hasher::new(), size: 0 }
    }

    /// Returns the member.
    ///
    /// # Errors
    /// If the rest of it cannot be written.
    pub fn finish(self) -> Result<ZipPacked> {
        let file = self.encoder.finish().map_err(Error::from)?;
        Ok(ZipPacked { file, crc: self.hasher.finalize(), size: self.size })
    }
}

impl Write for ZipPacker {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.encoder.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

/// Hands the bytes of a temporary file to `each`.
fn copied(file: &ScratchFile, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let failed = |error: io::Error| Error::from(error).at(Place::file("temporary file"));
    let mut reader = file.as_file();
    let mut buffer = vec![0; COPY];
    reader.seek(SeekFrom::Start(0)).map_err(failed)?;
    loop {
        match reader.read(&mut buffer).map_err(failed)? {
            0 => return Ok(()),
            read => each(buffer.get(..read).unwrap_or_default())?,
        }
    }
}

/// One entry of the directory.
struct Entry {
    name: String,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    offset: u64,
}

impl Entry {
    /// Whether its sizes need 64 bits.
    fn is_large(&self) -> bool {
        self.size.max(self.packed) >= u64::from(IN_64)
    }
}

/// An archive that is being written.
pub struct ZipWriter {
    file: StagedFile,
    place: String,
    entries: Vec<Entry>,
    at: u64,
}

impl ZipWriter {
    /// Begins an archive in `file`; errors say `place`.
    pub fn new(file: StagedFile, place: &str) -> Self {
        ZipWriter { file, place: place.to_owned(), entries: Vec::new(), at: 0 }
    }

    /// Adds a folder; its name ends in `/`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn folder(&mut self, name: String) -> Result<()> {
        self.begin(Entry { name, method: STORED, crc: 0, packed: 0, size: 0, offset: self.at })
    }

    /// Adds a temporary file as it is.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub fn store(&mut self, name: String, file: &ScratchFile) -> Result<()> {
        let mut hasher = Hasher::new();
        copied(file, |bytes| {
            hasher.update(bytes);
            Ok(())
        })?;
        let (crc, size) = (hasher.finalize(), file.size());
        self.begin(Entry { name, method: STORED, crc, packed: size, size, offset: self.at })?;
        copied(file, |bytes| self.put(bytes))
    }

    /// Adds a deflated member.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub fn add(&mut self, name: String, member: &ZipPacked) -> Result<()> {
        let (packed, offset) = (member.file.size(), self.at);
        self.begin(Entry { name, method: DEFLATED, crc: member.crc, packed, size: member.size, offset })?;
        copied(&member.file, |bytes| self.put(bytes))
    }

    /// Writes the central directory and returns the size of the archive in bytes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<u64> {
        let start = self.at;
        let mut directory = Vec::new();
        for entry in &self.entries {
            entry.push_central(&mut directory)?;
        }
        self.put(&directory)?;
        let (count, size) = (self.entries.len() as u64, self.at - start);
        let (short, small) = (u16::try_from(count).unwrap_or(u16::MAX), u32::try_from(size).unwrap_or(IN_64));
        let near = u32::try_from(start).unwrap_or(IN_64);
        if short == u16::MAX || small == IN_64 || near == IN_64 {
            let end = end_64(start, size, count, self.at);
            self.put(&end)?;
        }
        let mut end = Vec::with_capacity(22);
        end.extend(END);
        end.extend([0; 4]);
        end.extend(short.to_le_bytes());
        end.extend(short.to_le_bytes());
        end.extend(small.to_le_bytes());
        end.extend(near.to_le_bytes());
        end.extend([0; 2]);
        self.put(&end)?;
        Ok(self.file.finish()?.size)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes).map_err(|error| Error::from(error).at(Place::file(&self.place)))
    }

    fn begin(&mut self, entry: Entry) -> Result<()> {
        let large = entry.is_large();
        let mut header = Vec::with_capacity(64 + entry.name.len());
        header.extend(LOCAL);
        header.extend(if large { NEEDS_64 } else { NEEDS }.to_le_bytes());
        entry.push_common(&mut header)?;
        header.extend((if large { 20_u16 } else { 0 }).to_le_bytes());
        header.extend(entry.name.as_bytes());
        if large {
            push_64(&mut header, &[entry.size, entry.packed]);
        }
        self.entries.push(entry);
        self.put(&header)
    }
}

impl Entry {
    /// Appends the fields that both headers have: flags, method, time, date, checksum, sizes and length of the name.
    fn push_common(&self, out: &mut Vec<u8>) -> Result<()> {
        let length = u16::try_from(self.name.len()).map_err(|_| {
            Error::new(Kind::TooLarge, "the name of a member has more than 65,535 bytes").at(Place::file(&self.name))
        })?;
        let stated = |size: u64| if self.is_large() { IN_64 } else { u32::try_from(size).unwrap_or(IN_64) };
        out.extend(FLAGS.to_le_bytes());
        out.extend(self.method.to_le_bytes());
        // Midnight.
        out.extend([0; 2]);
        out.extend(DATE.to_le_bytes());
        out.extend(self.crc.to_le_bytes());
        out.extend(stated(self.packed).to_le_bytes());
        out.extend(stated(self.size).to_le_bytes());
        out.extend(length.to_le_bytes());
        Ok(())
    }

    /// Appends its record in the central directory.
    fn push_central(&self, out: &mut Vec<u8>) -> Result<()> {
        let (large, far) = (self.is_large(), self.offset >= u64::from(IN_64));
        let values: Vec<u64> = [(large, self.size), (large, self.packed), (far, self.offset)]
            .iter()
            .filter(|(used, _)| *used)
            .map(|(_, value)| *value)
            .collect();
        out.extend(CENTRAL);
        out.extend(MADE_BY.to_le_bytes());
        out.extend(if values.is_empty() { NEEDS } else { NEEDS_64 }.to_le_bytes());
        self.push_common(out)?;
        out.extend(match values.len() {
            0 => [0; 2],
            some => (extension_bytes(some) + 4).to_le_bytes(),
        });
        // No comment, first disk, no internal attributes.
        out.extend([0; 6]);
        let mode = if self.name.ends_with('/') { FOLDER_MODE } else { FILE_MODE };
        out.extend(mode.to_le_bytes());
        out.extend(u32::try_from(self.offset).unwrap_or(IN_64).to_le_bytes());
        out.extend(self.name.as_bytes());
        if !values.is_empty() {
            push_64(out, &values);
        }
        Ok(())
    }
}

/// The bytes of so many values of the extension, without its head.
fn extension_bytes(values: usize) -> u16 {
    u16::try_from(values * 8).unwrap_or(u16::MAX)
}

/// Appends the field for values that exceed 32 bits.
fn push_64(out: &mut Vec<u8>, values: &[u64]) {
    out.extend(EXTENSION_64.to_le_bytes());
    out.extend(extension_bytes(values.len()).to_le_bytes());
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

/// Returns the end of an archive with many members or more than 4 GiB, and the record that locates it.
fn end_64(start: u64, size: u64, count: u64, at: u64) -> Vec<u8> {
    let mut end = Vec::with_capacity(76);
    end.extend(END_64);
    end.extend(44_u64.to_le_bytes());
    end.extend(MADE_BY.to_le_bytes());
    end.extend(NEEDS_64.to_le_bytes());
    end.extend([0; 8]);
    for value in [count, count, size, start] {
        end.extend(value.to_le_bytes());
    }
    end.extend(LOCATOR_64);
    end.extend([0; 4]);
    end.extend(at.to_le_bytes());
    end.extend(1_u32.to_le_bytes());
    end
}
