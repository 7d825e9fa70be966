//! A JSON scanner that builds no tree.

use std::borrow::Cow;

use super::super::fault::{Fault, Parsed, shown};
use crate::number::Overflow;
use crate::{number, rules};

/// Maximum nesting depth of objects and arrays.
const DEPTH: usize = 64;

/// A string between quotes, with its escapes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub raw: &'a [u8],
    pub at: usize,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// Returns the bytes that it represents.
    ///
    /// # Errors
    /// Returns an error if an escape is invalid, or a surrogate is unpaired.
    pub fn bytes(&self) -> Parsed<Cow<'a, [u8]>> {
        if !self.escaped {
            if std::str::from_utf8(self.raw).is_err() {
                return Err(Fault::new(&rules::JSON, "invalid UTF-8", self.at));
            }
            return Ok(Cow::Borrowed(self.raw));
        }
        // Including the quotes around it.
        let mut quoted = Vec::with_capacity(self.raw.len() + 2);
        quoted.push(b'"');
        quoted.extend_from_slice(self.raw);
        quoted.push(b'"');
        let text: String = serde_json::from_slice(&quoted)
            .map_err(|error| Fault::new(&rules::JSON, format!("invalid string: {error}"), self.at))?;
        Ok(Cow::Owned(text.into_bytes()))
    }
}

/// Returns the number of bytes before the first quote, backslash or control character. Keys are a few bytes long, so
/// that calling a search function would cost more than this search.
#[inline]
fn ordinary(text: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    // Sets the top bit of each byte below `ONES * limit`; above the lowest such byte, other bits may be set wrongly.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & TOPS;
    let mut passed = 0;
    let mut words = text.chunks_exact(8);
    for eight in words.by_ref() {
        let word = eight.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
        let found = is(b'"') | is(b'\\') | below(word, 0x20);
        if found != 0 {
            return passed + found.trailing_zeros() as usize / 8;
        }
        passed += 8;
    }
    let rest = words.remainder();
    passed + rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}

/// Returns the number of leading digits, and the number that they form after the digits of `before`. With more than 19
/// digits, the number is arbitrary.
#[inline]
fn digits_of(text: &[u8], before: u64) -> (usize, u64) {
    let (mut length, mut value) = (0, before);
    while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit <= 9) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    (length, value)
}

/// Returns whether a number certainly ends before this byte.
#[inline]
fn ends_number(byte: u8) -> bool {
    matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')
}

/// A position in a JSON text.
#[derive(Debug, Clone)]
pub(super) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    start: usize,
    depth: usize,
    /// Whether an invalid comma was skipped.
    pub mended: bool,
    /// How a number that a float type cannot represent is handled.
    pub overflow: Overflow,
    /// Whether integers are truncated, as in numpy.
    pub cuts: bool,
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a [u8], start: usize) -> Self {
        Scan { text, at: 0, start, depth: 0, mended: false, overflow: Overflow::Refused, cuts: false }
    }

    /// Returns where the next value begins.
    pub fn here(&mut self) -> usize {
        self.peek();
        self.start + self.at
    }

    fn wrong(&self, message: impl Into<String>) -> Box<Fault> {
        Fault::new(&rules::JSON, message, self.start + self.at)
    }

    /// Returns the next byte that is not a space.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.get(self.at) {
            // Most bytes are above all spaces: one comparison.
            if *byte > b' ' || !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    #[inline]
    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn must(&mut self, wanted: u8) -> Parsed {
        if self.take(wanted) { Ok(()) } else { Err(self.missing(wanted)) }
    }

    #[cold]
    fn missing(&self, wanted: u8) -> Box<Fault> {
        let found = &self.text[self.at..];
        match found.is_empty() {
            true => self.wrong(format!("expected {:?}, found the end of the text", char::from(wanted))),
            false => self.wrong(format!("found {}, expected {:?}", shown(found), char::from(wanted))),
        }
    }

    /// Parses the end of the text.
    ///
    /// # Errors
    /// Returns an error if something follows.
    pub fn end(&mut self) -> Parsed {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.wrong(format!("unexpected {} after the object", shown(&self.text[self.at..])))),
        }
    }

    fn enter(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH { Err(self.wrong("nested too deeply")) } else { Ok(()) }
    }

    /// Begins an object and returns whether it has members. Each member is parsed by [`named`](Self::named) or
    /// [`key`](Self::key) and its value; then [`more`](Self::more) returns whether another follows.
    ///
    /// # Errors
    /// Returns an error if the next value is not an object.
    pub fn open(&mut self) -> Parsed<bool> {
        self.enter()?;
        self.must(b'{')?;
        let open = !self.take(b'}');
        self.depth -= usize::from(!open);
        Ok(open)
    }

    /// Returns whether another member follows.
    ///
    /// # Errors
    /// Returns an error if neither a member nor the end of the object follows.
    #[inline]
    pub fn more(&mut self) -> Parsed<bool> {
        let more = self.goes_on(b'}')?;
        self.depth -= usize::from(!more);
        Ok(more)
    }

    /// Returns the first letter of the next key, if there is one.
    #[inline]
    pub fn initial(&mut self) -> Option<u8> {
        match self.peek() {
            Some(b'"') => self.text.get(self.at + 1).copied(),
            _ => None,
        }
    }

    /// Parses the key of a member and its colon, if it is this key in its usual form; `quoted` includes the quotes.
    #[inline]
    pub fn named(&mut self, quoted: &[u8]) -> bool {
        let at = self.at;
        let found = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(quoted));
        if found {
            self.at += quoted.len();
            if self.take(b':') {
                return true;
            }
            self.at = at;
        }
        false
    }

    /// Parses the key of a member and its colon.
    ///
    /// # Errors
    /// Returns an error if no key follows.
    pub fn key(&mut self) -> Parsed<(Cow<'a, [u8]>, usize)> {
        let key = self.string()?;
        self.must(b':')?;
        Ok((if key.escaped { key.bytes()? } else { Cow::Borrowed(key.raw) }, key.at))
    }

    /// Parses an object; `member` is called with each key and its position, and must parse the value.
    ///
    /// # Errors
    /// Returns an error if it is malformed, and the errors of `member`.
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, &[u8], usize) -> Parsed) -> Parsed {
        let mut open = self.open()?;
        while open {
            let (key, at) = self.key()?;
            member(self, &key, at)?;
            open = self.more()?;
        }
        Ok(())
    }

    /// Parses an array; `item` must parse each value.
    ///
    /// # Errors
    /// Returns an error if it is malformed, and the errors of `item`.
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

    /// Returns whether another member or item follows. A comma before the end is skipped.
    #[inline]
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

    /// Parses a string.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
    pub fn string(&mut self) -> Parsed<Text<'a>> {
        self.must(b'"')?;
        let begin = self.at;
        let (mut escaped, mut control) = (false, false);
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            self.at += ordinary(rest);
            match self.text.get(self.at) {
                None => return Err(self.wrong("unterminated string")),
                Some(b'"') if control => return Err(self.wrong("control character in a string")),
                Some(b'"') => {
                    let raw = &self.text[begin..self.at];
                    self.at += 1;
                    return Ok(Text { raw, at: self.start + begin, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    control |= self.text.get(self.at + 1).is_some_and(|byte| *byte < b' ');
                    self.at += 2;
                }
                Some(_) => {
                    control = true;
                    self.at += 1;
                }
            }
        }
    }

    /// Parses a short decimal number without exponent, and returns whether it is an integer; consumes nothing
    /// otherwise.
    ///
    /// This is the common case: one pass over the digits, whereas [`number`](Self::number) first finds the end of the
    /// number.
    #[inline]
    pub fn decimal(&mut self) -> Option<(f64, bool)> {
        self.peek();
        let (negative, digits) = match self.text.get(self.at..)? {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (whole, mut value) = digits_of(digits, 0);
        let (mut length, mut decimals) = (whole, 0);
        if digits.get(whole) == Some(&b'.') {
            let (count, all) = digits_of(&digits[whole + 1..], value);
            (decimals, value, length) = (count, all, whole + 1 + count);
        }
        let value = number::of_digits(negative, value, whole + decimals, decimals)?;
        let ends = digits.get(length).is_none_or(|byte| ends_number(*byte));
        if ends {
            self.at += usize::from(negative) + length;
        }
        ends.then_some((value, length == whole))
    }

    /// Parses an integer of 1 to 18 digits; consumes nothing otherwise.
    #[inline]
    pub fn integer(&mut self) -> Option<i64> {
        self.peek();
        let (sign, digits) = match self.text.get(self.at..)? {
            [b'-', rest @ ..] => (-1, rest),
            rest => (1, rest),
        };
        let (length, value) = digits_of(digits, 0);
        let ends = digits.get(length).is_none_or(|byte| ends_number(*byte));
        let passed = (1..=18).contains(&length) && ends;
        if passed {
            self.at += usize::from(sign < 0) + length;
        }
        // 18 digits are less than 2^63; a longer number was not accepted.
        passed.then(|| sign * value.cast_signed())
    }

    /// Returns what was consumed since `at`.
    pub fn behind(&self, at: usize) -> &'a [u8] {
        self.text.get(at.saturating_sub(self.start)..self.at).unwrap_or_default()
    }

    /// Returns `length` bytes from `at` on.
    pub fn part(&self, at: usize, length: usize) -> &'a [u8] {
        let at = at.saturating_sub(self.start);
        self.text.get(at..at.saturating_add(length)).unwrap_or_default()
    }

    /// Returns a scanner of the same text at `at`, where an already parsed value begins.
    pub fn moved(&self, at: usize) -> Scan<'a> {
        Scan { at: at.saturating_sub(self.start), ..self.clone() }
    }

    /// Parses `null` if it is next.
    pub fn null(&mut self) -> bool {
        self.peek();
        let found = self.text[self.at..].starts_with(b"null");
        self.at += if found { 4 } else { 0 };
        found
    }

    /// Parses a number, or one of the words that Python writes for a float.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
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
            return Err(self.wrong(format!("found {}, expected {what}", shown(rest))));
        }
        let at = self.start + self.at;
        self.at += end;
        Ok((word, at))
    }

    /// Parses `true` or `false` if it is next.
    pub fn truth(&mut self) -> Option<bool> {
        self.peek();
        let rest = &self.text[self.at..];
        let found = if rest.starts_with(b"true") { Some(true) } else { rest.starts_with(b"false").then_some(false) };
        self.at += found.map_or(0, |truth| if truth { 4 } else { 5 });
        found
    }

    /// Parses a value of any kind.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn eight_bytes_at_once_end_where_one_at_a_time_does() {
        let mut state = 1u64;
        for case in 0..20_000usize {
            let text: Vec<u8> = (0..case % 40)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    // Bytes adjacent to the searched ones, and with the top bit set, are what the bit trick could
                    // get wrong.
                    [b'a', b'!', b'#', b'[', b']', b' ', 0x80, 0xa2, 0xdc, 0xff, b'"', b'\\', 0x1f, 0]
                        [(state >> 33) as usize % 14]
                })
                .map(|byte| if case % 3 == 0 && byte < 0x20 { b'x' } else { byte })
                .collect();
            let one = text.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(text.len());
            assert_eq!(ordinary(&text), one, "{text:?}");
        }
    }

    #[test]
    fn numbers_that_are_passed_at_once_are_what_the_long_way_reads() {
        let numbers = [
            "0",
            "-0",
            "7",
            "-7",
            "007",
            "123456789012345678",
            "1234567890123456789",
            "-9223372036854775808",
            "-18446744073709551616",
            "18446744073709551616",
            "0.5",
            "-0.25",
            "1.",
            ".5",
            "-",
            "",
            ".",
            "1e3",
            "1.5e-3",
            "9007199254740993",
            "0.1234567890123456",
            "1_0",
            "+1",
            "1.2.3",
            "1x",
            "Infinity",
            "-Infinity",
            "NaN",
            "true",
        ];
        for number in numbers {
            for end in ["", ",", "]", "}", " ", "\n", "\"", ":"] {
                let text = format!(" {number}{end}");
                let scan = Scan::new(text.as_bytes(), 100);
                let slow = scan.clone().number("a number").ok().map(|(word, _)| word.to_vec());
                let (mut decimal, mut integer) = (scan.clone(), scan.clone());
                if let Some((value, is_integer)) = decimal.decimal() {
                    let word = slow.clone().unwrap();
                    assert_eq!(value.to_bits(), number::float(&word).unwrap().to_bits(), "{text:?}");
                    assert_eq!((is_integer, decimal.behind(101)), (number::is_integer(&word), &*word), "{text:?}");
                }
                if let Some(value) = integer.integer() {
                    let word = slow.unwrap();
                    assert_eq!(
                        (i128::from(value), integer.behind(101)),
                        (number::integer(&word).unwrap(), &*word),
                        "{text:?}"
                    );
                }
            }
        }
        let passes = |text: &str| {
            let scan = Scan::new(text.as_bytes(), 0);
            (scan.clone().decimal(), scan.clone().integer())
        };
        assert_eq!(passes("-12,"), (Some((-12.0, true)), Some(-12)));
        assert_eq!(passes("0.85}"), (Some((0.85, false)), None));
        assert_eq!(passes("\"7\""), (None, None));
    }

    #[test]
    fn a_key_is_passed_with_its_colon_or_not_at_all() {
        for (text, found, left) in [
            (&b" \"weight\" : 1"[..], true, &b" 1"[..]),
            (b"\"weight\":1", true, b"1"),
            (b"\"weights\": 1", false, b"\"weights\": 1"),
            (b"\"weight\" 1", false, b"\"weight\" 1"),
            (b"\"wei", false, b"\"wei"),
            (b"", false, b""),
        ] {
            let mut scan = Scan::new(text, 0);
            assert_eq!(scan.initial(), if text.contains(&b'w') { Some(b'w') } else { None });
            assert_eq!((scan.named(b"\"weight\""), &scan.text[scan.at..]), (found, left));
        }
    }
}
