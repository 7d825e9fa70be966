//! Feeds the parsers of the Turtle family, so that the length of a token is limited only by memory.
//!
//! If such a parser reads by itself, it holds at most 16 MiB. Fed with bytes it has no such limit, but scans an
//! incomplete token from its beginning each time. So each time a statement has not ended, it gets as many bytes again
//! as it already has.

use std::io;

use isomorph_error::{Error, Kind};
use isomorph_storage::{Budget, Reservation};
use oxrdf::{GraphName, Quad};
use oxttl::TurtleSyntaxError;
use oxttl::nquads::LowLevelNQuadsParser;
use oxttl::ntriples::LowLevelNTriplesParser;
use oxttl::trig::LowLevelTriGParser;
use oxttl::turtle::LowLevelTurtleParser;

use super::guard::{CHUNK, Guarded};

/// Memory for an incomplete token, as a multiple of its length: the parser's buffer and the value, which grow by
/// doubling.
const EXPANSION: u64 = 4;

/// A parser that is fed with bytes.
pub(super) trait Low {
    fn extend(&mut self, bytes: &[u8]);
    fn end(&mut self);
    fn is_end(&self) -> bool;
    fn parse(&mut self) -> Option<Result<Quad, TurtleSyntaxError>>;
}

macro_rules! low {
    ($parser:ty, $quad:expr) => {
        impl Low for $parser {
            fn extend(&mut self, bytes: &[u8]) {
                self.extend_from_slice(bytes);
            }

            fn end(&mut self) {
                <$parser>::end(self);
            }

            fn is_end(&self) -> bool {
                <$parser>::is_end(self)
            }

            fn parse(&mut self) -> Option<Result<Quad, TurtleSyntaxError>> {
                self.parse_next().map(|next| next.map($quad))
            }
        }
    };
}

low!(LowLevelNTriplesParser, |triple| triple.in_graph(GraphName::DefaultGraph));
low!(LowLevelNQuadsParser, |quad| quad);
low!(LowLevelTurtleParser, |triple| triple.in_graph(GraphName::DefaultGraph));
low!(LowLevelTriGParser, |quad| quad);

/// A parser with its text.
pub(super) struct Pushed<'a, P> {
    pub(super) parser: P,
    text: Guarded<'a>,
    /// Number of bytes since its last result.
    since: usize,
    /// Number of bytes in the last feed, and of earlier bytes that it may still hold.
    last: usize,
    rest: usize,
    held: Reservation,
}

impl<'a, P: Low> Pushed<'a, P> {
    pub(super) fn new(parser: P, text: Guarded<'a>, budget: &Budget) -> isomorph_error::Result<Self> {
        Ok(Pushed { parser, text, since: 0, last: 0, rest: 0, held: budget.reserve(0)? })
    }

    /// The next quad or error.
    pub(super) fn next(&mut self) -> Option<io::Result<Result<Quad, TurtleSyntaxError>>> {
        while !self.parser.is_end() {
            if let Some(next) = self.parser.parse() {
                (self.since, self.rest) = (0, self.last);
                return Some(Ok(next));
            }
            if let Err(error) = self.extend() {
                return Some(Err(error));
            }
        }
        None
    }

    fn extend(&mut self) -> io::Result<()> {
        let wanted = self.since.max(1);
        self.last = 0;
        while self.last < wanted {
            let bytes = self.text.chunk()?;
            if bytes.is_empty() {
                self.parser.end();
                break;
            }
            self.parser.extend(bytes);
            (self.since, self.last) = (self.since + bytes.len(), self.last + bytes.len());
            self.hold()?;
        }
        Ok(())
    }

    /// Counts what is held. Two chunks are the buffers that every parser has.
    fn hold(&mut self) -> io::Result<()> {
        let more = (self.since + self.rest).saturating_sub(2 * CHUNK) as u64 * EXPANSION;
        // The parser keeps its buffer even if it needs less.
        let missing = more.saturating_sub(self.held.bytes());
        if missing == 0 || self.held.try_grow(missing) {
            return Ok(());
        }
        let message = format!("more than {} bytes without a statement, which must be held in memory", self.since);
        Err(self.text.fail(Error::new(Kind::TooLarge, message).hint("raise --memory")))
    }
}
