//! Columns as they are wanted.
//!
//! The same column comes as `large_string` from Polars, as `string` from pyarrow, as Parquet's type Null where it is
//! null throughout, and as doubles where pandas had integers with gaps. Here it becomes one type.

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

/// Rows of a table, whose columns can be had as what they should be.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    pub name: String,
    pub batch: RecordBatch,
}

impl Cells {
    /// Rows of nothing.
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
        let message = format!("the column holds {}, which is no {wanted}", type_name(found));
        Error::broken(&rules::COLUMN, message).at(Place::file(&self.name).in_field(column))
    }

    fn cast(&self, column: &str, cells: &ArrayRef, to: &DataType, wanted: &str) -> Result<ArrayRef> {
        let options = arrow_cast::CastOptions { safe: false, ..arrow_cast::CastOptions::default() };
        arrow_cast::cast_with_options(cells, to, &options)
            .map_err(|error| self.wrong(column, cells.data_type(), wanted).caused_by(error))
    }

    /// The column `name` as it is; nothing when it is not there.
    pub fn raw(&self, name: &str) -> Option<&ArrayRef> {
        self.batch.column_by_name(name)
    }

    /// A column of text; null throughout when it is not there.
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

    /// A column of integers; null throughout when it is not there. Doubles are taken when they are whole.
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
                // pandas writes NaN where an integer is missing.
                Ok(floats.iter().map(|value| value.filter(|value| !value.is_nan()).map(|value| value as i64)).collect())
            }
            other => Err(self.wrong(name, other, "integer")),
        }
    }

    /// A column of floats; null throughout when it is not there.
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

    /// A column of booleans; null throughout when it is not there.
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

    /// A column of lists of text; null throughout when it is not there.
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

    /// A column of ids, without nulls.
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

    /// The error for a column that is not there.
    pub fn missing(&self, name: &str) -> Error {
        Error::broken(&rules::COLUMN, "the column is missing").at(Place::file(&self.name).in_field(name))
    }
}
