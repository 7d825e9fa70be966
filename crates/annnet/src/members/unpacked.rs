//! The contents of an archive: checked names and bounded sizes, in memory or in temporary files.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Read, Write};

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Blob, Budget, Reservation, Scratch, ScratchFile, check_relative, limits};

use crate::{OpenOptions, rules};

/// Members of at most this many bytes stay in memory if the budget allows it.
const IN_MEMORY: u64 = 8 << 20;
/// Number of bytes to which any archive may expand, whatever its size.
const SLACK: u64 = 16 << 20;

/// The files of an archive by their names below its top-level directory, and the memory or files that hold them.
#[derive(Debug)]
pub(crate) struct Unpacked {
    pub files: BTreeMap<String, Blob>,
    /// Directories that the archive names, sorted.
    pub folders: BTreeSet<String>,
    _memory: Reservation,
    _scratch: Vec<ScratchFile>,
}

/// An archive that is being unpacked.
pub(super) struct Unpacking {
    files: BTreeMap<String, Blob>,
    /// Names in lower case, because some file systems are case-insensitive.
    names: HashSet<String>,
    tops: BTreeSet<String>,
    folders: BTreeSet<String>,
    /// Bytes that may still be unpacked.
    left: u64,
    budget: Budget,
    memory: Reservation,
    temporary: Option<Scratch>,
    scratch: Vec<ScratchFile>,
}

/// Returns the error for an archive that must not be unpacked.
pub(super) fn refused(why: impl Into<String>, member: &str) -> Error {
    let shown: String = member.chars().take(80).collect();
    Error::broken(&rules::ARCHIVE, why).at(Place::file(shown))
}

impl Unpacking {
    /// Begins an archive of `bytes` bytes.
    ///
    /// # Errors
    /// Never fails in practice.
    pub fn new(bytes: u64, options: &OpenOptions) -> Result<Unpacking> {
        Ok(Unpacking {
            files: BTreeMap::new(),
            names: HashSet::new(),
            tops: BTreeSet::new(),
            folders: BTreeSet::new(),
            left: bytes.saturating_mul(limits::ZIP_RATIO).saturating_add(SLACK),
            memory: options.budget.reserve(0)?,
            budget: options.budget.clone(),
            temporary: options.scratch.clone(),
            scratch: Vec::new(),
        })
    }

    /// Checks the name of a member, which ends in `/` if it is a directory. Returns whether the member is to be
    /// unpacked: members next to the top-level directory are not.
    ///
    /// # Errors
    /// Returns an error if the name is not allowed.
    pub fn begin(&mut self, name: &str) -> Result<bool> {
        if self.names.len() >= limits::ZIP_MEMBERS {
            return Err(refused("the archive has more than 100,000 members", name));
        }
        let (path, is_directory) = name.strip_suffix('/').map_or((name, false), |path| (path, true));
        check_relative(path).map_err(|error| refused(error.message(), name))?;
        if !self.names.insert(path.to_lowercase()) {
            return Err(refused("two members have the same name, or names that differ only in case", name));
        }
        let (top, below) = path.split_once('/').map_or((path, false), |(top, _)| (top, true));
        if is_directory || below {
            self.tops.insert(top.to_owned());
        }
        if is_directory {
            self.folders.insert(path.to_owned());
        }
        if self.tops.len() > 1 {
            return Err(refused("the archive has more than one top-level directory", name));
        }
        Ok(below && !is_directory)
    }

    /// Unpacks a member of exactly `size` bytes.
    ///
    /// # Errors
    /// Returns an error if it has another size, or the archive expands too much.
    pub fn add(&mut self, name: &str, size: u64, from: &mut dyn Read) -> Result<()> {
        self.left = self.left.checked_sub(size).ok_or_else(|| {
            refused("the archive expands to more than 200 times its size", name).of_kind(Kind::TooLarge)
        })?;
        let failed = |error: io::Error| refused(format!("cannot unpack this member: {error}"), name);
        let mut from = from.take(size.saturating_add(1));
        let fits = size <= IN_MEMORY && self.memory.bytes() + size <= self.budget.limit() / 4;
        let (blob, found) = if fits && self.memory.try_grow(size) {
            // Memory for a claimed size is not reserved in advance.
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).map_err(failed)?;
            let found = bytes.len() as u64;
            (Blob::from_bytes(name, &Bytes::from(bytes)), found)
        } else {
            if self.temporary.is_none() {
                self.temporary = Some(Scratch::new(None)?);
            }
            let Some(scratch) = &self.temporary else {
                return Err(Error::usage("temporary files cannot be created"));
            };
            let mut file = scratch.create()?;
            let mut buffer = vec![0; 1 << 16];
            loop {
                let read = from.read(&mut buffer).map_err(failed)?;
                if read == 0 {
                    break;
                }
                file.write_all(&buffer[..read]).map_err(|error| Error::from(error).at(Place::file(name)))?;
            }
            let blob = file.blob()?;
            let found = file.size();
            self.scratch.push(file);
            (blob, found)
        };
        if found != size {
            return Err(refused(format!("the unpacked member does not have the stated size of {size} bytes"), name));
        }
        self.files.insert(name.to_owned(), blob);
        Ok(())
    }

    /// Returns the unpacked files.
    ///
    /// # Errors
    /// Returns an error if the archive has no top-level directory.
    pub fn finish(self) -> Result<Unpacked> {
        let Some(top) = self.tops.iter().next() else {
            return Err(refused("the archive has no top-level directory", ""));
        };
        let below = |name: String| name.get(top.len() + 1..).map(str::to_owned);
        let files = self.files.into_iter().filter_map(|(name, blob)| Some((below(name)?, blob))).collect();
        let folders = self.folders.into_iter().filter_map(below).collect();
        Ok(Unpacked { files, folders, _memory: self.memory, _scratch: self.scratch })
    }
}
