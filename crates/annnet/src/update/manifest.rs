//! The manifest of a graph that has changed, and its history.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{Value, value};

use crate::layout::file;
use crate::read::json;

/// Columns that every entry of the history has.
const VERSION: &str = "version";
const OP: &str = "op";
const TIME: &str = "ts_utc";

/// Returns the manifest `text` with some keys changed; new keys are appended. All other keys are unchanged.
///
/// # Errors
/// Returns an error if it is not a JSON object.
pub(super) fn with(text: &str, changes: &[(&str, String)]) -> Result<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut left: Vec<&(&str, String)> = changes.iter().collect();
    json::members(text, file::MANIFEST, |name, value| {
        let changed = left.iter().position(|(key, _)| *key == name).map(|at| left.remove(at));
        let value = changed.map_or(value.trim(), |(_, value)| value);
        lines.push(format!("  {}: {value}", crate::write::json::string(name)));
        Ok(())
    })?;
    lines.extend(left.into_iter().map(|(name, value)| format!("  {}: {value}", crate::write::json::string(name))));
    Ok(crate::write::json::ascii(&format!("{{\n{}\n}}", lines.join(",\n"))))
}

/// Returns the next value of the counter of changes.
///
/// # Errors
/// Returns an error if the counter is not a number that can be incremented.
pub(super) fn next_version(stated: Option<&str>) -> Result<i64> {
    match stated.map(value).transpose() {
        Ok(None | Some(Value::Null)) => Ok(1),
        Ok(Some(Value::Integer(version))) if version < i128::from(i64::MAX) => {
            i64::try_from(version + 1).map_err(|_| counter())
        }
        _ => Err(counter()),
    }
}

fn counter() -> Error {
    Error::malformed("graph_version is not a number that can be incremented")
        .at(Place::file(file::MANIFEST).in_field("graph_version"))
}

/// Returns an entry of the history as a row: a JSON object whose members become columns, as in the published library,
/// with the version and the time of the change. Values that are not scalars are kept as JSON text.
///
/// # Errors
/// Returns an error if it is not a JSON object.
pub(super) fn entry(text: &str, version: i64, time: &str) -> Result<RecordBatch> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    json::members(text, file::HISTORY, |name, own| {
        let column: ArrayRef = match value(own) {
            Ok(Value::Bool(value)) => Arc::new(BooleanArray::from(vec![value])),
            Ok(Value::Integer(value)) if i64::try_from(value).is_ok() => Arc::new(Int64Array::from(vec![value as i64])),
            Ok(Value::Float(value)) => Arc::new(Float64Array::from(vec![value])),
            Ok(Value::Text(value)) => Arc::new(StringArray::from(vec![value.as_ref()])),
            Ok(Value::Null) => return Ok(()),
            _ => Arc::new(StringArray::from(vec![own.trim()])),
        };
        columns.retain(|(known, _)| known != name);
        columns.push((name.to_owned(), column));
        Ok(())
    })?;
    let mut state = |name: &str, column: ArrayRef| {
        if columns.iter().all(|(known, _)| known != name) {
            columns.push((name.to_owned(), column));
        }
    };
    state(OP, Arc::new(StringArray::from(vec!["update"])));
    state(TIME, Arc::new(StringArray::from(vec![time])));
    state(VERSION, Arc::new(Int64Array::from(vec![version])));
    columns.sort_by(|left, right| left.0.cmp(&right.0));
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .map_err(|error| Error::malformed(error.to_string()).at(Place::file(file::HISTORY)).caused_by(error))
}
