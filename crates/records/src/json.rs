//! Values of a JSON file one after another. What surrounds them is followed step by step; a value that is wanted is copied as
//! a text, which [`isomorph_model::json`] then reads. Nothing else of the file is in memory.

use std::io::Read;

use isomorph_error::{Error, Place, Result, Rule};
use isomorph_tables::PackedFile;

/// Maximum length of one value that is copied, in bytes.
pub const LONGEST: usize = 64 << 20;

/// Maximum depth of a value, and of what surrounds it.
const DEPTH: usize = 512;

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// The rules of JSON in a format.
#[derive(Debug, Clone, Copy)]
pub struct JsonRules {
    /// The file is JSON.
    pub syntax: &'static Rule,
    /// Values are not too long and not too deep.
    pub limit: &'static Rule,
}

/// An open array or object, and whether something was read in it.
#[derive(Debug, Clone, Copy)]
struct Open {
    close: u8,
    has_begun: bool,
}

/// Reads a JSON file.
pub struct JsonStream {
    input: Box<dyn Read + Send>,
    place: Place,
    rules: JsonRules,
    buffer: Vec<u8>,
    at: usize,
    /// Bytes before the buffer.
    before: u64,
    is_over: bool,
    open: Vec<Open>,
}

impl JsonStream {
    /// Starts to read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be decompressed.
    pub fn new(file: &PackedFile, rules: JsonRules) -> Result<JsonStream> {
        Ok(JsonStream::of(file.reader()?, file.blob.place(), rules))
    }

    /// The same for any input.
    pub fn of(input: Box<dyn Read + Send>, place: Place, rules: JsonRules) -> JsonStream {
        JsonStream { input, place, rules, buffer: Vec::new(), at: 0, before: 0, is_over: false, open: Vec::new() }
    }

    /// Returns the current position in the file.
    pub fn place(&self) -> Place {
        self.place.clone().offset(self.before + self.at as u64)
    }

    /// Returns the number of bytes before the current position.
    pub fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Returns the place at a number of bytes.
    pub fn place_at(&self, offset: u64) -> Place {
        self.place.clone().offset(offset)
    }

    /// Returns the rules.
    pub fn rules(&self) -> JsonRules {
        self.rules
    }

    /// Creates an error of the syntax at the current position.
    pub fn syntax(&self, message: impl Into<String>) -> Error {
        Error::broken(self.rules.syntax, message).at(self.place())
    }

    /// Creates an error of a limit at the current position.
    pub fn limit(&self, message: impl Into<String>) -> Error {
        Error::broken(self.rules.limit, message).at(self.place())
    }

    /// Reads the next bytes; returns false at the end of the file.
    fn fill(&mut self) -> Result<bool> {
        if self.is_over {
            return Ok(false);
        }
        self.before += self.buffer.len() as u64;
        self.at = 0;
        self.buffer.resize(BLOCK, 0);
        let read = loop {
            match self.input.read(&mut self.buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other.map_err(|error| Error::from(error).at(self.place.clone()))?,
            }
        };
        self.buffer.truncate(read);
        self.is_over = read == 0;
        Ok(read > 0)
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        if self.at >= self.buffer.len() && !self.fill()? {
            return Ok(None);
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// Returns the next byte that is not whitespace, without consuming it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            match self.byte()? {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                // A byte order mark.
                Some(0xef) if self.before == 0 && self.at == 0 && self.buffer.starts_with(&[0xef, 0xbb, 0xbf]) => {
                    self.at = 3;
                }
                other => return Ok(other),
            }
        }
    }

    /// Opens an array or an object.
    ///
    /// # Errors
    /// Returns an error if the next value is something else.
    pub fn enter(&mut self, open: u8) -> Result<()> {
        if self.peek()? != Some(open) {
            let what = if open == b'{' { "an object" } else { "a list" };
            return Err(self.syntax(format!("expected {what}")));
        }
        if self.open.len() >= DEPTH {
            return Err(self.limit(format!("nested more than {DEPTH} deep")));
        }
        self.at += 1;
        self.open.push(Open { close: open + 2, has_begun: false });
        Ok(())
    }

    /// Goes to the next item of the open array; returns false, and closes it, at its end.
    ///
    /// # Errors
    /// Returns an error if it is not well-formed.
    pub fn item(&mut self) -> Result<bool> {
        let Some(open) = self.open.last().copied() else { return Ok(false) };
        match self.peek()? {
            Some(byte) if byte == open.close => {
                self.at += 1;
                self.open.pop();
                return Ok(false);
            }
            Some(b',') if open.has_begun => {
                self.at += 1;
                match self.peek()? {
                    Some(b',' | b']' | b'}') => return Err(self.syntax("expected a value after the comma")),
                    None => return Err(self.truncated()),
                    Some(_) => {}
                }
            }
            Some(_) if open.has_begun => return Err(self.syntax("expected a comma or the end of a list or an object")),
            Some(b',') => return Err(self.syntax("expected a value")),
            Some(_) => {}
            None => return Err(self.truncated()),
        }
        if let Some(open) = self.open.last_mut() {
            open.has_begun = true;
        }
        Ok(true)
    }

    /// Goes to the next member of the open object and reads its name; returns false, and closes it, at its end.
    ///
    /// # Errors
    /// Returns an error if it is not well-formed.
    pub fn member(&mut self, name: &mut String) -> Result<bool> {
        name.clear();
        if !self.item()? {
            return Ok(false);
        }
        if self.peek()? != Some(b'"') {
            return Err(self.syntax("expected the name of a member, in quotation marks"));
        }
        let mut raw = String::new();
        self.raw(&mut raw)?;
        match isomorph_model::json::value(&raw) {
            Ok(isomorph_model::json::Value::Text(text)) => name.push_str(&text),
            _ => return Err(self.syntax("the name of a member is not a JSON string")),
        }
        if self.peek()? != Some(b':') {
            return Err(self.syntax("expected a colon after the name of a member"));
        }
        self.at += 1;
        Ok(true)
    }

    fn truncated(&self) -> Error {
        self.syntax("the file is truncated")
    }

    /// Copies the next value to `out`, and returns the number of its items or members. That it is a JSON value is only checked
    /// as far as its end must be found.
    ///
    /// # Errors
    /// Returns an error if it is too long or too deep, or the file ends in it.
    pub fn raw(&mut self, out: &mut String) -> Result<usize> {
        let mut bytes = std::mem::take(out).into_bytes();
        bytes.clear();
        let start = self.place();
        let items = self.copy(&mut bytes)?;
        let text = String::from_utf8(bytes);
        *out = text.map_err(|_| Error::broken(self.rules.syntax, "the text is not UTF-8").at(start))?;
        Ok(items)
    }

    fn copy(&mut self, out: &mut Vec<u8>) -> Result<usize> {
        let (mut depth, mut commas, mut has_items) = (0usize, 0usize, false);
        let first = self.peek()?.ok_or_else(|| self.truncated())?;
        let is_scalar = !matches!(first, b'{' | b'[' | b'"');
        if matches!(first, b',' | b':' | b']' | b'}') {
            return Err(self.syntax("expected a value"));
        }
        let (mut in_string, mut is_escaped) = (false, false);
        loop {
            if self.byte()?.is_none() {
                return if is_scalar && depth == 0 { Ok(0) } else { Err(self.truncated()) };
            }
            let block = self.buffer.get(self.at..).unwrap_or_default();
            let mut used = 0;
            let mut is_done = false;
            while let Some(byte) = block.get(used).copied() {
                if in_string {
                    if is_escaped {
                        (is_escaped, used) = (false, used + 1);
                        continue;
                    }
                    let rest = block.get(used..).unwrap_or_default();
                    match memchr::memchr2(b'"', b'\\', rest) {
                        None => used = block.len(),
                        Some(at) => {
                            is_escaped = rest.get(at) == Some(&b'\\');
                            in_string = is_escaped;
                            used += at + 1;
                            if !in_string && depth == 0 {
                                is_done = true;
                                break;
                            }
                        }
                    }
                    continue;
                }
                if is_scalar && depth == 0 && matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t') {
                    is_done = true;
                    break;
                }
                used += 1;
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    b',' => commas += usize::from(depth == 1),
                    _ => {}
                }
                has_items |= depth > 1 || depth == 1 && !matches!(byte, b'{' | b'[' | b' ' | b'\n' | b'\r' | b'\t');
                if depth > DEPTH {
                    break;
                }
                if depth == 0 && matches!(byte, b'}' | b']') {
                    is_done = true;
                    break;
                }
            }
            out.extend_from_slice(block.get(..used).unwrap_or_default());
            self.at += used;
            if depth > DEPTH {
                return Err(self.limit(format!("nested more than {DEPTH} deep")));
            }
            if out.len() > LONGEST {
                return Err(self.limit("a record is longer than 64 MiB"));
            }
            if is_done {
                return Ok(if has_items { commas + 1 } else { 0 });
            }
        }
    }

    /// Checks that nothing follows the last value.
    ///
    /// # Errors
    /// Returns an error if something does.
    pub fn end(&mut self) -> Result<()> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.syntax("there is text after the end of the JSON value")),
        }
    }
}

/// Returns the names of the first members of the outermost object of the beginning of a file, each with the beginning of its value:
/// what a format is recognised by. Nothing if it is not an object.
pub fn first_members(begin: &[u8]) -> Vec<(String, &str)> {
    let text = match std::str::from_utf8(begin) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(begin.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default(),
    };
    let text = text.trim_start_matches('\u{feff}');
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    if !rest.starts_with('{') {
        return all;
    }
    rest = rest.get(1..).unwrap_or_default().trim_start();
    while let Some((name, after)) = string_at(rest) {
        let Some(value) = after.trim_start().strip_prefix(':') else { break };
        let value = value.trim_start();
        all.push((name, value));
        let Some(end) = end_of(value) else { break };
        let Some(next) = value.get(end..).unwrap_or_default().trim_start().strip_prefix(',') else { break };
        rest = next.trim_start();
    }
    all
}

/// Returns the string at the beginning of a text, without escapes decoded, and what follows it.
fn string_at(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut is_escaped = false;
    for (at, character) in inner.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some((inner.get(..at)?.to_owned(), inner.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

/// Returns the length of the value at the beginning of a text; `None` if the text ends in it.
fn end_of(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => {
                in_string = !in_string;
                if !in_string && depth == 0 {
                    return Some(at + 1);
                }
            }
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return Some(at),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b',' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use isomorph_error::Severity;

    static RULE: Rule = Rule { id: "T", severity: Severity::Error, says: "", remedy: "" };

    fn stream(text: &str) -> JsonStream {
        let input = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        JsonStream::of(input, Place::default(), JsonRules { syntax: &RULE, limit: &RULE })
    }

    #[test]
    fn items_are_counted_and_values_end_where_they_end() {
        for (text, items) in [
            ("{}", 0),
            ("{ }", 0),
            ("[[]]", 1),
            ("[1]", 1),
            (r#"{"a":[1,2,{"b":3,"c":4}],"d":"],}"}"#, 2),
            ("17", 0),
            ("\"a\\\"b\"", 0),
            ("[[],[],{}]", 3),
            ("-1.5e3", 0),
        ] {
            let mut out = String::new();
            let mut own = stream(&format!(" {text} "));
            assert_eq!(own.raw(&mut out).unwrap(), items, "{text}");
            assert_eq!(out, text);
            own.end().unwrap();
        }
    }

    #[test]
    fn members_are_found() {
        let text = r#"{"directed": true, "graph": {"a": [1]}, "nodes": [{"id": 1}, {"id"#;
        let names: Vec<String> = first_members(text.as_bytes()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["directed", "graph", "nodes"]);
        assert!(first_members(b"[1]").is_empty());
    }

    #[test]
    fn what_is_not_well_formed_is_an_error() {
        for text in ["{\"a\" 1}", "{a:1}", "{\"a\":1", "[1 2]", "[1,,2]", "[1,]", "{,}", ""] {
            let mut own = stream(text);
            let mut walk = || -> Result<()> {
                let mut name = String::new();
                let mut raw = String::new();
                if own.peek()? == Some(b'[') {
                    own.enter(b'[')?;
                    while own.item()? {
                        own.raw(&mut raw)?;
                    }
                } else {
                    own.enter(b'{')?;
                    while own.member(&mut name)? {
                        own.raw(&mut raw)?;
                    }
                }
                own.end()
            };
            assert!(walk().is_err(), "{text}");
        }
    }
}
