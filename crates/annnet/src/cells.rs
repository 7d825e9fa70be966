//! Columns converted to the expected types.
//!
//! The same column is `large_string` in files of Polars, `string` in files of pyarrow, Parquet's type Null if all
//! values are null, and a double if pandas had integers with gaps. This module converts them to one type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, RecordBatchOptions, StringArray,
    new_null_array,
};
use arrow_schema::{DataType, Schema};
use isomorph_error::{Error, Place, Result};
use isomorph_model::type_name::{list_of, type_name};

use crate::rules;

/// Rows of a table, whose columns can be requested with their expected types.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    pub name: String,
    pub batch: RecordBatch,
}

impl Cells {
    /// Returns a table without rows and columns.
    pub fn empty(name: &str) -> Cells {
        let options = RecordBatchOptions::new().with_row_count(Some(0));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options);
        Cells {
            name: name.to_owned(),
            batch: batch.unwrap_or_else(|_| RecordBatch::new_empty(Arc::new(Schema::empty()))),
        }
    }

    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn wrong(&self, column: &str, found: &DataType, wanted: &str) -> Error {
        let message = format!("expected {wanted}, found {}", type_name(found));
        Error::broken(&rules::COLUMN, message).at(Place::file(&self.name).in_field(column))
    }

    fn cast(&self, column: &str, cells: &ArrayRef, to: &DataType, wanted: &str) -> Result<ArrayRef> {
        let options = arrow_cast::CastOptions { safe: false, ..arrow_cast::CastOptions::default() };
        arrow_cast::cast_with_options(cells, to, &options)
            .map_err(|error| self.wrong(column, cells.data_type(), wanted).caused_by(error))
    }

    /// Returns the column `name` unchanged, if it exists.
    pub fn raw(&self, name: &str) -> Option<&ArrayRef> {
        self.batch.column_by_name(name)
    }

    /// Returns a column of text; all values are null if it does not exist.
    pub fn text(&self, name: &str) -> Result<StringArray> {
        let cells = match self.raw(name) {
            None => return Ok(StringArray::new_null(self.rows())),
            Some(cells) => cells,
        };
        match cells.data_type() {
            DataType::Utf8 => Ok(cells.as_string::<i32>().clone()),
            DataType::Null => Ok(StringArray::new_null(cells.len())),
            DataType::LargeUtf8 | DataType::Dictionary(_, _) => {
                Ok(self.cast(name, cells, &DataType::Utf8, "text")?.as_string::<i32>().clone())
            }
            other => Err(self.wrong(name, other, "text")),
        }
    }

    /// Returns a column of integers; all values are null if it does not exist. Doubles are accepted if they are whole
    /// numbers.
    pub fn integers(&self, name: &str) -> Result<Int64Array> {
        let cells = match self.raw(name) {
            None => return Ok(Int64Array::new_null(self.rows())),
            Some(cells) => cells,
        };
        match cells.data_type() {
            DataType::Int64 => Ok(cells.as_primitive::<Int64Type>().clone()),
            DataType::Null => Ok(Int64Array::new_null(cells.len())),
            other if other.is_integer() => {
                Ok(self.cast(name, cells, &DataType::Int64, "integer")?.as_primitive::<Int64Type>().clone())
            }
            other if other.is_floating() => {
                let floats = self.cast(name, cells, &DataType::Float64, "integer")?;
                let floats = floats.as_primitive::<Float64Type>();
                let whole = |value: f64| value.trunc() == value && value.abs() < 9.0e15;
                if floats.iter().flatten().any(|value| !value.is_nan() && !whole(value)) {
                    return Err(self.wrong(name, other, "integer"));
                }
                // pandas writes NaN for a missing integer.
                Ok(floats.iter().map(|value| value.filter(|value| !value.is_nan()).map(|value| value as i64)).collect())
            }
            other => Err(self.wrong(name, other, "integer")),
        }
    }

    /// Returns a column of floats; all values are null if it does not exist.
    pub fn floats(&self, name: &str) -> Result<Float64Array> {
        let cells = match self.raw(name) {
            None => return Ok(Float64Array::new_null(self.rows())),
            Some(cells) => cells,
        };
        match cells.data_type() {
            DataType::Float64 => Ok(cells.as_primitive::<Float64Type>().clone()),
            DataType::Null => Ok(Float64Array::new_null(cells.len())),
            other if other.is_floating() || other.is_integer() => {
                Ok(self.cast(name, cells, &DataType::Float64, "number")?.as_primitive::<Float64Type>().clone())
            }
            other => Err(self.wrong(name, other, "number")),
        }
    }

    /// Returns a column of booleans; all values are null if it does not exist.
    pub fn booleans(&self, name: &str) -> Result<BooleanArray> {
        let cells = match self.raw(name) {
            None => return Ok(BooleanArray::new_null(self.rows())),
            Some(cells) => cells,
        };
        match cells.data_type() {
            DataType::Boolean => Ok(cells.as_boolean().clone()),
            DataType::Null => Ok(BooleanArray::new_null(cells.len())),
            other => Err(self.wrong(name, other, "boolean")),
        }
    }

    /// Returns a column of lists of text; all values are null if it does not exist.
    pub fn lists(&self, name: &str) -> Result<ListArray> {
        let wanted = list_of(DataType::Utf8);
        let none = || new_null_array(&wanted, self.rows()).as_list::<i32>().clone();
        let Some(cells) = self.raw(name) else { return Ok(none()) };
        match cells.data_type() {
            DataType::Null => Ok(none()),
            DataType::List(item) | DataType::LargeList(item)
                if matches!(item.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Null) =>
            {
                Ok(self.cast(name, cells, &wanted, "list of text")?.as_list::<i32>().clone())
            }
            other => Err(self.wrong(name, other, "list of text")),
        }
    }

    /// Returns a column of ids, without nulls.
    pub fn ids(&self, name: &str, rule: &'static isomorph_error::Rule) -> Result<StringArray> {
        if self.raw(name).is_none() {
            return Err(self.missing(name));
        }
        let ids = self.text(name)?;
        match ids.nulls().and_then(|nulls| (0..ids.len()).find(|&row| nulls.is_null(row))) {
            None => Ok(ids),
            Some(row) => {
                let place = Place::file(&self.name).row(row as u64).in_field(name);
                Err(Error::broken(rule, "the id is missing").at(place))
            }
        }
    }

    /// Returns the error for a missing column.
    pub fn missing(&self, name: &str) -> Error {
        Error::broken(&rules::COLUMN, "the column is missing").at(Place::file(&self.name).in_field(name))
    }
}
