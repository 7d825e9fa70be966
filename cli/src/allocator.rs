//! Limits how much freed memory the allocator keeps.
//!
//! glibc's allocator gives each thread an arena of its own and keeps the memory of large blocks that were freed. A
//! conversion allocates columns on one thread and frees them on another, so each arena keeps memory that the other one
//! needs, and the process holds twice what `--memory` allows (10 million edges within 64 MiB: 255 MiB resident, 121 MiB
//! with these settings). One arena and fixed thresholds cost no measurable time.
#![allow(unsafe_code)]

/// Size in bytes from which blocks come from the system and return to it at once.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 2 << 20;

/// Free memory in bytes that is kept at the end of the arena.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: i32 = 8 << 20;

/// Sets the limits. Must be called while the process has a single thread. Allocators other than glibc's are unchanged.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (parameter, value) in [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_THRESHOLD, LARGE), (libc::M_TRIM_THRESHOLD, KEPT)]
    {
        // SAFETY: `mallopt` sets a number of the allocator, takes no pointers, and no other thread runs yet. It rejects
        // unknown parameters, and nothing depends on the result.
        unsafe { libc::mallopt(parameter, value) };
    }
}

/// Returns free memory to the system. This takes milliseconds: call it between two stages of a job, when most memory
/// has been freed.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` takes no pointers and may be called at any time by any thread.
    unsafe {
        libc::malloc_trim(0)
    };
}
