//! A sum of row hashes that is equal for two copies of the same edges in any order.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, TimeUnit};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Number of rows and sum of their hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RowSum {
    pub rows: u64,
    sum: u128,
}

const NULL: u64 = 0x9E37_79B9_7F4A_7C15;

/// Folds a value into the hash of its row.
fn fold(hash: &mut u64, value: u64) {
    *hash = (*hash ^ value).wrapping_mul(0xFF51_AFD7_ED55_8CCD).rotate_left(31).wrapping_add(NULL);
}

impl RowSum {
    /// Adds rows whose columns are `ends` and `columns`.
    pub fn add(&mut self, ends: [&[i64]; 2], columns: &[ArrayRef]) {
        let mut hashes = vec![0u64; ends[0].len()];
        for values in ends {
            for (hash, value) in hashes.iter_mut().zip(values) {
                fold(hash, value.cast_unsigned());
            }
        }
        for column in columns {
            hash_column(column, &mut hashes);
        }
        self.rows += hashes.len() as u64;
        // The last step spreads small differences over all bits before the hashes are added.
        let spread = hashes.iter().map(|hash| u128::from(xxh3_64(&hash.to_le_bytes())));
        self.sum = spread.fold(self.sum, u128::wrapping_add);
    }
}

macro_rules! primitive {
    ($array:expr, $hashes:expr, $ty:ty, $bits:expr) => {{
        let array = $array.as_primitive::<$ty>();
        for (row, hash) in $hashes.iter_mut().enumerate() {
            let value = if array.is_null(row) { NULL } else { $bits(array.value(row)) };
            fold(hash, value);
        }
    }};
}

/// Folds each cell of `column` into the hash of its row.
fn hash_column(column: &ArrayRef, hashes: &mut [u64]) {
    match column.data_type() {
        DataType::Boolean => {
            let array = column.as_boolean();
            for (row, hash) in hashes.iter_mut().enumerate() {
                fold(hash, if array.is_null(row) { NULL } else { u64::from(array.value(row)) });
            }
        }
        DataType::Int32 => primitive!(column, hashes, Int32Type, |value| i64::from(value).cast_unsigned()),
        DataType::Int64 => primitive!(column, hashes, Int64Type, i64::cast_unsigned),
        DataType::Date32 => primitive!(column, hashes, Date32Type, |value| i64::from(value).cast_unsigned()),
        DataType::Float32 => primitive!(column, hashes, Float32Type, |value: f32| u64::from(value.to_bits())),
        DataType::Float64 => primitive!(column, hashes, Float64Type, f64::to_bits),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => primitive!(column, hashes, TimestampSecondType, i64::cast_unsigned),
            TimeUnit::Millisecond => primitive!(column, hashes, TimestampMillisecondType, i64::cast_unsigned),
            TimeUnit::Microsecond => primitive!(column, hashes, TimestampMicrosecondType, i64::cast_unsigned),
            TimeUnit::Nanosecond => primitive!(column, hashes, TimestampNanosecondType, i64::cast_unsigned),
        },
        DataType::Utf8 => {
            let array = column.as_string::<i32>();
            for (row, hash) in hashes.iter_mut().enumerate() {
                // The length makes the seed different from null, and the empty text different from the seed.
                let value = if array.is_null(row) { NULL } else { xxh3_64_with_seed(array.value(row).as_bytes(), 1) };
                fold(hash, value);
            }
        }
        DataType::List(_) => {
            let array = column.as_list::<i32>();
            let values = array.values();
            let mut items = vec![0u64; values.len()];
            hash_column(values, &mut items);
            for (row, hash) in hashes.iter_mut().enumerate() {
                if array.is_null(row) {
                    fold(hash, NULL);
                    continue;
                }
                let offsets = array.value_offsets();
                let (from, to) = (offsets[row].as_usize(), offsets[row + 1].as_usize());
                fold(hash, (to - from) as u64);
                items.get(from..to).unwrap_or_default().iter().for_each(|item| fold(hash, *item));
            }
        }
        // No other type is read.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::StringArray;

    use super::*;

    fn sum(source: &[i64], target: &[i64], texts: &[Option<&str>]) -> RowSum {
        let texts: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        let mut sum = RowSum::default();
        sum.add([source, target], &[texts]);
        sum
    }

    #[test]
    fn order_means_nothing_and_everything_else_something() {
        let one = sum(&[0, 1], &[5, 6], &[Some("a"), None]);
        assert_eq!(one, sum(&[1, 0], &[6, 5], &[None, Some("a")]));
        assert_ne!(one, sum(&[0, 1], &[6, 5], &[Some("a"), None]));
        assert_ne!(one, sum(&[0, 1], &[5, 6], &[None, Some("a")]));
        assert_ne!(one, sum(&[0, 1], &[5, 6], &[Some("a"), Some("")]));
        assert_ne!(one, sum(&[5, 6], &[0, 1], &[Some("a"), None]));
        assert_ne!(sum(&[0], &[1], &[None]), sum(&[0, 0], &[1, 1], &[None, None]));
    }
}
