//! Writes output to a temporary location and publishes it in one step.

mod added;
mod area;
mod file;
mod local;
mod unsynced;
mod upload;

use std::sync::Arc;
use std::time::SystemTime;

use isomorph_error::{Error, Kind, Place, Result};

use crate::{FileDigest, Location, sandbox};
pub(crate) use added::Added;
pub(crate) use area::Area;
use file::Notes;
pub use file::StagedFile;
use local::LocalStaging;
pub(crate) use upload::Uploads;

/// The suffix that makes the name of a file or directory the name of its companion.
pub const COMPANION_SUFFIX: &str = ".isomorph";

/// What to do if the destination already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Return an error. Of two writers to the same destination, the second fails. An empty directory counts as missing.
    CreateNew,
    /// Replace it as a whole, with its companion.
    Replace,
}

/// Whether the output is one file or a directory of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    File,
    Directory,
}

/// A file or directory that is being written. Nothing is visible at its destination before [`Staging::commit`]; dropping it
/// removes everything.
///
/// ```
/// use std::io::Write;
/// use isomorph_storage::{Location, Mode, Root, Staging};
/// # let home = tempfile::tempdir().map_err(isomorph_error::Error::from)?;
/// let place = Location::from_path(&home.path().join("graph"));
/// let staging = Staging::directory(&place, Mode::CreateNew)?;
/// let mut chunk = staging.create("vertex/person/chunk0")?;
/// chunk.write_all(b"rows").map_err(isomorph_error::Error::from)?;
/// assert_eq!(chunk.finish()?.size, 4);
/// staging.create("graph.yml")?.finish()?;
/// staging.commit(&["graph.yml"])?;
/// assert_eq!(Root::open(&place)?.list("")?.len(), 2);
/// # Ok::<(), isomorph_error::Error>(())
/// ```
#[derive(Debug)]
pub struct Staging {
    destination: Location,
    shape: Shape,
    backend: Arc<Backend>,
    notes: Notes,
}

#[derive(Debug)]
enum Backend {
    Local(LocalStaging),
    Remote(Uploads),
}

/// The published output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its location.
    pub location: Location,
    /// Number of files, including those of the companion.
    pub files: u64,
    /// Their total size, bytes.
    pub bytes: u64,
}

impl Staging {
    /// Starts a directory of files.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`]; [`Kind::NotFound`] if its parent directory does not exist;
    /// [`Kind::Usage`] for a destination that cannot be written; [`Kind::Io`].
    pub fn directory(destination: &Location, mode: Mode) -> Result<Staging> {
        Staging::begin(destination, mode, Shape::Directory)
    }

    /// Starts a single file: the one that [`Staging::create`] creates under the destination's own name.
    ///
    /// # Errors
    /// Same as [`Staging::directory`].
    pub fn file(destination: &Location, mode: Mode) -> Result<Staging> {
        Staging::begin(destination, mode, Shape::File)
    }

    fn begin(destination: &Location, mode: Mode, shape: Shape) -> Result<Staging> {
        let at = || Place::file(destination.to_string());
        if !destination.scheme().is_writable() {
            return Err(upload::read_only(destination));
        }
        if destination.is_local() && destination.file_name().is_empty() {
            return Err(Error::usage("the destination has no file name").at(at()).hint("name a new directory or file"));
        }
        let backend = if destination.is_local() {
            Backend::Local(LocalStaging::begin(destination, mode, shape).map_err(|error| error.at(at()))?)
        } else {
            Backend::Remote(Uploads::begin(destination, mode, shape).map_err(|error| error.at(at()))?)
        };
        Ok(Staging { destination: destination.clone(), shape, backend: Arc::new(backend), notes: Notes::default() })
    }

    /// Sets the modification time of all files and directories, so that an archive
    /// of them has the same bytes whenever it is made. Object stores always use their own time.
    pub fn dated(&self, time: SystemTime) {
        match &*self.backend {
            Backend::Local(local) => local.dated(time),
            Backend::Remote(_) => {}
        }
    }

    /// Returns the destination.
    pub fn destination(&self) -> &Location {
        &self.destination
    }

    /// Creates a file `relative` to the destination. For a single file: the destination's own name, or an empty string.
    /// Several threads may write files at the same time. Create manifests after everything else.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`] if it was created before; a name that leaves the directory breaks
    /// [`PATH_ESCAPE`](crate::PATH_ESCAPE); [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create(&self, relative: &str) -> Result<StagedFile> {
        let own = self.destination.file_name();
        match self.shape {
            Shape::File if relative.is_empty() || relative == own => {
                Ok(self.backend.create(Part::Main, "", own)?.noting(&self.notes))
            }
            Shape::File => Err(Error::usage("the output is a single file, not a directory").at(Place::file(relative))),
            Shape::Directory => {
                sandbox::check(relative)?;
                Ok(self.backend.create(Part::Main, relative, relative)?.noting(&self.notes))
            }
        }
    }

    /// Creates the directory `relative` to the destination and its parents, even if it will contain no file. Does nothing
    /// in object stores, which have no directories.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a single file; a name that leaves the directory breaks [`PATH_ESCAPE`](crate::PATH_ESCAPE);
    /// [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create_directory(&self, relative: &str) -> Result<()> {
        if self.shape == Shape::File {
            return Err(Error::usage("the output is a single file, not a directory").at(Place::file(relative)));
        }
        sandbox::check(relative)?;
        match &*self.backend {
            Backend::Local(local) => local.create_directory(relative).map_err(|error| error.at(Place::file(relative))),
            Backend::Remote(_) => Ok(()),
        }
    }

    /// Returns the finished files with their sizes and hashes, sorted by name, without those of the companion.
    pub fn finished(&self) -> Vec<(String, FileDigest)> {
        let notes = self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        notes.iter().map(|(name, digest)| (name.clone(), *digest)).collect()
    }

    /// Returns where the finished files can be read before they are published, so that they can be verified first.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] on object stores, where files cannot be read before they are published.
    pub fn preview(&self) -> Result<Location> {
        match &*self.backend {
            Backend::Local(local) => Ok(local.preview_of(Part::Main)),
            Backend::Remote(_) => Err(Error::unsupported("objects cannot be read before they are published")),
        }
    }

    /// Returns the directory `<name>.isomorph` next to the destination, which is published in the same step and before it.
    ///
    /// If a destination is replaced, its old companion is removed in that step, even if there is no new one.
    pub fn companion(&self) -> Companion {
        let name = format!("{}{COMPANION_SUFFIX}", self.destination.file_name());
        Companion { name, backend: Arc::clone(&self.backend) }
    }

    /// Publishes everything in one step; `last` lists the manifests, in the order in which they become visible where
    /// one step is not possible (object stores).
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`] if another writer was first; [`Kind::Usage`] if a file is not finished, or
    /// a manifest was not written; [`Kind::Poisoned`] if the system could not make the data durable; [`Kind::NoSpace`],
    /// [`Kind::Io`]. The old state is kept.
    pub fn commit(self, last: &[&str]) -> Result<Published> {
        Ok(self.publish(last, |_| Ok(()))?.0)
    }

    /// Same as [`Staging::commit`], if `prove` accepts the finished files. It is called with their location: before anything is
    /// published, or after that in an object store, where nothing can be read before. There, new objects are removed again
    /// if `prove` fails.
    ///
    /// # Errors
    /// Errors of `prove`; otherwise the same as [`Staging::commit`].
    pub fn commit_proved<T>(self, last: &[&str], prove: impl FnOnce(&Location) -> Result<T>) -> Result<(Published, T)> {
        self.publish(last, prove)
    }

    fn publish<T>(&self, last: &[&str], prove: impl FnOnce(&Location) -> Result<T>) -> Result<(Published, T)> {
        let committed = match &*self.backend {
            Backend::Local(local) => {
                prove(&local.preview_of(Part::Main)).and_then(|proof| Ok((local.commit(last)?, proof)))
            }
            Backend::Remote(remote) => remote.commit(last, || prove(&self.destination)),
        };
        let at = || Place::file(self.destination.to_string());
        let ((files, bytes), proof) = committed.map_err(|error| error.at(at()))?;
        Ok((Published { location: self.destination.clone(), files, bytes }, proof))
    }
}

/// Whether a file belongs to the output itself or to its companion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    Main,
    Companion,
}

impl Backend {
    /// Creates the file `relative` of a part (empty: the part itself is a file), called `name` in errors.
    fn create(&self, part: Part, relative: &str, name: &str) -> Result<StagedFile> {
        match self {
            Backend::Local(local) => local.create(part, relative, name),
            Backend::Remote(remote) => remote.create(part, relative, name),
        }
    }
}

/// The companion of a file or directory, which is published together with it.
#[derive(Debug, Clone)]
pub struct Companion {
    name: String,
    backend: Arc<Backend>,
}

impl Companion {
    /// Returns the name of the directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where its finished files can be read before they are published; `None` on object stores, where they cannot.
    pub fn preview(&self) -> Option<Location> {
        match &*self.backend {
            Backend::Local(local) => Some(local.preview_of(Part::Companion)),
            Backend::Remote(_) => None,
        }
    }

    /// Creates a file `relative` to the companion's directory.
    ///
    /// # Errors
    /// Same as [`Staging::create`].
    pub fn create(&self, relative: &str) -> Result<StagedFile> {
        sandbox::check(relative)?;
        self.backend.create(Part::Companion, relative, &format!("{}/{relative}", self.name))
    }
}

/// Returns the error for a manifest that was not written.
pub(crate) fn unwritten(manifest: &str) -> Error {
    Error::new(Kind::Usage, "the manifest was not written").at(Place::file(manifest))
}
