//! The files of a graph, in a directory or in an archive.

mod tar;
mod unpacked;
mod zip;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Blob, Location, Root, limits};

use crate::layout::not_annnet;
use crate::{OpenOptions, rules};
use unpacked::Unpacked;

/// The first bytes of a zip archive.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// The first bytes of a gzip file.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// The files of a graph, by their names relative to its root.
#[derive(Debug)]
pub(crate) struct Members {
    files: Files,
    /// Tables and texts that replace files of another layout; `None` hides a file.
    made: BTreeMap<String, Option<Made>>,
}

/// A table or text that replaces a file.
#[derive(Debug)]
enum Made {
    Table(RecordBatch),
    Text(String),
}

/// The original files, without replacements. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Files(Arc<Where>);

impl Files {
    /// Opens a file if it exists.
    ///
    /// # Errors
    /// Returns an error if it exists but cannot be opened.
    pub fn try_file(&self, name: &str) -> Result<Option<Blob>> {
        match self.0.as_ref() {
            Where::Directory(root) => root.try_file(name),
            Where::Archive(_, Unpacked { files, .. }) | Where::Apart(files) => Ok(files.get(name).cloned()),
        }
    }
}

/// The location of the files.
#[derive(Debug)]
enum Where {
    /// In a directory, or below a prefix.
    Directory(Root),
    /// Unpacked from an archive.
    Archive(Archive, Unpacked),
    /// Individual files.
    Apart(BTreeMap<String, Blob>),
}

/// A kind of archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Archive {
    /// Zip: since 0.3.
    Zip,
    /// A gzipped tar: before 0.3.
    Tar,
}

impl Members {
    /// Opens the files at `location`.
    ///
    /// # Errors
    /// Returns an error if nothing exists there, or an archive must not be unpacked.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<Members> {
        match Root::open(location) {
            Ok(root) => Ok(Members::of_root(root)),
            // A file, or an object that is not a prefix.
            Err(error) if matches!(error.kind(), Kind::Usage | Kind::NotFound) => {
                let Ok(blob) = Blob::open(location) else { return Err(error) };
                let unpacked = match Members::kind_of(&blob)? {
                    Some(Archive::Zip) => (Archive::Zip, zip::unpack(&blob, options)),
                    Some(Archive::Tar) => (Archive::Tar, tar::unpack(&blob, options)),
                    None => return Err(not_annnet(&location.to_string())),
                };
                blob.check_unchanged()?;
                Ok(Members::at(Where::Archive(unpacked.0, unpacked.1?)))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the files below `root`.
    pub fn of_root(root: Root) -> Members {
        Members::at(Where::Directory(root))
    }

    /// Returns individual files, by their names relative to the root of the graph.
    pub fn of_files(files: BTreeMap<String, Blob>) -> Members {
        Members::at(Where::Apart(files))
    }

    fn at(place: Where) -> Members {
        Members::of(Files(Arc::new(place)))
    }

    /// Returns these files, without replacements.
    pub fn of(files: Files) -> Members {
        Members { files, made: BTreeMap::new() }
    }

    /// Returns the original files.
    pub fn files(&self) -> Files {
        self.files.clone()
    }

    fn kind_of(blob: &Blob) -> Result<Option<Archive>> {
        let start = blob.read(0..blob.size().min(4))?;
        Ok(match start.as_ref() {
            start if start.starts_with(ZIP_MAGIC) => Some(Archive::Zip),
            start if start.starts_with(GZIP_MAGIC) => Some(Archive::Tar),
            _ => None,
        })
    }

    /// Returns whether `location` is an archive of a graph, judged by its first bytes, and by the names in it or its
    /// own name.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn is_archive(location: &Location) -> Result<bool> {
        let blob = Blob::open(location)?;
        let name = location.file_name().to_ascii_lowercase();
        Ok(Members::kind_of(&blob)?.is_some() && (name.ends_with(".annnet") || zip::names_graph(&blob)))
    }

    /// Opens a file if it exists.
    ///
    /// # Errors
    /// Returns an error if it exists but cannot be opened.
    pub fn try_file(&self, name: &str) -> Result<Option<Blob>> {
        self.files.try_file(name)
    }

    /// Opens a required file.
    ///
    /// # Errors
    /// Returns an error if it is missing or cannot be opened.
    pub fn file(&self, name: &str) -> Result<Blob> {
        self.try_file(name)?.ok_or_else(|| Error::broken(&rules::MEMBER, "the file is missing").at(Place::file(name)))
    }

    /// Opens the files of a table: the file of this name or, for a table that has grown, the files in the directory of
    /// this name, sorted by name. Returns none if the table does not exist.
    ///
    /// # Errors
    /// Returns an error if they cannot be opened, or there are too many.
    pub fn parts(&self, name: &str) -> Result<Vec<Blob>> {
        Ok(self.named_parts(name)?.into_iter().map(|(_, blob)| blob).collect())
    }

    /// Opens the same files, with their names relative to the root.
    ///
    /// # Errors
    /// Returns the errors of [`Members::parts`].
    pub fn named_parts(&self, name: &str) -> Result<Vec<(String, Blob)>> {
        let below = format!("{name}/");
        let root = match self.files.0.as_ref() {
            Where::Archive(_, Unpacked { files, .. }) | Where::Apart(files) => {
                let own = files.get_key_value(name).into_iter();
                let parts = files.iter().filter(|(path, _)| is_part(path, &below));
                return at_most(name, own.chain(parts).map(|(path, blob)| (path.clone(), blob.clone())).collect());
            }
            Where::Directory(root) => root,
        };
        match root.try_file(name) {
            Ok(Some(file)) => return Ok(vec![(name.to_owned(), file)]),
            Ok(None) if root.location().is_local() || !root.location().scheme().has_listing() => {
                return Ok(Vec::new());
            }
            // Malformed means that a directory has the name of the file; listing it shows whether this is so.
            Err(error) if error.kind() != Kind::Malformed => return Err(error),
            Ok(None) | Err(_) => {}
        }
        let found = root.list_dir(name)?;
        let names: Vec<String> = found
            .into_iter()
            .filter(|entry| !entry.is_dir && is_part(&entry.name, &below))
            .map(|own| own.name)
            .collect();
        at_most(name, names)?.into_iter().map(|name| root.file(&name).map(|blob| (name, blob))).collect()
    }

    /// Returns whether a file or table exists.
    ///
    /// # Errors
    /// Returns an error if this cannot be determined.
    pub fn has(&self, name: &str) -> Result<bool> {
        match name.ends_with(PART_SUFFIX) {
            true => self.parts(name).map(|parts| !parts.is_empty()),
            false => self.try_file(name).map(|file| file.is_some()),
        }
    }

    /// Replaces a file by a table.
    pub fn make_table(&mut self, name: &str, table: RecordBatch) {
        self.made.insert(name.to_owned(), Some(Made::Table(table)));
    }

    /// Replaces a file by a text.
    pub fn make_text(&mut self, name: &str, text: String) {
        self.made.insert(name.to_owned(), Some(Made::Text(text)));
    }

    /// Hides a file.
    pub fn hide(&mut self, name: &str) {
        self.made.insert(name.to_owned(), None);
    }

    /// Returns the table that replaces a file; `Some(None)` if the file is hidden.
    pub fn made_table(&self, name: &str) -> Option<Option<&RecordBatch>> {
        self.made.get(name).map(|made| match made {
            Some(Made::Table(table)) => Some(table),
            _ => None,
        })
    }

    /// Reads a JSON file completely, if it exists.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, is too large, or is not UTF-8.
    pub fn text(&self, name: &str, limit: u64) -> Result<Option<String>> {
        if let Some(Some(Made::Text(text))) = self.made.get(name) {
            return Ok(Some(text.clone()));
        }
        let Some(blob) = self.try_file(name)? else { return Ok(None) };
        let bytes: Bytes = blob.read_all(limit)?;
        let text = String::from_utf8(bytes.into());
        let text = text.map_err(|error| {
            Error::broken(&rules::JSON, "the file is not valid UTF-8")
                .at(Place::file(name).offset(error.utf8_error().valid_up_to() as u64))
        })?;
        Ok(Some(text))
    }

    /// Returns names and sizes (in bytes) of all files, sorted.
    ///
    /// # Errors
    /// Returns an error if they cannot be listed.
    pub fn list(&self) -> Result<Vec<(String, u64)>> {
        match self.files.0.as_ref() {
            Where::Directory(root) => {
                let files = root.list("")?.into_iter().filter(|entry| !entry.is_dir);
                Ok(files.map(|entry| (entry.name, entry.size)).collect())
            }
            Where::Archive(_, Unpacked { files, .. }) | Where::Apart(files) => {
                Ok(files.iter().map(|(name, blob)| (name.clone(), blob.size())).collect())
            }
        }
    }

    /// Returns empty directories, sorted. Object stores have no directories.
    ///
    /// # Errors
    /// Returns an error if they cannot be listed, or are nested too deeply.
    pub fn empty_folders(&self) -> Result<Vec<String>> {
        let root = match self.files.0.as_ref() {
            Where::Archive(_, unpacked) => {
                let is_above =
                    |folder: &str, name: &str| name.strip_prefix(folder).is_some_and(|own| own.starts_with('/'));
                // A name is followed by all names that begin with it; only those that continue with a slash are
                // inside.
                let first_of = |folder: &str| {
                    let inside = format!("{folder}/");
                    let file = unpacked.files.range(inside.clone()..).next().map(|(name, _)| name);
                    let own = unpacked.folders.range(inside..).next();
                    [file, own].into_iter().flatten().any(|name| is_above(folder, name))
                };
                return Ok(unpacked.folders.iter().filter(|folder| !first_of(folder)).cloned().collect());
            }
            Where::Apart(_) => return Ok(Vec::new()),
            Where::Directory(root) => root,
        };
        if !root.location().is_local() {
            return Ok(Vec::new());
        }
        let (mut empty, mut pending) = (Vec::new(), vec![String::new()]);
        while let Some(folder) = pending.pop() {
            if folder.split('/').count() > limits::DIRECTORY_DEPTH {
                return Err(Error::new(Kind::TooLarge, "directories are nested too deeply").at(Place::file(folder)));
            }
            let entries = root.list_dir(&folder)?;
            if entries.is_empty() && !folder.is_empty() {
                empty.push(folder);
            }
            pending.extend(entries.into_iter().filter(|entry| entry.is_dir).map(|entry| entry.name));
        }
        empty.sort();
        Ok(empty)
    }

    /// Returns the kind of the archive that contains the files, if there is one.
    pub fn archive(&self) -> Option<Archive> {
        match self.files.0.as_ref() {
            Where::Directory(_) | Where::Apart(_) => None,
            Where::Archive(archive, _) => Some(*archive),
        }
    }
}

/// Suffix of the files of a table that has grown.
pub(crate) const PART_SUFFIX: &str = ".parquet";
/// Maximum number of files of one table.
const PARTS: usize = 10_000;

/// Returns whether a file is part of the table whose directory is `below`, which ends with a slash.
fn is_part(path: &str, below: &str) -> bool {
    path.strip_prefix(below).is_some_and(|own| own.ends_with(PART_SUFFIX) && !own.contains('/'))
}

fn at_most<T>(name: &str, parts: Vec<T>) -> Result<Vec<T>> {
    if parts.len() > PARTS {
        let message = format!("the table has more than {PARTS} files");
        return Err(Error::new(Kind::TooLarge, message).at(Place::file(name)));
    }
    Ok(parts)
}

/// Maximum size of a JSON file whose content is kept as it is.
pub(crate) const DOCUMENT_BYTES: u64 = 16 * limits::MANIFEST_BYTES;
