//! JSON as property values: access to the members of an object without parsing it into a tree, and values in a comparable form.
//!
//! The rules are in `docs/model.md`, section Values: strings, booleans, 64-bit integers and floats of at most 17 digits
//! are compared by value; null, arrays, objects and other numbers are JSON. Within JSON, the order of members is significant;
//! whitespace and escapes are not. `NaN`, `Infinity` and `-Infinity` are read as floats, as written by Python.

#[cfg(test)]
mod differential;
mod members;
mod scan;
mod texts;

use std::borrow::Cow;

use isomorph_error::Result;

pub(crate) use members::has_repeats;
pub use members::{Members, items};
pub use scan::MAX_DEPTH;
pub(crate) use scan::{Quoted, Scanner, too_deep};
pub use texts::texts;

/// Checks that all strings and names in a valid JSON text can be decoded: an escape may be half of a surrogate
/// pair, which no text can represent.
///
/// # Errors
/// Returns an error if one cannot be decoded.
pub fn check_strings(json: &str) -> Result<()> {
    let mut at = 0;
    while let Some(next) = json.get(at..).and_then(|rest| rest.find('"')) {
        let mut scanner = Scanner::new(json.get(at + next..).unwrap_or_default());
        scanner.string()?.text()?;
        at += next + scanner.at();
    }
    Ok(())
}

/// Checks that a text is one JSON value, not nested too deeply, whose strings can be decoded.
///
/// # Errors
/// Returns an error if it is not.
pub fn check(json: &str) -> Result<()> {
    let mut scanner = Scanner::new(json);
    scanner.value()?;
    scanner.end()?;
    check_strings(json)
}

/// A JSON value, classified by the families of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A 64-bit integer, signed or unsigned.
    Integer(i128),
    /// A float of at most 17 significant digits, or one that JSON has no notation for.
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
    /// Any other number, as its text.
    Number(&'a str),
}

/// Classifies the text of one JSON value. Arrays and objects are recognised by their first character, without checking
/// their content.
///
/// # Errors
/// Returns an error if the text is not JSON.
pub fn value(raw: &str) -> Result<Value<'_>> {
    let raw = raw.trim_matches([' ', '\t', '\n', '\r']);
    let mut scanner = Scanner::new(raw);
    let value = match scanner.peek() {
        Some(b'[') => return Ok(Value::Array(raw)),
        Some(b'{') => return Ok(Value::Object(raw)),
        Some(b'"') => Value::Text(scanner.string()?.text()?),
        _ => scalar(scanner.scalar()?),
    };
    scanner.end()?;
    Ok(value)
}

/// Classifies a scalar from the scanner.
pub(crate) fn scalar(raw: &str) -> Value<'_> {
    match raw {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        "NaN" => Value::Float(f64::NAN),
        "Infinity" => Value::Float(f64::INFINITY),
        "-Infinity" => Value::Float(f64::NEG_INFINITY),
        number => self::number(number),
    }
}

fn number(raw: &str) -> Value<'_> {
    if !raw.contains(['.', 'e', 'E']) {
        let number = raw.parse::<i64>().map(i128::from).or_else(|_| raw.parse::<u64>().map(i128::from));
        return number.map_or(Value::Number(raw), Value::Integer);
    }
    let mantissa = raw.split(['e', 'E']).next().unwrap_or_default();
    // Leading and trailing zeros are not significant: 1.0000000000000000000 is 1.0.
    let (mut digits, mut zeros) = (0, 0);
    for digit in mantissa.bytes().filter(u8::is_ascii_digit) {
        zeros = if digit == b'0' { zeros + usize::from(digits > 0) } else { 0 };
        digits += usize::from(digits > 0 || digit != b'0');
    }
    match raw.parse::<f64>() {
        Ok(number) if number.is_finite() && digits - zeros <= 17 && (number != 0.0 || digits == 0) => {
            Value::Float(number)
        }
        _ => Value::Number(raw),
    }
}

/// Appends `text` as a JSON string, escaping only what is necessary.
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

/// Returns the canonical form of a decimal number: sign, digits without leading and trailing zeros, exponent of the last digit.
pub fn canonical_decimal(text: &str) -> String {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
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
    // An exponent of more than 38 digits is kept as written, so that different numbers stay different.
    let Ok(exponent) = exponent.trim_start_matches('+').parse::<i128>() else { return text.to_owned() };
    let exponent = exponent.saturating_sub(fraction.len() as i128).saturating_add((trimmed.len() - kept.len()) as i128);
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
        assert_eq!(value("-0").unwrap(), Value::Integer(0));
        assert_eq!(value(" -9223372036854775808 ").unwrap(), Value::Integer(i64::MIN.into()));
        assert_eq!(value("-9223372036854775809").unwrap(), Value::Number("-9223372036854775809"));
    }

    #[test]
    fn a_float_is_what_survives_as_one() {
        assert_eq!(value("1.00000000000000000000000").unwrap(), Value::Float(1.0));
        assert_eq!(value("0.000000000000000000000001").unwrap(), Value::Float(1e-24));
        assert!(matches!(value("-0.000000000000000000000").unwrap(), Value::Float(zero) if zero.is_sign_negative()));
        for text in ["1e-400", "-1e-400", "1e400", "0.123456789012345678", "100000000000000001.5"] {
            assert_eq!(value(text).unwrap(), Value::Number(text), "{text}");
        }
        assert_eq!(value("0e-400").unwrap(), Value::Float(0.0));
        assert!(matches!(value("NaN").unwrap(), Value::Float(nan) if nan.is_nan()));
    }

    #[test]
    fn scalars_are_checked_to_the_last_character() {
        for text in ["nope", "truest", "1x", "01", "\"a\"b\"", "\"", "", "1 2"] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn of_repeated_names_the_last_counts() {
        assert_eq!(members(r#"{"a":1,"b":2,"a":3}"#).unwrap(), [("a".into(), "3".into()), ("b".into(), "2".into())]);
        assert_eq!(members(r#"{"\u0061":1,"a":{"x": [1]}}"#).unwrap(), [("a".into(), r#"{"x": [1]}"#.into())]);
    }

    #[test]
    fn repeats_among_many_members_are_found() {
        let mut object: String = (0..20_000).map(|at| format!("\"m{at}\":{at},")).collect();
        object.insert(0, '{');
        object.push_str("\"m0\":\"last\"}");
        let all = members(&object).unwrap();
        assert_eq!(all.len(), 20_000);
        assert_eq!(all[0], ("m0".into(), "\"last\"".into()));
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for text in ["[1]", "5", "{", r#"{"a":}"#, r#"{"a":1} x"#, " ", r#"{"a":nan}"#, r#"{"a":01}"#] {
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
        assert_eq!(canonical_decimal("1.5e-9223372036854775808"), "15e-9223372036854775809");
        let absurd = |exponent: &str| canonical_decimal(&format!("1e{exponent}"));
        assert_ne!(absurd(&"9".repeat(40)), absurd(&"8".repeat(40)));
    }
}
