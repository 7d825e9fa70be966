//! The files of a graph, whether they lie in a directory or in an archive.

use bytes::Bytes;
use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Blob, Location, Root, limits};

use crate::rules;

/// The first bytes of a zip archive.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// The first bytes of a gzip file.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// The files of a graph, by their names relative to its root.
#[derive(Debug)]
pub(crate) struct Members(Root);

impl Members {
    /// The files at `location`.
    ///
    /// # Errors
    /// When there is nothing, or an archive that must not be unpacked.
    pub fn open(location: &Location) -> Result<Members> {
        if Members::is_archive(location).unwrap_or(false) {
            return Err(Error::unsupported("annnet archives are not read yet")
                .at(location.to_string())
                .hint("unpack it and name the directory"));
        }
        Ok(Members(Root::open(location)?))
    }

    /// The files below `root`.
    pub fn of_root(root: Root) -> Members {
        Members(root)
    }

    /// Whether a file that begins like an archive is at `location`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn is_archive(location: &Location) -> Result<bool> {
        let blob = Blob::open(location)?;
        let start = blob.read(0..blob.size().min(4))?;
        Ok(start.starts_with(ZIP_MAGIC) || start.starts_with(GZIP_MAGIC))
    }

    /// Opens a file if it is there.
    ///
    /// # Errors
    /// When it is there and cannot be opened.
    pub fn try_file(&self, name: &str) -> Result<Option<Blob>> {
        self.0.try_file(name)
    }

    /// Opens a file that a graph is not without.
    ///
    /// # Errors
    /// When it is not there or cannot be opened.
    pub fn file(&self, name: &str) -> Result<Blob> {
        self.try_file(name)?.ok_or_else(|| Error::broken(&rules::MEMBER, "the file is missing").at(Place::file(name)))
    }

    /// Whether there is such a file.
    ///
    /// # Errors
    /// When it cannot be told.
    pub fn has(&self, name: &str) -> Result<bool> {
        self.try_file(name).map(|file| file.is_some())
    }

    /// Reads a JSON file whole, if it is there.
    ///
    /// # Errors
    /// When it cannot be read, is too large, or is not UTF-8.
    pub fn text(&self, name: &str, limit: u64) -> Result<Option<String>> {
        let Some(blob) = self.try_file(name)? else { return Ok(None) };
        let bytes: Bytes = blob.read_all(limit)?;
        let text = String::from_utf8(bytes.into());
        let text = text.map_err(|error| {
            Error::broken(&rules::JSON, "the file is not UTF-8")
                .at(Place::file(name).offset(error.utf8_error().valid_up_to() as u64))
        })?;
        Ok(Some(text))
    }

    /// Names and sizes (bytes) of all files, sorted.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn list(&self) -> Result<Vec<(String, u64)>> {
        let files = self.0.list("")?.into_iter().filter(|entry| !entry.is_dir);
        Ok(files.map(|entry| (entry.name, entry.size)).collect())
    }
}

/// Most bytes of a JSON file whose content is kept as it is.
pub(crate) const DOCUMENT_BYTES: u64 = 16 * limits::MANIFEST_BYTES;
