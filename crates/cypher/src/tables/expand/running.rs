//! A search on several threads, and what they find.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use isomorph::{Error, Kind, Result};

use super::search::{MATCHES, Message, Mode, Search};

/// Messages that wait to be read, for each thread.
const WAITING: usize = 4;

/// Matches that look alike in what is read of them: these values, one match after another, and how many there are of each.
#[derive(Debug, Default)]
pub struct Found {
    /// As many values for each match as are read.
    pub values: Vec<u32>,
    /// How many matches look like each.
    pub times: Vec<u64>,
}

/// A search that was started. Dropping it ends the search.
#[derive(Debug)]
pub(super) struct Running {
    search: Arc<Search>,
    receiver: Option<Receiver<Message>>,
    threads: Vec<JoinHandle<()>>,
    /// Threads that have not come to their end.
    left: usize,
    count: u64,
    is_complete: bool,
    /// For [`Mode::Weigh`]: the next node.
    weighed: usize,
}

pub(super) fn failed() -> Error {
    let text = "internal error: please report this with the command and `isomorph --version`: a search ended early";
    Error::new(Kind::Usage, text)
}

impl Running {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub(super) fn start(search: Search, threads: usize) -> Result<Running> {
        let search = Arc::new(search);
        let (sender, receiver) = sync_channel(WAITING * threads);
        let mut running = Running {
            search: Arc::clone(&search),
            receiver: Some(receiver),
            threads: Vec::new(),
            left: threads,
            count: 0,
            is_complete: true,
            weighed: 0,
        };
        for _ in 0..threads {
            let (search, sender) = (Arc::clone(&search), sender.clone());
            let thread = std::thread::Builder::new().name("isomorph-cypher-search".to_owned());
            running.threads.push(thread.spawn(move || search.work(&sender))?);
        }
        Ok(running)
    }

    /// The next matches; nothing at the end.
    ///
    /// # Errors
    /// If the search was stopped, or a thread failed.
    pub(super) fn next(&mut self) -> Result<Option<Found>> {
        while self.left > 0 {
            match self.receiver.as_ref().and_then(|receiver| receiver.recv().ok()) {
                Some(Message::Rows { values, times }) => return Ok(Some(Found { values, times })),
                Some(Message::Done { count, is_complete }) => {
                    self.left -= 1;
                    self.count = self.count.saturating_add(count);
                    self.is_complete &= is_complete;
                }
                None => return Err(failed()),
            }
        }
        if !self.is_complete {
            return Err(failed());
        }
        Ok(match self.search.mode {
            Mode::Rows => None,
            Mode::Count => {
                let count = std::mem::take(&mut self.count);
                (count > 0).then(|| Found { values: Vec::new(), times: vec![count] })
            }
            Mode::Weigh => self.weights(),
        })
    }

    /// The next nodes that have matches.
    fn weights(&mut self) -> Option<Found> {
        let mut found = Found::default();
        while let Some(weight) = self.search.weights.get(self.weighed).filter(|_| found.times.len() < MATCHES) {
            let times = weight.load(Ordering::Relaxed);
            if times > 0 {
                found.values.push(u32::try_from(self.weighed).unwrap_or(u32::MAX));
                found.times.push(times);
            }
            self.weighed += 1;
        }
        (!found.times.is_empty()).then_some(found)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.search.is_left.store(true, Ordering::Relaxed);
        // Threads that wait to send see that nobody reads.
        self.receiver = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
