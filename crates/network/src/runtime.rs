//! The asynchronous runtime of the process for requests to object stores. Callers block.

use std::future::Future;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

use tokio::runtime::Runtime;

/// Threads that drive the requests, which mostly wait.
const THREADS: usize = 2;

/// The runtime of this process. A process that was forked has none of its parent's threads, so it starts its own; the one of the parent is
/// never ended by a child.
fn runtime() -> object_store::Result<&'static Runtime> {
    static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let process = std::process::id();
    let mut own = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, runtime)) = *own
        && owner == process
    {
        return Ok(runtime);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("isomorph-requests")
        .enable_all()
        .build()
        .map_err(|error| generic(error.to_string()))?;
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    *own = Some((process, runtime));
    Ok(runtime)
}

/// A running request.
#[derive(Debug)]
pub(crate) struct Task<T>(Result<Receiver<object_store::Result<T>>, object_store::Error>);

/// Starts a request without waiting for it.
pub(crate) fn start<T: Send + 'static>(
    request: impl Future<Output = object_store::Result<T>> + Send + 'static,
) -> Task<T> {
    Task(runtime().map(|runtime| {
        let (sender, receiver) = sync_channel(1);
        runtime.spawn(async move {
            // If the receiver is gone, nobody needs the answer.
            let _ = sender.send(request.await);
        });
        receiver
    }))
}

impl<T> Task<T> {
    /// Waits for the answer. Unlike `block_on`, this may be called from a thread of another runtime.
    pub(crate) fn wait(self) -> object_store::Result<T> {
        self.0?.recv().map_err(|_| generic("the request was abandoned".to_owned()))?
    }
}

/// Runs a request and waits for its answer.
pub(crate) fn run<T: Send + 'static>(
    request: impl Future<Output = object_store::Result<T>> + Send + 'static,
) -> object_store::Result<T> {
    start(request).wait()
}

fn generic(message: String) -> object_store::Error {
    object_store::Error::Generic { store: "isomorph", source: message.into() }
}
