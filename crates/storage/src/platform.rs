//! Everything that differs between operating systems. No other module depends on the operating system.
//!
//! `linux` and `unix` use system calls that are safe against races; `portable` uses only the standard library.

use std::fs::{self, File};
use std::io;
use std::path::Path;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg_attr(unix, allow(dead_code))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{Beneath, open_regular, punch};
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use portable::{Beneath, open_regular, punch};

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(crate) use portable::{exchange, rename_new};
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(crate) use unix::{exchange, rename_new};

#[cfg(not(unix))]
pub(crate) use portable::{has_no_locks, host_name, is_at, open_for_lock, sync_dir, trusted};
#[cfg(unix)]
pub(crate) use unix::{has_no_locks, host_name, is_at, open_for_lock, sync_dir, trusted};

#[cfg(not(unix))]
use portable::read_at;
#[cfg(unix)]
use unix::read_at;

/// A directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) is_dir: bool,
    pub(crate) size: u64,
}

/// Returns an error for directories, devices, pipes and sockets.
fn require_regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(io::Error::new(io::ErrorKind::IsADirectory, "expected a file, found a directory"))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a file, found a device or a pipe"))
    }
}

/// Reads at `offset` until `buffer` is full or the file ends. Returns the number of bytes read.
pub(crate) fn read_full_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match read_at(file, &mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// The memory that this process may use, bytes: the machine's, or the control group's if that is less.
pub(crate) fn memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let machine = line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)?;
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok())
        .min();
    Some(group.map_or(machine, |group| group.min(machine)))
}

/// The name of this machine, as far as the system reports it.
pub(crate) fn machine_name() -> String {
    let id = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    format!("{}/{}", id.trim(), host_name())
}

/// An identifier that changes with each start of the machine; empty if the system has none.
pub(crate) fn boot_name() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Returns the directory that contains `path`, in a form that can be opened.
pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Sets the modification time of a directory. Does nothing where directories cannot be opened.
pub(crate) fn set_directory_time(path: &std::path::Path, time: std::time::SystemTime) -> std::io::Result<()> {
    if cfg!(unix) { std::fs::File::open(path)?.set_modified(time) } else { Ok(()) }
}
