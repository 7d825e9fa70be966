//! Encodes JSON values as bytes. Scalars are encoded by their family; everything else is JSON.

use std::collections::HashMap;

use isomorph_error::Result;
use xxhash_rust::xxh3::xxh3_64;

use super::encode::{Buffer, Member, Tag};
use crate::json::{self, MAX_DEPTH, Quoted, Scanner, Value, has_repeats, too_deep};

/// Appends the bytes of a JSON text of one value.
///
/// # Errors
/// Returns an error if the text is not JSON, or nested too deeply.
pub(super) fn encode(raw: &str, out: &mut Buffer) -> Result<()> {
    let mut scanner = Scanner::new(raw);
    let read = value(&mut scanner, out, 0).and_then(|()| scanner.end());
    if read.is_err() {
        out.members.clear();
    }
    read
}

fn value(scanner: &mut Scanner<'_>, out: &mut Buffer, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    match scanner.peek() {
        Some(b'"') => {
            out.tag(Tag::Text);
            text(scanner.string()?, out)?;
        }
        Some(b'[') => array(scanner, out, depth)?,
        Some(b'{') => object(scanner, out, depth)?,
        _ => match json::scalar(scanner.scalar()?) {
            Value::Integer(value) => out.integer(value),
            Value::Float(value) => out.float(value),
            Value::Bool(value) => out.bool(value),
            Value::Number(value) => out.tail(Tag::JsonNumber, json::canonical_decimal(value).as_bytes()),
            _ => out.tag(Tag::JsonNull),
        },
    }
    Ok(())
}

fn text(quoted: Quoted<'_>, out: &mut Buffer) -> Result<()> {
    if !quoted.escaped {
        out.bytes.extend_from_slice(quoted.raw.as_bytes());
        return Ok(());
    }
    let mut text = std::mem::take(&mut out.text);
    text.clear();
    let pushed = quoted.push(&mut text);
    out.bytes.extend_from_slice(text.as_bytes());
    out.text = text;
    pushed
}

fn array(scanner: &mut Scanner<'_>, out: &mut Buffer, depth: usize) -> Result<()> {
    scanner.expect(b'[')?;
    out.tag(Tag::JsonArray);
    let mut more = !scanner.take(b']');
    while more {
        out.sized(|out| value(scanner, out, depth + 1))?;
        more = scanner.take(b',');
        if !more {
            scanner.expect(b']')?;
        }
    }
    Ok(())
}

fn object(scanner: &mut Scanner<'_>, out: &mut Buffer, depth: usize) -> Result<()> {
    scanner.expect(b'{')?;
    out.tag(Tag::JsonObject);
    let base = out.members.len();
    let mut more = !scanner.take(b'}');
    while more {
        let start = out.bytes.len();
        let name = scanner.name()?;
        out.sized(|out| text(name, out))?;
        let middle = out.bytes.len();
        out.sized(|out| value(scanner, out, depth + 1))?;
        let hash = xxh3_64(out.bytes.get(start..middle).unwrap_or_default());
        out.members.push(Member { hash, start, middle, end: out.bytes.len() });
        more = scanner.take(b',');
        if !more {
            scanner.expect(b'}')?;
        }
    }
    out.repeats.clear();
    out.repeats.extend(out.members.iter().skip(base).map(|member| member.hash));
    if has_repeats(&mut out.repeats) {
        keep_last(out, base);
    }
    out.members.truncate(base);
    Ok(())
}

/// If a name is repeated, keeps the last value at the position of the first.
fn keep_last(out: &mut Buffer, base: usize) {
    let members = out.members.get(base..).unwrap_or_default();
    let Some(start) = members.first().map(|member| member.start) else { return };
    let bytes = out.bytes.split_off(start);
    let part = |from: usize, to: usize| bytes.get(from - start..to - start).unwrap_or_default();
    let mut last: HashMap<&[u8], &Member> = HashMap::new();
    for member in members {
        last.insert(part(member.start, member.middle), member);
    }
    for member in members {
        let name = part(member.start, member.middle);
        if let Some(value) = last.remove(name) {
            out.bytes.extend_from_slice(name);
            out.bytes.extend_from_slice(part(value.middle, value.end));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn bytes(raw: &str) -> Vec<u8> {
        let mut out = Buffer::default();
        encode(raw, &mut out).unwrap();
        assert!(out.members.is_empty());
        out.bytes
    }

    #[test]
    fn spacing_escapes_and_spelling_of_numbers_mean_nothing() {
        assert_eq!(bytes(r#"{"a":[1,{"b":"é"}]}"#), bytes(r#" { "\u0061" : [ 1 , {"b":"\u00e9"} ] } "#));
        assert_eq!(bytes("[1.50]"), bytes("[15e-1]"));
        assert_eq!(bytes("[123456789012345678901234567890]"), bytes("[123456789012345678901234567890]"));
        assert_eq!(bytes("[1e999]"), bytes("[10E998]"));
        assert_eq!(bytes("[NaN]"), bytes("[ NaN]"));
    }

    #[test]
    fn everything_else_counts() {
        let all = [
            "null",
            "true",
            "false",
            "0",
            "1",
            "1.0",
            "-0.0",
            "0.0",
            "\"\"",
            "\"1\"",
            "\"null\"",
            "[]",
            "{}",
            "[[]]",
            "[{}]",
            "[null]",
            "[\"\"]",
            "[1,2]",
            "[2,1]",
            "[[1],2]",
            "[[1,2]]",
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"b":2,"a":1}"#,
            r#"{"a":{"b":2}}"#,
            r#"{"":null}"#,
            r#"{"a":null}"#,
            "18446744073709551615",
            "18446744073709551616",
            "1e999",
            "1e998",
            "-1e999",
            "NaN",
            "Infinity",
            "-Infinity",
            "0.1234567890123456789",
            "0.1234567890123456788",
        ];
        for (at, left) in all.iter().enumerate() {
            for right in all.iter().skip(at + 1) {
                assert_ne!(bytes(left), bytes(right), "{left} {right}");
            }
        }
    }

    #[test]
    fn of_repeated_names_the_last_counts() {
        assert_eq!(bytes(r#"{"a":1,"b":{"c":1,"c":2},"a":3}"#), bytes(r#"{"a":3,"b":{"c":2}}"#));
        assert_eq!(bytes(r#"[{"a":[],"\u0061":{"a":1}}]"#), bytes(r#"[{"a":{"a":1}}]"#));
    }

    #[test]
    fn what_is_not_json_is_an_error_and_leaves_nothing_behind() {
        let mut out = Buffer::default();
        for raw in ["", "nope", "[1", r#"{"a":{"b":1}"#, "1 2", r#""\ud800""#, &"[".repeat(1_000_000)] {
            assert!(encode(raw, &mut out).is_err(), "{raw:.20}");
            assert!(out.members.is_empty());
        }
    }
}
