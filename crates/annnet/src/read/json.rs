//! The small JSON files that describe a graph. `NaN` and `Infinity` are accepted as Python writes them.

use std::borrow::Cow;

use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{self, Members, Value};

use crate::rules;

/// Returns the error for malformed JSON.
pub(crate) fn broken(file: &str, error: Error) -> Error {
    let message = error.message().to_owned();
    Error::broken(&rules::JSON, message).at(Place::file(file)).caused_by(error)
}

fn unexpected(file: &str, wanted: &str) -> Error {
    Error::broken(&rules::JSON, format!("expected {wanted}")).at(Place::file(file))
}

/// Checks that `text` is one JSON value.
pub(crate) fn check(text: &str, file: &str) -> Result<()> {
    let mut values = 0;
    json::items(&format!("[{text}\n]"), |_| {
        values += 1;
        Ok(())
    })
    .map_err(|error| broken(file, error))?;
    if values == 1 { Ok(()) } else { Err(unexpected(file, "one JSON value")) }
}

/// Checks that all strings in `text`, which is valid JSON, can be read: Python writes unpaired surrogates as escapes.
pub(crate) fn check_texts(text: &str, file: &str) -> Result<()> {
    fn whole(text: &str) -> Result<()> {
        match json::value(text)? {
            Value::Array(array) => json::items(array, whole),
            Value::Object(object) => Members::default().read(object, |_, value| whole(value)),
            _ => Ok(()),
        }
    }
    whole(text).map_err(|error| broken(file, error))
}

/// Calls `each` with the name and the text of each member of an object.
pub(crate) fn members(text: &str, file: &str, mut each: impl FnMut(&str, &str) -> Result<()>) -> Result<()> {
    if !text.trim_start().starts_with('{') {
        return Err(unexpected(file, "a JSON object"));
    }
    let mut failed = None;
    let read = Members::default().read(text, |name, value| {
        each(name, value).map_err(|error| {
            failed = Some(error);
            Error::malformed("")
        })
    });
    match failed {
        Some(error) => Err(error),
        None => read.map_err(|error| broken(file, error)),
    }
}

/// Calls `each` with the text of each item of an array.
pub(crate) fn items(text: &str, file: &str, mut each: impl FnMut(&str) -> Result<()>) -> Result<()> {
    if !text.trim_start().starts_with('[') {
        return Err(unexpected(file, "a JSON array"));
    }
    let mut failed = None;
    let read = json::items(text, |item| {
        each(item).map_err(|error| {
            failed = Some(error);
            Error::malformed("")
        })
    });
    match failed {
        Some(error) => Err(error),
        None => read.map_err(|error| broken(file, error)),
    }
}

/// Returns a string, if `text` is one.
pub(crate) fn string(text: &str) -> Option<Cow<'_, str>> {
    match json::value(text) {
        Ok(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// Parses an array of strings.
pub(crate) fn strings(text: &str, file: &str) -> Result<Vec<String>> {
    let mut all = Vec::new();
    items(text, file, |item| {
        all.push(string(item).ok_or_else(|| unexpected(file, "a JSON string"))?.into_owned());
        Ok(())
    })?;
    Ok(all)
}

/// Returns a boolean, if `text` is one.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match json::value(text) {
        Ok(Value::Bool(value)) => Some(value),
        _ => None,
    }
}

/// Returns a count, if `text` is one.
pub(crate) fn count(text: &str) -> Option<u64> {
    match json::value(text) {
        Ok(Value::Integer(value)) => u64::try_from(value).ok(),
        _ => None,
    }
}
