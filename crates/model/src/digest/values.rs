//! Facts of the values in columns and bags.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Place, Result};

use super::cells::Cells;
use super::columns::Bytes;
use super::encode::Buffer;
use super::fact::stem;
use super::json as json_bytes;
use super::table::{Line, LineKind, Tallies, Tally};
use crate::json::Members;
use crate::{Columns, Property, ValueKind};

/// Adds one fact for each value of keyed elements.
pub(super) fn add_values(
    table: &mut Tallies,
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
            let mut bag = Bag::new(properties);
            for_bag(column, |row, name, value| {
                let (stem, sum) = bag.line(name, |name| (stem(kind.word(), ty, name), table.begin()));
                buffer.begin([stem, owners[row]]);
                json_bytes::encode(value, buffer)?;
                sum.add(buffer.hash());
                Ok(())
            })?;
            for (name, _, sum) in bag.lines {
                table.merge_line(Line::new(kind, ty, &name), sum);
            }
            continue;
        }
        let name = column_name(&property.name);
        let stem = stem(kind.word(), ty, name);
        let mut sum = table.begin();
        Cells::new(property, column)?
            .hash_all(buffer, |row| [stem, owners[row]], |_, hash| sum.add(hash))
            .map_err(|error| error.at(Place::field(property.name.clone())))?;
        table.merge_line(Line::new(kind, ty, name), sum);
    }
    Ok(())
}

/// Adds to `sums`, for each row, the hashes of its present values with their names: the content of a row without a key,
/// independent of the order of properties.
pub(super) fn sum_row_values(
    buffer: &mut Buffer,
    properties: &[Property],
    columns: &Columns,
    sums: &mut [u128],
) -> Result<()> {
    let stem = |name: &str| stem("value", &[], name);
    for (property, column) in properties.iter().zip(columns) {
        let Some(column) = column else { continue };
        same_length(column, sums.len(), &property.name)?;
        let mut add = |row: usize, hash: u128| sums[row] = sums[row].wrapping_add(hash);
        if property.kind == ValueKind::Bag {
            let mut bag = Bag::new(properties);
            for_bag(column, |row, name, value| {
                let (stem, _) = bag.line(name, |name| (stem(name), Tally::default()));
                buffer.begin([stem]);
                json_bytes::encode(value, buffer)?;
                add(row, buffer.hash());
                Ok(())
            })?;
            continue;
        }
        let stem = stem(column_name(&property.name));
        Cells::new(property, column)?
            .hash_all(buffer, |_| [stem], add)
            .map_err(|error| error.at(Place::field(property.name.clone())))?;
    }
    Ok(())
}

/// Checks that a column is as long as its batch.
pub(super) fn same_length(column: &dyn Array, rows: usize, name: &str) -> Result<()> {
    if column.len() == rows {
        return Ok(());
    }
    let lengths = format!("a column of {} cells in a batch of {rows} rows", column.len());
    Err(Error::usage(lengths).at(Place::field(name)))
}

/// Returns the name of a column in the digest: the empty name stands for the elements themselves.
pub(super) fn column_name(name: &str) -> &str {
    if name.is_empty() { "\0" } else { name }
}

/// Returns the name of a bag's member in the digest: that of a column, or, if there is a column of this name, another one, because
/// then the member is another property. No column ends with a zero byte.
fn told_as(properties: &[Property], name: &str) -> String {
    let is_column = |property: &Property| property.kind != ValueKind::Bag && property.name == name;
    let taken = properties.iter().any(is_column);
    format!("{}{}", column_name(name), if taken { "\0" } else { "" })
}

/// The sums of a bag, by the names of its members.
struct Bag<'a> {
    properties: &'a [Property],
    /// Name of the line, stem, sum.
    lines: Vec<(String, u128, Tally)>,
    by_name: HashMap<String, usize>,
    /// The position to check first, because members are usually in the same order in every row.
    expected: usize,
}

impl<'a> Bag<'a> {
    fn new(properties: &'a [Property]) -> Self {
        Bag { properties, lines: Vec::new(), by_name: HashMap::new(), expected: 0 }
    }

    /// Returns the stem and the sum of a member.
    fn line(&mut self, name: &str, begin: impl FnOnce(&str) -> (u128, Tally)) -> (u128, &mut Tally) {
        let found = self.lines.get(self.expected).is_some_and(|(expected, _, _)| expected == name);
        let at = match found {
            true => self.expected,
            false => *self.by_name.get(name).unwrap_or(&self.lines.len()),
        };
        if at == self.lines.len() {
            let line = told_as(self.properties, name);
            let (stem, sum) = begin(&line);
            self.lines.push((line, stem, sum));
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
