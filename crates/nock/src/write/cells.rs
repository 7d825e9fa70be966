//! Converts columns of model batches to columns of rows: checks them and casts them to the types of the file.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, PrimitiveArray, StringArray, UInt32Array,
    new_null_array,
};
use arrow_buffer::BooleanBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use arrow_select::take::take;
use isomorph_error::{Error, Place, Result};
use isomorph_model::{LabelColumn, Relations};

use super::target::Target;
use crate::columns::Column;
use crate::rows::{check_cell, none_empty};
use crate::{Tolerance, rules};

fn refused(column: Column, message: impl Into<String>) -> Error {
    Error::broken(&rules::WRITE_VALUE, message).at(Place::field(column.name()))
}

/// Casts a column; a value that cannot be converted is an error.
pub(super) fn cast(array: &ArrayRef, to: &DataType, name: &str) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, to, &options).map_err(|error| {
        Error::broken(&rules::WRITE_VALUE, format!("{name} cannot be stored as {to}: {error}")).at(Place::field(name))
    })
}

/// Checks names of nodes or destinations: text, never empty.
pub(super) fn names(array: &ArrayRef, column: Column) -> Result<StringArray> {
    let names = cast(array, &DataType::Utf8, column.name())?;
    let names: &StringArray = names.as_string();
    if none_empty(names) { Ok(names.clone()) } else { Err(refused(column, "a node has no name")) }
}

/// Converts truth to the type of the file: null is 1.0; NaN and values that the type cannot represent are errors.
pub(super) fn truth(column: Option<&ArrayRef>, rows: usize, target: &Target) -> Result<ArrayRef> {
    let double = target.truth == DataType::Float64;
    let Some(column) = column else {
        return Ok(if double {
            Arc::new(Float64Array::from(vec![1.0; rows]))
        } else {
            Arc::new(Float32Array::from(vec![1.0; rows]))
        });
    };
    let nan = || refused(Column::Truth, "a truth is NaN");
    if !double && column.data_type() == &DataType::Float32 {
        let values = filled::<Float32Type>(column.as_primitive(), 1.0);
        return if values.values().iter().any(|value| value.is_nan()) { Err(nan()) } else { Ok(Arc::new(values)) };
    }
    let wide = cast(column, &DataType::Float64, Column::Truth.name())?;
    let wide = filled::<Float64Type>(wide.as_primitive(), 1.0);
    if wide.values().iter().any(|value| value.is_nan()) {
        return Err(nan());
    }
    if double {
        return Ok(Arc::new(wide));
    }
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original before it is used")]
    let single = |value: f64| value as f32;
    if let Some(value) = wide.values().iter().find(|&&value| f64::from(single(value)) != value) {
        let message = format!("truth {value} cannot be stored as FLOAT");
        return Err(refused(Column::Truth, message).hint("--truth-double    write truth as DOUBLE"));
    }
    Ok(Arc::new(Float32Array::from_iter_values(wide.values().iter().map(|&value| single(value)))))
}

fn filled<T: arrow_array::types::ArrowPrimitiveType>(
    values: &PrimitiveArray<T>,
    empty: T::Native,
) -> PrimitiveArray<T> {
    if values.null_count() == 0 {
        return values.clone();
    }
    PrimitiveArray::from_iter_values(values.iter().map(|value| value.unwrap_or(empty)))
}

/// Converts RDF flags: null is false.
pub(super) fn flags(column: Option<&ArrayRef>, rows: usize) -> Result<ArrayRef> {
    let Some(column) = column else {
        return Ok(Arc::new(BooleanArray::new(BooleanBuffer::new_unset(rows), None)));
    };
    let flags = cast(column, &DataType::Boolean, Column::IsRdf.name())?;
    let flags = flags.as_boolean();
    Ok(match flags.nulls() {
        Some(nulls) => Arc::new(BooleanArray::new(flags.values() & nulls.inner(), None)),
        None => Arc::new(flags.clone()),
    })
}

/// Converts numbers of partitions or edges: null is `empty`.
pub(super) fn numbers(
    column: Option<&ArrayRef>,
    rows: usize,
    empty: i64,
    to: &DataType,
    of: Column,
) -> Result<ArrayRef> {
    let wide: ArrayRef = match column {
        None => Arc::new(Int64Array::from(vec![empty; rows])),
        Some(column) => {
            let wide = cast(column, &DataType::Int64, of.name())?;
            Arc::new(filled::<arrow_array::types::Int64Type>(wide.as_primitive(), empty))
        }
    };
    cast(&wide, to, of.name())
}

/// Returns labels joined by commas, sorted by code point. Each distinct set is joined once.
pub(super) fn labels(column: Option<&LabelColumn>, rows: usize) -> Result<ArrayRef> {
    let Some(column) = column else { return Ok(blank(rows)) };
    let mut texts = StringBuilder::new();
    for set in column.sets() {
        let mut names: Vec<&str> = Vec::with_capacity(set.len());
        for &name in set {
            let name = column.names().get(name as usize).map(String::as_str).unwrap_or_default();
            if name.is_empty() || name.contains(',') {
                let message = format!("label {name:?} is empty or has a comma, which separates labels");
                return Err(refused(Column::Labels, message));
            }
            names.push(name);
        }
        names.sort_unstable();
        texts.append_value(names.join(","));
    }
    pick(&texts.finish(), UInt32Array::from(column.rows().to_vec()))
}

/// Returns relation names, row by row.
pub(super) fn relations(relations: &Relations) -> Result<ArrayRef> {
    pick(&relations.names, relations.index.clone())
}

fn pick(texts: &StringArray, index: PrimitiveArray<UInt32Type>) -> Result<ArrayRef> {
    take(texts, &index, None).map_err(|error| Error::usage(format!("a batch refers to text that it lacks: {error}")))
}

/// Returns properties unchanged, except that the empty object becomes the empty text. A text that is not an object is an error.
pub(super) fn props(column: Option<&ArrayRef>, rows: usize) -> Result<ArrayRef> {
    let Some(column) = column else { return Ok(blank(rows)) };
    let texts = cast(column, &DataType::Utf8, Column::Props.name())?;
    let texts: &StringArray = texts.as_string();
    let plain = |cell: &str| cell.is_empty() || (cell.starts_with('{') && cell.len() > 2);
    let bare = memchr::memmem::find(texts.value_data(), b"NaN")
        .or_else(|| memchr::memmem::find(texts.value_data(), b"Infinity"));
    if texts.null_count() == 0 && bare.is_none() && texts.iter().flatten().all(plain) {
        return Ok(Arc::new(texts.clone()));
    }
    let mut out = StringBuilder::with_capacity(texts.len(), texts.value_data().len());
    for cell in texts {
        let cell = check_cell(cell.unwrap_or_default(), Tolerance::Normal)
            .map_err(|error| not_written(error).at(Place::field(Column::Props.name())))?;
        out.append_value(if matches!(cell.as_ref(), "{}" | "null") { "" } else { cell.as_ref() });
    }
    Ok(Arc::new(out.finish()))
}

/// Maps the error of props that cannot be written to the rule with the remedy for writing.
fn not_written(error: Error) -> Error {
    let is_number = error.broken_rule().is_some_and(|rule| rule.id == rules::PROPS_NAN.id);
    error.rule(if is_number { &rules::WRITE_NAN } else { &rules::WRITE_VALUE })
}

/// Returns a further column, or nulls.
pub(super) fn extra(column: Option<&ArrayRef>, rows: usize, to: &DataType, name: &str) -> Result<ArrayRef> {
    match column {
        Some(column) => cast(column, to, name),
        None => Ok(new_null_array(to, rows)),
    }
}

/// Returns empty texts.
pub(super) fn blank(rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n("", rows)))
}
