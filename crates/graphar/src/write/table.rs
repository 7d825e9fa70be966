//! Writer of one table file: rows come in pieces of any size and are written in equal ones, so that the bytes do not depend on
//! how they arrived.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use isomorph_error::Result;
use isomorph_storage::{Redo, StagedFile, Staging};
use isomorph_tables::{ColumnEncoding, Compression, Encoding, TableWriter, WriteOptions};

use super::columns::arrow;
use super::encoder::{Encoder, Task};
use crate::table::VERTEX_INDEX;

/// Number of rows in a piece. Sizes of pages and row groups are multiples or divisors of it.
const PIECE_ROWS: usize = 1 << 16;

/// The destination of new files.
pub(crate) trait Directory {
    /// Begins the file `path`.
    ///
    /// # Errors
    /// As [`Staging::create`].
    fn create(&self, path: &str) -> Result<StagedFile>;
}

impl Directory for Staging {
    fn create(&self, path: &str) -> Result<StagedFile> {
        Staging::create(self, path)
    }
}

impl Directory for Redo {
    fn create(&self, path: &str) -> Result<StagedFile> {
        Redo::create(self, path)
    }
}

/// The columns of a kind of files, and their encoding.
#[derive(Debug, Clone)]
pub(crate) struct TableSpec {
    pub schema: SchemaRef,
    pub encoding: Encoding,
    options: WriteOptions,
}

impl TableSpec {
    /// Describes files with these columns. Numbers have no dictionary, which a look-up would have to read whole: integers and
    /// times are written as differences, floats as they are, labels as run lengths.
    pub fn new(fields: Vec<Field>, encoding: Encoding, compression: Compression) -> Self {
        let mut options = WriteOptions::default().compression(compression);
        for field in &fields {
            let column = match field.data_type() {
                DataType::Boolean => ColumnEncoding::RunLength,
                DataType::Int32 | DataType::Int64 | DataType::Date32 | DataType::Timestamp(..) => ColumnEncoding::Delta,
                DataType::Float32 | DataType::Float64 => ColumnEncoding::Plain,
                _ => continue,
            };
            options = options.encoding(field.name(), column);
        }
        // All columns of the published library's files are optional, except the vertex index.
        let optional = |field: Field| {
            let nullable = field.name() != VERTEX_INDEX;
            field.with_nullable(nullable)
        };
        let schema = Arc::new(Schema::new(fields.into_iter().map(optional).collect::<Vec<_>>()));
        TableSpec { schema, encoding, options }
    }

    /// Creates a batch of these columns.
    ///
    /// # Errors
    /// Returns an error if columns and schema do not match.
    pub fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options).map_err(arrow)
    }
}

/// One file that is being written.
pub(crate) struct TableFile {
    task: Arc<Task>,
    schema: SchemaRef,
    pending: Vec<RecordBatch>,
    rows: usize,
}

impl TableFile {
    /// Begins the file `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, or if its encoding lacks a type.
    pub fn create(directory: &dyn Directory, encoder: &Encoder, path: &str, spec: &TableSpec) -> Result<Self> {
        let file = directory.create(path)?;
        let writer =
            TableWriter::create(file, spec.encoding, &spec.schema, &spec.options).map_err(|error| error.at(path))?;
        let task = encoder.begin(path, writer);
        Ok(TableFile { task, schema: Arc::clone(&spec.schema), pending: Vec::new(), rows: 0 })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// Returns the first error of any file that is being encoded.
    pub fn push(&mut self, encoder: &Encoder, mut batch: RecordBatch) -> Result<()> {
        while self.rows + batch.num_rows() >= PIECE_ROWS {
            let missing = PIECE_ROWS - self.rows;
            let rest = batch.slice(missing, batch.num_rows() - missing);
            self.pending.push(batch.slice(0, missing));
            self.flush(encoder)?;
            batch = rest;
        }
        if batch.num_rows() > 0 {
            self.rows += batch.num_rows();
            self.pending.push(batch);
        }
        Ok(())
    }

    fn flush(&mut self, encoder: &Encoder) -> Result<()> {
        // Always copied: a slice would keep its whole batch in memory.
        let piece = concat_batches(&self.schema, &self.pending).map_err(arrow)?;
        self.pending.clear();
        self.rows = 0;
        encoder.write(&self.task, piece)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As [`TableFile::push`].
    pub fn close(mut self, encoder: &Encoder) -> Result<()> {
        if self.rows > 0 {
            self.flush(encoder)?;
        }
        encoder.close(&self.task);
        Ok(())
    }
}
