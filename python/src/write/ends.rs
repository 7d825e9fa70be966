//! Keys of nodes that only edges name.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, StringArray, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph::{Error, Result};

/// The different keys of some columns, in the order in which they first occur: of the columns' type if all have the same, `Int64` for
/// integers of several widths, or `UInt64` if one of them is.
///
/// # Errors
/// [`isomorph::Kind::Usage`] if some are integers and others are texts.
pub(crate) fn distinct(columns: &[ArrayRef], what: &str) -> Result<ArrayRef> {
    let types: HashSet<&DataType> = columns.iter().map(|column| column.data_type()).collect();
    let is_text = |data_type: &&DataType| **data_type == DataType::Utf8;
    let broken = |error: arrow_schema::ArrowError| Error::malformed(error.to_string()).at(what).caused_by(error);
    if types.iter().all(is_text) {
        let (mut seen, mut keys) = (HashSet::new(), Vec::new());
        for text in columns.iter().flat_map(|column| column.as_string::<i32>().iter().flatten()) {
            if seen.insert(text) {
                keys.push(text);
            }
        }
        return Ok(Arc::new(StringArray::from(keys)));
    }
    if types.iter().any(is_text) {
        return Err(Error::usage("some ends of edges are integers, and others are texts").at(what));
    }
    let is_unsigned = types.contains(&DataType::UInt64);
    let wide = if is_unsigned { DataType::UInt64 } else { DataType::Int64 };
    let strict = arrow_cast::CastOptions { safe: false, ..Default::default() };
    let (mut seen, mut signed, mut unsigned) = (HashSet::new(), Vec::new(), Vec::new());
    for column in columns {
        let column = arrow_cast::cast_with_options(column, &wide, &strict).map_err(broken)?;
        if is_unsigned {
            for key in column.as_primitive::<UInt64Type>().iter().flatten() {
                if seen.insert(i128::from(key)) {
                    unsigned.push(key);
                }
            }
        } else {
            for key in column.as_primitive::<Int64Type>().iter().flatten() {
                if seen.insert(i128::from(key)) {
                    signed.push(key);
                }
            }
        }
    }
    let keys: ArrayRef =
        if is_unsigned { Arc::new(UInt64Array::from(unsigned)) } else { Arc::new(Int64Array::from(signed)) };
    match types.iter().next() {
        Some(only) if types.len() == 1 => cast(&keys, only).map_err(broken),
        _ => Ok(keys),
    }
}
