//! Decodes requests within the memory budget, and encodes replies.

use std::marker::PhantomData;
use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes};
use isomorph_storage::Reservation;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::engine::{Engine, busy};
use crate::packed::{Parts, Reply};
use crate::status::{invalid, too_much};
use crate::wire::Request;

/// Maximum bytes of a value in memory: a 64-bit number, in a list that doubles when it is full.
const VALUE: u64 = 16;

/// A request and its memory reservation.
pub(crate) struct Asked<D> {
    pub message: D,
    pub _memory: Reservation,
}

/// The codec for one type of requests and one type of replies.
pub(crate) struct Wire<D, E> {
    engine: Arc<Engine>,
    types: PhantomData<fn(E) -> D>,
}

impl<D, E> Wire<D, E> {
    pub fn new(engine: &Arc<Engine>) -> Self {
        Wire { engine: Arc::clone(engine), types: PhantomData }
    }
}

impl<D: Request + Send + 'static, E: Reply + 'static> Codec for Wire<D, E> {
    type Encode = E;
    type Decode = Asked<D>;
    type Encoder = Replies<E>;
    type Decoder = Requests<D>;

    fn encoder(&mut self) -> Replies<E> {
        Replies(PhantomData)
    }

    fn decoder(&mut self) -> Requests<D> {
        Requests::new(&self.engine)
    }
}

/// Decodes requests.
pub(crate) struct Requests<D> {
    engine: Arc<Engine>,
    types: PhantomData<fn() -> D>,
}

impl<D> Requests<D> {
    pub fn new(engine: &Arc<Engine>) -> Self {
        Requests { engine: Arc::clone(engine), types: PhantomData }
    }
}

impl<D: Request> Decoder for Requests<D> {
    type Item = Asked<D>;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<Asked<D>>, Status> {
        decoded(&self.engine, source.copy_to_bytes(source.remaining())).map(Some)
    }
}

/// Decodes a request within the budget and the limits of an engine.
///
/// # Errors
/// Returns an error if the message is not valid, has too many elements, or does not fit into the budget.
pub(crate) fn decoded<D: Request>(engine: &Engine, bytes: Bytes) -> Result<Asked<D>, Status> {
    // A varint ends with a byte below 128: their number is the maximum number of values.
    let values = bytes.iter().filter(|byte| **byte < 0x80).count() as u64;
    let memory = engine.budget().try_reserve(values.saturating_mul(VALUE)).ok_or_else(busy)?;
    let message = D::decode(bytes);
    let message =
        message.map_err(|error| invalid(format!("the request is not a valid message of this call: {error}")))?;
    let (batch, limit) = (message.batch(), engine.limits().batch);
    if batch > limit {
        return Err(too_much("elements", batch, limit));
    }
    Ok(Asked { message, _memory: memory })
}

/// Encodes replies.
pub(crate) struct Replies<E>(PhantomData<fn(E)>);

impl<E: Reply> Encoder for Replies<E> {
    type Item = E;
    type Error = Status;

    fn encode(&mut self, reply: E, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        Parts::of(reply).into_chunks().for_each(|part| out.put(part));
        Ok(())
    }
}
