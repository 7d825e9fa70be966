//! Converts JSON values to columns of a declared type.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, FieldRef};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use isomorph_model::type_name::type_name;

use crate::text::column::{self, Cell, Refused, excerpt, is_parsed, is_scalar};

/// Whether columns of this type can be read from JSON.
pub(super) fn is_readable(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) => is_readable(item.data_type()),
        other => is_parsed(other),
    }
}

/// Whether columns of this type can be written as JSON.
pub(super) fn is_writable(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) => is_writable(item.data_type()),
        other => is_scalar(other),
    }
}

/// Parses a column of `data_type`, one JSON text per value; `None` where the key was missing.
pub(super) fn parse(data_type: &DataType, refuse_zones: bool, values: &[Option<&str>]) -> Result<ArrayRef, Refused> {
    if let DataType::List(item) = data_type {
        return lists(item, refuse_zones, values);
    }
    let mut cells: Vec<Cell<'_>> = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        let text = value.map_or(Ok(None), |value| text(data_type, value));
        cells.push(text.map_err(|reason| Refused { row, reason })?);
    }
    column::parse(data_type, refuse_zones, cells.into_iter())
}

/// Returns the text of a JSON value if it has the kind that `data_type` requires.
fn text<'a>(data_type: &DataType, value: &'a str) -> Result<Cell<'a>, String> {
    use DataType as T;
    let wrong = || format!("{} is not a value of type {}", excerpt(value.as_bytes()), type_name(data_type));
    let is_quoted = value.starts_with('"');
    let is_literal = !is_quoted && !value.starts_with(['[', '{']);
    let string = || serde_json::from_str::<Cow<'a, str>>(value).map_err(|error| error.to_string());
    if value == "null" {
        return Ok(None);
    }
    match data_type {
        T::Utf8 | T::LargeUtf8 | T::Date32 | T::Timestamp(_, _) | T::Time32(_) | T::Time64(_) if is_quoted => {
            Ok(Some(bytes(unquoted(value, string)?)))
        }
        T::Binary | T::LargeBinary if is_quoted => {
            BASE64.decode(string()?.as_bytes()).map(|bytes| Some(Cow::Owned(bytes))).map_err(|_| wrong())
        }
        // JSON has no notation for these floats; Spark writes them as strings, Python as words.
        T::Float32 | T::Float64 if matches!(value, "\"NaN\"" | "\"Infinity\"" | "\"-Infinity\"") => {
            Ok(Some(bytes(string()?)))
        }
        T::Boolean if matches!(value, "true" | "false") => Ok(Some(value.as_bytes().into())),
        T::Boolean => Err(wrong()),
        // Decimals are texts where readers would round numbers.
        T::Decimal128(_, _) if is_quoted => Ok(Some(bytes(unquoted(value, string)?))),
        T::Decimal128(_, _) if is_literal => Ok(Some(value.as_bytes().into())),
        other if is_literal && (other.is_integer() || other.is_floating()) => Ok(Some(value.as_bytes().into())),
        _ => Err(wrong()),
    }
}

/// Returns the text inside the quotes; it is copied only if it contains escapes.
fn unquoted<'a>(
    value: &'a str,
    unescape: impl FnOnce() -> Result<Cow<'a, str>, String>,
) -> Result<Cow<'a, str>, String> {
    match value.get(1..value.len().saturating_sub(1)) {
        Some(inner) if !inner.contains('\\') => Ok(Cow::Borrowed(inner)),
        _ => unescape().map(|text| Cow::Owned(text.into_owned())),
    }
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn lists(item: &FieldRef, refuse_zones: bool, values: &[Option<&str>]) -> Result<ArrayRef, Refused> {
    let mut items: Vec<Option<&str>> = Vec::new();
    let mut lengths = Vec::with_capacity(values.len());
    let mut rows = Vec::new();
    let mut nulls = NullBufferBuilder::new(values.len());
    for (row, value) in values.iter().enumerate() {
        let before = items.len();
        match value.filter(|value| *value != "null") {
            None => nulls.append_null(),
            Some(value) => {
                let found = isomorph_model::json::items(value, |item| {
                    items.push(Some(item));
                    Ok(())
                });
                found.map_err(|_| Refused { row, reason: format!("{} is not a list", excerpt(value.as_bytes())) })?;
                nulls.append_non_null();
            }
        }
        lengths.push(items.len() - before);
        rows.resize(items.len(), row);
    }
    let too_long = |_| Refused { row: 0, reason: "the lists in a batch have more than 2^31 values".to_owned() };
    i32::try_from(items.len()).map_err(too_long)?;
    let in_list = |refused: Refused| Refused { row: rows.get(refused.row).copied().unwrap_or_default(), ..refused };
    let items = parse(item.data_type(), refuse_zones, &items).map_err(in_list)?;
    let list = ListArray::try_new(Arc::clone(item), OffsetBuffer::from_lengths(lengths), items, nulls.finish());
    list.map(|list| Arc::new(list) as ArrayRef).map_err(|error| Refused { row: 0, reason: error.to_string() })
}
