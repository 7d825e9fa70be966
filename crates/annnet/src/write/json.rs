//! JSON that the published library can read everywhere.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::json::{push_string, value};

use super::columns::arrow;

/// Escapes all characters beyond ASCII in JSON text, because the published library reads files in the locale's
/// encoding. Such characters occur only in strings.
pub(crate) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut units = [0; 2];
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// Returns the attributes of one row as a JSON object: texts, numbers and booleans. Values of other types are only in
/// the attribute table.
///
/// # Errors
/// Returns an error if a number cannot be represented.
pub(crate) fn object<'a>(
    names: impl Iterator<Item = &'a String>,
    columns: &[Option<ArrayRef>],
    row: usize,
) -> Result<String> {
    let mut out = String::from("{");
    for (name, column) in names.zip(columns) {
        let Some(cells) = column.as_ref().filter(|cells| cells.is_valid(row)) else { continue };
        let number = || arrow_cast::display::array_value_to_string(cells, row).map_err(arrow);
        let value = match cells.data_type() {
            DataType::Utf8 => string(cells.as_string::<i32>().value(row)),
            DataType::Boolean => number()?,
            other if other.is_integer() => number()?,
            DataType::Float64 if cells.as_primitive::<Float64Type>().value(row).is_finite() => number()?,
            _ => continue,
        };
        out.push_str(if out.len() == 1 { "" } else { ", " });
        push_string(&mut out, name);
        let _ = write!(out, ": {value}");
    }
    out.push('}');
    Ok(out)
}

/// Returns a JSON string.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

/// Returns whether the published library might read an id as something else: it decodes repeatedly until nothing is
/// left to decode. An id that begins like JSON is treated as such.
pub(crate) fn reads_as_something_else(id: &str) -> bool {
    let trimmed = id.trim();
    match trimmed.bytes().next() {
        Some(b'[' | b'{' | b'"') => true,
        Some(b'(') => trimmed.ends_with(')'),
        _ => value(trimmed).is_ok(),
    }
}

/// Appends a member of a hyperedge: a JSON string, or the longer form that names the layer.
pub(super) fn push_member(out: &mut String, id: &str, layer: Option<&str>) {
    let layer = match layer {
        None if reads_as_something_else(id) => "[\"_\"]",
        None => return push_string(out, id),
        Some(layer) => layer,
    };
    out.push_str("{\"kind\": \"supra\", \"layer\": ");
    out.push_str(layer);
    out.push_str(", \"node\": ");
    push_string(out, id);
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascii_is_left() {
        assert_eq!(ascii("{\"\u{fc}\": \"\u{1f600}\"}"), "{\"\\u00fc\": \"\\ud83d\\ude00\"}");
    }

    #[test]
    fn ids_that_read_as_json_name_a_layer() {
        let member = |id: &str| {
            let mut out = String::new();
            push_member(&mut out, id, None);
            out.starts_with('{')
        };
        for id in ["1", " 1 ", "-2.5e3", "true", "null", "NaN", "Infinity", "-Infinity", "\"q\"", "[1]", "{}", "(1, 2)"]
        {
            assert!(member(id), "{id}");
        }
        for id in ["a", "", "1a", "None", "truely", "a (b)", "e5"] {
            assert!(!member(id), "{id}");
        }
    }
}
