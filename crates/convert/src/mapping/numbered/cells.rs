//! Converts columns to features, and back.

use std::sync::Arc;

use arrow_array::builder::UInt32Builder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt8Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float32Array, ListArray, UInt8Array};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use arrow_select::filter::filter;
use isomorph_error::{Error, Result};
use isomorph_model::type_name::{list_of, type_name};
use isomorph_model::{Property, ValueKind, well_known};

use crate::arrow_limits::narrow;
use crate::mapping::arrays::{items_of, malformed, pick, same_bits, with_nulls};
use crate::mapping::{CARRY_FITS, has_text};

/// Whether the values of a property can be a feature without conversion: numbers, truth values, times, text, bytes,
/// lists of numbers, tensors.
pub fn holds(property: &Property) -> bool {
    feature(property).is_ok()
}

/// The number type of a value in a feature: with the same bits, except for truth values.
fn number(data_type: &DataType) -> Option<DataType> {
    use DataType as T;
    Some(match data_type {
        T::Boolean => T::UInt8,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => data_type.clone(),
        T::Float16 | T::Float32 | T::Float64 => data_type.clone(),
        T::Date32 | T::Time32(_) => T::Int32,
        T::Date64 | T::Time64(_) | T::Timestamp(..) | T::Duration(_) => T::Int64,
        _ => return None,
    })
}

/// Type and kind of the feature of a property.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Unsupported`] if it cannot be a feature.
pub(super) fn feature(property: &Property) -> Result<(DataType, ValueKind)> {
    let dense = || ValueKind::Tensor { shape: Vec::new(), sparse: false };
    let found = match (&property.kind, &property.data_type) {
        (ValueKind::Json | ValueKind::Bag | ValueKind::Plain, DataType::Utf8) => {
            Some((DataType::Utf8, ValueKind::Plain))
        }
        (ValueKind::Raw, DataType::Binary) => Some((DataType::Binary, ValueKind::Raw)),
        (ValueKind::Plain, DataType::Binary) => Some((list_of(DataType::UInt8), dense())),
        // A list with nulls is written as JSON.
        (ValueKind::Plain, DataType::List(item)) if has_text(property) => {
            number(item.data_type()).map(|number| (list_of(number), dense()))
        }
        (ValueKind::Tensor { sparse: false, .. }, DataType::List(item)) => {
            number(item.data_type()).map(|number| (list_of(number), dense()))
        }
        (ValueKind::Tensor { sparse: true, .. }, data_type @ DataType::Struct(_)) => {
            Some((data_type.clone(), ValueKind::Tensor { shape: Vec::new(), sparse: true }))
        }
        (ValueKind::Plain, data_type) => number(data_type).map(|number| (list_of(number), dense())),
        _ => None,
    };
    found.ok_or_else(|| {
        Error::unsupported(format!("values of type {} cannot be features", type_name(&property.data_type)))
    })
}

/// Whether a property can have cells that its feature cannot represent.
pub(super) fn may_be_elsewhere(property: &Property) -> bool {
    match property.kind {
        ValueKind::Plain | ValueKind::Tensor { sparse: false, .. } => {
            is_weight(property) || matches!(property.data_type, DataType::Utf8 | DataType::Binary | DataType::List(_))
        }
        _ => false,
    }
}

fn is_weight(property: &Property) -> bool {
    property.name == well_known::WEIGHT && property.data_type == DataType::Float32
}

/// A column as a feature, and the rows whose cells it cannot represent: these are missing in it.
pub(super) struct Featured {
    pub column: ArrayRef,
    pub elsewhere: Vec<u32>,
}

/// Converts a column of `property` to a feature.
///
/// # Errors
/// If the column is of another type.
pub(super) fn featured(property: &Property, column: &ArrayRef) -> Result<Featured> {
    let plain = |column: ArrayRef| Featured { column, elsewhere: Vec::new() };
    let (to, _) = feature(property)?;
    match (&property.data_type, &to) {
        (DataType::Utf8, _) => {
            let texts = column.as_string_opt::<i32>().ok_or_else(other)?;
            let empty = rows_that(texts, |row| texts.value(row).is_empty());
            // An empty bag is the same as none.
            let elsewhere = if property.kind == ValueKind::Plain { empty.clone() } else { Vec::new() };
            Ok(Featured { column: without(column, &empty)?, elsewhere })
        }
        (DataType::Binary, DataType::List(field)) => {
            let bytes = column.as_binary_opt::<i32>().ok_or_else(other)?;
            let elsewhere = rows_that(bytes, |row| bytes.value(row).is_empty());
            let values = UInt8Array::new(ScalarBuffer::from(bytes.values().clone()), None);
            let list = list(field, bytes.offsets(), Arc::new(values), bytes.nulls())?;
            Ok(Featured { column: without(&list, &elsewhere)?, elsewhere })
        }
        (DataType::List(_), DataType::List(field)) => {
            let lists = column.as_list_opt::<i32>().ok_or_else(other)?;
            let items = lists.values();
            let has_null = |row: usize| {
                let range = items_of(lists, row);
                items.nulls().is_some_and(|nulls| range.clone().any(|item| nulls.is_null(item)))
            };
            let elsewhere = rows_that(lists, |row| lists.value_length(row) == 0 || has_null(row));
            let items = numbers(items, field.data_type())?;
            let list = list(field, lists.offsets(), items, lists.nulls())?;
            let column = without(&list, &elsewhere)?;
            Ok(Featured { column: without_items_of_nulls(column)?, elsewhere })
        }
        (_, DataType::List(field)) => single(column, field).map(plain),
        _ => Ok(plain(Arc::clone(column))),
    }
}

/// Each value as a list of one number.
fn single(column: &ArrayRef, field: &Arc<Field>) -> Result<ArrayRef> {
    let values = numbers(column, field.data_type())?;
    let (offsets, values, nulls) = match values.nulls().cloned().filter(|nulls| nulls.null_count() > 0) {
        None => (OffsetBuffer::from_repeated_length(1, values.len()), values, None),
        Some(nulls) => {
            let there = BooleanArray::new(nulls.inner().clone(), None);
            let lengths = nulls.iter().map(usize::from);
            (OffsetBuffer::from_lengths(lengths), filter(&values, &there).map_err(malformed)?, Some(nulls))
        }
    };
    list(field, &offsets, values, nulls.as_ref())
}

/// Lists of these items.
fn list(
    field: &Arc<Field>,
    offsets: &OffsetBuffer<i32>,
    items: ArrayRef,
    nulls: Option<&NullBuffer>,
) -> Result<ArrayRef> {
    let list = ListArray::try_new(Arc::clone(field), offsets.clone(), items, nulls.cloned());
    Ok(Arc::new(list.map_err(malformed)?))
}

/// Numbers with the same bits.
fn numbers(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    if let Some(flags) = column.as_boolean_opt() {
        let bytes = flags.values().iter().map(u8::from).collect::<Vec<u8>>();
        return Ok(Arc::new(UInt8Array::new(bytes.into(), flags.nulls().cloned())));
    }
    same_bits(column, to)
}

/// Converts a feature to the column of `property`.
///
/// # Errors
/// Returns [`CARRY_FITS`] if it is not such a column.
pub(super) fn original(property: &Property, column: &ArrayRef) -> Result<ArrayRef> {
    let (wanted, _) = feature(property)?;
    let column = typed(column, &wanted)?;
    match (&property.data_type, &wanted) {
        (DataType::Utf8, _) => Ok(column),
        (DataType::Binary, DataType::List(_)) => {
            let lists = column.as_list::<i32>();
            let bytes = lists.values().as_primitive::<UInt8Type>();
            let values: Buffer = bytes.values().inner().clone();
            let array = arrow_array::BinaryArray::try_new(lists.offsets().clone(), values, lists.nulls().cloned());
            Ok(Arc::new(array.map_err(malformed)?))
        }
        (DataType::List(field), DataType::List(_)) => {
            let lists = column.as_list::<i32>();
            let items = values_of(lists.values(), field.data_type())?;
            list(field, lists.offsets(), items, lists.nulls())
        }
        (data_type, DataType::List(_)) => {
            let lists = column.as_list::<i32>();
            let mut items = UInt32Builder::with_capacity(lists.len());
            for row in 0..lists.len() {
                match (lists.is_null(row), items_of(lists, row)) {
                    (true, _) => items.append_null(),
                    (false, range) if range.len() == 1 => items.append_value(narrow(range.start)),
                    (false, range) => {
                        let message = format!("a feature has {} numbers, but one was written", range.len());
                        return Err(Error::broken(&CARRY_FITS, message));
                    }
                }
            }
            values_of(&pick(lists.values(), &items.finish())?, data_type)
        }
        _ => Ok(column),
    }
}

fn values_of(numbers: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if *to == DataType::Boolean {
        let flags = numbers.as_primitive::<UInt8Type>();
        return Ok(Arc::new(flags.iter().map(|flag| flag.map(|flag| flag != 0)).collect::<BooleanArray>()));
    }
    same_bits(numbers, to)
}

/// The column in the type that was written: names of items can differ.
fn typed(column: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    let misfit = || {
        let message =
            format!("a feature has the type {}, but {} was written", type_name(column.data_type()), type_name(wanted));
        Error::broken(&CARRY_FITS, message)
    };
    match (column.data_type(), wanted) {
        (found, wanted) if found == wanted => Ok(Arc::clone(column)),
        (DataType::List(found), DataType::List(field)) if found.data_type() == field.data_type() => {
            let lists = column.as_list::<i32>();
            list(field, lists.offsets(), Arc::clone(lists.values()), lists.nulls())
        }
        _ => Err(misfit()),
    }
}

/// Weights for sampling: a value that is not usable as a weight becomes 1. Also returns the rows whose value is not
/// exactly a 32-bit weight.
///
/// # Errors
/// If the column does not have numbers.
pub(super) fn weights(column: Option<&ArrayRef>, rows: usize) -> Result<Featured> {
    let Some(column) = column else {
        return Ok(Featured {
            column: Arc::new(Float32Array::from_value(1.0, rows)),
            elsewhere: (0..narrow(rows)).collect(),
        });
    };
    let singles = arrow_cast::cast(column, &DataType::Float32).map_err(malformed)?;
    let singles = singles.as_primitive::<Float32Type>();
    let mut elsewhere = Vec::new();
    let weight = |(row, weight): (usize, Option<f32>)| match weight {
        Some(weight) if weight.is_finite() && !weight.is_sign_negative() => weight,
        _ => {
            elsewhere.push(narrow(row));
            1.0
        }
    };
    let weights: Vec<f32> = singles.iter().enumerate().map(weight).collect();
    Ok(Featured { column: Arc::new(Float32Array::from(weights)), elsewhere })
}

fn rows_that(column: &dyn Array, is: impl Fn(usize) -> bool) -> Vec<u32> {
    (0..column.len()).filter(|row| column.is_valid(*row) && is(*row)).map(narrow).collect()
}

/// The column with nulls in `rows`.
fn without(column: &ArrayRef, rows: &[u32]) -> Result<ArrayRef> {
    if rows.is_empty() {
        return Ok(Arc::clone(column));
    }
    let mut stated = vec![true; column.len()];
    for row in rows {
        if let Some(stated) = stated.get_mut(*row as usize) {
            *stated = false;
        }
    }
    with_nulls(column, Some(&NullBuffer::from(stated)))
}

/// The lists without the items of null lists, if some of the items are null.
fn without_items_of_nulls(column: ArrayRef) -> Result<ArrayRef> {
    let lists = column.as_list::<i32>();
    if lists.values().null_count() == 0 {
        return Ok(column);
    }
    let mut there = vec![false; lists.values().len()];
    let mut lengths = Vec::with_capacity(lists.len());
    for row in 0..lists.len() {
        let items = if lists.is_valid(row) { items_of(lists, row) } else { 0..0 };
        lengths.push(items.len());
        there.get_mut(items).into_iter().flatten().for_each(|there| *there = true);
    }
    let items = filter(lists.values(), &BooleanArray::from(there)).map_err(malformed)?;
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    list(&field, &OffsetBuffer::from_lengths(lengths), items, lists.nulls())
}

fn other() -> Error {
    Error::usage("a column is of another type than its property")
}
