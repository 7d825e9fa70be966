//! Cells of Arrow columns as values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta};
use isomorph::dataset::KIND;
use isomorph::error::Place;
use isomorph::{Error, Kind, Result};

use super::keys::Key;
use crate::json::value_of_json;
use crate::temporal::{Duration, SECOND, Temporal, Zone, Zoned};
use crate::value::{Map, Value};

/// A column of a batch.
pub(crate) fn of(batch: &RecordBatch, at: usize) -> Result<&ArrayRef> {
    batch.columns().get(at).ok_or_else(|| Error::malformed("a batch has fewer columns than asked for"))
}

/// The key in a cell.
pub(crate) fn key(array: &dyn Array, row: usize) -> Result<Key> {
    let value = plain(array, row)?;
    Key::of_value(&value)
        .ok_or_else(|| Error::unsupported(format!("keys of type {} are not supported", array.data_type())))
}

/// The value of a cell of a property.
pub(crate) fn value(array: &dyn Array, row: usize, field: &Field) -> Result<Value> {
    let value = plain(array, row).map_err(|error| match error.kind() {
        Kind::Unsupported => refused(error.message().to_owned(), field.name()),
        _ => error.at(Place::field(field.name())),
    })?;
    match (field.metadata().get(KIND).map(String::as_str), &value) {
        (Some(kind @ ("json" | "bag")), Value::String(text)) => {
            if text.is_empty() {
                return Ok(Value::Null);
            }
            let json: serde_json::Value = serde_json::from_str(text).map_err(|error| {
                Error::malformed(format!("not a JSON value: {error}")).at(Place::field(field.name()))
            })?;
            Ok(match (kind, value_of_json(&json)) {
                ("bag", Value::Map(properties)) => {
                    let all = properties.iter().map(|(name, value)| (Arc::clone(name), written(value.clone())));
                    Value::Map(Arc::new(all.collect()))
                }
                (_, value) => written(value),
            })
        }
        // A literal with its datatype: its text.
        (Some("literal"), Value::Map(map)) => Ok(map.get("value").cloned().unwrap_or_default()),
        _ => Ok(value),
    }
}

/// The value of a property that is JSON: a null that was written is a value.
fn written(value: Value) -> Value {
    if value.is_null() { Value::JsonNull } else { value }
}

/// The error of a value that openCypher has no type for.
pub(crate) fn refused(text: String, name: &str) -> Error {
    Error::unsupported(text).at(Place::field(name)).hint("the tables of isomorph sql have values of all types")
}

fn out_of_range() -> Error {
    Error::unsupported("a date or time is out of range")
}

/// The value of a cell, by its Arrow type alone.
fn plain(array: &dyn Array, row: usize) -> Result<Value> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    let int = |int: i64| Ok(Value::Int(int));
    let items = |items: ArrayRef| {
        let all = (0..items.len()).map(|at| plain(&items, at)).collect::<Result<Vec<_>>>()?;
        Ok(Value::list(all))
    };
    let time = |nanoseconds: i64| {
        let time = NaiveTime::MIN.overflowing_add_signed(TimeDelta::nanoseconds(nanoseconds)).0;
        Ok(Value::Temporal(Temporal::LocalTime(time)))
    };
    match array.data_type() {
        DataType::Null => Ok(Value::Null),
        DataType::Boolean => Ok(Value::Bool(array.as_boolean().value(row))),
        DataType::Int8 => int(array.as_primitive::<Int8Type>().value(row).into()),
        DataType::Int16 => int(array.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => int(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => int(array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => int(array.as_primitive::<UInt8Type>().value(row).into()),
        DataType::UInt16 => int(array.as_primitive::<UInt16Type>().value(row).into()),
        DataType::UInt32 => int(array.as_primitive::<UInt32Type>().value(row).into()),
        DataType::UInt64 => {
            let wide = array.as_primitive::<UInt64Type>().value(row);
            i64::try_from(wide)
                .map(Value::Int)
                .map_err(|_| Error::unsupported(format!("{wide} exceeds openCypher's integers")))
        }
        DataType::Float16 => Ok(Value::Float(array.as_primitive::<Float16Type>().value(row).to_f64())),
        DataType::Float32 => Ok(Value::Float(array.as_primitive::<Float32Type>().value(row).into())),
        DataType::Float64 => Ok(Value::Float(array.as_primitive::<Float64Type>().value(row))),
        DataType::Utf8 => Ok(Value::text(array.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => Ok(Value::text(array.as_string::<i64>().value(row))),
        DataType::Utf8View => Ok(Value::text(array.as_string_view().value(row))),
        DataType::List(_) => items(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => items(array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => items(array.as_fixed_size_list().value(row)),
        DataType::Struct(fields) => {
            let columns = array.as_struct();
            let mut map = Map::new();
            for (field, column) in fields.iter().zip(columns.columns()) {
                map.insert(field.name().as_str().into(), plain(column, row)?);
            }
            Ok(Value::Map(map.into()))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let at = dictionary.normalized_keys().get(row).copied().unwrap_or_default();
            plain(dictionary.values(), at)
        }
        DataType::Date32 => date(i64::from(array.as_primitive::<Date32Type>().value(row))),
        DataType::Date64 => date(array.as_primitive::<Date64Type>().value(row).div_euclid(86_400_000)),
        DataType::Time32(TimeUnit::Second) => {
            time(i64::from(array.as_primitive::<Time32SecondType>().value(row)) * 1_000_000_000)
        }
        DataType::Time32(_) => time(i64::from(array.as_primitive::<Time32MillisecondType>().value(row)) * 1_000_000),
        DataType::Time64(TimeUnit::Microsecond) => {
            time(array.as_primitive::<Time64MicrosecondType>().value(row).saturating_mul(1000))
        }
        DataType::Time64(_) => time(array.as_primitive::<Time64NanosecondType>().value(row)),
        DataType::Timestamp(unit, zone) => {
            let found = match unit {
                TimeUnit::Second => DateTime::from_timestamp(array.as_primitive::<TimestampSecondType>().value(row), 0),
                TimeUnit::Millisecond => {
                    DateTime::from_timestamp_millis(array.as_primitive::<TimestampMillisecondType>().value(row))
                }
                TimeUnit::Microsecond => {
                    DateTime::from_timestamp_micros(array.as_primitive::<TimestampMicrosecondType>().value(row))
                }
                TimeUnit::Nanosecond => {
                    Some(DateTime::from_timestamp_nanos(array.as_primitive::<TimestampNanosecondType>().value(row)))
                }
            };
            let utc = found.ok_or_else(out_of_range)?.naive_utc();
            let zone = match zone.as_deref() {
                None => return Ok(Value::Temporal(Temporal::LocalDateTime(utc))),
                // An instant in UTC is written with Z; the name of a zone follows only where it says more.
                Some("UTC" | "Etc/UTC") => Zone::UTC,
                Some(zone) => Zone::parse(zone).unwrap_or(Zone::UTC),
            };
            Ok(Value::Temporal(Temporal::DateTime(Zoned::at(utc, zone).ok_or_else(out_of_range)?)))
        }
        DataType::Duration(unit) => {
            let in_second = match unit {
                TimeUnit::Second => 1,
                TimeUnit::Millisecond => 1_000,
                TimeUnit::Microsecond => 1_000_000,
                TimeUnit::Nanosecond => SECOND,
            };
            let count = match unit {
                TimeUnit::Second => array.as_primitive::<DurationSecondType>().value(row),
                TimeUnit::Millisecond => array.as_primitive::<DurationMillisecondType>().value(row),
                TimeUnit::Microsecond => array.as_primitive::<DurationMicrosecondType>().value(row),
                TimeUnit::Nanosecond => array.as_primitive::<DurationNanosecondType>().value(row),
            };
            Ok(duration(0, 0, count.div_euclid(in_second), count.rem_euclid(in_second) * (SECOND / in_second)))
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            Ok(duration(array.as_primitive::<IntervalYearMonthType>().value(row).into(), 0, 0, 0))
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let interval = array.as_primitive::<IntervalDayTimeType>().value(row);
            let milliseconds = i64::from(interval.milliseconds);
            let seconds = milliseconds.div_euclid(1000);
            Ok(duration(0, interval.days.into(), seconds, milliseconds.rem_euclid(1000) * 1_000_000))
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let interval = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            let (seconds, rest) = (interval.nanoseconds.div_euclid(SECOND), interval.nanoseconds.rem_euclid(SECOND));
            Ok(duration(interval.months.into(), interval.days.into(), seconds, rest))
        }
        other => Err(Error::unsupported(format!("openCypher has no type for {other}"))),
    }
}

fn duration(months: i64, days: i64, seconds: i64, nanoseconds: i64) -> Value {
    Value::Duration(Arc::new(Duration { months, days, seconds, nanoseconds }))
}

fn date(days: i64) -> Result<Value> {
    let date = TimeDelta::try_days(days).and_then(|days| NaiveDate::from_epoch_days(0)?.checked_add_signed(days));
    date.map(|date| Value::Temporal(Temporal::Date(date))).ok_or_else(out_of_range)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use arrow_array::types::{IntervalDayTime, IntervalMonthDayNano};
    use arrow_array::{
        DurationMicrosecondArray, DurationMillisecondArray, DurationNanosecondArray, DurationSecondArray,
        IntervalDayTimeArray, IntervalMonthDayNanoArray, IntervalYearMonthArray,
    };

    use super::*;

    #[test]
    fn durations_are_exact() {
        let all: [(ArrayRef, [i64; 4]); 8] = [
            (Arc::new(DurationSecondArray::from(vec![i64::MIN])), [0, 0, i64::MIN, 0]),
            (Arc::new(DurationMillisecondArray::from(vec![-1])), [0, 0, -1, 999_000_000]),
            (Arc::new(DurationMicrosecondArray::from(vec![1_000_001])), [0, 0, 1, 1_000]),
            (Arc::new(DurationNanosecondArray::from(vec![i64::MAX])), [0, 0, 9_223_372_036, 854_775_807]),
            (Arc::new(IntervalYearMonthArray::from(vec![-14])), [-14, 0, 0, 0]),
            (Arc::new(IntervalDayTimeArray::from(vec![IntervalDayTime::new(2, -1500)])), [0, 2, -2, 500_000_000]),
            (Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(1, -2, 3)])), [1, -2, 0, 3]),
            (
                Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(0, 0, -3)])),
                [0, 0, -1, 999_999_997],
            ),
        ];
        for (column, [months, days, seconds, nanoseconds]) in all {
            let Value::Duration(found) = plain(column.as_ref(), 0).unwrap() else { panic!("{}", column.data_type()) };
            assert_eq!(*found, Duration { months, days, seconds, nanoseconds }, "{}", column.data_type());
        }
    }
}
