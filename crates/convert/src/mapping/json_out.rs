//! Writes cells as JSON: how a typed property is written to a format whose properties are JSON members.
//!
//! Every cell reads back exactly if the declared type is known: integers unchanged, floats in their shortest exact
//! form, NaN and the infinities as text because JSON has no numbers for them, dates and times as ISO 8601 text, bytes
//! in base64, lists as arrays. Decimals are numbers, durations are numbers in their unit, structs are objects. A 32-bit
//! float is written as the 64-bit float of the same value, so that a reader without the declaration gets exactly this
//! number.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, StructArray, temporal_conversions as temporal};
use arrow_buffer::ArrowNativeType;
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
    /// Prepares the cells of `column`, which have the type of `property`.
    ///
    /// # Errors
    /// If the type has no JSON form.
    pub fn new(property: &Property, column: &'a dyn Array) -> Result<Self> {
        let push = match property.kind {
            ValueKind::Json | ValueKind::Bag => raw(column)?,
            _ => plain(column)?,
        };
        Ok(JsonCells { array: column, push })
    }

    /// Appends a cell as JSON. Returns false and appends nothing if it is null.
    pub fn push(&self, row: usize, out: &mut String) -> bool {
        if has_no_value(self.array, row) {
            return false;
        }
        (self.push)(row, out);
        true
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

fn bytes(value: &[u8], out: &mut String) {
    out.push('"');
    base64::engine::general_purpose::STANDARD.encode_string(value, out);
    out.push('"');
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
        T::Float16 => {
            let values = column.as_primitive::<Float16Type>();
            Box::new(move |row, out| push_float(values.value(row).to_f64(), out))
        }
        T::Float32 => {
            let values = column.as_primitive::<Float32Type>();
            Box::new(move |row, out| push_float(values.value(row).into(), out))
        }
        T::Float64 => {
            let values = column.as_primitive::<Float64Type>();
            Box::new(move |row, out| push_float(values.value(row), out))
        }
        T::Utf8 => {
            let values = column.as_string::<i32>();
            Box::new(move |row, out| push_string(out, values.value(row)))
        }
        T::LargeUtf8 => {
            let values = column.as_string::<i64>();
            Box::new(move |row, out| push_string(out, values.value(row)))
        }
        T::Utf8View => {
            let values = column.as_string_view();
            Box::new(move |row, out| push_string(out, values.value(row)))
        }
        T::Binary => {
            let values = column.as_binary::<i32>();
            Box::new(move |row, out| bytes(values.value(row), out))
        }
        T::LargeBinary => {
            let values = column.as_binary::<i64>();
            Box::new(move |row, out| bytes(values.value(row), out))
        }
        T::BinaryView => {
            let values = column.as_binary_view();
            Box::new(move |row, out| bytes(values.value(row), out))
        }
        T::FixedSizeBinary(_) => {
            let values = column.as_fixed_size_binary();
            Box::new(move |row, out| bytes(values.value(row), out))
        }
        T::Date32 => {
            let values = column.as_primitive::<Date32Type>();
            Box::new(move |row, out| {
                iso(temporal::date32_to_datetime(values.value(row)), "%Y-%m-%d", values.value(row).into(), out)
            })
        }
        T::Date64 => {
            let values = column.as_primitive::<Date64Type>();
            Box::new(move |row, out| {
                iso(temporal::date64_to_datetime(values.value(row)), "%Y-%m-%d", values.value(row), out)
            })
        }
        T::Timestamp(unit, zone) => timestamps(column, *unit, zone.is_some()),
        T::Decimal128(..) => {
            let values = column.as_primitive::<Decimal128Type>();
            Box::new(move |row, out| out.push_str(&values.value_as_string(row)))
        }
        T::Decimal256(..) => {
            let values = column.as_primitive::<Decimal256Type>();
            Box::new(move |row, out| out.push_str(&values.value_as_string(row)))
        }
        T::Time32(_) | T::Time64(_) => times(column),
        T::Duration(_) => durations(column),
        T::List(_) => {
            let list = column.as_list::<i32>();
            let offsets = list.value_offsets();
            items(list.values().as_ref(), move |row| {
                offsets.get(row..row + 2).map(|ends| (ends[0].as_usize(), ends[1].as_usize()))
            })?
        }
        T::LargeList(_) => {
            let list = column.as_list::<i64>();
            let offsets = list.value_offsets();
            items(list.values().as_ref(), move |row| {
                offsets.get(row..row + 2).map(|ends| (ends[0].as_usize(), ends[1].as_usize()))
            })?
        }
        T::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or_default();
            items(column.as_fixed_size_list().values().as_ref(), move |row| Some((row * size, row * size + size)))?
        }
        T::Struct(_) => fields(column.as_struct())?,
        other => return Err(unsupported(other)),
    })
}

/// An array of the items in the range of each row.
fn items<'a>(values: &'a dyn Array, range: impl Fn(usize) -> Option<(usize, usize)> + 'a) -> Result<Push<'a>> {
    let push = plain(values)?;
    Ok(Box::new(move |row, out| {
        out.push('[');
        let (from, to) = range(row).unwrap_or_default();
        for item in from..to {
            if item > from {
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

/// An object of the fields, in order, without fields that are null.
fn fields(column: &StructArray) -> Result<Push<'_>> {
    let fields = column.fields().iter().zip(column.columns());
    let fields: Vec<_> = fields
        .map(|(field, values)| Ok((field.name().as_str(), values.as_ref(), plain(values.as_ref())?)))
        .collect::<Result<_>>()?;
    Ok(Box::new(move |row, out| {
        out.push('{');
        let mut first = true;
        for (name, _, push) in fields.iter().filter(|(_, values, _)| !has_no_value(*values, row)) {
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

/// Times of day as ISO 8601 text; times outside a day as plain numbers in their unit.
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

/// Durations as numbers in their unit.
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

/// A point in time as text of ISO 8601, in which years before 0 and after 9999 have a sign: `+10000-01-01`. As a plain number in its unit
/// where the calendar of `chrono` ends, after some 260,000 years.
fn iso(time: Option<chrono::NaiveDateTime>, format: &str, number: i64, out: &mut String) {
    match time {
        Some(time) => {
            let _ = write!(out, "\"{}\"", time.format(format));
        }
        None => {
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
