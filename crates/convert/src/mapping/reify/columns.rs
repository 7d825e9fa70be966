//! Conversion between columns of the graph and plain columns.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, StringArray, StructArray, UInt32Array};
use arrow_buffer::{ArrowNativeType, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::{ITEM, list_of};
use isomorph_model::{json, well_known};

use crate::arrow_limits::narrow;
use crate::mapping::CARRY_FITS;
use crate::mapping::arrays::{as_type, malformed, pick, with_nulls};
use crate::mapping::view::Rows;

/// Name of the field with the layer, in the struct about an end.
const LAYER: &str = "layer";

/// Layer and coefficient of an end, from lists of labels or from structs of both.
pub(super) fn said_of_end(said: &ArrayRef) -> Result<(Option<ArrayRef>, Option<ArrayRef>)> {
    let Some(said) = said.as_struct_opt() else {
        return Ok((Some(as_type(said, &list_of(DataType::Utf8))?), None));
    };
    // A null struct has no values, whatever its fields contain.
    let field = |name: &str, data_type: &DataType| -> Result<Option<ArrayRef>> {
        let Some(column) = said.column_by_name(name) else { return Ok(None) };
        let column = as_type(column, data_type)?;
        with_nulls(&column, said.nulls()).map(Some)
    };
    Ok((field(LAYER, &list_of(DataType::Utf8))?, field(well_known::COEFFICIENT, &DataType::Float64)?))
}

/// The column about an end, from its layer and its coefficient.
pub(super) fn said(layer: Option<&ArrayRef>, coefficient: Option<&ArrayRef>, rows: usize) -> Result<ArrayRef> {
    let or_null = |column: Option<&ArrayRef>, data_type: &DataType| match column {
        Some(column) => as_type(column, data_type),
        None => Ok(arrow_array::new_null_array(data_type, rows)),
    };
    let (labels, number) = (list_of(DataType::Utf8), DataType::Float64);
    let columns = vec![
        (Arc::new(Field::new(LAYER, labels.clone(), true)), or_null(layer, &labels)?),
        (Arc::new(Field::new(well_known::COEFFICIENT, number.clone(), true)), or_null(coefficient, &number)?),
    ];
    Ok(Arc::new(StructArray::from(columns)))
}

/// Keys of groups as text: lists of labels as JSON.
pub(super) fn key_text(keys: &ArrayRef) -> Result<ArrayRef> {
    let Some(lists) = keys.as_list_opt::<i32>() else { return Ok(Arc::clone(keys)) };
    let labels = lists.values().as_string_opt::<i32>().ok_or_else(|| malformed("labels are not text"))?;
    let mut texts = StringBuilder::with_capacity(lists.len(), lists.len() * 16);
    let mut text = String::new();
    for ends in lists.value_offsets().windows(2) {
        text.clear();
        text.push('[');
        for at in ends[0].as_usize()..ends[1].as_usize() {
            if text.len() > 1 {
                text.push(',');
            }
            json::push_string(&mut text, labels.value(at));
        }
        text.push(']');
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

/// Keys of groups from their text.
///
/// # Errors
/// Returns [`CARRY_FITS`] if a text is not a list of labels.
pub(super) fn key_of_text(keys: &ArrayRef) -> Result<ArrayRef> {
    let texts = keys.as_string_opt::<i32>().ok_or_else(|| malformed("keys of groups are not text"))?;
    let item = Field::new(ITEM, DataType::Utf8, true);
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(item);
    for text in texts.iter().flatten() {
        let labels: Vec<String> = serde_json::from_str(text).map_err(|_| {
            Error::broken(&CARRY_FITS, format!("{text:?} is not a list of labels")).at(Place::field("id"))
        })?;
        labels.iter().for_each(|label| lists.values().append_value(label));
        lists.append(true);
    }
    Ok(Arc::new(lists.finish()))
}

/// A list for each row: the rows `items[offsets[row]..offsets[row + 1]]` of `values`; null if there are no items.
pub(super) fn lists(values: &ArrayRef, offsets: &[i32], items: &UInt32Array) -> Result<ArrayRef> {
    let nulls: NullBuffer = offsets.windows(2).map(|ends| ends[0] < ends[1]).collect();
    let field = Arc::new(Field::new(ITEM, values.data_type().clone(), true));
    let values = pick(values, items)?;
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets.to_vec()));
    Ok(Arc::new(ListArray::try_new(field, offsets, values, Some(nulls)).map_err(malformed)?))
}

/// The rows of `roles` with this `role`.
pub(super) fn rows_of_role(roles: &StringArray, role: &str) -> Rows {
    let has_role = |row: &u32| roles.is_valid(*row as usize) && roles.value(*row as usize) == role;
    Rows::of_batch((0..narrow(roles.len())).filter(has_role).collect(), roles.len())
}
