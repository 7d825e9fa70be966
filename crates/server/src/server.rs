//! The server: binds an address, runs threads, and stops.

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use isomorph_error::{Error, Kind, Result};
use tokio::sync::Semaphore;

use crate::connections::Connections;
use crate::engine::Engine;
use crate::routes::{Routes, Shared};

/// Flow-control windows in bytes: of one request and of one connection.
const WINDOWS: (u32, u32) = (1 << 20, 2 << 20);

/// How often a silent client is pinged, and how long it may take to answer.
const ALIVE: Duration = Duration::from_secs(20);

/// Maximum bytes of a request's headers.
const HEADERS: u32 = 16 << 10;

/// How often `stop` is checked.
const LOOK: Duration = Duration::from_millis(50);

/// A server that is bound to its address but does not answer yet.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    threads: usize,
}

impl Server {
    /// Binds an address, for `threads` threads that answer with `engine`. Port 0 selects any free port.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound.
    pub fn bind(address: SocketAddr, engine: Engine, threads: usize) -> Result<Server> {
        let refused = |error: std::io::Error| {
            Error::new(Kind::Io, format!("cannot listen on {address}: {error}"))
                .hint("--address 127.0.0.1:0    use any free port")
        };
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let threads = threads.max(1);
        let (engine, turns, stopping) = (Arc::new(engine), Semaphore::new(threads), AtomicBool::new(false));
        Ok(Server { listener, shared: Arc::new(Shared { engine, turns, stopping }), threads })
    }

    /// Returns the address on which it listens.
    ///
    /// # Errors
    /// Returns an error if the system does not report it.
    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Answers until `stop` returns true. Then the address is released at once, running requests have some time to end, and connections
    /// are closed. The server has its own threads, which end with it. Returns whether all requests had ended.
    ///
    /// # Errors
    /// Returns an error if threads cannot be started, or if the system accepts no connections.
    pub fn run(self, stop: impl Fn() -> bool + Send + Sync) -> Result<bool> {
        let Server { listener, shared, threads } = self;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            // The same number again for long requests.
            .max_blocking_threads(threads + 1)
            .thread_name("isomorph-serve")
            .enable_all()
            .build()?;
        let limits = shared.engine.limits().clone();
        let done = runtime.block_on(async {
            let connections = Connections::of(tokio::net::TcpListener::from_std(listener)?, limits.connections);
            let asked_to_stop = async {
                while !stop() {
                    tokio::time::sleep(LOOK).await;
                }
                shared.stopping.store(true, Ordering::Relaxed);
            };
            let (stopped, drain) = tokio::sync::oneshot::channel();
            let serving = tonic::transport::Server::builder()
                .timeout(limits.deadline)
                .initial_stream_window_size(WINDOWS.0)
                .initial_connection_window_size(WINDOWS.1)
                .max_concurrent_streams(limits.streams)
                .http2_keepalive_interval(Some(ALIVE))
                .http2_keepalive_timeout(Some(ALIVE))
                .http2_max_header_list_size(HEADERS)
                .serve_with_incoming_shutdown(Routes(Arc::clone(&shared)), connections, async {
                    asked_to_stop.await;
                    let _ = stopped.send(());
                });
            within(serving, drain, limits.drain).await
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        done
    }
}

/// Waits for `serving` to end, and returns whether it did; from the signal of `drain` on, at most for its duration.
async fn within(
    serving: impl Future<Output = std::result::Result<(), tonic::transport::Error>>,
    drain: tokio::sync::oneshot::Receiver<()>,
    most: Duration,
) -> Result<bool> {
    let too_late = async {
        if drain.await.is_ok() {
            tokio::time::sleep(most).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        served = serving => served
            .map(|()| true)
            .map_err(|error| Error::new(Kind::Io, "the server ended").caused_by(error)),
        () = too_late => Ok(false),
    }
}
