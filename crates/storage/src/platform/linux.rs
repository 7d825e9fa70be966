//! Opens files below a directory with the kernel's help, so that neither links nor races lead out of it.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FallocateFlags, FileType, Mode, OFlags, ResolveFlags, fallocate, fstat, open, openat, openat2,
    statat,
};
use rustix::io::Errno;

use super::{Found, portable, require_regular};

/// Flags for files: opening a pipe must not block, and a terminal must not become the controlling terminal.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// A directory below which names are resolved. Links are followed as long as they stay below it.
#[derive(Debug)]
pub(crate) struct Beneath {
    directory: OwnedFd,
    /// For kernels and sandboxes without `openat2`.
    fallback: Option<portable::Beneath>,
}

impl Beneath {
    /// Opens a directory.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let directory = open(path, DIRECTORY, Mode::empty())?;
        let fallback = match openat2(&directory, c".", DIRECTORY, Mode::empty(), INSIDE) {
            Err(Errno::NOSYS | Errno::PERM) => Some(portable::Beneath::open(path)?),
            _ => None,
        };
        Ok(Beneath { directory, fallback })
    }

    /// Opens the regular file `relative`, which was checked to be a plain relative name.
    pub(crate) fn file(&self, relative: &str) -> io::Result<File> {
        if let Some(fallback) = &self.fallback {
            return fallback.file(relative);
        }
        require_regular(File::from(self.open_below(relative, FILE)?))
    }

    /// Lists the directory `relative` (empty for the top), in no particular order. The list omits links that leave the
    /// directory, links to directories, devices, and names that are not UTF-8.
    pub(crate) fn list(&self, relative: &str) -> io::Result<Vec<(String, Found)>> {
        if let Some(fallback) = &self.fallback {
            return fallback.list(relative);
        }
        let directory = if relative.is_empty() {
            openat(&self.directory, c".", DIRECTORY, Mode::empty())?
        } else {
            self.open_below(relative, DIRECTORY)?
        };
        let mut found = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            let stat = match statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                // It was removed in the meantime.
                Err(Errno::NOENT) => continue,
                stat => stat?,
            };
            let (kind, size) = match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => {
                    let below = if relative.is_empty() { name.to_owned() } else { format!("{relative}/{name}") };
                    let target = self.open_below(&below, OFlags::PATH | OFlags::CLOEXEC).and_then(|fd| Ok(fstat(fd)?));
                    match target.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat.st_size)) {
                        Ok((FileType::RegularFile, size)) => (FileType::RegularFile, size),
                        _ => continue,
                    }
                }
                kind => (kind, stat.st_size),
            };
            let size = u64::try_from(size).unwrap_or_default();
            match kind {
                FileType::RegularFile => found.push((name.to_owned(), Found { is_dir: false, size })),
                FileType::Directory => found.push((name.to_owned(), Found { is_dir: true, size: 0 })),
                _ => {}
            }
        }
        Ok(found)
    }

    fn open_below(&self, relative: &str, flags: OFlags) -> io::Result<OwnedFd> {
        loop {
            match openat2(&self.directory, relative, flags, Mode::empty(), INSIDE) {
                // The kernel noticed a rename and cannot tell whether the name stayed inside.
                Err(Errno::AGAIN | Errno::INTR) => {}
                opened => return Ok(opened?),
            }
        }
    }
}

/// Opens a regular file for reading.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    require_regular(File::from(openat(CWD, path, FILE, Mode::empty())?))
}

/// Releases `length` bytes of a file at `offset`, which read as zeros from now on; returns false
/// if the file system cannot do that.
pub(crate) fn punch(file: &File, offset: u64, length: u64) -> io::Result<bool> {
    match fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length) {
        Ok(()) => Ok(true),
        Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
