//! Reads the partitions of a scan on several threads, and gives their batches in order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use isomorph::dataset::{Cancel, Partition};
use isomorph::{Error, Kind, Result};

use crate::errors::panicked;

/// Batches of one partition that wait for their reader.
const AHEAD: usize = 4;

/// What a reader has next.
pub(crate) enum Next {
    /// A batch, or the error that ends reading.
    Batch(Result<RecordBatch>),
    /// Nothing more.
    End,
    /// Nothing within the time.
    Waiting,
}

/// Record batches that are read on request.
pub(crate) trait Reader: Send {
    /// The columns of the batches.
    fn schema(&self) -> &SchemaRef;

    /// The next batch, if it is there within `time`. After an error, the reader is at its end.
    fn next_within(&mut self, time: Duration) -> Next;
}

/// Batches that are in memory.
pub(crate) struct Held {
    schema: SchemaRef,
    batches: std::vec::IntoIter<RecordBatch>,
}

impl Held {
    /// Gives these batches.
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Held { schema, batches: batches.into_iter() }
    }
}

impl Reader for Held {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next_within(&mut self, _time: Duration) -> Next {
        self.batches.next().map_or(Next::End, |batch| Next::Batch(Ok(batch)))
    }
}

/// The batches of a partition.
type Batches = Receiver<Option<Result<RecordBatch>>>;

/// Partitions that have not been started, and where the batches of the next one are announced.
struct Left {
    partitions: std::vec::IntoIter<Partition>,
    announce: Option<SyncSender<Batches>>,
}

/// Partitions that several threads read. Dropping it ends reading, without waiting.
pub(crate) struct Ordered {
    schema: SchemaRef,
    /// Partitions, before reading starts.
    waiting: Option<Vec<Partition>>,
    threads: usize,
    opened: Option<Receiver<Batches>>,
    current: Option<Batches>,
    cancel: Cancel,
    /// The process whose threads read.
    process: u32,
}

impl Ordered {
    /// Reads `partitions` on at most `threads` threads, which start when the first batch is requested. Whoever holds `cancel` ends
    /// reading.
    pub(crate) fn new(schema: SchemaRef, partitions: Vec<Partition>, threads: usize, cancel: Cancel) -> Self {
        let (waiting, process) = (Some(partitions), std::process::id());
        Ordered { schema, waiting, threads, opened: None, current: None, cancel, process }
    }

    fn start(&mut self, partitions: Vec<Partition>) -> Result<()> {
        self.process = std::process::id();
        let threads = self.threads.min(partitions.len());
        let (announce, opened) = sync_channel(threads.max(1) * 2);
        self.opened = Some(opened);
        let left = Arc::new(Mutex::new(Left { partitions: partitions.into_iter(), announce: Some(announce) }));
        for _ in 0..threads {
            let (left, cancel) = (Arc::clone(&left), self.cancel.clone());
            let thread = std::thread::Builder::new().name("isomorph-scan".to_owned());
            thread.spawn(move || {
                while let Some((partition, send)) = claim(&left) {
                    if !give(partition, &send, &cancel) {
                        return;
                    }
                }
            })?;
        }
        Ok(())
    }

    fn end(&mut self) -> Next {
        (self.opened, self.current, self.waiting) = (None, None, None);
        Next::End
    }

    fn fail(&mut self, error: Error) -> Next {
        self.end();
        Next::Batch(Err(error))
    }
}

/// The next partition, in order. It is announced in the same step, so that announcements are in the order of partitions.
fn claim(left: &Mutex<Left>) -> Option<(Partition, SyncSender<Option<Result<RecordBatch>>>)> {
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(partition) = left.partitions.next() else {
        left.announce = None;
        return None;
    };
    let (send, receive) = sync_channel(AHEAD);
    left.announce.as_ref()?.send(receive).ok()?;
    Some((partition, send))
}

/// Passes on all batches of a partition, and that they end. Returns whether anybody wants more.
fn give(mut partition: Partition, send: &SyncSender<Option<Result<RecordBatch>>>, cancel: &Cancel) -> bool {
    loop {
        let next = catch_unwind(AssertUnwindSafe(|| partition.next())).unwrap_or_else(|_| Some(Err(panicked())));
        // An end that is not told would look like a thread that died.
        let (is_end, is_wrong) = (next.is_none(), matches!(next, Some(Err(_))));
        if send.send(next).is_err() || is_wrong || cancel.is_cancelled() {
            return false;
        }
        if is_end {
            return true;
        }
    }
}

impl Reader for Ordered {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next_within(&mut self, time: Duration) -> Next {
        if let Some(partitions) = self.waiting.take() {
            if partitions.is_empty() {
                return self.end();
            }
            if let Err(error) = self.start(partitions) {
                return self.fail(error);
            }
        }
        if self.opened.is_some() && self.process != std::process::id() {
            let error = Error::usage("the table was being read when this process was forked")
                .hint("read it again in the child");
            return self.fail(error);
        }
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Some(current) = &self.current else {
                match self.opened.as_ref().map(|opened| opened.recv_timeout(left)) {
                    Some(Ok(batches)) => self.current = Some(batches),
                    Some(Err(RecvTimeoutError::Timeout)) => return Next::Waiting,
                    Some(Err(RecvTimeoutError::Disconnected)) if self.cancel.is_cancelled() => {
                        return self.fail(Error::new(Kind::Cancelled, "interrupted"));
                    }
                    Some(Err(RecvTimeoutError::Disconnected)) | None => return self.end(),
                }
                continue;
            };
            match current.recv_timeout(left) {
                Ok(Some(Ok(batch))) if batch.num_rows() == 0 => {}
                Ok(Some(Ok(batch))) => return Next::Batch(Ok(batch)),
                Ok(Some(Err(error))) => return self.fail(error),
                Ok(None) => self.current = None,
                Err(RecvTimeoutError::Timeout) => return Next::Waiting,
                Err(RecvTimeoutError::Disconnected) if self.cancel.is_cancelled() => {
                    return self.fail(Error::new(Kind::Cancelled, "interrupted"));
                }
                Err(RecvTimeoutError::Disconnected) => return self.fail(panicked()),
            }
        }
    }
}

impl Drop for Ordered {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
