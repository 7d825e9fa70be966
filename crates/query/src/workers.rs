//! The threads of the engine.

use std::time::Duration;

use isomorph::Result;
use tokio::runtime::{Builder, Handle, Runtime};

/// How long work that was given up may take to notice, before it is left behind.
const PATIENCE: Duration = Duration::from_millis(500);

/// Threads that end, or are left behind, when the last user of the engine is gone.
#[derive(Debug)]
pub(crate) struct Workers {
    runtime: Option<Runtime>,
    handle: Handle,
}

impl Workers {
    /// Starts them.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn start(threads: usize) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("isomorph-query")
            .thread_stack_size(8 << 20)
            .enable_time()
            .build()?;
        Ok(Workers { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A step that never ends must not keep the process.
            runtime.shutdown_timeout(PATIENCE);
        }
    }
}
