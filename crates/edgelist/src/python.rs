//! Python dictionaries, which NetworkX writes after the ends of an edge.

use std::borrow::Cow;

use isomorph_error::Result;
use isomorph_model::json::{self, Members, push_string};

/// Maximum nesting of lists and dictionaries.
const DEPTH: usize = 64;

/// A value of a dictionary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'a, str>),
    /// A list, a dictionary, or a number that does not fit into the other variants, as JSON.
    Json(String),
}

impl Value<'_> {
    /// Appends the value as JSON.
    pub fn push_json(&self, out: &mut String) {
        match self {
            Value::None => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Int(value) => out.push_str(&value.to_string()),
            Value::Float(value) if value.is_nan() => out.push_str("NaN"),
            Value::Float(value) if value.is_infinite() => {
                out.push_str(if *value > 0.0 { "Infinity" } else { "-Infinity" });
            }
            Value::Float(value) => out.push_str(&format!("{value:?}")),
            Value::Text(text) => push_string(out, text),
            Value::Json(text) => out.push_str(text),
        }
    }
}

/// A message, and the byte that it refers to.
#[derive(Debug)]
pub(crate) struct Fault {
    pub message: String,
    pub at: usize,
}

/// Parses a dictionary and passes its members to `each`, in order.
///
/// # Errors
/// Returns an error if the text is not a dictionary.
pub(crate) fn dictionary<'a>(text: &'a str, each: &mut dyn FnMut(Cow<'a, str>, Value<'a>)) -> Result<(), Fault> {
    let mut reader = Reader { text, at: 0 };
    reader.expect(b'{')?;
    reader.members(&mut |reader, name| {
        each(name, reader.value(0)?);
        Ok(())
    })?;
    match reader.peek() {
        None => Ok(()),
        Some(_) => Err(reader.fault("there is text after the dictionary")),
    }
}

/// Parses the value of a member with this name.
type Member<'m, 'a> = &'m mut dyn FnMut(&mut Reader<'a>, Cow<'a, str>) -> Result<(), Fault>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { message: message.into(), at: self.at }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.take(byte) { Ok(()) } else { Err(self.fault(format!("expected {:?}", char::from(byte)))) }
    }

    /// Parses members up to the closing brace; the opening one has been read.
    fn members(&mut self, each: Member<'_, 'a>) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\'' | b'"') => {}
                _ => return Err(self.fault("expected a quoted name")),
            }
            let name = self.string()?;
            self.expect(b':')?;
            each(self, name)?;
            if !self.take(b',') {
                self.expect(b'}')?;
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, Fault> {
        match self.peek() {
            Some(b'\'' | b'"') => Ok(Value::Text(self.string()?)),
            Some(b'{' | b'[' | b'(') => {
                let mut out = String::new();
                self.nested(depth, &mut out)?;
                Ok(Value::Json(out))
            }
            _ => self.word(),
        }
    }

    fn nested(&mut self, depth: usize, out: &mut String) -> Result<(), Fault> {
        if depth > DEPTH {
            return Err(self.fault(format!("lists and dictionaries are nested more than {DEPTH} deep")));
        }
        if self.take(b'{') {
            out.push('{');
            let mut is_first = true;
            self.members(&mut |reader, name| {
                if !std::mem::take(&mut is_first) {
                    out.push(',');
                }
                push_string(out, &name);
                out.push(':');
                reader.inner(depth, out)
            })?;
            out.push('}');
            return Ok(());
        }
        let end = if self.take(b'[') { b']' } else { b')' };
        if end == b')' {
            self.expect(b'(')?;
        }
        out.push('[');
        let mut is_first = true;
        while !self.take(end) {
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            self.inner(depth, out)?;
            if !self.take(b',') {
                self.expect(end)?;
                break;
            }
        }
        out.push(']');
        Ok(())
    }

    fn inner(&mut self, depth: usize, out: &mut String) -> Result<(), Fault> {
        match self.peek() {
            Some(b'{' | b'[' | b'(') => self.nested(depth + 1, out),
            _ => {
                self.value(depth)?.push_json(out);
                Ok(())
            }
        }
    }

    /// Parses a number, or a word of Python or JSON.
    fn word(&mut self) -> Result<Value<'a>, Fault> {
        let rest = self.rest();
        let end = rest.find([',', '}', ']', ')', ' ', '\t', ':']).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        let value = match word {
            "None" | "null" => Value::None,
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "nan" | "NaN" => Value::Float(f64::NAN),
            "inf" | "Infinity" => Value::Float(f64::INFINITY),
            "-inf" | "-Infinity" => Value::Float(f64::NEG_INFINITY),
            _ => number(word).ok_or_else(|| self.fault(format!("{word:?} is not a value")))?,
        };
        self.at += end;
        Ok(value)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        let quote = self.text.as_bytes().get(self.at).copied().unwrap_or_default();
        self.at += 1;
        let stop = [char::from(quote), '\\'];
        let mut owned: Option<String> = None;
        loop {
            let rest = self.rest();
            let Some(end) = rest.find(stop) else { return Err(self.fault("missing closing quotation mark")) };
            let plain = rest.get(..end).unwrap_or_default();
            self.at += end + 1;
            if rest.as_bytes().get(end) == Some(&quote) {
                return Ok(match owned {
                    None => Cow::Borrowed(plain),
                    Some(text) => Cow::Owned(text + plain),
                });
            }
            let text = owned.get_or_insert_default();
            text.push_str(plain);
            let character = self.escape()?;
            owned.get_or_insert_default().push(character);
        }
    }

    /// Parses an escape; the backslash has been read.
    fn escape(&mut self) -> Result<char, Fault> {
        let unknown = || Fault {
            message: "the escape is not one of Python's, or is half of a character".to_owned(),
            at: self.at,
        };
        let byte = self.text.as_bytes().get(self.at).copied().ok_or_else(unknown)?;
        let (skip, radix, digits) = match byte {
            b'x' => (1, 16, 2),
            b'u' => (1, 16, 4),
            b'U' => (1, 16, 8),
            b'0'..=b'7' => {
                let octal = self.rest().bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                (0, 8, octal)
            }
            _ => {
                let plain = match byte {
                    b'\\' | b'\'' | b'"' => char::from(byte),
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    b'a' => '\u{7}',
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'v' => '\u{b}',
                    b'/' => '/',
                    _ => return Err(unknown()),
                };
                self.at += 1;
                return Ok(plain);
            }
        };
        let from = self.at + skip;
        let text = self.text.get(from..from + digits).ok_or_else(unknown)?;
        let is_plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = u32::from_str_radix(text, radix).ok().filter(|_| is_plain).ok_or_else(unknown)?;
        let character = char::from_u32(code).ok_or_else(unknown)?;
        self.at = from + digits;
        Ok(character)
    }
}

/// Parses a number of JSON or Python.
fn number<'a>(word: &str) -> Option<Value<'a>> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        return None;
    }
    match json::value(word) {
        Ok(json::Value::Integer(value)) => match i64::try_from(value) {
            Ok(value) => Some(Value::Int(value)),
            Err(_) => Some(Value::Json(word.to_owned())),
        },
        Ok(json::Value::Float(value)) => Some(Value::Float(value)),
        Ok(json::Value::Number(_)) => Some(Value::Json(word.to_owned())),
        Ok(_) => None,
        // `5.`, `.5`, `+5.0`: valid in Python, but not in JSON.
        Err(_) if word.contains('.') => word.parse().ok().map(Value::Float),
        Err(_) => None,
    }
}

/// Appends a text quoted as in Python, so that NetworkX reads it back: NetworkX splits a line at every blank, joins it
/// again with single spaces, and treats text after a `#` as a comment.
pub(crate) fn push_text(out: &mut String, text: &str) {
    out.push('\'');
    let mut before = '\'';
    for character in text.chars() {
        match character {
            '\\' | '\'' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '#' => out.push_str("\\x23"),
            ' ' if before == ' ' => out.push_str("\\x20"),
            ' ' => out.push(' '),
            _ if character.is_whitespace() || character.is_control() => match u32::from(character) {
                code @ 0..=0xff => out.push_str(&format!("\\x{code:02x}")),
                code => out.push_str(&format!("\\u{code:04x}")),
            },
            _ => out.push(character),
        }
        before = if character == ' ' && before == ' ' { '\'' } else { character };
    }
    out.push('\'');
}

/// Appends a float in Python's notation: of an infinite number, a literal that is too large, because Python reads no other.
pub(crate) fn push_float(out: &mut String, value: f64) {
    match value {
        _ if value.is_nan() => out.push_str("nan"),
        _ if value.is_infinite() => out.push_str(if value > 0.0 { "1e999" } else { "-1e999" }),
        _ => out.push_str(&format!("{value:?}")),
    }
}

/// Appends a JSON value in Python's notation.
///
/// # Errors
/// Returns an error if the text is not JSON.
pub(crate) fn push_value_of_json(out: &mut String, raw: &str) -> Result<()> {
    match json::value(raw)? {
        json::Value::Null => out.push_str("None"),
        json::Value::Bool(value) => out.push_str(if value { "True" } else { "False" }),
        json::Value::Integer(_) | json::Value::Number(_) => out.push_str(raw.trim()),
        json::Value::Float(value) => push_float(out, value),
        json::Value::Text(text) => push_text(out, &text),
        json::Value::Array(array) => {
            out.push('[');
            let mut is_first = true;
            json::items(array, |item| {
                if !std::mem::take(&mut is_first) {
                    out.push_str(", ");
                }
                push_value_of_json(out, item)
            })?;
            out.push(']');
        }
        json::Value::Object(object) => {
            out.push('{');
            let mut is_first = true;
            Members::default().read(object, |name, value| {
                if !std::mem::take(&mut is_first) {
                    out.push_str(", ");
                }
                push_text(out, name);
                out.push_str(": ");
                push_value_of_json(out, value)
            })?;
            out.push('}');
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, Fault> {
        let mut found = Vec::new();
        dictionary(text, &mut |name, value| {
            let mut json = String::new();
            value.push_json(&mut json);
            found.push((name.into_owned(), json));
        })?;
        Ok(found)
    }

    #[test]
    fn dictionaries_of_python() {
        let text = r#"{'weight': 0.5, "n": 7, 'a': [1, (2.0, 'x'),], 'd': {'k': None, 'l': True}, 's': 'it\'s \x41\u00e9\n', }"#;
        let found = read(text).unwrap();
        let values: Vec<&str> = found.iter().map(|(_, json)| json.as_str()).collect();
        assert_eq!(values, ["0.5", "7", "[1,[2.0,\"x\"]]", "{\"k\":null,\"l\":true}", "\"it's A\u{e9}\\n\""]);
        assert_eq!(read("{}").unwrap().len(), 0);
        assert_eq!(
            read("{'a': nan, 'b': -inf, 'c': 5., 'd': 99999999999999999999}").unwrap()[3].1,
            "99999999999999999999"
        );
    }

    #[test]
    fn what_is_no_dictionary() {
        for text in [
            "{",
            "{'a'}",
            "{'a': }",
            "{'a': 1} x",
            "{a: 1}",
            "{1: 2}",
            "{'a': b'x'}",
            "{'a': 1_0}",
            "{'a': '\\ud800'}",
            "{'a': 'x}",
            "{'a': '\\x+1'}",
            "{'a': [1}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let deep = format!("{{'a': {}1{}}}", "[".repeat(80), "]".repeat(80));
        assert!(read(&deep).unwrap_err().message.contains("nested"));
    }

    #[test]
    fn texts_come_back_from_lines_that_are_divided_at_blanks() {
        for text in ["", " a  b   c ", "#1", "it's \\ \"", "\u{a0}\u{2003}\u{85}\t\r\n\0", "é漢"] {
            let mut written = String::from("{'k': ");
            push_text(&mut written, text);
            written.push('}');
            let joined = written.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(!joined.contains('#'));
            let mut json = String::new();
            push_string(&mut json, text);
            assert_eq!(read(&joined).unwrap()[0].1, json, "{written}");
        }
    }

    #[test]
    fn json_comes_back() {
        for raw in ["[1,2.5,\"a b\",null,true,{\"k\":[]}]", "18446744073709551615", "1e999", "{\"#\":-0.0}"] {
            let mut written = String::from("{'k': ");
            push_value_of_json(&mut written, raw).unwrap();
            written.push('}');
            assert_eq!(read(&written).unwrap()[0].1, raw, "{written}");
        }
    }
}
