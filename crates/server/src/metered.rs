//! Bodies of requests and replies with their memory reservations.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
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

/// The memory of a reply, attached to it until it has a body.
#[derive(Clone)]
pub(crate) struct Held {
    _memory: Arc<Reservation>,
}

impl Held {
    pub fn new(memory: Reservation) -> Self {
        Held { _memory: Arc::new(memory) }
    }
}

/// What a reply holds until its last byte is sent.
#[derive(Clone)]
struct Unsent {
    _memory: Held,
    _sending: Option<Arc<Sending>>,
}

/// An outgoing reply: its memory is released when the client has received it or has disconnected.
pub(crate) struct Outgoing {
    body: tonic::body::Body,
    unsent: Unsent,
    metrics: Arc<Metrics>,
}

impl Outgoing {
    pub fn new(body: tonic::body::Body, memory: Held, sending: Option<Sending>, metrics: &Arc<Metrics>) -> Outgoing {
        let unsent = Unsent { _memory: memory, _sending: sending.map(Arc::new) };
        Outgoing { body, unsent, metrics: Arc::clone(metrics) }
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

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(context);
        polled.map(|frame| {
            let frame = match frame? {
                Ok(frame) => frame,
                Err(status) => return Some(Err(status)),
            };
            Some(Ok(frame.map_data(|bytes| {
                this.metrics.add_sent(bytes.len() as u64);
                Bytes::from_owner(Chunk { bytes, _unsent: this.unsent.clone() })
            })))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
