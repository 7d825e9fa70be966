//! A disk in memory that tracks what is durable.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::tree::{Change, Content, Inode, Tree, Unsynced};
use super::{Disk, DiskFile, Guard, Lock, Node, NodeKind};

/// A file system in memory, on which nothing is durable before its file and its directory are synced.
///
/// [`MemoryDisk::after_stop`] covers everything that a real file system may do: each unsynced change of a name is kept or lost
/// independently, and unsynced bytes are lost, truncated, zeroed or kept.
#[derive(Debug, Clone)]
pub struct MemoryDisk {
    tree: Arc<Mutex<Tree>>,
    locked: Arc<Mutex<BTreeSet<Inode>>>,
    can_exchange: bool,
}

/// With more pending changes than this, not every subset of them is tested.
const EVERY_SUBSET: usize = 8;
/// The number of subsets that are tested instead, in addition to all prefixes and all subsets with one change missing.
const SOME_SUBSETS: u64 = 200;

impl MemoryDisk {
    /// Creates an empty disk. `can_exchange` says whether two names can be exchanged in one step.
    pub fn new(can_exchange: bool) -> Self {
        MemoryDisk::of(Tree::new(), can_exchange)
    }

    fn of(tree: Tree, can_exchange: bool) -> Self {
        MemoryDisk { tree: Arc::new(Mutex::new(tree)), locked: Arc::default(), can_exchange }
    }

    /// Returns a copy of the current state with everything durable and no locks held.
    pub fn settled(&self) -> MemoryDisk {
        let tree = self.tree();
        let all = (0..tree.pending.len()).collect();
        MemoryDisk::of(tree.after_stop(&all, Unsynced::Kept), self.can_exchange)
    }

    /// Returns the state after the process was killed while the machine kept running: nothing is lost, no locks are held.
    pub fn after_kill(&self) -> MemoryDisk {
        MemoryDisk::of(self.tree().clone(), self.can_exchange)
    }

    /// Returns every state in which a machine that stops now could be left: all subsets of the unsynced changes of names
    /// (or a fixed choice of subsets, if there are many), each with four outcomes for the unsynced bytes.
    pub fn after_stop(&self) -> Vec<MemoryDisk> {
        let tree = self.tree();
        let mut states = Vec::new();
        for kept in subsets(tree.pending.len()) {
            for unsynced in [Unsynced::Lost, Unsynced::Half, Unsynced::Zeros, Unsynced::Kept] {
                states.push(MemoryDisk::of(tree.after_stop(&kept, unsynced), self.can_exchange));
            }
        }
        states
    }

    /// Returns all files by path, with their bytes.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let tree = self.tree();
        let mut files = BTreeMap::new();
        let mut pending = vec![(String::new(), super::tree::TOP)];
        while let Some((path, inode)) = pending.pop() {
            match &tree.inodes[inode] {
                Content::File { now, .. } => drop(files.insert(path, now.clone())),
                Content::Directory { now, .. } => {
                    pending.extend(now.iter().map(|(name, inode)| (format!("{path}/{name}"), *inode)));
                }
            }
        }
        files
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_to(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()> {
        let mut tree = self.tree();
        let (from, to, inode) = (tree.locate(from)?, tree.locate(to)?, tree.find(from)?);
        if let Some(&there) = tree.entries(to.0)?.get(&to.1) {
            match (tree.is_directory(inode), tree.is_directory(there)) {
                _ if !replace => return Err(io::ErrorKind::AlreadyExists.into()),
                (false, true) => return Err(io::ErrorKind::IsADirectory.into()),
                (true, false) => return Err(io::ErrorKind::NotADirectory.into()),
                (true, true) if !tree.entries(there)?.is_empty() => {
                    return Err(io::ErrorKind::DirectoryNotEmpty.into());
                }
                _ => {}
            }
        }
        tree.change(Change::Move { from, to, inode });
        Ok(())
    }
}

fn subsets(count: usize) -> Vec<BTreeSet<usize>> {
    let chosen = |bits: u64| (0..count).filter(|index| bits >> (index % 64) & 1 == 1).collect::<BTreeSet<usize>>();
    if count <= EVERY_SUBSET {
        return (0..1 << count).map(chosen).collect();
    }
    let mut subsets: Vec<BTreeSet<usize>> = (0..=count).map(|end| (0..end).collect()).collect();
    subsets.extend((0..count).map(|left_out| (0..count).filter(|index| *index != left_out).collect()));
    // A fixed sequence of bits (SplitMix64), so that a failing test is reproducible.
    subsets.extend((0..SOME_SUBSETS).map(|seed| {
        let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        chosen(bits ^ (bits >> 31))
    }));
    subsets
}

impl Disk for MemoryDisk {
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut tree = self.tree();
        let (directory, name) = tree.locate(path)?;
        if tree.entries(directory)?.contains_key(&name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = tree.add(Content::File { now: Vec::new(), durable: Vec::new(), synced: false });
        tree.change(Change::Link { directory, name, inode });
        Ok(Box::new(MemoryFile { tree: Arc::clone(&self.tree), inode }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let (directory, name) = tree.locate(path)?;
        if tree.entries(directory)?.contains_key(&name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = tree.add(Content::Directory { now: BTreeMap::new(), durable: BTreeMap::new() });
        tree.change(Change::Link { directory, name, inode });
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let inode = tree.find(path)?;
        tree.sync_directory(inode);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.move_to(from, to, true)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.move_to(from, to, false)
    }

    /// Hard links are supported only together with exchanges: both are missing on the same systems.
    fn link(&self, file: &Path, name: &Path) -> io::Result<()> {
        if !self.can_exchange {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut tree = self.tree();
        let (inode, (directory, name)) = (tree.find(file)?, tree.locate(name)?);
        if tree.is_directory(inode) || tree.entries(directory)?.contains_key(&name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        tree.change(Change::Link { directory, name, inode });
        Ok(())
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        if !self.can_exchange {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut tree = self.tree();
        let inodes = (tree.find(one)?, tree.find(other)?);
        let (one, other) = (tree.locate(one)?, tree.locate(other)?);
        tree.change(Change::Exchange { one, other, inodes });
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let inode = tree.find(path)?;
        if tree.is_directory(inode) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (directory, name) = tree.locate(path)?;
        tree.change(Change::Unlink { directory, name, inode });
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let inode = tree.find(path)?;
        if !tree.entries(inode)?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        let (directory, name) = tree.locate(path)?;
        tree.change(Change::Unlink { directory, name, inode });
        Ok(())
    }

    fn node(&self, path: &Path) -> io::Result<Option<Node>> {
        let tree = self.tree();
        Ok(tree.find(path).ok().map(|inode| {
            let kind = if tree.is_directory(inode) { NodeKind::Directory } else { NodeKind::File };
            Node { kind, modified: None }
        }))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        let tree = self.tree();
        Ok(tree.entries(tree.find(path)?)?.keys().cloned().collect())
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let tree = self.tree();
        match &tree.inodes[tree.find(path)?] {
            Content::File { now, .. } if now.len() as u64 <= limit => Ok(now.clone()),
            Content::File { .. } => Err(io::ErrorKind::FileTooLarge.into()),
            Content::Directory { .. } => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn try_lock(&self, path: &Path) -> io::Result<Lock> {
        let inode = self.tree().find(path)?;
        let mut locked = self.locked.lock().unwrap_or_else(PoisonError::into_inner);
        if locked.insert(inode) {
            Ok(Lock::Ours(Box::new(MemoryLock { locked: Arc::clone(&self.locked), inode })))
        } else {
            Ok(Lock::Theirs)
        }
    }

    fn lock(&self, path: &Path) -> io::Result<Lock> {
        match self.try_lock(path)? {
            Lock::Theirs => Err(io::ErrorKind::WouldBlock.into()),
            lock => Ok(lock),
        }
    }

    fn trusted(&self, _path: &Path) -> io::Result<bool> {
        Ok(true)
    }
}

#[derive(Debug)]
struct MemoryLock {
    locked: Arc<Mutex<BTreeSet<Inode>>>,
    inode: Inode,
}

impl Guard for MemoryLock {}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.inode);
    }
}

struct MemoryFile {
    tree: Arc<Mutex<Tree>>,
    inode: Inode,
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        if let Content::File { now, synced, .. } = &mut tree.inodes[self.inode] {
            now.extend_from_slice(bytes);
            *synced = false;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for MemoryFile {
    fn sync(&mut self) -> io::Result<()> {
        let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        if let Content::File { now, durable, synced } = &mut tree.inodes[self.inode] {
            durable.clone_from(now);
            *synced = true;
        }
        Ok(())
    }
}
