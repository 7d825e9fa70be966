//! What the allocator keeps of memory that was given back.
//!
//! glibc's allocator gives every thread an arena of its own and, once large blocks come and go, keeps these as well. A
//! conversion allocates columns on one thread and frees them on another: that way each arena keeps what the other needs,
//! and `--memory` says half of what the process holds (10 million edges within 64 MiB: 255 MiB resident, 121 so). One
//! arena and fixed thresholds cost no time that could be measured.
#![allow(unsafe_code)]

/// Blocks from this size on are the system's own and go back to it at once, bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 2 << 20;

/// Free memory at the end of the arena that is kept, bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: i32 = 8 << 20;

/// Keeps little. To be called before there is a second thread. Allocators other than glibc's are left as they are.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (parameter, value) in [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_THRESHOLD, LARGE), (libc::M_TRIM_THRESHOLD, KEPT)]
    {
        // SAFETY: `mallopt` sets a number of the allocator, takes no pointers, and no other thread runs yet. What it
        // does not know it refuses, and nothing depends on the answer.
        unsafe { libc::mallopt(parameter, value) };
    }
}

/// Gives back to the system what is free. It takes milliseconds: for the moments between two stages of a job, when most
/// of what was in use is not any more.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` takes no pointers and may be called at any time by any thread.
    unsafe {
        libc::malloc_trim(0)
    };
}
