//! Columns that are filled with the values of records.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_model::{Property, ValueKind};

use crate::rules;
use crate::value::{Value, is_float};

/// A column.
pub(crate) struct Column {
    data_type: DataType,
    /// Whether values become JSON.
    json: bool,
    texts: StringBuilder,
    /// The lengths of lists, and which are null.
    lists: Option<(Vec<usize>, NullBufferBuilder)>,
}

impl Column {
    /// An empty column of a property. `from_values` tells whether JSON is made of values; otherwise it is their text.
    pub fn new(property: &Property, from_values: bool) -> Column {
        Column { json: property.kind == ValueKind::Json && from_values, ..Column::of(&property.data_type) }
    }

    /// An empty column of a type.
    pub fn of(data_type: &DataType) -> Column {
        let lists = matches!(data_type, DataType::List(_)).then(|| (Vec::new(), NullBufferBuilder::new(0)));
        Column { data_type: data_type.clone(), json: false, texts: StringBuilder::new(), lists }
    }

    /// Adds a value; false if it has another type.
    pub fn push(&mut self, value: &Value) -> bool {
        let Some((lengths, nulls)) = &mut self.lists else {
            if self.json && *value != Value::Null {
                let mut text = String::new();
                value.push_json(&mut text);
                self.texts.append_value(text);
                return true;
            }
            return push_scalar(&mut self.texts, &self.data_type, value);
        };
        match value {
            Value::Null => {
                nulls.append_null();
                lengths.push(0);
                true
            }
            Value::List(items) => {
                nulls.append_non_null();
                lengths.push(items.len());
                let DataType::List(item) = &self.data_type else { return false };
                items.iter().all(|value| push_scalar(&mut self.texts, item.data_type(), value))
            }
            _ => false,
        }
    }

    /// The column; the next one is empty.
    ///
    /// # Errors
    /// If a text is none of the type.
    pub fn finish(&mut self) -> Result<ArrayRef> {
        let texts: ArrayRef = Arc::new(self.texts.finish());
        let failed = |error: arrow_schema::ArrowError| Error::broken(&rules::VALUE, error.to_string());
        let options = CastOptions { safe: false, ..CastOptions::default() };
        match (&mut self.lists, &self.data_type) {
            (Some((lengths, nulls)), DataType::List(item)) => {
                let items = cast_with_options(&texts, item.data_type(), &options).map_err(failed)?;
                let lengths = OffsetBuffer::from_lengths(std::mem::take(lengths));
                let lists = ListArray::try_new(Arc::clone(item), lengths, items, nulls.finish()).map_err(failed)?;
                Ok(Arc::new(lists))
            }
            (_, data_type) => cast_with_options(&texts, data_type, &options).map_err(failed),
        }
    }
}

/// Adds the text of a value; false if it has another type.
fn push_scalar(texts: &mut StringBuilder, data_type: &DataType, value: &Value) -> bool {
    let text = match (value, data_type) {
        (Value::Null, _) => {
            texts.append_null();
            return true;
        }
        (Value::Bool(true), DataType::Boolean) => "true",
        (Value::Bool(false), DataType::Boolean) => "false",
        (Value::Number(text), data_type) if data_type.is_integer() && !is_float(text) => text,
        // A key is written as text where ids are texts.
        (Value::Text(text), data_type) if data_type.is_integer() => text,
        (Value::Number(text) | Value::Text(text), DataType::Float32 | DataType::Float64) => match text.as_str() {
            "Infinity" => "inf",
            "-Infinity" => "-inf",
            "NaN" => "NaN",
            number if matches!(value, Value::Number(_)) => match number.parse::<f64>() {
                Ok(float) if float.is_finite() => number,
                _ => return false,
            },
            _ => return false,
        },
        (Value::Text(text), DataType::Utf8) => text,
        // Ids are texts or numbers.
        (Value::Number(text), DataType::Utf8) => text,
        (Value::Text(text) | Value::Time(_, text), DataType::Date32 | DataType::Timestamp(..)) => text,
        _ => return false,
    };
    texts.append_value(text);
    true
}

/// Rows of a type that are being collected.
pub(crate) struct Rows {
    pub columns: Vec<Column>,
    names: std::collections::HashMap<String, usize>,
    filled: Vec<bool>,
    pub rows: usize,
}

impl Rows {
    /// No rows with these properties.
    pub fn new(properties: &[Property], from_values: bool) -> Rows {
        Rows {
            columns: properties.iter().map(|property| Column::new(property, from_values)).collect(),
            names: properties.iter().enumerate().map(|(at, property)| (property.name.clone(), at)).collect(),
            filled: vec![false; properties.len()],
            rows: 0,
        }
    }

    /// Adds a row. A property with the name `key` that no column has is that of the key.
    ///
    /// # Errors
    /// What is wrong.
    pub fn push(&mut self, members: &[(String, Value)], key: Option<&str>) -> std::result::Result<(), String> {
        self.rows += 1;
        self.filled.fill(false);
        for (name, value) in members {
            let Some(at) = self.names.get(name) else {
                if key == Some(name.as_str()) {
                    continue;
                }
                return Err(format!("the sidecar knows no property {name:?}"));
            };
            let (Some(column), Some(filled)) = (self.columns.get_mut(*at), self.filled.get_mut(*at)) else { continue };
            if std::mem::replace(filled, true) {
                return Err(format!("the property {name:?} has two values"));
            }
            if !column.push(value) {
                let mut text = String::new();
                value.push_json(&mut text);
                let text: String = text.chars().take(40).collect();
                return Err(format!("{text} does not have the type of the property {name:?}"));
            }
        }
        for (column, filled) in self.columns.iter_mut().zip(&self.filled) {
            if !filled {
                column.push(&Value::Null);
            }
        }
        Ok(())
    }

    /// The columns of all rows.
    ///
    /// # Errors
    /// If a text is none of its type.
    pub fn finish(&mut self) -> Result<Vec<Option<ArrayRef>>> {
        self.rows = 0;
        self.columns.iter_mut().map(|column| column.finish().map(Some)).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float32Type;

    use super::*;

    #[test]
    fn values_become_columns_of_their_type() {
        let mut column = Column::of(&DataType::Float32);
        for text in ["0.1", "NaN", "Infinity", "-0.0"] {
            assert!(column.push(&Value::Number(text.to_owned())), "{text}");
        }
        assert!(column.push(&Value::Null));
        assert!(!column.push(&Value::Text("1".to_owned())));
        let column = column.finish().unwrap();
        let column = column.as_primitive::<Float32Type>();
        assert_eq!((column.value(0), column.value(2)), (0.1f32, f32::INFINITY));
        assert!(column.value(1).is_nan() && column.value(3).is_sign_negative() && column.is_null(4));
    }

    #[test]
    fn a_number_beyond_its_type_is_an_error() {
        let mut column = Column::of(&DataType::Int8);
        assert!(column.push(&Value::Number("300".to_owned())));
        assert!(column.finish().is_err());
        assert!(!Column::of(&DataType::Int8).push(&Value::Number("1.0".to_owned())));
    }
}
