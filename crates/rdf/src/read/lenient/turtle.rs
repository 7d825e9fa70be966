//! Turtle and TriG in pieces: their statements, and the directives between them.
//!
//! Each statement is read with the prefixes and the base that were set before it, and inside a graph of TriG in that
//! graph. So a malformed statement does not affect others, unless its end is unknown: a string that is not closed,
//! braces that do not match. Such a text is refused from that position.

use std::io::Read;

use isomorph_error::{Error, Place, Result};
use oxrdf::BlankNode;

use super::super::guard::Watch;
use super::known::Says;
use super::seen::{Last, Seen};
use super::source::Source;
use super::token::{Token, token};
use super::{Cut, Doubt, Frame, Piece, Pieces};
use crate::rules;

/// A graph that is not yet closed.
struct Graph {
    begin: Place,
    /// Whether it is skipped.
    skipped: bool,
}

struct Cutter<'a, 'w, 'p, 'o, 't> {
    source: Source<'a, 'w>,
    seen: Seen,
    graph: Option<Graph>,
    /// What a directive without a full stop sets, if it is before the piece on its line: the piece may continue it.
    before: Option<Says>,
    pieces: &'p mut Pieces<'o, 't>,
}

/// Splits a text.
///
/// # Errors
/// If the end of a piece is unknown, a piece is longer than `largest` bytes, or cannot be read.
pub(super) fn cut<'a>(
    input: &'a mut dyn Read,
    watch: &Watch,
    largest: u64,
    pieces: &mut Pieces<'_, '_>,
) -> Result<Cut<'a>> {
    pieces.begin(outside())?;
    let source = Source::new(input, watch, largest, pieces.options)?;
    let mut cutter = Cutter { source, seen: Seen::default(), graph: None, before: None, pieces };
    while let Some((length, token)) = cutter.next()? {
        cutter.take(length, token)?;
    }
    cutter.finish()?;
    Ok(Cut::Framed)
}

/// The frame of statements that are in no graph. Between pieces there was space, or the end of a token.
fn outside() -> Frame {
    Frame { between: b"\n", ..Frame::default() }
}

/// The error if the text after a place cannot be read.
fn lost(what: &str, place: Place) -> Error {
    Error::broken(&rules::SYNTAX, what).at(place)
}

impl Cutter<'_, '_, '_, '_, '_> {
    /// The next token.
    fn next(&mut self) -> Result<Option<(usize, Token)>> {
        loop {
            let rest = self.source.rest();
            match token(rest, self.source.ended) {
                Some((length, found)) if !rest.is_empty() => return Ok(Some((length, found))),
                _ if self.source.ended => return Ok(None),
                _ => self.fill()?,
            }
        }
    }

    fn fill(&mut self) -> Result<()> {
        // A skipped piece is not held, except strings whose end decides what they are.
        if self.seen.broken.is_some() && self.seen.last == Last::Other {
            self.source.begin();
        }
        self.source.fill()
    }

    fn take(&mut self, length: usize, token: Token) -> Result<()> {
        let (at, end) = (self.source.at, self.source.at + length);
        let bytes = self.source.bytes.get(at..end).unwrap_or_default();
        if token == Token::Space {
            self.seen.lines |= bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
            self.source.at = end;
            if self.seen.tokens == 0 {
                self.before.take_if(|_| self.seen.lines);
                self.source.begin();
            }
            return Ok(());
        }
        let adjacent = self.source.bytes.get(at.wrapping_sub(1)).is_some_and(|byte| !byte.is_ascii_whitespace());
        if let Last::Text(from, long) = self.seen.last
            && !may_follow(token, bytes)
        {
            let from = self.source.from + from;
            let what = "a string must not end at this quotation mark: one is missing, or not escaped";
            match self.seen.opened.last() {
                // Members of a list need no separator.
                Some(b'(') => {
                    if adjacent && self.seen.doubt.is_none() {
                        self.seen.doubt = Some(Doubt { what, place: self.source.place(from) });
                    }
                }
                _ if long => return Err(lost(what, self.source.place(from))),
                _ if self.seen.lines => {}
                _ => return self.skip_line(from, what),
            }
        }
        if let Some(before) = self.before.take() {
            self.seen.says = before;
        }
        self.seen.note(token, bytes, at - self.source.from);
        match token {
            // Nothing follows the position at which the text was truncated.
            Token::Endless if self.source.ended && is_last_line(self.source.rest()) => {
                let what = "the text ends inside a string".to_owned();
                self.seen.broken.get_or_insert((what, self.source.place(at)));
                self.source.at = self.source.bytes.len();
                return Ok(());
            }
            Token::Endless => {
                return Err(lost("a string that starts here does not end, or not on its line", self.source.place(at)));
            }
            Token::Astray => return self.skip_line(at, "an IRI that starts here does not end"),
            Token::Begin => return self.begin_graph(),
            Token::End => return self.end_graph(),
            _ => {}
        }
        self.source.at = end;
        match token {
            Token::Dot if self.seen.opened.is_empty() => self.end_piece(),
            Token::Dot => {
                let place = self.source.place(at);
                self.seen.dot.get_or_insert(place.clone());
                self.seen.broken.get_or_insert(("a full stop inside brackets".to_owned(), place));
                Ok(())
            }
            _ if self.seen.until == Some(token) => {
                self.before = Some(self.seen.says.clone());
                self.end_piece()
            }
            _ => Ok(()),
        }
    }

    /// Skips the rest of the line from a token without an end: its content is unknown.
    fn skip_line(&mut self, from: usize, what: &'static str) -> Result<()> {
        let place = self.source.place(from);
        let from = from - self.source.from;
        let line = loop {
            let rest = self.source.bytes.get(self.source.from + from..).unwrap_or_default();
            match memchr::memchr2(b'\n', b'\r', rest) {
                Some(length) => break rest.get(..length).unwrap_or_default(),
                None if self.source.ended => break rest,
                None => self.source.fill()?,
            }
        };
        let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
        let quote = if line.first() == Some(&b'\'') { b'\'' } else { b'"' };
        // Strings end with their line, and brackets are counted, unless the line may contain more than that.
        let braces = self.pieces.syntax.has_graphs() && (has(b"{") || has(b"}"));
        if !self.seen.opened.is_empty()
            || braces
            || has(b"\"\"\"")
            || has(b"'''")
            || !quotes(line, quote).is_multiple_of(2)
        {
            return Err(lost(what, place));
        }
        let lower = line.to_ascii_lowercase();
        let directive = |word: &[u8]| memchr::memmem::find(&lower, word).is_some();
        self.seen.says.all |= directive(b"prefix") || directive(b"base");
        let is_end = line.trim_ascii_end().ends_with(b".") || self.seen.until.is_some();
        self.source.at = self.source.from + from + line.len();
        self.seen.broken.get_or_insert((what.to_owned(), place));
        self.seen.last = Last::Other;
        self.seen.tokens += 1;
        if is_end { self.end_piece() } else { Ok(()) }
    }

    fn begin_graph(&mut self) -> Result<()> {
        let place = self.source.place(self.source.at);
        if self.graph.is_some() || !self.seen.opened.is_empty() {
            return Err(lost("a graph starts inside another, or inside brackets", place));
        }
        let seen = std::mem::take(&mut self.seen);
        let mut header = self.source.piece().to_vec();
        let piece = Piece { text: header.clone(), start: self.source.start, says: seen.says, doubt: seen.doubt };
        // A graph without a label is one node, however often its reading starts.
        if let Some((begin, end)) = seen.node.filter(|(begin, end)| begin < end && *end <= header.len()) {
            header.splice(begin..end, format!(" _:{} ", BlankNode::default().as_str()).into_bytes());
        }
        self.source.at += 1;
        self.source.begin();
        if header.is_empty() {
            self.pieces.read_waiting()?;
        }
        let broken = match seen.broken {
            // Statements without a name are in the default graph.
            None if header.is_empty() && self.pieces.skipped_last => {
                Some(("a graph whose name may be in the skipped text before it".to_owned(), place.clone()))
            }
            broken => broken,
        };
        let skipped = match broken {
            Some(mistake) => {
                self.pieces.read_waiting()?;
                self.pieces.skip(&piece, mistake)?;
                true
            }
            None => !self.pieces.header(piece)?,
        };
        if !skipped {
            self.pieces.frame(Frame {
                before: [&header, b"{".as_slice()].concat(),
                between: b"\n",
                after: b"}".to_vec(),
            })?;
        }
        self.graph = Some(Graph { begin: place, skipped });
        Ok(())
    }

    fn end_graph(&mut self) -> Result<()> {
        let place = self.source.place(self.source.at);
        if self.graph.is_none() {
            return Err(lost("a graph ends that was not started", place));
        }
        if !self.seen.opened.is_empty() {
            return Err(lost("a graph ends inside brackets", place));
        }
        if self.seen.tokens > 1 {
            self.end_piece()?;
        }
        self.seen = Seen::default();
        self.source.at += 1;
        self.source.begin();
        self.graph = None;
        self.pieces.frame(outside())?;
        self.pieces.skipped_last = false;
        Ok(())
    }

    /// Ends the piece.
    fn end_piece(&mut self) -> Result<()> {
        let seen = std::mem::take(&mut self.seen);
        let skipped = self.graph.as_ref().is_some_and(|graph| graph.skipped);
        let text = if seen.broken.is_some() || skipped { Vec::new() } else { self.source.piece().to_vec() };
        let piece = Piece { text, start: self.source.start, says: seen.says, doubt: seen.doubt };
        self.source.begin();
        match seen.broken {
            _ if skipped => {
                self.pieces.forget(&piece.says);
                Ok(())
            }
            Some(mistake) => {
                self.pieces.read_waiting()?;
                self.pieces.skip(&piece, mistake)
            }
            None => self.pieces.push(piece),
        }
    }

    /// Ends the text.
    fn finish(mut self) -> Result<()> {
        if let Some(dot) = self.seen.dot.take().filter(|_| !self.seen.opened.is_empty()) {
            return Err(lost("a full stop inside brackets that are not closed", dot));
        }
        if self.seen.tokens > 0 {
            self.end_piece()?;
        }
        self.pieces.read_waiting()?;
        match self.graph {
            Some(graph) => Err(lost("a graph that starts here does not end", graph.begin)),
            None => Ok(()),
        }
    }
}

/// Whether a string can be followed by such a token.
fn may_follow(token: Token, bytes: &[u8]) -> bool {
    match token {
        Token::Dot | Token::Close | Token::End | Token::Open(b'|') => true,
        Token::Sign => matches!(bytes, b"," | b";" | b"^" | b"~" | b">"),
        Token::Word => bytes.first() == Some(&b'@'),
        _ => false,
    }
}

/// Whether a string that does not end can contain only this line.
fn is_last_line(rest: &[u8]) -> bool {
    !rest.starts_with(b"\"\"\"")
        && !rest.starts_with(b"'''")
        && memchr::memchr2(b'\n', b'\r', rest.trim_ascii_end()).is_none()
}

/// Quotation marks in a line that are not escaped.
fn quotes(line: &[u8], quote: u8) -> usize {
    let (mut count, mut escaped) = (0, false);
    for byte in line {
        count += usize::from(*byte == quote && !escaped);
        escaped = *byte == b'\\' && !escaped;
    }
    count
}
