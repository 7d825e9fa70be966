//! A directory or prefix that several writers change at the same time, coordinated through single files.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};

use crate::disk::{Disk, DiskFile, NodeKind};
use crate::redo::Changed;
use crate::remote::Store;
use crate::staging::{Added, StagedFile, Uploads};
use crate::{Location, sandbox, unique};

/// The number of attempts to read and change a file that other writers keep changing.
const ATTEMPTS: u32 = 100;

/// The longest pause between two attempts, milliseconds.
const LONGEST_PAUSE: u64 = 500;

/// A directory or prefix that several writers change at the same time.
///
/// Writers add files under unique names ([`SharedRoot::additions`]), claim names that only one writer can have
/// ([`SharedRoot::create`]) and update the few files that change one after another ([`SharedRoot::update`]). On a disk
/// each of these operations is durable when it returns.
#[derive(Debug, Clone)]
pub struct SharedRoot {
    location: Location,
    place: Opened,
}

#[derive(Debug, Clone)]
enum Opened {
    Local { disk: Arc<dyn Disk>, base: PathBuf },
    Remote(Store),
}

/// Computes the new content of a file from the current one; `None` leaves the file unchanged.
pub type Change<'c> = dyn FnMut(&[u8]) -> Result<Option<Vec<u8>>> + 'c;

impl SharedRoot {
    /// Opens a directory or prefix for changes.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a web server or a file; [`Kind::NotFound`] if the directory does not exist.
    pub fn open(location: &Location) -> Result<Self> {
        let at = || Place::file(location.to_string());
        if !location.scheme().is_writable() {
            return Err(Error::usage("a web server is read-only").at(at()));
        }
        let place = match location.as_path() {
            None => Opened::Remote(Store::connect(location)?),
            Some(path) => {
                let disk = location.disk();
                match disk.node(path)?.map(|node| node.kind) {
                    Some(NodeKind::File) => return Err(Error::usage("expected a directory, found a file").at(at())),
                    Some(_) => Opened::Local { disk, base: path.to_owned() },
                    None => return Err(Error::new(Kind::NotFound, "no such directory").at(at())),
                }
            }
        };
        Ok(SharedRoot { location: location.clone(), place })
    }

    /// Returns a writer for new files under unique names.
    ///
    /// # Errors
    /// Returns an error if the store cannot be reached.
    pub fn additions(&self) -> Result<Additions> {
        Ok(Additions(match &self.place {
            Opened::Local { disk, base } => Adding::Local(Added::new(disk, base)),
            Opened::Remote(_) => Adding::Remote(Uploads::add(&self.location)?),
        }))
    }

    /// Reads the file `relative`, which may have at most `limit` bytes; returns `None` if it does not exist.
    ///
    /// # Errors
    /// [`Kind::TooLarge`], [`Kind::Io`].
    pub fn read(&self, relative: &str, limit: u64) -> Result<Option<Bytes>> {
        sandbox::check(relative)?;
        match &self.place {
            Opened::Remote(store) => Ok(store.get(relative, limit)?.map(|(bytes, _)| bytes)),
            Opened::Local { disk, base } => match disk.read(&base.join(relative), limit) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                read => Ok(Some(read.map_err(|error| Error::from(error).at(Place::file(relative)))?.into())),
            },
        }
    }

    /// Creates the file `relative` with this content, completely and durably; returns false and changes nothing if it exists.
    ///
    /// If the store supports no conditional writes, the check happens just before the write, which leaves a gap for a
    /// second writer.
    ///
    /// # Errors
    /// [`Kind::Poisoned`], [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create(&self, relative: &str, content: Vec<u8>) -> Result<bool> {
        sandbox::check(relative)?;
        let Opened::Local { disk, base } = &self.place else { return self.create_object(relative, content) };
        let at = |error: io::Error| Error::from(error).at(Place::file(relative));
        let target = base.join(relative);
        let parent = target.parent().unwrap_or(base);
        if parent != base {
            match disk.create_dir(parent) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    sandbox::check_directory(&**disk, base, parent, relative)?;
                }
                made => made.and_then(|()| disk.sync_dir(base)).map_err(at)?,
            }
        }
        let aside = self.aside(&**disk, &target, &content).map_err(at)?;
        match disk.rename_new(&aside, &target) {
            Ok(()) => disk.sync_dir(parent).map_err(|error| poisoned(error, relative)).map(|()| true),
            Err(error) => {
                let _ = disk.remove_file(&aside);
                if error.kind() == io::ErrorKind::AlreadyExists { Ok(false) } else { Err(at(error)) }
            }
        }
    }

    fn create_object(&self, relative: &str, content: Vec<u8>) -> Result<bool> {
        let Opened::Remote(store) = &self.place else { return Ok(false) };
        store.put_new(relative, content.into())
    }

    /// Replaces the file `relative`, which may have at most `limit` bytes, by the result of `change`, and tries again if
    /// another writer was faster. Returns whether it was changed.
    ///
    /// On a disk, a lock of the directory excludes other writers; an object is replaced on the condition that
    /// it is still the one that was read. If the store supports no conditional writes, other writers are not excluded.
    ///
    /// # Errors
    /// Errors of `change`; [`Kind::NotFound`]; [`Kind::Conflict`] if other writers were faster in all attempts;
    /// [`Kind::Poisoned`] if the new content is visible but may not be durable; [`Kind::NoSpace`], [`Kind::Io`].
    pub fn update(&self, relative: &str, limit: u64, change: &mut Change<'_>) -> Result<bool> {
        sandbox::check(relative)?;
        match &self.place {
            Opened::Local { disk, base } => self.update_file(&**disk, base, relative, limit, change),
            Opened::Remote(store) => update_object(store, relative, limit, change),
        }
    }

    fn update_file(
        &self,
        disk: &dyn Disk,
        base: &Path,
        relative: &str,
        limit: u64,
        change: &mut Change<'_>,
    ) -> Result<bool> {
        let at = |error: io::Error| Error::from(error).at(Place::file(relative));
        // On systems whose directories have no locks, renames are the only ordering.
        let _lock = disk.lock(base).map_err(at)?;
        let target = base.join(relative);
        let before = disk.read(&target, limit).map_err(at)?;
        let Some(after) = change(&before)? else { return Ok(false) };
        let aside = self.aside(disk, &target, &after).map_err(at)?;
        if let Err(error) = disk.rename(&aside, &target) {
            let _ = disk.remove_file(&aside);
            return Err(at(error));
        }
        disk.sync_dir(target.parent().unwrap_or(base)).map_err(|error| poisoned(error, relative))?;
        Ok(true)
    }

    /// Writes a durable file next to `target`, under a unique name.
    fn aside(&self, disk: &dyn Disk, target: &Path, content: &[u8]) -> io::Result<PathBuf> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let aside = target.with_file_name(format!(".{name}.{}.tmp", unique::fresh()));
        let write = |mut file: Box<dyn DiskFile>| {
            file.write_all(content)?;
            file.sync()
        };
        let written = disk.create_file(&aside).and_then(write);
        written.inspect_err(|_| drop(disk.remove_file(&aside)))?;
        Ok(aside)
    }

    /// Makes the names in the directory `relative` durable, which another writer may have created without syncing.
    ///
    /// # Errors
    /// [`Kind::Poisoned`].
    pub fn sync_directory(&self, relative: &str) -> Result<()> {
        match &self.place {
            Opened::Local { disk, base } => {
                disk.sync_dir(&base.join(relative)).map_err(|error| poisoned(error, relative))
            }
            Opened::Remote(_) => Ok(()),
        }
    }

    /// Removes the file `relative` if it exists.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn remove(&self, relative: &str) -> Result<()> {
        sandbox::check(relative)?;
        match &self.place {
            Opened::Remote(store) => store.remove(relative),
            Opened::Local { disk, base } => match disk.remove_file(&base.join(relative)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed.map_err(|error| Error::from(error).at(Place::file(relative))),
            },
        }
    }
}

fn update_object(store: &Store, relative: &str, limit: u64, change: &mut Change<'_>) -> Result<bool> {
    for attempt in 0..ATTEMPTS {
        let Some((before, etag)) = store.get(relative, limit)? else {
            return Err(Error::new(Kind::NotFound, "no such object").at(Place::file(relative)));
        };
        let Some(after) = change(&before)? else { return Ok(false) };
        if store.put_instead(relative, after.into(), etag)? {
            return Ok(true);
        }
        // Random pauses, so that writers that collide once do not keep colliding.
        let longest = (1_u64 << attempt.min(16)).min(LONGEST_PAUSE);
        std::thread::sleep(Duration::from_millis(RandomState::new().build_hasher().finish() % longest + 1));
    }
    Err(Error::new(Kind::Conflict, "other writers keep changing this file").at(Place::file(relative)))
}

fn poisoned(error: io::Error, relative: &str) -> Error {
    Error::new(Kind::Poisoned, "the change was written, but the system could not make it durable")
        .caused_by(error)
        .at(Place::file(relative))
        .hint("check the disk, then check whether the change exists")
}

/// Creates new files of a [`SharedRoot`]. On a disk they have their final names immediately. They are removed on drop, unless
/// they are [kept](Additions::keep).
#[derive(Debug)]
pub struct Additions(Adding);

#[derive(Debug)]
enum Adding {
    Local(Arc<Added>),
    Remote(Uploads),
}

impl Additions {
    /// Creates the file `relative`, which no other writer creates.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`]; a name that leaves the root breaks [`PATH_ESCAPE`](crate::PATH_ESCAPE);
    /// [`Kind::NoSpace`], [`Kind::Io`].
    pub fn create(&self, relative: &str) -> Result<StagedFile> {
        sandbox::check(relative)?;
        match &self.0 {
            Adding::Local(added) => added.file(relative),
            Adding::Remote(uploads) => uploads.create_main(relative),
        }
    }

    /// Makes all finished files durable, and visible if they were not yet.
    ///
    /// # Errors
    /// [`Kind::Usage`] if a file is not finished; [`Kind::Poisoned`], [`Kind::NoSpace`], [`Kind::Io`].
    pub fn settle(&self) -> Result<Changed> {
        let (files, bytes) = match &self.0 {
            Adding::Local(added) => added.settle()?,
            Adding::Remote(uploads) => uploads.settle()?,
        };
        Ok(Changed { files, bytes })
    }

    /// Sets whether the files stay when this is dropped, because something refers to them, or may.
    pub fn keep(&self, keep: bool) {
        match &self.0 {
            Adding::Local(added) => added.keep(keep),
            Adding::Remote(uploads) => uploads.keep(keep),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fault::{Fault, FaultDisk, MemoryDisk};

    /// Appends to the only file of a directory, on a disk with a failing step. Returns the outcome and what exists then.
    fn append(fault: Fault) -> (Result<bool>, Vec<u8>, Vec<String>) {
        let memory = MemoryDisk::new(true);
        let base = Path::new("/d");
        memory.create_dir(base).unwrap();
        memory.create_file(&base.join("list")).unwrap().write_all(b"old").unwrap();
        let faulty = FaultDisk::new(Arc::new(memory.clone()), fault);
        let root = SharedRoot::open(&Location::parse("/d").unwrap().on_disk(Arc::new(faulty.clone())));
        let change = |before: &[u8]| Ok(Some([before, b", new"].concat()));
        let done = root.and_then(|root| root.update("list", 100, &mut { change }));
        (done, memory.read(&base.join("list"), 100).unwrap(), faulty.log())
    }

    /// An error in any step ends the change, also an error of the lock: without the lock another change could be lost.
    #[test]
    fn no_step_of_a_change_fails_unnoticed() {
        let (done, content, steps) = append(Fault::None);
        assert!(done.unwrap() && content == b"old, new");
        assert!(steps.iter().any(|step| step.contains("lock")), "{steps:?}");
        for (step, what) in (0..).zip(&steps) {
            let (done, content, _) = append(Fault::Fail(step, io::ErrorKind::Other));
            assert!(done.is_err(), "{what} failed without an error");
            let error = done.unwrap_err();
            let renamed = error.kind() == Kind::Poisoned;
            assert_eq!(content, if renamed { &b"old, new"[..] } else { b"old" }, "{what}: {error}");
        }
    }
}
