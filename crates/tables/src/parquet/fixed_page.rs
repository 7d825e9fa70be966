//! Decodes fixed-width values of some rows of a page, for look-ups, directly from the page and without the overhead of
//! a scan.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBufferBuilder};
use arrow_schema::{DataType, TimeUnit};
use parquet::basic::{Encoding, Type};

use super::page_check::Column;
use super::page_rows::{PageRows, Reason, SHORT, keys};
use super::{delta, hybrid};

/// Integers, the bits of floats, and 0 and 1 for booleans; nulls are zeros.
#[derive(Debug)]
pub(super) struct Words {
    values: Vec<i64>,
    nulls: NullBufferBuilder,
}

/// Whether columns of this type with this storage can be decoded here.
pub(super) fn decodes(data_type: &DataType, column: Column) -> bool {
    use DataType as T;
    let stored = match data_type {
        T::Int64 | T::Duration(_) => Type::INT64,
        T::Timestamp(TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond, _) => Type::INT64,
        T::Int32 | T::Date32 => Type::INT32,
        T::Float32 => Type::FLOAT,
        T::Float64 => Type::DOUBLE,
        T::Boolean => Type::BOOLEAN,
        _ => return false,
    };
    column.physical == stored && column.max_repetition == 0 && column.max_definition <= 1
}

impl Words {
    pub(super) fn with_capacity(rows: usize) -> Self {
        Words { values: Vec::with_capacity(rows), nulls: NullBufferBuilder::new(rows) }
    }

    /// Appends the `rows` of a page (counted in the page). `dictionary` contains the plain values to which keys refer.
    pub(super) fn append(
        &mut self,
        column: Column,
        page: &PageRows<'_>,
        dictionary: Option<&[u8]>,
        rows: Range<usize>,
    ) -> Result<(), Reason> {
        let count = rows.len();
        let present = page.present(rows)?;
        let Some(levels) = present.rows else {
            self.nulls.append_n_non_nulls(count);
            return append_values(column, page, dictionary, present.values, &mut self.values);
        };
        let mut dense = Vec::new();
        append_values(column, page, dictionary, present.values, &mut dense)?;
        let mut dense = dense.into_iter();
        for level in levels {
            self.nulls.append(level == 1);
            self.values.push(if level == 1 { dense.next().ok_or(SHORT)? } else { 0 });
        }
        Ok(())
    }

    /// Appends the first `rows` plain values of `bytes`, which must not be null.
    pub(super) fn append_plain(&mut self, column: Column, bytes: &[u8], rows: usize) -> Result<(), Reason> {
        self.nulls.append_n_non_nulls(rows);
        append_plain(column, bytes, 0..rows, &mut self.values)
    }

    /// Returns the array of a type that [`decodes`].
    pub(super) fn finish(self, data_type: &DataType) -> Option<ArrayRef> {
        Some(match data_type {
            DataType::Int32 => self.primitive::<Int32Type>(low_half),
            DataType::Date32 => self.primitive::<Date32Type>(low_half),
            DataType::Float32 => self.primitive::<Float32Type>(|word| f32::from_bits(low_half(word).cast_unsigned())),
            DataType::Float64 => self.primitive::<Float64Type>(|word| f64::from_bits(word.cast_unsigned())),
            DataType::Boolean => {
                let Words { values, mut nulls } = self;
                let bits = BooleanBuffer::collect_bool(values.len(), |at| values[at] != 0);
                Arc::new(BooleanArray::new(bits, nulls.finish()))
            }
            DataType::Int64 => self.words::<Int64Type>(data_type),
            DataType::Duration(TimeUnit::Second) => self.words::<DurationSecondType>(data_type),
            DataType::Duration(TimeUnit::Millisecond) => self.words::<DurationMillisecondType>(data_type),
            DataType::Duration(TimeUnit::Microsecond) => self.words::<DurationMicrosecondType>(data_type),
            DataType::Duration(TimeUnit::Nanosecond) => self.words::<DurationNanosecondType>(data_type),
            DataType::Timestamp(TimeUnit::Millisecond, _) => self.words::<TimestampMillisecondType>(data_type),
            DataType::Timestamp(TimeUnit::Microsecond, _) => self.words::<TimestampMicrosecondType>(data_type),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => self.words::<TimestampNanosecondType>(data_type),
            _ => return None,
        })
    }

    fn primitive<T: ArrowPrimitiveType>(mut self, value: impl Fn(i64) -> T::Native) -> ArrayRef {
        let values = self.values.into_iter().map(value).collect();
        Arc::new(PrimitiveArray::<T>::new(values, self.nulls.finish()))
    }

    fn words<T: ArrowPrimitiveType<Native = i64>>(mut self, data_type: &DataType) -> ArrayRef {
        let array = PrimitiveArray::<T>::new(self.values.into(), self.nulls.finish());
        Arc::new(array.with_data_type(data_type.clone()))
    }
}

/// Appends the values with the numbers `wanted`, counted without nulls.
fn append_values(
    column: Column,
    page: &PageRows<'_>,
    dictionary: Option<&[u8]>,
    wanted: Range<usize>,
    out: &mut Vec<i64>,
) -> Result<(), Reason> {
    if wanted.is_empty() {
        return Ok(());
    }
    match page.encoding {
        Encoding::PLAIN => append_plain(column, page.values, wanted, out),
        Encoding::RLE if column.physical == Type::BOOLEAN => {
            let (length, runs) = page.values.split_first_chunk::<4>().ok_or(SHORT)?;
            let runs = runs.get(..u32::from_le_bytes(*length) as usize).ok_or(SHORT)?;
            let mut bits = Vec::with_capacity(wanted.len());
            hybrid::decode(runs, 1, wanted, &mut bits)?;
            out.extend(bits.into_iter().map(i64::from));
            Ok(())
        }
        Encoding::DELTA_BINARY_PACKED if matches!(column.physical, Type::INT32 | Type::INT64) => {
            let mut all = Vec::new();
            delta::decode(page.values, &mut 0, page.count, wanted.end, &mut all)?;
            let values = all.get(wanted).ok_or(SHORT)?;
            match column.physical {
                // Deltas of 32-bit columns wrap around at 32 bits.
                Type::INT32 => out.extend(values.iter().map(|value| i64::from(low_half(*value)))),
                _ => out.extend_from_slice(values),
            }
            Ok(())
        }
        Encoding::BYTE_STREAM_SPLIT if column.width > 1 => append_split(column, page.values, wanted, out),
        Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
            let dictionary = dictionary.ok_or("a page refers to a dictionary that does not exist")?;
            for key in keys(page.values, wanted)? {
                let key = key as usize;
                append_plain(column, dictionary, key..key + 1, out).map_err(|_| "a key is outside the dictionary")?;
            }
            Ok(())
        }
        _ => Err("the encoding of values is not supported by look-ups"),
    }
}

/// Appends the plain values with the numbers `wanted`.
fn append_plain(column: Column, bytes: &[u8], wanted: Range<usize>, out: &mut Vec<i64>) -> Result<(), Reason> {
    if column.physical == Type::BOOLEAN {
        if wanted.end.div_ceil(8) > bytes.len() {
            return Err(SHORT);
        }
        out.extend(wanted.map(|at| i64::from(bytes[at / 8] >> (at % 8) & 1)));
        return Ok(());
    }
    let end = wanted.end.checked_mul(column.width).ok_or(SHORT)?;
    let bytes = bytes.get(wanted.start * column.width..end).ok_or(SHORT)?;
    if column.width == 4 {
        let (values, _) = bytes.as_chunks::<4>();
        out.extend(values.iter().map(|value| i64::from(i32::from_le_bytes(*value))));
    } else {
        let (values, _) = bytes.as_chunks::<8>();
        out.extend(values.iter().map(|value| i64::from_le_bytes(*value)));
    }
    Ok(())
}

/// Appends values that are stored as all their first bytes, followed by all second ones, and so on.
fn append_split(column: Column, bytes: &[u8], wanted: Range<usize>, out: &mut Vec<i64>) -> Result<(), Reason> {
    let count = bytes.len() / column.width;
    if wanted.end > count {
        return Err(SHORT);
    }
    out.extend(wanted.map(|at| {
        let word = (0..column.width).rev().fold(0u64, |word, byte| word << 8 | u64::from(bytes[byte * count + at]));
        if column.width == 4 { i64::from(low_half(word.cast_signed())) } else { word.cast_signed() }
    }));
    Ok(())
}

/// Returns the 32 bits of a value that has no more.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "truncation to the low half is intended")]
fn low_half(word: i64) -> i32 {
    word as i32
}

/// Returns the offset of value number 0 in a page, if all its values are plain and there are no nulls among the first
/// `rows`, so that single values can be read without the rest of the page. `start` is the first part of the page.
pub(super) fn plain_values_at(column: Column, encoding: Encoding, start: &[u8], rows: usize) -> Option<usize> {
    if encoding != Encoding::PLAIN || column.physical == Type::BOOLEAN {
        return None;
    }
    if column.max_definition == 0 {
        return Some(0);
    }
    let (length, behind) = start.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let levels = behind.get(..length)?;
    hybrid::starts_with_run(levels, 1, 1, rows).then_some(4 + length)
}
