//! Columns that say whether edges have a direction.

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Result};

use crate::rules;
use crate::table::Table;

/// The name of a column in which truth values, and what stands for them, are directions.
const DIRECTED: &str = "directed";

/// The words of Gephi, which are directions in a column of any name; and truth values.
const WORDS: [&str; 2] = ["directed", "undirected"];
const TRUTHS: [[&str; 2]; 6] = [["true", "false"], ["1", "0"], ["1.0", "0.0"], ["yes", "no"], ["t", "f"], ["y", "n"]];

/// The direction that a word says.
fn direction(word: &str) -> Option<bool> {
    let all = std::iter::once(&WORDS).chain(&TRUTHS);
    let said = all.flat_map(|pair| pair.iter().zip([true, false]));
    said.into_iter().find(|(own, _)| word.trim().eq_ignore_ascii_case(own)).map(|(_, directed)| directed)
}

fn is_word(text: &str) -> bool {
    WORDS.iter().any(|own| text.trim().eq_ignore_ascii_case(own))
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_integer() || data_type.is_floating()
}

/// Which edges have a direction, by the cells of a column; or the first row whose cell says no direction, and this cell.
pub(crate) fn directions(column: &ArrayRef) -> std::result::Result<BooleanArray, (usize, String)> {
    if let Some(truths) = column.as_boolean_opt() {
        return Ok(truths.clone());
    }
    let texts = match is_number(column.data_type()) {
        true => cast(column, &DataType::Utf8).map_err(|error| (0, error.to_string()))?,
        false => ArrayRef::clone(column),
    };
    let texts = texts.as_string_opt::<i32>().ok_or_else(|| (0, format!("a value of type {}", column.data_type())))?;
    let of = |(row, text): (usize, Option<&str>)| match text.filter(|text| !text.trim().is_empty()) {
        None => Ok(None),
        Some(word) => direction(word).map(Some).ok_or_else(|| (row, format!("{word:?}"))),
    };
    texts.iter().enumerate().map(of).collect()
}

impl Table {
    /// Whether the cells of the column `name` are directions. Only in a column called `directed` are truth values directions; a column of
    /// another name whose first cells are other words has types of edges.
    ///
    /// # Errors
    /// When the column cannot be read, or some cells are directions and others are not.
    pub(crate) fn holds_directions(&self, name: &str) -> Result<bool> {
        let Some(at) = self.find(name) else { return Ok(false) };
        let any = name.eq_ignore_ascii_case(DIRECTED);
        let data_type = &self.columns[at].ty.data_type;
        if *data_type == DataType::Boolean || is_number(data_type) && !any {
            return Ok(any);
        }
        if !is_number(data_type) && *data_type != DataType::Utf8 {
            return Ok(false);
        }
        // That some are directed is no news, and `Directed` may be a type of edges as well.
        let is_news = |text: &str| any || direction(text) == Some(false);
        let (mut is_said, mut is_told, mut other) = (false, false, None);
        for piece in self.pieces() {
            let mut reading = self.read(&piece, &[at], isomorph_tables::BATCH_ROWS)?;
            while let Some((first, _, columns)) = reading.next_batch()? {
                let Some(column) = columns.first() else { continue };
                let said = |text: &str| (any || is_word(text)) && direction(text).is_some();
                let texts = cast(column, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()))?;
                for (row, text) in texts.as_string::<i32>().iter().enumerate() {
                    match text.filter(|text| !text.trim().is_empty()) {
                        None => {}
                        Some(text) if said(text) => (is_said, is_told) = (true, is_told || is_news(text)),
                        Some(text) => other = other.or_else(|| Some((first + row as u64, text.to_owned()))),
                    }
                }
                if !any && !is_said && other.is_some() {
                    return Ok(false);
                }
            }
        }
        match other {
            Some((row, cell)) if is_told => Err(self.no_direction(row, name, &format!("{cell:?}"))),
            Some(_) => Ok(false),
            None => Ok(is_said),
        }
    }

    /// The error of a cell that says no direction, among others that do.
    pub(crate) fn no_direction(&self, row: u64, name: &str, cell: &str) -> Error {
        Error::broken(&rules::DIRECTION, format!("{cell} is no direction")).at(self.place_of(row).in_field(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_truths_are_directions_in_any_case() {
        let said = ["Directed", "UNDIRECTED ", "true", "False", "1", "0.0", "Yes", "no", "Y", "f", "mutual", "", "2"]
            .map(direction);
        let expected = [true, false, true, false, true, false, true, false, true, false].map(Some);
        assert_eq!(said[..10], expected);
        assert_eq!(said[10..], [None; 3]);
    }
}
