//! Types that Parquet lacks, from the Arrow schema that writers embed in the footer.
//!
//! Polars, pyarrow and arrow-rs write durations as integers, a time zone as "UTC", and some of them seconds as plain
//! integers; the original types are only in the embedded schema. That schema is used only if it gives the same bits another
//! meaning, and is ignored otherwise. A damaged one is ignored.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, parquet_to_arrow_schema};
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::SchemaDescriptor;

use isomorph_error::{Error, Place, Result};
use parquet::file::metadata::KeyValue;

use super::embedded_types::{contradiction, decode};
use crate::catch_panic::fenced;
use crate::rules::PARQUET_FOOTER;

/// The maximum length of a time zone's name, bytes.
const ZONE_BYTES: usize = 64;

/// Returns the columns that Parquet declares, with their types refined by the embedded schema.
pub(super) fn with_embedded(native: &Fields, parquet: &SchemaDescriptor, metadata: &FileMetaData) -> Fields {
    let entries = metadata.key_value_metadata();
    if !entries.is_some_and(|all| all.iter().any(|entry| entry.key == ARROW_SCHEMA_META_KEY)) {
        return native.clone();
    }
    let advised = fenced(&PARQUET_FOOTER, || {
        parquet_to_arrow_schema(parquet, entries).map_err(|error| isomorph_error::Error::malformed(error.to_string()))
    });
    // If another library's schema cannot be read, only the types that Parquet declares are used.
    let Ok(advised) = advised else { return native.clone() };
    if advised.fields().len() != native.len() {
        return native.clone();
    }
    native.iter().zip(advised.fields()).map(|(own, advised)| field(own, advised)).collect()
}

/// Checks that the embedded schema, if there is one, can be read and matches the columns and types that Parquet declares.
/// This crate does not need it, but other readers refuse a file in which it is damaged.
///
/// # Errors
/// [`PARQUET_FOOTER`] if it does not.
pub(super) fn check(parquet: &SchemaDescriptor, metadata: &FileMetaData) -> Result<()> {
    let entries = metadata.key_value_metadata();
    let own = entries.into_iter().flatten().find(|entry| entry.key == ARROW_SCHEMA_META_KEY);
    let Some(text) = own.and_then(|entry| entry.value.as_deref()) else { return Ok(()) };
    let damaged =
        |what: String| Error::broken(&PARQUET_FOOTER, format!("the embedded Arrow schema is damaged: {what}"));
    let only = vec![KeyValue { key: ARROW_SCHEMA_META_KEY.to_owned(), value: Some(text.to_owned()) }];
    let advised = fenced(&PARQUET_FOOTER, || {
        parquet_to_arrow_schema(parquet, Some(&only)).map_err(|error| Error::malformed(error.to_string()))
    });
    advised.map_err(|error| damaged(error.message().to_owned()))?;
    let (own, advised) = fenced(&PARQUET_FOOTER, || {
        let own = parquet_to_arrow_schema(parquet, None).map_err(|error| Error::malformed(error.to_string()))?;
        let advised = decode(text).map_err(|error| Error::malformed(error.to_string()))?;
        Ok((own, advised))
    })
    .map_err(|error| damaged(error.message().to_owned()))?;
    match contradiction(own.fields(), advised.fields()) {
        Some((column, own, advised)) => {
            let message =
                format!("the type of the column is {advised} in the embedded Arrow schema, but {own} in the file");
            Err(Error::broken(&PARQUET_FOOTER, message).at(Place::field(column)))
        }
        None => Ok(()),
    }
}

/// Whether some column has a type that Parquet alone cannot express.
pub(super) fn needs_embedding(fields: &Fields) -> bool {
    fields.iter().any(|field| is_untold(field.data_type()))
}

fn is_untold(data_type: &DataType) -> bool {
    match data_type {
        DataType::Duration(_) => true,
        DataType::Timestamp(_, Some(zone)) => zone.as_ref() != "UTC",
        DataType::List(item) | DataType::Map(item, _) => is_untold(item.data_type()),
        DataType::Struct(fields) => needs_embedding(fields),
        _ => false,
    }
}

fn field(own: &FieldRef, advised: &FieldRef) -> FieldRef {
    let data_type = told(own.data_type(), advised.data_type());
    Arc::new(Field::new(own.name(), data_type, own.is_nullable()))
}

/// Returns the embedded type of a column if it is compatible, otherwise the column's own type.
fn told(own: &DataType, advised: &DataType) -> DataType {
    use DataType as T;
    match (own, advised) {
        (T::Int64, T::Duration(_) | T::Timestamp(TimeUnit::Second, None)) => advised.clone(),
        (T::Int32, T::Time32(TimeUnit::Second)) => advised.clone(),
        (T::Timestamp(unit, Some(_)), T::Timestamp(_, Some(zone))) if is_zone(zone) => {
            T::Timestamp(*unit, Some(Arc::clone(zone)))
        }
        (T::List(item), T::List(other) | T::LargeList(other) | T::FixedSizeList(other, _)) => {
            T::List(field(item, other))
        }
        (T::Struct(fields), T::Struct(others)) if fields.len() == others.len() => {
            T::Struct(fields.iter().zip(others).map(|(own, other)| field(own, other)).collect())
        }
        (T::Map(entries, sorted), T::Map(others, _)) => T::Map(field(entries, others), *sorted),
        _ => own.clone(),
    }
}

/// Whether a text can be the name of a time zone: `Europe/Berlin`, `+02:00`.
fn is_zone(zone: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-/:".contains(&byte);
    !zone.is_empty() && zone.len() <= ZONE_BYTES && zone.bytes().all(allowed)
}
