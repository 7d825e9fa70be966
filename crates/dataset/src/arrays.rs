//! Builds table columns from the forms that model batches use.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, ListArray, StringArray, new_null_array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field};
use arrow_select::nullif::nullif;
use isomorph_error::{Error, Result};
use isomorph_model::{LabelColumn, Relations};

use crate::schema::texts;

/// Converts a column to its declared type; a missing column becomes nulls.
///
/// # Errors
/// Returns `Malformed` if a value cannot be represented in that type.
pub(crate) fn declared(array: Option<&ArrayRef>, data_type: &DataType, rows: usize) -> Result<ArrayRef> {
    match array {
        None => Ok(new_null_array(data_type, rows)),
        Some(array) if array.data_type() == data_type => Ok(Arc::clone(array)),
        Some(array) => {
            let options = CastOptions { safe: false, ..CastOptions::default() };
            let is = array.data_type();
            let refused = |why: &str| Error::malformed(format!("column of type {is}, declared as {data_type}: {why}"));
            let cast = cast_with_options(array, data_type, &options)
                .map_err(|error| refused(&error.to_string()).caused_by(error))?;
            // A cast that loses digits does not round-trip.
            if is.is_primitive() && data_type.is_primitive() {
                let back = cast_with_options(&cast, is, &options)
                    .map_err(|error| refused(&error.to_string()).caused_by(error))?;
                if back.as_ref() != array.as_ref() {
                    return Err(refused("some values cannot be represented exactly"));
                }
            }
            Ok(cast)
        }
    }
}

/// Replaces empty texts by null.
///
/// # Errors
/// If the column does not hold texts.
pub(crate) fn without_empty(texts: &ArrayRef) -> Result<ArrayRef> {
    let Some(all) = texts.as_string_opt::<i32>() else { return Ok(Arc::clone(texts)) };
    if (0..all.len()).all(|row| all.is_null(row) || !all.value(row).is_empty()) {
        return Ok(Arc::clone(texts));
    }
    let empty: BooleanArray = all.iter().map(|text| Some(text.is_some_and(str::is_empty))).collect();
    nullif(texts, &empty).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
}

/// Labels as lists of text; null for a node without labels.
pub(crate) fn labels(labels: Option<&LabelColumn>, rows: usize) -> ArrayRef {
    let mut names = StringBuilder::new();
    let mut lengths: Vec<usize> = Vec::with_capacity(rows);
    for row in 0..rows {
        let mut length = 0;
        for name in labels.into_iter().flat_map(|labels| labels.row(row)) {
            names.append_value(name);
            length += 1;
        }
        lengths.push(length);
    }
    let item = Arc::new(Field::new_list_field(DataType::Utf8, true));
    let nulls: NullBuffer = lengths.iter().map(|length| *length > 0).collect();
    let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
    Arc::new(ListArray::new(item, OffsetBuffer::from_lengths(lengths), Arc::new(names.finish()), nulls))
}

/// The relation of each row.
pub(crate) fn relations(relations: Option<&Relations>) -> Result<ArrayRef> {
    let none = || Error::usage("rows without a relation; each row must name its own");
    let Relations { names, index } = relations.ok_or_else(none)?;
    let mut all = StringBuilder::new();
    for at in index {
        let at = at.map(|at| at as usize).filter(|at| *at < names.len() && names.is_valid(*at)).ok_or_else(none)?;
        all.append_value(names.value(at));
    }
    Ok(Arc::new(all.finish()))
}

/// Whether each row is directed; null means directed.
pub(crate) fn directed(directed: Option<&BooleanArray>, rows: usize) -> ArrayRef {
    let all: BooleanArray = match directed {
        Some(directed) => directed.iter().map(|one| Some(one.unwrap_or(true))).collect(),
        None => std::iter::repeat_n(Some(true), rows).collect(),
    };
    Arc::new(all)
}

/// The layers and the coefficients of ends, from lists of labels or from structs of both.
///
/// # Errors
/// If they are neither.
pub(crate) fn layers(said: Option<&ArrayRef>, rows: usize) -> Result<(ArrayRef, ArrayRef)> {
    let coefficients = || new_null_array(&DataType::Float64, rows);
    let Some(said) = said else { return Ok((new_null_array(&texts(), rows), coefficients())) };
    let Some(both) = said.as_struct_opt() else { return Ok((declared(Some(said), &texts(), rows)?, coefficients())) };
    let part = |name: &str, data_type: &DataType| -> Result<ArrayRef> {
        let column = declared(both.column_by_name(name), data_type, rows)?;
        let nulls = NullBuffer::union(column.nulls(), both.nulls());
        let data = column.to_data().into_builder().nulls(nulls).build();
        data.map(arrow_array::make_array).map_err(|error| Error::malformed(error.to_string()).caused_by(error))
    };
    Ok((part("layer", &texts())?, part("coefficient", &DataType::Float64)?))
}

/// The coefficients of members.
pub(crate) fn coefficients(all: Option<&Float64Array>, rows: usize) -> ArrayRef {
    all.map_or_else(|| new_null_array(&DataType::Float64, rows), |all| Arc::new(all.clone()))
}

/// Texts as a column.
pub(crate) fn column(texts: &StringArray) -> ArrayRef {
    Arc::new(texts.clone())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::{Float32Array, Float64Array, Int32Array, Int64Array, TimestampMillisecondArray};
    use arrow_schema::TimeUnit;

    use super::*;

    #[test]
    fn values_keep_their_digits() {
        let of = |array: &dyn Array, data_type: DataType| {
            declared(Some(&arrow_array::make_array(array.to_data())), &data_type, 1)
        };
        let wide = of(&Int32Array::from(vec![5]), DataType::Int64).unwrap();
        assert_eq!(wide.as_ref(), &Int64Array::from(vec![5]) as &dyn Array);
        assert!(of(&Float32Array::from(vec![f32::NAN]), DataType::Float64).is_ok());
        assert!(of(&Float64Array::from(vec![0.5]), DataType::Float32).is_ok());
        let refused = |array: &dyn Array, data_type: DataType| assert!(of(array, data_type).is_err());
        refused(&Float64Array::from(vec![0.1]), DataType::Float32);
        refused(&Float64Array::from(vec![1.5]), DataType::Int64);
        refused(&Int64Array::from(vec![1 << 40]), DataType::Int32);
        refused(&TimestampMillisecondArray::from(vec![1]), DataType::Timestamp(TimeUnit::Second, None));
    }
}
