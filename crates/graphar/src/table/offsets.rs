//! The offset file of one part of an ordered list.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Place, Result};
use isomorph_storage::Root;
use isomorph_tables::{Encoding, TableReader};

use super::{OFFSET, open_chunk};
use crate::rules;

/// Returns the column of an offset file as declared to its reader: the type of text must be declared, other files state
/// their width.
pub(crate) fn offset_fields(encoding: Encoding) -> Vec<Field> {
    if encoding.is_text() { vec![Field::new(OFFSET, DataType::Int64, true)] } else { Vec::new() }
}

/// Opens the offset file `path`; the schema tells whether its offsets have 32 bits.
///
/// # Errors
/// As [`open_chunk`] and [`check_offsets`].
pub(crate) fn open_offsets(root: &Root, path: &str, encoding: Encoding) -> Result<TableReader> {
    let reader = open_chunk(root, path, encoding, offset_fields(encoding))?;
    check_offsets(&reader, path)?;
    Ok(reader)
}

/// Checks that a file contains offsets.
///
/// # Errors
/// Returns [`rules::COLUMN_MISSING`] or [`rules::COLUMN_TYPE`].
pub(crate) fn check_offsets(reader: &TableReader, path: &str) -> Result<()> {
    let place = || Place::file(path).in_field(OFFSET);
    match reader.schema().field_with_name(OFFSET).map(Field::data_type) {
        Ok(DataType::Int64 | DataType::Int32) => Ok(()),
        Ok(other) => Err(Error::broken(&rules::COLUMN_TYPE, format!("offsets have the type {other}")).at(place())),
        Err(_) => Err(Error::broken(&rules::COLUMN_MISSING, format!("there is no column {OFFSET}")).at(place())),
    }
}

/// Returns offsets of either width; none may be null. 64-bit offsets are not copied.
///
/// # Errors
/// Returns [`rules::COLUMN_TYPE`].
pub(crate) fn offset_values(column: &ArrayRef, path: &str) -> Result<ScalarBuffer<i64>> {
    let broken = |message: String| Error::broken(&rules::COLUMN_TYPE, message).at(Place::file(path).in_field(OFFSET));
    if column.null_count() > 0 {
        return Err(broken("an offset is null".to_owned()));
    }
    match column.data_type() {
        DataType::Int64 => Ok(column.as_primitive::<Int64Type>().values().clone()),
        DataType::Int32 => {
            Ok(column.as_primitive::<Int32Type>().values().iter().map(|offset| i64::from(*offset)).collect())
        }
        other => Err(broken(format!("offsets have the type {other}"))),
    }
}
