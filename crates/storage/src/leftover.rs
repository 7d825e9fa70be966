//! Finds and removes the leftovers of killed runs, but never files of a running writer.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use crate::disk::{Disk, Lock, NodeKind, remove_tree};
use crate::{limits, unique};

/// The time after which the work of a writer on another machine, whose lock cannot be seen, counts as abandoned.
const ABANDONED: Duration = Duration::from_secs(7 * 24 * 3600);

/// The name pattern of a directory for unfinished output, before and after the unique part.
#[derive(Debug, Clone)]
pub(crate) struct AsideName {
    prefix: String,
    suffix: &'static str,
}

impl AsideName {
    /// `.<name>.<unique>.tmp`, next to the destination. A name that is too long for that is truncated and extended by its hash.
    pub(crate) fn beside(name: &str) -> Self {
        AsideName { prefix: format!(".{}.", shortened(name)), suffix: ".tmp" }
    }

    /// `redo-<unique>`, in the `_isomorph` directory of a dataset.
    pub(crate) fn within() -> Self {
        AsideName { prefix: "redo-".to_owned(), suffix: "" }
    }

    /// Returns a unique name of this pattern.
    pub(crate) fn fresh(&self) -> String {
        format!("{}{}{}", self.prefix, unique::fresh(), self.suffix)
    }

    fn maker(&self, name: &str) -> Option<unique::Maker> {
        unique::Maker::parse(name.strip_prefix(&self.prefix)?.strip_suffix(self.suffix)?)
    }

    /// Whether `name` has this pattern.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.maker(name).is_some()
    }
}

/// Shortens `name` so that it fits into a longer file name.
pub(crate) fn shortened(name: &str) -> String {
    const ROOM: usize = limits::NAME_BYTES - 64;
    if name.len() <= ROOM {
        return name.to_owned();
    }
    let cut = name.floor_char_boundary(ROOM - 17);
    format!("{}~{}", &name[..cut], &blake3::hash(name.as_bytes()).to_hex()[..16])
}

/// A directory for unfinished output, which is locked until this is dropped.
#[derive(Debug)]
pub(crate) struct Aside {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    keep: AtomicBool,
    _lock: Lock,
}

impl Aside {
    /// Creates one in `parent`, after removing what killed runs left there under such names.
    pub(crate) fn create(disk: &Arc<dyn Disk>, parent: &Path, name: &AsideName) -> io::Result<Self> {
        remove_leftovers(&**disk, parent, name)?;
        loop {
            let path = parent.join(name.fresh());
            disk.create_dir(&path)?;
            // Between creating and locking it, another writer may have removed it as a leftover.
            let lock = match disk.try_lock(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock?,
            };
            if !matches!(lock, Lock::Theirs) && disk.node(&path)?.is_some() {
                return Ok(Aside { disk: Arc::clone(disk), path, keep: AtomicBool::new(false), _lock: lock });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets whether the directory stays when this is dropped.
    pub(crate) fn keep(&self, keep: bool) {
        self.keep.store(keep, Ordering::Relaxed);
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.keep.load(Ordering::Relaxed) {
            return;
        }
        // If the directory cannot be removed now, the next writer removes it.
        let _ = remove_tree(&*self.disk, &self.path);
    }
}

/// Removes leftovers of killed runs in `parent` with names of this pattern.
pub(crate) fn remove_leftovers(disk: &dyn Disk, parent: &Path, name: &AsideName) -> io::Result<()> {
    for found in disk.names(parent)? {
        let Some(maker) = name.maker(&found) else { continue };
        let path = parent.join(&found);
        let Some(node) = disk.node(&path)?.filter(|node| node.kind == NodeKind::Directory) else { continue };
        let old = || {
            let age = node.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
            age.is_some_and(|age| age > ABANDONED)
        };
        // A lock that we get is held until the directory is removed, so that no other process starts to use it.
        let (dead, _lock) = match disk.try_lock(&path) {
            // It is gone or belongs to another user, so it may be in use.
            Ok(Lock::Theirs) | Err(_) => (false, Lock::Theirs),
            Ok(Lock::Ours(guard)) => (maker.is_ours() || old(), Lock::Ours(guard)),
            Ok(Lock::Unsupported) => (maker.is_before_boot() || old(), Lock::Unsupported),
        };
        if dead {
            // Another writer may be removing it at the same time; whatever stays will be found again.
            let _ = remove_tree(disk, &path);
        }
    }
    Ok(())
}
