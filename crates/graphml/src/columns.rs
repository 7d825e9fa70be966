//! Builders of columns from data.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder};
use arrow_schema::DataType;

use crate::keys::{float, integer, truth};

/// A column builder.
pub(crate) enum Column {
    Bool(BooleanBuilder),
    Int(Int32Builder),
    Long(Int64Builder),
    Double(Float64Builder),
    Text(StringBuilder),
}

impl Column {
    pub fn new(data_type: &DataType) -> Column {
        match data_type {
            DataType::Boolean => Column::Bool(BooleanBuilder::new()),
            DataType::Int32 => Column::Int(Int32Builder::new()),
            DataType::Int64 => Column::Long(Int64Builder::new()),
            DataType::Float64 => Column::Double(Float64Builder::new()),
            _ => Column::Text(StringBuilder::new()),
        }
    }

    /// Appends a value; returns false if it has another type.
    pub fn push(&mut self, text: &str) -> bool {
        if let Column::Text(column) = self {
            column.append_value(text);
            return true;
        }
        let done = match self {
            Column::Bool(column) => truth(text).map(|value| column.append_value(value)),
            Column::Int(column) => {
                integer(text).and_then(|value| i32::try_from(value).ok()).map(|value| column.append_value(value))
            }
            Column::Long(column) => integer(text).map(|value| column.append_value(value)),
            Column::Double(column) => float(text).map(|value| column.append_value(value)),
            Column::Text(_) => None,
        };
        done.is_some()
    }

    pub fn push_null(&mut self) {
        match self {
            Column::Bool(column) => column.append_null(),
            Column::Int(column) => column.append_null(),
            Column::Long(column) => column.append_null(),
            Column::Double(column) => column.append_null(),
            Column::Text(column) => column.append_null(),
        }
    }

    pub fn finish(&mut self) -> ArrayRef {
        match self {
            Column::Bool(column) => Arc::new(column.finish()),
            Column::Int(column) => Arc::new(column.finish()),
            Column::Long(column) => Arc::new(column.finish()),
            Column::Double(column) => Arc::new(column.finish()),
            Column::Text(column) => Arc::new(column.finish()),
        }
    }
}
