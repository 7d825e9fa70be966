//! Facts of the values in columns and bags.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Place, Result};

use super::cells::Cells;
use super::columns::Bytes;
use super::encode::Buffer;
use super::fact::stem;
use super::json as json_bytes;
use super::table::{Line, LineKind, Sum, Table};
use crate::json::Members;
use crate::{Columns, Property, ValueKind};

/// Adds one fact for each value of keyed elements.
pub(super) fn add_values(
    table: &mut Table,
    buffer: &mut Buffer,
    (kind, ty): (LineKind, &[&str]),
    properties: &[Property],
    columns: &Columns,
    owners: &[u128],
) -> Result<()> {
    for (property, column) in properties.iter().zip(columns) {
        let Some(column) = column else { continue };
        same_length(column, owners.len(), &property.name)?;
        if property.kind == ValueKind::Bag {
            let mut bag = Bag::default();
            for_bag(column, |row, name, value| {
                let (stem, sum) = bag.line(name, |name| stem(kind.word(), ty, name), properties);
                buffer.begin(stem, owners.get(row).copied().unwrap_or_default());
                json_bytes::encode(value, buffer)?;
                sum.add(buffer.hash());
                Ok(())
            })
            .map_err(|error| error.at(Place::field(property.name.clone())))?;
            for (name, _, sum) in bag.lines {
                table.merge_line(Line::new(kind, ty, &name), sum);
            }
            continue;
        }
        let stem = stem(kind.word(), ty, &property.name);
        let mut sum = Sum::default();
        let cells = Cells::new(property, column)?;
        for (row, owner) in owners.iter().enumerate() {
            buffer.begin(stem, *owner);
            if cells.encode(row, buffer).map_err(|error| in_cell(error, &property.name, row))? {
                sum.add(buffer.hash());
            }
        }
        table.merge_line(Line::new(kind, ty, &property.name), sum);
    }
    Ok(())
}

/// Adds to `sums`, for each row, the hashes of its present values with their names: what a row without a key says, in
/// any order of the properties.
pub(super) fn sum_row_values(
    buffer: &mut Buffer,
    properties: &[Property],
    columns: &Columns,
    sums: &mut [u128],
) -> Result<()> {
    for (property, column) in properties.iter().zip(columns) {
        let Some(column) = column else { continue };
        same_length(column, sums.len(), &property.name)?;
        if property.kind == ValueKind::Bag {
            for_bag(column, |row, name, value| {
                buffer.bytes.clear();
                match has_column(properties, name) {
                    true => buffer.sized_bytes(beside_column(name).as_bytes()),
                    false => buffer.sized_bytes(name.as_bytes()),
                }
                json_bytes::encode(value, buffer)?;
                if let Some(sum) = sums.get_mut(row) {
                    *sum = sum.wrapping_add(buffer.hash());
                }
                Ok(())
            })
            .map_err(|error| error.at(Place::field(property.name.clone())))?;
            continue;
        }
        let cells = Cells::new(property, column)?;
        for (row, sum) in sums.iter_mut().enumerate() {
            buffer.bytes.clear();
            buffer.sized_bytes(property.name.as_bytes());
            if cells.encode(row, buffer).map_err(|error| in_cell(error, &property.name, row))? {
                *sum = sum.wrapping_add(buffer.hash());
            }
        }
    }
    Ok(())
}

fn in_cell(error: Error, name: &str, row: usize) -> Error {
    error.at(Place::field(name).row(row as u64))
}

/// A column must be as long as its batch.
pub(super) fn same_length(column: &dyn Array, rows: usize, name: &str) -> Result<()> {
    if column.len() == rows {
        return Ok(());
    }
    let lengths = format!("a column of {} cells in a batch of {rows} rows", column.len());
    Err(Error::usage(lengths).at(Place::field(name)))
}

/// Whether there is a column of this name: then a member of the bag with that name is another property.
fn has_column(properties: &[Property], name: &str) -> bool {
    properties.iter().any(|property| property.kind != ValueKind::Bag && property.name == name)
}

/// The name of a member of a bag beside a column of the same name. No column is called so.
fn beside_column(name: &str) -> String {
    format!("{name}\0")
}

/// The sums of a bag, by the names of its members.
#[derive(Default)]
struct Bag {
    /// Name of the line, stem, sum.
    lines: Vec<(String, u128, Sum)>,
    by_name: HashMap<String, usize>,
    /// Members mostly come in the same order in every row: look there first.
    expected: usize,
}

impl Bag {
    fn line(&mut self, name: &str, stem: impl FnOnce(&str) -> u128, properties: &[Property]) -> (u128, &mut Sum) {
        let found = self.lines.get(self.expected).is_some_and(|(expected, _, _)| expected == name);
        let at = match found {
            true => self.expected,
            false => *self.by_name.get(name).unwrap_or(&self.lines.len()),
        };
        if at == self.lines.len() {
            let line = if has_column(properties, name) { beside_column(name) } else { name.to_owned() };
            let stem = stem(&line);
            self.lines.push((line, stem, Sum::default()));
            self.by_name.insert(name.to_owned(), at);
        }
        self.expected = if at + 1 < self.lines.len() { at + 1 } else { 0 };
        let (_, stem, sum) = &mut self.lines[at];
        (*stem, sum)
    }
}

/// Calls `each` for every member of every bag: row, name, text of the value.
fn for_bag<'a>(column: &'a ArrayRef, mut each: impl FnMut(usize, &str, &'a str) -> Result<()>) -> Result<()> {
    let mut members = Members::default();
    let mut texts = |values: &'a dyn Array, key: &dyn Fn(usize) -> Option<usize>| -> Result<()> {
        let texts = Bytes::text(values)?;
        for row in 0..column.len() {
            let Some(at) = key(row).filter(|at| values.is_valid(*at)) else { continue };
            members
                .read(texts.get_text(at)?, |name, value| each(row, name, value))
                .map_err(|error| error.at(Place::default().row(row as u64)))?;
        }
        Ok(())
    };
    match arrow_array::cast::AsArray::as_any_dictionary_opt(column) {
        Some(dictionary) => {
            let keys = super::columns::Integers::new(dictionary.keys())?;
            let key = |row: usize| usize::try_from(keys.get(row)).ok().filter(|_| column.is_valid(row));
            texts(dictionary.values().as_ref(), &key)
        }
        None if *column.data_type() == arrow_schema::DataType::Null => Ok(()),
        None => texts(column.as_ref(), &Some),
    }
}
