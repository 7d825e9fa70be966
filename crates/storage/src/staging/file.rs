//! A file that is being written.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::{Error, Place, Result};

use super::Area;
use super::added::Added;
use super::upload::Upload;
use crate::disk::DiskFile;
use crate::{FileDigest, FileHasher};

/// Small writes are buffered up to this size, bytes.
const BUFFER: usize = 128 << 10;

/// A file that is being written. Its hashes are computed at the same time. [`StagedFile::finish`] completes it; if a file
/// is dropped before that, the output cannot be published.
pub struct StagedFile {
    name: String,
    sink: Sink,
    hasher: FileHasher,
    /// The first failed write.
    failed: Option<io::ErrorKind>,
    /// Where its digest is recorded when it is finished.
    notes: Option<Notes>,
}

/// The digests of finished files, by name.
pub(super) type Notes = Arc<Mutex<BTreeMap<String, FileDigest>>>;

pub(super) enum Sink {
    Local { area: Arc<Area>, file: BufWriter<Box<dyn DiskFile>> },
    Added { added: Arc<Added>, file: BufWriter<Box<dyn DiskFile>> },
    Remote(Upload),
}

impl StagedFile {
    pub(crate) fn local(name: &str, area: Arc<Area>, file: Box<dyn DiskFile>) -> Self {
        StagedFile::new(name, Sink::Local { area, file: BufWriter::with_capacity(BUFFER, file) })
    }

    pub(super) fn added(name: &str, added: Arc<Added>, file: Box<dyn DiskFile>) -> Self {
        StagedFile::new(name, Sink::Added { added, file: BufWriter::with_capacity(BUFFER, file) })
    }

    pub(super) fn new(name: &str, sink: Sink) -> Self {
        StagedFile { name: name.to_owned(), sink, hasher: FileHasher::new(), failed: None, notes: None }
    }

    /// Records the file's digest in `notes` when it is finished.
    pub(super) fn noting(mut self, notes: &Notes) -> Self {
        self.notes = Some(Arc::clone(notes));
        self
    }

    /// Returns the number of bytes written so far.
    pub fn size(&self) -> u64 {
        self.hasher.size()
    }

    /// Records that a write failed, and adds the name of the file, which code that writes to a stream does not know.
    fn told(&mut self, error: io::Error) -> io::Error {
        let kind = error.kind();
        if kind == io::ErrorKind::Interrupted {
            return error;
        }
        self.failed.get_or_insert(kind);
        io::Error::new(kind, Error::from(error).at(Place::file(self.name.clone())))
    }

    /// Completes the file and returns its size and hashes. It becomes durable only with the commit of the whole output.
    ///
    /// # Errors
    /// [`Kind::NoSpace`](isomorph_error::Kind::NoSpace), [`Kind::Poisoned`](isomorph_error::Kind::Poisoned),
    /// [`Kind::Io`](isomorph_error::Kind::Io).
    pub fn finish(self) -> Result<FileDigest> {
        let place = Place::file(self.name.clone());
        if let Some(kind) = self.failed {
            return Err(Error::from(io::Error::new(kind, "an earlier write to this file failed")).at(place));
        }
        let digest = self.hasher.finish();
        match self.sink {
            Sink::Local { area, file } => {
                let file = file.into_inner().map_err(|error| Error::from(error.into_error()).at(place))?;
                area.finished(&self.name, file, digest.size)?;
            }
            Sink::Added { added, file } => {
                let file = file.into_inner().map_err(|error| Error::from(error.into_error()).at(place))?;
                added.finished(&self.name, file, digest.size)?;
            }
            Sink::Remote(upload) => upload.finish(digest.size)?,
        }
        if let Some(notes) = self.notes {
            notes.lock().unwrap_or_else(PoisonError::into_inner).insert(self.name, digest);
        }
        Ok(digest)
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.sink {
            Sink::Local { file, .. } | Sink::Added { file, .. } => file.write(bytes),
            Sink::Remote(upload) => upload.write(bytes),
        };
        let written = written.map_err(|error| self.told(error))?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Local { file, .. } | Sink::Added { file, .. } => file.flush(),
            // The parts of an upload have their own size.
            Sink::Remote(_) => Ok(()),
        }
        .map_err(|error| self.told(error))
    }
}

impl fmt::Debug for StagedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StagedFile({}, {} bytes)", self.name, self.size())
    }
}
