//! Opens the files of a table.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_storage::{Blob, limits};
use isomorph_tables::{CsvDialect, Encoding, ReadOptions, TableReader};

use crate::rules;
use crate::sql::{ExternalTable, TableOptions};
use crate::survey::{header, same_columns};
use crate::table::TablePart;

/// The files of a table, and how each is read; with `lenient`, records of CSV may have any number of fields.
pub(crate) fn readings(
    declared: &ExternalTable,
    options: &TableOptions,
    blobs: Vec<Blob>,
    lenient: bool,
) -> Result<Vec<(Blob, ReadOptions)>> {
    let mut all: Vec<(Blob, ReadOptions)> = Vec::with_capacity(blobs.len());
    for blob in blobs {
        let mut csv = dialect(declared, options, &blob)?;
        csv.keep_odd_records = lenient;
        if let Some((first, read)) = all.first().filter(|_| options.first_header && csv.has_header) {
            (csv.has_header, csv.names) = (false, Some(header(first, read)?));
        }
        let read =
            ReadOptions { packed: true, csv, refuse_zones: true, embedded_types: true, ..ReadOptions::default() };
        all.push((blob, read));
    }
    Ok(all)
}

/// The files of a table without those that have no bytes, which cannot have columns; all of them if there are no others. The first one stays
/// if only it has the names of columns.
pub(crate) fn without_empty(blobs: Vec<Blob>, first_header: bool, findings: &mut Findings) -> Vec<Blob> {
    if blobs.iter().all(|blob| blob.size() == 0) {
        return blobs;
    }
    let is_header = |at: usize| at == 0 && first_header;
    let (kept, empty): (Vec<_>, Vec<_>) =
        blobs.into_iter().enumerate().partition(|(at, blob)| blob.size() > 0 || is_header(*at));
    for (_, blob) in empty {
        findings.push(
            &rules::EMPTY,
            "the file has no bytes, not even the names of columns: it is skipped",
            blob.place(),
        );
    }
    kept.into_iter().map(|(_, blob)| blob).collect()
}

/// Opens the files of a table; also returns its columns. Files have the same columns, of types whose values one type holds.
///
/// # Errors
/// When they cannot be read, or have other columns.
pub(crate) fn readers(files: Vec<(Blob, ReadOptions)>, encoding: Encoding) -> Result<(Vec<TablePart>, SchemaRef)> {
    let mut all: Vec<TablePart> = Vec::with_capacity(files.len());
    let mut columns: Option<SchemaRef> = None;
    for (blob, read) in files {
        let reader = TableReader::open(blob.clone(), encoding, &read)?;
        let own = reader.schema();
        columns = Some(match &columns {
            Some(known) if !encoding.is_text() => Arc::new(common(known, own, &blob)?),
            Some(known) => Arc::clone(known),
            None => Arc::clone(own),
        });
        let rows = reader.row_count().unwrap_or_default();
        let first = all.last().map_or(0, |part| part.first + part.rows);
        all.push(TablePart { blob, read, reader, first, rows });
    }
    let columns = columns.ok_or_else(|| Error::usage("a table has no files"))?;
    if encoding.is_text() {
        return Ok((all, columns));
    }
    // A column of which every value is null may be of any type.
    let typed = |field: &Arc<Field>| match field.data_type() {
        DataType::Null => field.as_ref().clone().with_data_type(DataType::Utf8),
        _ => field.as_ref().clone(),
    };
    let columns = Arc::new(Schema::new(columns.fields().iter().map(typed).collect::<Vec<_>>()));
    for part in &mut all {
        let own = Arc::clone(part.reader.schema());
        // Integers become floats where rows are read, which names a row that has none.
        let read_as = |field: &Arc<Field>| match own.field_with_name(field.name()) {
            Ok(own) if own.data_type().is_integer() && field.data_type().is_floating() => own.clone(),
            _ => field.as_ref().clone(),
        };
        let wanted = Schema::new(columns.fields().iter().map(read_as).collect::<Vec<_>>());
        let is_other = |field: &Arc<Field>| {
            own.field_with_name(field.name()).is_ok_and(|own| own.data_type() != field.data_type())
        };
        if wanted.fields().iter().any(is_other) {
            part.read.schema = Some(Arc::new(wanted));
            part.reader = TableReader::open(part.blob.clone(), encoding, &part.read)?;
        }
    }
    Ok((all, columns))
}

/// The columns of files with columns `known` and of one with columns `own`, in the order of `known`.
///
/// # Errors
/// [`rules::PARTS`] if they are not the same columns.
fn common(known: &Schema, own: &Schema, blob: &Blob) -> Result<Schema> {
    let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    same_columns(&names(known), &names(own), blob)?;
    let field = |field: &Arc<Field>| {
        let Ok(own) = own.field_with_name(field.name()) else { return field.as_ref().clone() };
        // A column may have nulls in one file only.
        let is_nullable = field.is_nullable() || own.is_nullable();
        let data_type = wider(field.data_type(), own.data_type()).unwrap_or_else(|| field.data_type().clone());
        field.as_ref().clone().with_data_type(data_type).with_nullable(is_nullable)
    };
    Ok(Schema::new(known.fields().iter().map(field).collect::<Vec<_>>()))
}

/// A type that holds the values of both: that of nulls is the narrowest, and a double holds most integers, which are checked one by one.
pub(crate) fn wider(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType as T;
    let bits = |data_type: &T| data_type.primitive_width().map(|bytes| bytes * 8);
    match (one, other) {
        _ if one == other => Some(one.clone()),
        (T::Null, some) | (some, T::Null) => Some(some.clone()),
        _ if one.is_floating() && other.is_integer() => Some(T::Float64),
        _ if one.is_integer() && other.is_floating() => Some(T::Float64),
        _ if one.is_floating() && other.is_floating() => {
            Some(if bits(one) >= bits(other) { one.clone() } else { other.clone() })
        }
        _ if one.is_integer() && other.is_integer() => {
            let (wide, narrow) = if bits(one) >= bits(other) { (one, other) } else { (other, one) };
            match wide.is_signed_integer() || narrow.is_unsigned_integer() {
                // As many bits: a signed type does not hold what an unsigned one has.
                true if bits(wide) > bits(narrow) || wide.is_signed_integer() == narrow.is_signed_integer() => {
                    Some(wide.clone())
                }
                _ if bits(wide) < Some(64) => Some(T::Int64),
                _ => None,
            }
        }
        _ => None,
    }
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
