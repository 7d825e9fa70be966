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
    for field in known.fields() {
        let other = own.field_with_name(field.name()).map(|own| (field.data_type(), own.data_type()));
        if let Some((one, other)) = other.ok().filter(|(one, other)| are_apart(one, other)) {
            let what = format!(
                "the column {:?} is {}, and {} in the first file of the table",
                field.name(),
                called(other),
                called(one)
            );
            return Err(Error::broken(&rules::PARTS, what).at(blob.place()));
        }
    }
    let field = |field: &Arc<Field>| {
        let Ok(own) = own.field_with_name(field.name()) else { return field.as_ref().clone() };
        // A column may have nulls in one file only.
        let is_nullable = field.is_nullable() || own.is_nullable();
        let data_type = wider(field.data_type(), own.data_type()).unwrap_or_else(|| field.data_type().clone());
        field.as_ref().clone().with_data_type(data_type).with_nullable(is_nullable)
    };
    Ok(Schema::new(known.fields().iter().map(field).collect::<Vec<_>>()))
}

/// Whether timestamps of a type, or in its lists, have a zone: those that have are instants, the others are what a clock shows.
fn is_zoned(data_type: &DataType) -> Option<bool> {
    match data_type {
        DataType::Timestamp(_, zone) => Some(zone.is_some()),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            is_zoned(item.data_type())
        }
        _ => None,
    }
}

/// Whether values of two types are never equal, though one can be read as the other: instants and local times, text and bytes.
fn are_apart(one: &DataType, other: &DataType) -> bool {
    use DataType as T;
    let is_text = |own: &T| matches!(own, T::Utf8 | T::LargeUtf8 | T::Utf8View);
    let is_bytes = |own: &T| matches!(own, T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_));
    let are_zones_apart = is_zoned(one).zip(is_zoned(other)).is_some_and(|(one, other)| one != other);
    are_zones_apart || is_text(one) && is_bytes(other) || is_bytes(one) && is_text(other)
}

/// What a type is called in messages about files that differ.
fn called(data_type: &DataType) -> String {
    match is_zoned(data_type) {
        Some(true) => "a timestamp with a time zone".to_owned(),
        Some(false) => "a timestamp without a time zone".to_owned(),
        None => isomorph_model::type_name::type_name(data_type),
    }
}

/// Fails where a timestamp is declared with a zone and the files have none, or the reverse.
///
/// # Errors
/// [`rules::MAPPING`] with the place of the declaration; and when a file cannot be read.
pub(crate) fn check_zones(declared: &ExternalTable, files: &[(Blob, ReadOptions)], file: &str) -> Result<()> {
    let zoned: Vec<_> =
        declared.columns.iter().filter_map(|own| Some((own.name.as_str(), is_zoned(&own.ty.data_type)?))).collect();
    if zoned.is_empty() || declared.encoding.is_text() {
        return Ok(());
    }
    for (blob, read) in files {
        let stored = TableReader::open(blob.clone(), declared.encoding, &ReadOptions { schema: None, ..read.clone() })?;
        for (name, is_declared) in &zoned {
            let own = stored.schema().field_with_name(name).ok().and_then(|field| is_zoned(field.data_type()));
            let (what, hint) = match own {
                Some(false) if *is_declared => {
                    ("no time zone, and the column is declared WITH TIME ZONE", "TIMESTAMP(6)")
                }
                Some(true) if !*is_declared => {
                    ("a time zone, and the column is declared without one", "TIMESTAMP(6) WITH TIME ZONE")
                }
                _ => continue,
            };
            let what = format!("the timestamps of {name} in {} have {what}", blob.place());
            return Err(declared.at.error(file, what).hint(format!("{name} {hint}")));
        }
    }
    Ok(())
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
