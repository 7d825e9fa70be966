//! Temporary folders of targets.

use std::path::Path;

use isomorph::storage::Resources;
use isomorph::storage::{Budget, Scratch};
use tempfile::TempDir;

/// A new folder; in memory if the system supports it, because durability is not tested here.
pub(crate) fn home() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a place for temporary files")
}

/// One thread and little memory.
pub(crate) fn resources(home: &Path) -> Resources {
    let scratch = Scratch::new(Some(home)).expect("a place for temporary files");
    Resources { threads: 1, budget: Budget::new(64 << 20), scratch }
}
