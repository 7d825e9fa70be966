//! The archive form of the specification's layout: a gzipped tar with a single top-level directory, as the
//! libraries before 0.3 read it.
//!
//! Headers are POSIX (`ustar`), with names of at most 100 bytes below a folder of 12. Owners are empty and times are
//! the epoch, so that the same files give the same bytes.

use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom, Write};

use flate2::write::GzEncoder;
use isomorph_error::{Error, Place, Result};
use isomorph_storage::{ScratchFile, StagedFile};

/// The folder that contains everything.
const FOLDER: &str = "graph.annnet";
/// Size of a record in bytes.
const BLOCK: usize = 512;
/// Bytes of a name without a prefix, and of a prefix.
const NAME: usize = 100;
const PREFIX: usize = 155;
/// The first size that does not fit into eleven octal digits.
const MOST: u64 = 1 << 33;
/// Bytes that are copied at a time.
const COPY: usize = 1 << 17;

/// Writes the archive of `folders` (except those that contain files) and of `files`, which are sorted by name; returns
/// its size in bytes.
///
/// # Errors
/// Returns an error if a name is too long or a file too large for the format, or a file cannot be read or written.
pub(crate) fn write(
    file: StagedFile,
    place: &str,
    folders: &BTreeSet<String>,
    files: &[(String, ScratchFile)],
) -> Result<u64> {
    let failed = |error: std::io::Error| Error::from(error).at(Place::file(place));
    // The tables are already compressed: the fastest level is sufficient for the rest.
    let mut out = GzEncoder::new(file, flate2::Compression::fast());
    out.write_all(&header(FOLDER, None)?).map_err(failed)?;
    for folder in folders {
        if !files.iter().any(|(name, _)| name.starts_with(&format!("{folder}/"))) {
            out.write_all(&header(&format!("{FOLDER}/{folder}"), None)?).map_err(failed)?;
        }
    }
    let mut buffer = vec![0; COPY];
    for (name, content) in files {
        out.write_all(&header(&format!("{FOLDER}/{name}"), Some(content.size()))?).map_err(failed)?;
        let mut from = content.as_file();
        from.seek(SeekFrom::Start(0)).map_err(failed)?;
        loop {
            match from.read(&mut buffer).map_err(failed)? {
                0 => break,
                read => out.write_all(buffer.get(..read).unwrap_or_default()).map_err(failed)?,
            }
        }
        let padding = (BLOCK - (content.size() % BLOCK as u64) as usize) % BLOCK;
        out.write_all(&vec![0; padding]).map_err(failed)?;
    }
    out.write_all(&[0; 2 * BLOCK]).map_err(failed)?;
    Ok(out.finish().map_err(failed)?.finish()?.size)
}

/// Returns the header of a file of this size, or of a folder.
fn header(name: &str, size: Option<u64>) -> Result<[u8; BLOCK]> {
    let refused = |what: &str| Error::usage(format!("{what} for a tar archive")).at(Place::file(name));
    let mut header = [0; BLOCK];
    let (prefix, own) = split(name).ok_or_else(|| refused("the name is too long"))?;
    header[..own.len()].copy_from_slice(own.as_bytes());
    header[345..345 + prefix.len()].copy_from_slice(prefix.as_bytes());
    let mode = if size.is_some() { "0000644" } else { "0000755" };
    header[100..107].copy_from_slice(mode.as_bytes());
    let bytes = Some(size.unwrap_or(0)).filter(|size| *size < MOST).ok_or_else(|| refused("the file is too large"))?;
    for (at, number) in [(108, 0), (116, 0)] {
        header[at..at + 7].copy_from_slice(format!("{number:07o}").as_bytes());
    }
    for (at, number) in [(124, bytes), (136, 0)] {
        header[at..at + 11].copy_from_slice(format!("{number:011o}").as_bytes());
    }
    header[156] = if size.is_some() { b'0' } else { b'5' };
    header[257..265].copy_from_slice(b"ustar\x0000");
    // The checksum counts its own field as spaces.
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    Ok(header)
}

/// Returns prefix and name, which are joined by a slash.
fn split(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME {
        return Some(("", name));
    }
    let slashes = name.match_indices('/').map(|(at, _)| at);
    let mut parts = slashes.map(|at| (&name[..at], &name[at + 1..]));
    parts.find(|(prefix, own)| prefix.len() <= PREFIX && own.len() <= NAME)
}
