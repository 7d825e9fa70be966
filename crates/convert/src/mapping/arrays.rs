//! Columns of Arrow: their types, nulls, rows and items.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait, UInt32Array, make_array};
use arrow_buffer::NullBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use arrow_select::take::take;
use isomorph_error::{Error, Result};

pub(crate) fn malformed(error: impl std::fmt::Display) -> Error {
    Error::malformed(error.to_string())
}

/// The column as `data_type`, unchanged if it is of that type. No value becomes null.
///
/// # Errors
/// If a value cannot be represented in that type.
pub(crate) fn as_type(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if column.data_type() == data_type {
        return Ok(Arc::clone(column));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, data_type, &strict).map_err(malformed)
}

/// The column in a type of the same width, with the same bits.
///
/// # Errors
/// If the widths differ.
pub(super) fn same_bits(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    let data = column.to_data().into_builder().data_type(to.clone()).build();
    Ok(make_array(data.map_err(malformed)?))
}

/// The column with further nulls, where `stated` is null.
///
/// # Errors
/// If the lengths differ.
pub(super) fn with_nulls(column: &ArrayRef, stated: Option<&NullBuffer>) -> Result<ArrayRef> {
    let nulls = NullBuffer::union(column.nulls(), stated);
    Ok(make_array(column.to_data().into_builder().nulls(nulls).build().map_err(malformed)?))
}

/// These rows of a column.
///
/// # Errors
/// If it has fewer rows.
pub(crate) fn pick(column: &dyn Array, rows: &UInt32Array) -> Result<ArrayRef> {
    take(column, rows, None).map_err(malformed)
}

/// The items of a row.
pub(super) fn items_of<O: OffsetSizeTrait>(lists: &GenericListArray<O>, row: usize) -> Range<usize> {
    let ends = lists.value_offsets().get(row..row + 2);
    ends.map_or(0..0, |ends| ends[0].as_usize()..ends[1].as_usize())
}
