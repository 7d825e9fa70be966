//! The part of a chunk that a scan with columns or a filter reads: the files of the requested columns, each opened once, and the rows
//! for which its filter may be true.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::UInt64Array;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{Narrowing, Predicate};
use isomorph_storage::Root;
use isomorph_tables::TableReader;

use super::filter::{FilteredChunk, Ranges, count};
use crate::rules;
use crate::table::{Chunk, Column, Group, Target};

/// Returns the columns of `group` that are requested.
pub(crate) fn wanted(group: &Group, narrowing: Option<&Narrowing>) -> Arc<[Column]> {
    let Some(narrowing) = narrowing else { return Arc::clone(&group.columns) };
    let wants = |column: &&Column| match column.target {
        Target::Key => narrowing.keys,
        Target::Property(at) => narrowing.wants(at),
    };
    group.columns.iter().filter(wants).cloned().collect()
}

/// One chunk of all groups of a type that are read.
pub(crate) struct Files<'a> {
    pub root: &'a Root,
    pub groups: &'a [Group],
    pub narrowing: Option<&'a Narrowing>,
    /// Returns the file of a group, by group number.
    pub path: &'a dyn Fn(usize) -> String,
    /// Whether the files have vertex indexes.
    pub indexed: bool,
    opened: RefCell<BTreeMap<usize, Chunk>>,
}

impl<'a> Files<'a> {
    pub fn new(
        root: &'a Root,
        groups: &'a [Group],
        narrowing: Option<&'a Narrowing>,
        path: &'a dyn Fn(usize) -> String,
        indexed: bool,
    ) -> Self {
        Files { root, groups, narrowing, path, indexed, opened: RefCell::default() }
    }

    /// Opens the files of the requested columns, in the order of the groups. If rows are skipped, each must have `rows` rows if it
    /// states its number of rows.
    ///
    /// # Errors
    /// As [`Chunk::open`]; [`rules::COUNT_ROWS`].
    pub fn chunks(&self, some: Option<u64>) -> Result<Vec<Chunk>> {
        let mut chunks = Vec::with_capacity(self.groups.len());
        for group in self.groups.iter().filter(|group| !wanted(group, self.narrowing).is_empty()) {
            let chunk = self.chunk(group)?;
            if let Some(rows) = some {
                check_stated(&chunk.reader, &chunk.path, rows)?;
            }
            chunks.push(chunk);
        }
        Ok(chunks)
    }

    fn chunk(&self, group: &Group) -> Result<Chunk> {
        if let Some(chunk) = self.opened.borrow().get(&group.number) {
            return Ok(chunk.clone());
        }
        let (path, columns) = ((self.path)(group.number), wanted(group, self.narrowing));
        let chunk = Chunk::open(self.root, path, group.encoding, columns, self.indexed)?;
        self.opened.borrow_mut().insert(group.number, chunk.clone());
        Ok(chunk)
    }

    /// Which of `rows` rows to read; nothing for all.
    ///
    /// # Errors
    /// Returns the errors of reading.
    pub fn passing(&self, rows: u64) -> Result<Option<Ranges>> {
        let Some(filter) = self.narrowing.and_then(|narrowing| self.own(&narrowing.filter_now()?)) else {
            return Ok(None);
        };
        let open = |group: &Group| self.chunk(group);
        let chunk = FilteredChunk { groups: self.groups, open: &open, rows };
        match chunk.passing(&filter) {
            Ok(ranges) => Ok(if_few(ranges, rows)),
            // What does not compare here is refused by who applies the filter to all that comes.
            Err(error) if error.kind() == Kind::Usage => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Selects those of the conditions that are on columns of files with random access to rows. Text files are always read whole.
    fn own(&self, filter: &Predicate) -> Option<Predicate> {
        filter.known_part(&mut |name| {
            let is_meant = |column: &Column| match column.target {
                Target::Key => name == Narrowing::KEY,
                _ => name == column.name && !Narrowing::NAMES.contains(&name),
            };
            let of = |group: &Group| wanted(group, self.narrowing).iter().find(|column| is_meant(column)).cloned();
            let known = self.groups.iter().filter(|group| !group.encoding.is_text()).find_map(of);
            known.filter(|column| !column.as_text).map(|column| column.name)
        })
    }
}

/// Some of `rows` rows; nothing, for all of them, where these are more than half: what is read twice costs more than what is left out saves.
pub(crate) fn if_few(ranges: Ranges, rows: u64) -> Option<Ranges> {
    (count(&ranges).saturating_mul(2) <= rows).then_some(ranges)
}

/// Compares the number of rows that a file states with that of the counts: where rows are left out nobody counts them.
///
/// # Errors
/// [`rules::COUNT_ROWS`].
pub(crate) fn check_stated(reader: &TableReader, path: &str, expected: u64) -> Result<()> {
    match reader.row_count().filter(|stated| *stated != expected) {
        None => Ok(()),
        Some(stated) => {
            let message = format!("found {stated} rows, but the counts require {expected}");
            Err(Error::broken(&rules::COUNT_ROWS, message).at(Place::file(path)))
        }
    }
}

/// Ascending row numbers that are taken batch by batch.
pub(crate) struct Numbers(VecDeque<Range<u64>>);

impl Numbers {
    pub fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        Numbers(ranges.into_iter().filter(|range| !range.is_empty()).collect())
    }

    /// Returns the next `rows` numbers.
    pub fn take(&mut self, rows: usize) -> UInt64Array {
        let mut taken = Vec::with_capacity(rows);
        while let Some(range) = self.0.front_mut().filter(|_| taken.len() < rows) {
            let end = range.end.min(range.start.saturating_add((rows - taken.len()) as u64));
            taken.extend(range.start..end);
            range.start = end;
            if range.is_empty() {
                self.0.pop_front();
            }
        }
        taken.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_handed_out_in_batches() {
        let mut numbers = Numbers::new([3..5, 7..7, 10..14]);
        assert_eq!(numbers.take(3).values().as_ref(), [3, 4, 10]);
        assert_eq!(numbers.take(0).len(), 0);
        assert_eq!(numbers.take(9).values().as_ref(), [11, 12, 13]);
        assert_eq!(numbers.take(1).len(), 0);
    }
}
