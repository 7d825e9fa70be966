//! Converts columns to their types in files.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, ListArray, UInt64Array, cast::AsArray, new_null_array};
use arrow_buffer::ScalarBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};
use isomorph_error::{Error, Kind, Place, Result};

use crate::rules;

const STRICT: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow_cast::display::FormatOptions::new() };

/// Converts an Arrow error.
pub(super) fn arrow(error: ArrowError) -> Error {
    Error::malformed(error.to_string()).caused_by(error)
}

/// Converts `column` to its type in the file; returns nulls if there is no column.
///
/// # Errors
/// Returns [`Kind::WouldLose`] if a value has no exact equivalent in that type.
pub(crate) fn stored(column: Option<&ArrayRef>, rows: usize, data_type: &DataType, name: &str) -> Result<ArrayRef> {
    let Some(column) = column else { return Ok(new_null_array(data_type, rows)) };
    convert(column, data_type).map_err(|error| error.at(Place::field(name)))
}

fn convert(column: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    if column.data_type() == target {
        return Ok(Arc::clone(column));
    }
    if let (DataType::List(_), DataType::List(item)) = (column.data_type(), target) {
        let list = column.as_list::<i32>();
        let values = convert(list.values(), item.data_type())?;
        let list = ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, list.nulls().cloned());
        return Ok(Arc::new(list.map_err(arrow)?));
    }
    let lossy = |error| Error::new(Kind::WouldLose, format!("a value cannot be stored as {target}")).caused_by(error);
    let converted = cast_with_options(column, target, &STRICT).map_err(lossy)?;
    if matches!((column.data_type(), target), (DataType::Timestamp(from, _), DataType::Timestamp(to, _)) if from > to) {
        let back = cast_with_options(&converted, column.data_type(), &STRICT).map_err(arrow)?;
        if back.to_data() != column.to_data() {
            let message = "a timestamp is finer than the milliseconds that this file type stores";
            return Err(Error::new(Kind::WouldLose, message).hint("--file-type parquet    keep finer timestamps"));
        }
    }
    Ok(converted)
}

/// Converts keys to their type in the file.
///
/// # Errors
/// Returns [`rules::KEY_NULL`], or [`Kind::WouldLose`] for an integer of more than 63 bits.
pub(super) fn stored_keys(keys: Option<&ArrayRef>, rows: usize, data_type: &DataType, name: &str) -> Result<ArrayRef> {
    let null = |row: usize| Error::broken(&rules::KEY_NULL, "a key is null").at(Place::field(name).row(row as u64));
    let Some(keys) = keys else { return if rows == 0 { stored(None, 0, data_type, name) } else { Err(null(0)) } };
    if let Some(row) = keys.nulls().and_then(|nulls| nulls.iter().position(|valid| !valid)) {
        return Err(null(row));
    }
    stored(Some(keys), rows, data_type, name)
}

/// Converts rows to indexes of GraphAr, below 2^63, without a copy.
pub(super) fn as_indexes(rows: &UInt64Array) -> ArrayRef {
    let values = rows.values();
    Arc::new(Int64Array::new(ScalarBuffer::new(values.inner().clone(), 0, values.len()), None))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::{TimestampMicrosecondArray, UInt64Array};
    use arrow_schema::TimeUnit;

    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        let keys: ArrayRef = Arc::new(UInt64Array::from(vec![1, u64::MAX]));
        assert_eq!(stored_keys(Some(&keys), 2, &DataType::Int64, "id").unwrap_err().kind(), Kind::WouldLose);
        assert_eq!(
            stored_keys(Some(&keys.slice(0, 1)), 1, &DataType::Int64, "id").unwrap().data_type(),
            &DataType::Int64
        );
        let nulls: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
        let error = stored_keys(Some(&nulls), 2, &DataType::Int64, "id").unwrap_err();
        assert_eq!((error.broken_rule().unwrap().id, error.place().row), ("GAR-KEY-NULL", Some(1)));
        let millis = DataType::Timestamp(TimeUnit::Millisecond, None);
        let exact: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(-5000), None]));
        assert!(stored(Some(&exact), 2, &millis, "t").is_ok());
        let finer: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1]));
        assert_eq!(stored(Some(&finer), 1, &millis, "t").unwrap_err().kind(), Kind::WouldLose);
    }
}
