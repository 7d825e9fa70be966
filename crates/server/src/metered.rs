//! Bodies of requests and replies with their memory reservations.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use isomorph_storage::Reservation;
use tonic::Status;

use crate::engine::busy;
use crate::metrics::Metrics;
use crate::peer::Sending;

/// An incoming request: each frame reserves memory from the budget, or the request fails.
pub(crate) struct Incoming {
    body: tonic::body::Body,
    memory: Reservation,
    metrics: Arc<Metrics>,
}

impl Incoming {
    pub fn new(body: tonic::body::Body, memory: Reservation, metrics: &Arc<Metrics>) -> Self {
        Incoming { body, memory, metrics: Arc::clone(metrics) }
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            this.metrics.add_received(data.len() as u64);
            // New bytes are appended to a buffer that doubles when it is full.
            if !this.memory.try_grow(2 * data.len() as u64) {
                return Poll::Ready(Some(Err(busy())));
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What a reply holds until its last byte is sent.
#[derive(Clone)]
struct Unsent {
    _memory: Arc<Reservation>,
    _sending: Option<Arc<Sending>>,
}

/// An outgoing reply: its memory is released when the client has received it or has disconnected.
pub(crate) struct Outgoing<P> {
    parts: P,
    /// Whether the status, which is last, has been passed on.
    ended: bool,
    unsent: Unsent,
    metrics: Arc<Metrics>,
}

impl<P> Outgoing<P> {
    /// Creates the body of a reply from the parts of its message.
    pub fn new(parts: P, memory: Reservation, sending: Option<Sending>, metrics: &Arc<Metrics>) -> Self {
        let unsent = Unsent { _memory: Arc::new(memory), _sending: sending.map(Arc::new) };
        Outgoing { parts, ended: false, unsent, metrics: Arc::clone(metrics) }
    }
}

/// Bytes of a reply. The transport takes them all at once, and drops them when they are sent: only then is their memory released.
struct Chunk {
    bytes: Bytes,
    _unsent: Unsent,
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<P: Iterator<Item = Bytes> + Unpin> Body for Outgoing<P> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if let Some(bytes) = this.parts.next() {
            this.metrics.add_sent(bytes.len() as u64);
            let bytes = Bytes::from_owner(Chunk { bytes, _unsent: this.unsent.clone() });
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if std::mem::replace(&mut this.ended, true) {
            return Poll::Ready(None);
        }
        let mut status = HeaderMap::with_capacity(1);
        status.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
        Poll::Ready(Some(Ok(Frame::trailers(status))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}
