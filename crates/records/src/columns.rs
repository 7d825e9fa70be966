//! Builders of columns from values of records.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_schema::{DataType, FieldRef};
use isomorph_model::{Property, ValueKind, json};

use crate::slots::Tag;
use crate::values::{classify, float};

/// A column builder.
pub(crate) enum Column {
    Bool(BooleanBuilder),
    Int(Int32Builder),
    Long(Int64Builder),
    Unsigned(UInt64Builder),
    Double(Float64Builder),
    Text(StringBuilder),
    Json(StringBuilder),
    /// JSON that the syntax stores as text.
    JsonText(StringBuilder),
    List {
        items: Box<Column>,
        item: FieldRef,
        lengths: Vec<usize>,
        nulls: NullBufferBuilder,
    },
}

impl Column {
    /// Creates the column of a property; `json_as_text` says whether texts of a JSON column are JSON: a sidecar says so, for a syntax
    /// that stores it as text. Otherwise texts beside other values are texts.
    pub fn new(property: &Property, json_as_text: bool) -> Column {
        match &property.kind {
            ValueKind::Json | ValueKind::Bag if json_as_text => Column::JsonText(StringBuilder::new()),
            ValueKind::Json | ValueKind::Bag => Column::Json(StringBuilder::new()),
            _ => Column::of(&property.data_type),
        }
    }

    fn of(data_type: &DataType) -> Column {
        match data_type {
            DataType::Boolean => Column::Bool(BooleanBuilder::new()),
            DataType::Int32 => Column::Int(Int32Builder::new()),
            DataType::Int64 => Column::Long(Int64Builder::new()),
            DataType::UInt64 => Column::Unsigned(UInt64Builder::new()),
            DataType::Float64 => Column::Double(Float64Builder::new()),
            DataType::List(item) => Column::List {
                items: Box::new(Column::of(item.data_type())),
                item: Arc::clone(item),
                lengths: Vec::new(),
                nulls: NullBufferBuilder::new(0),
            },
            _ => Column::Text(StringBuilder::new()),
        }
    }

    /// Appends a value; returns false if it has another type.
    pub fn push(&mut self, tag: Tag, text: &str) -> bool {
        if tag == Tag::Null {
            match self {
                // Null is a JSON value.
                Column::Json(column) => column.append_value("null"),
                _ => self.push_null(),
            }
            return true;
        }
        let is_number = matches!(tag, Tag::Integer | Tag::Float);
        match self {
            Column::Bool(column) if tag == Tag::Bool => column.append_value(text == "true"),
            Column::Int(column) if tag == Tag::Integer => return parsed(text, |value| column.append_value(value)),
            Column::Long(column) if tag == Tag::Integer => return parsed(text, |value| column.append_value(value)),
            Column::Unsigned(column) if tag == Tag::Integer => {
                return parsed(text, |value| column.append_value(value));
            }
            Column::Double(column) if is_number => match float(text) {
                Some(value) => column.append_value(value),
                None => return false,
            },
            Column::Text(column) if tag == Tag::Text => column.append_value(text),
            Column::Json(column) if tag == Tag::Text => {
                let mut quoted = String::with_capacity(text.len() + 2);
                json::push_string(&mut quoted, text);
                column.append_value(quoted);
            }
            Column::JsonText(column) if tag == Tag::Text => match json::check(text) {
                Ok(()) => column.append_value(text),
                Err(_) => return false,
            },
            Column::Json(column) | Column::JsonText(column) => column.append_value(text),
            Column::List { items, lengths, nulls, .. } if tag == Tag::Json => {
                let (mut count, mut fits) = (0, true);
                let read = json::items(text, |raw| {
                    let (tag, text) = classify(raw)?;
                    count += 1;
                    fits &= items.push(tag, &text);
                    Ok(())
                });
                if read.is_err() || !fits {
                    return false;
                }
                lengths.push(count);
                nulls.append_non_null();
            }
            _ => return false,
        }
        true
    }

    /// Appends no value.
    pub fn push_null(&mut self) {
        match self {
            Column::Bool(column) => column.append_null(),
            Column::Int(column) => column.append_null(),
            Column::Long(column) => column.append_null(),
            Column::Unsigned(column) => column.append_null(),
            Column::Double(column) => column.append_null(),
            Column::Text(column) | Column::Json(column) | Column::JsonText(column) => column.append_null(),
            Column::List { lengths, nulls, .. } => {
                lengths.push(0);
                nulls.append_null();
            }
        }
    }

    /// Returns the column, and starts an empty one; `None` if its lists are too long together.
    pub fn finish(&mut self) -> Option<ArrayRef> {
        Some(match self {
            Column::Bool(column) => Arc::new(column.finish()),
            Column::Int(column) => Arc::new(column.finish()),
            Column::Long(column) => Arc::new(column.finish()),
            Column::Unsigned(column) => Arc::new(column.finish()),
            Column::Double(column) => Arc::new(column.finish()),
            Column::Text(column) | Column::Json(column) | Column::JsonText(column) => Arc::new(column.finish()),
            Column::List { items, item, lengths, nulls } => {
                let lengths = std::mem::take(lengths);
                i32::try_from(lengths.iter().sum::<usize>()).ok()?;
                let offsets = OffsetBuffer::from_lengths(lengths);
                let list = ListArray::try_new(Arc::clone(item), offsets, items.finish()?, nulls.finish());
                Arc::new(list.ok()?)
            }
        })
    }
}

fn parsed<T: std::str::FromStr>(text: &str, take: impl FnOnce(T)) -> bool {
    text.parse().map(take).is_ok()
}
