//! Functions of arrays that compare moments with items: all of them have one type, as in other comparisons (see `instants`).
//!
//! What has no zone is in UTC beside what has one, times of day and timestamps have the digits of the finest, and texts are what the items are. The first array says
//! whether the result has a zone, and which.

use std::sync::Arc;

use arrow_schema::{DataType, Field, TimeUnit};
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Expr, ExprSchemable, cast};

use crate::functions::array_any;
use crate::rewrite::instants::{TIME, UTC, as_moment, is_text, text, unit};

/// Functions that compare values with items of arrays, or join them.
pub(crate) const COMPARING: [&str; 17] = [
    "array_has",
    "array_position",
    "array_positions",
    "array_remove",
    "array_remove_n",
    "array_remove_all",
    "array_append",
    "array_prepend",
    "array_replace",
    "array_replace_n",
    "array_replace_all",
    "array_has_all",
    "array_has_any",
    "array_except",
    "array_intersect",
    "array_union",
    "array_concat",
];

/// The number of arguments of a function that are values or arrays of values; `None` for functions that do not compare, or join, these.
pub(crate) fn compared(name: &str, arguments: usize) -> Option<usize> {
    match name {
        "array_replace" | "array_replace_n" | "array_replace_all" => Some(3),
        "array_has_all" | "array_has_any" | "array_except" | "array_intersect" | "array_union" | "array_concat" => {
            Some(arguments)
        }
        other => (COMPARING.contains(&other) || other.starts_with(array_any::NAME)).then_some(2),
    }
}

/// Gives such arguments one type. Returns whether it has changed one.
pub(crate) fn of_one_type(arguments: &mut [Expr], schema: &DFSchema) -> bool {
    let types: Vec<Option<DataType>> = arguments.iter().map(|one| one.get_type(schema).ok()).collect();
    let items: Vec<Option<&DataType>> =
        types.iter().map(|own| own.as_ref().map(|own| item(own).unwrap_or(own))).collect();
    let first = types.iter().flatten().find_map(item);
    let Some(wanted) = wanted(arguments, &items, first) else { return false };
    let mut is_changed = false;
    for ((one, own), item_type) in arguments.iter_mut().zip(&types).zip(&items) {
        let (Some(own), Some(item_type)) = (own, item_type) else { continue };
        let is_moment = is_moment(item_type) || is_text(Some(item_type));
        if **item_type == wanted || !is_moment {
            continue;
        }
        let value = std::mem::take(one);
        *one = match item(own) {
            Some(_) => list_of(value, item_type, &wanted),
            None => as_moment(value, own, &wanted),
        };
        is_changed = true;
    }
    is_changed
}

/// The type of all values, if it is another than that of one of them.
fn wanted(arguments: &[Expr], items: &[Option<&DataType>], first: Option<&DataType>) -> Option<DataType> {
    let mut moments = items.iter().flatten().filter(|own| is_moment(own)).peekable();
    let is_time = matches!(moments.peek()?, DataType::Time32(_) | DataType::Time64(_));
    let are_alike = moments.clone().all(|own| Some(own) == items.iter().flatten().find(|own| is_moment(own)));
    let has_texts = items.iter().any(|own| is_text(*own));
    if are_alike && !has_texts {
        return None;
    }
    if is_time {
        return moments.all(|own| matches!(own, DataType::Time32(_) | DataType::Time64(_))).then_some(TIME);
    }
    if moments.clone().any(|own| matches!(own, DataType::Time32(_) | DataType::Time64(_))) {
        return None;
    }
    let units =
        moments.clone().filter_map(|own| if let DataType::Timestamp(unit, _) = own { Some(*unit) } else { None });
    let of_texts = arguments.iter().filter_map(text).map(|text| unit(text, TimeUnit::Second)).max();
    let Some(finest) = units.max() else {
        let has_time = arguments.iter().filter_map(text).any(|text| text.contains(':'));
        let unit = of_texts.unwrap_or(TimeUnit::Microsecond).max(TimeUnit::Microsecond);
        return Some(if has_time { DataType::Timestamp(unit, None) } else { DataType::Date32 });
    };
    let zone = match first {
        Some(DataType::Timestamp(_, zone)) => zone.clone(),
        _ => moments.find_map(|own| if let DataType::Timestamp(_, zone) = own { zone.clone() } else { None }),
    };
    Some(DataType::Timestamp(of_texts.map_or(finest, |unit| unit.max(finest)), zone))
}

fn is_moment(own: &DataType) -> bool {
    matches!(own, DataType::Timestamp(..) | DataType::Date32 | DataType::Time32(_) | DataType::Time64(_))
}

pub(crate) fn item(own: &DataType) -> Option<&DataType> {
    match own {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

/// An array whose items have another type.
fn list_of(array: Expr, own: &DataType, wanted: &DataType) -> Expr {
    let list = |item: DataType| DataType::List(Arc::new(Field::new_list_field(item, true)));
    match (own, wanted) {
        (DataType::Timestamp(_, None) | DataType::Date32, DataType::Timestamp(unit, Some(_))) => {
            cast(cast(array, list(DataType::Timestamp(*unit, Some(UTC.into())))), list(wanted.clone()))
        }
        _ => cast(array, list(wanted.clone())),
    }
}
