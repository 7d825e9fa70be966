//! An implementation with the standard library only, including the races that cannot be avoided with it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::{Found, require_regular};

/// A directory below which names are resolved. Links are followed as long as they end below it. An attacker who changes
/// a link between the check and the opening can escape.
#[derive(Debug)]
pub(crate) struct Beneath {
    path: PathBuf,
}

impl Beneath {
    /// Opens a directory.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        fs::read_dir(&path)?;
        Ok(Beneath { path })
    }

    /// Opens the regular file `relative`, which was checked to be a plain relative name.
    pub(crate) fn file(&self, relative: &str) -> io::Result<File> {
        open_regular(&self.resolve(relative)?)
    }

    /// Lists the directory `relative` (empty for the top), in no particular order. The list omits links that leave the
    /// directory.
    pub(crate) fn list(&self, relative: &str) -> io::Result<Vec<(String, Found)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.resolve(relative)?)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let below = if relative.is_empty() { name.clone() } else { format!("{relative}/{name}") };
            let is_link = entry.file_type()?.is_symlink();
            let metadata = match self.resolve(&below).and_then(fs::metadata) {
                Ok(metadata) => metadata,
                Err(_) if is_link => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if metadata.is_file() || (metadata.is_dir() && !is_link) {
                let is_dir = metadata.is_dir();
                found.push((name, Found { is_dir, size: if is_dir { 0 } else { metadata.len() } }));
            }
        }
        Ok(found)
    }

    fn resolve(&self, relative: &str) -> io::Result<PathBuf> {
        let path = fs::canonicalize(self.path.join(relative))?;
        if path.starts_with(&self.path) {
            Ok(path)
        } else {
            Err(io::Error::new(io::ErrorKind::CrossesDevices, "the name leaves its directory through a link"))
        }
    }
}

/// Opens a regular file for reading.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    // Check before opening, because opening a pipe waits for a writer.
    if !fs::metadata(path)?.is_file() && !fs::metadata(path)?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a file, found a device or a pipe"));
    }
    require_regular(OpenOptions::new().read(true).open(path)?)
}

/// Releases a part of a file: not supported here.
pub(crate) fn punch(_file: &File, _offset: u64, _length: u64) -> io::Result<bool> {
    Ok(false)
}

/// Reads into `buffer` at `offset`. May read less; 0 means the end of the file.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Makes the names in a directory durable. Does nothing here: the file system is trusted to keep the order of changes.
pub(crate) fn sync_dir(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Opens a file to lock it; returns `None` for a directory, which cannot be opened.
pub(crate) fn open_for_lock(path: &Path) -> io::Result<Option<File>> {
    if fs::metadata(path)?.is_dir() { Ok(None) } else { File::open(path).map(Some) }
}

/// Whether the error means that locks are not supported.
pub(crate) fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// Whether a record of unfinished work may be performed.
pub(crate) fn trusted(_record: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Whether an open file or directory is still the one at `path`, as far as can be determined.
pub(crate) fn is_at(_file: &File, path: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path).is_ok())
}

/// Renames `from` to `to`, which must not exist. For a file it uses a hard link, whose creation fails everywhere if the
/// name exists. Where there are no hard links, a file that another writer creates between the check and the rename is
/// overwritten.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Exchanging two names in one step is not supported here.
pub(crate) fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_resolved_below_the_directory_only() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("root");
        fs::create_dir_all(root.join("dir")).unwrap();
        fs::write(root.join("dir/inside"), "x").unwrap();
        fs::write(home.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink("dir/inside", root.join("good")).unwrap();
        std::os::unix::fs::symlink("../secret", root.join("up")).unwrap();
        let beneath = Beneath::open(&root).unwrap();
        assert!(beneath.file("good").is_ok());
        assert_eq!(beneath.file("up").unwrap_err().kind(), io::ErrorKind::CrossesDevices);
        let mut found = beneath.list("").unwrap();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let expected = [("dir", Found { is_dir: true, size: 0 }), ("good", Found { is_dir: false, size: 1 })];
        assert_eq!(found, expected.map(|(name, found)| (name.to_owned(), found)));
        assert!(open_regular(Path::new("/dev/null")).is_err());
    }

    #[test]
    fn a_new_name_never_replaces() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("from"), home.path().join("to"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        assert_eq!(rename_new(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).unwrap(), b"old");
        fs::remove_file(&to).unwrap();
        rename_new(&from, &to).unwrap();
        assert!(!from.exists() && fs::read(&to).unwrap() == b"new");
    }
}
