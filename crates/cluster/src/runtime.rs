//! Threads of processes of a cluster.

use isomorph::Result;
use tokio::runtime::{Builder, Runtime};

/// The stack of a thread, bytes. Plans and expressions are read by going down into them.
pub(crate) const STACK: usize = 32 << 20;

/// So many threads.
///
/// # Errors
/// If the system does not allow it.
pub(crate) fn runtime(threads: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads.max(2)).thread_name("isomorph-cluster").thread_stack_size(STACK).enable_all();
    Ok(builder.build()?)
}
