//! JSON as property values: members of an object without building it, and values in a comparable form.
//!
//! The rules are those of `docs/model.md`, Values: strings, booleans, 64-bit integers and floats of at most 17 digits
//! compare as such; null, arrays, objects and other numbers are JSON. Within JSON the order of members counts,
//! spacing and escapes do not.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use isomorph_error::{Error, Result};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON value, sorted into the families of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// An integer that fits 64 bits, signed or not.
    Integer(i128),
    /// A float of at most 17 significant digits.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A string, unescaped.
    Text(Cow<'a, str>),
    /// `null`.
    Null,
    /// An array, as its text.
    Array(&'a str),
    /// An object, as its text.
    Object(&'a str),
    /// A number that is none of the above, as its text.
    Number(&'a str),
}

/// Sorts the text of one valid JSON value into its family.
///
/// # Errors
/// When the text is not JSON.
pub fn value(raw: &str) -> Result<Value<'_>> {
    let raw = raw.trim();
    Ok(match raw.as_bytes().first() {
        Some(b'"') => Value::Text(text(raw)?),
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'n') => Value::Null,
        Some(b'[') => Value::Array(raw),
        Some(b'{') => Value::Object(raw),
        Some(b'-' | b'0'..=b'9') => number(raw),
        _ => return Err(not_json(raw)),
    })
}

fn not_json(text: &str) -> Error {
    let shown: String = text.chars().take(40).collect();
    Error::malformed(format!("not JSON: {shown:?}"))
}

fn text(raw: &str) -> Result<Cow<'_, str>> {
    let inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(inner) if !inner.contains('\\') => Ok(Cow::Borrowed(inner)),
        _ => serde_json::from_str::<String>(raw)
            .map(Cow::Owned)
            .map_err(|error| Error::malformed(format!("not a JSON string: {error}"))),
    }
}

/// Sorts the text of a valid JSON number.
fn number(raw: &str) -> Value<'_> {
    if !raw.contains(['.', 'e', 'E']) {
        return match raw.parse::<i128>() {
            Ok(number) if (i64::MIN as i128..=u64::MAX as i128).contains(&number) => Value::Integer(number),
            _ => Value::Number(raw),
        };
    }
    let mantissa = raw.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|&digit| digit == b'0').count();
    match raw.parse::<f64>() {
        Ok(number) if number.is_finite() && digits <= 17 => Value::Float(number),
        _ => Value::Number(raw),
    }
}

/// Reads the top-level members of JSON objects, one after another, without building them.
///
/// Keep one per column: it holds the scratch space, so that reading a row allocates nothing.
#[derive(Debug, Default)]
pub struct Members {
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    hash: u64,
    name: Result<Range<usize>, String>,
    value: Range<usize>,
}

impl Members {
    /// Calls `each` with the name and the value's text of every member of `object`, in order. Of repeated names only
    /// the last counts, as in the published readers. The empty text and `null` are the empty object.
    ///
    /// # Errors
    /// When `object` is not a JSON object, or `each` returns an error.
    pub fn read<'a>(&mut self, object: &'a str, mut each: impl FnMut(&str, &'a str) -> Result<()>) -> Result<()> {
        if object.is_empty() || object == "null" {
            return Ok(());
        }
        self.members.clear();
        let mut deserializer = serde_json::Deserializer::from_str(object);
        let repeated = (&mut deserializer)
            .deserialize_map(Collect { object, members: &mut self.members })
            .and_then(|repeated| deserializer.end().map(|()| repeated))
            .map_err(|error| Error::malformed(format!("not a JSON object: {error}")))?;
        for (at, member) in self.members.iter().enumerate() {
            if repeated && self.members.iter().skip(at + 1).any(|later| later.hash == member.hash) {
                continue;
            }
            let name = match &member.name {
                Ok(range) => object.get(range.clone()).unwrap_or_default(),
                Err(unescaped) => unescaped,
            };
            each(name, object.get(member.value.clone()).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// Collects the members of `object` as ranges of its text; its value says whether a name came twice.
struct Collect<'a, 'm> {
    object: &'a str,
    members: &'m mut Vec<Member>,
}

impl<'de> Visitor<'de> for Collect<'de, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let range = |part: &str| {
            let start = part.as_ptr() as usize - self.object.as_ptr() as usize;
            start..start + part.len()
        };
        let mut repeated = false;
        while let Some(name) = map.next_key_seed(Name)? {
            let value: &'de RawValue = map.next_value()?;
            let hash = xxhash_rust::xxh3::xxh3_64(name.as_bytes());
            repeated |= self.members.iter().any(|member| member.hash == hash);
            let name = match name {
                Cow::Borrowed(name) => Ok(range(name)),
                Cow::Owned(name) => Err(name),
            };
            self.members.push(Member { hash, name, value: range(value.get()) });
        }
        Ok(repeated)
    }
}

/// A member's name, borrowed where it has no escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// Calls `each` with the text of every item of a JSON array.
///
/// # Errors
/// When `array` is not a JSON array, or `each` returns an error.
pub fn items<'a>(array: &'a str, mut each: impl FnMut(&'a str) -> Result<()>) -> Result<()> {
    let items: Vec<&'a RawValue> =
        serde_json::from_str(array).map_err(|error| Error::malformed(format!("not a JSON array: {error}")))?;
    items.into_iter().try_for_each(|item| each(item.get()))
}

/// Appends `text` as a JSON string, escaping only what must be.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape: &str = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x00..=0x1f => "",
            _ => continue,
        };
        out.push_str(text.get(copied..at).unwrap_or_default());
        if escape.is_empty() {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.push_str("\\u00");
            out.push(HEX[usize::from(byte >> 4)] as char);
            out.push(HEX[usize::from(byte & 15)] as char);
        } else {
            out.push_str(escape);
        }
        copied = at + 1;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out.push('"');
}

/// A decimal number in one spelling: sign, digits without outer zeros, exponent of the last digit.
pub fn canonical_decimal(text: &str) -> String {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.trim_start_matches('+').parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa.trim_start_matches('+')),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_start_matches('0');
    let kept = trimmed.trim_end_matches('0');
    if kept.is_empty() {
        return "0".to_owned();
    }
    let exponent = exponent - fraction.len() as i64 + (trimmed.len() - kept.len()) as i64;
    format!("{sign}{kept}e{exponent}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn members(object: &str) -> Result<Vec<(String, String)>> {
        let mut all = Vec::new();
        Members::default().read(object, |name, raw| {
            all.push((name.to_owned(), raw.to_owned()));
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn numbers_are_sorted_into_families() {
        assert_eq!(value("5").unwrap(), Value::Integer(5));
        assert_eq!(value("18446744073709551615").unwrap(), Value::Integer(u64::MAX as i128));
        assert_eq!(value("18446744073709551616").unwrap(), Value::Number("18446744073709551616"));
        assert_eq!(value("1.0").unwrap(), Value::Float(1.0));
        assert_eq!(value("1e999").unwrap(), Value::Number("1e999"));
        assert_eq!(value("0.123456789012345678").unwrap(), Value::Number("0.123456789012345678"));
        assert_eq!(value("0.10000000149011612").unwrap(), Value::Float(0.10000000149011612));
    }

    #[test]
    fn of_repeated_names_the_last_counts() {
        assert_eq!(members(r#"{"a":1,"b":2,"a":3}"#).unwrap(), [("b".into(), "2".into()), ("a".into(), "3".into())]);
        assert_eq!(members(r#"{"\u0061":1,"a":{"x": [1]}}"#).unwrap(), [("a".into(), r#"{"x": [1]}"#.into())]);
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for text in ["[1]", "5", "{", r#"{"a":}"#, r#"{"a":1} x"#, " ", r#"{"a":NaN}"#] {
            assert!(members(text).is_err(), "{text}");
        }
        assert!(members("").unwrap().is_empty());
        assert!(members("null").unwrap().is_empty());
        assert!(members("{}").unwrap().is_empty());
    }

    #[test]
    fn strings_are_escaped_as_json_demands() {
        let all: String = ('\0'..='\u{ff}').chain(['\u{2028}', '😀']).collect();
        let mut out = String::new();
        push_string(&mut out, &all);
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), all);
        assert_eq!(value(&out).unwrap(), Value::Text(all.into()));
    }

    #[test]
    fn decimals_have_one_spelling() {
        for text in ["100", "1e2", "1.00E+2", "0.1e3", "00100.0"] {
            assert_eq!(canonical_decimal(text), "1e2", "{text}");
        }
        assert_eq!(canonical_decimal("-0.0"), "0");
        assert_eq!(canonical_decimal("-12.50"), "-125e-1");
    }
}
