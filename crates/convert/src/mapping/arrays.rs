//! Columns of Arrow: their types, nulls, rows and items; labels and relations as columns.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait, StringArray, UInt32Array, make_array};
use arrow_buffer::NullBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use isomorph_error::{Error, Result};
use isomorph_model::label::LabelBuilder;
use isomorph_model::type_name::ITEM;
use isomorph_model::{LabelColumn, Relations};

use crate::arrow_limits::narrow;

pub(crate) fn malformed(error: impl std::fmt::Display) -> Error {
    Error::malformed(error.to_string())
}

/// The column as `data_type`, unchanged if it is of that type. No value becomes null.
///
/// # Errors
/// If a value cannot be represented in that type.
pub(crate) fn as_type(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if column.data_type() == data_type {
        return Ok(Arc::clone(column));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, data_type, &strict).map_err(malformed)
}

/// The column in a type of the same width, with the same bits.
///
/// # Errors
/// If the widths differ.
pub(super) fn same_bits(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    let data = column.to_data().into_builder().data_type(to.clone()).build();
    Ok(make_array(data.map_err(malformed)?))
}

/// The column with further nulls, where `stated` is null.
///
/// # Errors
/// If the lengths differ.
pub(super) fn with_nulls(column: &ArrayRef, stated: Option<&NullBuffer>) -> Result<ArrayRef> {
    let nulls = NullBuffer::union(column.nulls(), stated);
    Ok(make_array(column.to_data().into_builder().nulls(nulls).build().map_err(malformed)?))
}

/// The texts of a builder, in which there is room for as many more.
pub(super) fn finished(texts: &mut StringBuilder) -> StringArray {
    let next = StringBuilder::with_capacity(texts.len(), texts.values_slice().len());
    std::mem::replace(texts, next).finish()
}

/// These rows of a column.
///
/// # Errors
/// If it has fewer rows.
pub(crate) fn pick(column: &dyn Array, rows: &UInt32Array) -> Result<ArrayRef> {
    take(column, rows, None).map_err(malformed)
}

/// The items of a row.
pub(super) fn items_of<O: OffsetSizeTrait>(lists: &GenericListArray<O>, row: usize) -> Range<usize> {
    let ends = lists.value_offsets().get(row..row + 2);
    ends.map_or(0..0, |ends| ends[0].as_usize()..ends[1].as_usize())
}

/// Labels as a column of lists; null if there are none.
pub(crate) fn label_lists(labels: &LabelColumn) -> ArrayRef {
    let item = Field::new(ITEM, DataType::Utf8, true);
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(item);
    for row in 0..labels.len() {
        let mut any = false;
        for label in labels.row(row) {
            builder.values().append_value(label);
            any = true;
        }
        builder.append(any);
    }
    Arc::new(builder.finish())
}

/// Relations from a column.
pub(crate) fn relations_of(column: &ArrayRef) -> Result<Relations> {
    let column = column.as_string_opt::<i32>().ok_or_else(|| Error::malformed("relations are not text"))?;
    let mut known: HashMap<&str, u32> = HashMap::new();
    let index = UInt32Array::from_iter_values((0..column.len()).map(|row| {
        // A null relation is the empty one.
        let name = if column.is_null(row) { "" } else { column.value(row) };
        let next = narrow(known.len());
        *known.entry(name).or_insert(next)
    }));
    let mut names: Vec<(&str, u32)> = known.into_iter().collect();
    names.sort_unstable_by_key(|(_, index)| *index);
    Ok(Relations { names: StringArray::from_iter_values(names.into_iter().map(|(name, _)| name)), index })
}

/// Labels from a column of lists.
pub(crate) fn labels_of(column: &ArrayRef) -> Result<LabelColumn> {
    let refused = || Error::malformed("labels are not lists of text");
    let lists = column.as_list_opt::<i32>().ok_or_else(refused)?;
    let items = lists.values().as_string_opt::<i32>().ok_or_else(refused)?;
    let mut builder = LabelBuilder::default();
    for row in 0..lists.len() {
        let range = if lists.is_null(row) { 0..0 } else { items_of(lists, row) };
        builder.push(range.filter(|item| !items.is_null(*item)).map(|item| items.value(item)));
    }
    Ok(builder.finish())
}

/// One relation for all rows.
pub(super) fn same_relation(relation: &str, rows: usize) -> Relations {
    Relations { names: StringArray::from_iter_values([relation]), index: UInt32Array::from_value(0, rows) }
}
