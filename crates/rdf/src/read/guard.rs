//! Checks a text before a parser reads it, for constructs that are far more expensive than their length.
//!
//! The parsers keep a state for each level of nesting, and return terms as nested values. A text of a few megabytes
//! could nest so deep that freeing such a value overflows the stack. XML can also use an entity whose text refers to
//! other entities.

mod entities;
mod json;
mod triples;
mod wellformed;
mod xml;

use std::cell::{Cell, RefCell};
use std::io::{self, Read};

use isomorph_error::{Error, Place, Result};

use super::labels::Seen;
use crate::{Syntax, rules};

/// Maximum nesting depth.
pub(super) const DEPTH: usize = 128;

pub(super) use self::entities::{Entities, Extent, normalised, resolved};
pub(super) use self::json::JsonGuard;
pub(crate) use self::json::LONGEST as LONGEST_STRING;
pub(super) use self::triples::TripleGuard;
pub(super) use self::wellformed::{DECLARATION, encoding, is_ascii};
pub(super) use self::xml::XmlGuard;

/// Number of bytes that are read and checked at a time.
pub(super) const CHUNK: usize = 64 << 10;

/// The check for a syntax, chunk by chunk.
enum Guard {
    Triples(TripleGuard),
    Xml(Box<XmlGuard>),
    Json(JsonGuard),
}

/// Reads a text for a parser; the first violation ends it.
pub(super) struct Guarded<'a> {
    input: &'a mut dyn Read,
    guard: Guard,
    watch: &'a Watch,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// The position after what was read and checked.
    here: Start,
    by_line: bool,
    /// The reason why nothing is read after what was passed on.
    ahead: Option<Error>,
}

/// The observations about a text that a parser is reading.
#[derive(Default)]
pub(super) struct Watch {
    /// Labels that look like those that parsers generate.
    pub(super) seen: Option<RefCell<Seen>>,
    /// The reason why reading ended: it is more precise than the parser's own error.
    pub(super) failed: RefCell<Option<Error>>,
    /// The position of the parser, for syntaxes whose parsers do not report it.
    pub(super) at: Cell<At>,
    /// The line that it reads, up to a length of [`CHUNK`].
    pub(super) line: RefCell<Vec<u8>>,
    /// Bytes of the file before the text: its byte order mark, which no parser gets.
    pub(super) before: u64,
}

impl Watch {
    /// The last line that was passed on, and in it the column of the last character before the byte `end`.
    pub(super) fn place(&self, end: Option<u64>) -> Place {
        let at = self.at.get();
        let place = Place::default().line(at.line.max(1));
        let line = self.line.borrow();
        let before =
            end.and_then(|end| end.checked_sub(at.start)).and_then(|length| line.get(..usize::try_from(length).ok()?));
        let offset = self.before + at.start;
        let Some(before) = before.filter(|before| !before.is_empty()) else { return place.offset(offset) };
        // Columns are characters, as the other parsers count them.
        let column = before.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        place.offset(offset + before.len() as u64 - 1).in_field(format!("column {column}"))
    }

    /// Converts a place that a parser reports to one in the file.
    pub(super) fn in_file(&self, place: Place) -> Place {
        Place { offset: place.offset.map(|offset| offset + self.before), ..place }
    }
}

/// The beginning of something: its line and column, counted from 1, and the number of bytes before it in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    line: u64,
    column: u64,
    offset: u64,
}

impl Start {
    /// The beginning of a text that starts `before` bytes after the beginning of its file.
    pub(super) fn of_text(before: u64) -> Self {
        Start { line: 1, column: 1, offset: before }
    }

    /// Moves on after these bytes.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        let last = match memchr::memrchr(b'\n', bytes) {
            Some(end) => {
                self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
                self.column = 1;
                bytes.get(end + 1..).unwrap_or_default()
            }
            None => bytes,
        };
        // Columns are characters, as the parsers count them.
        self.column += last.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
    }

    /// The position after the first of these bytes.
    pub(super) fn behind(mut self, bytes: &[u8], count: usize) -> Self {
        self.pass(bytes.get(..count).unwrap_or(bytes));
        self
    }

    pub(super) fn place(self) -> Place {
        Place::default().line(self.line).offset(self.offset).in_field(format!("column {}", self.column))
    }
}

/// A position in a text that is passed on line by line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct At {
    /// Number of lines that were started.
    line: u64,
    /// Offset of the last of them.
    start: u64,
    /// Offset of the next read.
    end: u64,
    /// Whether the next read is within a line.
    within: bool,
}

impl<'a> Guarded<'a> {
    /// Creates the guard for a text of `syntax`; JSON is refused if it is longer than `largest` bytes.
    pub(super) fn new(input: &'a mut dyn Read, syntax: Syntax, watch: &'a Watch, largest: u64) -> Self {
        let guard = match syntax {
            Syntax::RdfXml => Guard::Xml(Box::new(XmlGuard::strict())),
            Syntax::JsonLd => Guard::Json(JsonGuard::new(largest)),
            _ => Guard::Triples(TripleGuard::default()),
        };
        let (here, by_line) = (Start::of_text(watch.before), !syntax.recovers());
        Guarded { input, guard, watch, buffer: vec![0; CHUNK], from: 0, to: 0, here, by_line, ahead: None }
    }

    /// The next bytes, all that were read; empty at the end.
    ///
    /// # Errors
    /// If no more can be read; the [`Watch`] has the reason.
    pub(super) fn chunk(&mut self) -> io::Result<&[u8]> {
        self.refill()?;
        let from = std::mem::replace(&mut self.from, self.to);
        Ok(self.buffer.get(from..self.to).unwrap_or_default())
    }

    /// Ends the text with this error, at the last position that was read.
    pub(super) fn fail(&self, error: Error) -> io::Error {
        self.watch.failed.replace(Some(error.at(self.here.place())));
        io::Error::other("no more can be read")
    }

    fn refill(&mut self) -> io::Result<()> {
        if self.from < self.to {
            return Ok(());
        }
        self.fill().map_err(|error| {
            self.watch.failed.replace(Some(error));
            io::Error::other("no more can be read")
        })
    }

    fn fill(&mut self) -> Result<()> {
        self.from = 0;
        self.to = 0;
        if let Some(error) = self.ahead.take() {
            return Err(error);
        }
        let read = self.input.read(&mut self.buffer)?;
        let bytes = self.buffer.get(..read).unwrap_or_default();
        if let Some(seen) = &self.watch.seen {
            seen.borrow_mut().look(bytes)?;
        }
        let looked = match &mut self.guard {
            Guard::Triples(guard) => guard.look(bytes),
            Guard::Xml(guard) => guard.look(bytes),
            Guard::Json(guard) => guard.look(bytes),
        };
        if let Err((at, error)) = looked {
            let error = error.at(self.here.behind(bytes, at).place());
            if at == 0 || error.broken_rule() != Some(&rules::SYNTAX) {
                return Err(error);
            }
            // The text before an error is read, and may contain another error.
            self.here.pass(bytes.get(..at).unwrap_or_default());
            (self.to, self.ahead) = (at, Some(error));
            return Ok(());
        }
        // The parser treats what is open at the end as closed.
        if let Guard::Xml(guard) = &self.guard
            && read == 0
        {
            guard.end().map_err(|error| error.at(self.here.place()))?;
        }
        self.here.pass(bytes);
        self.to = read;
        Ok(())
    }
}

/// The violation, and its offset in the chunk.
pub(super) type TooMuch = (usize, Error);

impl Read for Guarded<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.refill()?;
        let mut length = (self.to - self.from).min(out.len());
        if self.by_line {
            // One line at a time, so that the line of an error is the last that was passed on.
            let rest = &self.buffer[self.from..self.from + length];
            let end = memchr::memchr(b'\n', rest);
            length = end.map_or(length, |end| end + 1);
            let mut place = self.watch.at.get();
            let mut line = self.watch.line.borrow_mut();
            if !place.within {
                line.clear();
                (place.line, place.start) = (place.line + 1, place.end);
            }
            (place.end, place.within) = (place.end + length as u64, end.is_none());
            let room = CHUNK.saturating_sub(line.len());
            line.extend_from_slice(rest.get(..length.min(room)).unwrap_or_default());
            self.watch.at.set(place);
        }
        out[..length].copy_from_slice(&self.buffer[self.from..self.from + length]);
        self.from += length;
        Ok(length)
    }
}
