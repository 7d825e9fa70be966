//! Nulls and different values of columns.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayRef, downcast_primitive_array};
use arrow_buffer::ToByteSlice;
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_storage::{Budget, Reservation};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::nodes::unread;

/// Up to so many different values are counted exactly, if the budget has room for them.
const EXACT: u64 = 1 << 14;

/// Bytes of a set for each value.
const EACH: u64 = 32;

/// Registers of an estimate: 2¹⁴, whose standard error is 0.8 %.
const BITS: u32 = 14;

/// A number of different values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distinct {
    /// The number.
    pub values: u64,
    /// Whether every value was counted. Otherwise it is an estimate with a standard error of 0.8 %.
    pub exact: bool,
}

/// Counts nulls and different values of a column.
pub(crate) struct Sketch {
    pub nulls: u64,
    pub rows: u64,
    seen: HashSet<u64>,
    /// The most values of the set.
    most: usize,
    /// Instead of the set, if there are too many values for it.
    registers: Option<Vec<u8>>,
    _held: Option<Reservation>,
}

impl Sketch {
    /// The sketch of one of `columns` columns, which together take an eighth of the budget.
    pub fn new(budget: &Budget, columns: usize) -> Self {
        let most = EXACT.min(budget.limit() / 8 / columns.max(1) as u64 / EACH);
        let held = budget.try_reserve(most * EACH);
        let registers = held.is_none().then(|| vec![0; 1 << BITS]);
        let most = isomorph_error::index(most);
        Sketch { nulls: 0, rows: 0, seen: HashSet::new(), most, registers, _held: held }
    }

    /// Adds `rows` rows; `None` are nulls.
    ///
    /// # Errors
    /// If values have no text.
    pub fn add(&mut self, hashes: Option<&Hashes>, rows: u64) {
        self.rows += rows;
        let Some(hashes) = hashes else {
            self.nulls += rows;
            return;
        };
        self.nulls += hashes.nulls;
        hashes.values.iter().for_each(|hash| self.insert(*hash));
    }

    fn insert(&mut self, hash: u64) {
        match &mut self.registers {
            Some(registers) => register(registers, hash),
            None => {
                self.seen.insert(hash);
                if self.seen.len() > self.most {
                    let mut registers = vec![0; 1 << BITS];
                    self.seen.drain().for_each(|hash| register(&mut registers, hash));
                    (self.registers, self.seen) = (Some(registers), HashSet::new());
                }
            }
        }
    }

    pub fn distinct(&self) -> Distinct {
        match &self.registers {
            Some(registers) => Distinct { values: estimate(registers), exact: false },
            None => Distinct { values: self.seen.len() as u64, exact: true },
        }
    }
}

fn register(registers: &mut [u8], hash: u64) {
    let place = isomorph_error::index(hash >> (64 - BITS));
    // The rest, with a one behind it, so that there is an end.
    let rest = (hash << BITS) | (1 << (BITS - 1));
    let zeros = u8::try_from(rest.leading_zeros() + 1).unwrap_or(u8::MAX);
    if let Some(slot) = registers.get_mut(place) {
        *slot = zeros.max(*slot);
    }
}

/// The estimate of Flajolet and others (HyperLogLog), with their correction for small numbers.
fn estimate(registers: &[u8]) -> u64 {
    let count = registers.len() as f64;
    let sum: f64 = registers.iter().map(|zeros| 0.5f64.powi(i32::from(*zeros))).sum();
    let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
    let empty = registers.iter().filter(|zeros| **zeros == 0).count();
    let number = if raw <= 2.5 * count && empty > 0 { count * (count / empty as f64).ln() } else { raw };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive estimate")]
    let number = number.round() as u64;
    number
}

/// Hashes of the values of a column.
pub(crate) struct Hashes {
    nulls: u64,
    values: Vec<u64>,
}

impl Hashes {
    /// # Errors
    /// If values have no text.
    pub fn of(column: &ArrayRef) -> Result<Self> {
        let nulls = column.logical_null_count() as u64;
        let mut values = Vec::with_capacity(column.len());
        let array = column.as_ref();
        match array.data_type() {
            DataType::Utf8 => {
                values.extend(array.as_string::<i32>().iter().flatten().map(|text| xxh3_64(text.as_bytes())))
            }
            DataType::LargeUtf8 => {
                values.extend(array.as_string::<i64>().iter().flatten().map(|text| xxh3_64(text.as_bytes())));
            }
            DataType::Utf8View => {
                values.extend(array.as_string_view().iter().flatten().map(|text| xxh3_64(text.as_bytes())));
            }
            DataType::Binary => values.extend(array.as_binary::<i32>().iter().flatten().map(xxh3_64)),
            DataType::LargeBinary => values.extend(array.as_binary::<i64>().iter().flatten().map(xxh3_64)),
            DataType::Boolean => {
                values.extend(array.as_boolean().iter().flatten().map(|truth| xxh3_64(&[u8::from(truth)])))
            }
            DataType::Dictionary(_, value) => {
                let plain = cast(column, value).map_err(unread)?;
                return Hashes::of(&plain);
            }
            DataType::Null => {}
            _ => downcast_primitive_array! {
                array => {
                    values.extend(array.iter().flatten().map(|value| xxh3_64(value.to_byte_slice())));
                }
                _ => {
                    let options = FormatOptions::default();
                    let formatter = ArrayFormatter::try_new(array, &options).map_err(unread)?;
                    for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
                        let text = formatter.value(row).try_to_string().map_err(unread)?;
                        values.push(xxh3_64(text.as_bytes()));
                    }
                }
            },
        }
        Ok(Hashes { nulls, values })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{Float64Array, Int64Array, StringArray};

    use super::*;

    fn sketch(columns: &[ArrayRef]) -> Sketch {
        let mut sketch = Sketch::new(&Budget::new(64 << 20), 1);
        for column in columns {
            sketch.add(Some(&Hashes::of(column).unwrap()), column.len() as u64);
        }
        sketch
    }

    #[test]
    fn few_values_are_counted_and_many_are_estimated() {
        let few: ArrayRef =
            Arc::new(StringArray::from_iter((0..30_000).map(|at| (at % 3 > 0).then(|| format!("v{}", at % 1000)))));
        let found = sketch(&[Arc::clone(&few), few]);
        assert_eq!(
            (found.nulls, found.rows, found.distinct()),
            (20_000, 60_000, Distinct { values: 1000, exact: true })
        );
        for count in [20_000i64, 100_000, 1_000_000] {
            let many: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count));
            let found = sketch(&[Arc::clone(&many), many]).distinct();
            let error = (found.values as f64 / count as f64 - 1.0).abs();
            assert!(!found.exact && error < 0.03, "{count}: {found:?}");
        }
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.5), None, Some(1.5), Some(f64::NAN)]));
        assert_eq!(sketch(&[floats]).distinct(), Distinct { values: 2, exact: true });
    }
}
