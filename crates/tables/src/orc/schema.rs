//! Maps types of ORC to types of Arrow.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use isomorph_error::{Error, Place, Result};

use super::tail::{DEPTH, Type};
use crate::convert::ELEMENT;
use crate::rules::ORC_FILE;
use crate::{ReadOptions, TextType};

/// `Type.Kind` of the format, as far as it is supported.
pub(super) mod kind {
    pub const BOOLEAN: u64 = 0;
    pub const BYTE: u64 = 1;
    pub const SHORT: u64 = 2;
    pub const INT: u64 = 3;
    pub const LONG: u64 = 4;
    pub const FLOAT: u64 = 5;
    pub const DOUBLE: u64 = 6;
    pub const STRING: u64 = 7;
    pub const BINARY: u64 = 8;
    pub const TIMESTAMP: u64 = 9;
    pub const LIST: u64 = 10;
    pub const STRUCT: u64 = 12;
    pub const DATE: u64 = 15;
    pub const VARCHAR: u64 = 16;
    pub const CHAR: u64 = 17;
    pub const TIMESTAMP_INSTANT: u64 = 18;
}

/// Returns the decoded columns of a file, and the number of each column's type.
pub(super) fn columns(types: &[Type], options: &ReadOptions) -> Result<(Fields, Vec<usize>)> {
    let broken = |reason: &str| Error::broken(&ORC_FILE, reason);
    let root = types.first().ok_or_else(|| broken("the file has no types"))?;
    if root.kind != kind::STRUCT || root.inner.len() != root.names.len() {
        return Err(broken("the root type of the file is not a struct"));
    }
    let mut fields = Vec::with_capacity(root.inner.len());
    for (number, name) in root.inner.iter().zip(&root.names) {
        let declared = options.schema.as_ref().and_then(|schema| schema.column_with_name(name));
        let declared = declared.map(|(_, field)| field.data_type());
        let data_type =
            arrow_type(types, *number, declared, options.text, DEPTH).map_err(|error| error.at(Place::field(name)))?;
        fields.push(Field::new(name, data_type, true));
    }
    Ok((fields.into(), root.inner.clone()))
}

/// Returns the Arrow type of a decoded type. ORC stores timestamps in nanoseconds, which Arrow's nanoseconds cannot
/// represent for all years, so timestamps take the declared unit.
fn arrow_type(
    types: &[Type],
    number: usize,
    declared: Option<&DataType>,
    text: TextType,
    depth: usize,
) -> Result<DataType> {
    let own = types.get(number).ok_or_else(|| Error::broken(&ORC_FILE, "a type is missing"))?;
    let depth = depth.checked_sub(1).ok_or_else(|| Error::broken(&ORC_FILE, "the types are nested too deeply"))?;
    // Functions that follow nested types rely on this: only lists were checked for cycles.
    if own.kind != kind::LIST && !own.inner.is_empty() {
        return Err(match own.kind {
            kind::BOOLEAN..=kind::TIMESTAMP | kind::DATE..=kind::TIMESTAMP_INSTANT => {
                Error::broken(&ORC_FILE, "a scalar type has nested types")
            }
            other => Error::unsupported(format!("ORC columns of kind {other} are not supported")),
        });
    }
    let unit = match declared {
        Some(DataType::Timestamp(unit, _)) => *unit,
        _ => TimeUnit::Nanosecond,
    };
    Ok(match own.kind {
        kind::BOOLEAN => DataType::Boolean,
        kind::BYTE => DataType::Int8,
        kind::SHORT => DataType::Int16,
        kind::INT => DataType::Int32,
        kind::LONG => DataType::Int64,
        kind::FLOAT => DataType::Float32,
        kind::DOUBLE => DataType::Float64,
        kind::STRING | kind::VARCHAR | kind::CHAR if text == TextType::LargeUtf8 => DataType::LargeUtf8,
        kind::STRING | kind::VARCHAR | kind::CHAR => DataType::Utf8,
        kind::BINARY => DataType::Binary,
        kind::DATE => DataType::Date32,
        kind::TIMESTAMP => DataType::Timestamp(unit, None),
        kind::TIMESTAMP_INSTANT => DataType::Timestamp(unit, Some("UTC".into())),
        kind::LIST => {
            let [item] = own.inner[..] else {
                return Err(Error::broken(&ORC_FILE, "a list must have exactly one item type"));
            };
            let declared = match declared {
                Some(DataType::List(field)) => Some(field.data_type()),
                _ => None,
            };
            let item = arrow_type(types, item, declared, text, depth)?;
            DataType::List(Arc::new(Field::new(ELEMENT, item, true)))
        }
        other => return Err(Error::unsupported(format!("ORC columns of kind {other} are not supported"))),
    })
}

/// Returns the type in which an Arrow type is stored, if ORC has one.
pub(super) fn stored_type(data_type: &DataType) -> Option<DataType> {
    use DataType as T;
    Some(match data_type {
        T::Boolean | T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Float32 | T::Float64 => data_type.clone(),
        T::UInt8 => T::Int16,
        T::UInt16 => T::Int32,
        T::UInt32 => T::Int64,
        T::Utf8 | T::LargeUtf8 | T::Binary | T::LargeBinary | T::Date32 | T::Timestamp(_, _) => data_type.clone(),
        T::Utf8View => T::Utf8,
        T::BinaryView => T::Binary,
        T::Dictionary(_, value) => stored_type(value)?,
        T::List(item) => T::List(Arc::new(Field::new(ELEMENT, stored_type(item.data_type())?, item.is_nullable()))),
        _ => return None,
    })
}

/// Appends the type of `data_type`, which is a stored type, and its nested types; returns its number.
pub(super) fn declare(data_type: &DataType, types: &mut Vec<Type>) -> usize {
    let kind = match data_type {
        DataType::Boolean => kind::BOOLEAN,
        DataType::Int8 => kind::BYTE,
        DataType::Int16 => kind::SHORT,
        DataType::Int32 => kind::INT,
        DataType::Float32 => kind::FLOAT,
        DataType::Float64 => kind::DOUBLE,
        DataType::Utf8 | DataType::LargeUtf8 => kind::STRING,
        DataType::Binary | DataType::LargeBinary => kind::BINARY,
        DataType::Date32 => kind::DATE,
        DataType::Timestamp(_, None) => kind::TIMESTAMP,
        DataType::Timestamp(_, Some(_)) => kind::TIMESTAMP_INSTANT,
        DataType::List(_) => kind::LIST,
        _ => kind::LONG,
    };
    let number = types.len();
    types.push(Type { kind, inner: Vec::new(), names: Vec::new() });
    if let DataType::List(item) = data_type {
        let inner = declare(item.data_type(), types);
        types[number].inner.push(inner);
    }
    number
}

/// Returns the types of a file with this stored schema.
pub(super) fn declare_all(schema: &Schema) -> Vec<Type> {
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut types = vec![Type { kind: kind::STRUCT, inner: Vec::new(), names }];
    for field in schema.fields() {
        let number = declare(field.data_type(), &mut types);
        types[0].inner.push(number);
    }
    types
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn types_that_go_round_in_circles_are_refused() {
        let root = |inner| Type { kind: kind::STRUCT, inner: vec![inner], names: vec!["a".into()] };
        for kind in [kind::LIST, kind::LONG, kind::STRING, kind::STRUCT] {
            let own = Type { kind, inner: vec![1], names: Vec::new() };
            assert!(columns(&[root(1), own], &ReadOptions::default()).is_err(), "kind {kind}");
        }
        let sound = Type { kind: kind::LONG, inner: Vec::new(), names: Vec::new() };
        assert!(columns(&[root(1), sound], &ReadOptions::default()).is_ok());
    }
}
