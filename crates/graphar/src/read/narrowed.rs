//! Rows that a scan need not read: those for which its filter is not true.

use std::ops::Range;

use arrow_array::UInt64Array;
use arrow_schema::Field;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{Narrowing, Predicate};
use isomorph_storage::Root;
use isomorph_tables::TableReader;

use super::filter::{FilteredChunk, Ranges, count};
use crate::info::{PropertyGroup, PropertyInfo};
use crate::rules;
use crate::table::{Column, Group, Target};

/// A chunk of all groups of a type of which less than everything is wanted.
pub(crate) struct NarrowedChunk<'a> {
    pub root: &'a Root,
    /// All groups, and those of which something is read.
    pub groups: (&'a [PropertyGroup], &'a [Group]),
    /// The file of a group, by its number.
    pub path: &'a dyn Fn(usize) -> String,
    /// Rows of the chunk.
    pub rows: u64,
}

impl NarrowedChunk<'_> {
    /// The rows to read; nothing for all. Where more than half of them pass, all are read: what is read twice costs more than what
    /// is left out saves.
    ///
    /// # Errors
    /// Those of reading.
    pub fn passing(&self, narrowing: Option<&Narrowing>) -> Result<Option<Ranges>> {
        let Some(filter) = narrowing.and_then(|narrowing| self.own(narrowing.filter.as_ref()?)) else {
            return Ok(None);
        };
        let declared = |property: &PropertyInfo, encoding| -> Option<Field> {
            self.column(&property.name).and_then(|(_, column)| column.field(encoding))
        };
        let chunk = FilteredChunk {
            root: self.root,
            groups: self.groups.0,
            path: self.path,
            rows: self.rows,
            declared: &declared,
        };
        match chunk.passing(&filter) {
            Ok(ranges) if count(&ranges).saturating_mul(2) > self.rows => Ok(None),
            Ok(ranges) => Ok(Some(ranges)),
            // What does not compare here may do so over the values that the model has.
            Err(error) if error.kind() == Kind::Usage => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Of the conditions that must all be true, those that can be asked of files: on properties that are read, in files that know
    /// where a row is. Text is read whole in any case.
    fn own(&self, filter: &Predicate) -> Option<Predicate> {
        let all = match filter {
            Predicate::And(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        };
        let known = |name: &str| {
            let (group, column) = self.column(name)?;
            (!group.encoding.is_text() && !column.as_text).then(|| column.name.clone())
        };
        let own = |one: &Predicate| {
            let unknown = || Error::usage("not a column of a file that can be asked");
            one.renamed(&mut |name| known(name).ok_or_else(unknown)).ok()
        };
        let all: Vec<Predicate> = all.iter().filter_map(own).collect();
        (!all.is_empty()).then_some(Predicate::And(all))
    }

    /// The column of a property, or of the key.
    fn column(&self, name: &str) -> Option<(&Group, &Column)> {
        let is_meant = |column: &&Column| match column.target {
            Target::Key => name == Narrowing::KEY || name == column.name,
            Target::Property(_) => name == column.name,
        };
        self.groups.1.iter().find_map(|group| Some((group, group.columns.iter().find(is_meant)?)))
    }
}

/// Compares the number of rows that a file states with that of the counts: where rows are left out nobody counts them.
///
/// # Errors
/// [`rules::COUNT_ROWS`].
pub(crate) fn check_stated(reader: &TableReader, path: &str, expected: u64) -> Result<()> {
    match reader.row_count().filter(|stated| *stated != expected) {
        None => Ok(()),
        Some(stated) => {
            let message = format!("{stated} rows instead of the {expected} that the counts say");
            Err(Error::broken(&rules::COUNT_ROWS, message).at(Place::file(path)))
        }
    }
}

/// Numbers of rows, ascending, that are handed out batch by batch.
pub(crate) struct Numbers(std::collections::VecDeque<Range<u64>>);

impl Numbers {
    pub fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        Numbers(ranges.into_iter().filter(|range| !range.is_empty()).collect())
    }

    /// The next `rows` of them.
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
