//! Number types, with numpy's names.

use std::fmt;

use arrow_schema::DataType;

/// The number type of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    Float32,
    Float64,
}

/// All types with their names, and numpy's other names for them on a 64-bit machine.
const NAMES: &[(DType, &str, &[&str])] = &[
    (DType::Bool, "bool", &["bool_", "b1", "?"]),
    (DType::Int8, "int8", &["i1", "byte", "b"]),
    (DType::Int16, "int16", &["i2", "short", "h"]),
    (DType::Int32, "int32", &["i4", "intc", "i"]),
    (DType::Int64, "int64", &["i8", "int", "int_", "long", "longlong", "intp", "l", "q", "p"]),
    (DType::UInt8, "uint8", &["u1", "ubyte", "B"]),
    (DType::UInt16, "uint16", &["u2", "ushort", "H"]),
    (DType::UInt32, "uint32", &["u4", "uintc", "I"]),
    (DType::UInt64, "uint64", &["u8", "uint", "ulong", "ulonglong", "uintp", "L", "Q", "P"]),
    (DType::Float16, "float16", &["f2", "half", "e"]),
    (DType::Float32, "float32", &["f4", "single", "f"]),
    (DType::Float64, "float64", &["f8", "float", "double", "d"]),
];

impl DType {
    /// Returns the type with this name, as in numpy.
    pub fn of_name(name: &[u8]) -> Option<DType> {
        // The two most common ones.
        match name {
            b"float32" => return Some(DType::Float32),
            b"int64" => return Some(DType::Int64),
            _ => {}
        }
        let known = |(_, own, others): &&(DType, &str, &[&str])| {
            own.as_bytes() == name || others.iter().any(|other| other.as_bytes() == name)
        };
        NAMES.iter().find(known).map(|(dtype, _, _)| *dtype)
    }

    /// Returns the type that a JSON key names before `_feature`: `float` has 32 bits, `double` has 64.
    pub fn of_json_key(word: &[u8]) -> Option<DType> {
        match word {
            b"float" => Some(DType::Float32),
            b"double" => Some(DType::Float64),
            b"bool" => None,
            _ => NAMES.iter().find(|(_, own, _)| own.as_bytes() == word).map(|(dtype, _, _)| *dtype),
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(dtype, _, _)| *dtype == self).map_or("", |(_, name, _)| name)
    }

    /// Returns the number of bytes of one number.
    pub fn size(self) -> usize {
        match self {
            DType::Bool | DType::Int8 | DType::UInt8 => 1,
            DType::Int16 | DType::UInt16 | DType::Float16 => 2,
            DType::Int32 | DType::UInt32 | DType::Float32 => 4,
            DType::Int64 | DType::UInt64 | DType::Float64 => 8,
        }
    }

    /// Returns the Arrow type of one number. Booleans are bytes, as they are stored, because tensors contain numbers.
    pub fn arrow(self) -> DataType {
        match self {
            DType::Int8 => DataType::Int8,
            DType::Int16 => DataType::Int16,
            DType::Int32 => DataType::Int32,
            DType::Int64 => DataType::Int64,
            DType::Bool | DType::UInt8 => DataType::UInt8,
            DType::UInt16 => DataType::UInt16,
            DType::UInt32 => DataType::UInt32,
            DType::UInt64 => DataType::UInt64,
            DType::Float16 => DataType::Float16,
            DType::Float32 => DataType::Float32,
            DType::Float64 => DataType::Float64,
        }
    }

    /// Returns the number type of this Arrow type.
    pub fn of_arrow(data_type: &DataType) -> Option<DType> {
        // Booleans are bytes in columns.
        let mut numbers = NAMES.iter().map(|(dtype, _, _)| *dtype).filter(|dtype| *dtype != DType::Bool);
        numbers.find(|dtype| dtype.arrow() == *data_type)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
