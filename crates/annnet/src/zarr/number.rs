//! Number types of arrays.

use zarrs::array::{DataType, Element, FillValue, data_type};

/// The number type of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberType {
    I8,
    I32,
    I64,
    F32,
    F64,
}

impl NumberType {
    /// Returns the type with this name in Zarr.
    pub fn of(name: &str) -> Option<NumberType> {
        Some(match name {
            "int8" => NumberType::I8,
            "int32" => NumberType::I32,
            "int64" => NumberType::I64,
            "float32" => NumberType::F32,
            "float64" => NumberType::F64,
            _ => return None,
        })
    }

    /// Returns the number of bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            NumberType::I8 => 1,
            NumberType::I32 | NumberType::F32 => 4,
            NumberType::I64 | NumberType::F64 => 8,
        }
    }

    /// Returns whether the numbers are integers.
    pub fn is_integer(self) -> bool {
        matches!(self, NumberType::I8 | NumberType::I32 | NumberType::I64)
    }

    /// Returns the corresponding type of `zarrs`.
    pub fn data_type(self) -> DataType {
        match self {
            NumberType::I8 => data_type::int8(),
            NumberType::I32 => data_type::int32(),
            NumberType::I64 => data_type::int64(),
            NumberType::F32 => data_type::float32(),
            NumberType::F64 => data_type::float64(),
        }
    }

    /// Parses a fill value from JSON text.
    pub fn fill(self, text: &str) -> Option<FillValue> {
        let text = text.trim();
        let float = || match text {
            "\"NaN\"" => Some(f64::NAN),
            "\"Infinity\"" => Some(f64::INFINITY),
            "\"-Infinity\"" => Some(f64::NEG_INFINITY),
            text => text.parse::<f64>().ok().filter(|value| value.is_finite()),
        };
        Some(match self {
            NumberType::I8 => FillValue::from(text.parse::<i8>().ok()?),
            NumberType::I32 => FillValue::from(text.parse::<i32>().ok()?),
            NumberType::I64 => FillValue::from(text.parse::<i64>().ok()?),
            NumberType::F32 => FillValue::from(float()? as f32),
            NumberType::F64 => FillValue::from(float()?),
        })
    }

    /// Appends little-endian numbers as integers; floats are truncated.
    pub fn integers(self, bytes: &[u8], out: &mut Vec<i64>) {
        match self {
            NumberType::I8 => out.extend(bytes.iter().map(|byte| i64::from(byte.cast_signed()))),
            NumberType::I32 => out.extend(four(bytes).map(|number| i64::from(i32::from_le_bytes(number)))),
            NumberType::I64 => out.extend(eight(bytes).map(i64::from_le_bytes)),
            NumberType::F32 => out.extend(four(bytes).map(|number| f32::from_le_bytes(number) as i64)),
            NumberType::F64 => out.extend(eight(bytes).map(|number| f64::from_le_bytes(number) as i64)),
        }
    }

    /// Appends little-endian numbers as floats.
    pub fn floats(self, bytes: &[u8], out: &mut Vec<f64>) {
        match self {
            NumberType::I8 => out.extend(bytes.iter().map(|byte| f64::from(byte.cast_signed()))),
            NumberType::I32 => out.extend(four(bytes).map(|number| f64::from(i32::from_le_bytes(number)))),
            NumberType::I64 => out.extend(eight(bytes).map(|number| i64::from_le_bytes(number) as f64)),
            NumberType::F32 => out.extend(four(bytes).map(|number| f64::from(f32::from_le_bytes(number)))),
            NumberType::F64 => out.extend(eight(bytes).map(f64::from_le_bytes)),
        }
    }
}

fn four(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.chunks_exact(4).map(|bytes| bytes.try_into().unwrap_or_default())
}

fn eight(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> {
    bytes.chunks_exact(8).map(|bytes| bytes.try_into().unwrap_or_default())
}

/// A number type that arrays are written with.
pub(crate) trait Number: Element + Copy + Default + 'static {
    /// The type in the array.
    const TYPE: NumberType;

    /// Converts little-endian bytes to numbers of this type.
    fn of(bytes: &[u8]) -> Vec<Self>;
}

impl Number for i8 {
    const TYPE: NumberType = NumberType::I8;

    fn of(bytes: &[u8]) -> Vec<Self> {
        bytes.iter().map(|byte| byte.cast_signed()).collect()
    }
}

impl Number for i32 {
    const TYPE: NumberType = NumberType::I32;

    fn of(bytes: &[u8]) -> Vec<Self> {
        four(bytes).map(i32::from_le_bytes).collect()
    }
}

impl Number for i64 {
    const TYPE: NumberType = NumberType::I64;

    fn of(bytes: &[u8]) -> Vec<Self> {
        eight(bytes).map(i64::from_le_bytes).collect()
    }
}

impl Number for f32 {
    const TYPE: NumberType = NumberType::F32;

    fn of(bytes: &[u8]) -> Vec<Self> {
        four(bytes).map(f32::from_le_bytes).collect()
    }
}
