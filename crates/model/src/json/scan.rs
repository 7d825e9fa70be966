//! Scans JSON text in place: checks values and finds where they end. It builds no tree and does not recurse.

use std::borrow::Cow;

use isomorph_error::{Error, Kind, Place, Result};

/// The maximum nesting depth of arrays and objects. Deeper text is an error, so that the stack cannot overflow.
pub const MAX_DEPTH: usize = 512;

/// A position in a JSON text.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// A JSON string between its quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoted<'a> {
    /// The text between the quotes.
    pub raw: &'a str,
    /// Whether it contains an escape.
    pub escaped: bool,
}

impl<'a> Quoted<'a> {
    /// Returns the unescaped text, which is borrowed if there is no escape.
    ///
    /// # Errors
    /// Returns an error if an escape is an unpaired surrogate.
    pub fn text(self) -> Result<Cow<'a, str>> {
        if !self.escaped {
            return Ok(Cow::Borrowed(self.raw));
        }
        let mut text = String::with_capacity(self.raw.len());
        self.push(&mut text)?;
        Ok(Cow::Owned(text))
    }

    /// Appends the unescaped text.
    ///
    /// # Errors
    /// Returns an error if an escape is an unpaired surrogate.
    pub fn push(self, out: &mut String) -> Result<()> {
        let mut rest = self.raw;
        while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
            out.push_str(rest.get(..at).unwrap_or_default());
            let escape = rest.as_bytes().get(at + 1).copied().unwrap_or_default();
            let mut used = 2;
            out.push(match escape {
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => {
                    let (character, len) = unicode_escape(rest.get(at..).unwrap_or_default())?;
                    used = len;
                    character
                }
                other => char::from(other),
            });
            rest = rest.get(at + used..).unwrap_or_default();
        }
        out.push_str(rest);
        Ok(())
    }
}

/// Returns the character of `\uXXXX`, or of a pair of them, at the start of `text`, and the length of the escape.
fn unicode_escape(text: &str) -> Result<(char, usize)> {
    let unit = |from: usize| {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        // The parser of the standard library accepts a sign, which JSON does not allow here.
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        u32::from_str_radix(digits, 16).ok()
    };
    let character = match (unit(0), unit(6)) {
        (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
            char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).map(|character| (character, 12))
        }
        (Some(unit), _) => char::from_u32(unit).map(|character| (character, 6)),
        _ => None,
    };
    character.ok_or_else(|| Error::malformed("not JSON: an escape is an unpaired surrogate"))
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Scanner { text, at: 0 }
    }

    /// Returns the number of bytes read so far.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the error for invalid text at this position.
    pub fn error(&self) -> Error {
        let shown: String = self.text.chars().take(40).collect();
        Error::malformed(format!("not JSON: {shown:?}")).at(Place::default().offset(self.at as u64))
    }

    /// Returns the next byte that is not whitespace, without consuming it.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Consumes the next byte if it is `byte`.
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Consumes `byte`, or returns an error.
    pub fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(self.error()) }
    }

    /// Returns an error if anything except whitespace is left.
    pub fn end(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(self.error()) }
    }

    /// Consumes a string.
    pub fn string(&mut self) -> Result<Quoted<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    let digits =
                        |at: usize| bytes.get(at..at + 4).is_some_and(|all| all.iter().all(u8::is_ascii_hexdigit));
                    self.at += match bytes.get(self.at + 1) {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') if digits(self.at + 2) => 6,
                        _ => return Err(self.error()),
                    };
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(self.error()),
            }
        }
        self.at += 1;
        Ok(Quoted { raw: self.text.get(start..self.at - 1).unwrap_or_default(), escaped })
    }

    /// Consumes a number, `true`, `false`, `null`, or one of Python's words for non-finite floats.
    pub fn scalar(&mut self) -> Result<&'a str> {
        let word = match self.peek() {
            Some(b'0'..=b'9') => "",
            Some(b'-') if self.text.as_bytes().get(self.at + 1) != Some(&b'I') => "",
            Some(b'-') => "-Infinity",
            Some(b't') => "true",
            Some(b'f') => "false",
            Some(b'n') => "null",
            Some(b'N') => "NaN",
            Some(b'I') => "Infinity",
            _ => return Err(self.error()),
        };
        let rest = self.text.get(self.at..).unwrap_or_default();
        let len = match word {
            "" => number_len(rest.as_bytes()).ok_or_else(|| self.error())?,
            word if rest.starts_with(word) => word.len(),
            _ => return Err(self.error()),
        };
        self.at += len;
        Ok(rest.get(..len).unwrap_or_default())
    }

    /// Consumes and checks a value of any kind, and returns its text.
    pub fn value(&mut self) -> Result<&'a str> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'{' | b'[') => self.container()?,
            Some(b'"') => drop(self.string()?),
            _ => drop(self.scalar()?),
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Consumes an array or object with its content.
    fn container(&mut self) -> Result<()> {
        // One bit for each open container: whether it is an object.
        let mut objects = [0u64; MAX_DEPTH / 64];
        let mut depth = 0;
        loop {
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    self.at += 1;
                    if !self.take(open + 2) {
                        let Some(bits) = objects.get_mut(depth / 64) else { return Err(too_deep()) };
                        let bit = 1u64 << (depth % 64);
                        *bits = if open == b'{' { *bits | bit } else { *bits & !bit };
                        depth += 1;
                        if open == b'{' {
                            self.name()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => drop(self.string()?),
                _ => drop(self.scalar()?),
            }
            while let Some(last) = depth.checked_sub(1) {
                let object = objects.get(last / 64).is_some_and(|bits| bits >> (last % 64) & 1 == 1);
                if self.take(b',') {
                    if object {
                        self.name()?;
                    }
                    break;
                }
                self.expect(if object { b'}' } else { b']' })?;
                depth = last;
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Consumes the name of a member and its colon.
    pub fn name(&mut self) -> Result<Quoted<'a>> {
        self.peek();
        let name = self.string()?;
        self.expect(b':')?;
        Ok(name)
    }
}

/// Returns the error for a text that is nested too deeply.
pub(crate) fn too_deep() -> Error {
    Error::new(Kind::TooLarge, format!("JSON is nested deeper than {MAX_DEPTH} levels"))
}

/// Returns the length of the number at the start of `bytes`, by the grammar of RFC 8259.
fn number_len(bytes: &[u8]) -> Option<usize> {
    let digits = |mut at: usize| {
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        (at > start).then_some(at)
    };
    let start = usize::from(bytes.first() == Some(&b'-'));
    let mut at = digits(start)?;
    if bytes.get(start) == Some(&b'0') && at > start + 1 {
        return None;
    }
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(at)?;
    }
    // The next character must end the number: 1x is invalid.
    match bytes.get(at) {
        Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'.' => None,
        _ => Some(at),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sound(text: &str) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.value().is_ok() && scanner.end().is_ok()
    }

    #[test]
    fn it_agrees_with_another_parser() {
        let texts = [
            "0",
            "-0",
            "01",
            "1.",
            ".5",
            "-",
            "+1",
            "1e5",
            "1E+05",
            "1e",
            "1e+",
            "1.5e-3",
            "0x1",
            "1x",
            "tru",
            "true",
            "falsey",
            "null",
            "\"\"",
            "\"a",
            "\"\\x\"",
            "\"\\u00e\"",
            "\"\\u00e9\"",
            "\"\t\"",
            "[]",
            "[ ]",
            "[,]",
            "[1,]",
            "[1 2]",
            "[1,[2,{}],\"x\"]",
            "{}",
            "{ }",
            "{,}",
            "{\"a\":1,}",
            "{\"a\" : {\"b\":[]} }",
            "{\"a\"}",
            "{a:1}",
            "[}",
            "{]",
            "{\"a\":1]",
            "[1}",
            "",
            " ",
            "[",
            "{",
            "\"",
            "1 2",
            "[[[[]]]]",
            "{\"a\":{\"a\":{}}}",
        ];
        for text in texts {
            assert_eq!(sound(text), serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn python_writes_floats_that_have_no_number() {
        assert!(sound("[NaN, Infinity, -Infinity]"));
        assert!(!sound("nan") && !sound("NaNs ") && !sound("-Inf"));
    }

    #[test]
    fn depth_is_bounded_and_needs_no_stack() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(sound(&nested(MAX_DEPTH)));
        let error = Scanner::new(&nested(1_000_000)).value().unwrap_err();
        assert_eq!(error.kind(), Kind::TooLarge);
    }

    #[test]
    fn escapes_are_undone_as_another_parser_does() {
        for raw in [r#""\"\\\/\b\f\n\r\t""#, r#""a\u00e9b""#, r#""\ud83d\ude00!""#, r#""é😀""#] {
            let text = Scanner::new(raw).string().unwrap().text().unwrap();
            assert_eq!(text, serde_json::from_str::<String>(raw).unwrap(), "{raw}");
        }
        for raw in [r#""\ud83d""#, r#""\ud83dx""#, r#""\ude00\ud83d""#] {
            assert!(Scanner::new(raw).string().unwrap().text().is_err(), "{raw}");
        }
    }
}
