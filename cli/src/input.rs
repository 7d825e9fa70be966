//! Standard input that can be interrupted while it waits for data, and queries that are read from it or from files.
//!
//! A thread that reads from a pipe blocks and cannot check for signals. Therefore a separate thread reads, and nothing
//! waits for that thread.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use isomorph::Result;
#[cfg(feature = "cypher")]
use isomorph::{Error, Kind};

use crate::interrupt::Interrupt;
#[cfg(feature = "cypher")]
use crate::stdio::DASH;

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

/// The longest query that is read, bytes.
#[cfg(feature = "cypher")]
const LONGEST: u64 = 16 << 20;

/// The text of a query: an argument, or what a file has; `-` is standard input in both, and for one of the `others` that are read.
///
/// # Errors
/// If it cannot be read, is too long or no text, or standard input is to be read twice.
#[cfg(feature = "cypher")]
pub fn query<'a>(
    argument: Option<&str>,
    file: Option<&str>,
    mut others: impl Iterator<Item = &'a str>,
    interrupt: &Interrupt,
) -> Result<String> {
    let (name, input): (&str, Box<dyn Read>) = match (argument, file) {
        (Some(DASH), _) | (None, Some(DASH)) => {
            if others.any(|other| other == DASH) {
                return Err(Error::usage("standard input can be read only once").hint("give - once"));
            }
            ("standard input", Box::new(Input::new(interrupt.clone())?))
        }
        (Some(text), _) => return Ok(text.to_owned()),
        (None, Some(path)) => (path, Box::new(std::fs::File::open(path).map_err(|error| Error::from(error).at(path))?)),
        (None, None) => return Err(Error::usage("no query was given")),
    };
    let mut text = Vec::new();
    input.take(LONGEST + 1).read_to_end(&mut text).map_err(|error| Error::from(error).at(name))?;
    if text.len() as u64 > LONGEST {
        return Err(Error::new(Kind::TooLarge, "a query may have 16 MiB").at(name));
    }
    String::from_utf8(text).map_err(|_| Error::malformed("the query is not UTF-8").at(name))
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
