//! Values of JSON as records have them.

use std::borrow::Cow;

use isomorph_error::Result;
use isomorph_model::json::{self, Value};

use crate::slots::{Id, Slot, Tag};

/// Up to 2^53, floats are integers one by one.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the kind of the JSON text of a value, and its text as records have it.
///
/// # Errors
/// Returns an error if it is not JSON, or a string in it cannot be decoded.
pub fn classify(raw: &str) -> Result<(Tag, Cow<'_, str>)> {
    let raw = raw.trim_matches([' ', '\t', '\n', '\r']);
    Ok(match json::value(raw)? {
        Value::Null => (Tag::Null, Cow::Borrowed("")),
        Value::Bool(_) => (Tag::Bool, Cow::Borrowed(raw)),
        Value::Integer(_) => (Tag::Integer, Cow::Borrowed(raw)),
        Value::Float(_) => (Tag::Float, Cow::Borrowed(raw)),
        Value::Text(text) => (Tag::Text, text),
        Value::Number(_) => (Tag::Json, Cow::Borrowed(raw)),
        Value::Array(_) | Value::Object(_) => {
            json::check(raw)?;
            (Tag::Json, Cow::Borrowed(raw))
        }
    })
}

/// Puts the JSON text of a value into a slot.
///
/// # Errors
/// As [`classify`].
pub fn put(slot: &mut Slot, raw: &str) -> Result<()> {
    let (tag, text) = classify(raw)?;
    slot.put(tag, &text);
    Ok(())
}

/// Puts the JSON text of a value into an id. `1.0` is the integer 1, as in JavaScript and, for NetworkX, in Python.
///
/// # Errors
/// As [`classify`].
pub fn put_id(id: &mut Id, raw: &str) -> Result<()> {
    let (tag, text) = classify(raw)?;
    match float(&text).filter(|value| tag == Tag::Float && value.fract() == 0.0 && value.abs() <= EXACT) {
        // Without the sign of zero.
        Some(whole) => id.put(Tag::Integer, &format!("{:.0}", whole + 0.0)),
        None => id.put(tag, &text),
    }
    Ok(())
}

/// Appends a float as JSON, as Python writes it: the shortest text that is read as the same float.
pub fn push_float(out: &mut String, value: f64) {
    use std::fmt::Write as _;
    if value.is_finite() {
        let _ = write!(out, "{value:?}");
    } else {
        out.push_str(match (value.is_nan(), value > 0.0) {
            (true, _) => "NaN",
            (_, true) => "Infinity",
            _ => "-Infinity",
        });
    }
}

/// Parses a float as records have it.
pub fn float(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        text => text.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}
