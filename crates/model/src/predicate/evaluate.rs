//! Which rows of a batch pass.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, i256};
use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Result};

use super::bind::{nanoseconds, value_type};
use super::like::Pattern;
use super::value::{Decimal, order_int_float};
use super::{BoundPredicate, Comparison, Set, Value};

/// For each row whether the condition is true, and whether it is false; neither when it is unknown.
struct Truth {
    yes: BooleanBuffer,
    no: BooleanBuffer,
}

impl BoundPredicate {
    /// The rows of `columns` (by the positions that the condition was bound to, all of `rows` rows) that pass.
    pub(super) fn evaluate(&self, columns: &[ArrayRef], rows: usize) -> Result<BooleanBuffer> {
        Ok(self.truth(columns, rows)?.yes)
    }

    fn truth(&self, columns: &[ArrayRef], rows: usize) -> Result<Truth> {
        let column = |at: usize| columns.get(at).ok_or_else(|| Error::usage("a condition looks at a missing column"));
        Ok(match self {
            BoundPredicate::Compare { column: at, comparison, value } => compare(column(*at)?, *comparison, value)?,
            BoundPredicate::Like { column: at, pattern } => like(column(*at)?, pattern)?,
            BoundPredicate::Has { column: at, value } => has(column(*at)?, value)?,
            BoundPredicate::In { column: at, set } => among(column(*at)?, set)?,
            BoundPredicate::IsNull(at) => {
                let no = present(column(*at)?);
                Truth { yes: !&no, no }
            }
            BoundPredicate::IsNotNull(at) => {
                let yes = present(column(*at)?);
                Truth { no: !&yes, yes }
            }
            BoundPredicate::And(list) => {
                let mut all = Truth { yes: BooleanBuffer::new_set(rows), no: BooleanBuffer::new_unset(rows) };
                for one in list {
                    let one = one.truth(columns, rows)?;
                    all = Truth { yes: &all.yes & &one.yes, no: &all.no | &one.no };
                }
                all
            }
            BoundPredicate::Or(list) => {
                let mut any = Truth { yes: BooleanBuffer::new_unset(rows), no: BooleanBuffer::new_set(rows) };
                for one in list {
                    let one = one.truth(columns, rows)?;
                    any = Truth { yes: &any.yes | &one.yes, no: &any.no & &one.no };
                }
                any
            }
            BoundPredicate::Not(one) => {
                let one = one.truth(columns, rows)?;
                Truth { yes: one.no, no: one.yes }
            }
        })
    }
}

/// The rows that are not null.
fn present(array: &ArrayRef) -> BooleanBuffer {
    match array.logical_nulls() {
        Some(nulls) => nulls.inner().clone(),
        None => BooleanBuffer::new_set(array.len()),
    }
}

fn compare(array: &ArrayRef, comparison: Comparison, value: &Value) -> Result<Truth> {
    let plain = value_type(array.data_type());
    if plain != array.data_type() {
        let values =
            arrow_cast::cast(array, plain).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
        return compare(&values, comparison, value);
    }
    let holds = match array.data_type() {
        DataType::Int8 => whole::<Int8Type>(array, comparison, value, 1),
        DataType::Int16 => whole::<Int16Type>(array, comparison, value, 1),
        DataType::Int32 => whole::<Int32Type>(array, comparison, value, 1),
        DataType::Int64 => whole::<Int64Type>(array, comparison, value, 1),
        DataType::UInt8 => whole::<UInt8Type>(array, comparison, value, 1),
        DataType::UInt16 => whole::<UInt16Type>(array, comparison, value, 1),
        DataType::UInt32 => whole::<UInt32Type>(array, comparison, value, 1),
        DataType::UInt64 => whole::<UInt64Type>(array, comparison, value, 1),
        DataType::Date32 => whole::<Date32Type>(array, comparison, value, 1),
        DataType::Date64 => whole::<Date64Type>(array, comparison, value, 1),
        DataType::Time32(TimeUnit::Second) => whole::<Time32SecondType>(array, comparison, value, 1_000_000_000),
        DataType::Time32(_) => whole::<Time32MillisecondType>(array, comparison, value, 1_000_000),
        DataType::Time64(TimeUnit::Microsecond) => whole::<Time64MicrosecondType>(array, comparison, value, 1000),
        DataType::Time64(_) => whole::<Time64NanosecondType>(array, comparison, value, 1),
        DataType::Decimal128(_, scale) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            decimals(array.len(), comparison, value, *scale, |row| i256::from_i128(values[row]))
        }
        DataType::Decimal256(_, scale) => {
            let values = array.as_primitive::<Decimal256Type>().values();
            decimals(array.len(), comparison, value, *scale, |row| values[row])
        }
        DataType::Null => BooleanBuffer::new_unset(array.len()),
        DataType::Timestamp(unit, _) => {
            let scale = nanoseconds(unit);
            match unit {
                TimeUnit::Second => whole::<TimestampSecondType>(array, comparison, value, scale),
                TimeUnit::Millisecond => whole::<TimestampMillisecondType>(array, comparison, value, scale),
                TimeUnit::Microsecond => whole::<TimestampMicrosecondType>(array, comparison, value, scale),
                TimeUnit::Nanosecond => whole::<TimestampNanosecondType>(array, comparison, value, scale),
            }
        }
        DataType::Float32 => floating::<Float32Type>(array, comparison, value),
        DataType::Float64 => floating::<Float64Type>(array, comparison, value),
        DataType::Boolean => {
            let bits = array.as_boolean().values();
            test(array.len(), comparison, |row| Value::Int(bits.value(row).into()).order(value))
        }
        DataType::Utf8 => bytes::<arrow_array::types::Utf8Type>(array, comparison, value),
        DataType::LargeUtf8 => bytes::<arrow_array::types::LargeUtf8Type>(array, comparison, value),
        DataType::Utf8View => views(array, comparison, value),
        DataType::Binary => bytes::<arrow_array::types::BinaryType>(array, comparison, value),
        DataType::LargeBinary => bytes::<arrow_array::types::LargeBinaryType>(array, comparison, value),
        other => return Err(Error::unsupported(format!("conditions on columns of type {other}"))),
    };
    let present = present(array);
    Ok(Truth { yes: &holds & &present, no: &!&holds & &present })
}

fn decimals(
    rows: usize,
    comparison: Comparison,
    value: &Value,
    scale: i8,
    digits: impl Fn(usize) -> i256,
) -> BooleanBuffer {
    match value {
        Value::Decimal(literal) => test(rows, comparison, |row| Some(Decimal::new(digits(row), scale).order(*literal))),
        _ => BooleanBuffer::new_unset(rows),
    }
}

fn like(array: &ArrayRef, pattern: &Pattern) -> Result<Truth> {
    let texts = arrow_cast::cast(array, &DataType::LargeUtf8)
        .map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    let values = texts.as_string::<i64>();
    let holds = BooleanBuffer::collect_bool(values.len(), |row| pattern.matches(values.value(row)));
    let present = present(&texts);
    Ok(Truth { yes: &holds & &present, no: &!&holds & &present })
}

fn has(array: &ArrayRef, value: &Value) -> Result<Truth> {
    let lists = match array.data_type() {
        DataType::List(item) => {
            let wide = DataType::LargeList(item.clone());
            arrow_cast::cast(array, &wide).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?
        }
        _ => array.clone(),
    };
    let Some(lists) = lists.as_list_opt::<i64>() else {
        return Err(Error::unsupported(format!("values of columns of type {}", array.data_type())));
    };
    let equal = compare(lists.values(), Comparison::Equal, value)?.yes;
    let offsets = lists.value_offsets();
    let holds = BooleanBuffer::collect_bool(lists.len(), |row| {
        (offsets[row]..offsets[row + 1]).any(|at| equal.value(isomorph_error::index(at.unsigned_abs())))
    });
    let present = present(array);
    Ok(Truth { yes: &holds & &present, no: &!&holds & &present })
}

fn among(array: &ArrayRef, set: &Set) -> Result<Truth> {
    fn ints<T: ArrowPrimitiveType>(array: &ArrayRef, set: &Set) -> BooleanBuffer
    where
        T::Native: Into<i128>,
    {
        let values = array.as_primitive::<T>().values();
        BooleanBuffer::collect_bool(values.len(), |row| set.has_int(values[row].into()))
    }
    if let DataType::Dictionary(_, plain) = array.data_type() {
        let plain =
            arrow_cast::cast(array, plain).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
        return among(&plain, set);
    }
    let holds = match array.data_type() {
        DataType::Int8 => ints::<Int8Type>(array, set),
        DataType::Int16 => ints::<Int16Type>(array, set),
        DataType::Int32 => ints::<Int32Type>(array, set),
        DataType::Int64 => ints::<Int64Type>(array, set),
        DataType::UInt8 => ints::<UInt8Type>(array, set),
        DataType::UInt16 => ints::<UInt16Type>(array, set),
        DataType::UInt32 => ints::<UInt32Type>(array, set),
        DataType::UInt64 => ints::<UInt64Type>(array, set),
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            BooleanBuffer::collect_bool(texts.len(), |row| set.has_text(texts.value(row)))
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            BooleanBuffer::collect_bool(texts.len(), |row| set.has_text(texts.value(row)))
        }
        DataType::Utf8View => {
            let texts = array.as_string_view();
            BooleanBuffer::collect_bool(texts.len(), |row| set.has_text(texts.value(row)))
        }
        DataType::Null => BooleanBuffer::new_unset(array.len()),
        other => return Err(Error::unsupported(format!("a set of values of type {other}"))),
    };
    let present = present(array);
    Ok(Truth { yes: &holds & &present, no: &!&holds & &present })
}

fn test(rows: usize, comparison: Comparison, order: impl Fn(usize) -> Option<Ordering>) -> BooleanBuffer {
    BooleanBuffer::collect_bool(rows, |row| comparison.holds(order(row)))
}

fn whole<T: ArrowPrimitiveType>(array: &ArrayRef, comparison: Comparison, value: &Value, scale: i128) -> BooleanBuffer
where
    T::Native: Into<i128>,
{
    let values = array.as_primitive::<T>().values();
    let at = |row: usize| -> i128 { values[row].into() * scale };
    match value {
        Value::Int(literal) => test(array.len(), comparison, |row| Some(at(row).cmp(literal))),
        Value::Float(literal) => test(array.len(), comparison, |row| order_int_float(at(row), *literal)),
        Value::Decimal(literal) => test(array.len(), comparison, |row| Some(Decimal::whole(at(row)).order(*literal))),
        Value::Bytes(_) => BooleanBuffer::new_unset(array.len()),
    }
}

fn floating<T: ArrowPrimitiveType>(array: &ArrayRef, comparison: Comparison, value: &Value) -> BooleanBuffer
where
    T::Native: Into<f64>,
{
    let values = array.as_primitive::<T>().values();
    let at = |row: usize| -> f64 { values[row].into() };
    match value {
        Value::Int(literal) => {
            test(array.len(), comparison, |row| order_int_float(*literal, at(row)).map(Ordering::reverse))
        }
        Value::Float(literal) => test(array.len(), comparison, |row| at(row).partial_cmp(literal)),
        Value::Bytes(_) | Value::Decimal(_) => BooleanBuffer::new_unset(array.len()),
    }
}

fn views(array: &ArrayRef, comparison: Comparison, value: &Value) -> BooleanBuffer {
    let values = array.as_string_view();
    match value {
        Value::Bytes(literal) => {
            test(array.len(), comparison, |row| Some(values.value(row).as_bytes().cmp(literal.as_slice())))
        }
        _ => BooleanBuffer::new_unset(array.len()),
    }
}

fn bytes<T: ByteArrayType>(array: &ArrayRef, comparison: Comparison, value: &Value) -> BooleanBuffer {
    let values = array.as_bytes::<T>();
    match value {
        Value::Bytes(literal) => test(array.len(), comparison, |row| {
            let value: &[u8] = values.value(row).as_ref();
            Some(value.cmp(literal.as_slice()))
        }),
        _ => BooleanBuffer::new_unset(array.len()),
    }
}
