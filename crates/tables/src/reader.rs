//! Reads tables in any encoding.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use isomorph_error::{Error, Result};
use isomorph_model::statistics::ColumnStatistics;
use isomorph_storage::Blob;

use crate::arrow::ArrowFile;
use crate::csv::{CsvFile, CsvIndex};
use crate::json::JsonFile;
use crate::orc::OrcFile;
use crate::parquet::{self, ParquetFile, Scan};
use crate::row_order::RowOrder;
use crate::{Encoding, ReadOptions, Selection};

/// An opened table. Its metadata is read and checked once; clones share it and may be used concurrently.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Int64Array, RecordBatch};
/// use isomorph_storage::Blob;
/// use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader, TableWriter, WriteOptions};
///
/// # fn main() -> isomorph_error::Result<()> {
/// let ids = Arc::new(Int64Array::from_iter_values(0..10_000));
/// let batch = RecordBatch::try_from_iter([("id", ids as _)]).map_err(|e| isomorph_error::Error::usage(e.to_string()))?;
/// let mut writer = TableWriter::create(Vec::new(), Encoding::Parquet, &batch.schema(), &WriteOptions::default())?;
/// writer.write(&batch)?;
/// let (bytes, stats) = writer.finish()?;
/// assert_eq!(stats.rows, 10_000);
///
/// let blob = Blob::from_bytes("ids", &bytes.into());
/// let reader = TableReader::open(blob, Encoding::Parquet, &ReadOptions::default())?;
/// let mut batches = reader.batches(&Selection::all().rows([5000..5003]))?;
/// assert_eq!(batches.next().transpose()?.map(|batch| batch.num_rows()), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TableReader(Source);

#[derive(Clone)]
enum Source {
    Parquet(Arc<ParquetFile>),
    Orc(Arc<OrcFile>),
    Csv(Arc<CsvFile>),
    Json(Arc<JsonFile>),
    Arrow(Arc<ArrowFile>),
}

impl TableReader {
    /// Opens `blob`, which contains a table in `encoding`.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Malformed`] if the file violates its encoding, `TooLarge` beyond the limits,
    /// `Unsupported` for types that cannot be read, `Usage` if text is opened without a declared schema, and errors
    /// of reading.
    pub fn open(blob: Blob, encoding: Encoding, options: &ReadOptions) -> Result<Self> {
        Ok(TableReader(match encoding {
            Encoding::Parquet => Source::Parquet(Arc::new(ParquetFile::open(blob, options)?)),
            Encoding::Orc => Source::Orc(Arc::new(OrcFile::open(blob, options)?)),
            Encoding::Csv => Source::Csv(Arc::new(CsvFile::open(blob, options)?)),
            Encoding::JsonLines => Source::Json(Arc::new(JsonFile::open(blob, options)?)),
            Encoding::Arrow => Source::Arrow(Arc::new(ArrowFile::open(blob, options)?)),
        }))
    }

    /// Returns the schema of its batches.
    pub fn schema(&self) -> &SchemaRef {
        match &self.0 {
            Source::Parquet(file) => file.schema(),
            Source::Orc(file) => file.schema(),
            Source::Csv(file) => file.schema(),
            Source::Json(file) => file.schema(),
            Source::Arrow(file) => file.schema(),
        }
    }

    /// Returns the number of rows, if the file records it; text does not, but CSV may have been surveyed
    /// ([`ReadOptions::csv_index`]).
    pub fn row_count(&self) -> Option<u64> {
        match &self.0 {
            Source::Parquet(file) => Some(file.row_count()),
            Source::Orc(file) => Some(file.row_count()),
            Source::Arrow(file) => Some(file.row_count()),
            Source::Csv(file) => file.index().map(CsvIndex::rows),
            Source::Json(_) => None,
        }
    }

    /// Returns the keys and values in the footer of a Parquet file, see [`crate::WriteOptions::footer_metadata`]; empty for
    /// other encodings.
    pub fn footer_metadata(&self) -> Vec<(&str, &str)> {
        match &self.0 {
            Source::Parquet(file) => file.footer_metadata(),
            Source::Orc(_) | Source::Csv(_) | Source::Json(_) | Source::Arrow(_) => Vec::new(),
        }
    }

    /// What the footer of a Parquet file says of a column; nothing is known of other encodings, and of a column that is not there.
    ///
    /// # Errors
    /// When the footer is not sound.
    pub fn column_statistics(&self, column: &str) -> Result<ColumnStatistics> {
        match &self.0 {
            Source::Parquet(file) => match file.schema().index_of(column) {
                Ok(at) => file.column_statistics(at),
                Err(_) => Ok(ColumnStatistics::default()),
            },
            Source::Orc(_) | Source::Csv(_) | Source::Json(_) | Source::Arrow(_) => Ok(ColumnStatistics::default()),
        }
    }

    /// Whether the Arrow schema that the writer of a Parquet file embedded, if it did, can be read. Nothing here needs it; Polars
    /// and pyarrow refuse a file in which it is damaged.
    ///
    /// # Errors
    /// The rule `PARQUET-FOOTER` if it cannot be read.
    pub fn check_embedded(&self) -> Result<()> {
        match &self.0 {
            Source::Parquet(file) => file.check_embedded(),
            Source::Orc(_) | Source::Csv(_) | Source::Json(_) | Source::Arrow(_) => Ok(()),
        }
    }

    /// Returns the number of parts that can be decoded concurrently: row groups, stripes or record batches, the pieces of surveyed
    /// CSV; 1 for other text.
    pub fn row_groups(&self) -> usize {
        match &self.0 {
            Source::Parquet(file) => file.row_groups(),
            Source::Orc(file) => file.stripes(),
            Source::Arrow(file) => file.batches(),
            Source::Csv(file) => file.row_groups(),
            Source::Json(_) => 1,
        }
    }

    /// Returns the rows of such a part, counted in the file; `None` for text that was not surveyed.
    pub fn rows_of_group(&self, group: usize) -> Option<Range<u64>> {
        match &self.0 {
            Source::Parquet(file) => Some(file.rows_of(group)),
            Source::Orc(file) => Some(file.rows_of(group)),
            Source::Arrow(file) => Some(file.rows_of(group)),
            Source::Csv(file) => file.rows_of(group),
            Source::Json(_) => None,
        }
    }

    /// Returns the line on which a row of a text file starts, from 1: for messages, because the file is read up to there.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn line_of(&self, row: u64) -> Result<Option<u64>> {
        match &self.0 {
            Source::Csv(file) => file.line_of(row),
            Source::Json(file) => file.line_of(row),
            Source::Parquet(_) | Source::Orc(_) | Source::Arrow(_) => Ok(None),
        }
    }

    /// Passes on the rows of CSV whose records have another number of fields than the header, and an error for each; see
    /// [`crate::CsvDialect::keep_odd_records`].
    ///
    /// # Errors
    /// Errors of reading.
    pub fn odd_records(&self, take: &mut dyn FnMut(u64, Error)) -> Result<()> {
        match &self.0 {
            Source::Csv(file) => file.odd_records(take),
            Source::Json(_) | Source::Parquet(_) | Source::Orc(_) | Source::Arrow(_) => Ok(()),
        }
    }

    /// Reads the selected rows in batches, in the order of the file.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] and `NotFound` if the selection does not match the table. Errors in the data
    /// are returned by the iterator, which ends after the first one.
    pub fn batches(&self, selection: &Selection) -> Result<Batches> {
        match &self.0 {
            Source::Parquet(file) => {
                let scan = Scan::new(file, selection)?;
                Ok(Batches { schema: Arc::clone(scan.schema()), batches: Box::new(scan) })
            }
            Source::Orc(file) => {
                let (schema, batches) = file.scan(selection)?;
                Ok(Batches { schema, batches: Box::new(batches) })
            }
            Source::Arrow(file) => {
                let (schema, batches) = file.scan(selection)?;
                Ok(Batches { schema, batches: Box::new(batches) })
            }
            Source::Csv(file) => {
                let (schema, batches) = file.scan(selection)?;
                Ok(Batches { schema, batches: Box::new(batches) })
            }
            Source::Json(file) => {
                one_part(selection)?;
                let (schema, batches) = file.scan(selection)?;
                Ok(Batches { schema, batches: Box::new(batches) })
            }
        }
    }

    /// Reads the `rows` of `columns`, in the given order, for look-ups. Ranges may overlap and be in any order. In a Parquet
    /// file with a page index, only the pages that contain the rows are read; other encodings are read up to the last row.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] and `NotFound` for rows and columns that do not exist, and errors of the data.
    pub fn read_rows(&self, columns: &[&str], rows: &[Range<u64>]) -> Result<RecordBatch> {
        match &self.0 {
            Source::Parquet(file) => parquet::read_rows(file, columns, rows),
            _ => self.scan_rows(columns, rows),
        }
    }

    /// Same as [`TableReader::read_rows`], by an ordinary scan.
    fn scan_rows(&self, columns: &[&str], rows: &[Range<u64>]) -> Result<RecordBatch> {
        let order = RowOrder::new(rows);
        let selection = Selection::all().columns(columns.iter().copied()).rows(order.sorted().to_vec());
        let batches = self.batches(&selection)?;
        let schema = Arc::clone(batches.schema());
        order.arrange(&schema, &batches.collect::<Result<Vec<_>>>()?)
    }
}

/// Checks that the selection of row groups is valid for text, which has only one.
fn one_part(selection: &Selection) -> Result<()> {
    match &selection.row_groups {
        Some(groups) if *groups != (0..1) => Err(Error::usage("text has only one row group")),
        _ => Ok(()),
    }
}

/// An iterator over the selected rows of a table, in batches. It ends after the first error.
pub struct Batches {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
}

impl Batches {
    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next()
    }
}
