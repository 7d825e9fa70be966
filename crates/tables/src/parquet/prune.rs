//! Determines from statistics which rows of a row group a filter may select.

use std::ops::Range;
use std::sync::Arc;

use isomorph_error::Result;

use super::bounds::{of_group, of_page};
use super::file::ParquetFile;
use super::page_index::{OffsetIndex, PageBounds};
use isomorph_model::predicate::{Bounds, Filter};

/// Returns the parts of `rows` (counted in row group `group`) in which `condition` on `columns` of the file may be true.
/// The condition is bound to positions in `columns`.
pub(super) fn remaining(
    file: &ParquetFile,
    group: usize,
    rows: Vec<Range<u64>>,
    condition: &Filter,
    columns: &[usize],
) -> Result<Vec<Range<u64>>> {
    let whole = columns.iter().map(|column| of_group(file, group, *column)).collect::<Result<Vec<_>>>()?;
    let in_group = |position: usize| whole.get(position).cloned().unwrap_or(Bounds::UNKNOWN);
    if rows.is_empty() || !condition.may_pass(&in_group) {
        return Ok(Vec::new());
    }
    let pages = columns.iter().map(|column| Pages::of(file, group, *column)).collect::<Result<Vec<_>>>()?;
    if pages.iter().all(Option::is_none) {
        return Ok(rows);
    }
    // Between two consecutive page starts of all columns, every column stays within one page.
    let mut starts: Vec<u64> =
        pages.iter().flatten().flat_map(|pages| pages.places.pages().iter().map(|page| page.first_row)).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut left: Vec<Range<u64>> = Vec::new();
    for range in rows {
        let mut at = range.start;
        while at < range.end {
            let next =
                starts.get(starts.partition_point(|start| *start <= at)).map_or(range.end, |next| range.end.min(*next));
            let in_page = |position: usize| match pages.get(position).and_then(Option::as_ref) {
                Some(pages) => pages.bounds_at(file, group, at),
                None => in_group(position),
            };
            if condition.may_pass(&in_page) {
                match left.last_mut() {
                    Some(last) if last.end == at => last.end = next,
                    _ => left.push(at..next),
                }
            }
            at = next;
        }
    }
    Ok(left)
}

/// The pages of a column and their bounds.
struct Pages {
    column: usize,
    places: Arc<OffsetIndex>,
    bounds: Arc<Vec<PageBounds>>,
}

impl Pages {
    fn of(file: &ParquetFile, group: usize, column: usize) -> Result<Option<Self>> {
        let Some(leaf) = file.columns.flat_leaf(column) else { return Ok(None) };
        let Some(bounds) = file.page_bounds(group, leaf)? else { return Ok(None) };
        Ok(file.page_places(group, leaf)?.map(|places| Pages { column, places, bounds }))
    }

    fn bounds_at(&self, file: &ParquetFile, group: usize, row: u64) -> Bounds {
        let page = self.bounds.get(self.places.page_of(row));
        // Unreadable statistics exclude nothing, so the page is read.
        page.and_then(|page| of_page(file, group, self.column, page).ok()).unwrap_or(Bounds::UNKNOWN)
    }
}
