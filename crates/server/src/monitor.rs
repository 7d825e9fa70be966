//! Metrics and health over HTTP/1, on an address of their own.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use isomorph_error::Result;
use tokio::sync::oneshot;
use tokio_stream::StreamExt;

use crate::access::Gate;
use crate::connections::{Connections, Door};
use crate::log::Log;
use crate::metrics::{Metrics, Phase};
use crate::server::listen;

/// How long one request may take.
const LONGEST: Duration = Duration::from_secs(10);

/// Maximum bytes of a request's headers; hyper needs at least 8 KiB.
const HEADERS: usize = 16 << 10;

/// Maximum number of concurrent connections, and of those of one client.
const CONNECTIONS: usize = 64;

/// Answers `GET /metrics`, `/livez` and `/readyz` on a thread of its own, until it is dropped.
pub struct Monitor {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Binds an address and starts. With a `gate`, connections use its TLS, and `/metrics` needs one of its tokens.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound, or if the system has no thread left.
    pub fn start(address: SocketAddr, metrics: &Arc<Metrics>, gate: Option<&Arc<Gate>>, log: &Log) -> Result<Monitor> {
        let listener = listen(address, "--metrics 127.0.0.1:0    use any free port")?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let door = Door {
            gate: gate.cloned(),
            protocol: b"http/1.1",
            connections: CONNECTIONS,
            client_connections: CONNECTIONS,
            silent: LONGEST,
            stall: LONGEST,
            metrics: None,
            log: log.clone(),
        };
        let metrics = Arc::clone(metrics);
        let answer = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = answer_all(listener, door, metrics) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("isomorph-monitor".to_owned()).spawn(answer)?;
        Ok(Monitor { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn answer_all(listener: TcpListener, door: Door, metrics: Arc<Metrics>) {
    let gate = door.gate.clone();
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut connections = Connections::of(listener, door);
    while let Some(Ok(connection)) = connections.next().await {
        let (gate, metrics) = (gate.clone(), Arc::clone(&metrics));
        let service = service_fn(move |request: Request<Incoming>| {
            let response = respond(&request, gate.as_deref(), &metrics);
            async move { Ok::<_, Infallible>(response) }
        });
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(LONGEST)
            .keep_alive(false)
            .max_buf_size(HEADERS)
            .serve_connection(TokioIo::new(connection), service);
        // A client that is too slow, or speaks another protocol, has no answer.
        tokio::spawn(async { drop(tokio::time::timeout(LONGEST, serving).await) });
    }
}

fn respond(request: &Request<Incoming>, gate: Option<&Gate>, metrics: &Metrics) -> Response<Full<Bytes>> {
    let answer = |status: StatusCode, text: &str| {
        let mut response = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("text/plain; version=0.0.4"));
        response
    };
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return answer(StatusCode::METHOD_NOT_ALLOWED, "only GET is supported\n");
    }
    match request.uri().path() {
        "/livez" => answer(StatusCode::OK, "alive\n"),
        "/readyz" => match metrics.phase() {
            Phase::Ready => answer(StatusCode::OK, "ready\n"),
            Phase::Opening => answer(StatusCode::SERVICE_UNAVAILABLE, "the graph is being opened\n"),
            Phase::Stopping => answer(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping\n"),
        },
        "/metrics" => match gate.map_or(Ok(()), |gate| gate.check(request.headers())) {
            Ok(()) => answer(StatusCode::OK, &metrics.text()),
            Err(status) => {
                let mut response = answer(StatusCode::UNAUTHORIZED, &format!("{}\n", status.message()));
                response.headers_mut().insert(WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
                response
            }
        },
        _ => answer(StatusCode::NOT_FOUND, "expected /metrics, /livez or /readyz\n"),
    }
}
