//! Finds the rows of a chunk that pass a filter: each condition is passed to the file of the group with its properties,
//! where statistics prune row groups and pages, and the sets of rows are combined.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::{Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_model::{Filter, Predicate};
use isomorph_tables::Selection;

use super::selected::check_stated;
use crate::table::{Chunk, Column, Group};

/// Rows of a file, as ascending disjoint ranges.
pub(crate) type Ranges = Vec<Range<u64>>;

const ROW: &str = "_isomorphRow";

/// A chunk of all property groups of a type.
pub(crate) struct FilteredChunk<'a> {
    /// The groups, with all columns that conditions may use.
    pub groups: &'a [Group],
    /// Opens the file of a group.
    pub open: &'a dyn Fn(&Group) -> Result<Chunk>,
    /// Number of rows in the chunk.
    pub rows: u64,
}

impl FilteredChunk<'_> {
    /// Returns the rows for which `predicate` is true.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] for a property that does not exist, or an error of reading.
    pub fn passing(&self, predicate: &Predicate) -> Result<Ranges> {
        let mut groups = Vec::new();
        for column in predicate.columns() {
            groups.push(self.group_of(column)?);
        }
        groups.dedup();
        match (groups.as_slice(), predicate) {
            ([group], _) => self.read(*group, predicate),
            (_, Predicate::And(all)) => self.all(all),
            (_, Predicate::Or(any)) => {
                any.iter().try_fold(Ranges::new(), |found, one| Ok(union(found, self.passing(one)?)))
            }
            (_, Predicate::Not(inner)) => self.passing(&negated(inner)),
            // A single comparison has one column, so one group.
            _ => Err(Error::usage("a condition without properties")),
        }
    }

    /// Returns the rows for which all conditions are true. Conditions on one group are evaluated together.
    fn all(&self, all: &[Predicate]) -> Result<Ranges> {
        if all.is_empty() {
            return Err(Error::usage("a condition without properties"));
        }
        let mut by_group: BTreeMap<usize, Vec<Predicate>> = BTreeMap::new();
        let mut found: Ranges = std::iter::once(0..self.rows).filter(|rows| !rows.is_empty()).collect();
        for one in all {
            let mut groups =
                one.columns().into_iter().map(|column| self.group_of(column)).collect::<Result<Vec<_>>>()?;
            groups.dedup();
            match groups.as_slice() {
                [group] => by_group.entry(*group).or_default().push(one.clone()),
                _ => found = intersection(&found, &self.passing(one)?),
            }
        }
        for (group, conditions) in by_group {
            found = intersection(&found, &self.read(group, &Predicate::And(conditions))?);
        }
        Ok(found)
    }

    fn group_of(&self, column: &str) -> Result<usize> {
        let holds = |group: &Group| group.columns.iter().any(|own| own.name == column);
        let found = self.groups.iter().position(holds);
        found.ok_or_else(|| Error::usage(format!("there is no property {column} to filter by")))
    }

    fn read(&self, number: usize, predicate: &Predicate) -> Result<Ranges> {
        let Some(group) = self.groups.get(number) else { return Ok(Ranges::new()) };
        let names = predicate.columns();
        let chunk = (self.open)(group)?;
        check_stated(&chunk.reader, &chunk.path, self.rows)?;
        let columns: Vec<Column> =
            chunk.columns.iter().filter(|column| names.contains(&column.name.as_str())).cloned().collect();
        let stored = |column: &Column| chunk.reader.schema().field_with_name(&column.name).ok().map(Field::data_type);
        let at = |error: Error| error.at(chunk.path.as_str());
        let mut found = Ranges::new();
        let selection = Selection::all().row_numbers(ROW);
        if columns.iter().all(|column| stored(column) == Some(&column.data_type)) {
            let selection = selection.columns::<&str>([]).filter(predicate.clone());
            for batch in chunk.reader.batches(&selection).map_err(at)? {
                push(&mut found, &batch.map_err(at)?, |_| true);
            }
            return Ok(found);
        }
        // Conditions compare the visible values, not the stored ones.
        let fields: Vec<Field> =
            columns.iter().map(|column| Field::new(&column.name, column.data_type.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let filter = Filter::new(predicate, &schema)?;
        let chunk = Chunk::of_reader(chunk.path.clone(), chunk.reader.clone(), columns.into())?;
        for batch in chunk.batches(selection)? {
            let batch = batch.map_err(at)?;
            let shown = RecordBatch::try_new(Arc::clone(&schema), chunk.columns(&batch)?)
                .map_err(|error| at(Error::malformed(error.to_string()).caused_by(error)))?;
            let passing = filter.passing(&shown)?;
            push(&mut found, &batch, |at| passing.value(at));
        }
        Ok(found)
    }
}

/// Adds the numbers of the rows of a batch that pass.
fn push(found: &mut Ranges, batch: &RecordBatch, passes: impl Fn(usize) -> bool) {
    let rows = batch.column_by_name(ROW).and_then(|column| column.as_primitive_opt::<Int64Type>());
    let rows = rows.map(|rows| rows.values().as_ref()).unwrap_or_default();
    add_rows(found, rows.iter().enumerate().filter(|(at, _)| passes(*at)).map(|(_, row)| row.unsigned_abs()));
}

/// Negates a predicate, moving the negation one level inwards.
fn negated(predicate: &Predicate) -> Predicate {
    let not = |one: &Predicate| Predicate::Not(Box::new(one.clone()));
    match predicate {
        Predicate::And(all) => Predicate::Or(all.iter().map(not).collect()),
        Predicate::Or(any) => Predicate::And(any.iter().map(not).collect()),
        Predicate::Not(inner) => (**inner).clone(),
        one => not(one),
    }
}

/// The rows that are in both.
fn intersection(left: &[Range<u64>], right: &[Range<u64>]) -> Ranges {
    let (mut i, mut j) = (0, 0);
    let mut both = Ranges::new();
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        let common = a.start.max(b.start)..a.end.min(b.end);
        if !common.is_empty() {
            both.push(common);
        }
        if a.end <= b.end { i += 1 } else { j += 1 }
    }
    both
}

/// Returns the rows that are in either.
fn union(left: Ranges, right: Ranges) -> Ranges {
    let mut all = left;
    all.extend(right);
    all.sort_unstable_by_key(|range| range.start);
    let mut either = Ranges::new();
    for range in all {
        match either.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => either.push(range),
        }
    }
    either
}

/// Adds rows, which ascend and are behind those that are there.
pub(crate) fn add_rows(ranges: &mut Ranges, rows: impl IntoIterator<Item = u64>) {
    for row in rows {
        match ranges.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => ranges.push(row..row + 1),
        }
    }
}

/// Number of rows.
pub(crate) fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_rows_are_combined() {
        assert_eq!(intersection(&[0..10, 20..30], &[5..25, 29..40]), [5..10, 20..25, 29..30]);
        assert_eq!(union(vec![0..3, 10..12], vec![3..5, 11..20]), [0..5, 10..20]);
        assert_eq!(count(&[0..5, 10..20]), 15);
    }
}
