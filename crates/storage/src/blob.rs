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
use crate::remote::{Object, Store};
use crate::{Location, platform, ranges, redo};

/// A readable file or object. Reads are by position and share no cursor. Clones are cheap.
#[derive(Clone)]
pub struct Blob(Arc<Inner>);

struct Inner {
    name: String,
    opened_as: Fingerprint,
    source: Source,
    counter: Arc<Counter>,
}

enum Source {
    File(File),
    Memory(Bytes),
    Object(Object),
}

/// Identifies the version of a file or object that was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// Size, bytes.
    pub size: u64,
    /// Time of the last change, if the store reports it.
    pub modified: Option<SystemTime>,
    /// Entity tag, if the store has one.
    pub etag: Option<String>,
}

impl Blob {
    /// Opens a file or object, after finishing an interrupted replacement of it.
    ///
    /// # Errors
    /// [`Kind::NotFound`], [`Kind::Io`], and [`Kind::Usage`] if it is a directory, a device or a pipe.
    pub fn open(location: &Location) -> Result<Blob> {
        if let Some(stream) = location.stream() {
            return Ok(stream.clone());
        }
        let name = location.to_string();
        let counter = Arc::new(Counter::of_files());
        let Some(path) = location.as_path() else {
            let object = Store::connect(location)?.open("").map_err(|error| error.at(name.clone()))?;
            return Ok(Blob::of_object(name, object, counter));
        };
        redo::recover_beside(location)?;
        let file = platform::open_regular(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                let near = location.did_you_mean();
                Error::new(Kind::NotFound, format!("no such file{near}")).caused_by(error).at(name.as_str())
            }
            _ => unopened(error, &name),
        })?;
        Blob::of_file(name, file, counter)
    }

    /// Creates a blob from bytes in memory, for tests and fuzzing.
    pub fn from_bytes(name: &str, bytes: &Bytes) -> Blob {
        let opened_as = Fingerprint { size: bytes.len() as u64, ..Fingerprint::default() };
        Blob::new(name.to_owned(), opened_as, Source::Memory(bytes.clone()), Arc::default())
    }

    pub(crate) fn of_file(name: String, file: File, counter: Arc<Counter>) -> Result<Blob> {
        let opened_as = file_fingerprint(&file).map_err(|error| Error::from(error).at(Place::file(name.clone())))?;
        Ok(Blob::new(name, opened_as, Source::File(file), counter))
    }

    pub(crate) fn of_object(name: String, object: Object, counter: Arc<Counter>) -> Blob {
        Blob::new(name, object.opened_as.clone(), Source::Object(object), counter)
    }

    fn new(name: String, opened_as: Fingerprint, source: Source, counter: Arc<Counter>) -> Blob {
        Blob(Arc::new(Inner { name, opened_as, source, counter }))
    }

    /// Returns the name as it was given, for error messages.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the location of this blob, for errors.
    pub fn place(&self) -> Place {
        Place::file(self.name())
    }

    /// Size in bytes when it was opened.
    pub fn size(&self) -> u64 {
        self.0.opened_as.size
    }

    /// Returns true if a read is a request over a network, so that few large reads are better than many small ones.
    pub fn is_remote(&self) -> bool {
        matches!(self.0.source, Source::Object(_))
    }

    /// Reads exactly `range` (byte offsets).
    ///
    /// # Errors
    /// [`Kind::Malformed`] if the range is outside the file, [`Kind::Conflict`] if the file changed since it was
    /// opened (as far as that can be seen without further reads), [`Kind::Io`].
    pub fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let length = self.check_range(&range)?;
        let bytes = match &self.0.source {
            Source::Memory(bytes) => {
                let start = usize::try_from(range.start).map_err(|_| self.outside(&range))?;
                bytes.slice(start..start + length)
            }
            Source::File(file) => self.read_file(file, range.start, length)?,
            Source::Object(object) => object.read(&[range], self.name())?.pop().unwrap_or_default(),
        };
        self.0.counter.add(length as u64);
        Ok(bytes)
    }

    /// Reads several ranges, in the given order. Overlapping and nearby ranges are fetched together; from an
    /// object store, several are fetched at the same time.
    ///
    /// # Errors
    /// Same as [`Blob::read`].
    pub fn read_ranges(&self, wanted: &[Range<u64>]) -> Result<Vec<Bytes>> {
        for range in wanted {
            self.check_range(range)?;
        }
        let gap = if self.is_remote() { ranges::REMOTE_GAP } else { ranges::LOCAL_GAP };
        let merged = ranges::merged(wanted, gap);
        let fetched = match &self.0.source {
            Source::Object(object) => {
                let fetched = object.read(&merged, self.name())?;
                fetched.iter().for_each(|bytes| self.0.counter.add(bytes.len() as u64));
                fetched
            }
            _ => merged.iter().map(|range| self.read(range.clone())).collect::<Result<_>>()?,
        };
        Ok(wanted.iter().map(|range| ranges::cut(range, &merged, &fetched)).collect())
    }

    /// Reads the whole file.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] if it has more than `limit` bytes; otherwise the same as [`Blob::read`].
    pub fn read_all(&self, limit: u64) -> Result<Bytes> {
        if self.size() > limit {
            let message = format!("size is {} bytes, but at most {limit} bytes are read at once", self.size());
            return Err(Error::new(Kind::TooLarge, message).at(self.place()));
        }
        self.read(0..self.size())
    }

    /// Returns the local file, for callers that map it into memory on their own responsibility; `None` for objects and
    /// bytes in memory. Reads through it are not counted.
    pub fn as_file(&self) -> Option<&File> {
        match &self.0.source {
            Source::File(file) => Some(file),
            Source::Memory(_) | Source::Object(_) => None,
        }
    }

    /// Returns a buffered reader over the whole file.
    pub fn reader(&self) -> BlobReader {
        BlobReader::new(self.clone())
    }

    /// Returns the fingerprint of the file when it was opened.
    pub fn opened_as(&self) -> &Fingerprint {
        &self.0.opened_as
    }

    /// Returns the fingerprint of the file now.
    ///
    /// # Errors
    /// [`Kind::Io`], and [`Kind::NotFound`] if an object does not exist any more. A local file that was renamed or removed
    /// is still the same file: it can be read to its end.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        match &self.0.source {
            Source::Memory(_) => Ok(self.0.opened_as.clone()),
            Source::File(file) => file_fingerprint(file).map_err(|error| Error::from(error).at(self.place())),
            Source::Object(object) => object.fingerprint(self.name()),
        }
    }

    /// Returns an error if the file changed since it was opened. Call it after a long read.
    ///
    /// # Errors
    /// [`Kind::Conflict`] if it changed, [`Kind::Io`].
    pub fn check_unchanged(&self) -> Result<()> {
        if self.fingerprint()? == *self.opened_as() { Ok(()) } else { Err(self.changed()) }
    }

    /// Returns the number of bytes read from this blob so far.
    pub fn bytes_read(&self) -> u64 {
        self.0.counter.bytes()
    }

    fn check_range(&self, range: &Range<u64>) -> Result<usize> {
        if range.start > range.end || range.end > self.size() {
            return Err(self.outside(range));
        }
        usize::try_from(range.end - range.start).map_err(|_| self.outside(range))
    }

    fn read_file(&self, file: &File, start: u64, length: usize) -> Result<Bytes> {
        let mut buffer = vec![0; length];
        match platform::read_full_at(file, &mut buffer, start) {
            Ok(read) if read == length => Ok(buffer.into()),
            Ok(_) => Err(self.changed()),
            Err(error) => Err(Error::from(error).at(self.place())),
        }
    }

    fn outside(&self, range: &Range<u64>) -> Error {
        let message = format!("range {}..{} is outside the file of {} bytes", range.start, range.end, self.size());
        Error::malformed(message).at(self.place().offset(range.start))
    }

    fn changed(&self) -> Error {
        Error::new(Kind::Conflict, "the file changed while it was read")
            .at(self.place())
            .hint("run again when no other process writes it")
    }
}

fn file_fingerprint(file: &File) -> std::io::Result<Fingerprint> {
    let metadata = file.metadata()?;
    Ok(Fingerprint { size: metadata.len(), modified: metadata.modified().ok(), etag: None })
}

/// Returns the error for a file that could not be opened.
pub(crate) fn unopened(error: std::io::Error, name: &str) -> Error {
    use std::io::ErrorKind as Io;
    let place = Place::file(name);
    match error.kind() {
        Io::IsADirectory | Io::InvalidInput => Error::usage(error.to_string()).at(place),
        // A component of the path that should be a directory is a file, so nothing exists below it.
        Io::NotADirectory => Error::new(Kind::NotFound, "no such file").caused_by(error).at(place),
        Io::NotFound => Error::new(Kind::NotFound, "no such file").caused_by(error).at(place),
        _ => Error::from(error).at(place),
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({}, {} bytes)", self.name(), self.size())
    }
}
