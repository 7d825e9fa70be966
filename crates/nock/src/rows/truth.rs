//! Degrees of belief: finds missing ones, and fills them in in lenient mode.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, PrimitiveArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};

use super::Numbers;
use super::shape::cast_strict;
use crate::columns::Column;
use crate::{Tolerance, rules};

/// Converts truth to type `to`. Null and NaN are errors; with [`Tolerance::Lenient`], they are 1.0.
///
/// # Errors
/// Returns [`rules::TRUTH_MISSING`] with the row.
pub(super) fn truth(column: &ArrayRef, to: &DataType, tolerance: Tolerance, numbers: &Numbers) -> Result<ArrayRef> {
    let column = cast_strict(column, to, Column::Truth.name())?;
    let missing = match to {
        DataType::Float32 => first_missing(column.as_primitive::<Float32Type>(), |value| value.is_nan()),
        _ => first_missing(column.as_primitive::<Float64Type>(), |value| value.is_nan()),
    };
    let Some(row) = missing else { return Ok(column) };
    if tolerance != Tolerance::Lenient {
        return Err(Error::broken(&rules::TRUTH_MISSING, "truth is missing")
            .at(Place::field(Column::Truth.name()).row(numbers.at(row))));
    }
    Ok(match to {
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>().iter();
            std::sync::Arc::new(Float32Array::from_iter_values(values.map(|value| match value {
                Some(value) if !value.is_nan() => value,
                _ => 1.0,
            })))
        }
        _ => {
            let values = column.as_primitive::<Float64Type>().iter();
            std::sync::Arc::new(Float64Array::from_iter_values(values.map(|value| match value {
                Some(value) if !value.is_nan() => value,
                _ => 1.0,
            })))
        }
    })
}

fn first_missing<T: arrow_array::types::ArrowPrimitiveType>(
    values: &PrimitiveArray<T>,
    is_nan: impl Fn(T::Native) -> bool,
) -> Option<usize> {
    if values.null_count() == 0 && !values.values().iter().any(|&value| is_nan(value)) {
        return None;
    }
    (0..values.len()).find(|&row| values.is_null(row) || is_nan(values.value(row)))
}
