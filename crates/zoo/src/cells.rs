//! Cells that differ from a given one.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::OffsetBuffer;
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use arrow_select::concat::concat;

use super::arrays::text;
use isomorph_model::json::{self, Members, Value};
use isomorph_model::{Cardinality, Property, ValueKind};

/// Returns the column with the cell of one row replaced.
pub(super) fn replaced(column: &ArrayRef, row: usize, cell: &ArrayRef) -> ArrayRef {
    let (before, after) = (column.slice(0, row), column.slice(row + 1, column.len() - row - 1));
    concat(&[before.as_ref(), cell.as_ref(), after.as_ref()]).unwrap_or_else(|_| Arc::clone(column))
}

/// Returns a cell of the same type with another value. The given cell is a column of one row.
pub(super) fn altered(property: &Property, cell: &ArrayRef) -> ArrayRef {
    match property.kind {
        ValueKind::Json => {
            let old = if cell.is_valid(0) { cell.as_string::<i32>().value(0) } else { "" };
            text([if old == "\"altered\"" { "\"altered again\"" } else { "\"altered\"" }])
        }
        ValueKind::Bag => {
            let old = if cell.is_valid(0) { cell.as_string::<i32>().value(0) } else { "" };
            text([bag_with(old, "altered", &format!("\"{}\"", old.len())).as_str()])
        }
        ValueKind::Plain if property.cardinality == Cardinality::Set => {
            let items = unusual(list_items(cell).data_type());
            list_like(cell, &items)
        }
        ValueKind::Tensor { ref shape, sparse: false } if list_items(cell).is_empty() => {
            let one = plain(&new_null_array(list_items(cell).data_type(), 1));
            let items = vec![one.as_ref(); shape.iter().product::<u64>() as usize];
            list_like(cell, &concat(&items).unwrap_or_else(|_| Arc::clone(&one)))
        }
        _ => plain(cell),
    }
}

/// Returns cells that are almost equal to the given one, each with its name.
pub(super) fn special(property: &Property, cell: &ArrayRef) -> Vec<(&'static str, ArrayRef)> {
    let mut all: Vec<(&'static str, ArrayRef)> = Vec::new();
    let null = cell.is_null(0);
    match (&property.kind, cell.data_type()) {
        (ValueKind::Bag, _) => {
            let old = if null { "" } else { cell.as_string::<i32>().value(0) };
            all.extend(special_bags(old).into_iter().map(|(what, bag)| (what, text([bag.as_str()]))));
        }
        (ValueKind::Json, _) => {}
        (ValueKind::Tensor { .. }, _) => {}
        (_, DataType::Utf8) => match null {
            true => all.push(("empty text", text([""]))),
            false => {
                let old = cell.as_string::<i32>().value(0);
                all.push(("a blank more", text([format!("{old} ").as_str()])));
                let (upper, normal) = (old.to_uppercase(), old.replace('é', "e\u{301}"));
                all.extend(
                    [upper, normal].iter().filter(|new| *new != old).map(|new| ("nearly", text([new.as_str()]))),
                );
            }
        },
        (_, DataType::Float32) if !null && cell.as_primitive::<Float32Type>().value(0) == 0.0 => {
            let old = cell.as_primitive::<Float32Type>().value(0);
            all.push(("the other zero", Arc::new(Float32Array::from(vec![-old]))));
        }
        (_, DataType::Float64) if !null && cell.as_primitive::<Float64Type>().value(0) == 0.0 => {
            let old = cell.as_primitive::<Float64Type>().value(0);
            all.push(("the other zero", Arc::new(Float64Array::from(vec![-old]))));
        }
        (_, DataType::List(_)) => {
            let items = list_items(cell);
            let one_null = new_null_array(items.data_type(), 1);
            if null {
                all.push(("an empty list", list_like(cell, &items)));
            } else {
                if let Ok(more) = concat(&[items.as_ref(), one_null.as_ref()])
                    && (property.cardinality != Cardinality::Set || items.null_count() == 0)
                {
                    all.push(("a null item more", list_like(cell, &more)));
                }
                if !items.is_empty() {
                    all.push(("no items", list_like(cell, &items.slice(0, 0))));
                }
            }
        }
        (_, DataType::Struct(fields)) if !null => {
            // Each field separately.
            for at in 0..fields.len() {
                let mut columns = cell.as_struct().columns().to_vec();
                columns[at] = plain(&columns[at]);
                let changed = StructArray::new(fields.clone(), columns, None);
                let name = ["its first field", "its second field", "its third field"];
                all.push((name.get(at).copied().unwrap_or("a field"), Arc::new(changed)));
            }
        }
        _ => {}
    }
    if let ValueKind::Literal { datatype: None } = property.kind {
        // The datatype of a literal with a language is implied.
        all.retain(|(what, _)| *what != "its second field");
    }
    all
}

fn special_bags(old: &str) -> Vec<(&'static str, String)> {
    let mut members = Vec::new();
    let _ = Members::default().read(old, |name, value| {
        members.push((name.to_owned(), value.to_owned()));
        Ok(())
    });
    let write = |members: &[(String, String)]| {
        members.iter().fold(String::new(), |bag, (name, value)| bag_with(&bag, name, value))
    };
    let mut all = vec![("a null member more", bag_with(old, "null member", "null"))];
    let Some((name, value)) = members.first().cloned() else { return all };
    let mut changed = |what: &'static str, name: String, value: String| {
        let mut members = members.clone();
        members[0] = (name, value);
        all.push((what, write(&members)));
    };
    changed("a member renamed", format!("{name}x"), value.clone());
    changed("a member as text", name.clone(), format!("\"{}?\"", value.replace(['"', '\\'], "")));
    changed("a member in a list", name.clone(), format!("[{value}]"));
    match json::value(&value) {
        Ok(Value::Integer(number)) => {
            changed("an integer as a float", name.clone(), format!("{number}.0"));
            changed("an integer as text", name.clone(), format!("\"{number}\""));
        }
        Ok(Value::Float(number)) if number.is_finite() => {
            changed("a float as text", name.clone(), format!("\"{number:?}\""));
            changed("a float negated", name.clone(), format!("{:?}", -number));
        }
        Ok(Value::Null) => changed("false for null", name.clone(), "false".to_owned()),
        Ok(Value::Array(_)) => changed("an empty object for a list", name.clone(), "{}".to_owned()),
        Ok(Value::Text(text)) if text == "1" => changed("a number for text", name, "1".to_owned()),
        _ => changed("null for a member", name, "[null]".to_owned()),
    }
    members.remove(0);
    all.push(("a member less", write(&members)));
    all
}

/// Returns an object with an additional member.
fn bag_with(old: &str, name: &str, value: &str) -> String {
    let inside = old.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default().trim();
    let mut bag = format!("{{{inside}");
    if !inside.is_empty() {
        bag.push(',');
    }
    json::push_string(&mut bag, name);
    bag.push(':');
    bag.push_str(value);
    bag.push('}');
    bag
}

fn list_items(cell: &ArrayRef) -> ArrayRef {
    let list = cell.as_list::<i32>();
    if list.is_null(0) { list.values().slice(0, 0) } else { list.value(0) }
}

fn list_like(cell: &ArrayRef, items: &ArrayRef) -> ArrayRef {
    let DataType::List(field) = cell.data_type() else { return Arc::clone(cell) };
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    Arc::new(ListArray::new(Arc::clone(field), offsets, Arc::clone(items), None))
}

/// Returns a value of a type that is not used elsewhere.
fn unusual(data_type: &DataType) -> ArrayRef {
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1_234_567]));
    cast(&number, data_type).unwrap_or_else(|_| new_null_array(data_type, 1))
}

/// Returns another value of the type, or any value if the cell is null.
fn plain(cell: &ArrayRef) -> ArrayRef {
    use DataType as T;
    use TimeUnit as U;
    macro_rules! number {
        ($arrow:ty, |$value:ident| $changed:expr) => {{
            let array = cell.as_primitive::<$arrow>();
            let $value = if array.is_null(0) { Default::default() } else { array.value(0) };
            let changed = PrimitiveArray::<$arrow>::from_iter_values([$changed]);
            Arc::new(changed.with_data_type(cell.data_type().clone()))
        }};
    }
    macro_rules! next {
        ($arrow:ty) => {
            number!($arrow, |value| value.wrapping_add(1))
        };
    }
    match cell.data_type() {
        T::Boolean => Arc::new(BooleanArray::from(vec![cell.is_null(0) || !cell.as_boolean().value(0)])),
        T::Int8 => next!(Int8Type),
        T::Int16 => next!(Int16Type),
        T::Int32 => next!(Int32Type),
        T::Int64 => next!(Int64Type),
        T::UInt8 => next!(UInt8Type),
        T::UInt16 => next!(UInt16Type),
        T::UInt32 => next!(UInt32Type),
        T::UInt64 => next!(UInt64Type),
        T::Date32 => next!(Date32Type),
        T::Timestamp(U::Second, _) => next!(TimestampSecondType),
        T::Timestamp(U::Millisecond, _) => next!(TimestampMillisecondType),
        T::Timestamp(U::Microsecond, _) => next!(TimestampMicrosecondType),
        T::Timestamp(U::Nanosecond, _) => next!(TimestampNanosecondType),
        T::Float32 => number!(Float32Type, |value| if value == 1.5 { 2.5 } else { 1.5 }),
        T::Float64 => number!(Float64Type, |value| if value == 1.5 { 2.5 } else { 1.5 }),
        T::Utf8 => {
            let old = if cell.is_null(0) { "" } else { cell.as_string::<i32>().value(0) };
            text([format!("{old}x").as_str()])
        }
        T::Binary => {
            let old = if cell.is_null(0) { &[] } else { cell.as_binary::<i32>().value(0) };
            Arc::new(BinaryArray::from_iter_values([[old, &[0]].concat()]))
        }
        T::List(_) => {
            let items = list_items(cell);
            let changed = match items.is_empty() {
                true => plain(&new_null_array(items.data_type(), 1)),
                false => replaced(&items, 0, &plain(&items.slice(0, 1))),
            };
            list_like(cell, &changed)
        }
        T::Struct(fields) => {
            let mut columns = cell.as_struct().columns().to_vec();
            if let Some(first) = columns.first_mut() {
                *first = plain(first);
            }
            Arc::new(StructArray::new(fields.clone(), columns, None))
        }
        _ => Arc::clone(cell),
    }
}
