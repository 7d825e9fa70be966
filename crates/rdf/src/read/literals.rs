//! XML literals as texts.
//!
//! The parser of RDF/XML writes the content of an element with `rdf:parseType="Literal"` in a form that is neither
//! canonical nor always XML. So it gets another text: the same element with `rdf:datatype`, and the canonical form as
//! its text. If there is no such form, because the content is malformed, it gets the original text, and reports the
//! error.

mod canonical;

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use self::canonical::{Entities, Namespaces, PREFIXES, Tag, canonical, declared, resolved};
use super::corrections::NO_LANGUAGE;
use super::guard::XmlGuard;
use crate::xml::push_text;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const ITS: &str = "http://www.w3.org/2005/11/its";

/// Attributes that an element with a literal may have; with any other attribute the parser must report the error.
const BESIDE: [&str; 4] = ["ID", "annotation", "annotationNodeID", "version"];

/// Bytes that are read at a time.
const CHUNK: usize = 16 << 10;

/// How many more bytes the parser was given than were read.
pub(super) type Shift = Rc<Cell<i64>>;

/// RDF/XML without XML literals.
pub(super) struct Literals<R> {
    inner: R,
    /// Distinguishes tags, comments and texts. Violations were refused before.
    guard: XmlGuard,
    entities: Entities,
    /// Prefixes of the elements that declare some, with the depth; `None` if there are too many.
    scopes: Vec<(usize, Option<Rc<Namespaces>>)>,
    /// The tag, comment or instruction that is being read.
    token: Vec<u8>,
    literal: Option<Literal>,
    ready: Vec<u8>,
    from: usize,
    shift: Shift,
    buffer: Vec<u8>,
}

/// A literal that is being read.
struct Literal {
    /// The tag before it, and its replacement for the parser.
    tag: Vec<u8>,
    given: String,
    content: Vec<u8>,
    /// How many elements are open in it.
    depth: usize,
    scope: Rc<Namespaces>,
}

impl<R: Read> Literals<R> {
    pub(super) fn new(inner: R, shift: &Shift) -> Self {
        Literals {
            inner,
            guard: XmlGuard::default(),
            entities: Entities::new(),
            scopes: vec![(0, Some(Rc::default()))],
            token: Vec::new(),
            literal: None,
            ready: Vec::new(),
            from: 0,
            shift: Rc::clone(shift),
            buffer: vec![0; CHUNK],
        }
    }

    /// Reads on until there is something for the parser, or the text ends.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.from = 0;
        while self.ready.is_empty() {
            let read = self.inner.read(&mut self.buffer)?;
            let buffer = std::mem::take(&mut self.buffer);
            self.pass(buffer.get(..read).unwrap_or_default());
            self.buffer = buffer;
            if read == 0 {
                // An incomplete literal goes to the parser unchanged.
                if let Some(literal) = self.literal.take() {
                    self.ready.extend([literal.tag, literal.content].concat());
                }
                self.ready.append(&mut self.token);
                break;
            }
        }
        Ok(())
    }

    fn pass(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            let was_text = self.guard.is_text();
            if was_text && *byte != b'<' {
                let end = memchr::memchr(b'<', rest).unwrap_or(rest.len());
                let (text, behind) = rest.split_at(end);
                self.out().extend_from_slice(text);
                rest = behind;
                continue;
            }
            rest = rest.get(1..).unwrap_or_default();
            self.token.push(*byte);
            // It was checked before.
            let _ = self.guard.look(&[*byte]);
            if self.guard.is_text() {
                self.end_token();
            }
        }
    }

    /// The buffer for the current bytes.
    fn out(&mut self) -> &mut Vec<u8> {
        self.literal.as_mut().map_or(&mut self.ready, |literal| &mut literal.content)
    }

    /// Processes a tag, comment or instruction.
    fn end_token(&mut self) {
        let token = std::mem::take(&mut self.token);
        let token = if self.literal.is_none() { self.spoken(token) } else { token };
        let depth = self.guard.depth();
        match self.literal.take_if(|literal| depth < literal.depth) {
            Some(literal) => self.end_literal(&literal),
            None if self.literal.is_none() && token.starts_with(b"<!DOCTYPE") => self.declare(&token),
            None if self.literal.is_none() && !matches!(token.get(1), Some(b'/' | b'?' | b'!')) => {
                if let Some(literal) = self.begin(&token, depth) {
                    match literal.depth > depth {
                        true => self.end_literal(&literal),
                        false => self.literal = Some(literal),
                    }
                    return;
                }
            }
            None => {}
        }
        if self.literal.is_none() {
            self.scopes.truncate(self.scopes.iter().take_while(|(at, _)| *at <= depth).count());
        }
        self.out().extend_from_slice(&token);
    }

    /// A tag with a language that the parser accepts: it refuses the empty one, which means no language.
    fn spoken(&self, token: Vec<u8>) -> Vec<u8> {
        if memchr::memmem::find(&token, b"xml:lang").is_none() || matches!(token.get(1), Some(b'/' | b'?' | b'!')) {
            return token;
        }
        let given = std::str::from_utf8(&token).ok().and_then(|text| {
            let tag = Tag::of(text)?;
            let is_empty = |value: &str| resolved(value, &self.entities).is_some_and(|value| value.is_empty());
            let (_, value) = tag.attributes.iter().find(|(name, value)| *name == "xml:lang" && is_empty(value))?;
            let from = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
            Some([text.get(..from)?, NO_LANGUAGE, text.get(from + value.len()..)?].concat().into_bytes())
        });
        let Some(given) = given else { return token };
        let longer = given.len().cast_signed() - token.len().cast_signed();
        self.shift.set(self.shift.get() + longer as i64);
        given
    }

    /// Records a start tag; returns the literal that it starts, if it does.
    fn begin(&mut self, token: &[u8], depth: usize) -> Option<Literal> {
        let has = |word: &[u8]| memchr::memmem::find(token, word).is_some();
        if !has(b"xmlns") && !has(b"parseType") {
            return None;
        }
        // Invalid UTF-8 is unchanged, and the parser refuses it; also below.
        let tag = Tag::of(std::str::from_utf8(token).ok()?)?;
        let outer = self.scopes.last().and_then(|(_, scope)| scope.clone());
        let scope = self.scope(&tag, outer);
        // An empty element ends at once, and so do its declarations.
        let inside = depth + usize::from(tag.empty);
        if !tag.empty {
            self.scopes.push((depth, scope.clone()));
        }
        let scope = scope?;
        let (tag, given) = (token.to_vec(), self.given(token, &tag, &scope)?);
        Some(Literal { tag, given, content: Vec::new(), depth: inside, scope })
    }

    /// Prefixes inside a tag.
    fn scope(&self, tag: &Tag<'_>, outer: Option<Rc<Namespaces>>) -> Option<Rc<Namespaces>> {
        let mut scope = outer?;
        for (name, value) in &tag.attributes {
            if let Some(prefix) = declared(name) {
                Rc::make_mut(&mut scope).insert(prefix.to_owned(), resolved(value, &self.entities)?);
            }
        }
        Some(scope).filter(|scope| scope.len() <= PREFIXES)
    }

    /// The tag of a literal for the parser.
    fn given(&self, token: &[u8], tag: &Tag<'_>, scope: &Namespaces) -> Option<String> {
        let mut place = None;
        for (name, value) in &tag.attributes {
            if declared(name).is_some() {
                continue;
            }
            let (prefix, local) = name.split_once(':')?;
            match scope.get(prefix).map(String::as_str) {
                Some(RDF)
                    if local == "parseType" && resolved(value, &self.entities)? == "Literal" && place.is_none() =>
                {
                    let from = (name.as_ptr() as usize).checked_sub(token.as_ptr() as usize)?;
                    // Up to the quotation mark after the value.
                    let to = (value.as_ptr() as usize + value.len() + 1).checked_sub(token.as_ptr() as usize)?;
                    place = Some((from, to, prefix));
                }
                Some(RDF) if BESIDE.contains(&local) => {}
                Some(ITS) => {}
                _ if prefix == "xml" => {}
                _ => return None,
            }
        }
        let (from, to, prefix) = place?;
        let text = std::str::from_utf8(token).ok()?;
        let (before, behind) = (text.get(..from)?, text.get(to..)?);
        Some(format!("{before}{prefix}:datatype=\"{RDF}XMLLiteral\"{behind}"))
    }

    /// Passes on a literal that was read.
    fn end_literal(&mut self, literal: &Literal) {
        let form = std::str::from_utf8(&literal.content).ok();
        let form = form.and_then(|content| canonical(content, &literal.scope, &self.entities));
        let Some(form) = form else {
            self.ready.extend_from_slice(&literal.tag);
            self.ready.extend_from_slice(&literal.content);
            return;
        };
        let mut given = literal.given.clone();
        push_text(&mut given, &form);
        let read = literal.tag.len() + literal.content.len();
        let longer = given.len().cast_signed() - read.cast_signed();
        self.shift.set(self.shift.get() + longer as i64);
        self.ready.extend_from_slice(given.as_bytes());
    }

    /// Records the entities of a document type.
    fn declare(&mut self, token: &[u8]) {
        let Ok(text) = std::str::from_utf8(token) else { return };
        for entity in text.split("<!ENTITY").skip(1) {
            let Some((name, rest)) = entity.trim_start().split_once(|c: char| c.is_ascii_whitespace()) else {
                continue;
            };
            let value = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
            if let Some(value) = value.and_then(|(value, _)| resolved(value, &self.entities)) {
                self.entities.insert(name.to_owned(), value);
            }
        }
    }
}

impl<R: Read> Read for Literals<R> {
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
