//! An implementation for all Unix systems.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// Reads into `buffer` at `offset` without moving a shared cursor. May read less; 0 means the end of the file.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Opens a file or directory to lock it; returns `None` where directories cannot be opened.
pub(crate) fn open_for_lock(path: &Path) -> io::Result<Option<File>> {
    File::open(path).map(Some)
}

/// Whether the error means that locks are not supported. Network file systems lock only what is open for writing,
/// which directories never are, and report a bad descriptor.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let no_locks = [Errno::NOSYS, Errno::INVAL, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::BADF];
    error.kind() == io::ErrorKind::Unsupported
        || Errno::from_io_error(error).is_some_and(|errno| no_locks.contains(&errno))
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Whether a record of unfinished work may be performed: in a directory that everybody can write to, only if it is our own.
pub(crate) fn trusted(record: &Path) -> io::Result<bool> {
    let everybody_writes = fs::metadata(super::parent_of(record))?.mode() & 0o002 != 0;
    Ok(!everybody_writes || fs::symlink_metadata(record)?.uid() == rustix::process::geteuid().as_raw())
}

/// Whether an open file or directory is still the one at `path`.
pub(crate) fn is_at(file: &fs::File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Renames `from` to `to`, which must not exist.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => super::portable::rename_new(from, to),
        done => Ok(done?),
    }
}

/// Exchanges two existing names in one step.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`] if the file system cannot do that.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => Err(io::ErrorKind::Unsupported.into()),
        done => Ok(done?),
    }
}
