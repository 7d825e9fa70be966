//! An opened directory or prefix. Names from manifests are resolved inside it only.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};

use crate::blob::unopened;
use crate::counter::Counter;
use crate::location::not_a_directory;
use crate::platform::Beneath;
use crate::remote::Store;
use crate::{Blob, Location, limits, redo, sandbox};

/// An opened directory or prefix. Clones share it and its read counter.
///
/// Only files below the root can be opened, whatever names a manifest contains: names are checked first
/// ([`check_relative`](crate::check_relative)), and links are followed only as long as they stay below the root.
#[derive(Clone, Debug)]
pub struct Root(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    location: Location,
    place: Opened,
    counter: Arc<Counter>,
}

#[derive(Debug)]
enum Opened {
    /// Names are resolved below the directory, after prepending `prefix`, which is empty or ends with a slash.
    Local {
        directory: Beneath,
        prefix: String,
    },
    Remote(Store),
}

/// A file or directory in a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Name relative to the root, with `/` between components.
    pub name: String,
    /// Size in bytes; 0 for a directory.
    pub size: u64,
    /// Whether it is a directory.
    pub is_dir: bool,
}

impl Root {
    /// Opens a directory or prefix, after finishing interrupted changes whose record was durable.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if it does not exist or the prefix has no objects; [`Kind::Usage`] if it is not a directory;
    /// [`Kind::Incomplete`] if an interrupted change cannot be finished; [`Kind::Io`].
    pub fn open(location: &Location) -> Result<Self> {
        Root::open_within(location, None)
    }

    /// Opens a directory whose links may lead out of it as long as they stay below the directory `bounds`, which contains
    /// it. Absolute links are not followed.
    ///
    /// # Errors
    /// Same as [`Root::open`]; [`Kind::Usage`] if `bounds` does not contain it, or if one of the two is not local.
    pub fn open_within(location: &Location, bounds: Option<&Location>) -> Result<Self> {
        let at = || Place::file(location.to_string());
        if let Some(stream) = location.stream() {
            return Err(not_a_directory(stream));
        }
        let place = match location.as_path() {
            Some(path) => {
                redo::recover_beside(location)?;
                redo::recover_within(location)?;
                let opened = |path: &Path| {
                    Beneath::open(path).map_err(|error| match error.kind() {
                        io::ErrorKind::NotADirectory => Error::usage("expected a directory, found a file").at(at()),
                        io::ErrorKind::NotFound => {
                            let near = location.did_you_mean();
                            Error::new(Kind::NotFound, format!("no such directory{near}")).at(at())
                        }
                        _ => Error::from(error).at(at()),
                    })
                };
                match bounds {
                    None => Opened::Local { directory: opened(path)?, prefix: String::new() },
                    Some(bounds) => {
                        let (bounds, prefix) = bounded(path, bounds).map_err(|error| error.at(at()))?;
                        Opened::Local { directory: opened(&bounds)?, prefix }
                    }
                }
            }
            None if bounds.is_some() => return Err(Error::usage("only local directories have links").at(at())),
            None => {
                let store = Store::connect(location)?;
                let listed = location.scheme().has_listing();
                if listed && store.list("", 1).map_err(|error| error.at(at()))?.is_empty() {
                    return Err(Error::new(Kind::NotFound, "no object has this prefix").at(at()));
                }
                Opened::Remote(store)
            }
        };
        Ok(Root(Arc::new(Inner { location: location.clone(), place, counter: Arc::new(Counter::of_files()) })))
    }

    /// Returns the location of the root.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// Opens the file `relative`.
    ///
    /// # Errors
    /// [`Kind::NotFound`]; a name that leaves the root breaks [`PATH_ESCAPE`](crate::PATH_ESCAPE); [`Kind::Malformed`]
    /// if it is a directory, a device or a pipe, because the name comes from the dataset, not from the user; [`Kind::Io`].
    pub fn file(&self, relative: &str) -> Result<Blob> {
        sandbox::check(relative)?;
        let counter = Arc::new(Counter::below(&self.0.counter));
        match &self.0.place {
            Opened::Local { directory, prefix } => {
                let opened = directory.file(&format!("{prefix}{relative}"));
                let file = opened.map_err(|error| self.outside_or(error, relative))?;
                Blob::of_file(relative.to_owned(), file, counter)
            }
            Opened::Remote(store) => Ok(Blob::of_object(relative.to_owned(), store.open(relative)?, counter)),
        }
    }

    /// Opens the file `relative`, or returns `None` if it does not exist.
    ///
    /// # Errors
    /// Same as [`Root::file`], except for a missing file.
    pub fn try_file(&self, relative: &str) -> Result<Option<Blob>> {
        match self.file(relative) {
            Ok(blob) => Ok(Some(blob)),
            Err(error) if error.kind() == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the whole file `relative`, which may have at most `limit` bytes.
    ///
    /// # Errors
    /// Same as [`Root::file`] and [`Blob::read_all`].
    pub fn read(&self, relative: &str, limit: u64) -> Result<Bytes> {
        self.file(relative)?.read_all(limit)
    }

    /// Lists all files below `prefix` (a directory name, or empty for the root), sorted by name. The list is empty if `prefix`
    /// does not exist. Links to directories are not followed.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] for more than [`limits::FILES`] files, or directories nested deeper than
    /// [`limits::DIRECTORY_DEPTH`]; [`Kind::Unsupported`] on a web server; otherwise the same as [`Root::file`].
    pub fn list(&self, prefix: &str) -> Result<Vec<Entry>> {
        self.must_list(prefix)?;
        let too_many = || Error::new(Kind::TooLarge, "more than 1,000,000 files").at(self.place_of(prefix));
        if let Opened::Remote(store) = &self.0.place {
            let files = store.list(prefix, limits::FILES + 1)?;
            return if files.len() > limits::FILES { Err(too_many()) } else { Ok(files) };
        }
        let mut files = Vec::new();
        let mut pending = vec![prefix.to_owned()];
        let mut directories = 0;
        while let Some(directory) = pending.pop() {
            if directory.split('/').count() > limits::DIRECTORY_DEPTH {
                return Err(Error::new(Kind::TooLarge, "directories are nested too deeply").at(Place::file(directory)));
            }
            for entry in self.list_dir(&directory)? {
                if entry.is_dir { pending.push(entry.name) } else { files.push(entry) }
            }
            directories += 1;
            if files.len().max(directories) > limits::FILES {
                return Err(too_many());
            }
        }
        files.sort();
        Ok(files)
    }

    /// Lists the files and directories directly in `prefix`, sorted by name. The list is empty if `prefix` does not exist.
    /// It omits devices and pipes, links that leave the root, and names that are not UTF-8.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] on a web server; otherwise the same as [`Root::file`].
    pub fn list_dir(&self, prefix: &str) -> Result<Vec<Entry>> {
        if !prefix.is_empty() {
            sandbox::check(prefix)?;
        }
        self.must_list(prefix)?;
        let (directory, below) = match &self.0.place {
            Opened::Local { directory, prefix } => (directory, prefix),
            Opened::Remote(store) => return store.list_dir(prefix),
        };
        let found = match directory.list(format!("{below}{prefix}").trim_end_matches('/')) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            found => found.map_err(|error| self.outside_or(error, prefix).at(self.place_of(prefix)))?,
        };
        let name = |name: String| if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let mut entries: Vec<Entry> = found
            .into_iter()
            .map(|(own, found)| Entry { name: name(own), size: found.size, is_dir: found.is_dir })
            .collect();
        entries.sort();
        Ok(entries)
    }

    /// Returns the number of bytes read through this root so far.
    pub fn bytes_read(&self) -> u64 {
        self.0.counter.bytes()
    }

    /// Returns the number of reads (requests, for an object store) through this root so far.
    pub fn reads(&self) -> u64 {
        self.0.counter.requests()
    }

    fn must_list(&self, prefix: &str) -> Result<()> {
        if self.location().scheme().has_listing() {
            return Ok(());
        }
        Err(Error::unsupported("listing files on a web server is not supported")
            .at(self.place_of(prefix))
            .hint("give the URL of the file: a NOCK file, or the *.graph.yml of a GraphAr graph"))
    }

    /// Returns the error for a checked name that leaves the root through a link, or for any other failure.
    fn outside_or(&self, error: io::Error, relative: &str) -> Error {
        match error.kind() {
            io::ErrorKind::CrossesDevices => {
                let link = self.location().as_path().and_then(|path| first_link(path, relative));
                let message = match link {
                    Some((link, target)) => {
                        format!("{link} is a link to {}, outside the opened directory", target.display())
                    }
                    None => "the name leaves its directory through a link".to_owned(),
                };
                Error::broken(&sandbox::PATH_ESCAPE, message).at(Place::file(relative))
            }
            io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => {
                unopened(error, relative).of_kind(Kind::Malformed)
            }
            _ => unopened(error, relative),
        }
    }

    fn place_of(&self, relative: &str) -> Place {
        if relative.is_empty() { Place::file(self.location().to_string()) } else { Place::file(relative) }
    }
}

/// Returns the directory `bounds` without links, and `path` relative to it.
///
/// # Errors
/// [`Kind::Usage`] if `path` is not below `bounds`.
fn bounded(path: &Path, bounds: &Location) -> Result<(PathBuf, String)> {
    let refused = || Error::usage(format!("this directory is not below {bounds}, where links are followed"));
    let directory = bounds.as_path().ok_or_else(refused)?.canonicalize().map_err(|error| refused().caused_by(error))?;
    let path = path.canonicalize().map_err(Error::from)?;
    let below = path.strip_prefix(&directory).ok().and_then(Path::to_str).ok_or_else(refused)?;
    let below = below.replace(std::path::MAIN_SEPARATOR, "/");
    Ok((directory, if below.is_empty() { below } else { format!("{below}/") }))
}

/// Returns the first component of `relative` that is a link out of `root`, and its target.
fn first_link(root: &Path, relative: &str) -> Option<(String, PathBuf)> {
    let real = root.canonicalize();
    let mut below = String::new();
    for part in relative.split('/') {
        below.push_str(part);
        let path = root.join(&below);
        // This is only for the message, so an unreadable link is ignored.
        if let Ok(target) = path.read_link() {
            let inside = path.canonicalize().is_ok_and(|path| real.as_ref().is_ok_and(|real| path.starts_with(real)));
            if !inside || target.is_absolute() {
                return Some((below, target));
            }
        }
        below.push('/');
    }
    None
}
