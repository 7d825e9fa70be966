//! Writing changed files: into the directory, together, or into an archive, which is replaced completely.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Blob, Fingerprint, Location, Mode, Redo, Root, Scratch, ScratchFile, Staging};

use super::sums::Sums;
use crate::checksum;
use crate::layout::{Words, file};
use crate::members::{Archive, Members, PART_SUFFIX};
use crate::write::output::{EMPTY, Member};
use crate::write::{WriteOptions, tar, zip};

/// What a change has written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wrote {
    pub files: u64,
    pub bytes: u64,
}

/// The destination of a change.
pub(crate) struct Target {
    how: How,
    /// Checksums, if the graph has any.
    sums: Option<Sums>,
    /// Names of the files that are written.
    written: BTreeSet<String>,
    removed: BTreeSet<String>,
}

enum How {
    Directory { redo: Redo, can_nest: bool },
    Archive { kind: Archive, staging: Staging, scratch: Scratch, waiting: BTreeMap<String, ScratchFile> },
}

impl Target {
    /// Begins a change of the graph at `location`, whose files are `members`; `checksum` is the one in its manifest,
    /// if any.
    ///
    /// # Errors
    /// Returns an error if the location is not writable, or the checksum cannot be updated.
    pub fn begin(
        location: &Location,
        members: &Members,
        checksum: Option<&str>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let sums = Sums::of(members, checksum)?;
        let how = match members.archive() {
            None => {
                let redo = Redo::begin(&Root::open(location)?)?;
                How::Directory { redo, can_nest: location.is_local() }
            }
            Some(kind) => How::Archive {
                kind,
                staging: Staging::file(location, Mode::Replace)?,
                scratch: options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?,
                waiting: BTreeMap::new(),
            },
        };
        Ok(Target { how, sums, written: BTreeSet::new(), removed: BTreeSet::new() })
    }

    /// Returns whether a table can become a directory of files.
    pub fn can_nest(&self) -> bool {
        matches!(self.how, How::Directory { can_nest: true, .. })
    }

    /// Returns whether everything is rewritten.
    pub fn is_archive(&self) -> bool {
        matches!(self.how, How::Archive { .. })
    }

    /// Begins a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn create(&self, name: &str) -> Result<Member> {
        let file = match &self.how {
            How::Directory { redo, .. } => Member::Staged(Box::new(redo.create(name)?)),
            How::Archive { scratch, .. } => Member::Waiting(scratch.create()?),
        };
        Ok(if self.sums.is_some() { file.hashed() } else { file })
    }

    /// Completes a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn finish(&mut self, name: &str, file: Member) -> Result<()> {
        match (file, &mut self.how) {
            (Member::Staged(file), _) => drop(file.finish()?),
            (Member::Waiting(file), How::Archive { waiting, .. }) => drop(waiting.insert(name.to_owned(), file)),
            (Member::Hashed(file, hasher), _) => {
                if let Some(sums) = &mut self.sums {
                    sums.put(name, checksum::hex(*hasher));
                }
                return self.finish(name, *file);
            }
            (Member::Waiting(_), How::Directory { .. }) => {
                return Err(Error::usage("the file was begun for an archive").at(Place::file(name)));
            }
        }
        self.written.insert(name.to_owned());
        Ok(())
    }

    /// Makes the change conditional on this file being unchanged, if the store supports it.
    ///
    /// # Errors
    /// Returns an error if the name leaves the root.
    pub fn expect(&self, name: &str, fingerprint: &Fingerprint) -> Result<()> {
        match &self.how {
            How::Directory { redo, .. } => redo.expect(name, fingerprint),
            How::Archive { .. } => Ok(()),
        }
    }

    /// Writes a small file.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn put(&mut self, name: &str, text: &str) -> Result<()> {
        let mut file = self.create(name)?;
        file.write_all(text.as_bytes()).map_err(|error| Error::from(error).at(Place::file(name)))?;
        self.finish(name, file)
    }

    /// Copies a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or written.
    pub fn copy(&mut self, name: &str, from: &Blob) -> Result<()> {
        let mut file = self.create(name)?;
        std::io::copy(&mut from.reader(), &mut file).map_err(|error| Error::from(error).at(Place::file(name)))?;
        self.finish(name, file)
    }

    /// Writes the checksums of all files, if the graph has any, and returns the value for the manifest. Only the
    /// manifest may be written after this.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn put_checksums(&mut self) -> Result<Option<String>> {
        let Some((list, stated)) = self.sums.as_ref().map(Sums::finish) else { return Ok(None) };
        self.put(file::CHECKSUMS, &list)?;
        Ok(Some(stated))
    }

    /// Turns a table into a directory of files, in which its current file is called `first`.
    ///
    /// # Errors
    /// Returns an error if it cannot be turned into one.
    pub fn nest(&mut self, name: &str, first: &str) -> Result<()> {
        if let Some(sums) = &mut self.sums {
            sums.rename(name, format!("{name}/{first}"));
        }
        match &self.how {
            How::Directory { redo, .. } => redo.nest(name, first),
            How::Archive { .. } => Err(Error::usage("tables in archives must be single files").at(Place::file(name))),
        }
    }

    /// Removes a file, or a directory with its contents.
    ///
    /// # Errors
    /// Returns an error if the name leaves the root.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        self.removed.insert(name.to_owned());
        if let Some(sums) = &mut self.sums {
            sums.remove(name);
        }
        match &self.how {
            How::Directory { redo, .. } => redo.remove(name),
            How::Archive { .. } => Ok(()),
        }
    }

    /// Makes the change. Its steps are ordered so that a reader that does not know about them is affected least:
    /// entities and members before the edges that name them, slices before their members, the manifest last.
    ///
    /// # Errors
    /// Returns an error if the change fails: either nothing has changed, or the change is recorded and the next opening
    /// completes it.
    pub fn commit(self, members: &Members, words: &Words) -> Result<Wrote> {
        let order = order(words);
        let rank = |name: &String| {
            order.iter().position(|own| name == own || name.strip_prefix(own).is_some_and(|rest| rest.starts_with('/')))
        };
        match self.how {
            How::Directory { redo, .. } => {
                let mut names: Vec<&String> = self.written.iter().collect();
                names.sort_by_key(|name| (**name == file::MANIFEST, rank(name).unwrap_or(order.len())));
                let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
                let changed = redo.commit(&names)?;
                Ok(Wrote { files: changed.files, bytes: changed.bytes })
            }
            How::Archive { kind, staging, scratch, mut waiting } => {
                let covered = |name: &str| {
                    let parent = name.ends_with(PART_SUFFIX).then(|| name.rsplit_once('/').map(|(parent, _)| parent));
                    let parent = parent.flatten().is_some_and(|parent| self.written.contains(parent));
                    let below = |path: &String| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
                    parent || self.removed.contains(name) || self.removed.iter().any(below)
                };
                let kept = members.list()?.into_iter().map(|(name, _)| name);
                let kept: Vec<String> = kept.filter(|name| !self.written.contains(name) && !covered(name)).collect();
                for name in kept {
                    let mut copy = scratch.create()?;
                    std::io::copy(&mut members.file(&name)?.reader(), &mut copy)
                        .map_err(|error| Error::from(error).at(Place::file(&name)))?;
                    waiting.insert(name, copy);
                }
                let name = staging.destination().file_name().to_owned();
                let mut folders: BTreeSet<String> = members.empty_folders()?.into_iter().collect();
                folders.extend(EMPTY.map(str::to_owned));
                let file = staging.create(&name)?;
                let files: Vec<(String, ScratchFile)> = waiting.into_iter().collect();
                let bytes = match kind {
                    Archive::Zip => zip::write(file, &name, &folders, &files)?,
                    Archive::Tar => tar::write(file, &name, &folders, &files)?,
                };
                staging.commit(&[])?;
                Ok(Wrote { files: 1, bytes })
            }
        }
    }
}

/// Returns the files of a change, in the order in which they become visible.
fn order(words: &Words) -> [&'static str; 25] {
    [
        file::LAYER_DICT,
        file::ENTITY_INDEX,
        file::IDX_TO_ENTITY,
        file::ENTITY_TYPES,
        file::ENTITY_TO_IDX,
        words.node_table,
        words.presence,
        file::REGISTRY,
        words.memberships,
        file::HYPEREDGES,
        file::COEFFICIENTS,
        file::IDX_TO_EDGE,
        file::EDGE_TO_IDX,
        file::EDGE_KIND,
        file::EDGE_DIRECTED,
        file::EDGE_WEIGHTS,
        file::EDGE_LAYERS,
        file::EDGE_DEFINITIONS,
        file::EDGES,
        words.edge_table,
        file::INCIDENCE,
        file::EDGE_MEMBERSHIPS,
        file::EDGE_SLICE_ATTRIBUTES,
        file::HISTORY,
        file::CHECKSUMS,
    ]
}
