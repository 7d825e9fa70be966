//! Values of columns as they are written: in JSON, or in Cypher.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::json::push_string;

use crate::{Form, cypher};

/// A column as texts, which become values of a form.
pub(crate) struct Spelled {
    texts: StringArray,
    data_type: DataType,
    /// Where the items of each list begin; the texts are those of all items.
    lists: Option<arrow_array::ListArray>,
    form: Form,
}

fn texts_of(column: &ArrayRef) -> Result<StringArray> {
    let texts = cast(column, &DataType::Utf8);
    let texts = texts.map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    Ok(texts.as_string::<i32>().clone())
}

impl Spelled {
    /// The values of a column.
    ///
    /// # Errors
    /// If its type has no text.
    pub fn new(column: &ArrayRef, form: Form) -> Result<Spelled> {
        let lists = column.as_list_opt::<i32>().cloned();
        let mut items = lists.as_ref().map_or_else(|| column.clone(), |lists| lists.values().clone());
        if *items.data_type() == DataType::Float32 {
            // Neo4j and readers of JSON have doubles only: the digits are those of the equal double.
            items = cast(&items, &DataType::Float64)
                .map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
        }
        Ok(Spelled { texts: texts_of(&items)?, data_type: items.data_type().clone(), lists, form })
    }

    /// Appends the value of a row; false if it is null.
    ///
    /// # Errors
    /// [`Kind::WouldLose`] for an item that is null, which arrays of Neo4j do not have.
    pub fn push(&self, row: usize, out: &mut String, name: &str) -> Result<bool> {
        let Some(lists) = &self.lists else {
            if self.texts.is_null(row) {
                return Ok(false);
            }
            self.scalar(row, out);
            return Ok(true);
        };
        if lists.is_null(row) {
            return Ok(false);
        }
        let bounds = lists.value_offsets();
        let bound = |at: usize| bounds.get(at).and_then(|bound| usize::try_from(*bound).ok()).unwrap_or_default();
        out.push('[');
        for (at, item) in (bound(row)..bound(row + 1)).enumerate() {
            if self.texts.is_null(item) {
                let what = "an item of an array is null, and Neo4j has no such arrays";
                return Err(Error::new(Kind::WouldLose, what).at(Place::field(name)));
            }
            if at > 0 {
                out.push(',');
            }
            self.scalar(item, out);
        }
        out.push(']');
        Ok(true)
    }

    fn scalar(&self, row: usize, out: &mut String) {
        let text = self.texts.value(row);
        let call = match &self.data_type {
            DataType::Boolean => return out.push_str(text),
            data_type if data_type.is_integer() => return out.push_str(text),
            DataType::Float32 | DataType::Float64 => return self.float(text, out),
            DataType::Date32 => Some("date"),
            DataType::Timestamp(_, None) => Some("localdatetime"),
            DataType::Timestamp(_, Some(_)) => Some("datetime"),
            _ => None,
        };
        match (self.form, call) {
            (Form::Apoc, _) => push_string(out, text),
            (Form::Cypher, None) => cypher::push_text(out, text),
            (Form::Cypher, Some(call)) => {
                out.push_str(call);
                out.push('(');
                cypher::push_text(out, text);
                out.push(')');
            }
        }
    }

    fn float(&self, text: &str, out: &mut String) {
        let word = match text.to_ascii_lowercase().trim_start_matches(['-', '+']) {
            "nan" => Some("NaN"),
            "inf" | "infinity" if text.starts_with('-') => Some("-Infinity"),
            "inf" | "infinity" => Some("Infinity"),
            _ => None,
        };
        match (word, self.form) {
            // JSON has no number for it.
            (Some(word), Form::Apoc) => push_string(out, word),
            (Some(word), Form::Cypher) => out.push_str(word),
            (None, _) => {
                out.push_str(text);
                if !text.contains(['.', 'e', 'E']) {
                    out.push_str(".0");
                }
            }
        }
    }

    /// The value of a row without quotes, for ids.
    pub fn text(&self, row: usize) -> &str {
        self.texts.value(row)
    }

    /// Whether a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.texts.is_null(row)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::builder::{Float32Builder, ListBuilder};
    use arrow_array::{Float32Array, Float64Array};

    use super::*;

    fn spelled(column: ArrayRef, form: Form) -> String {
        let mut out = String::new();
        assert!(Spelled::new(&column, form).unwrap().push(0, &mut out, "x").unwrap());
        out
    }

    /// Readers have doubles only, so the digits of a float are those of the equal double.
    #[test]
    fn floats_are_read_as_equal_doubles() {
        for form in [Form::Apoc, Form::Cypher] {
            for value in [0.1f32, -2.5, 1e-45, f32::MAX, 16_777_216.0] {
                let text = spelled(Arc::new(Float32Array::from(vec![value])), form);
                assert_eq!(text.parse::<f64>().unwrap().to_bits(), f64::from(value).to_bits(), "{text}");
                assert_eq!(text.parse::<f32>().unwrap().to_bits(), value.to_bits(), "{text}");
            }
            assert_eq!(spelled(Arc::new(Float64Array::from(vec![0.1])), form), "0.1");
            let mut lists = ListBuilder::new(Float32Builder::new());
            lists.append_value([Some(0.1f32), Some(0.5)]);
            assert_eq!(spelled(Arc::new(lists.finish()), form), "[0.10000000149011612,0.5]");
        }
    }
}
