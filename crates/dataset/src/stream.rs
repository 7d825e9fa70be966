//! A partition as an asynchronous stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_core::Stream;
use isomorph_error::{Error, Result};

use crate::partition::Partition;

/// Batches that wait for their reader.
const AHEAD: usize = 2;

/// The batches of a partition as a stream. A separate thread reads them, from the first poll on, at most two batches
/// ahead; dropping the stream ends reading without waiting. It needs no runtime, and works in any.
pub struct BatchStream {
    schema: SchemaRef,
    queue: Arc<Queue>,
    /// The partition, before reading starts.
    partition: Option<Partition>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    /// Notified when there is room, or when the stream was dropped.
    room: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<Result<RecordBatch>>,
    /// All batches were produced.
    is_done: bool,
    /// The stream was dropped.
    is_dropped: bool,
    reader: Option<Waker>,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a batch when there is room for it. Returns whether the stream still exists.
    fn push(&self, batch: Result<RecordBatch>) -> bool {
        let mut state = self.state();
        while state.batches.len() >= AHEAD && !state.is_dropped {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.is_dropped {
            state.batches.push_back(batch);
            wake(state);
            return true;
        }
        false
    }
}

/// Wakes the reader, outside the lock.
fn wake(mut state: MutexGuard<'_, State>) {
    let reader = state.reader.take();
    drop(state);
    if let Some(reader) = reader {
        reader.wake();
    }
}

/// Marks the end of the batches, even if the thread panics.
struct Done(Arc<Queue>);

impl Drop for Done {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_done = true;
        if std::thread::panicking() {
            state.batches.push_back(Err(Error::usage("the thread that reads a partition panicked")));
        }
        wake(state);
    }
}

impl BatchStream {
    pub(crate) fn new(partition: Partition) -> Self {
        BatchStream { schema: partition.schema().clone(), queue: Arc::default(), partition: Some(partition) }
    }

    /// The columns of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

impl Stream for BatchStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(partition) = self.partition.take() {
            let done = Done(Arc::clone(&self.queue));
            let read = move || {
                for batch in partition {
                    if !done.0.push(batch) {
                        break;
                    }
                }
            };
            let thread = std::thread::Builder::new().name("isomorph-partition".to_owned());
            if let Err(error) = thread.spawn(read) {
                return Poll::Ready(Some(Err(error.into())));
            }
        }
        let mut state = self.queue.state();
        if let Some(batch) = state.batches.pop_front() {
            self.queue.room.notify_one();
            return Poll::Ready(Some(batch));
        }
        if state.is_done {
            return Poll::Ready(None);
        }
        state.reader = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for BatchStream {
    fn drop(&mut self) {
        self.queue.state().is_dropped = true;
        self.queue.room.notify_one();
    }
}

impl std::fmt::Debug for BatchStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}
