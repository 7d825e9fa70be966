//! Converts values of Arrow columns to text, without a copy of each value.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

/// A value of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float32(f32),
    Float64(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Date(i32),
    Timestamp { value: i64, unit: TimeUnit, has_zone: bool },
}

/// Access to the values of a column one by one.
pub(crate) struct Cells<'a> {
    array: &'a ArrayRef,
    get: fn(&'a ArrayRef, usize) -> Value<'a>,
}

impl<'a> Cells<'a> {
    /// Returns the values of `array`; `None` for a type without a text form.
    pub(crate) fn new(array: &'a ArrayRef) -> Option<Self> {
        use DataType as T;
        let get: fn(&'a ArrayRef, usize) -> Value<'a> = match array.data_type() {
            T::Null => |_, _| Value::Null,
            T::Boolean => |array, row| Value::Bool(array.as_boolean().value(row)),
            T::Int8 => |array, row| int::<Int8Type>(array, row),
            T::Int16 => |array, row| int::<Int16Type>(array, row),
            T::Int32 => |array, row| int::<Int32Type>(array, row),
            T::Int64 => |array, row| int::<Int64Type>(array, row),
            T::UInt8 => |array, row| uint::<UInt8Type>(array, row),
            T::UInt16 => |array, row| uint::<UInt16Type>(array, row),
            T::UInt32 => |array, row| uint::<UInt32Type>(array, row),
            T::UInt64 => |array, row| uint::<UInt64Type>(array, row),
            T::Float32 => |array, row| Value::Float32(array.as_primitive::<Float32Type>().value(row)),
            T::Float64 => |array, row| Value::Float64(array.as_primitive::<Float64Type>().value(row)),
            T::Utf8 => |array, row| Value::Text(array.as_string::<i32>().value(row)),
            T::LargeUtf8 => |array, row| Value::Text(array.as_string::<i64>().value(row)),
            T::Binary => |array, row| bytes::<arrow_array::types::BinaryType>(array, row),
            T::LargeBinary => |array, row| bytes::<arrow_array::types::LargeBinaryType>(array, row),
            T::Date32 => |array, row| Value::Date(array.as_primitive::<Date32Type>().value(row)),
            T::Timestamp(TimeUnit::Second, _) => |array, row| time::<TimestampSecondType>(array, row),
            T::Timestamp(TimeUnit::Millisecond, _) => |array, row| time::<TimestampMillisecondType>(array, row),
            T::Timestamp(TimeUnit::Microsecond, _) => |array, row| time::<TimestampMicrosecondType>(array, row),
            T::Timestamp(TimeUnit::Nanosecond, _) => |array, row| time::<TimestampNanosecondType>(array, row),
            _ => return None,
        };
        Some(Cells { array, get })
    }

    /// Returns the value in `row`, which must exist.
    pub(crate) fn get(&self, row: usize) -> Value<'a> {
        if self.array.is_null(row) { Value::Null } else { (self.get)(self.array, row) }
    }
}

fn int<'a, T: ArrowPrimitiveType>(array: &'a ArrayRef, row: usize) -> Value<'a>
where
    T::Native: Into<i64>,
{
    Value::Int(array.as_primitive::<T>().value(row).into())
}

fn uint<'a, T: ArrowPrimitiveType>(array: &'a ArrayRef, row: usize) -> Value<'a>
where
    T::Native: Into<u64>,
{
    Value::UInt(array.as_primitive::<T>().value(row).into())
}

fn bytes<'a, T: ByteArrayType<Native = [u8]>>(array: &'a ArrayRef, row: usize) -> Value<'a> {
    Value::Bytes(array.as_bytes::<T>().value(row))
}

fn time<'a, T: ArrowPrimitiveType<Native = i64>>(array: &'a ArrayRef, row: usize) -> Value<'a> {
    let value = array.as_primitive::<T>().value(row);
    match array.data_type() {
        DataType::Timestamp(unit, zone) => Value::Timestamp { value, unit: *unit, has_zone: zone.is_some() },
        _ => Value::Null,
    }
}
