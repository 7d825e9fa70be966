//! Appending rows to a table without rewriting its existing rows.
//!
//! A Parquet file cannot be extended in one step that readers see completely or not at all. A table that grows
//! therefore becomes a directory of the same name, whose files Polars, pyarrow and pandas read as one table; existing
//! rows stay in their file.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::type_name;
use isomorph_storage::Blob;
use isomorph_tables::{Compression, Encoding, ReadOptions, TableReader, TableWriter};

use super::target::Target;
use crate::members::{Members, PART_SUFFIX};
use crate::rules;
use crate::table::Table;
use crate::write::output::Member;

/// A last file of at most this many bytes is rewritten with the new rows, so that small tables stay one file.
const SMALL: u64 = 1 << 16;
/// A last file of at most this fraction of its table is rewritten as well, so that a table never has many more files
/// than this.
const SHARE: u64 = 100;
/// Rows of a row group, as in tables that are written completely.
const ROW_GROUP_ROWS: usize = 1 << 17;
/// Rows that are copied at a time.
const BATCH_ROWS: usize = 1 << 16;
/// The Arrow schema that Polars and pyarrow embed in a file, and then expect in each file of a table.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// Returns the name of a file of a table that has grown.
fn part(number: u64) -> String {
    format!("part-{number:06}{PART_SUFFIX}")
}

/// Writes the tables of a graph.
pub(super) struct Tables<'a> {
    pub members: &'a Members,
    pub target: &'a mut Target,
    pub compression: Compression,
}

impl Tables<'_> {
    /// Appends `rows` to the table `name`.
    ///
    /// # Errors
    /// Returns an error if a column has values that the table cannot hold, or the file cannot be written.
    pub fn grow(&mut self, name: &str, rows: &RecordBatch) -> Result<()> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let parts = self.members.parts(name)?;
        if parts.is_empty() {
            return self.write(name, &rows.schema(), None, [Ok(rows.clone())]);
        }
        let old = Table::open(name, parts.clone())?;
        let (schema, same) = fitting(&old.schema(), rows);
        let new = fit(rows, &schema, name)?;
        let sizes: u64 = parts.iter().map(Blob::size).sum();
        let last = parts.last().map_or(0, Blob::size);
        if self.target.is_archive() || !self.target.can_nest() || !same {
            let all = old.batches(&names(&old.schema()), 0..old.rows(), BATCH_ROWS)?;
            let all = all.map(|cells| fit(&cells?.batch, &schema, name)).chain([Ok(new)]);
            return self.replace(name, &parts, &schema, same_schema(&parts, same)?, all);
        }
        let kept = kept_schema(&parts)?;
        if last <= SMALL.max(sizes / SHARE) {
            let Some(blob) = parts.last() else { return Ok(()) };
            let own = Table::open(name, vec![blob.clone()])?;
            let batches = own.batches(&names(&schema), 0..own.rows(), BATCH_ROWS)?;
            let batches = batches.map(|cells| fit(&cells?.batch, &schema, name)).chain([Ok(new)]);
            return self.write(blob.name(), &schema, kept, batches);
        }
        let is_file = parts.len() == 1 && parts.iter().all(|own| own.name() == name);
        if is_file {
            self.target.nest(name, &part(0))?;
        }
        let next = match parts.last().filter(|_| !is_file) {
            Some(last) => number(last.name()).unwrap_or(parts.len() as u64 - 1).saturating_add(1),
            None => 1,
        };
        self.write(&format!("{name}/{}", part(next)), &schema, kept, [Ok(new)])
    }

    /// Replaces the rows of a table, whose files are `parts`.
    ///
    /// # Errors
    /// Returns an error if they cannot be read or written.
    pub fn replace(
        &mut self,
        name: &str,
        parts: &[Blob],
        schema: &SchemaRef,
        arrow_schema: Option<String>,
        batches: impl IntoIterator<Item = Result<RecordBatch>>,
    ) -> Result<()> {
        let first = match parts.first().filter(|_| !self.target.is_archive()) {
            Some(first) => first.name().to_owned(),
            None => name.to_owned(),
        };
        self.write(&first, schema, arrow_schema, batches)?;
        if self.target.is_archive() {
            return Ok(());
        }
        parts.iter().filter(|own| own.name() != first).try_for_each(|other| self.target.remove(other.name()))
    }

    /// Rewrites a table: those of its rows that are `kept`, with its columns, followed by `rows`.
    ///
    /// # Errors
    /// Returns the errors of [`Tables::grow`].
    pub fn rewrite(
        &mut self,
        name: &str,
        own: &SchemaRef,
        kept: impl Iterator<Item = Result<RecordBatch>>,
        rows: Option<&RecordBatch>,
    ) -> Result<()> {
        let parts = self.members.parts(name)?;
        let (schema, same) = match rows {
            Some(rows) => fitting(own, rows),
            None => (Arc::clone(own), true),
        };
        let new = rows.map(|rows| fit(rows, &schema, name)).transpose()?;
        let all = kept.map(|batch| fit(&batch?, &schema, name)).chain(new.map(Ok));
        self.replace(name, &parts, &schema, same_schema(&parts, same)?, all)
    }

    fn write(
        &mut self,
        name: &str,
        schema: &SchemaRef,
        arrow_schema: Option<String>,
        batches: impl IntoIterator<Item = Result<RecordBatch>>,
    ) -> Result<()> {
        let at = |error: Error| error.at(Place::file(name));
        let options = isomorph_tables::WriteOptions {
            compression: self.compression,
            row_group_rows: ROW_GROUP_ROWS,
            footer_metadata: arrow_schema.map(|schema| (ARROW_SCHEMA.to_owned(), schema)).into_iter().collect(),
            ..isomorph_tables::WriteOptions::default()
        };
        let file: Member = self.target.create(name)?;
        let mut writer = TableWriter::create(file, Encoding::Parquet, schema, &options).map_err(at)?;
        for batch in batches {
            writer.write(&batch?).map_err(at)?;
        }
        let (file, _) = writer.finish().map_err(at)?;
        self.target.finish(name, file)
    }
}

/// Returns the number in the name of a file of a table.
fn number(path: &str) -> Option<u64> {
    let own = path.rsplit_once('/')?.1;
    let digits = own.strip_prefix("part-")?.strip_suffix(PART_SUFFIX)?;
    digits.parse().ok().filter(|_| !digits.starts_with('+'))
}

fn names(schema: &Schema) -> Vec<&str> {
    schema.fields().iter().map(|field| field.name().as_str()).collect()
}

/// Returns the Arrow schema embedded in the first file.
fn kept_schema(parts: &[Blob]) -> Result<Option<String>> {
    let Some(first) = parts.first() else { return Ok(None) };
    let reader = TableReader::open(first.clone(), Encoding::Parquet, &ReadOptions::default())?;
    let metadata = reader.footer_metadata();
    Ok(metadata.into_iter().find(|(key, _)| *key == ARROW_SCHEMA).map(|(_, schema)| schema.to_owned()))
}

/// Returns the embedded Arrow schema if the columns are still those of the file.
fn same_schema(parts: &[Blob], same: bool) -> Result<Option<String>> {
    if same { kept_schema(parts) } else { Ok(None) }
}

/// Returns the columns of a table combined with those of new rows, and whether they are unchanged. Columns of the new
/// rows without values are omitted.
fn fitting(old: &SchemaRef, rows: &RecordBatch) -> (SchemaRef, bool) {
    let own = rows.schema();
    let said = |name: &str| rows.column_by_name(name).is_some_and(|column| column.null_count() < column.len());
    let mut same = true;
    let mut fields: Vec<Field> = Vec::new();
    for field in old.fields() {
        let typed =
            own.column_with_name(field.name()).map(|(_, field)| field).filter(|_| is_untyped(field.data_type()));
        match typed.filter(|_| said(field.name())) {
            Some(typed) => {
                same = false;
                fields.push(Field::new(field.name(), typed.data_type().clone(), true));
            }
            None => fields.push(field.as_ref().clone().with_nullable(true)),
        }
    }
    for field in own.fields() {
        if old.field_with_name(field.name()).is_err() && said(field.name()) {
            same = false;
            fields.push(Field::new(field.name(), field.data_type().clone(), true));
        }
    }
    (Arc::new(Schema::new(fields)), same)
}

/// Returns whether a column has no type of its own: writers give none to a column of nulls or of empty lists.
fn is_untyped(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::List(item) | DataType::LargeList(item) => is_untyped(item.data_type()),
        _ => false,
    }
}

/// Converts rows to the columns of `schema`.
fn fit(rows: &RecordBatch, schema: &SchemaRef, name: &str) -> Result<RecordBatch> {
    let column = |field: &Arc<Field>| match rows.column_by_name(field.name()) {
        Some(column) => exactly(column, field, name),
        None => Ok(new_null_array(field.data_type(), rows.num_rows())),
    };
    let columns = schema.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|error| Error::malformed(error.to_string()).at(Place::file(name)).caused_by(error))
}

/// Converts a column to the type of a table, if no value changes. Text is parsed.
fn exactly(column: &ArrayRef, field: &Field, name: &str) -> Result<ArrayRef> {
    let (from, to) = (column.data_type(), field.data_type());
    if from == to {
        return Ok(Arc::clone(column));
    }
    if column.logical_null_count() == column.len() {
        return Ok(new_null_array(to, column.len()));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let wrong = || {
        let message =
            format!("the table has type {} for this column, but the new rows have {}", type_name(to), type_name(from));
        Error::broken(&rules::COLUMN, message).at(Place::file(name).in_field(field.name().clone()))
    };
    let cast = cast_with_options(column, to, &options).map_err(|error| wrong().caused_by(error))?;
    let is_text = matches!(from, DataType::Utf8 | DataType::LargeUtf8);
    let to_text = matches!(to, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    if to_text && !is_text {
        return Err(wrong());
    }
    // A column without a type has no values to compare.
    let back = (!is_text && !is_untyped(from)).then(|| cast_with_options(&cast, from, &options)).transpose();
    match back.map_err(|error| wrong().caused_by(error))? {
        Some(back) if back.as_ref() != column.as_ref() => Err(wrong()),
        _ => Ok(cast),
    }
}
