//! Checks of the ends of edges, on whole columns.

use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, UInt64Array};
use arrow_buffer::ScalarBuffer;
use isomorph_error::{Error, Place, Result};

use crate::rules;

/// Converts a row to an index of the files. A row of 2^63 or more becomes the largest index, which no row has.
pub(crate) fn as_index(row: u64) -> i64 {
    i64::try_from(row).unwrap_or(i64::MAX)
}

/// Returns the indexes of `rows` rows from `start` on.
pub(crate) fn indexes_from(start: u64, rows: usize) -> Int64Array {
    Int64Array::from_iter_values(as_index(start)..as_index(start.saturating_add(rows as u64)))
}

/// Returns the position of the first value outside `low..high`.
pub(crate) fn first_outside(values: &[i64], low: u64, high: u64) -> Option<usize> {
    // An index has 63 bits: if `high` has more, negative values are still outside.
    let width = high.min(1 << 63).saturating_sub(low);
    let outside = |value: &i64| value.cast_unsigned().wrapping_sub(low) >= width;
    // Without a branch in the loop, the compiler checks several values at once.
    let any = values.iter().fold(false, |any, value| any | outside(value));
    if any { values.iter().position(outside) } else { None }
}

/// Returns the position of the first value that is smaller than its predecessor.
pub(crate) fn first_descent(values: &[i64]) -> Option<usize> {
    let any = values.windows(2).fold(false, |any, pair| any | (pair[0] > pair[1]));
    if any { values.windows(2).position(|pair| pair[0] > pair[1]).map(|at| at + 1) } else { None }
}

/// Returns the indexes in a column; no row may be null.
///
/// # Errors
/// Returns [`rules::EDGE_NULL`] or [`rules::COLUMN_TYPE`].
pub(crate) fn indexes<'a>(column: &'a ArrayRef, name: &str, start: u64) -> Result<&'a Int64Array> {
    let Some(array) = column.as_primitive_opt::<Int64Type>() else {
        let message = format!("found {}, expected Int64", column.data_type());
        return Err(Error::broken(&rules::COLUMN_TYPE, message).at(Place::field(name)));
    };
    if array.null_count() > 0 {
        let row = (0..array.len()).find(|row| array.is_null(*row)).unwrap_or_default() as u64;
        return Err(Error::broken(&rules::EDGE_NULL, "the index is null").at(Place::field(name).row(start + row)));
    }
    Ok(array)
}

/// Returns the same values as rows, without a copy; they must not be negative.
pub(crate) fn as_rows(array: &Int64Array) -> UInt64Array {
    let values = array.values();
    UInt64Array::new(ScalarBuffer::new(values.inner().clone(), 0, values.len()), None)
}

/// The first and last aligned ends of the chunks of a part that have been read: the chunks may be read in
/// any order, and each pair of neighbours is compared as soon as both are known.
#[derive(Debug, Default)]
pub(crate) struct Bounds(Mutex<Vec<Option<Span>>>);

/// The first and last aligned ends of the edges that were read from a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub first: i64,
    pub last: i64,
    /// Whether these are all edges of the chunk.
    pub is_whole: bool,
}

/// The boundary between a chunk and the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Joint {
    /// The second chunk.
    pub chunk: u64,
    /// The last aligned end of the first.
    pub before: i64,
    /// The first aligned end of the second.
    pub behind: i64,
    /// Whether there are no other edges between these two.
    pub is_whole: bool,
}

impl Bounds {
    /// Returns the last aligned end of the chunk before `chunk`, if it is known.
    pub fn before(&self, chunk: u64) -> Option<i64> {
        let at = usize::try_from(chunk.checked_sub(1)?).ok()?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(at).copied().flatten().map(|span| span.last)
    }

    /// Records the span of chunk `chunk`, and returns its boundaries with those neighbours that are known.
    pub fn note(&self, chunk: u64, span: Span) -> impl Iterator<Item = Joint> + use<> {
        let at = usize::try_from(chunk).ok();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let joints = at.map(|at| {
            if known.len() <= at {
                known.resize(at + 1, None);
            }
            known[at] = Some(span);
            let before = at.checked_sub(1).and_then(|before| known.get(before).copied().flatten());
            let after = known.get(at + 1).copied().flatten();
            let joint = |chunk, before: Span, behind: Span| {
                let is_whole = before.is_whole && behind.is_whole;
                Joint { chunk, before: before.last, behind: behind.first, is_whole }
            };
            [before.map(|before| joint(chunk, before, span)), after.map(|after| joint(chunk + 1, span, after))]
        });
        joints.into_iter().flatten().flatten()
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
        assert_eq!(first_outside(&[5, -3], 0, u64::MAX), Some(1));
        assert_eq!(first_descent(&[1, 1, 2]), None);
        assert_eq!(first_descent(&[1, 3, 2, 1]), Some(2));
        assert_eq!(first_descent(&[]), None);
    }

    #[test]
    fn chunks_are_compared_with_their_neighbours_in_any_order() {
        let bounds = Bounds::default();
        let span = |first, last| Span { first, last, is_whole: true };
        let joints = |chunk, first, last| bounds.note(chunk, span(first, last)).collect::<Vec<_>>();
        assert_eq!(joints(2, 20, 29), []);
        assert_eq!(joints(0, 0, 9), []);
        let first = Joint { chunk: 1, before: 9, behind: 9, is_whole: true };
        assert_eq!(joints(1, 9, 21), [first, Joint { chunk: 2, before: 21, behind: 20, is_whole: true }]);
        assert_eq!((bounds.before(0), bounds.before(1), bounds.before(4)), (None, Some(9), None));
        assert_eq!(joints(0, 0, 8), [Joint { before: 8, ..first }]);
        let partly = bounds.note(0, Span { is_whole: false, ..span(0, 7) }).collect::<Vec<_>>();
        assert_eq!(partly, [Joint { before: 7, is_whole: false, ..first }]);
    }

    #[test]
    fn rows_share_the_memory_of_indexes() {
        let array = Int64Array::from(vec![1, 2, 3]).slice(1, 2);
        let rows = as_rows(&array);
        assert_eq!(rows.values().as_ref(), [2, 3]);
        assert_eq!(rows.values().as_ptr().cast::<i64>(), array.values().as_ptr());
    }
}
