//! Writing a table. Rows can be added in batches of any length and are written in batches of equal length, so that
//! the bytes do not depend on the input batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use isomorph_error::{Error, Place, Result};
use isomorph_tables::{ColumnEncoding, Encoding, PAGE_ROWS, TableWriter};

use super::WriteOptions;
use super::output::{Member, Output};
use super::shape::NODE_ID;
use crate::layout::column::{COL_IDX, EDGE_ID, ENTITY_ID, IDX, SOURCE, TARGET, WEIGHT};

/// Rows of an output batch.
const PIECE_ROWS: usize = 1 << 16;
/// Rows of a row group: about as many as the published library writes.
const ROW_GROUP_ROWS: usize = 1 << 17;

/// The older name of [`NODE_ID`].
const VERTEX_ID: &str = "vertex_id";

/// Rows of a page in tables for look-ups: the texts of a page are decoded one after another.
const LOOK_UP_PAGE_ROWS: usize = 512;

/// Returns the encoding of columns that a dictionary would make larger and slower: ids are mostly distinct, positions
/// ascend, and weights differ as well.
fn encoding(name: &str, data_type: &DataType) -> Option<ColumnEncoding> {
    match (name, data_type) {
        (EDGE_ID | ENTITY_ID | SOURCE | TARGET | NODE_ID | VERTEX_ID, DataType::Utf8) => Some(ColumnEncoding::Plain),
        (COL_IDX | IDX, DataType::Int64) => Some(ColumnEncoding::Delta),
        (WEIGHT, DataType::Float64) => Some(ColumnEncoding::ByteStreamSplit),
        _ => None,
    }
}

/// A table that is being written.
pub(super) struct TableOut {
    name: String,
    schema: SchemaRef,
    writer: TableWriter<Member>,
    pending: Vec<RecordBatch>,
    rows: usize,
}

impl TableOut {
    /// Begins the table `name`. Every column may have nulls, as in the files of the published library.
    ///
    /// # Errors
    /// Returns an error if it cannot be created, or a type is not supported.
    pub fn create(
        output: &Output<'_>,
        name: &str,
        columns: &[(&str, DataType)],
        options: &WriteOptions,
    ) -> Result<Self> {
        let fields = columns.iter().map(|(name, data_type)| Field::new(*name, data_type.clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut table = isomorph_tables::WriteOptions {
            compression: options.compression,
            row_group_rows: ROW_GROUP_ROWS,
            page_rows: if options.cache { LOOK_UP_PAGE_ROWS } else { PAGE_ROWS },
            ..isomorph_tables::WriteOptions::default()
        };
        for (name, data_type) in columns {
            if let Some(encoding) = encoding(name, data_type) {
                table = table.encoding(*name, encoding);
            }
        }
        let writer = TableWriter::create(output.create(name)?, Encoding::Parquet, &schema, &table)
            .map_err(|error| error.at(Place::file(name)))?;
        Ok(TableOut { name: name.to_owned(), schema, writer, pending: Vec::new(), rows: 0 })
    }

    /// Adds rows; a missing column is null in all rows.
    ///
    /// # Errors
    /// Returns an error if the columns are not those of the table, or cannot be written.
    pub fn push(&mut self, rows: usize, columns: Vec<Option<ArrayRef>>) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let fields = self.schema.fields().iter().zip(columns);
        let columns = fields.map(|(field, column)| column.unwrap_or_else(|| new_null_array(field.data_type(), rows)));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let mut batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns.collect(), &options)
            .map_err(|error| self.arrow(error))?;
        while self.rows + batch.num_rows() >= PIECE_ROWS {
            let missing = PIECE_ROWS - self.rows;
            let rest = batch.slice(missing, batch.num_rows() - missing);
            self.pending.push(batch.slice(0, missing));
            self.flush()?;
            batch = rest;
        }
        if batch.num_rows() > 0 {
            self.rows += batch.num_rows();
            self.pending.push(batch);
        }
        Ok(())
    }

    fn arrow(&self, error: arrow_schema::ArrowError) -> Error {
        Error::usage(error.to_string()).at(Place::file(&self.name)).caused_by(error)
    }

    fn flush(&mut self) -> Result<()> {
        // Always copied: a slice would keep the whole input batch in memory.
        let piece = concat_batches(&self.schema, &self.pending).map_err(|error| self.arrow(error))?;
        self.pending.clear();
        self.rows = 0;
        self.writer.write(&piece).map_err(|error| error.at(Place::file(&self.name)))
    }

    /// Completes the table.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn finish(mut self, output: &mut Output<'_>) -> Result<()> {
        if self.rows > 0 {
            self.flush()?;
        }
        let (file, _) = self.writer.finish().map_err(|error| error.at(Place::file(&self.name)))?;
        output.finish(&self.name, file)
    }
}
