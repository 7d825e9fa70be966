//! Writing aside and publishing in one step.

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

/// What a companion is called: the name of its file or directory with this behind it.
pub const COMPANION_SUFFIX: &str = ".isomorph";

/// What happens when there is something at the destination already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is an error. Of two writers to one place, the second fails. An empty directory counts as nothing.
    CreateNew,
    /// It is replaced as a whole, with its companion.
    Replace,
}

/// Whether one file or a directory of files is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    File,
    Directory,
}

/// A file or directory in the making. Nothing is visible at its destination before [`Staging::commit`]; dropping it
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

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Where.
    pub location: Location,
    /// Files, those of a companion included.
    pub files: u64,
    /// Their sizes together, bytes.
    pub bytes: u64,
}

impl Staging {
    /// A directory of files.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`]; [`Kind::NotFound`] when the directory that is to hold it does not exist;
    /// [`Kind::Usage`] for a place that cannot be written; [`Kind::Io`].
    pub fn directory(destination: &Location, mode: Mode) -> Result<Staging> {
        Staging::begin(destination, mode, Shape::Directory)
    }

    /// A single file: the one that [`Staging::create`] makes under the destination's own name.
    ///
    /// # Errors
    /// As [`Staging::directory`].
    pub fn file(destination: &Location, mode: Mode) -> Result<Staging> {
        Staging::begin(destination, mode, Shape::File)
    }

    fn begin(destination: &Location, mode: Mode, shape: Shape) -> Result<Staging> {
        let at = || Place::file(destination.to_string());
        if !destination.scheme().is_writable() {
            return Err(upload::read_only(destination));
        }
        if destination.is_local() && destination.file_name().is_empty() {
            return Err(Error::usage("the destination has no name of its own")
                .at(at())
                .hint("name a new directory or file"));
        }
        let backend = if destination.is_local() {
            Backend::Local(LocalStaging::begin(destination, mode, shape).map_err(|error| error.at(at()))?)
        } else {
            Backend::Remote(Uploads::begin(destination, mode, shape).map_err(|error| error.at(at()))?)
        };
        Ok(Staging { destination: destination.clone(), shape, backend: Arc::new(backend), notes: Notes::default() })
    }

    /// All its files and directories will have this time of their last change instead of the clock's, so that an archive
    /// of them has the same bytes whenever it is made. Object stores know no time but their own.
    pub fn dated(&self, time: SystemTime) {
        match &*self.backend {
            Backend::Local(local) => local.dated(time),
            Backend::Remote(_) => {}
        }
    }

    /// Where it will appear.
    pub fn destination(&self) -> &Location {
        &self.destination
    }

    /// Begins a file `relative` to the destination. For a single file: the destination's own name, or an empty text.
    /// Files may be written by several threads at once. Create manifests after everything else.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`] when it was begun before; a name that leaves the directory breaks
    /// [`PATH_ESCAPE`](crate::PATH_ESCAPE); [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create(&self, relative: &str) -> Result<StagedFile> {
        let own = self.destination.file_name();
        match self.shape {
            Shape::File if relative.is_empty() || relative == own => {
                Ok(self.backend.create(Part::Main, "", own)?.noting(&self.notes))
            }
            Shape::File => Err(Error::usage("a single file has no other files beside it").at(Place::file(relative))),
            Shape::Directory => {
                sandbox::check(relative)?;
                Ok(self.backend.create(Part::Main, relative, relative)?.noting(&self.notes))
            }
        }
    }

    /// Makes the directory `relative` to the destination, with those above it, even if no file comes into it. Object stores
    /// have no directories: there nothing is made.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a single file; a name that leaves the directory breaks [`PATH_ESCAPE`](crate::PATH_ESCAPE);
    /// [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create_directory(&self, relative: &str) -> Result<()> {
        if self.shape == Shape::File {
            return Err(Error::usage("a single file has no directories").at(Place::file(relative)));
        }
        sandbox::check(relative)?;
        match &*self.backend {
            Backend::Local(local) => local.create_directory(relative).map_err(|error| error.at(Place::file(relative))),
            Backend::Remote(_) => Ok(()),
        }
    }

    /// The finished files with their sizes and hashes, in the order of their names; those of the companion excepted.
    pub fn finished(&self) -> Vec<(String, FileDigest)> {
        let notes = self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        notes.iter().map(|(name, digest)| (name.clone(), *digest)).collect()
    }

    /// Where the finished files can be read before they are published: so that what is published has been read back.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] on object stores, where nothing can be read before it is published.
    pub fn preview(&self) -> Result<Location> {
        match &*self.backend {
            Backend::Local(local) => Ok(local.preview()),
            Backend::Remote(_) => Err(Error::unsupported("an object store shows nothing before it is published")),
        }
    }

    /// The directory `<name>.isomorph` beside the destination, which is published in the same step and before it.
    ///
    /// A destination that is replaced loses its old companion in that step, whether there is a new one or not.
    pub fn companion(&self) -> Companion {
        let name = format!("{}{COMPANION_SUFFIX}", self.destination.file_name());
        Companion { name, backend: Arc::clone(&self.backend) }
    }

    /// Publishes everything in one step; `last` names the manifests, in the order in which they become visible where
    /// one step is not possible (object stores).
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`] when somebody else was first; [`Kind::Usage`] when a file was begun and not finished, or
    /// a manifest not written; [`Kind::Poisoned`] when the system could not make the data durable; [`Kind::NoSpace`],
    /// [`Kind::Io`]. What was there before is kept.
    pub fn commit(self, last: &[&str]) -> Result<Published> {
        Ok(self.publish(last, |_| Ok(()))?.0)
    }

    /// The same for what `prove` accepts, which is told where the finished files can be read: before anything is
    /// published, or in an object store, where nothing can be read before, after; there what is new is removed again
    /// when `prove` fails.
    ///
    /// # Errors
    /// Those of `prove`, and as [`Staging::commit`].
    pub fn commit_proved<T>(self, last: &[&str], prove: impl FnOnce(&Location) -> Result<T>) -> Result<(Published, T)> {
        self.publish(last, prove)
    }

    fn publish<T>(&self, last: &[&str], prove: impl FnOnce(&Location) -> Result<T>) -> Result<(Published, T)> {
        let committed = match &*self.backend {
            Backend::Local(local) => prove(&local.preview()).and_then(|proof| Ok((local.commit(last)?, proof))),
            Backend::Remote(remote) => remote.commit(last, || prove(&self.destination)),
        };
        let at = || Place::file(self.destination.to_string());
        let ((files, bytes), proof) = committed.map_err(|error| error.at(at()))?;
        Ok((Published { location: self.destination.clone(), files, bytes }, proof))
    }
}

/// Which of the two things that are published together a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    Main,
    Companion,
}

impl Backend {
    /// Begins the file `relative` of a part (empty: the part itself is a file), called `name` in errors.
    fn create(&self, part: Part, relative: &str, name: &str) -> Result<StagedFile> {
        match self {
            Backend::Local(local) => local.create(part, relative, name),
            Backend::Remote(remote) => remote.create(part, relative, name),
        }
    }
}

/// What travels beside a file or directory and is published together with it.
#[derive(Debug, Clone)]
pub struct Companion {
    name: String,
    backend: Arc<Backend>,
}

impl Companion {
    /// The name of the directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Begins a file `relative` to the companion's directory.
    ///
    /// # Errors
    /// As [`Staging::create`].
    pub fn create(&self, relative: &str) -> Result<StagedFile> {
        sandbox::check(relative)?;
        self.backend.create(Part::Companion, relative, &format!("{}/{relative}", self.name))
    }
}

/// The error when a manifest is named that was never written.
pub(crate) fn unwritten(manifest: &str) -> Error {
    Error::new(Kind::Usage, "the manifest was never written").at(Place::file(manifest))
}
