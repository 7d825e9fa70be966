//! Temporary files, to which operators spill.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};

use crate::counter::Counter;
use crate::{Blob, platform};

/// File systems release space in units of this many bytes, or less.
const UNIT: u64 = 4 << 10;

/// A directory for temporary files, and their total size. Clones share it.
///
/// The files have no name where the system supports that, so that none is left when the process is killed.
#[derive(Clone, Debug)]
pub struct Scratch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    directory: PathBuf,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Scratch {
    /// Uses `directory` (`--temp-dir`), or the system's directory for temporary files.
    ///
    /// # Errors
    /// [`Kind::NotFound`], or [`Kind::Usage`] if it is
    /// not a directory.
    pub fn new(directory: Option<&Path>) -> Result<Self> {
        let directory = directory.map_or_else(std::env::temp_dir, Path::to_owned);
        let place = || Place::file(directory.display().to_string());
        let metadata = std::fs::metadata(&directory).map_err(|error| Error::from(error).at(place()))?;
        if !metadata.is_dir() {
            return Err(Error::usage("the location for temporary files is not a directory").at(place()));
        }
        Ok(Scratch(Arc::new(Inner { directory, used: AtomicU64::new(0), peak: AtomicU64::new(0) })))
    }

    /// Creates an empty file for writing and reading.
    ///
    /// # Errors
    /// [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create(&self) -> Result<ScratchFile> {
        let file = tempfile::tempfile_in(&self.0.directory)
            .map_err(|error| Error::from(error).at(Place::file(self.0.directory.display().to_string())))?;
        Ok(ScratchFile { scratch: self.clone(), file, size: 0, position: 0, released: AtomicU64::new(0) })
    }

    /// Creates a file that keeps its name and is not removed on drop, for work that outlives its process.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`], [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create_kept(&self, path: &Path) -> Result<ScratchFile> {
        let file = File::options().read(true).write(true).create_new(true).open(path);
        let file = file.map_err(|error| Error::from(error).at(Place::file(path.display().to_string())))?;
        Ok(ScratchFile { scratch: self.clone(), file, size: 0, position: 0, released: AtomicU64::new(0) })
    }

    /// Opens such a file for reading.
    ///
    /// # Errors
    /// [`Kind::NotFound`], [`Kind::Io`].
    pub fn open_kept(&self, path: &Path) -> Result<ScratchFile> {
        let place = || Place::file(path.display().to_string());
        let file = platform::open_regular(path).map_err(|error| Error::from(error).at(place()))?;
        let size = file.metadata().map_err(|error| Error::from(error).at(place()))?.len();
        let used = self.0.used.fetch_add(size, Ordering::Relaxed) + size;
        self.0.peak.fetch_max(used, Ordering::Relaxed);
        Ok(ScratchFile { scratch: self.clone(), file, size, position: 0, released: AtomicU64::new(0) })
    }

    /// Returns the directory of the files.
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// Returns the current size of all temporary files, bytes.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns the largest size that all temporary files had at the same time, bytes.
    pub fn peak(&self) -> u64 {
        self.0.peak.load(Ordering::Relaxed)
    }
}

/// A temporary file. It is removed on drop, unless it keeps its name.
#[derive(Debug)]
pub struct ScratchFile {
    scratch: Scratch,
    file: File,
    size: u64,
    position: u64,
    /// Bytes that were released.
    released: AtomicU64,
}

impl ScratchFile {
    /// Returns the size, bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the file, for mapping. It must not be truncated while it is mapped.
    pub fn as_file(&self) -> &File {
        &self.file
    }

    /// Returns a blob over the current content, for positional reads. The size counts only as long as this file is alive.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn blob(&self) -> Result<Blob> {
        self.blob_named("temporary file")
    }

    /// Same as [`ScratchFile::blob`] with another name, for errors.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn blob_named(&self, name: &str) -> Result<Blob> {
        let file = self.file.try_clone().map_err(Error::from)?;
        Blob::of_file(name.to_owned(), file, Arc::new(Counter::default()))
    }

    /// Adds the location to the error of a write, which code that writes to a stream does not know.
    fn told(&self, error: io::Error) -> io::Error {
        let kind = error.kind();
        if kind == io::ErrorKind::Interrupted {
            return error;
        }
        let own = Error::from(error).at(Place::file(self.scratch.directory().display().to_string()));
        let is_full = own.kind() == Kind::NoSpace;
        io::Error::new(kind, if is_full { own.hint("--temp-dir DIR    directory for temporary files") } else { own })
    }

    /// Releases the space of `range` (byte offsets) before the file is removed; those bytes must not be read again. Space
    /// is released in units of 4 KiB: returns the offset from which the file is still kept, where the next call should
    /// start. No range may be released twice. If the file system cannot release space, the bytes stay, and still count.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn release(&self, range: Range<u64>) -> Result<u64> {
        let start = range.start.next_multiple_of(UNIT);
        let end = range.end.min(self.size) / UNIT * UNIT;
        if start >= end {
            return Ok(range.start);
        }
        let place = || Place::file(self.scratch.directory().display().to_string());
        let punched = platform::punch(&self.file, start, end - start);
        if punched.map_err(|error| Error::from(error).at(place()))? {
            self.released.fetch_add(end - start, Ordering::Relaxed);
            self.scratch.0.used.fetch_sub(end - start, Ordering::Relaxed);
        }
        Ok(end)
    }

    /// Reads exactly `range` (byte offsets), independently of the position of [`Read`] and [`Write`].
    ///
    /// # Errors
    /// [`Kind::Usage`] for a range outside the file, [`Kind::Io`].
    pub fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let outside = || Error::usage("the range is outside the temporary file");
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.size).ok_or_else(outside)?;
        let mut buffer = vec![0; usize::try_from(length).map_err(|_| outside())?];
        self.read_exact_at(&mut buffer, range.start)?;
        Ok(buffer.into())
    }

    /// Reads exactly `buffer.len()` bytes at `offset`, independently of the position of [`Read`] and [`Write`].
    ///
    /// # Errors
    /// [`Kind::Io`], also if the file is too short.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let place = || Place::file(self.scratch.directory().display().to_string());
        match platform::read_full_at(&self.file, buffer, offset) {
            Ok(read) if read == buffer.len() => Ok(()),
            Ok(_) => Err(Error::new(Kind::Io, "a temporary file is shorter than it was written").at(place())),
            Err(error) => Err(Error::from(error).at(place())),
        }
    }
}

impl Write for ScratchFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes).map_err(|error| self.told(error))?;
        self.position += written as u64;
        if self.position > self.size {
            let grown = self.position - self.size;
            self.size = self.position;
            let used = self.scratch.0.used.fetch_add(grown, Ordering::Relaxed) + grown;
            self.scratch.0.peak.fetch_max(used, Ordering::Relaxed);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for ScratchFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for ScratchFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = self.file.seek(to)?;
        Ok(self.position)
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let kept = self.size.saturating_sub(self.released.load(Ordering::Relaxed));
        self.scratch.0.used.fetch_sub(kept, Ordering::Relaxed);
    }
}
