//! The names and bytes of a file system in memory, and which of them are durable.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path};

/// The number of a file or directory, independent of its name.
pub(super) type Inode = usize;

/// The root directory.
pub(super) const TOP: Inode = 0;

#[derive(Debug, Clone)]
pub(super) enum Content {
    File { now: Vec<u8>, durable: Vec<u8>, synced: bool },
    Directory { now: BTreeMap<String, Inode>, durable: BTreeMap<String, Inode> },
}

/// A change of names that is not durable yet. It becomes durable as a whole.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Link { directory: Inode, name: String, inode: Inode },
    Unlink { directory: Inode, name: String, inode: Inode },
    Move { from: (Inode, String), to: (Inode, String), inode: Inode },
    Exchange { one: (Inode, String), other: (Inode, String), inodes: (Inode, Inode) },
}

/// What remains of unsynced bytes after the machine stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsynced {
    Lost,
    Half,
    Zeros,
    Kept,
}

#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) inodes: Vec<Content>,
    pub(super) pending: Vec<Change>,
}

impl Tree {
    pub(super) fn new() -> Self {
        Tree {
            inodes: vec![Content::Directory { now: BTreeMap::new(), durable: BTreeMap::new() }],
            pending: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, content: Content) -> Inode {
        self.inodes.push(content);
        self.inodes.len() - 1
    }

    /// Returns the directory that contains the last component of `path`, and that component.
    pub(super) fn locate(&self, path: &Path) -> io::Result<(Inode, String)> {
        let mut names: Vec<String> = path
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
        let mut directory = TOP;
        for name in &names {
            directory = *self.entries(directory)?.get(name).ok_or(io::ErrorKind::NotFound)?;
        }
        self.entries(directory)?;
        Ok((directory, last))
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<Inode> {
        if path.components().all(|component| !matches!(component, Component::Normal(_))) {
            return Ok(TOP);
        }
        let (directory, name) = self.locate(path)?;
        Ok(*self.entries(directory)?.get(&name).ok_or(io::ErrorKind::NotFound)?)
    }

    pub(super) fn entries(&self, inode: Inode) -> io::Result<&BTreeMap<String, Inode>> {
        match &self.inodes[inode] {
            Content::Directory { now, .. } => Ok(now),
            Content::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn is_directory(&self, inode: Inode) -> bool {
        matches!(self.inodes[inode], Content::Directory { .. })
    }

    /// Performs a change of names, which is visible now and durable later.
    pub(super) fn change(&mut self, change: Change) {
        self.perform(&change, false);
        self.pending.push(change);
    }

    fn perform(&mut self, change: &Change, durably: bool) {
        match change {
            Change::Link { directory, name, inode } => self.link(*directory, name, *inode, durably),
            Change::Unlink { directory, name, inode } => self.unlink(*directory, name, *inode, durably),
            Change::Move { from, to, inode } => {
                self.unlink(from.0, &from.1, *inode, durably);
                self.link(to.0, &to.1, *inode, durably);
            }
            Change::Exchange { one, other, inodes } => {
                self.link(one.0, &one.1, inodes.1, durably);
                self.link(other.0, &other.1, inodes.0, durably);
            }
        }
    }

    fn link(&mut self, directory: Inode, name: &str, inode: Inode, durably: bool) {
        if let Some(entries) = self.entries_mut(directory, durably) {
            entries.insert(name.to_owned(), inode);
        }
    }

    /// Removes a name, unless it refers to something else by now: changes of the same name keep their order.
    fn unlink(&mut self, directory: Inode, name: &str, inode: Inode, durably: bool) {
        match self.entries_mut(directory, durably) {
            Some(entries) if entries.get(name) == Some(&inode) => drop(entries.remove(name)),
            _ => {}
        }
    }

    fn entries_mut(&mut self, directory: Inode, durably: bool) -> Option<&mut BTreeMap<String, Inode>> {
        match &mut self.inodes[directory] {
            Content::Directory { now, durable } => Some(if durably { durable } else { now }),
            Content::File { .. } => None,
        }
    }

    /// Makes the changes of names in `directory` durable. A move *out of* it becomes durable only with the directory
    /// to which the file was moved.
    pub(super) fn sync_directory(&mut self, directory: Inode) {
        let (durable, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|change| change.is_made_durable_by(directory));
        self.pending = pending;
        let durable: Vec<Change> = durable;
        for change in &durable {
            self.perform(change, true);
        }
    }

    /// Returns the state after the machine stops now, if the pending changes in `kept` had reached the disk.
    pub(super) fn after_stop(&self, kept: &BTreeSet<usize>, unsynced: Unsynced) -> Tree {
        let mut after = self.clone();
        after.pending.clear();
        for (_, change) in self.pending.iter().enumerate().filter(|(index, _)| kept.contains(index)) {
            after.perform(change, true);
        }
        for content in &mut after.inodes {
            match content {
                Content::Directory { now, durable } => *now = durable.clone(),
                Content::File { now, durable, synced } => {
                    if !*synced {
                        match unsynced {
                            Unsynced::Lost => *now = durable.clone(),
                            Unsynced::Half => now.truncate(now.len() / 2),
                            Unsynced::Zeros => now.fill(0),
                            Unsynced::Kept => {}
                        }
                    }
                    *durable = now.clone();
                    *synced = true;
                }
            }
        }
        after
    }
}

impl Change {
    fn is_made_durable_by(&self, synced: Inode) -> bool {
        match self {
            Change::Link { directory, .. } | Change::Unlink { directory, .. } => *directory == synced,
            Change::Move { to, .. } => to.0 == synced,
            Change::Exchange { one, other, .. } => one.0 == synced || other.0 == synced,
        }
    }
}
