//! Opens one chunk file.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::json::texts;
use isomorph_storage::Root;
use isomorph_tables::rules::{CSV_HEADER, VALUE_INEXACT};
use isomorph_tables::{Batches, Encoding, PageCache, ReadOptions, Selection, TableReader};

use super::{Column, VERTEX_INDEX};
use crate::open::linked;
use crate::rules;

/// Opens the table in file `path`, with `fields` declared.
///
/// # Errors
/// Returns [`rules::FILE_MISSING`] of kind [`Kind::Incomplete`], or an error of opening a table.
pub(crate) fn open_chunk(root: &Root, path: &str, encoding: Encoding, fields: Vec<Field>) -> Result<TableReader> {
    open_chunk_with(root, path, encoding, fields, PageCache::new(0))
}

/// Opens a table for look-ups: decompressed pages are cached in `pages`.
///
/// # Errors
/// As [`open_chunk`].
pub(crate) fn open_chunk_with(
    root: &Root,
    path: &str,
    encoding: Encoding,
    fields: Vec<Field>,
    pages: PageCache,
) -> Result<TableReader> {
    let blob = root.file(path).map_err(|error| match error.kind() {
        Kind::NotFound => missing(path),
        _ => linked(error, path),
    })?;
    let options = ReadOptions { pages, ..ReadOptions::declared(Arc::new(Schema::new(fields))) };
    TableReader::open(blob, encoding, &options).map_err(|error| error.at(Place::file(path)))
}

/// Returns the error for a missing file.
pub(crate) fn missing(path: &str) -> Error {
    Error::broken(&rules::FILE_MISSING, "the file is missing").of_kind(Kind::Incomplete).at(Place::file(path))
}

/// An opened chunk of a property group: its columns, preceded by the vertex index if there is one.
#[derive(Clone)]
pub(crate) struct Chunk {
    pub path: String,
    pub reader: TableReader,
    pub columns: Arc<[Column]>,
    /// Whether the vertex index is also read.
    pub indexed: bool,
}

impl Chunk {
    /// Opens the chunk `path`, with its vertex index if `indexed` is true and there is one.
    ///
    /// # Errors
    /// As [`open_chunk`]; [`rules::COLUMN_MISSING`] for a missing column; [`rules::COLUMN_TYPE`] for a column of
    /// another type.
    pub fn open(root: &Root, path: String, encoding: Encoding, columns: Arc<[Column]>, indexed: bool) -> Result<Self> {
        let fields = |indexed: bool| {
            let index = indexed.then(|| Field::new(VERTEX_INDEX, DataType::Int64, true));
            index.into_iter().chain(columns.iter().filter_map(|column| column.field(encoding))).collect::<Vec<_>>()
        };
        let mut opened = open_chunk(root, &path, encoding, fields(indexed));
        let mut indexed = indexed;
        // Text files have no schema: if the header lacks the index, opening with it fails.
        if indexed && encoding == Encoding::Csv && is_header_error(&opened) {
            indexed = false;
            opened = open_chunk(root, &path, encoding, fields(false));
        }
        let reader = opened.map_err(|error| named(error, &columns))?;
        indexed &= reader.schema().column_with_name(VERTEX_INDEX).is_some();
        Ok(Chunk { indexed, ..Chunk::of_reader(path, reader, columns)? })
    }

    /// Wraps a chunk that is already open, with `columns` declared; its vertex index is not read.
    ///
    /// # Errors
    /// [`rules::COLUMN_MISSING`].
    pub fn of_reader(path: String, reader: TableReader, columns: Arc<[Column]>) -> Result<Self> {
        let gone = columns.iter().find(|column| reader.schema().column_with_name(&column.name).is_none());
        if let Some(column) = gone {
            let place = Place::file(&path).in_field(&column.name);
            return Err(Error::broken(&rules::COLUMN_MISSING, format!("there is no column {}", column.name)).at(place));
        }
        Ok(Chunk { path, reader, columns, indexed: false })
    }

    /// Returns the columns at `rows`, in the types of the model.
    ///
    /// # Errors
    /// Returns [`rules::COUNT_ROWS`] if there are fewer rows; otherwise as [`TableReader::read_rows`] and [`Chunk::columns`].
    pub fn read_rows(&self, rows: &[Range<u64>]) -> Result<Vec<ArrayRef>> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let batch = self.reader.read_rows(&names, rows).map_err(|error| rows_error(error, &self.path))?;
        self.columns(&batch)
    }

    /// Returns its batches: the vertex index, if it is read, then the columns.
    ///
    /// # Errors
    /// As [`TableReader::batches`].
    pub fn batches(&self, selection: Selection) -> Result<Batches> {
        let index = self.indexed.then_some(VERTEX_INDEX);
        let names = index.into_iter().chain(self.columns.iter().map(|column| column.name.as_str()));
        self.reader.batches(&selection.columns(names)).map_err(|error| error.at(Place::file(&self.path)))
    }

    /// Returns the columns of a batch in the types of the model.
    ///
    /// # Errors
    /// [`rules::COLUMN_TYPE`].
    pub fn columns(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let first = usize::from(self.indexed);
        let typed = |(column, array): (&Column, &ArrayRef)| match array.data_type() == &column.data_type {
            true => Ok(Arc::clone(array)),
            false if column.as_text => texts(array).map_err(|error| {
                Error::broken(&rules::COLUMN_TYPE, error.message())
                    .at(Place::file(&self.path).in_field(&column.name))
                    .hint("use --columns to read the other properties: GraphAr has no type for these values")
            }),
            false => {
                let message = format!("found {}, expected {}", array.data_type(), column.data_type);
                let place = Place::file(&self.path).in_field(&column.name);
                Err(Error::broken(&rules::COLUMN_TYPE, message).at(place))
            }
        };
        self.columns.iter().zip(batch.columns().get(first..).unwrap_or_default()).map(typed).collect()
    }
}

fn is_header_error(opened: &Result<TableReader>) -> bool {
    opened.as_ref().err().and_then(Error::broken_rule).is_some_and(|rule| rule.id == CSV_HEADER.id)
}

/// Maps errors of declared columns to the rules of this format.
fn named(error: Error, columns: &[Column]) -> Error {
    let ours = error.place().field.as_ref().is_some_and(|field| columns.iter().any(|column| column.name == *field));
    match error.kind() {
        Kind::Unsupported if ours => error.of_kind(Kind::Malformed).rule(&rules::COLUMN_TYPE),
        _ => error,
    }
}

/// Maps the error of a look-up whose rows follow from counts and chunk sizes: too few rows are an error of the file.
pub(crate) fn rows_error(error: Error, path: &str) -> Error {
    match error.kind() {
        Kind::Usage => Error::broken(&rules::COUNT_ROWS, error.message()).at(path),
        _ => inexact(error).at(path),
    }
}

/// Maps the error of a value that its declared type cannot represent to the rule of this format.
pub(crate) fn inexact(error: Error) -> Error {
    match error.broken_rule() {
        Some(rule) if rule.id == VALUE_INEXACT.id => error.rule(&rules::VALUE_INEXACT),
        _ => error,
    }
}
