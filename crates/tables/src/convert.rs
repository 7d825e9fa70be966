//! Lossless conversion from the types in a file to the declared types.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::take::take;
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::type_name;

use crate::rules::VALUE_INEXACT;

/// The field name of list items in all schemas.
pub(crate) const ELEMENT: &str = "element";

const STRICT: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow_cast::display::FormatOptions::new() };

/// Returns the schema of batches: the file's columns, with their declared types if there are any. Nullability
/// is taken from the file.
///
/// # Errors
/// [`isomorph_error::Kind::Unsupported`] if a column cannot be converted to its declared type.
pub(crate) fn schema(file: &Fields, declared: Option<&Schema>) -> Result<Schema> {
    let mut fields: Vec<FieldRef> = Vec::with_capacity(file.len());
    let mut types: HashMap<&str, &DataType> = HashMap::new();
    for field in declared.into_iter().flat_map(|schema| schema.fields()) {
        types.entry(field.name()).or_insert(field.data_type());
    }
    for field in file {
        let own = named_elements(field.data_type());
        let target = match types.get(field.name().as_str()) {
            Some(declared) => named_elements(declared),
            None => own.clone(),
        };
        if !converts(&own, &target) {
            let message = format!(
                "column `{}` has type {}, which cannot be converted to {}",
                field.name(),
                type_name(&own),
                type_name(&target)
            );
            return Err(Error::unsupported(message).at(Place::field(field.name())));
        }
        fields.push(Arc::new(Field::new(field.name(), target, field.is_nullable())));
    }
    Ok(Schema::new(fields))
}

/// Replaces the field name of list items by the one that this crate uses.
fn named_elements(data_type: &DataType) -> DataType {
    match data_type {
        DataType::List(item) => {
            DataType::List(Arc::new(Field::new(ELEMENT, named_elements(item.data_type()), item.is_nullable())))
        }
        other => other.clone(),
    }
}

/// Whether a conversion exists. Single values may still not be representable.
fn converts(from: &DataType, to: &DataType) -> bool {
    use DataType as T;
    if from == to {
        return true;
    }
    let is_text = |data_type: &T| matches!(data_type, T::Utf8 | T::LargeUtf8 | T::Utf8View);
    let is_bytes = |data_type: &T| matches!(data_type, T::Binary | T::LargeBinary | T::BinaryView);
    match (from, to) {
        (T::Null, _) => true,
        (T::List(from), T::List(to)) => converts(from.data_type(), to.data_type()),
        (T::Timestamp(_, _), T::Timestamp(_, _)) => true,
        (T::Date64, T::Date32) => true,
        _ => {
            from.is_integer() && to.is_integer()
                || from.is_floating() && to.is_floating()
                || (is_text(from) || is_bytes(from)) && is_text(to)
                || is_bytes(from) && is_bytes(to)
        }
    }
}

/// Creates a batch of `columns`, converted to the types of `schema`.
pub(crate) fn batch(columns: Vec<ArrayRef>, schema: &SchemaRef, rows: usize) -> Result<RecordBatch> {
    numbered_batch(columns, schema, rows, |_| None)
}

/// The same for rows of a file: `number` returns the number of a row of the batch in the file, for errors.
pub(crate) fn numbered_batch(
    columns: Vec<ArrayRef>,
    schema: &SchemaRef,
    rows: usize,
    number: impl Fn(u64) -> Option<u64>,
) -> Result<RecordBatch> {
    let convert = |(column, field): (ArrayRef, &FieldRef)| {
        array(Arc::clone(&column), field.data_type()).map_err(|error| {
            let row = first_refused(&column, field.data_type()).and_then(|row| number(row as u64));
            let place = Place::field(field.name());
            error.at(row.map_or(place.clone(), |row| place.row(row)))
        })
    };
    let columns = columns.into_iter().zip(schema.fields()).map(convert).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}

/// The first row whose value cannot be converted, found by halving.
fn first_refused(column: &ArrayRef, target: &DataType) -> Option<usize> {
    // Rows are copied: a slice of a list still has the items of all rows.
    let is_refused = |rows: Range<usize>| {
        let rows = UInt64Array::from_iter_values(rows.map(|row| row as u64));
        take(column, &rows, None).is_ok_and(|some| array(some, target).is_err())
    };
    let mut rows = 0..column.len();
    if !is_refused(rows.clone()) {
        return None;
    }
    while rows.len() > 1 {
        let middle = rows.start + rows.len() / 2;
        rows = if is_refused(rows.start..middle) { rows.start..middle } else { middle..rows.end };
    }
    Some(rows.start)
}

/// Converts `column` to `target`.
///
/// # Errors
/// [`VALUE_INEXACT`] if the target type cannot represent a value exactly.
fn array(column: ArrayRef, target: &DataType) -> Result<ArrayRef> {
    if column.data_type() == target {
        return Ok(column);
    }
    let failed = |error: arrow_schema::ArrowError| Error::broken(&VALUE_INEXACT, error.to_string()).caused_by(error);
    if let (DataType::List(_), DataType::List(item)) = (column.data_type(), target) {
        let list = column.as_list::<i32>();
        let values = array(Arc::clone(list.values()), item.data_type())?;
        let list = ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, list.nulls().cloned());
        return Ok(Arc::new(list.map_err(failed)?));
    }
    let converted = cast_with_options(&column, target, &STRICT).map_err(failed)?;
    if may_lose(column.data_type(), target) {
        // The instants are the same in any zone, and not every zone name is known here.
        let (own, converted) = (without_zone(&column)?, without_zone(&converted)?);
        let back = cast_with_options(&converted, own.data_type(), &STRICT).map_err(failed)?;
        if back.to_data() != own.to_data() {
            let message = format!(
                "a value of type {} cannot be represented exactly as {}",
                type_name(column.data_type()),
                type_name(target)
            );
            return Err(Error::broken(&VALUE_INEXACT, message));
        }
    }
    Ok(converted)
}

/// Returns timestamps without their zone, and other columns unchanged.
fn without_zone(column: &ArrayRef) -> Result<ArrayRef> {
    let DataType::Timestamp(unit, Some(_)) = column.data_type() else { return Ok(Arc::clone(column)) };
    let plain = cast_with_options(column, &DataType::Timestamp(*unit, None), &STRICT);
    plain.map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}

/// Whether the cast may change a value without an error: to a coarser timestamp or a shorter float.
fn may_lose(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Timestamp(from, _), DataType::Timestamp(to, _)) => from > to,
        (DataType::Date64, DataType::Date32) => true,
        _ => from.is_floating() && to.is_floating() && from.primitive_width() > to.primitive_width(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::{TimestampMicrosecondArray, TimestampMillisecondArray};
    use arrow_schema::TimeUnit;

    use super::*;

    #[test]
    fn errors_name_the_row_of_the_value() {
        let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("x", DataType::Int32, true)]));
        let lists = Arc::new(Field::new(ELEMENT, DataType::Int32, true));
        let of_lists: SchemaRef = Arc::new(Schema::new(vec![Field::new("x", DataType::List(lists), true)]));
        for wrong in 0..7 {
            let value = |row: i64| if row == wrong || row == 6 { 1 << 40 } else { row };
            let column: ArrayRef = Arc::new(arrow_array::Int64Array::from_iter_values((0..7).map(value)));
            let number = |row: u64| Some(100 + row);
            let error = numbered_batch(vec![column], &schema, 7, number).unwrap_err();
            assert_eq!((error.place().row, error.place().field.as_deref()), (Some(100 + wrong as u64), Some("x")));
            let mut list = arrow_array::builder::ListBuilder::new(arrow_array::builder::Int64Builder::new());
            (0..7).for_each(|row| list.append_value([Some(1), Some(value(row))]));
            // A slice, which has the items of the rows before it.
            let before = wrong as usize / 2;
            let list = list.finish().slice(before, 7 - before);
            let rows = list.len();
            let error = numbered_batch(vec![Arc::new(list)], &of_lists, rows, number).unwrap_err();
            assert_eq!(error.place().row, Some(100 + (wrong - wrong / 2) as u64));
        }
    }

    #[test]
    fn zones_are_no_part_of_a_moment() {
        let target = DataType::Timestamp(TimeUnit::Millisecond, None);
        for zone in ["UTC", "+00:00", "Europe/Berlin"] {
            let of = |values: Vec<i64>| -> ArrayRef {
                Arc::new(TimestampMicrosecondArray::from(values).with_timezone(zone))
            };
            let read = array(of(vec![0, 5000]), &target).unwrap();
            assert_eq!(read.as_ref(), &TimestampMillisecondArray::from(vec![0, 5]) as &dyn Array, "{zone}");
            let error = array(of(vec![1]), &target).unwrap_err();
            assert!(error.message().contains("cannot be represented"), "{zone}: {error}");
        }
    }
}
