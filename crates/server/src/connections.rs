//! Accepts connections, up to a maximum at a time.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_stream::Stream;
use tonic::transport::server::Connected;

/// How long to wait if the system cannot accept a connection, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a new connection may be silent before it is closed; later, keep-alive pings check that the client is there.
const SILENT: Duration = Duration::from_secs(10);

/// A connection and its permit.
pub(crate) struct Connection {
    stream: TcpStream,
    /// When the connection is closed, until the first bytes arrive.
    silent: Option<Pin<Box<tokio::time::Sleep>>>,
    _place: OwnedSemaphorePermit,
}

/// Incoming connections. Those beyond the limit wait unaccepted.
pub(crate) struct Connections(mpsc::Receiver<Connection>);

impl Connections {
    /// Accepts from `listener`, on a task that ends with this value.
    pub fn of(listener: TcpListener, limit: usize) -> Connections {
        let (sender, receiver) = mpsc::channel(1);
        let places = Arc::new(Semaphore::new(limit));
        tokio::spawn(async move {
            loop {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = sender.closed() => return,
                };
                let Ok((stream, _)) = accepted else {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                };
                // Replies are short and are sent without waiting for more of them.
                let _ = stream.set_nodelay(true);
                if sender.send(Connection::of(stream, place)).await.is_err() {
                    return;
                }
            }
        });
        Connections(receiver)
    }
}

impl Stream for Connections {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Connection>>> {
        Poll::Ready(ready!(self.0.poll_recv(context)).map(Ok))
    }
}

impl Connection {
    fn of(stream: TcpStream, place: OwnedSemaphorePermit) -> Connection {
        Connection { stream, silent: Some(Box::pin(tokio::time::sleep(SILENT))), _place: place }
    }
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if polled.is_ready() {
            self.silent = None;
        } else if let Some(silent) = &mut self.silent {
            ready!(silent.as_mut().poll(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        polled
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
