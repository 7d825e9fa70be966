//! Rows of a table as they are read: without those that are left out, and with the cells that its columns show.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::filter::filter_record_batch;
use isomorph_error::{Error, Result};
use isomorph_model::ValueKind;
use isomorph_storage::Blob;
use isomorph_tables::rules::{TEXT_VALUE, TIME_UNIT, VALUE_INEXACT};
use isomorph_tables::{Batches, Encoding, ReadOptions, Selection, TableReader};

use crate::cells::{integers, split};
use crate::ends::as_type;
use crate::found_types::{key_texts, without_null};
use crate::keys::{SET_ASIDE, blanks_around};
use crate::maps;
use crate::table::{Stored, Table};
use crate::whole_floats;

/// Columns of a piece as they are read.
pub(crate) struct Reading<'a> {
    table: &'a Table,
    batches: Batches,
    positions: Vec<usize>,
    /// For each position the column of a batch, or the columns of which it is joined.
    places: Vec<Vec<usize>>,
    row: u64,
}

impl<'a> Reading<'a> {
    /// Rows from row `row` of the files on.
    pub fn new(
        table: &'a Table,
        batches: Batches,
        positions: Vec<usize>,
        places: Vec<Vec<usize>>,
        row: u64,
    ) -> Reading<'a> {
        Reading { table, batches, positions, places, row }
    }

    /// The next rows: the number of the first one, their count, and the columns in the order of the positions.
    ///
    /// # Errors
    /// When they cannot be read, or a cell is none of its type.
    pub fn next_batch(&mut self) -> Result<Option<(u64, usize, Vec<ArrayRef>)>> {
        let Some((first, batch)) = self.next_rows()? else { return Ok(None) };
        let columns = self.positions.iter().zip(&self.places);
        let columns = columns.map(|(at, places)| self.column(&batch, *at, places, first)).collect::<Result<_>>()?;
        Ok(Some((first, batch.num_rows(), columns)))
    }

    /// The rows of the next ones that have a cell that is none of its type, each with its first error.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn next_errors(&mut self) -> Result<Option<Vec<(u64, Error)>>> {
        let Some((first, batch)) = self.next_rows()? else { return Ok(None) };
        let mut all = Vec::new();
        for (at, places) in self.positions.iter().zip(&self.places) {
            // Rows that may be wrong, as the first of them and their number: each half of those that are.
            let mut waiting = vec![(0, batch.num_rows())];
            while let Some((start, count)) = waiting.pop() {
                match self.column(&batch.slice(start, count), *at, places, first + start as u64) {
                    Ok(_) => {}
                    Err(error) if count < 2 => all.push((first + start as u64, error)),
                    Err(_) => waiting.extend([(start + count / 2, count - count / 2), (start, count / 2)]),
                }
            }
        }
        Ok(Some(all))
    }

    /// The next rows that are not left out, and the number of the first one.
    fn next_rows(&mut self) -> Result<Option<(u64, RecordBatch)>> {
        loop {
            let batch = self.batches.next().transpose().map_err(|error| {
                match error.broken_rule() == Some(&TIME_UNIT) {
            true => error.hint(
                "declare the column as TIMESTAMP(6) in a mapping file: isomorph import init DIRECTORY > DIRECTORY/graph.pgq",
            ),
            false => error,
        }
            });
            let Some(batch) = batch? else { return Ok(None) };
            let (stored, count) = (self.row, batch.num_rows());
            self.row += count as u64;
            let batch = match self.table.shown(stored, count) {
                None => batch,
                Some(shown) => {
                    filter_record_batch(&batch, &shown).map_err(|error| Error::malformed(error.to_string()))?
                }
            };
            if batch.num_rows() > 0 || count == 0 {
                return Ok(Some((self.table.shown_row(stored), batch)));
            }
        }
    }

    fn column(&self, batch: &RecordBatch, at: usize, places: &[usize], first: u64) -> Result<ArrayRef> {
        let lost = || Error::usage("a batch lacks a column");
        let own = self.table.columns.get(at).ok_or_else(lost)?;
        let column = places.first().and_then(|place| batch.columns().get(*place)).ok_or_else(lost)?;
        let at = |row: usize| self.table.place_of(first + row as u64).in_field(own.name.clone());
        let column = match &own.stored {
            Stored::AsShown if own.ty.data_type.is_floating() && column.data_type().is_integer() => {
                floats(column, &own.ty.data_type).map_err(|row| {
                    let what =
                        "the integer cannot be represented exactly as a double, which other files of the table have";
                    Error::broken(&VALUE_INEXACT, what).at(at(row))
                })?
            }
            Stored::AsShown => maps::entries(column).map_err(|error| Error::malformed(error.to_string()).at(at(0)))?,
            Stored::Json => without_null(column),
            Stored::JsonKeys => {
                key_texts(column).map_err(|(row, reason)| Error::broken(&TEXT_VALUE, reason).at(at(row)))?
            }
            Stored::Lists(how) => {
                split(column, how).map_err(|(row, reason)| Error::broken(&TEXT_VALUE, reason).at(at(row)))?
            }
            Stored::Parsed => parsed(column, &own.ty.data_type)
                .map_err(|(row, reason)| Error::broken(&TEXT_VALUE, reason).at(at(row)))?,
            Stored::Joined(_) => {
                let all = places.iter().filter_map(|place| batch.columns().get(*place)?.as_string_opt::<i32>());
                joined(&all.collect::<Vec<_>>(), batch.num_rows())
            }
            Stored::WholeFloats { is_end } => whole_floats::integers(column).map_err(|(row, text)| match is_end {
                true => {
                    let what = format!("the edge ends in {text}, which is no key: the keys are integers");
                    Error::broken(&crate::rules::END, what).at(at(row)).hint(SET_ASIDE)
                }
                false => Error::broken(&TEXT_VALUE, format!("{text} is no integer")).at(at(row)),
            })?,
            Stored::Keys => integers(column, &own.ty.data_type).map_err(|row| {
                let text: String =
                    column.as_string_opt::<i32>().map_or("", |texts| texts.value(row)).chars().take(40).collect();
                let why = match blanks_around(&text) {
                    "" => ": the keys are integers, without zeros in front",
                    blanks => blanks,
                };
                let what = format!("the edge ends in {text:?}, which is no key{why}");
                Error::broken(&crate::rules::END, what).at(at(row)).hint(SET_ASIDE)
            })?,
        };
        if let Some((range, called)) = &own.range {
            in_range(&column, range).map_err(|(row, value)| {
                let what = format!("{value} is no {called}: from {} to {}", range.start(), range.end());
                Error::broken(&TEXT_VALUE, what).at(at(row))
            })?;
        }
        if own.required && column.null_count() > 0 {
            let row = (0..column.len()).find(|row| column.is_null(*row)).unwrap_or_default();
            return Err(Error::broken(&TEXT_VALUE, "a required value is missing").at(at(row)));
        }
        if own.ty.kind == ValueKind::Json {
            let texts = column.as_string_opt::<i32>().into_iter().flat_map(|texts| texts.iter().enumerate());
            for (row, text) in texts.filter_map(|(row, text)| Some((row, text?))) {
                isomorph_model::json::check(text).map_err(|error| {
                    Error::broken(&TEXT_VALUE, format!("the cell is declared as JSON: {}", error.message())).at(at(row))
                })?;
            }
        }
        own.key_type.as_ref().map_or(Ok(Arc::clone(&column)), |ty| as_type(&column, ty))
    }
}

/// The values of a column of texts, as CSV has them; or the row of one that is none, and why.
fn parsed(column: &ArrayRef, to: &DataType) -> std::result::Result<ArrayRef, (usize, String)> {
    let mut text = String::from("x\n");
    for cell in column.as_string_opt::<i32>().into_iter().flatten() {
        if let Some(cell) = cell {
            text.push('"');
            text.push_str(&cell.replace('"', "\"\""));
            text.push('"');
        }
        text.push('\n');
    }
    let failed = |error: Error| {
        let row = error.place().row.and_then(|row| usize::try_from(row).ok()).unwrap_or_default();
        (row, error.message().to_owned())
    };
    let schema = Arc::new(Schema::new(vec![Field::new("x", to.clone(), true)]));
    let options = ReadOptions { refuse_zones: true, ..ReadOptions::declared(schema) };
    let blob = Blob::from_bytes("", &text.into());
    let reader = TableReader::open(blob, Encoding::Csv, &options).map_err(failed)?;
    let mut all = Vec::new();
    for batch in reader.batches(&Selection::all()).map_err(failed)? {
        all.extend(batch.map_err(failed)?.columns().first().cloned());
    }
    let all: Vec<&dyn Array> = all.iter().map(AsRef::as_ref).collect();
    match all.is_empty() {
        true => Ok(arrow_array::new_empty_array(to)),
        false => arrow_select::concat::concat(&all).map_err(|error| (0, error.to_string())),
    }
}

/// Integers as floats, or the row of one that no float is.
fn floats(column: &ArrayRef, to: &DataType) -> std::result::Result<ArrayRef, usize> {
    let floats = cast(column, to).map_err(|_| 0usize)?;
    let back = cast(&floats, column.data_type()).map_err(|_| 0usize)?;
    if back.to_data() == column.to_data() {
        return Ok(floats);
    }
    let is_other = |row: &usize| back.slice(*row, 1).to_data() != column.slice(*row, 1).to_data();
    Err((0..column.len()).find(is_other).unwrap_or_default())
}

/// The texts of columns, one after another; null where one is.
fn joined(columns: &[&StringArray], rows: usize) -> ArrayRef {
    let row = |row: usize| {
        let all = columns.iter().map(|texts| texts.is_valid(row).then(|| texts.value(row)));
        all.collect::<Option<Vec<_>>>().map(|texts| texts.concat())
    };
    Arc::new((0..rows).map(row).collect::<StringArray>())
}

/// Whether all integers of a column, or of its lists, are in a range; otherwise the row of one that is not, and its value.
fn in_range(column: &ArrayRef, range: &RangeInclusive<i64>) -> std::result::Result<(), (usize, i64)> {
    let odd = |values: &Int64Array| {
        let all = values.iter().enumerate().filter_map(|(at, value)| Some((at, value?)));
        all.into_iter().find(|(_, value)| !range.contains(value))
    };
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        return odd(values).map_or(Ok(()), Err);
    }
    let Some(lists) = column.as_list_opt::<i32>() else { return Ok(()) };
    let of = |row: usize| Some((row, odd(lists.value(row).as_primitive_opt::<Int64Type>()?)?.1));
    (0..lists.len()).filter(|row| lists.is_valid(*row)).find_map(of).map_or(Ok(()), Err)
}
