//! Reads some rows of a row group as record batches.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use isomorph_error::{Error, Kind, Place, Result, index};
use parquet::arrow::arrow_reader::RowSelection;

use super::columns::{Decoder, Levels};
use super::file::ParquetFile;
use super::index_check::StatisticsCheck;
use super::row_group::OneRowGroup;
use super::watch::Watch;
use crate::catch_panic::fenced;
use crate::convert;
use crate::rules::PARQUET_VALUES;
use crate::selection::{count, nth, take_front};

/// Some columns of a file, in the order in which batches contain them.
pub(super) struct Projection {
    /// Positions of the columns in the file, in the requested order.
    pub columns: Vec<usize>,
    /// The same in the order of the file, which the decoder uses.
    decoded: Vec<usize>,
    /// The schema of the batches.
    pub schema: arrow_schema::SchemaRef,
    levels: Levels,
}

impl Projection {
    /// # Errors
    /// [`Kind::Unsupported`] for types that cannot be decoded.
    pub(super) fn new(file: &ParquetFile, columns: Vec<usize>) -> Result<Self> {
        let schema = file.schema().project(&columns).map_err(|error| Error::usage(error.to_string()))?;
        let mut decoded = columns.clone();
        decoded.sort_unstable();
        let levels = file.columns.levels(&decoded).map_err(|error| error.at(file.blob.place()))?;
        Ok(Projection { columns, decoded, schema: Arc::new(schema), levels })
    }
}

/// Reads some rows of a row group in batches.
pub(super) struct GroupReader {
    file: Arc<ParquetFile>,
    group: usize,
    projection: Arc<Projection>,
    /// The remaining rows, counted in the group; sorted and without overlap.
    left: Vec<Range<u64>>,
    batch_rows: usize,
    decoder: Option<(Decoder, Arc<Watch>)>,
    /// Whether page indexes and statistics are compared with the data.
    compare: bool,
    statistics: Option<StatisticsCheck>,
}

/// A batch, and the rows of the row group that it contains.
pub(super) type Numbered = (RecordBatch, Vec<Range<u64>>);

impl GroupReader {
    pub(super) fn new(
        file: Arc<ParquetFile>,
        group: usize,
        projection: Arc<Projection>,
        rows: Vec<Range<u64>>,
        batch_rows: usize,
    ) -> Self {
        GroupReader { file, group, projection, left: rows, batch_rows, decoder: None, compare: false, statistics: None }
    }

    /// Also compares the data with page indexes and statistics.
    ///
    /// # Errors
    /// An invalid index, and errors of reading.
    pub(super) fn compared(self) -> Result<Self> {
        let statistics = StatisticsCheck::new(&self.file, self.group, &self.projection.decoded)?;
        Ok(GroupReader { compare: true, statistics: Some(statistics), ..self })
    }

    /// Returns the next batch, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Numbered>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        if self.projection.columns.is_empty() {
            return self.empty_batch().map(Some);
        }
        loop {
            let (decoder, watch) = match &mut self.decoder {
                Some(decoder) => decoder,
                none => {
                    let (file, projection) = (&self.file, &self.projection);
                    none.insert(open(file, self.group, projection, &self.left, self.batch_rows, self.compare)?)
                }
            };
            watch.start_batch();
            let decoded = fenced(&PARQUET_VALUES, || match decoder.next() {
                None => Err(Error::broken(&PARQUET_VALUES, "a row group has fewer rows than declared")),
                Some(Ok(batch)) => Ok(batch),
                Some(Err(error)) => Err(Error::broken(&PARQUET_VALUES, plain(&error)).caused_by(error)),
            });
            match decoded {
                Ok(batch) => {
                    // Before the rows are taken.
                    let place = self.place();
                    return self.number(&batch).map(Some).map_err(|error| error.at(place));
                }
                Err(_) if watch.wants_fewer_rows() => {
                    self.batch_rows = (self.batch_rows / 8).max(1);
                    self.decoder = None;
                }
                Err(error) => {
                    let error = watch.take_failure().unwrap_or(error);
                    let error = self.blame(error.at(self.place()));
                    self.left.clear();
                    return Err(error);
                }
            }
        }
    }

    fn number(&mut self, batch: &RecordBatch) -> Result<Numbered> {
        let rows = batch.num_rows();
        if rows == 0 || rows as u64 > count(&self.left) {
            return Err(Error::broken(
                &PARQUET_VALUES,
                "the number of rows in a row group differs from the declared one",
            ));
        }
        let mut columns = Vec::with_capacity(batch.num_columns());
        for column in &self.projection.columns {
            let position = self.projection.decoded.binary_search(column).ok();
            let column = position.and_then(|position| batch.columns().get(position));
            columns.push(Arc::clone(column.ok_or_else(|| Error::broken(&PARQUET_VALUES, "a column was not decoded"))?));
        }
        let taken = take_front(&mut self.left, rows as u64);
        if let Some(statistics) = &mut self.statistics {
            statistics.compare(&self.file, batch.columns(), &taken)?;
        }
        let first = self.file.rows_of(self.group).start;
        let number = |row: u64| nth(&taken, row).map(|row| first + row);
        let batch = convert::numbered_batch(columns, &self.projection.schema, rows, number)?;
        Ok((batch, taken))
    }

    fn empty_batch(&mut self) -> Result<Numbered> {
        let rows = take_front(&mut self.left, self.batch_rows as u64);
        let options = RecordBatchOptions::new().with_row_count(usize::try_from(count(&rows)).ok());
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.projection.schema), vec![], &options);
        Ok((batch.map_err(|error| Error::new(Kind::TooLarge, error.to_string()))?, rows))
    }

    /// Adds the column to `error` if it is missing, by decoding the columns one by one until one fails.
    fn blame(&self, error: Error) -> Error {
        if error.place().field.is_some() {
            return error;
        }
        let fails = |column: usize| {
            let projection = Arc::new(Projection::new(&self.file, vec![column])?);
            let rows = self.left.clone();
            GroupReader::new(Arc::clone(&self.file), self.group, projection, rows, self.batch_rows).next()
        };
        let columns = &self.projection.columns;
        let guilty = match columns.as_slice() {
            [only] => Some(*only),
            many => many.iter().copied().find(|column| fails(*column).is_err()),
        };
        match guilty.and_then(|column| self.file.schema().fields().get(column)) {
            Some(field) => error.at(Place::field(field.name())),
            None => error,
        }
    }

    /// Where the next batch begins.
    fn place(&self) -> Place {
        let rows = self.file.rows_of(self.group);
        let done = self.left.first().map_or(0, |range| range.start);
        self.file.blob.place().row(rows.start + done)
    }
}

fn open(
    file: &Arc<ParquetFile>,
    group: usize,
    projection: &Projection,
    rows: &[Range<u64>],
    batch_rows: usize,
    compare: bool,
) -> Result<(Decoder, Arc<Watch>)> {
    let watch = Arc::new(Watch::new(batch_rows, file.limits.batch_bytes));
    let group_rows = file.rows_of(group);
    let all = group_rows.end - group_rows.start;
    let is_all = matches!(rows, [one] if *one == (0..all));
    let leaves = projection.decoded.iter().flat_map(|column| file.columns.leaves(*column));
    let source = OneRowGroup::new(file, group, leaves, (!is_all).then_some(rows), compare, Arc::clone(&watch))?;
    let all = usize::try_from(all).map_err(|_| Error::new(Kind::TooLarge, "a row group has too many rows"))?;
    let selection = (!is_all).then(|| {
        RowSelection::from_consecutive_ranges(rows.iter().map(|rows| index(rows.start)..index(rows.end)), all)
    });
    let decoder = fenced(&PARQUET_VALUES, || {
        Decoder::try_new_with_row_groups(&projection.levels, &source, batch_rows, selection)
            .map_err(|error| Error::broken(&PARQUET_VALUES, plain(&error)).caused_by(error))
    });
    decoder
        .map(|decoder| (decoder, Arc::clone(&watch)))
        .map_err(|error| watch.take_failure().unwrap_or(error).at(file.blob.place()))
}

/// Returns the decoder's message without the names of the layers through which it passed.
pub(super) fn plain(error: &impl ToString) -> String {
    error.to_string().replace("Parquet argument error: ", "").replace("Parquet error: ", "").replace("External: ", "")
}
