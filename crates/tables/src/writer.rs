//! Writes tables in any encoding.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use isomorph_error::{Error, Result};

use crate::arrow::ArrowWriter;
use crate::csv::CsvWriter;
use crate::json::JsonWriter;
use crate::orc::OrcWriter;
use crate::parquet::ParquetWriter;
use crate::{Encoding, WriteOptions};

/// Writes one table. The output is complete only after [`TableWriter::finish`].
pub struct TableWriter<W: Write + Send> {
    sink: Sink<Counted<W>>,
    schema: SchemaRef,
    rows: u64,
}

enum Sink<W: Write + Send> {
    Parquet(Box<ParquetWriter<W>>),
    Orc(Box<OrcWriter<W>>),
    Csv(CsvWriter<W>),
    Json(JsonWriter<W>),
    Arrow(Box<ArrowWriter<W>>),
}

/// The size of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteStats {
    /// Number of rows.
    pub rows: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl<W: Write + Send> TableWriter<W> {
    /// Creates a writer of a table with `schema` into `out`.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for types that the encoding lacks, before anything is written; `Usage` for
    /// options that do not match the schema; errors of writing.
    pub fn create(out: W, encoding: Encoding, schema: &Schema, options: &WriteOptions) -> Result<Self> {
        let out = Counted { out, bytes: 0 };
        let sink = match encoding {
            Encoding::Parquet => Sink::Parquet(Box::new(ParquetWriter::create(out, schema, options)?)),
            Encoding::Orc => Sink::Orc(Box::new(OrcWriter::create(out, schema, options)?)),
            Encoding::Csv => Sink::Csv(CsvWriter::create(out, schema, options)?),
            Encoding::JsonLines => Sink::Json(JsonWriter::create(out, schema, &options.raw_json)?),
            Encoding::Arrow => Sink::Arrow(Box::new(ArrowWriter::create(out, schema)?)),
        };
        Ok(TableWriter { sink, schema: Arc::new(schema.clone()), rows: 0 })
    }

    /// Writes the rows of `batch`, which must have the columns of the schema.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] if the batch has other columns, `Malformed` for a null in a column that is not
    /// nullable, and errors of writing.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let same = |(own, given): (&Arc<arrow_schema::Field>, &Arc<arrow_schema::Field>)| {
            own.name() == given.name() && own.data_type() == given.data_type()
        };
        let schema = batch.schema_ref();
        if self.schema.fields().len() != schema.fields().len()
            || !self.schema.fields().iter().zip(schema.fields()).all(same)
        {
            return Err(Error::usage("the columns of the batch differ from those of the table"));
        }
        match &mut self.sink {
            Sink::Parquet(writer) => writer.write(batch)?,
            Sink::Orc(writer) => writer.write(batch)?,
            Sink::Csv(writer) => writer.write(batch)?,
            Sink::Json(writer) => writer.write(batch)?,
            Sink::Arrow(writer) => writer.write(batch)?,
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Writes the remaining rows and returns the output.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn finish(self) -> Result<(W, WriteStats)> {
        let out = match self.sink {
            Sink::Parquet(writer) => writer.finish()?,
            Sink::Orc(writer) => writer.finish()?,
            Sink::Csv(writer) => writer.finish()?,
            Sink::Json(writer) => writer.finish()?,
            Sink::Arrow(writer) => writer.finish()?,
        };
        Ok((out.out, WriteStats { rows: self.rows, bytes: out.bytes }))
    }
}

/// Counts the written bytes.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
