//! RDF/XML in a form that its parser reads as XML and RDF/XML define.
//!
//! The parser reads the events of an XML parser that is no XML processor: it does not normalise line ends and values of
//! attributes (XML 1.0, sections 2.11 and 3.3.3), takes each comment, instruction and CDATA section as the end of a
//! text, and reads entities in its own way. So it gets another text without any of them. Tags are changed as well where
//! it deviates from RDF/XML: see [`tag`].
//!
//! It also writes the content of an element with `rdf:parseType="Literal"` in a form that is neither canonical nor
//! always XML. So it gets the same element with `rdf:datatype`, and the canonical form as its text. If there is no such
//! form, because the content is malformed, it gets the content, and reports the error.

mod canonical;
mod tag;

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use self::canonical::canonical;
use self::tag::{Content, Scopes, Start};
use super::guard::{DECLARATION, Entities, Extent, encoding, is_ascii};
use crate::xml::push_text;

pub(super) use self::tag::PREFIX;

/// Bytes that are read at a time, and that are kept of a comment or CDATA section.
const CHUNK: usize = 16 << 10;

/// Positions in the text for the parser, with the positions in the text that was read; since the parser's last read,
/// because errors are never before it.
#[derive(Default)]
pub(super) struct Positions(RefCell<Vec<(u64, u64)>>);

impl Positions {
    /// The position in the text that was read.
    pub(super) fn read(&self, given: u64) -> u64 {
        let marks = self.0.borrow();
        let next = marks.partition_point(|(at, _)| *at <= given);
        let end = marks.get(next).map_or(u64::MAX, |(_, read)| *read);
        match next.checked_sub(1).and_then(|last| marks.get(last)) {
            Some((at, read)) => (read + (given - at)).min(end),
            None => given.min(end),
        }
    }

    /// Forgets positions before this one in the text for the parser, but for the last of them.
    fn forget(&self, given: u64) {
        let mut marks = self.0.borrow_mut();
        let old = marks.partition_point(|(at, _)| *at < given);
        marks.drain(..old.saturating_sub(1));
    }
}

/// RDF/XML without document type, comments, instructions, CDATA sections and XML literals.
pub(super) struct Plain<R> {
    inner: R,
    entities: Entities,
    scopes: Scopes,
    /// How many elements are open.
    depth: usize,
    /// The tag, comment, instruction or section that is being read.
    token: Vec<u8>,
    quote: Option<u8>,
    extent: Extent,
    /// The reference that is being read in a text.
    reference: Option<Vec<u8>>,
    /// Whether the last character was a carriage return.
    returned: bool,
    literal: Option<Literal>,
    /// The depth in a literal without a canonical form: tags in it are not RDF/XML.
    raw: Option<usize>,
    ready: Vec<u8>,
    from: usize,
    /// Number of bytes that the parser got before `ready`, and that were read.
    given: u64,
    read: u64,
    positions: Rc<Positions>,
    buffer: Vec<u8>,
}

/// A literal that is being read.
struct Literal {
    /// The tag before it for the parser, and the one if it has no canonical form.
    tag: String,
    other: String,
    content: Vec<u8>,
    /// How many elements are open in it.
    depth: usize,
    /// The position of the content.
    start: u64,
}

/// What starts with `<`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Unknown,
    Tag,
    Comment,
    Data,
    Instruction,
    DocumentType,
}

const COMMENT: &[u8] = b"<!--";
const DATA: &[u8] = b"<![CDATA[";

impl Token {
    fn of(begin: &[u8]) -> Self {
        let may_be = |what: &[u8]| what.starts_with(begin);
        match begin {
            [b'<', b'?', ..] => Token::Instruction,
            _ if begin.starts_with(COMMENT) => Token::Comment,
            _ if begin.starts_with(DATA) => Token::Data,
            [] | [b'<'] => Token::Unknown,
            [b'<', b'!', ..] if may_be(COMMENT) || may_be(DATA) => Token::Unknown,
            [b'<', b'!', ..] => Token::DocumentType,
            _ => Token::Tag,
        }
    }

    /// Whether a token that ends with `>` is complete, if that shows at its end.
    fn is_complete(self, token: &[u8]) -> bool {
        let (begin, end): (&[u8], &[u8]) = match self {
            Token::Comment => (COMMENT, b"-->"),
            Token::Data => (DATA, b"]]>"),
            Token::Instruction => (b"<?", b"?>"),
            Token::Tag | Token::DocumentType | Token::Unknown => return false,
        };
        token.len() >= begin.len() + end.len() && token.ends_with(end)
    }
}

impl<R: Read> Plain<R> {
    /// For a parser that has this base.
    pub(super) fn new(inner: R, positions: &Rc<Positions>, base: Option<&str>) -> Self {
        Plain {
            inner,
            entities: Entities::default(),
            scopes: Scopes::new(base),
            depth: 0,
            token: Vec::new(),
            quote: None,
            extent: Extent::default(),
            reference: None,
            returned: false,
            literal: None,
            raw: None,
            ready: Vec::new(),
            from: 0,
            given: 0,
            read: 0,
            positions: Rc::clone(positions),
            buffer: vec![0; CHUNK],
        }
    }

    /// Reads on until there is something for the parser, or the text ends.
    fn fill(&mut self) -> io::Result<()> {
        self.given += self.ready.len() as u64;
        self.ready.clear();
        self.from = 0;
        self.positions.forget(self.given);
        if self.token.is_empty() && self.literal.is_none() {
            self.mark();
        }
        while self.ready.is_empty() {
            let read = self.inner.read(&mut self.buffer)?;
            let buffer = std::mem::take(&mut self.buffer);
            self.pass(buffer.get(..read).unwrap_or_default());
            self.buffer = buffer;
            if read == 0 {
                break;
            }
        }
        Ok(())
    }

    fn pass(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.token.is_empty() {
                let (text, behind) = rest.split_at(memchr::memchr(b'<', rest).unwrap_or(rest.len()));
                match &mut self.literal {
                    Some(literal) => literal.content.extend_from_slice(text),
                    None => self.text(text),
                }
                self.read += text.len() as u64;
                rest = behind;
            }
            let Some(byte) = rest.first() else { break };
            let token = Token::of(&self.token);
            if token == Token::Unknown {
                if self.token.is_empty() {
                    self.begin_token();
                }
                self.token.push(*byte);
                (self.read, rest) = (self.read + 1, rest.get(1..).unwrap_or_default());
                continue;
            }
            let (length, ended) = self.more(token, rest);
            let (more, behind) = rest.split_at(length);
            self.token.extend_from_slice(more);
            self.read += length as u64;
            rest = behind;
            match ended || token.is_complete(&self.token) {
                true => self.end_token(token),
                false => self.shorten(token),
            }
        }
    }

    fn begin_token(&mut self) {
        if self.literal.is_none() {
            self.mark();
        }
        (self.quote, self.extent, self.returned) = (None, Extent::default(), false);
    }

    /// How many of these bytes belong to a token, and whether it ends with them. Comments, sections and instructions
    /// may end at the last.
    fn more(&mut self, token: Token, rest: &[u8]) -> (usize, bool) {
        let to = |end: Option<usize>| end.map_or(rest.len(), |end| end + 1);
        match token {
            Token::Tag => {
                for (at, byte) in rest.iter().enumerate() {
                    match (self.quote, byte) {
                        (Some(open), byte) if open == *byte => self.quote = None,
                        (None, b'"' | b'\'') => self.quote = Some(*byte),
                        (None, b'>') => return (at + 1, true),
                        _ => {}
                    }
                }
                (rest.len(), false)
            }
            Token::DocumentType => {
                let end = rest.iter().position(|byte| self.extent.step(*byte));
                (to(end), end.is_some())
            }
            Token::Unknown | Token::Comment | Token::Data | Token::Instruction => {
                (to(memchr::memchr(b'>', rest)), false)
            }
        }
    }

    /// Passes on what is read of a long section, and forgets what is read of a long comment or instruction.
    fn shorten(&mut self, token: Token) {
        let begin = match token {
            Token::Comment => COMMENT.len(),
            Token::Data => DATA.len(),
            Token::Instruction => DECLARATION,
            _ => return,
        };
        if self.literal.is_some() || self.token.len() < CHUNK {
            return;
        }
        let end = self.token.len() - 2;
        let inside: Vec<u8> = self.token.drain(begin..end).collect();
        if token == Token::Data {
            self.data(&inside);
        }
    }

    /// Processes a tag, comment, section, instruction or document type.
    fn end_token(&mut self, kind: Token) {
        let token = std::mem::take(&mut self.token);
        match (&mut self.literal, kind) {
            (_, Token::Tag) => self.tag(&token),
            (Some(literal), _) => literal.content.extend_from_slice(&token),
            (None, Token::Data) => self.data(token.get(DATA.len()..token.len() - 3).unwrap_or_default()),
            (None, Token::Instruction) => {
                let content = token.get(2..token.len() - 2).unwrap_or_default();
                // The parser refuses other encodings than UTF-8.
                if encoding(content).is_some_and(|encoding| !is_ascii(encoding)) {
                    self.ready.extend_from_slice(&token);
                }
            }
            (None, Token::DocumentType) => {
                // What is malformed was refused before.
                self.entities = Entities::of(&String::from_utf8_lossy(&token)).unwrap_or_default();
            }
            (None, Token::Comment | Token::Unknown) => {}
        }
        self.returned = false;
        if self.literal.is_none() {
            self.mark();
        }
    }

    fn tag(&mut self, token: &[u8]) {
        let is_end = token.starts_with(b"</");
        let is_empty = !is_end && token.ends_with(b"/>");
        if is_end {
            if self.literal.as_ref().is_some_and(|literal| self.depth == literal.depth) {
                self.end_literal(token.len());
            }
            self.depth = self.depth.saturating_sub(1);
            self.raw = self.raw.filter(|raw| self.depth >= *raw);
            if self.literal.is_none() {
                self.scopes.leave(self.depth);
            }
        }
        let inside = self.depth + usize::from(!is_end && !is_empty);
        match &mut self.literal {
            Some(literal) => literal.content.extend_from_slice(token),
            None if is_end || memchr::memchr(b'=', token).is_none() => self.ready.extend_from_slice(token),
            None => {
                // Invalid UTF-8 was refused before.
                let text = String::from_utf8_lossy(token);
                let start = match self.raw {
                    Some(_) => tag::in_literal(&text, &self.entities),
                    None => self.scopes.enter(&text, self.depth + 1, &self.entities),
                };
                self.start(&text, start, inside, is_empty);
                if is_empty && self.literal.is_none() {
                    self.scopes.leave(self.depth);
                }
            }
        }
        self.depth = inside;
    }

    /// Passes on a start tag; `inside` is the depth after it.
    fn start(&mut self, token: &str, start: Start, inside: usize, is_empty: bool) {
        match start.content {
            Content::Elements => self.ready.extend_from_slice(start.tag.as_deref().unwrap_or(token).as_bytes()),
            Content::Literal(tag) if is_empty => self.ready.extend_from_slice(tag.as_bytes()),
            Content::Literal(tag) => {
                let other = start.tag.unwrap_or_else(|| token.to_owned());
                self.literal = Some(Literal { tag, other, content: Vec::new(), depth: inside, start: self.read });
            }
            Content::Raw => {
                self.ready.extend_from_slice(start.tag.as_deref().unwrap_or(token).as_bytes());
                self.raw = Some(inside).filter(|_| !is_empty);
            }
        }
    }

    /// Passes on a literal that was read, before its end tag of this length.
    fn end_literal(&mut self, end: usize) {
        let Some(literal) = self.literal.take() else { return };
        let form = std::str::from_utf8(&literal.content).ok();
        let form = form.and_then(|content| canonical(content, &self.scopes.namespaces()?, &self.entities));
        let tag = if form.is_some() { literal.tag } else { literal.other };
        self.ready.extend_from_slice(tag.as_bytes());
        self.read = literal.start;
        self.mark();
        match form {
            Some(form) => {
                let mut text = String::with_capacity(form.len());
                push_text(&mut text, &form);
                self.ready.extend_from_slice(text.as_bytes());
                self.read += literal.content.len() as u64;
            }
            None => {
                self.raw = Some(literal.depth);
                self.pass(&literal.content);
            }
        }
        self.mark();
        self.read += end as u64;
    }

    /// Passes on a text between tags.
    fn text(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(first) = rest.first() {
            if let Some(name) = &mut self.reference {
                let end = memchr::memchr(b';', rest);
                let (more, behind) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
                name.extend_from_slice(more);
                rest = behind;
                if end.is_some() {
                    self.end_reference();
                }
                continue;
            }
            if std::mem::take(&mut self.returned) && *first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let (plain, behind) = rest.split_at(memchr::memchr2(b'&', b'\r', rest).unwrap_or(rest.len()));
            self.ready.extend_from_slice(plain);
            rest = behind.get(1..).unwrap_or_default();
            match behind.first() {
                Some(b'&') => self.reference = Some(b"&".to_vec()),
                Some(_) => self.end_line(),
                None => {}
            }
        }
    }

    /// Passes on a reference in a text: what an entity of the text stands for, or the reference itself.
    fn end_reference(&mut self) {
        let Some(reference) = self.reference.take() else { return };
        let name = reference.get(1..reference.len() - 1).and_then(|name| std::str::from_utf8(name).ok());
        match name.and_then(|name| self.entities.text(name)) {
            Some(text) => {
                let mut given = String::new();
                push_text(&mut given, text);
                self.ready.extend_from_slice(given.as_bytes());
            }
            None => self.ready.extend_from_slice(&reference),
        }
    }

    /// Passes on the content of a CDATA section as a text.
    fn data(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.returned) && *first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let (plain, behind) = rest.split_at(memchr::memchr3(b'&', b'<', b'\r', rest).unwrap_or(rest.len()));
            self.ready.extend_from_slice(plain);
            rest = behind.get(1..).unwrap_or_default();
            match behind.first() {
                Some(b'&') => self.ready.extend_from_slice(b"&amp;"),
                Some(b'<') => self.ready.extend_from_slice(b"&lt;"),
                Some(_) => self.end_line(),
                None => {}
            }
        }
    }

    /// Passes on the end of a line that begins with a carriage return (XML 1.0, section 2.11).
    fn end_line(&mut self) {
        self.ready.push(b'\n');
        self.returned = true;
    }

    /// Notes that the position in the text for the parser belongs to the position in the text that was read.
    fn mark(&mut self) {
        let at = self.given + self.ready.len() as u64;
        let mut marks = self.positions.0.borrow_mut();
        // Bytes that the parser does not get have the position of what is after them.
        match marks.last_mut() {
            Some((last, read)) if *last == at => *read = self.read,
            _ => marks.push((at, self.read)),
        }
    }
}

impl<R: Read> Read for Plain<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.from == self.ready.len() {
            self.fill()?;
        }
        let rest = self.ready.get(self.from..).unwrap_or_default();
        let length = rest.len().min(out.len());
        let (to, from) = (out.get_mut(..length), rest.get(..length));
        if let (Some(to), Some(from)) = (to, from) {
            to.copy_from_slice(from);
        }
        self.from += length;
        Ok(length)
    }
}
