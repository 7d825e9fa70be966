//! A server: an address, threads, and an end.

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

/// Bytes of a request that a client may send before they are read, of one request and of one connection.
const WINDOWS: (u32, u32) = (1 << 20, 2 << 20);

/// How often a client that is silent is asked whether it is there, and how long it may take to answer.
const ALIVE: Duration = Duration::from_secs(20);

/// Bytes of the headers of a request.
const HEADERS: u32 = 16 << 10;

/// How often it is looked whether the server should stop.
const LOOK: Duration = Duration::from_millis(50);

/// A server that has its address, and answers nobody yet.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    threads: usize,
}

impl Server {
    /// Takes an address, for `threads` threads that answer by `engine`. Port 0 is any that is free.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn bind(address: SocketAddr, engine: Engine, threads: usize) -> Result<Server> {
        let refused = |error: std::io::Error| {
            Error::new(Kind::Io, format!("{address} cannot be listened at: {error}"))
                .hint("--address 127.0.0.1:0    takes any port that is free")
        };
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let threads = threads.max(1);
        let (engine, turns, stopping) = (Arc::new(engine), Semaphore::new(threads), AtomicBool::new(false));
        Ok(Server { listener, shared: Arc::new(Shared { engine, turns, stopping }), threads })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Answers until `stop` says so. Then the address is given up at once, requests that were begun have a while to end, and connections
    /// are closed. Threads are its own, and end with it. Says whether all requests had ended.
    ///
    /// # Errors
    /// When threads cannot be had, or the system gives no connections.
    pub fn run(self, stop: impl Fn() -> bool + Send + Sync) -> Result<bool> {
        let Server { listener, shared, threads } = self;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            // As many again as have a turn with a request that takes long.
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

/// Waits for `serving` to end, and says whether it did; from the moment that `drain` tells, for so long at most.
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
