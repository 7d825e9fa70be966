//! Accepts connections: up to a maximum at a time, in all and for each client; with TLS if it is set up.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::Stream;
use tonic::transport::server::Connected;

use crate::access::Gate;
use crate::greeting::{self, Greeting, PREFACE};
use crate::log::{Log, field};
use crate::metrics::{Metrics, Outcome};
use crate::peer::Peer;

/// The protocol of gRPC, as TLS names it.
const HTTP2: &[u8] = b"h2";

/// How long to wait if the system cannot accept a connection, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);

/// Bytes that a client must accept while replies wait for it, in the time that it may stall.
const SLOWEST: u64 = 1 << 20;

/// What is needed to accept connections.
#[derive(Clone)]
pub(crate) struct Door {
    /// TLS, unless connections are not encrypted.
    pub gate: Option<Arc<Gate>>,
    /// The protocol of connections, as TLS names it.
    pub protocol: &'static [u8],
    pub connections: usize,
    pub client_connections: usize,
    /// How long a new connection may take to begin; later, keep-alive pings check that the client is there.
    pub silent: Duration,
    pub stall: Duration,
    /// Where connections are counted.
    pub metrics: Option<Arc<Metrics>>,
    pub log: Log,
}

impl Door {
    fn count(&self, outcome: Outcome) {
        if let Some(metrics) = &self.metrics {
            metrics.outcome(outcome);
        }
    }

    fn ended(&self, outcome: Outcome, name: &'static str, message: &str, peer: SocketAddr) {
        self.count(outcome);
        self.log.limited(name, message, || vec![field("peer", peer)]);
    }
}

/// The number of connections of each client.
type Clients = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// A place for a connection, in all and of its client.
struct Place {
    _place: OwnedSemaphorePermit,
    clients: Clients,
    client: IpAddr,
    metrics: Option<Arc<Metrics>>,
}

impl Place {
    /// Returns a place, or `None` if the client has too many.
    fn of(place: OwnedSemaphorePermit, clients: &Clients, client: IpAddr, door: &Door) -> Option<Place> {
        {
            let mut counts = clients.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(client).or_insert(0);
            if *count >= door.client_connections {
                return None;
            }
            *count += 1;
        }
        if let Some(metrics) = &door.metrics {
            metrics.connected(1);
        }
        Some(Place { _place: place, clients: Arc::clone(clients), client, metrics: door.metrics.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(metrics) = &self.metrics {
            metrics.connected(-1);
        }
        let mut counts = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.client) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// The protocol to upgrade to, as HTTP names it.
    fn upgrade(&self) -> &'static str {
        match self {
            Transport::Plain(_) => "h2c",
            Transport::Tls(_) => "h2",
        }
    }
}

/// Forwards a call to the stream of a transport.
macro_rules! forward {
    ($self:expr, $method:ident $(, $argument:expr)*) => {
        match &mut $self {
            Transport::Plain(stream) => Pin::new(stream).$method($($argument),*),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).$method($($argument),*),
        }
    };
}

/// What a connection had done when it was last looked at.
#[derive(Clone, Copy)]
struct Progress {
    unsent: u64,
    finished: u64,
    written: u64,
}

/// A connection and its place.
pub(crate) struct Connection {
    transport: Transport,
    peer: Arc<Peer>,
    door: Arc<Door>,
    /// When to look at the connection next.
    timer: Pin<Box<Sleep>>,
    /// What was read before, and is read again.
    first: &'static [u8],
    /// Whether anything was read.
    begun: bool,
    written: u64,
    last: Progress,
    _place: Place,
}

/// Incoming connections. Those beyond the limit wait unaccepted.
pub(crate) struct Connections(mpsc::Receiver<Connection>);

impl Connections {
    /// Accepts from `listener`, on a task that ends with this value.
    pub fn of(listener: TcpListener, door: Door) -> Connections {
        let (sender, receiver) = mpsc::channel(1);
        let (places, door) = (Arc::new(Semaphore::new(door.connections)), Arc::new(door));
        let clients = Clients::default();
        tokio::spawn(async move {
            loop {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = sender.closed() => return,
                };
                let Ok((stream, address)) = accepted else {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                };
                let Some(place) = Place::of(place, &clients, address.ip().to_canonical(), &door) else {
                    let message = "the client has too many connections";
                    door.ended(Outcome::Refused, "connection_refused", message, address);
                    continue;
                };
                // Replies are short and are sent without waiting for more of them.
                let _ = stream.set_nodelay(true);
                let (door, sender) = (Arc::clone(&door), sender.clone());
                // Handshakes must not keep other clients waiting.
                tokio::spawn(async move {
                    let Some(mut transport) = begin(stream, address, &door).await else { return };
                    let http2 = door.protocol == HTTP2;
                    if http2 && !speaks_http2(&mut transport, address, &door).await {
                        return;
                    }
                    let first = if http2 { PREFACE } else { &[] };
                    let _ = sender.send(Connection::new(transport, first, address, door, place)).await;
                });
            }
        });
        Connections(receiver)
    }
}

/// Performs the handshake of TLS, if there is one.
async fn begin(stream: TcpStream, address: SocketAddr, door: &Door) -> Option<Transport> {
    let Some(config) = door.gate.as_ref().and_then(|gate| gate.tls()) else { return Some(Transport::Plain(stream)) };
    let config = if config.alpn_protocols.iter().any(|protocol| protocol == door.protocol) {
        config
    } else {
        let mut other = (*config).clone();
        other.alpn_protocols = vec![door.protocol.to_vec()];
        Arc::new(other)
    };
    let failed = match tokio::time::timeout(door.silent, TlsAcceptor::from(config).accept(stream)).await {
        Ok(Ok(stream)) => return Some(Transport::Tls(Box::new(stream))),
        Ok(Err(error)) => format!("the TLS handshake failed: {error}"),
        Err(_) => "the TLS handshake took too long".to_owned(),
    };
    door.ended(Outcome::TlsFailed, "tls_failed", &failed, address);
    None
}

/// Reads how a client begins. If it is not HTTP/2, the client gets an answer that it understands, if there is one.
async fn speaks_http2(transport: &mut Transport, address: SocketAddr, door: &Door) -> bool {
    let greeting = match tokio::time::timeout(door.silent, greeting::read(transport)).await {
        Err(_) => {
            door.ended(Outcome::Silent, "connection_silent", "the client sent no request", address);
            return false;
        }
        Ok(greeting) => greeting.unwrap_or(Greeting::Nothing),
    };
    match greeting {
        Greeting::Http2 => return true,
        Greeting::Nothing => return false,
        Greeting::Http1 => {
            let next = transport.upgrade();
            greeting::refuse(transport, next).await;
        }
        Greeting::Tls | Greeting::Unknown => {}
    }
    door.ended(Outcome::OtherProtocol, "other_protocol", greeting.problem(), address);
    false
}

impl Stream for Connections {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Connection>>> {
        Poll::Ready(ready!(self.0.poll_recv(context)).map(Ok))
    }
}

impl Connection {
    fn new(
        transport: Transport,
        first: &'static [u8],
        address: SocketAddr,
        door: Arc<Door>,
        place: Place,
    ) -> Connection {
        door.count(Outcome::Accepted);
        let begun = !first.is_empty();
        Connection {
            transport,
            peer: Peer::new(address),
            timer: Box::pin(tokio::time::sleep(if begun { door.stall } else { door.silent })),
            door,
            first,
            begun,
            written: 0,
            last: Progress { unsent: 0, finished: 0, written: 0 },
            _place: place,
        }
    }

    /// Looks at the connection from time to time while it waits. Ready if it must be closed: because nothing came, or because replies wait
    /// and the client does not read them.
    fn watch(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            ready!(self.timer.as_mut().poll(context));
            if !self.begun {
                let message = "the client sent no request";
                self.door.ended(Outcome::Silent, "connection_silent", message, self.peer.address);
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            let (unsent, finished) = self.peer.replies();
            let now = Progress { unsent, finished, written: self.written };
            let waited = self.last.unsent > 0 && now.unsent > 0 && now.finished == self.last.finished;
            if waited && now.written - self.last.written < SLOWEST {
                let message = "the client did not read its replies";
                self.door.ended(Outcome::Stalled, "connection_stalled", message, self.peer.address);
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            self.last = now;
            self.timer.as_mut().reset(Instant::now() + self.door.stall);
        }
    }

    /// Returns `polled`, or an error if the connection waits and must be closed.
    fn or_closed<T>(&mut self, polled: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        match polled {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => self.watch(context).map(Err),
        }
    }

    fn wrote(&mut self, polled: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &polled {
            self.written += *bytes as u64;
        }
        self.or_closed(polled, context)
    }
}

impl Connected for Connection {
    type ConnectInfo = Arc<Peer>;

    fn connect_info(&self) -> Arc<Peer> {
        Arc::clone(&self.peer)
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.first.is_empty() && buffer.remaining() > 0 {
            let (now, later) = self.first.split_at(self.first.len().min(buffer.remaining()));
            buffer.put_slice(now);
            self.first = later;
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = forward!(self.transport, poll_read, context, buffer);
        if !self.begun && buffer.filled().len() > before {
            self.begun = true;
            let next = Instant::now() + self.door.stall;
            self.timer.as_mut().reset(next);
        }
        self.or_closed(polled, context)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = forward!(self.transport, poll_write, context, bytes);
        self.wrote(polled, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = forward!(self.transport, poll_flush, context);
        self.or_closed(polled, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = forward!(self.transport, poll_shutdown, context);
        self.or_closed(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = forward!(self.transport, poll_write_vectored, context, slices);
        self.wrote(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(stream) => stream.is_write_vectored(),
            Transport::Tls(stream) => stream.is_write_vectored(),
        }
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        forward!(*self, poll_read, context, buffer)
    }
}

impl AsyncWrite for Transport {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        forward!(*self, poll_write, context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        forward!(*self, poll_flush, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        forward!(*self, poll_shutdown, context)
    }
}
