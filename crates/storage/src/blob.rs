//! One readable file or object.

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};

use crate::counter::Counter;
use crate::reader::BlobReader;
use crate::{Location, platform};

/// One readable file or object: positional reads that never share a cursor, no memory maps. Clones are cheap.
#[derive(Clone)]
pub struct Blob(Arc<Inner>);

struct Inner {
    name: String,
    size: u64,
    opened_as: Fingerprint,
    source: Source,
    counter: Arc<Counter>,
}

enum Source {
    File(File),
    Memory(Bytes),
}

/// What tells that a file or object is still the one that was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// Size, bytes.
    pub size: u64,
    /// Time of the last change, if the store tells it.
    pub modified: Option<SystemTime>,
    /// Entity tag, if the store has one.
    pub etag: Option<String>,
}

impl Blob {
    /// Opens one file or object.
    ///
    /// # Errors
    /// [`Kind::NotFound`], [`Kind::Io`], and [`Kind::Usage`] when it is a directory, a device or a pipe.
    pub fn open(location: &Location) -> Result<Blob> {
        let name = location.to_string();
        let Some(path) = location.as_path() else {
            return Err(Error::unsupported("object stores are not built in").at(Place::file(name)));
        };
        let file = File::open(path).map_err(|error| Error::from(error).at(Place::file(name.clone())))?;
        Blob::from_file(name, file, Arc::new(Counter::default()))
    }

    /// A blob over bytes in memory, for tests and fuzzing.
    pub fn from_bytes(name: &str, bytes: &Bytes) -> Blob {
        Blob(Arc::new(Inner {
            name: name.to_owned(),
            size: bytes.len() as u64,
            opened_as: Fingerprint { size: bytes.len() as u64, ..Fingerprint::default() },
            source: Source::Memory(bytes.clone()),
            counter: Arc::new(Counter::default()),
        }))
    }

    pub(crate) fn from_file(name: String, file: File, counter: Arc<Counter>) -> Result<Blob> {
        let place = || Place::file(name.clone());
        let metadata = file.metadata().map_err(|error| Error::from(error).at(place()))?;
        if !metadata.is_file() {
            return Err(Error::usage("this is not a regular file").at(place()));
        }
        let size = metadata.len();
        let opened_as = Fingerprint { size, modified: metadata.modified().ok(), etag: None };
        Ok(Blob(Arc::new(Inner { name, size, opened_as, source: Source::File(file), counter })))
    }

    /// The name as it was given, for the places of errors.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Size when it was opened, bytes.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Reads exactly `range` (byte offsets).
    ///
    /// # Errors
    /// [`Kind::Malformed`] when the range lies outside the file, [`Kind::Conflict`] when the file became shorter since
    /// it was opened, [`Kind::Io`].
    pub fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let length = self.check_range(&range)?;
        let bytes = match &self.0.source {
            Source::Memory(bytes) => {
                let start = usize::try_from(range.start).map_err(|_| self.outside(&range))?;
                bytes.slice(start..start + length)
            }
            Source::File(file) => self.read_file(file, range.start, length)?,
        };
        self.0.counter.add(length as u64);
        Ok(bytes)
    }

    /// Reads several ranges, in the order given; ranges that lie close together are fetched as one.
    ///
    /// # Errors
    /// As [`Blob::read`].
    pub fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().map(|range| self.read(range.clone())).collect()
    }

    /// Reads everything.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] when there are more than `limit` bytes; as [`Blob::read`].
    pub fn read_all(&self, limit: u64) -> Result<Bytes> {
        if self.size() > limit {
            let message = format!("{} bytes are more than the {limit} that are read at once", self.size());
            return Err(Error::new(Kind::TooLarge, message).at(self.place()));
        }
        self.read(0..self.size())
    }

    /// A buffered reader from the first byte to the last.
    pub fn reader(&self) -> BlobReader {
        BlobReader::new(self.clone())
    }

    /// What identifies the file as it is now. Take one before and one after a long read and compare them.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        match &self.0.source {
            Source::Memory(_) => Ok(self.0.opened_as.clone()),
            Source::File(file) => {
                let metadata = file.metadata().map_err(|error| Error::from(error).at(self.place()))?;
                Ok(Fingerprint { size: metadata.len(), modified: metadata.modified().ok(), etag: None })
            }
        }
    }

    /// Fails if the file is no longer as it was opened.
    ///
    /// # Errors
    /// [`Kind::Conflict`] when it changed, [`Kind::Io`].
    pub fn check_unchanged(&self) -> Result<()> {
        if self.fingerprint()? == self.0.opened_as { Ok(()) } else { Err(self.changed()) }
    }

    /// Bytes read from this blob so far.
    pub fn bytes_read(&self) -> u64 {
        self.0.counter.bytes()
    }

    /// The place of this blob, for errors.
    pub fn place(&self) -> Place {
        Place::file(self.name())
    }

    fn check_range(&self, range: &Range<u64>) -> Result<usize> {
        if range.start > range.end || range.end > self.size() {
            return Err(self.outside(range));
        }
        usize::try_from(range.end - range.start).map_err(|_| self.outside(range))
    }

    fn read_file(&self, file: &File, start: u64, length: usize) -> Result<Bytes> {
        let mut buffer = vec![0; length];
        let mut done = 0;
        while done < length {
            match platform::read_at(file, &mut buffer[done..], start + done as u64) {
                Ok(0) => return Err(self.changed()),
                Ok(read) => done += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::from(error).at(self.place())),
            }
        }
        Ok(buffer.into())
    }

    fn outside(&self, range: &Range<u64>) -> Error {
        let message = format!("bytes {}..{} lie outside a file of {} bytes", range.start, range.end, self.size());
        Error::malformed(message).at(self.place().offset(range.start))
    }

    fn changed(&self) -> Error {
        Error::new(Kind::Conflict, "the file changed while it was read")
            .at(self.place())
            .hint("run again when nobody writes it")
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({}, {} bytes)", self.name(), self.size())
    }
}
