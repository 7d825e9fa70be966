//! Writes cells as JSON: how a typed property is written to a format whose properties are JSON members.
//!
//! Every cell reads back exactly if the declared type is known: integers unchanged, floats in their shortest exact
//! form, NaN and the infinities as text because JSON has no numbers for them, dates and times as ISO 8601 text, bytes
//! in base64, lists as arrays. Decimals are numbers, durations are numbers in their unit, structs are objects. A 32-bit
//! float is written as the 64-bit float of the same value, so that a reader without the declaration gets exactly this
//! number.

use std::fmt::{Display, Write};

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayAccessor, GenericListArray, OffsetSizeTrait, StringArray, StructArray, temporal_conversions as temporal,
};
use arrow_schema::{DataType, TimeUnit};
use base64::Engine as _;
use chrono::{NaiveDateTime, NaiveTime};
use isomorph_error::{Error, Result};
use isomorph_model::json::push_string;
use isomorph_model::{Property, ValueKind};

use super::arrays::items_of;

/// Appends the JSON text of one cell that is not null.
type Push<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

/// A column whose cells can be written as JSON.
pub(crate) struct JsonCells<'a> {
    array: &'a dyn Array,
    push: Push<'a>,
}

/// How fields of objects that are null are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    Omitted,
    Null,
}

impl<'a> JsonCells<'a> {
    /// Prepares the cells of `column`, which have the type of `property`.
    ///
    /// # Errors
    /// If the type has no JSON form.
    pub fn new(property: &Property, column: &'a dyn Array) -> Result<Self> {
        let push = match property.kind {
            ValueKind::Json | ValueKind::Bag => raw(column)?,
            _ => plain(column, Absent::Omitted)?,
        };
        Ok(JsonCells { array: column, push })
    }

    /// Cells of plain values whose objects have all fields of their type: those that are null are written.
    ///
    /// # Errors
    /// If the type has no JSON form.
    pub fn with_nulls(column: &'a dyn Array) -> Result<Self> {
        Ok(JsonCells { array: column, push: plain(column, Absent::Null)? })
    }

    /// Appends a cell as JSON. Returns false and appends nothing if it is null.
    pub fn push(&self, row: usize, out: &mut String) -> bool {
        if has_no_value(self.array, row) {
            return false;
        }
        (self.push)(row, out);
        true
    }

    /// All cells as a column of JSON texts; null where a cell is.
    pub fn texts(&self) -> StringArray {
        let rows = self.array.len();
        let (mut texts, mut text) = (StringBuilder::with_capacity(rows, rows * 16), String::new());
        for row in 0..rows {
            text.clear();
            let has_value = self.push(row, &mut text);
            texts.append_option(has_value.then_some(&text));
        }
        texts.finish()
    }
}

/// Whether a cell is null. Columns of only nulls have no null mask.
fn has_no_value(column: &dyn Array, row: usize) -> bool {
    *column.data_type() == DataType::Null || column.is_null(row)
}

/// Text that already is JSON.
fn raw(column: &dyn Array) -> Result<Push<'_>> {
    let texts = column.as_string_opt::<i32>().ok_or_else(|| unsupported(column.data_type()))?;
    Ok(Box::new(move |row, out| out.push_str(texts.value(row))))
}

fn unsupported(data_type: &DataType) -> Error {
    Error::unsupported(format!("values of type {data_type} have no JSON form"))
}

/// Appends a float as JSON; as text if it is not a JSON number.
pub(crate) fn push_float(value: f64, out: &mut String) {
    if value.is_finite() {
        // Debug, not Display: 1e30 and 1.0 must remain recognisable as floats.
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

fn plain(column: &dyn Array, absent: Absent) -> Result<Push<'_>> {
    use DataType as T;
    use TimeUnit as U;
    Ok(match column.data_type() {
        T::Null => Box::new(|_, _| ()),
        T::Boolean => {
            let values = column.as_boolean();
            Box::new(move |row, out| out.push_str(if values.value(row) { "true" } else { "false" }))
        }
        T::Int8 => numbers::<Int8Type>(column),
        T::Int16 => numbers::<Int16Type>(column),
        T::Int32 => numbers::<Int32Type>(column),
        T::Int64 => numbers::<Int64Type>(column),
        T::UInt8 => numbers::<UInt8Type>(column),
        T::UInt16 => numbers::<UInt16Type>(column),
        T::UInt32 => numbers::<UInt32Type>(column),
        T::UInt64 => numbers::<UInt64Type>(column),
        T::Duration(U::Second) => numbers::<DurationSecondType>(column),
        T::Duration(U::Millisecond) => numbers::<DurationMillisecondType>(column),
        T::Duration(U::Microsecond) => numbers::<DurationMicrosecondType>(column),
        T::Duration(U::Nanosecond) => numbers::<DurationNanosecondType>(column),
        T::Float16 => each::<Float16Type>(column, |value, out| push_float(value.to_f64(), out)),
        T::Float32 => each::<Float32Type>(column, |value, out| push_float(value.into(), out)),
        T::Float64 => each::<Float64Type>(column, push_float),
        T::Decimal128(..) => {
            let values = column.as_primitive::<Decimal128Type>();
            Box::new(move |row, out| out.push_str(&values.value_as_string(row)))
        }
        T::Decimal256(..) => {
            let values = column.as_primitive::<Decimal256Type>();
            Box::new(move |row, out| out.push_str(&values.value_as_string(row)))
        }
        T::Utf8 => texts(column.as_string::<i32>()),
        T::LargeUtf8 => texts(column.as_string::<i64>()),
        T::Utf8View => texts(column.as_string_view()),
        T::Binary => bytes(column.as_binary::<i32>()),
        T::LargeBinary => bytes(column.as_binary::<i64>()),
        T::BinaryView => bytes(column.as_binary_view()),
        T::FixedSizeBinary(_) => bytes(column.as_fixed_size_binary()),
        T::Date32 => each::<Date32Type>(column, |days, out| {
            spelled(temporal::date32_to_datetime(days).map(|time| time.format(DAY)), days, out);
        }),
        T::Date64 => each::<Date64Type>(column, |value, out| {
            spelled(temporal::date64_to_datetime(value).map(|time| time.format(DAY)), value, out);
        }),
        T::Time32(U::Second) => times::<Time32SecondType>(column, temporal::time32s_to_time),
        T::Time32(_) => times::<Time32MillisecondType>(column, temporal::time32ms_to_time),
        T::Time64(U::Microsecond) => times::<Time64MicrosecondType>(column, temporal::time64us_to_time),
        T::Time64(_) => times::<Time64NanosecondType>(column, temporal::time64ns_to_time),
        T::Timestamp(U::Second, _) => instants::<TimestampSecondType>(column, temporal::timestamp_s_to_datetime),
        T::Timestamp(U::Millisecond, _) => {
            instants::<TimestampMillisecondType>(column, temporal::timestamp_ms_to_datetime)
        }
        T::Timestamp(U::Microsecond, _) => {
            instants::<TimestampMicrosecondType>(column, temporal::timestamp_us_to_datetime)
        }
        T::Timestamp(U::Nanosecond, _) => {
            instants::<TimestampNanosecondType>(column, temporal::timestamp_ns_to_datetime)
        }
        T::List(_) => lists(column.as_list::<i32>(), absent)?,
        T::LargeList(_) => lists(column.as_list::<i64>(), absent)?,
        T::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or_default();
            items(column.as_fixed_size_list().values().as_ref(), absent, move |row| row * size..row * size + size)?
        }
        T::Struct(_) => fields(column.as_struct(), absent)?,
        other => return Err(unsupported(other)),
    })
}

fn each<'a, T: ArrowPrimitiveType>(column: &'a dyn Array, push: impl Fn(T::Native, &mut String) + 'a) -> Push<'a> {
    let values = column.as_primitive::<T>();
    Box::new(move |row, out| push(values.value(row), out))
}

/// Numbers; durations are numbers in their unit.
fn numbers<T: ArrowPrimitiveType<Native: Display>>(column: &dyn Array) -> Push<'_> {
    each::<T>(column, |value, out| {
        let _ = write!(out, "{value}");
    })
}

fn texts<'a>(values: impl ArrayAccessor<Item = &'a str> + 'a) -> Push<'a> {
    Box::new(move |row, out| push_string(out, values.value(row)))
}

fn bytes<'a>(values: impl ArrayAccessor<Item = &'a [u8]> + 'a) -> Push<'a> {
    Box::new(move |row, out| {
        out.push('"');
        base64::engine::general_purpose::STANDARD.encode_string(values.value(row), out);
        out.push('"');
    })
}

/// Formats of ISO 8601, in which years before 0 and after 9999 have a sign: `+10000-01-01`.
const DAY: &str = "%Y-%m-%d";
const TIME_OF_DAY: &str = "%H:%M:%S%.f";
const LOCAL: &str = "%Y-%m-%dT%H:%M:%S%.f";
const ZONED: &str = "%Y-%m-%dT%H:%M:%S%.fZ";

/// A time as text; as a plain number in its unit where there is no such time of day, or where the calendar of `chrono`
/// ends, after some 260,000 years.
fn spelled(time: Option<impl Display>, number: impl Display, out: &mut String) {
    let _ = match time {
        Some(time) => write!(out, "\"{time}\""),
        None => write!(out, "{number}"),
    };
}

fn times<T: ArrowPrimitiveType<Native: Display>>(
    column: &dyn Array,
    time: fn(T::Native) -> Option<NaiveTime>,
) -> Push<'_> {
    each::<T>(column, move |value, out| spelled(time(value).map(|time| time.format(TIME_OF_DAY)), value, out))
}

fn instants<T: ArrowTimestampType>(column: &dyn Array, time: fn(i64) -> Option<NaiveDateTime>) -> Push<'_> {
    let format = if matches!(column.data_type(), DataType::Timestamp(_, Some(_))) { ZONED } else { LOCAL };
    each::<T>(column, move |value, out| spelled(time(value).map(|time| time.format(format)), value, out))
}

fn lists<O: OffsetSizeTrait>(lists: &GenericListArray<O>, absent: Absent) -> Result<Push<'_>> {
    items(lists.values().as_ref(), absent, move |row| items_of(lists, row))
}

/// An array of the items in the range of each row.
fn items<'a>(
    values: &'a dyn Array,
    absent: Absent,
    range: impl Fn(usize) -> std::ops::Range<usize> + 'a,
) -> Result<Push<'a>> {
    let push = plain(values, absent)?;
    Ok(Box::new(move |row, out| {
        let range = range(row);
        out.push('[');
        for item in range.clone() {
            if item > range.start {
                out.push(',');
            }
            if has_no_value(values, item) {
                out.push_str("null");
            } else {
                push(item, out);
            }
        }
        out.push(']');
    }))
}

/// An object of the fields, in order.
fn fields(column: &StructArray, absent: Absent) -> Result<Push<'_>> {
    let fields = column.fields().iter().zip(column.columns());
    let fields: Vec<_> = fields
        .map(|(field, values)| Ok((field.name().as_str(), values.as_ref(), plain(values.as_ref(), absent)?)))
        .collect::<Result<_>>()?;
    Ok(Box::new(move |row, out| {
        out.push('{');
        let mut first = true;
        for (name, values, push) in &fields {
            let is_null = has_no_value(*values, row);
            if is_null && absent == Absent::Omitted {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            push_string(out, name);
            out.push(':');
            if is_null {
                out.push_str("null");
            } else {
                push(row, out);
            }
        }
        out.push('}');
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{FixedSizeListBuilder, Int64Builder};
    use arrow_array::*;
    use arrow_cast::cast;

    use super::super::json_in::JsonColumn;
    use super::*;

    /// A column with one value for representative types, with its text.
    fn columns() -> Result<Vec<(ArrayRef, &'static str)>> {
        let arrow = |error: arrow_schema::ArrowError| Error::malformed(error.to_string());
        let fixed_list = {
            let mut builder = FixedSizeListBuilder::new(Int64Builder::new(), 2);
            builder.values().append_slice(&[1, 2]);
            builder.append(true);
            builder.finish()
        };
        let float: ArrayRef = Arc::new(Float64Array::from(vec![0.1]));
        let date: ArrayRef = Arc::new(Date32Array::from(vec![1]));
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a\"b"]));
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![b"abc".as_slice()]));
        let decimal: ArrayRef =
            Arc::new(Decimal128Array::from(vec![-1250]).with_precision_and_scale(9, 2).map_err(arrow)?);
        let to = |array: &ArrayRef, data_type| cast(array, &data_type).map_err(arrow);
        Ok(vec![
            (to(&float, DataType::Float16)?, "0.0999755859375"),
            (to(&float, DataType::Float32)?, "0.10000000149011612"),
            (float, "0.1"),
            (to(&date, DataType::Date64)?, "\"1970-01-02\""),
            (date, "\"1970-01-02\""),
            (to(&text, DataType::LargeUtf8)?, r#""a\"b""#),
            (to(&text, DataType::Utf8View)?, r#""a\"b""#),
            (text, r#""a\"b""#),
            (to(&bytes, DataType::LargeBinary)?, "\"YWJj\""),
            (to(&bytes, DataType::BinaryView)?, "\"YWJj\""),
            (to(&bytes, DataType::FixedSizeBinary(3))?, "\"YWJj\""),
            (bytes, "\"YWJj\""),
            (to(&decimal, DataType::Decimal256(9, 2))?, "-12.50"),
            (decimal, "-12.50"),
            (Arc::new(fixed_list), "[1,2]"),
        ])
    }

    #[test]
    fn cells_without_a_type_are_null() -> Result<()> {
        use arrow_buffer::OffsetBuffer;
        use arrow_schema::{Field, Fields};
        let arrow = |error: arrow_schema::ArrowError| Error::malformed(error.to_string());
        let nulls = || -> ArrayRef { Arc::new(NullArray::new(2)) };
        let text = |column: &dyn Array| -> Result<Option<String>> {
            let mut text = String::new();
            let cells = JsonCells::new(&Property::new("x", column.data_type().clone()), column)?;
            Ok(cells.push(0, &mut text).then_some(text))
        };
        assert_eq!(text(nulls().as_ref())?, None);
        let item = Arc::new(Field::new("item", DataType::Null, true));
        let list = ListArray::try_new(item, OffsetBuffer::new(vec![0, 2].into()), nulls(), None).map_err(arrow)?;
        assert_eq!(text(&list)?.as_deref(), Some("[null,null]"));
        let fields = Fields::from(vec![Field::new("u", DataType::Null, true), Field::new("v", DataType::Int64, true)]);
        let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let object = StructArray::try_new(fields, vec![nulls(), values], None).map_err(arrow)?;
        let mut with_nulls = String::new();
        JsonCells::with_nulls(&object)?.push(0, &mut with_nulls);
        assert_eq!(with_nulls, r#"{"u":null,"v":1}"#);
        assert_eq!(text(&object)?.as_deref(), Some(r#"{"v":1}"#));
        // The way back.
        for (column, text) in [(&list as &dyn Array, "[null,null]"), (&object, r#"{"v":1}"#)] {
            let mut back = JsonColumn::new(&Property::new("x", column.data_type().clone()))?;
            back.push(text)?;
            assert_eq!(back.finish()?.as_ref(), column.slice(0, 1).as_ref());
        }
        Ok(())
    }

    #[test]
    fn years_of_any_length_have_texts_that_come_back() -> Result<()> {
        let zoned = |column: TimestampMillisecondArray| -> ArrayRef { Arc::new(column.with_timezone("UTC")) };
        let columns: [(ArrayRef, &str); 6] = [
            (Arc::new(Date32Array::from(vec![2_932_897])), "\"+10000-01-01\""),
            (Arc::new(Date32Array::from(vec![-719_529])), "\"-0001-12-31\""),
            (Arc::new(Date32Array::from(vec![i32::MAX])), "2147483647"),
            (Arc::new(TimestampSecondArray::from(vec![253_402_300_800])), "\"+10000-01-01T00:00:00\""),
            (zoned(TimestampMillisecondArray::from(vec![253_402_300_800_500])), "\"+10000-01-01T00:00:00.500Z\""),
            (Arc::new(TimestampMicrosecondArray::from(vec![i64::MAX])), "\"+294247-01-10T04:00:54.775807\""),
        ];
        for (column, expected) in columns {
            let property = Property::new("x", column.data_type().clone());
            let mut text = String::new();
            assert!(JsonCells::new(&property, column.as_ref())?.push(0, &mut text));
            // The calendar of `chrono` ends before the microseconds of 64 bits do.
            if column.data_type() != &DataType::Timestamp(TimeUnit::Microsecond, None) {
                assert_eq!(text, expected);
            }
            let mut back = JsonColumn::new(&property)?;
            back.push(&text)?;
            assert_eq!(back.finish()?.as_ref(), column.as_ref(), "{text}");
        }
        Ok(())
    }

    #[test]
    fn every_type_has_its_text() -> Result<()> {
        for (column, expected) in columns()? {
            let cells = JsonCells::new(&Property::new("x", column.data_type().clone()), column.as_ref())?;
            let mut text = String::new();
            assert!(cells.push(0, &mut text), "{}", column.data_type());
            assert_eq!(text, expected, "{}", column.data_type());
        }
        Ok(())
    }
}
