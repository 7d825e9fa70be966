//! Casts that keep every value. Those of Arrow round floats, cut fractions of seconds and scales of decimals, and read `01` as 1.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};

/// `column` as another type.
///
/// # Errors
/// If a value has no equal in that type.
pub(super) fn exact_cast(column: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    let cast = cast_with_options(column, to, &CastOptions { safe: false, ..CastOptions::default() })?;
    if may_change(column.data_type(), to) && !is_same(column, &cast)? {
        return Err(ArrowError::CastError(format!("a value of type {} has no equal in {to}", column.data_type())));
    }
    Ok(cast)
}

/// Whether a cast may change a value instead of failing.
fn may_change(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    match (from, to) {
        (T::List(from) | T::LargeList(from), T::List(to) | T::LargeList(to)) => {
            may_change(from.data_type(), to.data_type())
        }
        (T::Utf8 | T::LargeUtf8, to) => to.is_integer(),
        (_, T::Utf8 | T::LargeUtf8 | T::Utf8View) => false,
        (T::Float64, T::Float32 | T::Float16) | (T::Float32, T::Float16) => true,
        (from, to) if from.is_floating() => !to.is_floating(),
        (T::Int64 | T::UInt64, to) => to.is_floating(),
        (T::Int32 | T::UInt32, T::Float32 | T::Float16) | (T::Int16 | T::UInt16, T::Float16) => true,
        (T::Decimal128(..) | T::Decimal256(..), _) => true,
        (T::Date64, T::Date32) | (T::Timestamp(..), T::Date32 | T::Date64) => true,
        (T::Timestamp(from, _), T::Timestamp(to, _)) | (T::Duration(from), T::Duration(to)) => from != to,
        (T::Time32(_) | T::Time64(_), T::Time32(_) | T::Time64(_)) => true,
        _ => false,
    }
}

/// Whether `cast` has the values of `column`.
fn is_same(column: &ArrayRef, cast: &ArrayRef) -> Result<bool, ArrowError> {
    if let (Some(own), Some(other)) = (column.as_list_opt::<i32>(), cast.as_list_opt::<i32>()) {
        return is_same(own.values(), other.values());
    }
    if let (Some(own), Some(other)) = (column.as_primitive_opt::<Float64Type>(), cast.as_primitive_opt::<Float32Type>())
    {
        // Texts have the shortest digits of a narrow float, 0.1, which are read as another wide one.
        let is_same = |own: f64, other: f32| {
            own.is_nan() && other.is_nan() || f64::from(other) == own || own.to_string() == other.to_string()
        };
        let both = own.iter().zip(other);
        return Ok(both.into_iter().all(|(own, other)| match (own, other) {
            (Some(own), Some(other)) => is_same(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }));
    }
    let back = cast_with_options(cast, column.data_type(), &CastOptions::default())?;
    Ok(back.as_ref() == column.as_ref())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::{
        Decimal128Array, Float64Array, Int64Array, ListArray, StringArray, TimestampMillisecondArray, UInt64Array,
    };
    use arrow_schema::TimeUnit;
    use isomorph_model::type_name::list_of;

    use super::*;

    fn fits(column: impl Array + 'static, to: DataType) -> bool {
        exact_cast(&(Arc::new(column) as ArrayRef), &to).is_ok()
    }

    #[test]
    fn values_that_would_change_are_refused() {
        let list = |item: f64| ListArray::from_iter_primitive::<Float64Type, _, _>([Some(vec![Some(1.0), Some(item)])]);
        assert!(!fits(Float64Array::from(vec![1.5]), DataType::Int32));
        assert!(!fits(Float64Array::from(vec![f64::NAN]), DataType::Int32));
        assert!(!fits(Float64Array::from(vec![0.1 + 1e-12]), DataType::Float32));
        assert!(!fits(Float64Array::from(vec![1e300]), DataType::Float32));
        assert!(!fits(Int64Array::from(vec![(1 << 53) + 1]), DataType::Float64));
        assert!(!fits(UInt64Array::from(vec![u64::MAX]), DataType::Float64));
        assert!(!fits(TimestampMillisecondArray::from(vec![1_500]), DataType::Timestamp(TimeUnit::Second, None)));
        assert!(!fits(
            Decimal128Array::from(vec![155]).with_precision_and_scale(9, 2).unwrap(),
            DataType::Decimal128(9, 1)
        ));
        assert!(!fits(StringArray::from(vec!["01"]), DataType::Int64));
        assert!(!fits(list(2.5), list_of(DataType::Int64)));
        assert!(!fits(Int64Array::from(vec![300]), DataType::Int8));
    }

    #[test]
    fn equal_values_are_cast() {
        let list =
            ListArray::from_iter_primitive::<Float64Type, _, _>([Some(vec![Some(1.0), None]), None, Some(vec![])]);
        assert!(fits(Float64Array::from(vec![Some(-2.0), None]), DataType::Int32));
        assert!(fits(Float64Array::from(vec![0.1, f64::NAN, f64::INFINITY, -0.0]), DataType::Float32));
        assert!(fits(Int64Array::from(vec![1 << 53]), DataType::Float64));
        assert!(fits(
            TimestampMillisecondArray::from(vec![Some(-2_000), None]),
            DataType::Timestamp(TimeUnit::Second, None)
        ));
        assert!(fits(
            Decimal128Array::from(vec![150]).with_precision_and_scale(9, 2).unwrap(),
            DataType::Decimal128(9, 1)
        ));
        assert!(fits(StringArray::from(vec![Some("-1"), None]), DataType::Int64));
        assert!(fits(list, list_of(DataType::Int64)));
    }
}
