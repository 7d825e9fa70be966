//! A text of Turtle or TriG during reading: the current piece, and the position of its next token.

use std::io::Read;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::Reservation;

use super::super::ReadOptions;
use super::super::guard::{CHUNK, Start, TripleGuard, Watch};

/// A text, as far as it is read.
pub(super) struct Source<'a, 'w> {
    input: &'a mut dyn Read,
    watch: &'w Watch,
    guard: TripleGuard,
    pub(super) bytes: Vec<u8>,
    held: Reservation,
    largest: u64,
    pub(super) ended: bool,
    /// The position after what was read.
    end: Start,
    /// The start of the piece, and of the next token, in `bytes`; the start of the piece in the text.
    pub(super) from: usize,
    pub(super) at: usize,
    pub(super) start: Start,
}

impl<'a, 'w> Source<'a, 'w> {
    pub(super) fn new(input: &'a mut dyn Read, watch: &'w Watch, largest: u64, options: &ReadOptions) -> Result<Self> {
        let start = Start::of_text(watch.before);
        Ok(Source {
            input,
            watch,
            guard: TripleGuard::default(),
            bytes: Vec::new(),
            held: options.budget.reserve(0)?,
            largest,
            ended: false,
            end: start,
            from: 0,
            at: 0,
            start,
        })
    }

    /// Reads more: as much again as there is of the piece.
    pub(super) fn fill(&mut self) -> Result<()> {
        self.bytes.drain(..self.from);
        self.at -= self.from;
        self.from = 0;
        if self.bytes.len() as u64 > self.largest {
            let what = format!("a statement of more than {} bytes, which may have to be held in memory", self.largest);
            return Err(Error::new(Kind::TooLarge, what)
                .at(self.start.place())
                .hint("--memory 8GiB    allow a sixteenth of that"));
        }
        let wanted = self.bytes.len().max(CHUNK);
        let missing = ((self.bytes.len() + wanted) as u64).saturating_sub(self.held.bytes());
        self.held.grow(missing)?;
        let before = self.bytes.len();
        let read = Read::take(&mut *self.input, wanted as u64).read_to_end(&mut self.bytes)?;
        self.ended = read < wanted;
        let bytes = self.bytes.get(before..).unwrap_or_default();
        if let Some(seen) = &self.watch.seen {
            seen.borrow_mut().look(bytes)?;
        }
        self.guard.look(bytes).map_err(|(at, error)| error.at(self.end.behind(bytes, at).place()))?;
        self.end.pass(bytes);
        Ok(())
    }

    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The part of the piece that was read.
    pub(super) fn piece(&self) -> &[u8] {
        self.bytes.get(self.from..self.at).unwrap_or_default()
    }

    pub(super) fn place(&self, at: usize) -> Place {
        self.start.behind(self.bytes.get(self.from..).unwrap_or_default(), at.saturating_sub(self.from)).place()
    }

    /// Starts the next piece here.
    pub(super) fn begin(&mut self) {
        self.start.pass(self.bytes.get(self.from..self.at).unwrap_or_default());
        self.from = self.at;
    }
}
