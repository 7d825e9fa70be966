//! Checks of the ends of edges, over whole columns at once.

use std::sync::Mutex;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, UInt64Array};
use arrow_buffer::ScalarBuffer;
use isomorph_error::{Error, Place, Result};

use crate::rules;

/// The first position of a value outside `low..high`.
pub(crate) fn first_outside(values: &[i64], low: u64, high: u64) -> Option<usize> {
    let width = high.saturating_sub(low);
    let outside = |value: &i64| (*value as u64).wrapping_sub(low) >= width;
    // Without a branch in the loop the compiler checks several values at once.
    let any = values.iter().fold(false, |any, value| any | outside(value));
    if any { values.iter().position(outside) } else { None }
}

/// The first position of a value that is smaller than the one before.
pub(crate) fn first_descent(values: &[i64]) -> Option<usize> {
    let any = values.windows(2).fold(false, |any, pair| any | (pair[0] > pair[1]));
    if any { values.windows(2).position(|pair| pair[0] > pair[1]).map(|at| at + 1) } else { None }
}

/// The indexes in a column; no row may be null.
///
/// # Errors
/// [`rules::EDGE_NULL`], [`rules::COLUMN_TYPE`].
pub(crate) fn indexes<'a>(column: &'a ArrayRef, name: &str, start: u64) -> Result<&'a Int64Array> {
    let Some(array) = column.as_primitive_opt::<Int64Type>() else {
        let message = format!("{} instead of Int64", column.data_type());
        return Err(Error::broken(&rules::COLUMN_TYPE, message).at(Place::field(name)));
    };
    if array.null_count() > 0 {
        let row = (0..array.len()).find(|row| array.is_null(*row)).unwrap_or_default() as u64;
        return Err(Error::broken(&rules::EDGE_NULL, "the index is null").at(Place::field(name).row(start + row)));
    }
    Ok(array)
}

/// The same values as rows; they were found not to be negative. No copy.
pub(crate) fn as_rows(array: &Int64Array) -> UInt64Array {
    let values = array.values();
    UInt64Array::new(ScalarBuffer::new(values.inner().clone(), 0, values.len()), None)
}

/// First and last aligned ends of the chunks of a part, as far as they were read: the chunks of a part may be read in
/// any order, and each pair of neighbours is compared when the second of them is known.
#[derive(Debug, Default)]
pub(crate) struct Bounds(Mutex<Vec<Option<(i64, i64)>>>);

impl Bounds {
    /// Notes the bounds of chunk `chunk`, and returns whether it fits its neighbours: the chunk that begins too low.
    pub fn note(&self, chunk: u64, first: i64, last: i64) -> Option<u64> {
        let at = usize::try_from(chunk).ok()?;
        let mut known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if known.len() <= at {
            known.resize(at + 1, None);
        }
        known[at] = Some((first, last));
        let before = at.checked_sub(1).and_then(|before| known.get(before).copied().flatten());
        let after = known.get(at + 1).copied().flatten();
        if before.is_some_and(|(_, end)| end > first) {
            return Some(chunk);
        }
        after.is_some_and(|(begin, _)| last > begin).then_some(chunk + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_or_descends_is_found() {
        assert_eq!(first_outside(&[5, 9, 5], 5, 10), None);
        assert_eq!(first_outside(&[5, 10], 5, 10), Some(1));
        assert_eq!(first_outside(&[5, -1], 0, 10), Some(1));
        assert_eq!(first_outside(&[i64::MIN], 0, u64::MAX >> 1), Some(0));
        assert_eq!(first_outside(&[0], 0, 0), Some(0));
        assert_eq!(first_descent(&[1, 1, 2]), None);
        assert_eq!(first_descent(&[1, 3, 2, 1]), Some(2));
        assert_eq!(first_descent(&[]), None);
    }

    #[test]
    fn chunks_are_compared_with_their_neighbours_in_any_order() {
        let bounds = Bounds::default();
        assert_eq!(bounds.note(2, 20, 29), None);
        assert_eq!(bounds.note(0, 0, 9), None);
        assert_eq!(bounds.note(1, 9, 21), Some(2));
        assert_eq!(bounds.note(1, 8, 20), Some(1));
        assert_eq!(bounds.note(1, 9, 20), None);
    }

    #[test]
    fn rows_share_the_memory_of_indexes() {
        let array = Int64Array::from(vec![1, 2, 3]).slice(1, 2);
        let rows = as_rows(&array);
        assert_eq!(rows.values().as_ref(), [2, 3]);
        assert_eq!(rows.values().as_ptr().cast::<i64>(), array.values().as_ptr());
    }
}
