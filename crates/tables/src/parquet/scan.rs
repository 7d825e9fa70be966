//! Scans a whole file as record batches, with projection, row ranges and a filter.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use isomorph_error::{Error, Result, index};

use super::columns::positions;
use super::file::ParquetFile;
use super::group_reader::{GroupReader, Numbered, Projection};
use super::prune;
use crate::Selection;
use crate::selection::{count, intersect, take_front};
use isomorph_model::Filter;

/// The filter is evaluated on at most this many rows before the other columns of the selected rows are read.
const WINDOW_ROWS: u64 = 1 << 20;

/// Remaining rows of a row group, counted in the group.
struct Unit {
    group: usize,
    rows: Vec<Range<u64>>,
}

struct ScanFilter {
    condition: Filter,
    /// The columns of the filter.
    projection: Arc<Projection>,
    /// The positions of the output columns among those, if it covers all of them.
    covers: Option<Vec<usize>>,
}

/// An iterator of record batches over a Parquet file.
pub(crate) struct Scan {
    file: Arc<ParquetFile>,
    output: Arc<Projection>,
    /// The schema including the column of row numbers.
    schema: SchemaRef,
    filter: Option<ScanFilter>,
    batch_rows: usize,
    check_indexes: bool,
    units: VecDeque<Unit>,
    pruned: bool,
    current: Option<GroupReader>,
    /// The row group of `current`.
    group: usize,
}

impl Scan {
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] if the selection does not match the file.
    pub(crate) fn new(file: &Arc<ParquetFile>, selection: &Selection) -> Result<Self> {
        let columns =
            positions(file.schema(), selection.columns.as_deref()).map_err(|error| error.at(file.blob.place()))?;
        let output = Arc::new(Projection::new(file, columns)?);
        let filter = selection.filter.as_ref().map(|predicate| {
            let columns = predicate
                .columns()
                .into_iter()
                .map(|name| positions(file.schema(), Some(&[name.to_owned()])).map(|found| found[0]))
                .collect::<Result<Vec<_>>>()?;
            let projection = Arc::new(Projection::new(file, columns)?);
            let condition = Filter::new(predicate, &projection.schema)?;
            let place = |column: &usize| projection.columns.iter().position(|other| other == column);
            let covers = output.columns.iter().map(place).collect();
            Ok(ScanFilter { condition, projection, covers })
        });
        let filter = filter.transpose().map_err(|error: Error| error.at(file.blob.place()))?;
        let schema = with_row_numbers(&output.schema, selection.row_numbers.as_deref());
        Ok(Scan {
            file: Arc::clone(file),
            output,
            schema,
            filter,
            batch_rows: selection.rows_of_a_batch(),
            check_indexes: selection.check_indexes,
            units: units(file, selection)?,
            pruned: false,
            current: None,
            group: 0,
        })
    }

    /// Returns the schema of the batches.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(reader) = &mut self.current {
                if let Some(numbered) = reader.next()? {
                    let filtered = self.filter_here(numbered)?;
                    match filtered {
                        Some((batch, rows)) => return self.finish(&batch, &rows).map(Some),
                        None => continue,
                    }
                }
                self.current = None;
            }
            let Some(unit) = self.units.front_mut() else { return Ok(None) };
            let group = unit.group;
            let rows = match &self.filter {
                None => std::mem::take(&mut unit.rows),
                Some(filter) => {
                    if !self.pruned {
                        let rows = std::mem::take(&mut unit.rows);
                        unit.rows =
                            prune::remaining(&self.file, group, rows, &filter.condition, &filter.projection.columns)?;
                        self.pruned = true;
                    }
                    take_front(&mut unit.rows, WINDOW_ROWS)
                }
            };
            if unit.rows.is_empty() {
                self.units.pop_front();
                self.pruned = false;
            }
            self.open(group, rows)?;
        }
    }

    /// Opens the reader of the output for `rows` of row group `group`.
    fn open(&mut self, group: usize, rows: Vec<Range<u64>>) -> Result<()> {
        let reader = |projection: &Arc<Projection>, rows| {
            GroupReader::new(Arc::clone(&self.file), group, Arc::clone(projection), rows, self.batch_rows)
        };
        let current = match &self.filter {
            None if self.check_indexes => reader(&self.output, rows).compared()?,
            None => reader(&self.output, rows),
            Some(filter) if filter.covers.is_some() => reader(&filter.projection, rows),
            Some(filter) => {
                let mut candidates = reader(&filter.projection, rows);
                let mut passing = Vec::new();
                while let Some((batch, rows)) = candidates.next()? {
                    let passes = filter.condition.passing(&batch)?;
                    add_passing(&mut passing, &rows, &passes);
                }
                reader(&self.output, passing)
            }
        };
        self.current = Some(current);
        self.group = group;
        Ok(())
    }

    /// If only columns of the filter are requested, batches are filtered as they are read.
    fn filter_here(&self, (batch, rows): Numbered) -> Result<Option<Numbered>> {
        let Some(ScanFilter { condition, covers: Some(covers), .. }) = &self.filter else {
            return Ok(Some((batch, rows)));
        };
        let passes = condition.passing(&batch)?;
        let mut passing = Vec::new();
        add_passing(&mut passing, &rows, &passes);
        if passing.is_empty() {
            return Ok(None);
        }
        let batch =
            batch.project(covers).and_then(|batch| filter_record_batch(&batch, &BooleanArray::new(passes, None)));
        let batch = batch.map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
        Ok(Some((batch, passing)))
    }

    fn finish(&self, batch: &RecordBatch, rows: &[Range<u64>]) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        if self.schema.fields().len() > columns.len() {
            columns.push(row_numbers(self.file.rows_of(self.group).start, rows));
        }
        crate::convert::batch(columns, &self.schema, batch.num_rows())
    }
}

impl Iterator for Scan {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch().transpose();
        if matches!(next, Some(Err(_))) {
            self.units.clear();
            self.current = None;
        }
        next
    }
}

/// Returns the selected rows by row group.
fn units(file: &ParquetFile, selection: &Selection) -> Result<VecDeque<Unit>> {
    let rows = selection.checked_rows()?;
    if rows.as_ref().and_then(|rows| rows.last()).is_some_and(|last| last.end > file.row_count()) {
        let message = format!("the file has {} rows, but others were requested", file.row_count());
        return Err(Error::usage(message).at(file.blob.place()));
    }
    let groups = selection.row_groups.clone().unwrap_or(0..file.row_groups());
    if groups.end > file.row_groups() {
        let message = format!("the file has {} row groups, but others were requested", file.row_groups());
        return Err(Error::usage(message).at(file.blob.place()));
    }
    let unit = |group: usize| {
        let all = file.rows_of(group);
        let selected = match &rows {
            Some(rows) => intersect(rows, &all),
            None => vec![all.clone()],
        };
        let rows = selected.into_iter().map(|range| range.start - all.start..range.end - all.start).collect();
        Unit { group, rows }
    };
    Ok(groups.map(unit).filter(|unit| count(&unit.rows) > 0).collect())
}

/// Adds to `passing` those of `rows` that match the filter; `passes` has one bit per row.
fn add_passing(passing: &mut Vec<Range<u64>>, rows: &[Range<u64>], passes: &BooleanBuffer) {
    let mut before = 0;
    for range in rows {
        let length = index(range.end - range.start);
        for (start, end) in passes.slice(before, length).set_slices() {
            let (start, end) = (range.start + start as u64, range.start + end as u64);
            match passing.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => passing.push(start..end),
            }
        }
        before += length;
    }
}

/// Returns `schema` with a last column for row numbers, if requested.
pub(crate) fn with_row_numbers(schema: &SchemaRef, name: Option<&str>) -> SchemaRef {
    let Some(name) = name else { return Arc::clone(schema) };
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(name, DataType::Int64, false)));
    Arc::new(Schema::new(fields))
}

/// Returns the numbers of `rows`, counted from row `first` of the file.
pub(crate) fn row_numbers(first: u64, rows: &[Range<u64>]) -> ArrayRef {
    let numbers = rows.iter().flat_map(|range| (first + range.start).cast_signed()..(first + range.end).cast_signed());
    Arc::new(Int64Array::from_iter_values(numbers))
}
