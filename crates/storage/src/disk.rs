//! The file system operations that writers use: an interface in which tests inject faults.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::platform;

/// A file system, as the publish protocol uses it. Each call is one step, which can fail, and after which the machine
/// can stop.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Creates a new file.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Creates a new directory in an existing one.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Renames a file, replacing an existing file; or a directory, replacing an empty one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames a file to a name that must not exist.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, which must not exist. Returns any error if the system has no hard links.
    fn link(&self, _file: &Path, _name: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Exchanges two names in one step; returns [`io::ErrorKind::Unsupported`] where that is not possible.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Returns what `path` is, without following links; `None` if it does not exist.
    fn node(&self, path: &Path) -> io::Result<Option<Node>>;
    /// Resolves all links in the path.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// Lists the names in a directory.
    fn names(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Reads a whole file of at most `limit` bytes.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;
    /// Takes the lock of a file or directory unless it is held. The lock is released on drop and when the process ends
    /// for any reason.
    fn try_lock(&self, path: &Path) -> io::Result<Lock>;
    /// Waits for the lock of a file.
    fn lock(&self, path: &Path) -> io::Result<Lock>;
    /// Sets the modification time of a directory, if the system can.
    fn set_modified(&self, _path: &Path, _time: SystemTime) -> io::Result<()> {
        Ok(())
    }
    /// Whether files may be synced in any order, on threads other than those that wrote them. False for tests that count
    /// every step.
    fn syncs_on_threads(&self) -> bool {
        false
    }
    /// Whether a record of unfinished work may be performed; false if another user may have put it there.
    fn trusted(&self, path: &Path) -> io::Result<bool>;
}

/// A file that is being written.
pub trait DiskFile: Write + Send {
    /// Makes the written bytes durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Sets the modification time.
    fn set_modified(&mut self, _time: SystemTime) -> io::Result<()> {
        Ok(())
    }
}

/// A directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Its type.
    pub kind: NodeKind,
    /// Time of the last change.
    pub modified: Option<SystemTime>,
}

/// The type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link, a device or a pipe.
    Other,
}

/// The result of trying to lock.
#[derive(Debug)]
pub enum Lock {
    /// The lock is held until this is dropped.
    Ours(Box<dyn Guard>),
    /// Another running process holds the lock.
    Theirs,
    /// Locks are not supported here.
    Unsupported,
}

/// Holds a lock.
pub trait Guard: Send + Sync + fmt::Debug {}

impl Guard for File {}

/// The disk that a [`Location`](crate::Location) writes to: the real one unless a test sets another.
#[derive(Clone)]
pub(crate) struct DiskHandle(Option<Arc<dyn Disk>>);

impl DiskHandle {
    pub(crate) const REAL: DiskHandle = DiskHandle(None);

    pub(crate) fn of(disk: Arc<dyn Disk>) -> Self {
        DiskHandle(Some(disk))
    }

    pub(crate) fn get(&self) -> Arc<dyn Disk> {
        self.0.clone().unwrap_or_else(|| Arc::new(RealDisk))
    }
}

/// The file system of the machine.
#[derive(Debug, Clone, Copy)]
pub struct RealDisk;

impl DiskFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }

    fn set_modified(&mut self, time: SystemTime) -> io::Result<()> {
        File::set_modified(self, time)
    }
}

impl Disk for RealDisk {
    fn syncs_on_threads(&self) -> bool {
        true
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(File::create_new(path)?))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        platform::sync_dir(path)
    }

    fn set_modified(&self, path: &Path, time: SystemTime) -> io::Result<()> {
        platform::set_directory_time(path, time)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        platform::rename_new(from, to)
    }

    fn link(&self, file: &Path, name: &Path) -> io::Result<()> {
        fs::hard_link(file, name)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        platform::exchange(one, other)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn node(&self, path: &Path) -> io::Result<Option<Node>> {
        let metadata = match fs::symlink_metadata(path) {
            // A name that is too long cannot exist.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
                ) =>
            {
                return Ok(None);
            }
            metadata => metadata?,
        };
        let kind = match metadata.file_type() {
            kind if kind.is_file() => NodeKind::File,
            kind if kind.is_dir() => NodeKind::Directory,
            _ => NodeKind::Other,
        };
        Ok(Some(Node { kind, modified: metadata.modified().ok() }))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = platform::open_regular(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if read as u64 > limit {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
        }
        Ok(bytes)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Lock> {
        let Some(file) = platform::open_for_lock(path)? else { return Ok(Lock::Unsupported) };
        match file.try_lock() {
            Ok(()) => Ok(Lock::Ours(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(Lock::Theirs),
            Err(TryLockError::Error(error)) => without_locks(error),
        }
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        let Some(file) = platform::open_for_lock(path)? else { return Ok(Lock::Unsupported) };
        loop {
            match file.lock() {
                Ok(()) => return Ok(Lock::Ours(Box::new(file))),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return without_locks(error),
            }
        }
    }

    fn trusted(&self, path: &Path) -> io::Result<bool> {
        platform::trusted(path)
    }
}

/// Returns [`Lock::Unsupported`] if that is what the error means: some file systems have no locks, or none for directories.
/// Any other error does not say whether the lock is held.
fn without_locks(error: io::Error) -> io::Result<Lock> {
    if platform::has_no_locks(&error) { Ok(Lock::Unsupported) } else { Err(error) }
}

/// Removes a directory and everything below it. Never follows links.
pub(crate) fn remove_tree(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.node(path)? {
        None => Ok(()),
        Some(Node { kind: NodeKind::Directory, .. }) => {
            for name in disk.names(path)? {
                remove_tree(disk, &path.join(name))?;
            }
            disk.remove_dir(path)
        }
        Some(_) => disk.remove_file(path),
    }
}

/// Whether `path` is an empty directory.
pub(crate) fn is_empty_dir(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    match disk.node(path)? {
        Some(Node { kind: NodeKind::Directory, .. }) => Ok(disk.names(path)?.is_empty()),
        _ => Ok(false),
    }
}
