//! Bodies of requests and replies with their memory reservations.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use isomorph_storage::Reservation;
use tonic::Status;

use crate::engine::busy;

/// An incoming request: each frame reserves memory from the budget, or the request fails.
pub(crate) struct Incoming {
    body: tonic::body::Body,
    memory: Reservation,
}

impl Incoming {
    pub fn new(body: tonic::body::Body, memory: Reservation) -> Self {
        Incoming { body, memory }
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
            // New bytes are appended to a buffer that doubles when it is full.
            && !this.memory.try_grow(2 * data.len() as u64)
        {
            return Poll::Ready(Some(Err(busy())));
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

/// An outgoing reply: its memory is released when the client has received it or has disconnected.
pub(crate) struct Outgoing {
    pub body: tonic::body::Body,
    pub _held: Held,
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
