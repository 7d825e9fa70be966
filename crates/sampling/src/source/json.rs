//! JSON text for values without an encoding of their own: lists of texts, lists of lists, structs, decimals.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use isomorph_model::json::push_string;

/// Returns whether properties of this type become features in JSON text. Decimals become their digits.
pub fn is_json(data_type: &DataType) -> bool {
    let flat = |item: &DataType| item.primitive_width().is_some() && !is_decimal(item) || *item == DataType::Boolean;
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => !flat(item.data_type()),
        DataType::Struct(fields) => {
            // A sparse tensor has its own encoding.
            !(fields.len() == 2 && ["coordinates", "values"].iter().all(|name| fields.find(name).is_some()))
        }
        other => is_decimal(other),
    }
}

fn is_decimal(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(data_type, T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..))
}

/// Appends a value; null becomes `null`.
pub(super) fn push(column: &ArrayRef, row: usize, out: &mut String) {
    use DataType as T;
    if column.is_null(row) {
        out.push_str("null");
        return;
    }
    match column.data_type() {
        T::List(_) => list(&column.as_list::<i32>().value(row), out),
        T::LargeList(_) => list(&column.as_list::<i64>().value(row), out),
        T::FixedSizeList(..) => list(&column.as_fixed_size_list().value(row), out),
        T::Struct(_) => {
            let fields = column.as_struct();
            let there = fields.fields().iter().zip(fields.columns()).filter(|(_, cells)| cells.is_valid(row));
            out.push('{');
            for (number, (field, cells)) in there.enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                push_string(out, field.name());
                out.push(':');
                push(cells, row, out);
            }
            out.push('}');
        }
        T::Utf8 => push_string(out, column.as_string::<i32>().value(row)),
        T::LargeUtf8 => push_string(out, column.as_string::<i64>().value(row)),
        T::Float16 => float(column.as_primitive::<Float16Type>().value(row).to_f64(), out),
        T::Float32 => float(column.as_primitive::<Float32Type>().value(row).into(), out),
        T::Float64 => float(column.as_primitive::<Float64Type>().value(row), out),
        other => {
            let bare = other.is_integer() || is_decimal(other) || *other == T::Boolean;
            // A value without text, such as an invalid time, becomes null.
            let text = ArrayFormatter::try_new(column.as_ref(), &FormatOptions::default());
            match text.and_then(|text| text.value(row).try_to_string()) {
                Ok(text) if bare => out.push_str(&text),
                Ok(text) => push_string(out, &text),
                Err(_) => out.push_str("null"),
            }
        }
    }
}

fn list(items: &ArrayRef, out: &mut String) {
    out.push('[');
    for item in 0..items.len() {
        out.push_str(if item > 0 { "," } else { "" });
        push(items, item, out);
    }
    out.push(']');
}

fn float(value: f64, out: &mut String) {
    let _ = match value {
        _ if value.is_finite() => write!(out, "{value:?}"),
        _ if value.is_nan() => write!(out, "\"NaN\""),
        _ => write!(out, "\"{}Infinity\"", if value < 0.0 { "-" } else { "" }),
    };
}
