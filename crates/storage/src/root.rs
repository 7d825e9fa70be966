//! An opened directory or prefix. Names from manifests are resolved inside it and nowhere else.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};

use crate::counter::Counter;
use crate::{Blob, Location, limits, sandbox};

/// An opened directory or prefix. Clones share it and its counter.
#[derive(Clone, Debug)]
pub struct Root(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    location: Location,
    counter: Arc<Counter>,
}

/// One file or directory of a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Name relative to the root, with `/` between components.
    pub name: String,
    /// Size, bytes; 0 for a directory.
    pub size: u64,
    /// Whether it is a directory.
    pub is_dir: bool,
}

impl Root {
    /// Opens a directory or prefix.
    ///
    /// # Errors
    /// [`Kind::NotFound`], [`Kind::Io`], and [`Kind::Usage`] when it is not a directory.
    pub fn open(location: &Location) -> Result<Self> {
        let Some(path) = location.as_path() else {
            return Err(Error::unsupported("object stores are not built in").at(location.to_string()));
        };
        let metadata = fs::metadata(path).map_err(|error| Error::from(error).at(location.to_string()))?;
        if !metadata.is_dir() {
            return Err(Error::usage("this is not a directory").at(location.to_string()));
        }
        Ok(Root(Arc::new(Inner { location: location.clone(), counter: Arc::default() })))
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// Opens the file `relative`.
    ///
    /// # Errors
    /// [`Kind::NotFound`]; a name that leaves the root breaks [`PATH_ESCAPE`](crate::PATH_ESCAPE); [`Kind::Io`].
    pub fn file(&self, relative: &str) -> Result<Blob> {
        sandbox::check(relative)?;
        let path = self.path()?.join(relative);
        let file = File::open(path).map_err(|error| Error::from(error).at(Place::file(relative)))?;
        Blob::from_file(relative.to_owned(), file, Arc::new(Counter::below(&self.0.counter)))
    }

    /// Opens the file `relative` if there is one.
    ///
    /// # Errors
    /// As [`Root::file`], but for a missing file.
    pub fn try_file(&self, relative: &str) -> Result<Option<Blob>> {
        match self.file(relative) {
            Ok(blob) => Ok(Some(blob)),
            Err(error) if error.kind() == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the whole file `relative`, at most `limit` bytes.
    ///
    /// # Errors
    /// As [`Root::file`] and [`Blob::read_all`].
    pub fn read(&self, relative: &str, limit: u64) -> Result<Bytes> {
        self.file(relative)?.read_all(limit)
    }

    /// Every file below `prefix` (a directory name, or empty for the root), sorted by name. Nothing below a prefix that
    /// does not exist.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] for more than [`limits::FILES`] files; as [`Root::file`].
    pub fn list(&self, prefix: &str) -> Result<Vec<Entry>> {
        let mut files = Vec::new();
        let mut pending = vec![prefix.to_owned()];
        while let Some(directory) = pending.pop() {
            for entry in self.list_dir(&directory)? {
                if entry.is_dir {
                    pending.push(entry.name);
                } else {
                    files.push(entry);
                }
            }
            if files.len() > limits::FILES {
                return Err(Error::new(Kind::TooLarge, "there are more than 1,000,000 files").at(prefix));
            }
        }
        files.sort();
        Ok(files)
    }

    /// The files and directories directly in `prefix`, sorted by name. Nothing in a prefix that does not exist.
    ///
    /// # Errors
    /// As [`Root::file`].
    pub fn list_dir(&self, prefix: &str) -> Result<Vec<Entry>> {
        let mut path = self.path()?.to_owned();
        if !prefix.is_empty() {
            sandbox::check(prefix)?;
            path.push(prefix);
        }
        let at = |error: std::io::Error| Error::from(error).at(Place::file(prefix));
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(at)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(at)?;
            let metadata = entry.metadata().map_err(at)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            let is_dir = metadata.is_dir();
            found.push(Entry { name, size: if is_dir { 0 } else { metadata.len() }, is_dir });
        }
        found.sort();
        Ok(found)
    }

    /// Bytes read through this root so far.
    pub fn bytes_read(&self) -> u64 {
        self.0.counter.bytes()
    }

    /// Reads (requests, for an object store) through this root so far.
    pub fn reads(&self) -> u64 {
        self.0.counter.requests()
    }

    fn path(&self) -> Result<&Path> {
        self.0.location.as_path().ok_or_else(|| Error::unsupported("object stores are not built in"))
    }
}
