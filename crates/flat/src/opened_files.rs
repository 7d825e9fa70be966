//! Opens the files of a table.

use std::sync::Arc;

use arrow_schema::{Field, Schema};
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Blob, limits};
use isomorph_tables::{CsvDialect, Encoding, ReadOptions, TableReader};

use crate::sql::{ExternalTable, TableOptions};
use crate::survey::{header, same_columns};
use crate::table::TablePart;

/// The files of a table, and how each is read.
pub(crate) fn readings(
    declared: &ExternalTable,
    options: &TableOptions,
    blobs: Vec<Blob>,
) -> Result<Vec<(Blob, ReadOptions)>> {
    let mut all: Vec<(Blob, ReadOptions)> = Vec::with_capacity(blobs.len());
    for blob in blobs {
        let mut csv = dialect(declared, options, &blob)?;
        if let Some((first, read)) = all.first().filter(|_| options.first_header && csv.has_header) {
            (csv.has_header, csv.names) = (false, Some(header(first, read)?));
        }
        let read =
            ReadOptions { packed: true, csv, refuse_zones: true, embedded_types: true, ..ReadOptions::default() };
        all.push((blob, read));
    }
    Ok(all)
}

/// Opens the files of a table. Those after the first have its columns: of the same types, or of types whose values these hold.
///
/// # Errors
/// When they cannot be read, or have other columns.
pub(crate) fn readers(files: Vec<(Blob, ReadOptions)>, encoding: Encoding) -> Result<Vec<TablePart>> {
    let mut all: Vec<TablePart> = Vec::with_capacity(files.len());
    for (blob, mut read) in files {
        let first = all.first().map(|part| Arc::clone(part.reader.schema()));
        if let Some(schema) = first.as_ref().filter(|_| !encoding.is_text()) {
            let own = TableReader::open(blob.clone(), encoding, &ReadOptions { schema: None, ..read.clone() })?;
            let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
            same_columns(&names(schema), &names(own.schema()), &blob)?;
            // A column may have nulls in one file only.
            let field = |field: &Arc<Field>| {
                let has_nulls = own.schema().field_with_name(field.name()).is_ok_and(Field::is_nullable);
                field.as_ref().clone().with_nullable(field.is_nullable() || has_nulls)
            };
            read.schema = Some(Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())));
        }
        let reader = TableReader::open(blob.clone(), encoding, &read)?;
        let rows = reader.row_count().unwrap_or_default();
        let first = all.last().map_or(0, |part| part.first + part.rows);
        all.push(TablePart { blob, reader, first, rows });
    }
    Ok(all)
}

/// The dialect of a CSV file.
fn dialect(declared: &ExternalTable, options: &TableOptions, blob: &Blob) -> Result<CsvDialect> {
    let mut dialect =
        CsvDialect { has_header: !options.headless, literal_quotes: options.literal_quotes, ..CsvDialect::default() };
    dialect.null_words.extend(options.null.clone());
    if declared.hints.names.is_some() {
        dialect.names.clone_from(&declared.hints.names);
    } else if options.by_position || options.headless {
        if declared.columns.is_empty() {
            let what = format!("the columns of {} have to be declared: nothing else names them", declared.name);
            return Err(Error::new(Kind::Usage, what).at(blob.place()));
        }
        dialect.names = Some(declared.columns.iter().map(|column| column.name.clone()).collect());
    }
    if declared.columns.len() > limits::COLUMNS {
        return Err(Error::new(Kind::TooLarge, "a table has too many columns").at(blob.place()));
    }
    if let Some(delimiter) = options.delimiter {
        dialect.separator = delimiter;
    }
    Ok(dialect)
}
