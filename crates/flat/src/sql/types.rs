//! Types of columns in the words of SQL, as DataFusion knows them; lists as `T[]`, sets as `T MULTISET`.

use arrow_schema::{DataType, TimeUnit};
use isomorph_model::type_name::list_of;
use isomorph_model::{Cardinality, ValueKind};

use super::ColumnType;

/// The name of a type; `None` where SQL has none for it.
pub(super) fn name(ty: &ColumnType) -> Option<String> {
    if ty.kind == ValueKind::Json {
        return (ty.data_type == DataType::Utf8).then(|| "JSON".to_owned());
    }
    match (&ty.data_type, ty.cardinality) {
        (DataType::List(item), Cardinality::Set) => Some(format!("{} MULTISET", scalar(item.data_type())?)),
        (DataType::List(item), _) => Some(format!("{}[]", scalar(item.data_type())?)),
        (other, _) => scalar(other),
    }
}

/// Whether SQL has a name for a type.
pub(crate) fn has_name(ty: &ColumnType) -> bool {
    name(ty).is_some()
}

fn scalar(data_type: &DataType) -> Option<String> {
    use DataType as T;
    let digits = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    Some(match data_type {
        T::Boolean => "BOOLEAN".to_owned(),
        T::Int8 => "TINYINT".to_owned(),
        T::Int16 => "SMALLINT".to_owned(),
        T::Int32 => "INTEGER".to_owned(),
        T::Int64 => "BIGINT".to_owned(),
        T::UInt8 => "TINYINT UNSIGNED".to_owned(),
        T::UInt16 => "SMALLINT UNSIGNED".to_owned(),
        T::UInt32 => "INTEGER UNSIGNED".to_owned(),
        T::UInt64 => "BIGINT UNSIGNED".to_owned(),
        T::Float32 => "REAL".to_owned(),
        T::Float64 => "DOUBLE".to_owned(),
        T::Utf8 => "VARCHAR".to_owned(),
        T::Binary => "BYTEA".to_owned(),
        T::Date32 => "DATE".to_owned(),
        T::Time32(unit) | T::Time64(unit) => format!("TIME({})", digits(unit)),
        T::Timestamp(unit, None) => format!("TIMESTAMP({})", digits(unit)),
        T::Timestamp(unit, Some(zone)) if &**zone == "UTC" => format!("TIMESTAMP({}) WITH TIME ZONE", digits(unit)),
        T::Decimal128(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        _ => return None,
    })
}

/// The type of a name in upper case, with the numbers behind it, and whether `UNSIGNED` or `WITH TIME ZONE` follows; `None` if there is no
/// such type.
pub(super) fn named(name: &str, numbers: &[u8], unsigned: bool, zoned: bool) -> Option<ColumnType> {
    use DataType as T;
    let unit = |given: Option<&u8>| match given {
        Some(0) => Some(TimeUnit::Second),
        Some(1..=3) => Some(TimeUnit::Millisecond),
        None | Some(4..=6) => Some(TimeUnit::Microsecond),
        Some(7..=9) => Some(TimeUnit::Nanosecond),
        Some(_) => None,
    };
    let data_type = match (name, unsigned) {
        ("TINYINT", true) => T::UInt8,
        ("SMALLINT", true) => T::UInt16,
        ("INTEGER" | "INT", true) => T::UInt32,
        ("BIGINT", true) => T::UInt64,
        (_, true) => return None,
        ("TINYINT", _) => T::Int8,
        ("SMALLINT", _) => T::Int16,
        ("INTEGER" | "INT", _) => T::Int32,
        ("BIGINT", _) => T::Int64,
        ("BOOLEAN" | "BOOL", _) => T::Boolean,
        ("REAL", _) => T::Float32,
        ("DOUBLE" | "FLOAT", _) => T::Float64,
        ("VARCHAR" | "TEXT" | "STRING" | "CHAR" | "CHARACTER", _) => T::Utf8,
        ("BYTEA" | "BINARY" | "VARBINARY" | "BLOB", _) => T::Binary,
        ("DATE", _) => T::Date32,
        ("TIME", _) => match unit(numbers.first())? {
            unit @ (TimeUnit::Second | TimeUnit::Millisecond) => T::Time32(unit),
            unit => T::Time64(unit),
        },
        ("TIMESTAMP" | "DATETIME", _) => T::Timestamp(unit(numbers.first())?, zoned.then(|| "UTC".into())),
        ("TIMESTAMPTZ", _) => T::Timestamp(unit(numbers.first())?, Some("UTC".into())),
        ("DECIMAL" | "NUMERIC", _) => {
            let precision = numbers.first().copied().unwrap_or(38);
            let scale = i8::try_from(numbers.get(1).copied().unwrap_or(0)).ok()?;
            if !(1..=38).contains(&precision) || u8::try_from(scale).ok()? > precision {
                return None;
            }
            T::Decimal128(precision, scale)
        }
        ("JSON", _) => {
            return Some(ColumnType { kind: ValueKind::Json, ..ColumnType::plain(T::Utf8) });
        }
        _ => return None,
    };
    Some(ColumnType::plain(data_type))
}

/// Lists or sets of a type.
pub(super) fn several(item: &ColumnType, cardinality: Cardinality) -> ColumnType {
    ColumnType { cardinality, ..ColumnType::plain(list_of(item.data_type.clone())) }
}
