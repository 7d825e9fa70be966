//! Input tables, with their columns converted to the expected types.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch};
use arrow_schema::{DataType, Field};
use arrow_select::concat::concat_batches;
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{Value, value};
use isomorph_model::type_name::{ITEM, list_of};

use crate::cells::Cells;
use crate::read::json;
use crate::rules;

/// Separator of the items of a list in a text column. A JSON array is accepted as well.
const SEPARATOR: char = '|';

/// Rows of an input table.
pub(super) struct Input {
    pub cells: Cells,
}

impl Input {
    /// Combines the rows of `batches`; returns `None` if there are none.
    ///
    /// # Errors
    /// Returns an error if the columns of the batches differ.
    pub fn of(name: &str, batches: &[RecordBatch]) -> Result<Option<Input>> {
        let Some(first) = batches.first() else { return Ok(None) };
        let batch = concat_batches(first.schema_ref(), batches)
            .map_err(|error| Error::usage(error.to_string()).at(Place::file(name)).caused_by(error))?;
        Ok(Some(Input { cells: Cells { name: name.to_owned(), batch } }))
    }

    pub fn has(&self, name: &str) -> bool {
        self.cells.raw(name).is_some()
    }

    /// Returns whether the column exists and has a value.
    pub fn says(&self, name: &str) -> bool {
        self.cells.raw(name).is_some_and(|column| column.null_count() < column.len())
    }

    /// Returns the first of `names` that is a column.
    pub fn first_of(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }

    pub fn place(&self, row: usize, column: &str) -> Place {
        Place::file(&self.cells.name).row(row as u64).in_field(column)
    }

    /// Returns a column of lists of text, parsed from text if necessary.
    ///
    /// # Errors
    /// Returns an error if it has another type.
    pub fn lists(&self, name: &str) -> Result<ListArray> {
        match self.cells.raw(name).map(|column| column.data_type()) {
            Some(DataType::Utf8 | DataType::LargeUtf8 | DataType::Dictionary(_, _)) => {}
            _ => return self.cells.lists(name),
        }
        let texts = self.cells.text(name)?;
        let mut lists = ListBuilder::new(StringBuilder::new()).with_field(Field::new(ITEM, DataType::Utf8, true));
        for (row, text) in texts.iter().enumerate() {
            match text {
                Some(array) if array.trim_start().starts_with('[') => {
                    let items = json::strings(array, &self.cells.name);
                    for item in items.map_err(|error| error.at(self.place(row, name)))? {
                        lists.values().append_value(item);
                    }
                }
                Some(items) if !items.is_empty() => {
                    items.split(SEPARATOR).for_each(|item| lists.values().append_value(item));
                }
                _ => {}
            }
            lists.append(text.is_some_and(|text| !text.is_empty()));
        }
        Ok(lists.finish())
    }

    /// Returns a column of lists of numbers, parsed from text if necessary; `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if it has another type.
    pub fn numbers(&self, name: &str) -> Result<Option<ListArray>> {
        let Some(column) = self.cells.raw(name) else { return Ok(None) };
        if !matches!(column.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Dictionary(_, _)) {
            let wanted = list_of(DataType::Float64);
            let strict = arrow_cast::CastOptions { safe: false, ..arrow_cast::CastOptions::default() };
            let cast = arrow_cast::cast_with_options(column, &wanted, &strict).map_err(|error| {
                let message = format!("expected a list of numbers, found {}", column.data_type());
                Error::broken(&rules::COLUMN, message).at(self.place(0, name)).caused_by(error)
            })?;
            return Ok(Some(cast.as_list::<i32>().clone()));
        }
        let texts = self.cells.text(name)?;
        let mut lists = ListBuilder::new(Float64Builder::new()).with_field(Field::new(ITEM, DataType::Float64, true));
        for (row, text) in texts.iter().enumerate() {
            let text = text.filter(|text| !text.is_empty());
            let mut add = |item: &str| {
                let number = match value(item.trim()) {
                    Ok(Value::Integer(number)) => number as f64,
                    Ok(Value::Float(number)) => number,
                    _ => return Err(Error::broken(&rules::COLUMN, format!("{item:?} is not a number"))),
                };
                lists.values().append_value(number);
                Ok(())
            };
            let added = match text {
                Some(array) if array.trim_start().starts_with('[') => json::items(array, &self.cells.name, &mut add),
                Some(items) => items.split(SEPARATOR).try_for_each(&mut add),
                None => Ok(()),
            };
            added.map_err(|error| error.at(self.place(row, name)))?;
            lists.append(text.is_some());
        }
        Ok(Some(lists.finish()))
    }

    /// Returns the columns that are not in `known`: attributes, each with its name. Text is converted to `Utf8`.
    pub fn attributes(&self, known: &[&str]) -> Result<Vec<(String, ArrayRef)>> {
        let schema = self.cells.batch.schema();
        let own = schema.fields().iter().zip(self.cells.batch.columns());
        let own = own.filter(|(field, column)| {
            !known.contains(&field.name().as_str()) && column.null_count() < column.len().max(1)
        });
        own.map(|(field, column)| {
            let column = match column.data_type() {
                DataType::LargeUtf8 | DataType::Dictionary(_, _) => {
                    Arc::new(self.cells.text(field.name())?) as ArrayRef
                }
                _ => Arc::clone(column),
            };
            Ok((field.name().clone(), column))
        })
        .collect()
    }
}

/// Returns the positions of the items of one row.
pub(super) fn range(lists: &ListArray, row: usize) -> std::ops::Range<usize> {
    match lists.is_valid(row) {
        true => lists.value_offsets()[row] as usize..lists.value_offsets()[row + 1] as usize,
        false => 0..0,
    }
}

/// Returns the texts of one row.
pub(super) fn texts(lists: &ListArray, row: usize) -> impl Iterator<Item = &str> {
    let values = lists.values().as_string::<i32>();
    range(lists, row).filter(move |at| values.is_valid(*at)).map(move |at| values.value(at))
}
