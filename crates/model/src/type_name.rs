//! Names of Arrow types for people and sidecars, which are stable, unlike Arrow's own.
//!
//! `bool`, `int64`, `uint8`, `float`, `double`, `string`, `large_string`, `bytes`, `date`, `date[ms]`, `time[us]`,
//! `timestamp[ms]`, `timestamp[us, UTC]`, `duration[ns]`, `decimal(38, 2)`, `list<float>`, `struct<a: int32, b: string>`.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, TimeUnit};
use isomorph_error::{Error, Result};

/// The name of list items, as used by GraphAr's writers.
pub const ITEM: &str = "element";

/// Returns the type of lists of nullable items.
pub fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new(ITEM, item, true)))
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

/// Returns the name of a type. Types that the model does not support keep Arrow's own name.
pub fn type_name(data_type: &DataType) -> String {
    use DataType as T;
    match data_type {
        T::Null => "null".to_owned(),
        T::Boolean => "bool".to_owned(),
        T::Int8 => "int8".to_owned(),
        T::Int16 => "int16".to_owned(),
        T::Int32 => "int32".to_owned(),
        T::Int64 => "int64".to_owned(),
        T::UInt8 => "uint8".to_owned(),
        T::UInt16 => "uint16".to_owned(),
        T::UInt32 => "uint32".to_owned(),
        T::UInt64 => "uint64".to_owned(),
        T::Float16 => "half".to_owned(),
        T::Float32 => "float".to_owned(),
        T::Float64 => "double".to_owned(),
        T::Utf8 => "string".to_owned(),
        T::LargeUtf8 => "large_string".to_owned(),
        T::Binary => "bytes".to_owned(),
        T::LargeBinary => "large_bytes".to_owned(),
        T::FixedSizeBinary(size) => format!("bytes({size})"),
        T::Date32 => "date".to_owned(),
        T::Date64 => "date[ms]".to_owned(),
        T::Time32(unit) | T::Time64(unit) => format!("time[{}]", unit_name(*unit)),
        T::Timestamp(unit, None) => format!("timestamp[{}]", unit_name(*unit)),
        T::Timestamp(unit, Some(zone)) => format!("timestamp[{}, {zone}]", unit_name(*unit)),
        T::Duration(unit) => format!("duration[{}]", unit_name(*unit)),
        T::Decimal128(precision, scale) => format!("decimal({precision}, {scale})"),
        T::Decimal256(precision, scale) => format!("decimal256({precision}, {scale})"),
        T::List(item) => format!("list<{}>", type_name(item.data_type())),
        T::LargeList(item) => format!("large_list<{}>", type_name(item.data_type())),
        T::FixedSizeList(item, size) => format!("list<{}>({size})", type_name(item.data_type())),
        T::Struct(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{}: {}", field.name(), type_name(field.data_type()))).collect();
            format!("struct<{}>", fields.join(", "))
        }
        T::Dictionary(_, values) => type_name(values),
        other => other.to_string(),
    }
}

/// Returns the type of a name that was created by [`type_name`].
///
/// # Errors
/// Returns an error if it is not such a name, or types are nested deeper than 64 levels.
pub fn parse_type(name: &str) -> Result<DataType> {
    parse_inside(name, DEPTH)
}

/// The maximum nesting depth of types, because names come from untrusted data and the stack is limited.
const DEPTH: usize = 64;

/// Parses a type name with at most `depth` nested levels.
fn parse_inside(name: &str, depth: usize) -> Result<DataType> {
    let parse_type = |name: &str| match depth.checked_sub(1) {
        Some(depth) => parse_inside(name, depth),
        None => Err(Error::malformed(format!("types are nested deeper than {DEPTH} levels"))),
    };
    let unknown = || Error::malformed(format!("{name:?} is not a type"));
    let inside = |open: &str, close: char| name.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    Ok(match name {
        "null" => DataType::Null,
        "bool" => DataType::Boolean,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "half" => DataType::Float16,
        "float" => DataType::Float32,
        "double" => DataType::Float64,
        "string" => DataType::Utf8,
        "large_string" => DataType::LargeUtf8,
        "bytes" => DataType::Binary,
        "large_bytes" => DataType::LargeBinary,
        "date" => DataType::Date32,
        "date[ms]" => DataType::Date64,
        _ => {
            if let Some(item) = inside("list<", '>') {
                list_of(parse_type(item)?)
            } else if let Some(item) = inside("large_list<", '>') {
                DataType::LargeList(Arc::new(Field::new(ITEM, parse_type(item)?, true)))
            } else if let Some(fields) = inside("struct<", '>') {
                parse_struct(fields, parse_type)?
            } else if let Some(inner) = inside("timestamp[", ']') {
                let (unit, zone) = inner.split_once(", ").map_or((inner, None), |(unit, zone)| (unit, Some(zone)));
                DataType::Timestamp(parse_unit(unit).ok_or_else(unknown)?, zone.map(Into::into))
            } else if let Some(unit) = inside("time[", ']') {
                match parse_unit(unit).ok_or_else(unknown)? {
                    unit @ (TimeUnit::Second | TimeUnit::Millisecond) => DataType::Time32(unit),
                    unit => DataType::Time64(unit),
                }
            } else if let Some(unit) = inside("duration[", ']') {
                DataType::Duration(parse_unit(unit).ok_or_else(unknown)?)
            } else if let Some(size) = inside("bytes(", ')') {
                DataType::FixedSizeBinary(number(size).ok_or_else(unknown)?)
            } else if let Some((precision, scale)) = inside("decimal(", ')').and_then(|rest| rest.split_once(", ")) {
                let precision = number(precision).ok_or_else(unknown)?;
                DataType::Decimal128(precision, number(scale).ok_or_else(unknown)?)
            } else if let Some((precision, scale)) = inside("decimal256(", ')').and_then(|rest| rest.split_once(", ")) {
                let precision = number(precision).ok_or_else(unknown)?;
                DataType::Decimal256(precision, number(scale).ok_or_else(unknown)?)
            } else if let Some((item, size)) = name
                .strip_prefix("list<")
                .and_then(|rest| rest.strip_suffix(')'))
                .and_then(|rest| rest.rsplit_once(">("))
            {
                let size = number(size).ok_or_else(unknown)?;
                DataType::FixedSizeList(Arc::new(Field::new(ITEM, parse_type(item)?, true)), size)
            } else {
                return Err(unknown());
            }
        }
    })
}

fn parse_unit(unit: &str) -> Option<TimeUnit> {
    match unit {
        "s" => Some(TimeUnit::Second),
        "ms" => Some(TimeUnit::Millisecond),
        "us" => Some(TimeUnit::Microsecond),
        "ns" => Some(TimeUnit::Nanosecond),
        _ => None,
    }
}

/// Parses the fields of a struct, split at the commas outside brackets.
fn parse_struct(text: &str, parse_type: impl Fn(&str) -> Result<DataType>) -> Result<DataType> {
    let mut fields = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    let mut take = |part: &str| -> Result<()> {
        let (name, data_type) =
            part.trim().split_once(": ").ok_or_else(|| Error::malformed(format!("{part:?} is not a field")))?;
        fields.push(Field::new(name, parse_type(data_type)?, true));
        Ok(())
    };
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'[' | b'(' => depth += 1,
            b'>' | b']' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                take(text.get(start..at).unwrap_or_default())?;
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        take(text.get(start..).unwrap_or_default())?;
    }
    Ok(DataType::Struct(Fields::from(fields)))
}

/// Serialises an Arrow type by its name, for `#[serde(with = "type_name")]`.
pub mod by_name {
    use arrow_schema::DataType;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the name.
    ///
    /// # Errors
    /// Returns errors of the serialiser.
    pub fn serialize<S: Serializer>(data_type: &DataType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::type_name(data_type))
    }

    /// Reads the name.
    ///
    /// # Errors
    /// Returns an error if it is not a type.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DataType, D::Error> {
        let name = String::deserialize(deserializer)?;
        super::parse_type(&name).map_err(serde::de::Error::custom)
    }
}

/// Parses a number without a plus sign, which the parser of the standard library accepts.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sizes_have_no_plus_sign() {
        assert!(parse_type("bytes(5)").is_ok() && parse_type("decimal(5, -2)").is_ok());
        for name in ["bytes(+5)", "decimal(+5, 2)", "decimal(5, +2)", "decimal256(5, +2)", "list<int64>(+3)"] {
            assert!(parse_type(name).is_err(), "{name}");
        }
    }

    #[test]
    fn types_inside_one_another_have_an_end() {
        for (open, close) in [("list<", ">"), ("struct<a: ", ">"), ("list<", ">(3)")] {
            let nested = |depth: usize| format!("{}int64{}", open.repeat(depth), close.repeat(depth));
            assert!(parse_type(&nested(64)).is_ok());
            assert!(parse_type(&nested(65)).is_err());
            assert!(parse_type(&nested(200_000)).is_err());
        }
    }

    #[test]
    fn names_read_back() {
        for name in [
            "bool",
            "int64",
            "uint8",
            "float",
            "string",
            "bytes",
            "bytes(16)",
            "date",
            "time[ms]",
            "time[ns]",
            "timestamp[ms]",
            "timestamp[us, UTC]",
            "duration[s]",
            "decimal(38, 2)",
            "list<float>",
            "list<list<string>>",
            "list<double>(3)",
            "struct<a: int32, b: list<struct<c: timestamp[ms, +01:00], d: string>>>",
        ] {
            assert_eq!(type_name(&parse_type(name).unwrap()), name);
        }
        for name in ["", "list<", "list<x>", "timestamp[y]", "struct<a>"] {
            assert!(parse_type(name).is_err(), "{name}");
        }
    }
}
