//! Threads of `rayon` that survive `fork`.
//!
//! A process that was forked has none of its parent's threads, but `rayon` still believes in its global pool: work that is passed
//! to it is never done, and the caller waits for ever. Python forks a lot (`multiprocessing`, data loaders). So work goes through [`run`]:
//! in the process that used the global pool first, it runs there; in a forked child, it runs in a pool of that child.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that used the global pool first; 0 before.
static ORIGIN: AtomicU32 = AtomicU32::new(0);

/// The pool of a forked child, with the id of the child. Never freed: the pool of a parent must not be ended by its child.
static CHILD: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);

/// Runs `work`, whose parallel iterators and joins use the threads of this process. Without a fork, this only calls it.
///
/// ```
/// use isomorph_storage::pool;
///
/// assert_eq!(pool::run(|| 6 * 7), 42);
/// ```
pub fn run<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match own() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Starts `work` on a thread of this process, and does not wait for it.
pub fn spawn(work: impl FnOnce() + Send + 'static) {
    match own() {
        Some(pool) => pool.spawn(work),
        None => rayon::spawn(work),
    }
}

/// Number of threads on which [`run`] works.
pub fn threads() -> usize {
    own().map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads)
}

/// The pool of a forked child; `None` if the current pool of `rayon` works: in the process that used it first, and on the threads of
/// any pool. Also `None` if a child cannot start threads: `rayon` then reports the same.
fn own() -> Option<&'static ThreadPool> {
    if rayon::current_thread_index().is_some() {
        return None;
    }
    let process = std::process::id();
    match ORIGIN.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => None,
        Err(first) if first == process => None,
        Err(_) => {
            let mut child = CHILD.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((owner, pool)) = *child
                && owner == process
            {
                return Some(pool);
            }
            let pool: &'static ThreadPool = Box::leak(Box::new(ThreadPoolBuilder::new().build().ok()?));
            *child = Some((process, pool));
            Some(pool)
        }
    }
}
