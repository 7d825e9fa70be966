//! Attribute types that the model does not support.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StructArray, new_null_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use isomorph_error::{Error, Result};
use isomorph_model::type_name::{ITEM, type_name};

/// Returns the type in which the model shows values of another type: a map becomes the list of its entries, each with
/// `key` and `value`, as Polars reads it. Most types are unchanged.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Unsupported`] for intervals: months have no fixed length, so intervals cannot be
/// compared.
pub(super) fn shown_type(data_type: &DataType) -> Result<DataType> {
    let inner = |field: &FieldRef| -> Result<FieldRef> {
        let own = shown_type(field.data_type())?;
        Ok(Arc::new(Field::new(field.name(), own, field.is_nullable())))
    };
    Ok(match data_type {
        DataType::Map(entries, _) => DataType::List(Arc::new(Field::new(ITEM, shown_type(entries.data_type())?, true))),
        DataType::List(item) => DataType::List(inner(item)?),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect::<Result<Fields>>()?),
        DataType::Interval(_) | DataType::Union(..) => {
            let what = format!("values of type {} are not supported", type_name(data_type));
            return Err(Error::unsupported(what));
        }
        // A column without values does not reveal its type; most attributes are text.
        DataType::Null => DataType::Utf8,
        other => other.clone(),
    })
}

/// Converts a column to the type in which it is shown.
///
/// # Errors
/// Returns an error if the column cannot be converted.
pub(super) fn shown(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let wrong = |error: ArrowError| Error::malformed(error.to_string()).caused_by(error);
    Ok(match (column.data_type(), to) {
        (own, to) if own == to => Arc::clone(column),
        (DataType::Null, to) => new_null_array(to, column.len()),
        (DataType::Map(..), DataType::List(item)) => {
            let map = column.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = shown(&entries, item.data_type())?;
            let list = ListArray::try_new(Arc::clone(item), map.offsets().clone(), entries, map.nulls().cloned());
            Arc::new(list.map_err(wrong)?)
        }
        (DataType::List(_), DataType::List(item)) => {
            let list = column.as_list::<i32>();
            let items = shown(list.values(), item.data_type())?;
            let list = ListArray::try_new(Arc::clone(item), list.offsets().clone(), items, list.nulls().cloned());
            Arc::new(list.map_err(wrong)?)
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let parts = column.as_struct();
            let columns = parts.columns().iter().zip(fields).map(|(own, field)| shown(own, field.data_type()));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, parts.nulls().cloned()).map_err(wrong)?)
        }
        (own, to) => {
            return Err(Error::usage(format!("{} cannot be converted to {}", type_name(own), type_name(to))));
        }
    })
}
