//! Unfinished work that outlives its process, in a directory that the next run finds and that only one run uses at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use isomorph_error::{Error, Kind, Place, Result};

use crate::disk::{Disk, NodeKind, RealDisk, remove_tree};
use crate::leftover::{AsideName, remove_leftovers, shortened};
use crate::platform::{self, parent_of};
use crate::{Location, Scratch};

/// A directory for work on a destination that may be interrupted and resumed. It stays when this is dropped;
/// as long as this is alive, no other process can open it.
///
/// For a local destination `<name>` it is called `.<name>.<purpose>` and is next to the destination. For an object store it
/// is in the directory for temporary files, under a hash of the destination, and is called `.isomorph-<hash>.<purpose>`.
#[derive(Debug)]
pub struct Workplace {
    path: PathBuf,
    /// Its name while it is removed.
    going: AsideName,
    /// Released when the process ends for any reason.
    _lock: Option<File>,
}

impl Workplace {
    /// Opens or creates the directory for `destination`.
    ///
    /// # Errors
    /// [`Kind::Conflict`] if another process uses it; [`Kind::Usage`] if another user created it where everybody can write;
    /// [`Kind::NotFound`] if its parent directory does not exist; [`Kind::NoSpace`], [`Kind::Io`].
    pub fn open(destination: &Location, purpose: &str, scratch: &Scratch) -> Result<Self> {
        let (path, going) = path_of(destination, purpose, scratch);
        // A leftover that cannot be removed now is left for the next run.
        let _ = remove_leftovers(&RealDisk, parent_of(&path), &going);
        Workplace::open_at(&path, &going).map_err(|error| error.at(Place::file(path.display().to_string())))
    }

    /// Opens the directory for `destination` if it exists and no process uses it, that is, if it was left by an earlier
    /// run. Returns `None` where that cannot be determined because directories have no locks, or where another user may
    /// have created it. As long as this is alive, no other process can continue the work.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn left(destination: &Location, purpose: &str, scratch: &Scratch) -> Result<Option<Self>> {
        let (path, going) = path_of(destination, purpose, scratch);
        let is_directory = RealDisk.node(&path)?.is_some_and(|node| node.kind == NodeKind::Directory);
        if !is_directory || !platform::trusted(&path)? {
            return Ok(None);
        }
        // A directory that cannot be opened cannot be locked, and is left to its owner.
        let Ok(file) = File::open(&path) else { return Ok(None) };
        let ours = file.try_lock().is_ok() && platform::is_at(&file, &path)?;
        Ok(ours.then_some(Workplace { path, going, _lock: Some(file) }))
    }

    fn open_at(path: &Path, going: &AsideName) -> Result<Self> {
        let opened = |lock| Workplace { path: path.to_owned(), going: going.clone(), _lock: lock };
        let disk = RealDisk;
        loop {
            match disk.create_dir(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(Error::new(Kind::NotFound, "the parent directory does not exist")
                        .hint(format!("mkdir -p {}", parent_of(path).display())));
                }
                made => made?,
            }
            match disk.node(path)? {
                // Its user has just removed it.
                None => continue,
                Some(node) if node.kind != NodeKind::Directory => {
                    return Err(Error::new(
                        Kind::AlreadyExists,
                        "expected a directory for unfinished work, found something else",
                    )
                    .hint("move it away"));
                }
                Some(_) => {}
            }
            if !platform::trusted(path)? {
                return Err(Error::usage("this unfinished work may belong to another user")
                    .hint("remove it, or choose a directory that only you can write to"));
            }
            // Where directories cannot be opened or have no locks, other processes are not excluded.
            let Ok(file) = File::open(path) else { return Ok(opened(None)) };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::new(Kind::Conflict, "another process is doing the same work")
                        .hint("wait until it has finished"));
                }
                Err(TryLockError::Error(_)) => return Ok(opened(None)),
            }
            // Between opening and locking, its user may have removed it, and another process may have created a new one.
            if platform::is_at(&file, path)? {
                return Ok(opened(Some(file)));
            }
        }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the total size of its files in bytes, and the time of the last change if that is known.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn extent(&self) -> Result<(u64, Option<SystemTime>)> {
        let (mut bytes, mut last) = (0u64, std::fs::metadata(&self.path)?.modified().ok());
        for entry in std::fs::read_dir(&self.path)? {
            let metadata = entry?.metadata()?;
            bytes = bytes.saturating_add(metadata.len());
            last = last.max(metadata.modified().ok());
        }
        Ok((bytes, last))
    }

    /// Makes its name and the names of its files durable.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn sync(&self) -> Result<()> {
        RealDisk.sync_dir(&self.path)?;
        RealDisk.sync_dir(parent_of(&self.path)).map_err(Error::from)
    }

    /// Removes all its files.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn clear(&self) -> Result<()> {
        let names = RealDisk.names(&self.path)?;
        names.iter().try_for_each(|name| remove_tree(&RealDisk, &self.path.join(name))).map_err(Error::from)
    }

    /// Removes the directory in one step, when the work is finished. If that is interrupted, the next run removes the rest.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn remove(self) -> Result<()> {
        let gone = parent_of(&self.path).join(self.going.fresh());
        RealDisk.rename(&self.path, &gone)?;
        remove_tree(&RealDisk, &gone).map_err(Error::from)
    }
}

/// Returns the path of the directory for `destination`, and its name while it is removed.
fn path_of(destination: &Location, purpose: &str, scratch: &Scratch) -> (PathBuf, AsideName) {
    let (parent, name) = match destination.as_path() {
        Some(path) => (parent_of(path), shortened(destination.file_name())),
        None => {
            let hash = blake3::hash(destination.to_string().as_bytes()).to_hex();
            (scratch.directory(), format!("isomorph-{}", &hash[..16]))
        }
    };
    (parent.join(format!(".{name}.{purpose}")), AsideName::beside(&name))
}
