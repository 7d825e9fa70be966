//! Keys and ends of edges that are floats without a fraction: pandas makes floats of a column of integers if a row has none. They are integers,
//! if every value is one.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Findings, Result};
use isomorph_model::type_name::type_name;
use isomorph_storage::parallel::{self, Ahead};
use isomorph_tables::rules::TEXT_VALUE;
use isomorph_tables::whole_number;

use crate::rules;
use crate::sql::ColumnType;
use crate::table::{Piece, Stored, Table, TableColumn};

/// The smallest floats of 64 and of 32 bits that stand for several integers.
const INEXACT: f64 = 9_007_199_254_740_992.0;
const INEXACT_SINGLE: f64 = 16_777_216.0;

/// Rows of a batch.
const ROWS: usize = 1 << 14;

impl TableColumn {
    /// The same column, whose floats are read as integers.
    pub fn of_integers(&mut self, is_end: bool) {
        (self.ty, self.stored) = (ColumnType::plain(DataType::Int64), Stored::WholeFloats { is_end });
    }

    /// Whether its floats are read as integers.
    pub fn has_whole_floats(&self) -> bool {
        matches!(self.stored, Stored::WholeFloats { .. })
    }
}

/// The integers of a column of floats, or of texts of such numbers; or the row of a cell that is none, and its text.
pub(crate) fn integers(column: &ArrayRef) -> std::result::Result<ArrayRef, (usize, String)> {
    if column.data_type().is_integer() {
        return cast(column, &DataType::Int64).map_err(|error| (0, error.to_string()));
    }
    if let Some(texts) = column.as_string_opt::<i32>() {
        let of = |(row, text): (usize, Option<&str>)| match text.filter(|text| *text != "null") {
            None => Ok(None),
            Some(text) => whole_number(text).map(Some).ok_or_else(|| (row, text.chars().take(40).collect())),
        };
        return Ok(Arc::new(texts.iter().enumerate().map(of).collect::<std::result::Result<Int64Array, _>>()?));
    }
    let all: Vec<Option<i64>> = match column.data_type() {
        DataType::Float32 => {
            whole(column.as_primitive::<Float32Type>().iter().map(|own| own.map(f64::from)), INEXACT_SINGLE)?
        }
        DataType::Float64 => whole(column.as_primitive::<Float64Type>().iter(), INEXACT)?,
        other => return Err((0, format!("a value of type {}", type_name(other)))),
    };
    Ok(Arc::new(Int64Array::from(all)))
}

/// Floats below `inexact` as integers.
fn whole(
    floats: impl Iterator<Item = Option<f64>>,
    inexact: f64,
) -> std::result::Result<Vec<Option<i64>>, (usize, String)> {
    let of = |(row, float): (usize, Option<f64>)| match float {
        None => Ok(None),
        Some(float)
            if float.trunc() == float && float.abs() < inexact && !(float == 0.0 && float.is_sign_negative()) =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^53")]
            Ok(Some(float as i64))
        }
        Some(float) => Err((row, format!("{float:?}"))),
    };
    floats.enumerate().map(of).collect()
}

/// Makes the columns of keys of a text integers of which `whole` says that all values are, if all keys then are: of an integer beside a text
/// nobody knows whether it is `1` or `1.0`.
pub(crate) fn settle_keys(columns: &mut [TableColumn], keys: &[String], whole: &[String]) {
    let is_key = |own: &TableColumn| keys.contains(&own.name);
    let is_whole = |own: &TableColumn| own.ty.data_type == DataType::Float64 && whole.contains(&own.name);
    if columns.iter().filter(|own| is_key(own)).all(|own| own.ty.data_type.is_integer() || is_whole(own)) {
        columns.iter_mut().filter(|own| is_key(own) && is_whole(own)).for_each(|own| own.of_integers(false));
    }
}

impl Table {
    /// Makes columns of floats integers that are ends of edges whose keys are, as `known` says, or keys all of whose values are integers. Only
    /// columns that nobody has declared.
    ///
    /// # Errors
    /// When the keys cannot be read.
    pub fn settle_floats(
        &mut self,
        known: &HashMap<String, DataType>,
        keys: &[String],
        is_declared: &HashSet<String>,
        threads: usize,
    ) -> Result<()> {
        let is_open = |own: &TableColumn| {
            matches!(own.ty.data_type, DataType::Float32 | DataType::Float64)
                && matches!(own.stored, Stored::AsShown)
                && !is_declared.contains(&own.name)
        };
        let is_end = |own: &TableColumn| known.get(&own.name).is_some_and(DataType::is_integer);
        self.columns.iter_mut().filter(|own| is_open(own) && is_end(own)).for_each(|own| own.of_integers(true));
        let is_key = |own: &TableColumn| keys.contains(&own.name);
        let floats = |own: &TableColumn| is_key(own) && is_open(own);
        let all_may_be =
            self.columns.iter().filter(|own| is_key(own)).all(|own| own.ty.data_type.is_integer() || floats(own));
        let tried: Vec<usize> = (0..self.columns.len()).filter(|at| floats(&self.columns[*at])).collect();
        if !all_may_be || tried.is_empty() {
            return Ok(());
        }
        let before = self.columns.clone();
        tried.iter().for_each(|at| self.columns[*at].of_integers(false));
        let read = |piece: Piece, give: &mut dyn FnMut(String) -> Result<()>| {
            let mut reading = self.read(&piece, &tried, ROWS)?;
            loop {
                match reading.next_batch() {
                    Ok(None) => return Ok(()),
                    Ok(Some(_)) => {}
                    // A value that is no integer, or an integer that is too large: the columns stay what they are.
                    Err(error) if error.broken_rule() == Some(&TEXT_VALUE) => {
                        return give(format!("{} ({})", error.message(), error.place()));
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let mut first = None;
        let ahead = Ahead { pieces: 1, parts: threads };
        parallel::in_order(self.pieces(), threads, ahead, read, |found| {
            first.get_or_insert(found);
            Ok(())
        })?;
        if first.is_some() {
            self.columns = before;
        }
        self.fraction = first;
        Ok(())
    }

    /// Notes columns whose floats are read as integers though no mapping file says so, and adds them to the options.
    pub fn note_floats(&mut self, findings: &mut Findings) {
        let all = self.columns.iter().filter(|own| own.has_whole_floats()).map(|own| &own.name);
        let found: Vec<String> = all.filter(|name| !self.options.integers.contains(name)).cloned().collect();
        for name in &found {
            findings.push(&rules::FLOAT_KEY, "the floats are read as integers", self.place().in_field(name.clone()));
        }
        self.options.integers.extend(found);
    }

    /// Why columns of floats are none of keys, if one of their values is the reason: behind what is said of the type of one.
    pub fn told_fraction(&self, data_type: &DataType) -> String {
        let why = self.fraction.as_ref().filter(|_| data_type.is_floating());
        why.map_or_else(String::new, |why| format!(": {why}"))
    }
}
