//! Everything that differs between operating systems, each with a portable fallback.

use std::fs::File;
use std::io;

/// Reads into `buffer` at `offset` without moving a shared cursor. May read less; 0 means the end.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Reads into `buffer` at `offset`. May read less; 0 means the end.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Memory that this process may use, bytes: the machine's, or the control group's if that is less.
pub(crate) fn memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let machine = line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)?;
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok())
        .min();
    Some(group.map_or(machine, |group| group.min(machine)))
}
