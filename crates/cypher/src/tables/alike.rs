//! Rows that look alike in some columns, so that one of them can stand for all.

use std::hash::Hash;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use hashbrown::HashMap;

/// Rows that are looked at before it is decided whether enough of them are alike.
const FIRST: usize = 1024;

/// The different rows, in their order, and how many matches each stands for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Alike {
    pub(super) rows: Vec<u32>,
    pub(super) times: Vec<u64>,
}

/// A number for each row of a column: the same for equal cells.
#[derive(Debug, Default, Clone)]
pub(super) struct Codes {
    of_rows: Vec<u32>,
    count: u32,
}

/// Numbers what is new.
struct Numbers<K> {
    known: HashMap<K, u32>,
}

impl<K: Hash + Eq> Numbers<K> {
    fn of(&mut self, key: K, count: &mut u32) -> u32 {
        *self.known.entry(key).or_insert_with(|| {
            *count += 1;
            *count - 1
        })
    }
}

impl Codes {
    /// The numbers of a column in several arrays; `None` if its type is not compared here, or if most of its cells differ.
    pub(super) fn of(arrays: &[ArrayRef]) -> Option<Codes> {
        let mut codes = Codes::default();
        codes.of_rows.reserve_exact(arrays.iter().map(|array| array.len()).sum());
        let (mut texts, mut wholes) = (Numbers { known: HashMap::new() }, Numbers { known: HashMap::new() });
        // Null is a value, too.
        let mut null = None;
        for array in arrays {
            codes.add(array, &mut texts, &mut wholes, &mut null)?;
        }
        Some(codes)
    }

    fn add<'a>(
        &mut self,
        array: &'a ArrayRef,
        texts: &mut Numbers<&'a str>,
        wholes: &mut Numbers<[u8; 8]>,
        null: &mut Option<u32>,
    ) -> Option<()> {
        let data = array.to_data();
        let width = array.data_type().primitive_width().filter(|width| *width <= 8);
        let (bytes, offset) = (data.buffers().first(), array.offset());
        for row in 0..array.len() {
            let code = if array.is_null(row) {
                *null.get_or_insert_with(|| {
                    self.count += 1;
                    self.count - 1
                })
            } else {
                match (array.data_type(), width) {
                    (DataType::Utf8, _) => texts.of(array.as_string::<i32>().value(row), &mut self.count),
                    (DataType::LargeUtf8, _) => texts.of(array.as_string::<i64>().value(row), &mut self.count),
                    (DataType::Boolean, _) => wholes.of([u8::from(array.as_boolean().value(row)); 8], &mut self.count),
                    (_, Some(width)) => {
                        let cell = bytes?.as_slice().get((offset + row) * width..(offset + row + 1) * width)?;
                        let mut key = [0; 8];
                        key.get_mut(..width)?.copy_from_slice(cell);
                        wholes.of(key, &mut self.count)
                    }
                    _ => return None,
                }
            };
            self.of_rows.push(code);
            if self.of_rows.len() >= FIRST && self.of_rows.len().is_multiple_of(FIRST) && !self.pays() {
                return None;
            }
        }
        Some(())
    }

    /// Whether at most half of the rows differ.
    fn pays(&self) -> bool {
        self.count as usize <= self.of_rows.len() / 2
    }

    /// The numbers of pairs.
    fn and(self, other: &Codes) -> Codes {
        let mut both = Codes::default();
        let mut pairs = Numbers { known: HashMap::new() };
        let codes = self.of_rows.iter().zip(&other.of_rows);
        both.of_rows = codes.map(|(own, other)| pairs.of((*own, *other), &mut both.count)).collect();
        both
    }

    /// The numbers in another order of rows, `count` of them; rows that there are none of look alike.
    pub(super) fn in_order(self, rows: &[usize], count: usize) -> Codes {
        let of = |row: &usize| self.of_rows.get(*row).copied().unwrap_or(self.count);
        Codes { of_rows: rows.iter().map(of).collect(), count: self.count + 1 }.padded(count)
    }

    /// The numbers of `count` rows; those that there are none of look alike.
    pub(super) fn padded(mut self, count: usize) -> Codes {
        if self.of_rows.len() < count {
            self.of_rows.resize(count, self.count);
            self.count += 1;
        }
        self
    }
}

/// The different rows among those in `rows`, by the numbers of their cells: all columns have as many. `times` is how many matches a row stands
/// for; those of none are left out. `None` if most of them differ.
pub(super) fn alike(
    columns: Vec<Codes>,
    rows: impl Iterator<Item = u32>,
    times: impl Fn(usize) -> u64,
) -> Option<Alike> {
    let mut columns = columns.into_iter();
    let first = columns.next()?;
    let codes = columns.fold(first, |all, one| all.and(&one));
    if !codes.pays() {
        return None;
    }
    let mut place = vec![u32::MAX; codes.count as usize];
    let mut found = Alike::default();
    for row in rows {
        let weight = times(row as usize);
        if weight == 0 {
            continue;
        }
        let place = place.get_mut(*codes.of_rows.get(row as usize)? as usize)?;
        if *place == u32::MAX {
            *place = u32::try_from(found.rows.len()).ok()?;
            found.rows.push(row);
            found.times.push(weight);
        } else if let Some(sum) = found.times.get_mut(*place as usize) {
            *sum = sum.saturating_add(weight);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Float64Array, Int32Array, ListArray, StringArray};

    use super::*;

    fn codes(arrays: &[ArrayRef]) -> Option<Vec<u32>> {
        Codes::of(arrays).map(|codes| codes.of_rows)
    }

    #[test]
    fn equal_cells_have_equal_numbers() {
        let texts = |all: &[Option<&str>]| Arc::new(StringArray::from(all.to_vec())) as ArrayRef;
        let one = texts(&[Some("a"), None, Some(""), Some("a")]);
        assert_eq!(codes(&[Arc::clone(&one), one.slice(1, 2)]), Some(vec![0, 1, 2, 0, 1, 2]));
        let ints: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), Some(-1), None, Some(7)]));
        assert_eq!(codes(&[ints.slice(1, 3)]), Some(vec![0, 1, 2]));
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.5, f64::NAN, f64::NAN, 0.5]));
        assert_eq!(codes(&[floats]), Some(vec![0, 1, 1, 0]));
        assert_eq!(codes(&[Arc::new(BooleanArray::from(vec![true, false, true]))]), Some(vec![0, 1, 0]));
        let lists = ListArray::new_null(Arc::new(arrow_schema::Field::new("item", DataType::Int32, true)), 0);
        assert_eq!(codes(&[Arc::new(lists)]), Some(vec![]));
        let different: ArrayRef = Arc::new(Int32Array::from_iter_values(0..5000));
        assert_eq!(codes(&[different]), None);
    }

    #[test]
    fn one_row_stands_for_those_that_look_alike() {
        let column = |of_rows: &[u32], count| Codes { of_rows: of_rows.to_vec(), count };
        let two = || vec![column(&[0, 0, 1, 0, 1, 1], 2), column(&[0, 1, 0, 0, 0, 0], 2)];
        let found = alike(two(), 0..6, |row| [1, 2, 0, 4, 8, 16][row]);
        assert_eq!(found, Some(Alike { rows: vec![0, 1, 4], times: vec![5, 2, 24] }));
        let some = alike(two(), [3, 5].into_iter(), |_| 1);
        assert_eq!(some, Some(Alike { rows: vec![3, 5], times: vec![1, 1] }));
        assert_eq!(alike(vec![column(&[0, 1, 2], 3)], 0..3, |_| 1), None);
        let moved = column(&[0, 0, 1, 1], 2).in_order(&[3, usize::MAX, 0, 1, 9, 9], 7);
        assert_eq!((moved.of_rows, moved.count), (vec![1, 2, 0, 0, 2, 2, 3], 4));
    }
}
