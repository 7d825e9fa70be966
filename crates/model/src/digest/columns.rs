//! Typed views of Arrow arrays, with one `match` per cell and no dynamic dispatch.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray, StringArray,
    StringViewArray,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Result};

/// Returns the error for a type that the model does not support.
pub(super) fn unsupported(data_type: &DataType) -> Error {
    Error::unsupported(format!("values of type {data_type} are not supported by the model"))
}

fn at<T: Copy + Default>(values: &[T], row: usize) -> T {
    values.get(row).copied().unwrap_or_default()
}

/// Integers of any width, and types that are stored as integers: dates and times.
pub(super) enum Integers<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

impl<'a> Integers<'a> {
    pub fn new(array: &'a dyn Array) -> Result<Self> {
        use DataType as T;
        use TimeUnit as U;
        macro_rules! of {
            ($form:ident, $arrow:ty) => {
                Integers::$form(array.as_primitive::<$arrow>().values())
            };
        }
        Ok(match array.data_type() {
            T::Int8 => of!(I8, Int8Type),
            T::Int16 => of!(I16, Int16Type),
            T::Int32 => of!(I32, Int32Type),
            T::Int64 => of!(I64, Int64Type),
            T::UInt8 => of!(U8, UInt8Type),
            T::UInt16 => of!(U16, UInt16Type),
            T::UInt32 => of!(U32, UInt32Type),
            T::UInt64 => of!(U64, UInt64Type),
            T::Date32 => of!(I32, Date32Type),
            T::Date64 => of!(I64, Date64Type),
            T::Time32(U::Second) => of!(I32, Time32SecondType),
            T::Time32(_) => of!(I32, Time32MillisecondType),
            T::Time64(U::Microsecond) => of!(I64, Time64MicrosecondType),
            T::Time64(_) => of!(I64, Time64NanosecondType),
            T::Timestamp(U::Second, _) => of!(I64, TimestampSecondType),
            T::Timestamp(U::Millisecond, _) => of!(I64, TimestampMillisecondType),
            T::Timestamp(U::Microsecond, _) => of!(I64, TimestampMicrosecondType),
            T::Timestamp(U::Nanosecond, _) => of!(I64, TimestampNanosecondType),
            T::Duration(U::Second) => of!(I64, DurationSecondType),
            T::Duration(U::Millisecond) => of!(I64, DurationMillisecondType),
            T::Duration(U::Microsecond) => of!(I64, DurationMicrosecondType),
            T::Duration(U::Nanosecond) => of!(I64, DurationNanosecondType),
            other => return Err(unsupported(other)),
        })
    }

    pub fn get(&self, row: usize) -> i128 {
        match self {
            Integers::I8(values) => at(values, row).into(),
            Integers::I16(values) => at(values, row).into(),
            Integers::I32(values) => at(values, row).into(),
            Integers::I64(values) => at(values, row).into(),
            Integers::U8(values) => at(values, row).into(),
            Integers::U16(values) => at(values, row).into(),
            Integers::U32(values) => at(values, row).into(),
            Integers::U64(values) => at(values, row).into(),
        }
    }
}

/// Floats of any width.
pub(super) enum Floats<'a> {
    F16(&'a [<Float16Type as ArrowPrimitiveType>::Native]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

impl<'a> Floats<'a> {
    pub fn new(array: &'a dyn Array) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Float16 => Floats::F16(array.as_primitive::<Float16Type>().values()),
            DataType::Float32 => Floats::F32(array.as_primitive::<Float32Type>().values()),
            DataType::Float64 => Floats::F64(array.as_primitive::<Float64Type>().values()),
            other => return Err(unsupported(other)),
        })
    }

    pub fn get(&self, row: usize) -> f64 {
        match self {
            Floats::F16(values) => at(values, row).into(),
            Floats::F32(values) => at(values, row).into(),
            Floats::F64(values) => at(values, row),
        }
    }
}

/// Text or bytes in any storage.
pub(super) enum Bytes<'a> {
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    Fixed(&'a FixedSizeBinaryArray),
}

impl<'a> Bytes<'a> {
    pub fn new(array: &'a dyn Array) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 => Bytes::Utf8(array.as_string()),
            DataType::LargeUtf8 => Bytes::LargeUtf8(array.as_string()),
            DataType::Utf8View => Bytes::Utf8View(array.as_string_view()),
            DataType::Binary => Bytes::Binary(array.as_binary()),
            DataType::LargeBinary => Bytes::LargeBinary(array.as_binary()),
            DataType::BinaryView => Bytes::BinaryView(array.as_binary_view()),
            DataType::FixedSizeBinary(_) => Bytes::Fixed(array.as_fixed_size_binary()),
            other => return Err(unsupported(other)),
        })
    }

    /// Text only.
    pub fn text(array: &'a dyn Array) -> Result<Self> {
        match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Bytes::new(array),
            other => Err(Error::unsupported(format!("expected a text column, found type {other}"))),
        }
    }

    pub fn get(&self, row: usize) -> &'a [u8] {
        match self {
            Bytes::Utf8(array) => array.value(row).as_bytes(),
            Bytes::LargeUtf8(array) => array.value(row).as_bytes(),
            Bytes::Utf8View(array) => array.value(row).as_bytes(),
            Bytes::Binary(array) => array.value(row),
            Bytes::LargeBinary(array) => array.value(row),
            Bytes::BinaryView(array) => array.value(row),
            Bytes::Fixed(array) => array.value(row),
        }
    }

    pub fn get_text(&self, row: usize) -> Result<&'a str> {
        match self {
            Bytes::Utf8(array) => Ok(array.value(row)),
            Bytes::LargeUtf8(array) => Ok(array.value(row)),
            Bytes::Utf8View(array) => Ok(array.value(row)),
            other => std::str::from_utf8(other.get(row)).map_err(|_| Error::malformed("not UTF-8")),
        }
    }
}

/// The positions of list items.
pub(super) enum Ranges<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
    Fixed(usize),
}

impl Ranges<'_> {
    pub fn get(&self, row: usize) -> (usize, usize) {
        match self {
            Ranges::Small(offsets) => (at(offsets, row).as_usize(), at(offsets, row + 1).as_usize()),
            Ranges::Large(offsets) => (at(offsets, row).as_usize(), at(offsets, row + 1).as_usize()),
            Ranges::Fixed(size) => (row * size, row * size + size),
        }
    }
}
