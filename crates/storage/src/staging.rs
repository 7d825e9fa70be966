//! Writing aside and publishing in one step.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use isomorph_error::{Error, Kind, Place, Result};

use crate::{FileDigest, FileHasher, Location, sandbox};

/// What happens when there is something at the destination already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is an error. Of two writers to one place, the second fails.
    CreateNew,
    /// It is replaced as a whole.
    Replace,
}

/// A file or directory in the making. Nothing is visible at its destination before [`Staging::commit`]; dropping it
/// removes everything.
#[derive(Debug)]
pub struct Staging {
    destination: Location,
    target: PathBuf,
    aside: PathBuf,
    mode: Mode,
    is_file: bool,
    files: Mutex<Vec<String>>,
    companion: Option<Box<Staging>>,
    done: bool,
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Where.
    pub location: Location,
    /// How many files, without those of a companion.
    pub files: usize,
}

impl Staging {
    /// A directory of files.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`], [`Kind::NotFound`] when the directory that is to hold it does not exist, [`Kind::Io`].
    pub fn directory(destination: &Location, mode: Mode) -> Result<Staging> {
        let staging = Staging::aside(destination, mode, false)?;
        fs::create_dir(&staging.aside).map_err(|error| Error::from(error).at(destination.to_string()))?;
        Ok(staging)
    }

    /// A single file: the one that [`Staging::create`] makes under the destination's own name.
    ///
    /// # Errors
    /// As [`Staging::directory`].
    pub fn file(destination: &Location, mode: Mode) -> Result<Staging> {
        Staging::aside(destination, mode, true)
    }

    fn aside(destination: &Location, mode: Mode, is_file: bool) -> Result<Staging> {
        let at = Place::file(destination.to_string());
        let path =
            destination.as_path().ok_or_else(|| Error::unsupported("object stores are not built in").at(at.clone()))?;
        let name = destination.file_name();
        if name.is_empty() {
            return Err(Error::usage("the destination has no name").at(at));
        }
        if mode == Mode::CreateNew && fs::symlink_metadata(path).is_ok() {
            return Err(Error::new(Kind::AlreadyExists, "there is something at that place already")
                .at(at)
                .hint("choose another destination"));
        }
        let unique = format!("{}-{:?}", std::process::id(), std::time::Instant::now());
        let aside = path.with_file_name(format!(".{name}.{}.tmp", &blake3::hash(unique.as_bytes()).to_hex()[..16]));
        Ok(Staging {
            destination: destination.clone(),
            target: path.to_owned(),
            aside,
            mode,
            is_file,
            files: Mutex::default(),
            companion: None,
            done: false,
        })
    }

    /// A directory `name` beside the destination that is published together with it, and before it: the carry.
    ///
    /// # Errors
    /// As [`Staging::directory`].
    pub fn companion(&mut self, name: &str) -> Result<&Staging> {
        let beside = self.destination.parent().ok_or_else(|| Error::usage("the destination has no parent"))?;
        let companion = Staging::directory(&beside.join(name)?, self.mode)?;
        Ok(self.companion.insert(Box::new(companion)))
    }

    /// The companion, once there is one.
    pub fn companion_ref(&self) -> Option<&Staging> {
        self.companion.as_deref()
    }

    /// Begins a file `relative` to the destination. For a single file, its own name or an empty text. Files may be
    /// written by several threads at once.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`] when it was begun before; a name that leaves the directory breaks
    /// [`PATH_ESCAPE`](crate::PATH_ESCAPE); [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create(&self, relative: &str) -> Result<StagedFile> {
        let name = if self.is_file { self.destination.file_name() } else { relative };
        sandbox::check(name)?;
        let path = if self.is_file { self.aside.clone() } else { self.aside.join(relative) };
        let at = |error: io::Error| Error::from(error).at(Place::file(name));
        if let (false, Some(parent)) = (self.is_file, path.parent()) {
            fs::create_dir_all(parent).map_err(at)?;
        }
        let file = File::create_new(&path).map_err(at)?;
        self.files.lock().unwrap_or_else(|broken| broken.into_inner()).push(name.to_owned());
        Ok(StagedFile { name: name.to_owned(), file, hasher: FileHasher::new() })
    }

    /// Publishes everything in one step; `last` names the manifests, in the order in which they are written.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`] when somebody else was first, [`Kind::NotFound`] when a manifest was not written,
    /// [`Kind::Poisoned`] when the system could not make the data durable, [`Kind::Io`].
    pub fn commit(mut self, last: &[&str]) -> Result<Published> {
        let files = std::mem::take(&mut *self.files.lock().unwrap_or_else(|broken| broken.into_inner()));
        if let Some(missing) = last.iter().find(|name| !files.iter().any(|file| file == *name)) {
            return Err(Error::new(Kind::NotFound, "the manifest was never written").at(*missing));
        }
        if let Some(companion) = self.companion.take() {
            companion.commit(&[])?;
        }
        let at = |error: io::Error| Error::from(error).at(self.destination.to_string());
        if self.mode == Mode::Replace && !self.is_file && self.target.exists() {
            fs::remove_dir_all(&self.target).map_err(at)?;
        }
        fs::rename(&self.aside, &self.target).map_err(at)?;
        if let Some(parent) = self.target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            File::open(parent).and_then(|parent| parent.sync_all()).map_err(at)?;
        }
        self.done = true;
        Ok(Published { location: self.destination.clone(), files: files.len() })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.done {
            remove(&self.aside, self.is_file);
        }
    }
}

fn remove(path: &Path, is_file: bool) {
    // Nothing more can be done here: the next writer to the same place removes what is left.
    let _ = if is_file { fs::remove_file(path) } else { fs::remove_dir_all(path) };
}

/// One file in the making.
#[derive(Debug)]
pub struct StagedFile {
    name: String,
    file: File,
    hasher: FileHasher,
}

impl StagedFile {
    /// Ends the file and returns its size and hashes.
    ///
    /// # Errors
    /// [`Kind::Poisoned`] when the system could not make it durable.
    pub fn finish(self) -> Result<FileDigest> {
        self.file.sync_all().map_err(|error| Error::from(error).of_kind(Kind::Poisoned).at(Place::file(&self.name)))?;
        Ok(self.hasher.finish())
    }

    /// Bytes written so far.
    pub fn size(&self) -> u64 {
        self.hasher.size()
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
