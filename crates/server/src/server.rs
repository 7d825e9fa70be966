//! The server: binds an address, runs threads, and stops.

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use isomorph_error::{Error, Kind, Result};
use tokio::sync::Semaphore;

use crate::access::Gate;
use crate::connections::{Connections, Door};
use crate::engine::Engine;
use crate::log::{Log, field};
use crate::metrics::{Metrics, Phase};
use crate::routes::{Routes, Shared};

/// Flow-control windows in bytes: of one request and of one connection.
const WINDOWS: (u32, u32) = (1 << 20, 2 << 20);

/// How often a silent client is pinged, and how long it may take to answer.
const ALIVE: Duration = Duration::from_secs(20);

/// Maximum bytes of a request's headers.
const HEADERS: u32 = 16 << 10;

/// How often `stop` is checked.
const LOOK: Duration = Duration::from_millis(50);

/// How often files of tokens and certificates are read again.
const REFRESH: Duration = Duration::from_secs(2);

/// How a server runs.
#[derive(Clone)]
pub struct Options {
    /// Number of threads that answer; as many again answer long requests.
    pub threads: usize,
    /// Who may connect.
    pub gate: Arc<Gate>,
    /// Where requests are counted.
    pub metrics: Arc<Metrics>,
    /// Where events are reported.
    pub log: Log,
}

/// A server that is bound to its address but does not answer yet.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    threads: usize,
}

/// Binds an address.
///
/// # Errors
/// Returns an error with a hint if the address cannot be bound.
pub(crate) fn listen(address: SocketAddr, hint: &str) -> Result<TcpListener> {
    let refused =
        |error: std::io::Error| Error::new(Kind::Io, format!("cannot listen on {address}: {error}")).hint(hint);
    let listener = TcpListener::bind(address).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    Ok(listener)
}

impl Server {
    /// Binds an address, to answer with `engine`. Port 0 selects any free port.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound.
    pub fn bind(address: SocketAddr, engine: Engine, options: &Options) -> Result<Server> {
        let listener = listen(address, "--address 127.0.0.1:0    use any free port")?;
        let (threads, engine) = (options.threads.max(1), Arc::new(engine));
        options.metrics.watch(&engine);
        let shared = Shared {
            engine,
            gate: Arc::clone(&options.gate),
            metrics: Arc::clone(&options.metrics),
            log: options.log.clone(),
            turns: Arc::new(Semaphore::new(threads)),
        };
        Ok(Server { listener, shared: Arc::new(shared), threads })
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
            // One for each long request, and one that reads files again.
            .max_blocking_threads(threads + 1)
            .thread_name("isomorph-serve")
            .enable_all()
            .build()?;
        let limits = shared.engine.limits().clone();
        let done = runtime.block_on(async {
            let door = Door {
                gate: Some(Arc::clone(&shared.gate)),
                protocol: b"h2",
                connections: limits.connections,
                client_connections: limits.client_connections,
                silent: limits.silent,
                stall: limits.stall,
                metrics: Some(Arc::clone(&shared.metrics)),
                log: shared.log.clone(),
            };
            let connections = Connections::of(tokio::net::TcpListener::from_std(listener)?, door);
            let refreshing = tokio::spawn(refresh(Arc::clone(&shared)));
            let asked_to_stop = async {
                while !stop() {
                    tokio::time::sleep(LOOK).await;
                }
                shared.metrics.enter(Phase::Stopping);
                shared.log.info("stopping", "running requests may end, no others are accepted", &[]);
            };
            shared.metrics.enter(Phase::Ready);
            let (stopped, drain) = tokio::sync::oneshot::channel();
            let serving = tonic::transport::Server::builder()
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
            let done = within(serving, drain, limits.drain).await;
            refreshing.abort();
            done
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        done
    }
}

/// Reads tokens and certificates again and again, and uses them if they changed.
async fn refresh(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(REFRESH).await;
        let gate = Arc::clone(&shared.gate);
        let Ok(refreshed) = tokio::task::spawn_blocking(move || gate.refresh()).await else { return };
        match refreshed {
            Ok(false) => {}
            Ok(true) => {
                shared.metrics.reloaded(true);
                shared.log.info("access_reloaded", "new tokens and certificates are used from now on", &[]);
            }
            Err(error) => {
                shared.metrics.reloaded(false);
                let message = "tokens or certificates were replaced by something else; the previous ones are used";
                shared.log.warn("access_not_reloaded", message, &[field("error", error)]);
            }
        }
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
