//! The asynchronous runtime of the process for requests to object stores. Callers block.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, sync_channel};

use tokio::runtime::Runtime;

/// Threads that drive the requests, which mostly wait.
const THREADS: usize = 2;

fn runtime() -> object_store::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Result<Runtime, std::io::Error>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("isomorph-requests")
            .enable_all()
            .build()
    });
    runtime.as_ref().map_err(|error| generic(error.to_string()))
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
