//! Reading a table, whatever its encoding.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use isomorph_error::{Error, Result};
use isomorph_model::statistics::ColumnStatistics;
use isomorph_storage::Blob;

use crate::csv::CsvFile;
use crate::json::JsonFile;
use crate::orc::OrcFile;
use crate::parquet::{self, ParquetFile, Scan};
use crate::row_order::RowOrder;
use crate::{Encoding, ReadOptions, Selection};

/// An opened table. Its metadata was read and checked once; clones share it and may be used side by side.
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
}

impl TableReader {
    /// Opens `blob`, which holds a table in `encoding`.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Malformed`] when the file is not what the encoding says, `TooLarge` beyond the limits,
    /// `Unsupported` for types that cannot be read, `Usage` when text is opened without a declared schema, and those
    /// of reading.
    pub fn open(blob: Blob, encoding: Encoding, options: &ReadOptions) -> Result<Self> {
        Ok(TableReader(match encoding {
            Encoding::Parquet => Source::Parquet(Arc::new(ParquetFile::open(blob, options)?)),
            Encoding::Orc => Source::Orc(Arc::new(OrcFile::open(blob, options)?)),
            Encoding::Csv => Source::Csv(Arc::new(CsvFile::open(blob, options)?)),
            Encoding::JsonLines => Source::Json(Arc::new(JsonFile::open(blob, options)?)),
        }))
    }

    /// The schema of its batches.
    pub fn schema(&self) -> &SchemaRef {
        match &self.0 {
            Source::Parquet(file) => file.schema(),
            Source::Orc(file) => file.schema(),
            Source::Csv(file) => file.schema(),
            Source::Json(file) => file.schema(),
        }
    }

    /// Rows, if the file says how many; text does not.
    pub fn row_count(&self) -> Option<u64> {
        match &self.0 {
            Source::Parquet(file) => Some(file.row_count()),
            Source::Orc(file) => Some(file.row_count()),
            Source::Csv(_) | Source::Json(_) => None,
        }
    }

    /// Keys and values that the footer of a Parquet file holds, see [`crate::WriteOptions::footer_metadata`]; none in
    /// other encodings.
    pub fn footer_metadata(&self) -> Vec<(&str, &str)> {
        match &self.0 {
            Source::Parquet(file) => file.footer_metadata(),
            Source::Orc(_) | Source::Csv(_) | Source::Json(_) => Vec::new(),
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
            Source::Orc(_) | Source::Csv(_) | Source::Json(_) => Ok(ColumnStatistics::default()),
        }
    }

    /// Whether the Arrow schema that the writer of a Parquet file embedded, if it did, can be read. Nothing here needs it; Polars
    /// and pyarrow refuse a file in which it is damaged.
    ///
    /// # Errors
    /// The rule `PARQUET-FOOTER` when it cannot.
    pub fn check_embedded(&self) -> Result<()> {
        match &self.0 {
            Source::Parquet(file) => file.check_embedded(),
            Source::Orc(_) | Source::Csv(_) | Source::Json(_) => Ok(()),
        }
    }

    /// Parts that can be decoded side by side: row groups, stripes; one for text.
    pub fn row_groups(&self) -> usize {
        match &self.0 {
            Source::Parquet(file) => file.row_groups(),
            Source::Orc(file) => file.stripes(),
            Source::Csv(_) | Source::Json(_) => 1,
        }
    }

    /// The rows of one row group or stripe, counted in the file; nothing for text.
    pub fn rows_of_group(&self, group: usize) -> Option<Range<u64>> {
        match &self.0 {
            Source::Parquet(file) => Some(file.rows_of(group)),
            Source::Orc(file) => Some(file.rows_of(group)),
            Source::Csv(_) | Source::Json(_) => None,
        }
    }

    /// The selected rows, batch by batch, in the order of the file.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] and `NotFound` for a selection that does not fit the table. Errors of the data
    /// come from the iterator, which ends behind the first.
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
            Source::Csv(file) => {
                one_part(selection)?;
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

    /// The `rows` of `columns`, in the order given, for look-ups: ranges may overlap and lie in any order. In a Parquet
    /// file with a page index only the pages that hold the rows are read; other encodings are read up to the last row.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] and `NotFound` for rows and columns that the table has not, and those of the data.
    pub fn read_rows(&self, columns: &[&str], rows: &[Range<u64>]) -> Result<RecordBatch> {
        match &self.0 {
            Source::Parquet(file) => parquet::read_rows(file, columns, rows),
            _ => self.scan_rows(columns, rows),
        }
    }

    /// As [`TableReader::read_rows`], by the ordinary way.
    fn scan_rows(&self, columns: &[&str], rows: &[Range<u64>]) -> Result<RecordBatch> {
        let order = RowOrder::new(rows);
        let selection = Selection::all().columns(columns.iter().copied()).rows(order.sorted().to_vec());
        let batches = self.batches(&selection)?;
        let schema = Arc::clone(batches.schema());
        order.arrange(&schema, &batches.collect::<Result<Vec<_>>>()?)
    }
}

/// Text has one part only.
fn one_part(selection: &Selection) -> Result<()> {
    match &selection.row_groups {
        Some(groups) if *groups != (0..1) => Err(Error::usage("text has no row groups but the first")),
        _ => Ok(()),
    }
}

/// The selected rows of a table, batch by batch. Ends behind the first error.
pub struct Batches {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
}

impl Batches {
    /// The schema of the batches.
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
