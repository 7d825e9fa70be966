//! Files that are created under their final names, in a directory that other writers also use.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isomorph_error::{Error, Kind, Place, Result};

use super::StagedFile;
use super::unsynced::Unsynced;
use crate::disk::{Disk, DiskFile};
use crate::sandbox;

pub(crate) struct Added {
    disk: Arc<dyn Disk>,
    base: PathBuf,
    unsynced: Arc<Unsynced>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Every created file, and whether it is finished.
    files: BTreeMap<String, bool>,
    /// Directories with new names, possibly those of another writer that did not sync them yet.
    directories: BTreeSet<PathBuf>,
    bytes: u64,
    kept: bool,
}

impl Added {
    pub(crate) fn new(disk: &Arc<dyn Disk>, base: &Path) -> Arc<Self> {
        let (disk, base, unsynced) = (Arc::clone(disk), base.to_owned(), Unsynced::new(&**disk));
        Arc::new(Added { disk, base, unsynced, state: Mutex::default() })
    }

    /// Creates the file `relative`, which must be new.
    pub(crate) fn file(self: &Arc<Self>, relative: &str) -> Result<StagedFile> {
        let at = |error: io::Error| Error::from(error).at(Place::file(relative));
        let path = self.base.join(relative);
        let mut state = self.state();
        self.make_directories(&mut state, path.parent().unwrap_or(&self.base), relative)?;
        let file = self.disk.create_file(&path).map_err(at)?;
        state.files.insert(relative.to_owned(), false);
        drop(state);
        Ok(StagedFile::added(relative, Arc::clone(self), file))
    }

    /// Creates the directories of the file `relative`; existing ones must not be links out of the root.
    fn make_directories(&self, state: &mut State, directory: &Path, relative: &str) -> Result<()> {
        let missing: Vec<&Path> = directory
            .ancestors()
            .take_while(|path| !state.directories.contains(*path) && **path != self.base)
            .collect();
        for directory in missing.into_iter().rev() {
            match self.disk.create_dir(directory) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    sandbox::check_directory(&*self.disk, &self.base, directory, relative)?;
                }
                made => made.map_err(|error| Error::from(error).at(Place::file(relative)))?,
            }
            state.directories.insert(directory.to_owned());
        }
        state.directories.insert(self.base.clone());
        Ok(())
    }

    /// Takes over a finished file, whose bytes are written but not yet durable.
    pub(super) fn finished(&self, name: &str, file: Box<dyn DiskFile>, size: u64) -> Result<()> {
        let mut state = self.state();
        state.bytes += size;
        state.files.insert(name.to_owned(), true);
        drop(state);
        self.unsynced.push(name, file)
    }

    /// Makes all files and their names durable. Returns their number and total size.
    pub(crate) fn settle(&self) -> Result<(u64, u64)> {
        let (directories, written) = {
            let mut state = self.state();
            if let Some((name, _)) = state.files.iter().find(|(_, finished)| !**finished) {
                let message = "the file is not finished";
                return Err(Error::new(Kind::Usage, message).at(Place::file(name.clone())));
            }
            let written = (state.files.len() as u64, state.bytes);
            (std::mem::take(&mut state.directories), written)
        };
        self.unsynced.settle()?;
        for directory in directories.iter().rev() {
            self.unsynced.sync(|| self.disk.sync_dir(directory), &directory.display().to_string())?;
        }
        Ok(written)
    }

    /// Sets whether the files stay when this is dropped.
    pub(crate) fn keep(&self, keep: bool) {
        self.state().kept = keep;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Added {
    fn drop(&mut self) {
        let state = std::mem::take(self.state.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !state.kept {
            // Directories stay, because another writer may be about to use them. A file that cannot be removed is a
            // harmless orphan.
            state.files.keys().for_each(|name| drop(self.disk.remove_file(&self.base.join(name))));
        }
    }
}

impl fmt::Debug for Added {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Added({})", self.base.display())
    }
}
