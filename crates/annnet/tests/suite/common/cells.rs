//! Cells as the fixtures represent them.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{DurationMicrosecondType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use isomorph_model::{Columns, Property};
use serde_json::{Map, Value, json};

fn tagged(tag: &str, text: String) -> Value {
    json!({"$": tag, "v": text})
}

/// One cell; null is `Value::Null`.
pub fn cell(array: &dyn Array, row: usize) -> Value {
    use DataType as T;
    if array.is_null(row) {
        return Value::Null;
    }
    let text = || array_value_to_string(array, row).unwrap();
    match array.data_type() {
        T::Utf8 => json!(array.as_string::<i32>().value(row)),
        T::Boolean => json!(array.as_boolean().value(row)),
        T::UInt64 => json!(array.as_primitive::<UInt64Type>().value(row)),
        own if own.is_integer() => json!(cast(array, &T::Int64).unwrap().as_primitive::<Int64Type>().value(row)),
        own if own.is_floating() => float(cast(array, &T::Float64).unwrap().as_primitive::<Float64Type>().value(row)),
        T::List(_) => {
            let items = array.as_list::<i32>().value(row);
            (0..items.len()).map(|at| cell(items.as_ref(), at)).collect()
        }
        T::Struct(fields) => {
            let columns = array.as_struct().columns();
            fields.iter().zip(columns).map(|(field, column)| (field.name().clone(), cell(column, row))).collect()
        }
        T::Binary => {
            let hex = array.as_binary::<i32>().value(row).iter().fold(String::new(), |mut out, byte| {
                write!(out, "{byte:02x}").unwrap();
                out
            });
            tagged("bytes", hex)
        }
        T::Date32 => tagged("date", text()),
        T::Time64(_) => tagged("time", text()),
        T::Timestamp(unit, Some(_)) => {
            let local = cast(array, &T::Timestamp(*unit, None)).unwrap();
            tagged("datetime", array_value_to_string(&local, row).unwrap() + "+00:00")
        }
        T::Timestamp(_, None) => tagged("datetime", text()),
        T::Decimal128(_, _) => tagged("decimal", text()),
        T::Duration(_) => {
            let micros = array.as_primitive::<DurationMicrosecondType>().value(row);
            tagged("timedelta", micros.to_string())
        }
        other => panic!("{other} is not expected"),
    }
}

fn float(value: f64) -> Value {
    match value {
        value if value.is_nan() => tagged("float", "nan".into()),
        value if value.is_infinite() => tagged("float", if value > 0.0 { "inf" } else { "-inf" }.into()),
        value => json!(value),
    }
}

/// The present properties of a row; NaN counts as absent in the fixtures.
pub fn properties(properties: &[Property], columns: &Columns, row: usize) -> Map<String, Value> {
    assert_eq!(properties.len(), columns.len());
    let present = properties.iter().zip(columns).filter_map(|(property, column)| {
        let value = cell(column.as_ref()?, row);
        assert_eq!(*column.as_ref()?.data_type(), property.data_type, "{}", property.name);
        let absent = value.is_null() || value == tagged("float", "nan".into());
        (!absent).then(|| (property.name.clone(), value))
    });
    present.collect()
}

/// A list of labels.
pub fn labels(column: &ArrayRef, row: usize) -> Value {
    cell(column, row)
}
