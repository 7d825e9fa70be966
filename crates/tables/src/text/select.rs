//! Selections from a source that must be read from its first row.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use isomorph_error::{Error, Place, Result, index};

use crate::parquet::{positions, row_numbers, with_row_numbers};
use crate::selection::{count, intersect};
use crate::{Selection, convert};
use isomorph_model::Filter;

/// The columns that a selection needs from a source, and how to arrange them.
pub(crate) struct Wanted {
    /// Positions of the columns to read from the source.
    pub read: Vec<usize>,
    /// Positions of the output columns among those.
    output: Vec<usize>,
    condition: Option<Filter>,
    rows: Option<Vec<Range<u64>>>,
    schema: SchemaRef,
}

impl Wanted {
    /// Determines what `selection` needs from a source with `schema`.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] and `NotFound` if the selection does not match the schema.
    pub(crate) fn new(schema: &Schema, selection: &Selection) -> Result<Self> {
        let mut read = positions(schema, selection.columns.as_deref())?;
        let output = (0..read.len()).collect();
        let own = |positions: &[usize]| schema.project(positions).map_err(|error| Error::usage(error.to_string()));
        let output_schema = Arc::new(own(&read)?);
        let condition = match &selection.filter {
            None => None,
            Some(predicate) => {
                for name in predicate.columns() {
                    let position = positions(schema, Some(&[name.to_owned()]))?[0];
                    if !read.contains(&position) {
                        read.push(position);
                    }
                }
                Some(Filter::new(predicate, &own(&read)?)?)
            }
        };
        let schema = with_row_numbers(&output_schema, selection.row_numbers.as_deref());
        Ok(Wanted { read, output, condition, rows: selection.checked_rows()?, schema })
    }

    /// Returns the selected rows; `None` if all are selected.
    pub(crate) fn rows(&self) -> Option<&[Range<u64>]> {
        self.rows.as_deref()
    }

    /// Returns the schema of the selected batches.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

/// A batch, and the number of its first row in the file.
pub(crate) type Numbered = (u64, RecordBatch);

/// The selected rows of a source that yields its rows in order.
pub(crate) struct Selected<S> {
    source: S,
    wanted: Wanted,
    place: Place,
    /// The number of rows that the source has yielded.
    next: u64,
    ended: bool,
}

impl<S: Iterator<Item = Result<Numbered>>> Selected<S> {
    /// `source` yields the columns `wanted.read` of all selected rows, and possibly of others; `place` is the location for
    /// errors.
    pub(crate) fn new(source: S, wanted: Wanted, place: Place) -> Self {
        Selected { source, wanted, place, next: 0, ended: false }
    }

    /// The same of a source that begins at this row.
    pub(crate) fn starting_at(mut self, first: u64) -> Self {
        self.next = first;
        self
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let last = self.wanted.rows.as_ref().map(|rows| rows.last().map_or(0, |last| last.end));
            if last.is_some_and(|last| self.next >= last) {
                return Ok(None);
            }
            let Some((first, batch)) = self.source.next().transpose()? else {
                if let Some(last) = last {
                    let message = format!("the file has {} rows, but row {} was requested", self.next, last - 1);
                    return Err(Error::usage(message));
                }
                return Ok(None);
            };
            let here = first..first + batch.num_rows() as u64;
            self.next = here.end;
            let rows = match &self.wanted.rows {
                Some(rows) => intersect(rows, &here),
                None => vec![here.clone()],
            };
            if let Some(batch) = self.select(&batch, &here, rows)? {
                return Ok(Some(batch));
            }
        }
    }

    /// Returns those of `rows` that match the filter, from `batch`, which contains the rows `here`.
    fn select(&self, batch: &RecordBatch, here: &Range<u64>, rows: Vec<Range<u64>>) -> Result<Option<RecordBatch>> {
        let failed = |error: arrow_schema::ArrowError| Error::malformed(error.to_string()).caused_by(error);
        let is_all = count(&rows) == here.end - here.start;
        let mut passes = None;
        if let Some(condition) = &self.wanted.condition {
            passes = Some(condition.passing(batch)?);
        }
        if !is_all {
            let mut bits = arrow_buffer::BooleanBufferBuilder::new(batch.num_rows());
            bits.append_n(batch.num_rows(), false);
            for range in &rows {
                for row in range.clone() {
                    bits.set_bit(index(row - here.start), true);
                }
            }
            let selected = bits.finish();
            passes = Some(passes.map_or(selected.clone(), |passes| &passes & &selected));
        }
        let output = batch.project(&self.wanted.output).map_err(failed)?;
        let (output, rows) = match passes {
            None => (output, rows),
            Some(passes) if passes.count_set_bits() == 0 => return Ok(None),
            Some(passes) => {
                let rows = passes
                    .set_slices()
                    .map(|(start, end)| here.start + start as u64..here.start + end as u64)
                    .collect();
                (filter_record_batch(&output, &BooleanArray::new(passes, None)).map_err(failed)?, rows)
            }
        };
        let mut columns: Vec<ArrayRef> = output.columns().to_vec();
        if self.wanted.schema.fields().len() > columns.len() {
            columns.push(row_numbers(0, &rows));
        }
        convert::batch(columns, &self.wanted.schema, output.num_rows()).map(Some)
    }
}

impl<S: Iterator<Item = Result<Numbered>>> Iterator for Selected<S> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_batch().map_err(|error| error.at(self.place.clone())).transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
