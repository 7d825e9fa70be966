//! A local directory for unfinished output: its files, its directories, and what is not durable yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use isomorph_error::{Error, Kind, Place, Result};

use super::StagedFile;
use super::unsynced::Unsynced;
use crate::disk::{Disk, DiskFile};
use crate::leftover::{Aside, AsideName};

pub(crate) struct Area {
    disk: Arc<dyn Disk>,
    aside: Aside,
    unsynced: Arc<Unsynced>,
    /// The modification time of everything, if it is set explicitly.
    time: OnceLock<SystemTime>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    directories: BTreeSet<PathBuf>,
    /// Every created file, and whether it is finished.
    files: BTreeMap<String, bool>,
    bytes: u64,
}

impl Area {
    pub(crate) fn create(disk: &Arc<dyn Disk>, parent: &Path, name: &AsideName) -> io::Result<Arc<Self>> {
        let aside = Aside::create(disk, parent, name)?;
        let mut state = State::default();
        state.directories.insert(aside.path().to_owned());
        Ok(Arc::new(Area {
            disk: Arc::clone(disk),
            aside,
            unsynced: Unsynced::new(&**disk),
            time: OnceLock::new(),
            state: Mutex::new(state),
        }))
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    pub(crate) fn path(&self) -> &Path {
        self.aside.path()
    }

    /// Creates the file `relative` (to the area), called `name` in errors.
    pub(crate) fn file(self: &Arc<Self>, relative: &Path, name: &str) -> Result<StagedFile> {
        let at = |error: io::Error| Error::from(error).at(Place::file(name));
        let path = self.path().join(relative);
        let mut state = self.state();
        if state.files.contains_key(name) {
            return Err(Error::new(Kind::AlreadyExists, "the file was already created").at(Place::file(name)));
        }
        if let Some(parent) = path.parent() {
            self.make_directories(&mut state, parent).map_err(at)?;
        }
        let file = self.disk.create_file(&path).map_err(at)?;
        state.files.insert(name.to_owned(), false);
        Ok(StagedFile::local(name, Arc::clone(self), file))
    }

    /// Creates the directory `relative` (to the area), even if it will contain no file.
    pub(crate) fn directory(&self, relative: &Path) -> io::Result<()> {
        self.make_directories(&mut self.state(), &self.path().join(relative))
    }

    fn make_directories(&self, state: &mut State, directory: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            directory.ancestors().take_while(|ancestor| !state.directories.contains(*ancestor)).collect();
        for directory in missing.into_iter().rev() {
            self.disk.create_dir(directory)?;
            state.directories.insert(directory.to_owned());
        }
        Ok(())
    }

    /// Sets the modification time of everything.
    pub(crate) fn dated(&self, time: SystemTime) {
        let _ = self.time.set(time);
    }

    /// Takes over a finished file, whose bytes are written but not yet durable.
    pub(super) fn finished(&self, name: &str, mut file: Box<dyn DiskFile>, size: u64) -> Result<()> {
        if let Some(time) = self.time.get() {
            file.set_modified(*time).map_err(|error| Error::from(error).at(Place::file(name)))?;
        }
        let mut state = self.state();
        state.bytes += size;
        state.files.insert(name.to_owned(), true);
        drop(state);
        self.unsynced.push(name, file)
    }

    /// Makes every file and every directory in the area durable, except for their names in the area itself, which are about
    /// to change. Returns the number and the total size of the files.
    pub(crate) fn seal(&self) -> Result<(u64, u64)> {
        let state = self.state();
        if let Some((name, _)) = state.files.iter().find(|(_, finished)| !**finished) {
            return Err(Error::new(Kind::Usage, "the file is not finished").at(Place::file(name.clone())));
        }
        self.unsynced.settle()?;
        for directory in state.directories.iter().rev().filter(|directory| **directory != self.path()) {
            if let Some(time) = self.time.get() {
                self.disk.set_modified(directory, *time)?;
            }
            self.sync(|| self.disk.sync_dir(directory), &directory.display().to_string())?;
        }
        Ok((state.files.len() as u64, state.bytes))
    }

    /// Whether the file called `name` was created.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.state().files.contains_key(name)
    }

    /// Returns the names of all created files, as used in errors.
    pub(crate) fn names(&self) -> Vec<String> {
        self.state().files.keys().cloned().collect()
    }

    /// Sets whether the area stays when this is dropped, because a record refers to it.
    pub(crate) fn keep(&self, keep: bool) {
        self.aside.keep(keep);
    }

    /// Runs a sync. After one has failed, nothing that was written here can be trusted to be durable.
    pub(crate) fn sync(&self, sync: impl FnOnce() -> io::Result<()>, name: &str) -> Result<()> {
        self.unsynced.sync(sync, name)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Area({})", self.path().display())
    }
}
