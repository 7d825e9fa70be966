//! Unfinished work that outlives its process: a directory that the next run finds, and that only one run has.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use isomorph_error::{Error, Kind, Place, Result};

use crate::disk::{Disk, NodeKind, RealDisk, remove_tree};
use crate::leftover::{AsideName, remove_leftovers, shortened};
use crate::platform::{self, parent_of};
use crate::{Location, Scratch};

/// A directory for work on a destination that may be interrupted and taken up again. It stays when this is dropped;
/// as long as this lives nobody else has it.
///
/// Beside a local destination `<name>` it is called `.<name>.<purpose>`. The work for an object store lies in the directory
/// for temporary files, under a hash of where the destination is, and is called `.isomorph-<hash>.<purpose>`.
#[derive(Debug)]
pub struct Workplace {
    path: PathBuf,
    /// What it is called while it is removed.
    going: AsideName,
    /// Given back when the process ends in whatever way.
    _lock: Option<File>,
}

impl Workplace {
    /// Opens the directory for `destination`, or makes it.
    ///
    /// # Errors
    /// [`Kind::Conflict`] when another process has it; [`Kind::Usage`] when somebody else made it where everybody may;
    /// [`Kind::NotFound`] when the directory that is to hold it does not exist; [`Kind::NoSpace`], [`Kind::Io`].
    pub fn open(destination: &Location, purpose: &str, scratch: &Scratch) -> Result<Self> {
        let (path, going) = path_of(destination, purpose, scratch);
        // What cannot be removed now is left for the next one.
        let _ = remove_leftovers(&RealDisk, parent_of(&path), &going);
        Workplace::open_at(&path, &going).map_err(|error| error.at(Place::file(path.display().to_string())))
    }

    /// Opens the directory for `destination` if it is there and nobody has it: it was left. Nothing where that cannot be told, because
    /// directories have no locks, and where another user may have made it. As long as this lives nobody else can go on with the work.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn left(destination: &Location, purpose: &str, scratch: &Scratch) -> Result<Option<Self>> {
        let (path, going) = path_of(destination, purpose, scratch);
        let is_directory = RealDisk.node(&path)?.is_some_and(|node| node.kind == NodeKind::Directory);
        if !is_directory || !platform::trusted(&path)? {
            return Ok(None);
        }
        // What cannot be opened cannot be locked, and is left to whoever has it.
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
                    return Err(Error::new(Kind::NotFound, "the directory that is to hold it does not exist")
                        .hint(format!("mkdir -p {}", parent_of(path).display())));
                }
                made => made?,
            }
            match disk.node(path)? {
                // Whoever had it has just removed it.
                None => continue,
                Some(node) if node.kind != NodeKind::Directory => {
                    return Err(Error::new(
                        Kind::AlreadyExists,
                        "unfinished work belongs here, and this is no directory",
                    )
                    .hint("move it away"));
                }
                Some(_) => {}
            }
            if !platform::trusted(path)? {
                return Err(Error::usage("unfinished work lies here that another user may have put there")
                    .hint("remove it, or choose a directory that only you write to"));
            }
            // Where directories cannot be opened, or have no locks, nothing keeps others away.
            let Ok(file) = File::open(path) else { return Ok(opened(None)) };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::new(Kind::Conflict, "another process does the same work")
                        .hint("wait until it has ended"));
                }
                Err(TryLockError::Error(_)) => return Ok(opened(None)),
            }
            // Between opening and locking, whoever had it may have removed it, and another may have made it anew.
            if platform::is_at(&file, path)? {
                return Ok(opened(Some(file)));
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How much is in it, bytes, and when it was last changed, if that is known.
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

    /// Makes its name, and the names of the files in it, durable.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn sync(&self) -> Result<()> {
        RealDisk.sync_dir(&self.path)?;
        RealDisk.sync_dir(parent_of(&self.path)).map_err(Error::from)
    }

    /// Removes everything in it.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn clear(&self) -> Result<()> {
        let names = RealDisk.names(&self.path)?;
        names.iter().try_for_each(|name| remove_tree(&RealDisk, &self.path.join(name))).map_err(Error::from)
    }

    /// Removes it in one step: the work is done. What is left of it when that is interrupted is removed by the next one.
    ///
    /// # Errors
    /// [`Kind::Io`].
    pub fn remove(self) -> Result<()> {
        let gone = parent_of(&self.path).join(self.going.fresh());
        RealDisk.rename(&self.path, &gone)?;
        remove_tree(&RealDisk, &gone).map_err(Error::from)
    }
}

/// Where the directory for `destination` is, and what it is called while it is removed.
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
