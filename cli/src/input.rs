//! Standard input that can be interrupted while it waits for data.
//!
//! A thread that reads from a pipe blocks and cannot check for signals. Therefore a separate thread reads, and nothing
//! waits for that thread.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use isomorph::Result;

use crate::interrupt::Interrupt;

/// Bytes read at a time.
const ROOM: usize = 256 << 10;

/// Number of blocks that may be queued.
const WAITING: usize = 2;

/// Interval between checks for signals.
const LOOK: Duration = Duration::from_millis(100);

/// Standard input. A process has only one.
pub struct Input {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    taken: usize,
    interrupt: Interrupt,
}

impl Input {
    /// Starts to read.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be started.
    pub fn new(interrupt: Interrupt) -> Result<Self> {
        let (send, blocks) = sync_channel(WAITING);
        std::thread::Builder::new().name("input".to_owned()).spawn(move || hand_over(&mut io::stdin(), &send))?;
        Ok(Input { blocks, block: Vec::new(), taken: 0, interrupt })
    }
}

/// Sends blocks until the end of the input, an error, or until the receiver is gone.
fn hand_over(from: &mut dyn Read, to: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut block = vec![0; ROOM];
        let read = match from.read(&mut block) {
            Ok(0) => return,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read,
        };
        let failed = read.is_err();
        let handed = to.send(read.map(|count| {
            block.truncate(count);
            block
        }));
        if failed || handed.is_err() {
            return;
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.block.len() {
            match self.blocks.recv_timeout(LOOK) {
                Ok(block) => (self.block, self.taken) = (block?, 0),
                Err(RecvTimeoutError::Timeout) => self.interrupt.check().map_err(io::Error::other)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let left = self.block.get(self.taken..).unwrap_or_default();
        let count = left.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), left.get(..count)) {
            to.copy_from_slice(from);
        }
        self.taken += count;
        Ok(count)
    }
}
