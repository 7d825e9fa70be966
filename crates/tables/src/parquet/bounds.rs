//! Converts statistics to bounds: of a column chunk from the footer, and of a page from the column index.

use arrow_schema::DataType;
use isomorph_error::Result;
use parquet::basic::Type;
use parquet::file::metadata::ColumnChunkMetaData;

use super::file::ParquetFile;
use super::page_index::PageBounds;
use isomorph_model::predicate::{Bounds, Value, nanoseconds, value_type};

/// Returns the bounds of `column` in row group `group`.
pub(super) fn of_group(file: &ParquetFile, group: usize, column: usize) -> Result<Bounds> {
    let Some(leaf) = file.columns.flat_leaf(column) else { return Ok(Bounds::UNKNOWN) };
    let chunk = file.chunk(group, leaf)?;
    let Some(statistics) = chunk.statistics() else { return Ok(Bounds::UNKNOWN) };
    let data_type = value_type(file.columns.decoded_type(column));
    // The first definition of these fields compared all values as signed.
    let trusted = !statistics.is_min_max_deprecated() || is_signed(data_type);
    let bound = |bytes: Option<&[u8]>| bytes.filter(|_| trusted).and_then(|bytes| value(data_type, chunk, bytes));
    let rows = file.rows_of(group);
    Ok(Bounds {
        least: bound(statistics.min_bytes_opt()),
        greatest: bound(statistics.max_bytes_opt()),
        some_null: statistics.null_count_opt() != Some(0),
        all_null: statistics.null_count_opt() == Some(rows.end - rows.start),
        some_nan: data_type.is_floating(),
    })
}

/// Returns the bounds of a page of `column`.
pub(super) fn of_page(file: &ParquetFile, group: usize, column: usize, page: &PageBounds) -> Result<Bounds> {
    let Some(leaf) = file.columns.flat_leaf(column) else { return Ok(Bounds::UNKNOWN) };
    let chunk = file.chunk(group, leaf)?;
    let data_type = value_type(file.columns.decoded_type(column));
    let bound = |bytes: &[u8]| if page.all_null { None } else { value(data_type, chunk, bytes) };
    Ok(Bounds {
        least: bound(&page.least),
        greatest: bound(&page.greatest),
        some_null: page.all_null || page.nulls != Some(0),
        all_null: page.all_null,
        some_nan: data_type.is_floating(),
    })
}

fn is_signed(data_type: &DataType) -> bool {
    data_type.is_signed_integer()
        || data_type.is_floating()
        || matches!(data_type, DataType::Date32 | DataType::Timestamp(_, _))
}

/// Decodes a bound from the plain encoding of the column's physical type; `None` if it is not meaningful here.
fn value(data_type: &DataType, chunk: &ColumnChunkMetaData, bytes: &[u8]) -> Option<Value> {
    let int32 = || bytes.try_into().ok().map(i32::from_le_bytes);
    let int64 = || bytes.try_into().ok().map(i64::from_le_bytes);
    let float = |value: f64| (!value.is_nan()).then_some(Value::Float(value));
    match (data_type, chunk.column_type()) {
        (DataType::Boolean, Type::BOOLEAN) => bytes.first().map(|byte| Value::Int((*byte != 0).into())),
        (DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Date32, Type::INT32) => {
            int32().map(|value| Value::Int(value.into()))
        }
        (DataType::UInt8 | DataType::UInt16 | DataType::UInt32, Type::INT32) => {
            int32().map(|value| Value::Int(value.cast_unsigned().into()))
        }
        (DataType::Int64, Type::INT64) => int64().map(|value| Value::Int(value.into())),
        (DataType::UInt64, Type::INT64) => int64().map(|value| Value::Int(value.cast_unsigned().into())),
        (DataType::Timestamp(unit, _), Type::INT64) => {
            int64().map(|value| Value::Int(i128::from(value) * nanoseconds(unit)))
        }
        (DataType::Float32, Type::FLOAT) => {
            bytes.try_into().ok().and_then(|bytes| float(f32::from_le_bytes(bytes).into()))
        }
        (DataType::Float64, Type::DOUBLE) => bytes.try_into().ok().and_then(|bytes| float(f64::from_le_bytes(bytes))),
        (
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Binary | DataType::LargeBinary,
            Type::BYTE_ARRAY,
        ) => Some(Value::Bytes(bytes.to_vec())),
        _ => None,
    }
}
