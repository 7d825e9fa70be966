//! Lists in the cells of CSV.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, FieldRef};
use isomorph_error::{Error, Result};
use isomorph_model::type_name::{list_of, type_name};
use serde_json::Value;

/// How a text becomes a list.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    /// What divides items; without it a cell is a JSON array.
    delimiter: Option<char>,
    item: DataType,
}

impl Split {
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for items that are not read from texts.
    pub fn new(item: &DataType, delimiter: Option<char>) -> Result<Split> {
        let fine = matches!(item, DataType::Boolean | DataType::Float32 | DataType::Float64 | DataType::Utf8)
            || item.is_integer() && *item != DataType::UInt64;
        match fine {
            true => Ok(Split { delimiter, item: item.clone() }),
            false => Err(Error::unsupported(format!("lists of {} are not read from CSV", type_name(item)))),
        }
    }
}

/// Items of a list while they are read.
enum Items {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Text(StringBuilder),
}

impl Items {
    /// Adds a text.
    fn push(&mut self, text: &str) -> bool {
        match self {
            Items::Bool(items) => match text {
                "true" | "True" | "TRUE" => items.append_value(true),
                "false" | "False" | "FALSE" => items.append_value(false),
                _ => return false,
            },
            Items::Int(items) => match text.parse() {
                Ok(number) => items.append_value(number),
                Err(_) => return false,
            },
            Items::Float(items) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() || !text.bytes().any(|byte| byte.is_ascii_digit()) => {
                    items.append_value(number);
                }
                _ => return false,
            },
            Items::Text(items) => items.append_value(text),
        }
        true
    }

    fn push_json(&mut self, value: &Value) -> bool {
        match (self, value) {
            (Items::Bool(items), Value::Null) => items.append_null(),
            (Items::Int(items), Value::Null) => items.append_null(),
            (Items::Float(items), Value::Null) => items.append_null(),
            (Items::Text(items), Value::Null) => items.append_null(),
            (Items::Bool(items), Value::Bool(value)) => items.append_value(*value),
            (Items::Text(items), Value::String(value)) => items.append_value(value),
            (own @ (Items::Int(_) | Items::Float(_)), Value::Number(number)) => return own.push(&number.to_string()),
            (own @ Items::Float(_), Value::String(word))
                if ["NaN", "Infinity", "-Infinity"].contains(&word.as_str()) =>
            {
                return own.push(word);
            }
            _ => return false,
        }
        true
    }

    fn finish(self) -> ArrayRef {
        match self {
            Items::Bool(mut items) => Arc::new(items.finish()),
            Items::Int(mut items) => Arc::new(items.finish()),
            Items::Float(mut items) => Arc::new(items.finish()),
            Items::Text(mut items) => Arc::new(items.finish()),
        }
    }
}

/// The integers of a column of texts, each as it is written when it is a key: `01` is not `1`. Or the row of a cell that is none.
pub(crate) fn integers(column: &ArrayRef, to: &DataType) -> std::result::Result<ArrayRef, usize> {
    let texts = column.as_string_opt::<i32>().ok_or(0usize)?;
    let is_written = |text: &str| text.parse::<i128>().is_ok_and(|number| number.to_string() == text);
    if let Some(row) = (0..texts.len()).find(|row| texts.is_valid(*row) && !is_written(texts.value(*row))) {
        return Err(row);
    }
    let integers = cast_with_options(column, to, &CastOptions::default()).map_err(|_| 0usize)?;
    match (0..texts.len()).find(|row| texts.is_valid(*row) && integers.is_null(*row)) {
        Some(row) => Err(row),
        None => Ok(integers),
    }
}

/// The lists of a column of texts; or the row of a cell that is none, and why.
pub(crate) fn split(column: &ArrayRef, how: &Split) -> std::result::Result<ArrayRef, (usize, String)> {
    let texts = column.as_string_opt::<i32>().ok_or_else(|| (0, "the column is no text".to_owned()))?;
    let mut items = match &how.item {
        DataType::Boolean => Items::Bool(BooleanBuilder::new()),
        DataType::Float32 | DataType::Float64 => Items::Float(Float64Builder::new()),
        DataType::Utf8 => Items::Text(StringBuilder::new()),
        _ => Items::Int(Int64Builder::new()),
    };
    let mut lengths = Vec::with_capacity(texts.len());
    let mut nulls = NullBufferBuilder::new(texts.len());
    for row in 0..texts.len() {
        if texts.is_null(row) {
            nulls.append_null();
            lengths.push(0);
            continue;
        }
        nulls.append_non_null();
        let text = texts.value(row);
        let wrong = || {
            let short: String = text.chars().take(40).collect();
            (row, format!("{short:?} is no list of {}", type_name(&how.item)))
        };
        lengths.push(match how.delimiter {
            // An empty text is an empty list.
            Some(_) if text.is_empty() => 0,
            Some(delimiter) => {
                let mut count = 0;
                for item in text.split(delimiter) {
                    count += 1;
                    if !items.push(item) {
                        return Err(wrong());
                    }
                }
                count
            }
            None => {
                let Ok(Value::Array(all)) = serde_json::from_str(text) else { return Err(wrong()) };
                if !all.iter().all(|item| items.push_json(item)) {
                    return Err(wrong());
                }
                all.len()
            }
        });
    }
    let failed = |error: arrow_schema::ArrowError| (0, error.to_string());
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let items = cast_with_options(&items.finish(), &how.item, &strict).map_err(failed)?;
    let DataType::List(field) = list_of(how.item.clone()) else { return Err((0, "a list has no items".to_owned())) };
    let field: FieldRef = field;
    let lists =
        ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), items, nulls.finish()).map_err(failed)?;
    Ok(Arc::new(lists))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::StringArray;
    use arrow_array::types::Int64Type;

    use super::*;

    fn column(texts: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(texts.to_vec()))
    }

    #[test]
    fn integers_are_as_they_are_written() {
        let all = integers(&column(&[Some("1"), None, Some("-7"), Some("0")]), &DataType::Int8).unwrap();
        assert_eq!(all.as_primitive::<arrow_array::types::Int8Type>().values()[2], -7);
        for text in ["01", "+1", "1.0", "-0", "", " 1", "300", "x"] {
            assert_eq!(integers(&column(&[Some("1"), Some(text)]), &DataType::Int8).unwrap_err(), 1, "{text}");
        }
    }

    #[test]
    fn cells_become_lists_or_are_named() {
        let by = |delimiter| Split::new(&DataType::Int64, delimiter).unwrap();
        let lists = split(&column(&[Some("1;-2"), Some(""), None]), &by(Some(';'))).unwrap();
        let expected =
            ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), Some(-2)]), Some(vec![]), None]);
        assert_eq!(lists.as_list::<i32>().values(), expected.values());
        assert_eq!(lists.as_list::<i32>().offsets(), expected.offsets());
        assert_eq!(lists.null_count(), 1);
        let lists = split(&column(&[Some("[1,null]"), Some("[]")]), &by(None)).unwrap();
        assert_eq!(lists.as_list::<i32>().values().null_count(), 1);
        for (text, delimiter) in
            [("1;x", Some(';')), ("[1,\"x\"]", None), ("{}", None), ("[1.5]", None), ("1;;2", Some(';'))]
        {
            let (row, reason) =
                split(&column(&[Some("").filter(|_| delimiter.is_some()), Some(text)]), &by(delimiter)).unwrap_err();
            assert_eq!(row, 1, "{text}");
            assert!(reason.contains("is no list of int64"), "{reason}");
        }
    }
}
