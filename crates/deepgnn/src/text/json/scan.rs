//! JSON, read where it stands: no tree is built.

use std::borrow::Cow;

use super::super::fault::{Fault, Parsed, shown};
use crate::rules;

/// Objects and arrays inside one another, at most.
const DEPTH: usize = 64;

/// A text between quotes, with its escapes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub raw: &'a [u8],
    pub at: usize,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// The bytes that it stands for.
    ///
    /// # Errors
    /// When an escape is none, or half of a character.
    pub fn bytes(&self) -> Parsed<Cow<'a, [u8]>> {
        if !self.escaped {
            if std::str::from_utf8(self.raw).is_err() {
                return Err(Fault::new(&rules::JSON, "text that is not UTF-8", self.at));
            }
            return Ok(Cow::Borrowed(self.raw));
        }
        // The quotes stand around it.
        let mut quoted = Vec::with_capacity(self.raw.len() + 2);
        quoted.push(b'"');
        quoted.extend_from_slice(self.raw);
        quoted.push(b'"');
        let text: String = serde_json::from_slice(&quoted)
            .map_err(|error| Fault::new(&rules::JSON, format!("a text that is none: {error}"), self.at))?;
        Ok(Cow::Owned(text.into_bytes()))
    }
}

/// A place in a JSON text.
#[derive(Debug, Clone)]
pub(super) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    start: usize,
    depth: usize,
    /// Whether a comma was passed over that does not belong there.
    pub mended: bool,
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a [u8], start: usize) -> Self {
        Scan { text, at: 0, start, depth: 0, mended: false }
    }

    /// Where the next value begins.
    pub fn here(&mut self) -> usize {
        self.peek();
        self.start + self.at
    }

    fn wrong(&self, message: impl Into<String>) -> Box<Fault> {
        Fault::new(&rules::JSON, message, self.start + self.at)
    }

    /// The next byte that is no space.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn must(&mut self, wanted: u8) -> Parsed {
        if self.take(wanted) {
            return Ok(());
        }
        let found = &self.text[self.at..];
        Err(match found.is_empty() {
            true => self.wrong(format!("the text ends where {:?} should be", char::from(wanted))),
            false => self.wrong(format!("{} where {:?} should be", shown(found), char::from(wanted))),
        })
    }

    /// Passes the end of the text.
    ///
    /// # Errors
    /// When something is left.
    pub fn end(&mut self) -> Parsed {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.wrong(format!("{} behind the object", shown(&self.text[self.at..])))),
        }
    }

    fn enter(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH { Err(self.wrong("nested too deeply")) } else { Ok(()) }
    }

    /// Passes an object; `member` is told each key and its place, and must pass the value.
    ///
    /// # Errors
    /// When it is none, and those of `member`.
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, &[u8], usize) -> Parsed) -> Parsed {
        self.enter()?;
        self.must(b'{')?;
        let mut open = !self.take(b'}');
        while open {
            let key = self.string()?;
            self.must(b':')?;
            match key.escaped {
                false => member(self, key.raw, key.at)?,
                true => member(self, &key.bytes()?, key.at)?,
            }
            open = self.goes_on(b'}')?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Passes an array; `item` must pass each value.
    ///
    /// # Errors
    /// When it is none, and those of `item`.
    pub fn array(&mut self, mut item: impl FnMut(&mut Self) -> Parsed) -> Parsed {
        self.enter()?;
        self.must(b'[')?;
        let mut open = !self.take(b']');
        while open {
            item(self)?;
            open = self.goes_on(b']')?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Behind a member or an item: whether another follows. A comma before the end is passed over.
    fn goes_on(&mut self, close: u8) -> Parsed<bool> {
        if self.take(close) {
            return Ok(false);
        }
        self.must(b',')?;
        if self.take(close) {
            self.mended = true;
            return Ok(false);
        }
        Ok(true)
    }

    /// Passes a text.
    ///
    /// # Errors
    /// When it is none.
    pub fn string(&mut self) -> Parsed<Text<'a>> {
        self.must(b'"')?;
        let begin = self.at;
        let mut escaped = false;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(self.wrong("a text that does not end"));
            };
            self.at += found;
            if self.text[self.at] == b'"' {
                let raw = &self.text[begin..self.at];
                if raw.iter().any(|byte| *byte < 0x20) {
                    return Err(self.wrong("a control character in a text"));
                }
                self.at += 1;
                return Ok(Text { raw, at: self.start + begin, escaped });
            }
            escaped = true;
            self.at += 2;
        }
    }

    /// Passes `null` if it stands here.
    pub fn null(&mut self) -> bool {
        self.peek();
        let found = self.text[self.at..].starts_with(b"null");
        self.at += if found { 4 } else { 0 };
        found
    }

    /// Passes a number, or one of the words that Python writes for a float.
    ///
    /// # Errors
    /// When it is none.
    pub fn number(&mut self, what: &str) -> Parsed<(&'a [u8], usize)> {
        self.peek();
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let word = &rest[..end];
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        let is_number = match digits {
            b"Infinity" => true,
            b"NaN" => digits.len() == word.len(),
            [b'0'..=b'9' | b'.', ..] => {
                digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
            }
            _ => false,
        };
        if !is_number {
            return Err(self.wrong(format!("{} where {what} should be", shown(rest))));
        }
        let at = self.start + self.at;
        self.at += end;
        Ok((word, at))
    }

    /// Passes `true` or `false` if one stands here.
    pub fn truth(&mut self) -> Option<bool> {
        self.peek();
        let rest = &self.text[self.at..];
        let found = if rest.starts_with(b"true") { Some(true) } else { rest.starts_with(b"false").then_some(false) };
        self.at += found.map_or(0, |truth| if truth { 4 } else { 5 });
        found
    }

    /// Passes a value of any kind.
    ///
    /// # Errors
    /// When it is none.
    pub fn skip(&mut self) -> Parsed {
        match self.peek() {
            Some(b'{') => self.object(|scan, _, _| scan.skip()),
            Some(b'[') => self.array(Scan::skip),
            Some(b'"') => self.string().map(|_| ()),
            _ if self.null() || self.truth().is_some() => Ok(()),
            _ => self.number("a value").map(|_| ()),
        }
    }
}
