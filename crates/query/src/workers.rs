//! The threads of the engine.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use isomorph::Result;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::errors::internal;
use crate::wait::{LOOK, within};

/// How long work that was given up may take to notice, before it is left behind.
const PATIENCE: Duration = Duration::from_millis(500);

/// The stack of a thread, bytes. The engine's planner goes down into expressions and plans.
const STACK: usize = 32 << 20;

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
            .thread_stack_size(STACK)
            .enable_time()
            .build()?;
        Ok(Workers { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Does `work` on a thread of its own. While it waits it asks `go_on`, and leaves the work with its error.
    ///
    /// # Errors
    /// Those of the work and of `go_on`.
    pub fn do_while<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
        go_on: &mut dyn FnMut() -> Result<()>,
    ) -> Result<T> {
        let mut work = pin!(self.handle.spawn_blocking(work));
        loop {
            go_on()?;
            match within(work.as_mut(), LOOK) {
                Poll::Ready(Ok(done)) => return done,
                Poll::Ready(Err(_)) => return Err(internal("the engine panicked")),
                Poll::Pending => {}
            }
        }
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
