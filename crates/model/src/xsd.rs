//! Plain values in the lexical forms of XML Schema, the datatypes of RDF.
//!
//! A plain value has one canonical form, and only that form represents it: `"05"^^xsd:integer` is not the literal of
//! 5 (`docs/model.md`, Values).

use std::fmt::Write;

/// Namespace of the datatypes.
pub const NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema#";

/// IRI of the datatype of text.
pub const STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// IRI of the datatype of booleans.
pub const BOOLEAN: &str = "http://www.w3.org/2001/XMLSchema#boolean";

/// IRI of the datatype of integers.
pub const INTEGER: &str = "http://www.w3.org/2001/XMLSchema#integer";

/// IRI of the datatype of 64-bit floats.
pub const DOUBLE: &str = "http://www.w3.org/2001/XMLSchema#double";

/// A plain value that a literal represents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// The text is the lexical form.
    Text,
    /// A boolean.
    Bool(bool),
    /// An integer of 64 bits, signed or not.
    Integer(i128),
    /// A 64-bit float.
    Float(f64),
}

/// Returns the plain value of which a literal without language is the canonical form, if there is one.
///
/// Only four datatypes have plain values: `string` (also the empty datatype), `boolean`, `integer` within 64 bits, `double`.
pub fn read(datatype: &str, lexical: &str) -> Option<Scalar> {
    match datatype {
        "" | STRING => Some(Scalar::Text),
        BOOLEAN => match lexical {
            "true" => Some(Scalar::Bool(true)),
            "false" => Some(Scalar::Bool(false)),
            _ => None,
        },
        INTEGER => integer(lexical).map(Scalar::Integer),
        DOUBLE => double(lexical).map(Scalar::Float),
        _ => None,
    }
}

fn integer(lexical: &str) -> Option<i128> {
    let digits = lexical.strip_prefix('-').unwrap_or(lexical);
    let canonical = match digits.as_bytes() {
        [b'0'] => lexical.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let value = canonical.then(|| lexical.parse::<i128>().ok()).flatten()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value)
}

fn double(lexical: &str) -> Option<f64> {
    let value = match lexical {
        "NaN" => return Some(f64::NAN),
        "INF" => return Some(f64::INFINITY),
        "-INF" => return Some(f64::NEG_INFINITY),
        // Rust also parses words that XML Schema does not define.
        _ if !lexical.contains('E') => return None,
        _ => lexical.parse::<f64>().ok().filter(|value| value.is_finite())?,
    };
    let mut canonical = Spelling::default();
    push_double(&mut canonical, value).ok()?;
    (canonical.text() == lexical).then_some(value)
}

/// A buffer for the canonical form of a float: at most 17 digits, a sign, a point and an exponent.
#[derive(Default)]
struct Spelling {
    bytes: [u8; 32],
    len: usize,
}

impl Spelling {
    fn text(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl Write for Spelling {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let slot = self.bytes.get_mut(self.len..self.len + text.len()).ok_or(std::fmt::Error)?;
        slot.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// Writes the canonical form of a 64-bit float: `1.0E0`, `-1.5E-7`, `NaN`, `INF`.
///
/// # Errors
/// Returns errors of the writer.
pub fn push_double(out: &mut impl Write, value: f64) -> std::fmt::Result {
    if value.is_nan() {
        return out.write_str("NaN");
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { "INF" } else { "-INF" });
    }
    push_exponent(out, format_args!("{value:E}"))
}

/// Writes the canonical form of a 32-bit float: the shortest one that is parsed as the same 32-bit float.
///
/// # Errors
/// Returns errors of the writer.
pub fn push_float(out: &mut impl Write, value: f32) -> std::fmt::Result {
    if value.is_finite() { push_exponent(out, format_args!("{value:E}")) } else { push_double(out, value.into()) }
}

/// Adds the fraction that Rust omits: 1E0 becomes 1.0E0.
fn push_exponent(out: &mut impl Write, value: std::fmt::Arguments<'_>) -> std::fmt::Result {
    let mut spelling = Spelling::default();
    spelling.write_fmt(value)?;
    let (mantissa, exponent) = spelling.text().split_once('E').unwrap_or((spelling.text(), "0"));
    out.write_str(mantissa)?;
    if !mantissa.contains('.') {
        out.write_str(".0")?;
    }
    out.write_char('E')?;
    out.write_str(exponent)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    #[test]
    fn only_canonical_forms_are_plain_values() {
        let integer = |text| read(INTEGER, text);
        assert_eq!(integer("5"), Some(Scalar::Integer(5)));
        assert_eq!(integer("-9223372036854775808"), Some(Scalar::Integer(i64::MIN.into())));
        assert_eq!(integer("18446744073709551615"), Some(Scalar::Integer(u64::MAX.into())));
        for text in ["05", "+5", "-0", "", "-", "5.0", " 5", "18446744073709551616", "٥"] {
            assert_eq!(integer(text), None, "{text}");
        }
        assert_eq!(read(BOOLEAN, "true"), Some(Scalar::Bool(true)));
        assert_eq!(read(BOOLEAN, "1"), None);
        assert_eq!(read(STRING, ""), Some(Scalar::Text));
        assert_eq!(read("http://www.w3.org/2001/XMLSchema#int", "5"), None);
    }

    #[test]
    fn doubles_have_one_form() {
        for value in [0.0, -0.0, 1.0, -1.5e-7, 0.1, 123.456, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e22, f64::INFINITY] {
            let mut text = String::new();
            push_double(&mut text, value).unwrap();
            let Some(Scalar::Float(read)) = read(DOUBLE, &text) else { panic!("{text} is not canonical") };
            assert_eq!(read.to_bits(), value.to_bits(), "{text}");
        }
        let mut text = String::new();
        push_double(&mut text, -1.5e-7).unwrap();
        assert_eq!(text, "-1.5E-7");
        for text in ["1", "1.0", "1E0", "10.0E0", "1.0e0", "1.0E+0", "inf", "Infinity", "nan", "01.0E0"] {
            assert_eq!(read(DOUBLE, text), None, "{text}");
        }
        assert!(matches!(read(DOUBLE, "NaN"), Some(Scalar::Float(nan)) if nan.is_nan()));
    }
}
