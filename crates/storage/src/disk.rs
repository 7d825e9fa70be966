//! What a writer asks of a file system: the seam at which tests inject faults.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::platform;

/// A file system, as the publish protocol uses it. Every call is one step that can fail, and after which the machine
/// can stop.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Creates a file that did not exist.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Creates a directory that did not exist, in one that does.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Renames a file, replacing a file; or a directory, replacing an empty one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames a file to a name that does not exist.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, which does not exist; any error where files have one name only.
    fn link(&self, _file: &Path, _name: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Lets two names change places in one step; [`io::ErrorKind::Unsupported`] where that cannot be done.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// What is at `path`, without following links; nothing if there is nothing.
    fn node(&self, path: &Path) -> io::Result<Option<Node>>;
    /// The path without links.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// The names in a directory.
    fn names(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Reads a whole file of at most `limit` bytes.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;
    /// Takes the lock of a file or directory if nobody has it. It is given back when dropped, and when the process ends
    /// in whatever way.
    fn try_lock(&self, path: &Path) -> io::Result<Lock>;
    /// Waits for the lock of a file.
    fn lock(&self, path: &Path) -> io::Result<Lock>;
    /// Gives a directory a time of its last change, where the system can do that.
    fn set_modified(&self, _path: &Path, _time: SystemTime) -> io::Result<()> {
        Ok(())
    }
    /// Whether files may be synced on other threads than those that wrote them, in no order: not where every step counts.
    fn syncs_on_threads(&self) -> bool {
        false
    }
    /// Whether a record of unfinished work may be acted on, or might have been put there by another user.
    fn trusted(&self, path: &Path) -> io::Result<bool>;
}

/// A file being written.
pub trait DiskFile: Write + Send {
    /// Makes what was written durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Gives it a time of its last change.
    fn set_modified(&mut self, _time: SystemTime) -> io::Result<()> {
        Ok(())
    }
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Which sort of thing.
    pub kind: NodeKind,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
}

/// Which sort of thing is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link, a device, a pipe.
    Other,
}

/// The outcome of asking for a lock.
#[derive(Debug)]
pub enum Lock {
    /// It is ours until this is dropped.
    Ours(Box<dyn Guard>),
    /// Somebody alive has it.
    Theirs,
    /// There are no locks here.
    Unsupported,
}

/// Holds a lock.
pub trait Guard: Send + Sync + fmt::Debug {}

impl Guard for File {}

/// The disk that a [`Location`](crate::Location) writes to: the real one unless a test set another.
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
            // A name that is too long to exist does not.
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
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {limit} bytes")));
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

/// That there are no locks, if that is what the error says: some file systems have none, or none for directories. Any other
/// error leaves open whether somebody has the lock.
fn without_locks(error: io::Error) -> io::Result<Lock> {
    if platform::has_no_locks(&error) { Ok(Lock::Unsupported) } else { Err(error) }
}

/// Removes a directory and everything below it, never following a link.
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

/// Whether `path` is a directory with nothing in it.
pub(crate) fn is_empty_dir(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    match disk.node(path)? {
        Some(Node { kind: NodeKind::Directory, .. }) => Ok(disk.names(path)?.is_empty()),
        _ => Ok(false),
    }
}
