//! Cells as JSON: how a typed property is written where properties are JSON members.
//!
//! Every cell reads back exactly when the declared type is known: integers as such, floats in their shortest exact
//! form, NaN and the infinities as the words that JSON has no numbers for, dates and times as ISO 8601 text, bytes in
//! base64, lists as arrays. Decimals are numbers, spans of time numbers of their unit, structs objects. A 32-bit float is written as the 64-bit float of the same value, so that a reader without
//! the declaration sees the very number.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, StructArray, temporal_conversions as temporal};
use arrow_schema::{DataType, TimeUnit};
use base64::Engine as _;
use isomorph_error::{Error, Result};
use isomorph_model::json::push_string;
use isomorph_model::{Property, ValueKind};

/// Appends the JSON text of one cell that is not null.
type Push<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

/// A column whose cells can be written as JSON.
pub(crate) struct JsonCells<'a> {
    array: &'a dyn Array,
    push: Push<'a>,
}

impl<'a> JsonCells<'a> {
    /// The cells of `column`, read as `property` says.
    ///
    /// # Errors
    /// When the type has no JSON form.
    pub fn new(property: &Property, column: &'a dyn Array) -> Result<Self> {
        let push = match property.kind {
            ValueKind::Json | ValueKind::Bag => raw(column)?,
            _ => plain(column)?,
        };
        Ok(JsonCells { array: column, push })
    }

    /// Appends the JSON text of a cell; false, and nothing appended, when it is null.
    pub fn push(&self, row: usize, out: &mut String) -> bool {
        if self.array.is_null(row) {
            return false;
        }
        (self.push)(row, out);
        true
    }
}

/// Text that is JSON already.
fn raw(column: &dyn Array) -> Result<Push<'_>> {
    let texts = column.as_string_opt::<i32>().ok_or_else(|| unsupported(column.data_type()))?;
    Ok(Box::new(move |row, out| out.push_str(texts.value(row))))
}

fn unsupported(data_type: &DataType) -> Error {
    Error::unsupported(format!("values of type {data_type} have no JSON form"))
}

fn float(value: f64, out: &mut String) {
    if value.is_finite() {
        // Debug, not Display: 1e30 and 1.0 must stay recognisable as floats.
        let _ = write!(out, "{value:?}");
    } else {
        out.push_str(if value.is_nan() {
            "\"NaN\""
        } else if value > 0.0 {
            "\"Infinity\""
        } else {
            "\"-Infinity\""
        });
    }
}

macro_rules! integers {
    ($column:expr, $($ty:ident => $arrow:ty),+) => {
        match $column.data_type() {
            $(DataType::$ty => {
                let values = $column.as_primitive::<$arrow>();
                let push: Push<'_> = Box::new(move |row, out| {
                    let _ = write!(out, "{}", values.value(row));
                });
                Some(push)
            })+
            _ => None,
        }
    };
}

fn plain<'a>(column: &'a dyn Array) -> Result<Push<'a>> {
    use DataType as T;
    if let Some(push) = integers!(column, Int64 => Int64Type, Int32 => Int32Type, Int16 => Int16Type, Int8 => Int8Type,
        UInt64 => UInt64Type, UInt32 => UInt32Type, UInt16 => UInt16Type, UInt8 => UInt8Type)
    {
        return Ok(push);
    }
    Ok(match column.data_type() {
        T::Null => Box::new(|_, _| ()),
        T::Boolean => {
            let values = column.as_boolean();
            Box::new(move |row, out| out.push_str(if values.value(row) { "true" } else { "false" }))
        }
        T::Float32 => {
            let values = column.as_primitive::<Float32Type>();
            Box::new(move |row, out| float(values.value(row).into(), out))
        }
        T::Float64 => {
            let values = column.as_primitive::<Float64Type>();
            Box::new(move |row, out| float(values.value(row), out))
        }
        T::Utf8 => {
            let values = column.as_string::<i32>();
            Box::new(move |row, out| push_string(out, values.value(row)))
        }
        T::LargeUtf8 => {
            let values = column.as_string::<i64>();
            Box::new(move |row, out| push_string(out, values.value(row)))
        }
        T::Binary => {
            let values = column.as_binary::<i32>();
            Box::new(move |row, out| {
                out.push('"');
                base64::engine::general_purpose::STANDARD.encode_string(values.value(row), out);
                out.push('"');
            })
        }
        T::Date32 => {
            let values = column.as_primitive::<Date32Type>();
            Box::new(move |row, out| {
                iso(temporal::date32_to_datetime(values.value(row)), "%Y-%m-%d", values.value(row).into(), out)
            })
        }
        T::Timestamp(unit, zone) => timestamps(column, *unit, zone.is_some()),
        T::LargeBinary => {
            let values = column.as_binary::<i64>();
            Box::new(move |row, out| {
                out.push('"');
                base64::engine::general_purpose::STANDARD.encode_string(values.value(row), out);
                out.push('"');
            })
        }
        T::Decimal128(..) => {
            let values = column.as_primitive::<Decimal128Type>();
            Box::new(move |row, out| out.push_str(&values.value_as_string(row)))
        }
        T::Time32(_) | T::Time64(_) => times(column),
        T::Duration(_) => durations(column),
        T::List(_) => {
            let list = column.as_list::<i32>();
            let offsets = list.value_offsets();
            items(list.values().as_ref(), move |row| {
                offsets.get(row..row + 2).map(|ends| (ends[0] as usize, ends[1] as usize))
            })?
        }
        T::LargeList(_) => {
            let list = column.as_list::<i64>();
            let offsets = list.value_offsets();
            items(list.values().as_ref(), move |row| {
                offsets.get(row..row + 2).map(|ends| (ends[0] as usize, ends[1] as usize))
            })?
        }
        T::Struct(_) => fields(column.as_struct())?,
        other => return Err(unsupported(other)),
    })
}

/// An array of the items that `range` gives for a row.
fn items<'a>(values: &'a dyn Array, range: impl Fn(usize) -> Option<(usize, usize)> + 'a) -> Result<Push<'a>> {
    let push = plain(values)?;
    Ok(Box::new(move |row, out| {
        out.push('[');
        let (from, to) = range(row).unwrap_or_default();
        for item in from..to {
            if item > from {
                out.push(',');
            }
            if values.is_null(item) {
                out.push_str("null");
            } else {
                push(item, out);
            }
        }
        out.push(']');
    }))
}

/// An object of the fields, in their order, those without a value left out.
fn fields(column: &StructArray) -> Result<Push<'_>> {
    let fields = column.fields().iter().zip(column.columns());
    let fields: Vec<_> = fields
        .map(|(field, values)| Ok((field.name().as_str(), values.as_ref(), plain(values.as_ref())?)))
        .collect::<Result<_>>()?;
    Ok(Box::new(move |row, out| {
        out.push('{');
        let mut first = true;
        for (name, _, push) in fields.iter().filter(|(_, values, _)| values.is_valid(row)) {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            push_string(out, name);
            out.push(':');
            push(row, out);
        }
        out.push('}');
    }))
}

/// Times of day as ISO 8601 text; as bare numbers of their unit beyond the day.
fn times(column: &dyn Array) -> Push<'_> {
    macro_rules! of {
        ($arrow:ty, $convert:path) => {{
            let values = column.as_primitive::<$arrow>();
            Box::new(move |row, out| {
                let value = values.value(row);
                let _ = match $convert(value) {
                    Some(time) => write!(out, "\"{}\"", time.format("%H:%M:%S%.f")),
                    None => write!(out, "{value}"),
                };
            })
        }};
    }
    match column.data_type() {
        DataType::Time32(TimeUnit::Second) => of!(Time32SecondType, temporal::time32s_to_time),
        DataType::Time32(_) => of!(Time32MillisecondType, temporal::time32ms_to_time),
        DataType::Time64(TimeUnit::Microsecond) => of!(Time64MicrosecondType, temporal::time64us_to_time),
        _ => of!(Time64NanosecondType, temporal::time64ns_to_time),
    }
}

/// Spans of time as numbers of their unit.
fn durations(column: &dyn Array) -> Push<'_> {
    macro_rules! of {
        ($arrow:ty) => {{
            let values = column.as_primitive::<$arrow>();
            Box::new(move |row, out| {
                let _ = write!(out, "{}", values.value(row));
            })
        }};
    }
    match column.data_type() {
        DataType::Duration(TimeUnit::Second) => of!(DurationSecondType),
        DataType::Duration(TimeUnit::Millisecond) => of!(DurationMillisecondType),
        DataType::Duration(TimeUnit::Microsecond) => of!(DurationMicrosecondType),
        _ => of!(DurationNanosecondType),
    }
}

/// A point in time as text; as a bare number of its unit where the calendar does not reach.
fn iso(time: Option<chrono::NaiveDateTime>, format: &str, number: i64, out: &mut String) {
    use chrono::Datelike;
    match time {
        Some(time) if (1..=9999).contains(&time.year()) => {
            let _ = write!(out, "\"{}\"", time.format(format));
        }
        _ => {
            let _ = write!(out, "{number}");
        }
    }
}

fn timestamps(column: &dyn Array, unit: TimeUnit, zoned: bool) -> Push<'_> {
    macro_rules! of {
        ($arrow:ty, $convert:path, $local:expr, $zoned:expr) => {{
            let values = column.as_primitive::<$arrow>();
            let format = if zoned { $zoned } else { $local };
            Box::new(move |row, out| iso($convert(values.value(row)), format, values.value(row), out))
        }};
    }
    match unit {
        TimeUnit::Second => {
            of!(TimestampSecondType, temporal::timestamp_s_to_datetime, "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")
        }
        TimeUnit::Millisecond => {
            of!(
                TimestampMillisecondType,
                temporal::timestamp_ms_to_datetime,
                "%Y-%m-%dT%H:%M:%S%.f",
                "%Y-%m-%dT%H:%M:%S%.fZ"
            )
        }
        TimeUnit::Microsecond => {
            of!(
                TimestampMicrosecondType,
                temporal::timestamp_us_to_datetime,
                "%Y-%m-%dT%H:%M:%S%.f",
                "%Y-%m-%dT%H:%M:%S%.fZ"
            )
        }
        TimeUnit::Nanosecond => {
            of!(
                TimestampNanosecondType,
                temporal::timestamp_ns_to_datetime,
                "%Y-%m-%dT%H:%M:%S%.f",
                "%Y-%m-%dT%H:%M:%S%.fZ"
            )
        }
    }
}
