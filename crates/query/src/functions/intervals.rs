//! Intervals compare by their lengths, with days of 24 hours and months of 30 days, as in PostgreSQL and DuckDB. The engine compares them field by field:
//! months, then days, then the rest.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    IntervalDayTime, IntervalDayTimeType, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalYearMonthType,
};
use arrow_array::{Array, ArrayRef, IntervalMonthDayNanoArray};
use arrow_schema::{DECIMAL128_MAX_PRECISION, DataType, IntervalUnit};
use datafusion::common::{Result, internal_err};

/// Nanoseconds.
const DAY: i128 = 86_400_000_000_000;
const MONTH: i128 = 30 * DAY;

/// Whether values of a type are intervals whose fields may differ although their lengths are equal.
pub(crate) fn has_several_fields(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(IntervalUnit::MonthDayNano | IntervalUnit::DayTime))
}

/// The length of an interval, in nanoseconds.
fn length(one: IntervalMonthDayNano) -> i128 {
    i128::from(one.months) * MONTH + i128::from(one.days) * DAY + i128::from(one.nanoseconds)
}

/// The order of two intervals: by length; equal ones by fields, so that the least of them is the same in every run.
pub(crate) fn compare(left: IntervalMonthDayNano, right: IntervalMonthDayNano) -> Ordering {
    length(left).cmp(&length(right)).then_with(|| left.cmp(&right))
}

/// The interval that stands for all of a length: as many months as there are in it, then days.
fn canonical(one: IntervalMonthDayNano) -> IntervalMonthDayNano {
    let whole = length(one);
    // Without an interval beyond the months of 32 bits: the rest is in days, and of these in nanoseconds, as it was.
    let part = |length: i128, unit: i128| {
        let least = i128::from(i32::MIN).max(length / unit).min(i128::from(i32::MAX));
        (i32::try_from(least).unwrap_or_default(), length - least * unit)
    };
    let (months, rest) = part(whole, MONTH);
    let (days, rest) = part(rest, DAY);
    IntervalMonthDayNano::new(months, days, i64::try_from(rest).unwrap_or_default())
}

/// The intervals of an array, with months, days and nanoseconds.
pub(crate) fn whole(array: &ArrayRef) -> Result<IntervalMonthDayNanoArray> {
    if let Some(intervals) = array.as_primitive_opt::<IntervalMonthDayNanoType>() {
        return Ok(intervals.clone());
    }
    if let Some(intervals) = array.as_primitive_opt::<IntervalDayTimeType>() {
        let one =
            |one: IntervalDayTime| IntervalMonthDayNano::new(0, one.days, i64::from(one.milliseconds) * 1_000_000);
        return Ok(intervals.unary(one));
    }
    if let Some(intervals) = array.as_primitive_opt::<IntervalYearMonthType>() {
        return Ok(intervals.unary(|months| IntervalMonthDayNano::new(months, 0, 0)));
    }
    internal_err!("{} is no interval", array.data_type())
}

/// Lengths of intervals, for comparisons.
pub(crate) fn lengths(array: &ArrayRef) -> Result<ArrayRef> {
    let all = whole(array)?.unary::<_, arrow_array::types::Decimal128Type>(length);
    Ok(Arc::new(all.with_data_type(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0))))
}

/// Intervals of which equal ones have equal fields.
pub(crate) fn canonicals(array: &ArrayRef) -> Result<ArrayRef> {
    let all: IntervalMonthDayNanoArray = whole(array)?.unary(canonical);
    Ok(Arc::new(all))
}

/// Of two intervals in each row the longer or shorter one; of one and a null the interval.
pub(crate) fn extremes(left: &ArrayRef, right: &ArrayRef, is_greatest: bool) -> Result<ArrayRef> {
    let (left, right) = (whole(left)?, whole(right)?);
    let rows = left.iter().zip(right.iter()).map(|pair| match pair {
        (Some(left), Some(right)) if compare(left, right).is_ge() == is_greatest => Some(left),
        (left, None) => left,
        (_, right) => right,
    });
    Ok(Arc::new(rows.collect::<IntervalMonthDayNanoArray>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lengths_have_one_form() {
        let of = IntervalMonthDayNano::new;
        let hour = 3_600_000_000_000;
        for (one, other) in [
            (of(0, 1, 0), of(0, 0, 24 * hour)),
            (of(1, 0, 0), of(0, 30, 0)),
            (of(1, -30, 0), of(0, 0, 0)),
            (of(-1, 0, 0), of(0, -29, -24 * hour)),
            (of(1, -1, -hour), of(0, 28, 23 * hour)),
            (of(i32::MAX, 30, 0), of(i32::MAX, 29, 24 * hour)),
        ] {
            assert_eq!(canonical(one), canonical(other), "{one:?} {other:?}");
            assert_eq!(length(canonical(one)), length(one), "{one:?}");
        }
        // Also of the longest of all.
        for one in [of(i32::MAX, i32::MAX, i64::MAX), of(i32::MIN, i32::MIN, i64::MIN), of(i32::MAX, i32::MIN, 1)] {
            assert_eq!(length(canonical(one)), length(one), "{one:?}");
        }
        assert!(compare(of(0, 1, 0), of(0, 0, 36 * hour)).is_lt());
    }
}
