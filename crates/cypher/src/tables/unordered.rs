//! Batches of a scan that several threads read, as they come.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use arrow_array::RecordBatch;
use isomorph::dataset::Partition;
use isomorph::{Error, Kind, Result};

/// Batches that wait for each thread.
const WAITING: usize = 2;

/// The batches of a table that is read.
pub(super) enum Reader {
    /// In the order of the rows.
    Ordered(Box<std::iter::Flatten<std::vec::IntoIter<Partition>>>),
    Unordered(Unordered),
}

impl Reader {
    /// Reads on so many threads, if there are several partitions.
    pub(super) fn unordered(partitions: Vec<Partition>, threads: usize) -> Result<Reader> {
        let threads = threads.min(partitions.len());
        if threads < 2 {
            return Ok(Reader::Ordered(Box::new(partitions.into_iter().flatten())));
        }
        Unordered::new(partitions, threads).map(Reader::Unordered)
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Reader::Ordered(batches) => batches.next(),
            Reader::Unordered(batches) => batches.next(),
        }
    }
}

/// Threads that read partitions.
pub(super) struct Unordered {
    /// `None` at the end.
    batches: Option<Receiver<Result<RecordBatch>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Unordered {
    fn new(partitions: Vec<Partition>, threads: usize) -> Result<Unordered> {
        let (sender, batches) = sync_channel(WAITING * threads);
        let left = Arc::new(Mutex::new(partitions.into_iter()));
        let mut all = Unordered { batches: Some(batches), threads: Vec::new() };
        for _ in 0..threads {
            let (left, sender) = (Arc::clone(&left), sender.clone());
            let thread = std::thread::Builder::new().name("isomorph-cypher-reader".to_owned());
            all.threads.push(thread.spawn(move || read(&left, &sender))?);
        }
        Ok(all)
    }

    /// Waits for the threads; false if one of them panicked.
    fn join(&mut self) -> bool {
        // Who waits to send sees that nobody reads.
        self.batches = None;
        // All of them, whatever the first one says.
        let ended: Vec<bool> = self.threads.drain(..).map(|thread| thread.join().is_ok()).collect();
        ended.into_iter().all(|is_well| is_well)
    }
}

fn read(left: &Mutex<std::vec::IntoIter<Partition>>, to: &SyncSender<Result<RecordBatch>>) {
    loop {
        let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(partition) = next else { return };
        for batch in partition {
            let is_error = batch.is_err();
            if to.send(batch).is_err() || is_error {
                return;
            }
        }
    }
}

impl Iterator for Unordered {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.batches.as_ref()?.recv() {
            Ok(Ok(batch)) => Some(Ok(batch)),
            Ok(Err(error)) => {
                self.join();
                Some(Err(error))
            }
            Err(_) if self.join() => None,
            Err(_) => {
                let text =
                    "internal error: please report this with the command and `isomorph --version`: reading ended early";
                Some(Err(Error::new(Kind::Usage, text)))
            }
        }
    }
}

impl Drop for Unordered {
    fn drop(&mut self) {
        self.join();
    }
}
