//! The temporary folder of running tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::Workspace;

/// The variable of the folder for temporary files.
pub(crate) const VARIABLE: &str = "TMPDIR";

/// File systems in memory.
const IN_MEMORY: &str = "/dev/shm";

/// Free memory that it requires, in bytes. Chosen, not measured.
const NEEDED: u64 = 8 << 30;

/// A folder in memory, removed when this is dropped. Tests spend most of their time on durable writes, and none of them
/// stops the machine to check durability.
pub(crate) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// A folder in memory; `None` if the user has set the folder for temporary files, and if there is too little
    /// memory.
    pub(crate) fn in_memory(workspace: &Workspace) -> Option<Self> {
        let free = [free_memory(), free_space(workspace)].into_iter().min().flatten()?;
        if std::env::var_os(VARIABLE).is_some() || free < NEEDED {
            return None;
        }
        let folder = Path::new(IN_MEMORY).join(format!("isomorph-tests-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        Some(Scratch { folder })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("warning: {}: {error}", self.folder.display());
        }
    }
}

/// Available memory, in bytes.
fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|free| free << 10)
}

/// Free space of the file system in memory, in bytes; `None` if there is none.
fn free_space(workspace: &Workspace) -> Option<u64> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let is_mounted = |line: &str| line.split(' ').skip(1).take(2).eq([IN_MEMORY, "tmpfs"]);
    if !mounts.lines().any(is_mounted) {
        return None;
    }
    let text = workspace.program("df", &["--output=avail", "--block-size=1", IN_MEMORY]).output().ok()?;
    text.lines().last()?.trim().parse().ok()
}
