//! Compares page indexes and statistics with the data of a scan. Look-ups and filters rely on them, but full
//! scans do not, so they are compared only on request.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Result, index};

use super::bounds::{of_group, of_page};
use super::file::ParquetFile;
use super::page_index::{OffsetIndex, PagePlace};
use crate::rules::PARQUET_INDEX;
use isomorph_model::predicate::{Bounds, Value, extremes};

/// The reason why an index is invalid.
type Reason = &'static str;

/// The pages of a column chunk, compared one by one as they are read.
pub(super) struct PlacesCheck {
    index: Arc<OffsetIndex>,
    /// The number of data pages so far.
    met: usize,
}

impl PlacesCheck {
    pub(super) fn new(index: Arc<OffsetIndex>) -> Self {
        PlacesCheck { index, met: 0 }
    }

    /// Compares a data page of `length` bytes, including its header, at `offset`.
    pub(super) fn page(&mut self, offset: u64, length: u64) -> Result<(), Reason> {
        let page = self.index.pages().get(self.met).ok_or("a page is not listed")?;
        self.met += 1;
        match *page {
            PagePlace { offset: listed, .. } if listed != offset => Err("the offset of a page differs"),
            PagePlace { length: listed, .. } if listed != length => Err("the length of a page differs"),
            PagePlace { .. } => Ok(()),
        }
    }

    /// Compares the number of rows of the last page.
    pub(super) fn rows(&self, rows: u64) -> Result<(), Reason> {
        let listed = self.index.rows_of(self.met.saturating_sub(1));
        if listed.end - listed.start == rows { Ok(()) } else { Err("the number of rows of a page differs") }
    }

    /// Compares a page without values, that is, the dictionary, of `length` bytes at `offset`.
    pub(super) fn other(&self, offset: u64, length: u64) -> Result<(), Reason> {
        match self.index.pages().get(self.met) {
            Some(next) if next.offset < offset + length => Err("two pages overlap"),
            _ => Ok(()),
        }
    }
}

/// The statistics of the columns that are read from a row group.
pub(super) struct StatisticsCheck(Vec<ColumnCheck>);

/// One column: its statistics for the whole chunk, and for each page.
struct ColumnCheck {
    /// Its position among the decoded columns.
    position: usize,
    name: String,
    chunk: Claim,
    pages: Vec<Claim>,
}

/// The statistics of some rows of a column.
struct Claim {
    /// Counted in the row group.
    rows: Range<u64>,
    least: Option<Value>,
    greatest: Option<Value>,
    all_null: bool,
    nulls: Option<u64>,
    seen_rows: u64,
    seen_nulls: u64,
}

/// The actual values of some rows of a column.
struct Seen {
    rows: u64,
    nulls: u64,
    /// The smallest and the largest value, if bounds are to be compared.
    extremes: Option<(Value, Value)>,
}

impl StatisticsCheck {
    /// Reads the statistics of `columns` of row group `group`.
    ///
    /// # Errors
    /// An invalid index, and errors of reading it.
    pub(super) fn new(file: &ParquetFile, group: usize, columns: &[usize]) -> Result<Self> {
        let all = file.rows_of(group);
        let all = 0..all.end - all.start;
        let mut checks = Vec::new();
        for (position, column) in columns.iter().enumerate() {
            let Some(leaf) = file.columns.flat_leaf(*column) else { continue };
            let stated = file.chunk(group, leaf)?.statistics().and_then(|statistics| statistics.null_count_opt());
            let chunk = Claim::new(all.clone(), of_group(file, group, *column)?, stated);
            let mut pages = Vec::new();
            if let (Some(bounds), Some(places)) = (file.page_bounds(group, leaf)?, file.page_places(group, leaf)?) {
                for (number, page) in bounds.iter().enumerate() {
                    let bounds = of_page(file, group, *column, page)?;
                    pages.push(Claim::new(places.rows_of(number), bounds, page.nulls));
                }
            }
            let name = file.schema().field(*column).name().clone();
            checks.push(ColumnCheck { position, name, chunk, pages });
        }
        Ok(StatisticsCheck(checks))
    }

    /// Compares the decoded `columns`, which contain `rows` of the row group.
    ///
    /// # Errors
    /// [`PARQUET_INDEX`].
    pub(super) fn compare(&mut self, file: &ParquetFile, columns: &[ArrayRef], rows: &[Range<u64>]) -> Result<()> {
        for check in &mut self.0 {
            let Some(array) = columns.get(check.position) else { continue };
            let mut at = 0;
            for range in rows {
                let length = index(range.end - range.start);
                check.compare(&array.slice(at, length), range).map_err(|reason| {
                    let message = format!("column {}: {reason}", check.name);
                    Error::broken(&PARQUET_INDEX, message).at(file.blob.place().in_field(&check.name))
                })?;
                at += length;
            }
        }
        Ok(())
    }
}

impl ColumnCheck {
    /// Compares the values of `rows` page by page, or together if there are no statistics of pages.
    fn compare(&mut self, array: &ArrayRef, rows: &Range<u64>) -> std::result::Result<(), String> {
        if self.pages.is_empty() {
            return self.chunk.compare(&Seen::of(array, self.chunk.is_bounded()));
        }
        let first = self.pages.partition_point(|page| page.rows.end <= rows.start);
        for page in self.pages[first..].iter_mut().take_while(|page| page.rows.start < rows.end) {
            let within = rows.start.max(page.rows.start)..rows.end.min(page.rows.end);
            let part = array.slice(index(within.start - rows.start), index(within.end - within.start));
            let seen = Seen::of(&part, page.is_bounded() || self.chunk.is_bounded());
            page.compare(&seen)?;
            self.chunk.compare(&seen)?;
        }
        Ok(())
    }
}

impl Seen {
    fn of(array: &ArrayRef, bounded: bool) -> Self {
        let extremes = if bounded { extremes(array) } else { None };
        Seen { rows: array.len() as u64, nulls: array.logical_null_count() as u64, extremes }
    }
}

impl Claim {
    fn new(rows: Range<u64>, bounds: Bounds, nulls: Option<u64>) -> Self {
        let Bounds { least, greatest, all_null, .. } = bounds;
        Claim { rows, least, greatest, all_null, nulls, seen_rows: 0, seen_nulls: 0 }
    }

    fn is_bounded(&self) -> bool {
        self.least.is_some() || self.greatest.is_some()
    }

    /// Compares some of the values that the statistics cover.
    fn compare(&mut self, seen: &Seen) -> std::result::Result<(), String> {
        self.seen_rows += seen.rows;
        self.seen_nulls += seen.nulls;
        if let Some((least, greatest)) = &seen.extremes {
            let below = self.least.as_ref().and_then(|bound| least.order(bound)) == Some(Ordering::Less);
            let above = self.greatest.as_ref().and_then(|bound| greatest.order(bound)) == Some(Ordering::Greater);
            if below || above {
                return Err("a value is outside the bounds in the statistics".to_owned());
            }
        }
        if self.all_null && seen.nulls < seen.rows {
            return Err("there are values, but the statistics say that all are null".to_owned());
        }
        match self.nulls {
            Some(stated) if self.seen_rows == self.rows.end - self.rows.start && stated != self.seen_nulls => {
                Err(format!("there are {} nulls, but the statistics say {stated}", self.seen_nulls))
            }
            _ => Ok(()),
        }
    }
}
