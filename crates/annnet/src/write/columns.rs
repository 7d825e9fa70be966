//! Columns of batches, converted to the types of the tables.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, ListArray, StringArray, UInt32Array};
use arrow_schema::ArrowError;
use arrow_select::take::take;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Columns, Ends};

/// Returns a column of text.
///
/// # Errors
/// Returns an error if it has another type, or nulls where none are allowed.
pub(super) fn text<'a>(column: &'a ArrayRef, what: &str) -> Result<&'a StringArray> {
    column
        .as_string_opt::<i32>()
        .ok_or_else(|| Error::usage(format!("{what} must be text, found {}", column.data_type())))
}

/// Returns a column of ids: text without nulls.
///
/// # Errors
/// Returns the errors of [`text`].
pub(super) fn ids<'a>(column: &'a ArrayRef, what: &str) -> Result<&'a StringArray> {
    let ids = text(column, what)?;
    match ids.null_count() {
        0 => Ok(ids),
        _ => Err(Error::malformed(format!("{what} must not be null"))),
    }
}

/// Returns the keys of ends.
///
/// # Errors
/// Returns an error if the ends are rows.
pub(super) fn keys(ends: &Ends) -> Result<&ArrayRef> {
    match ends {
        Ends::Keys(keys) => Ok(keys),
        Ends::Rows(_) => Err(Error::usage("annnet identifies elements by keys, found rows")),
    }
}

/// Returns a column of lists of labels.
///
/// # Errors
/// Returns an error if it has another type.
pub(super) fn lists(column: &ArrayRef) -> Result<&ListArray> {
    let lists = column.as_list_opt::<i32>().filter(|lists| lists.values().as_string_opt::<i32>().is_some());
    lists.ok_or_else(|| Error::usage(format!("layers must be lists of text, found {}", column.data_type())))
}

/// Returns a column of floats.
///
/// # Errors
/// Returns an error if it has another type.
pub(super) fn floats<'a>(column: &'a ArrayRef, what: &str) -> Result<&'a Float64Array> {
    column
        .as_primitive_opt::<Float64Type>()
        .ok_or_else(|| Error::usage(format!("{what} must be floats, found {}", column.data_type())))
}

/// Returns the column with index `at`, if there is such a property and it is not absent.
pub(super) fn column(columns: &Columns, at: Option<usize>) -> Option<&ArrayRef> {
    columns.get(at?)?.as_ref()
}

/// Returns the columns with these indexes.
pub(super) fn columns(all: &Columns, chosen: &[usize]) -> Vec<Option<ArrayRef>> {
    chosen.iter().map(|at| column(all, Some(*at)).cloned()).collect()
}

/// Returns some rows of a column.
///
/// # Errors
/// Returns an error if there is not enough memory.
pub(crate) fn gather(column: &dyn Array, rows: &UInt32Array) -> Result<ArrayRef> {
    take(column, rows, None).map_err(arrow)
}

/// Returns some rows of columns that may be absent.
///
/// # Errors
/// Returns the errors of [`gather`].
pub(crate) fn gather_all(columns: Vec<Option<ArrayRef>>, rows: &UInt32Array) -> Result<Vec<Option<ArrayRef>>> {
    columns.into_iter().map(|column| column.map(|column| gather(&column, rows)).transpose()).collect()
}

/// Returns a column with the same text in every row.
pub(crate) fn same(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows)))
}

/// Converts an error of Arrow.
pub(crate) fn arrow(error: ArrowError) -> Error {
    Error::malformed(error.to_string()).caused_by(error)
}

/// Returns the error for something that the format cannot represent.
pub(super) fn lost(message: impl Into<String>) -> Error {
    Error::new(Kind::WouldLose, message.into())
}
