//! Selects the columns and rows to read.

use std::ops::Range;

use isomorph_error::{Error, Result};

use isomorph_model::Predicate;

/// The default number of rows in a batch.
pub const BATCH_ROWS: usize = 8192;

/// The columns and rows to read, and the size of batches. The default reads everything.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) rows: Option<Vec<Range<u64>>>,
    pub(crate) row_groups: Option<Range<usize>>,
    pub(crate) filter: Option<Predicate>,
    pub(crate) batch_rows: Option<usize>,
    pub(crate) row_numbers: Option<String>,
    pub(crate) check_indexes: bool,
}

impl Selection {
    /// Selects everything.
    pub fn all() -> Self {
        Selection::default()
    }

    /// Selects only these columns, in this order.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Selects only these rows of the file, from 0. Ranges must be sorted and must not overlap.
    pub fn rows(mut self, rows: impl IntoIterator<Item = Range<u64>>) -> Self {
        self.rows = Some(rows.into_iter().collect());
        self
    }

    /// Selects only these row groups (Parquet) or stripes (ORC), which several threads can read concurrently.
    pub fn row_groups(mut self, row_groups: Range<usize>) -> Self {
        self.row_groups = Some(row_groups);
        self
    }

    /// Selects only rows that match the filter.
    pub fn filter(mut self, filter: Predicate) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets the maximum number of rows in a batch.
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = Some(rows.max(1));
        self
    }

    /// Adds a last column of this name with each row's number in the file (`Int64`, from 0).
    pub fn row_numbers(mut self, column: impl Into<String>) -> Self {
        self.row_numbers = Some(column.into());
        self
    }

    /// Compares the data with the page indexes and statistics of Parquet, on which look-ups and filters rely but
    /// full scans do not: a difference is an error of rule `PARQUET-INDEX`. Columns that are not read are
    /// not compared. Other encodings have nothing to compare.
    pub fn check_indexes(mut self) -> Self {
        self.check_indexes = true;
        self
    }

    pub(crate) fn rows_of_a_batch(&self) -> usize {
        self.batch_rows.unwrap_or(BATCH_ROWS)
    }

    /// Returns the rows without empty ranges, after checking that they are sorted and do not overlap; `None` if all rows
    /// are selected.
    pub(crate) fn checked_rows(&self) -> Result<Option<Vec<Range<u64>>>> {
        let Some(rows) = &self.rows else { return Ok(None) };
        let rows: Vec<Range<u64>> = rows.iter().filter(|range| !range.is_empty()).cloned().collect();
        if rows.windows(2).any(|pair| pair[0].end > pair[1].start) {
            return Err(Error::usage("ranges of rows must be in order and must not overlap"));
        }
        Ok(Some(rows))
    }
}

/// Returns the parts of `ranges` (sorted, without overlap) that are in `within`.
pub(crate) fn intersect(ranges: &[Range<u64>], within: &Range<u64>) -> Vec<Range<u64>> {
    let from = ranges.partition_point(|range| range.end <= within.start);
    ranges[from..]
        .iter()
        .take_while(|range| range.start < within.end)
        .map(|range| range.start.max(within.start)..range.end.min(within.end))
        .collect()
}

/// Returns the number of rows in `ranges`.
pub(crate) fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Returns the row at a position in `ranges`.
pub(crate) fn nth(ranges: &[Range<u64>], mut position: u64) -> Option<u64> {
    for range in ranges {
        let length = range.end.saturating_sub(range.start);
        if position < length {
            return Some(range.start + position);
        }
        position -= length;
    }
    None
}

/// Removes the first `rows` rows from `ranges` and returns them.
pub(crate) fn take_front(ranges: &mut Vec<Range<u64>>, mut rows: u64) -> Vec<Range<u64>> {
    let mut taken = Vec::new();
    let mut whole = 0;
    for range in ranges.iter_mut() {
        if rows == 0 {
            break;
        }
        let length = range.end - range.start;
        if length <= rows {
            taken.push(range.clone());
            whole += 1;
        } else {
            taken.push(range.start..range.start + rows);
            range.start += rows;
        }
        rows -= length.min(rows);
    }
    ranges.drain(..whole);
    taken
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use super::*;

    #[test]
    fn rows_are_found_by_position() {
        let ranges = [2..5, 7..7, 9..11];
        let found: Vec<_> = (0..6).map(|at| nth(&ranges, at)).collect();
        assert_eq!(found, [Some(2), Some(3), Some(4), Some(9), Some(10), None]);
    }

    #[test]
    fn ranges_must_be_in_order_and_apart() {
        assert!(Selection::all().rows([5..9, 2..3]).checked_rows().is_err());
        assert!(Selection::all().rows([2..5, 4..9]).checked_rows().is_err());
        let rows = Selection::all().rows([2..5, 5..5, 5..9]).checked_rows().unwrap().unwrap();
        assert_eq!(rows, [2..5, 5..9]);
    }

    #[test]
    fn parts_of_ranges() {
        let ranges = [0..10, 20..30, 40..50];
        assert_eq!(intersect(&ranges, &(5..45)), [5..10, 20..30, 40..45]);
        assert_eq!(intersect(&ranges, &(10..20)), []);
        let mut left = ranges.to_vec();
        assert_eq!(take_front(&mut left, 15), [0..10, 20..25]);
        assert_eq!(left, [25..30, 40..50]);
        assert_eq!(count(&left), 15);
    }
}
