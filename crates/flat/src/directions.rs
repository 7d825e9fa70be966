//! Columns that say whether edges have a direction.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::Result;

use crate::table::Table;

/// The name of a column in which truth values, and what stands for them, are directions.
const DIRECTED: &str = "directed";

/// The words of Gephi, which are directions in a column of any name; and truth values.
const WORDS: [&str; 2] = ["directed", "undirected"];
const TRUTHS: [[&str; 2]; 3] = [["true", "false"], ["1", "0"], ["yes", "no"]];

/// The direction that a word says.
fn direction(word: &str) -> Option<bool> {
    let all = std::iter::once(&WORDS).chain(&TRUTHS);
    let said = all.flat_map(|pair| pair.iter().zip([true, false]));
    said.into_iter().find(|(own, _)| word.eq_ignore_ascii_case(own)).map(|(_, directed)| directed)
}

fn is_word(text: &str) -> bool {
    WORDS.iter().any(|own| text.eq_ignore_ascii_case(own))
}

/// Which edges have a direction, by the cells of a column; or the first row whose cell says no direction, and this cell.
pub(crate) fn directions(column: &ArrayRef) -> std::result::Result<BooleanArray, (usize, String)> {
    if let Some(truths) = column.as_boolean_opt() {
        return Ok(truths.clone());
    }
    let texts = match column.data_type().is_integer() {
        true => cast(column, &DataType::Utf8).map_err(|error| (0, error.to_string()))?,
        false => ArrayRef::clone(column),
    };
    let texts = texts.as_string_opt::<i32>().ok_or_else(|| (0, format!("a value of type {}", column.data_type())))?;
    let of = |(row, text): (usize, Option<&str>)| match text {
        None => Ok(None),
        Some(word) => direction(word).map(Some).ok_or_else(|| (row, format!("{word:?}"))),
    };
    texts.iter().enumerate().map(of).collect()
}

impl Table {
    /// Whether the cells of the column `name` are directions: some are, and no other cell is anything else. Only in a column called
    /// `directed` are truth values directions.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub(crate) fn holds_directions(&self, name: &str) -> Result<bool> {
        let Some(at) = self.find(name) else { return Ok(false) };
        let any = name.eq_ignore_ascii_case(DIRECTED);
        let data_type = &self.columns[at].ty.data_type;
        if *data_type == DataType::Boolean || data_type.is_integer() && !any {
            return Ok(any);
        }
        if !data_type.is_integer() && *data_type != DataType::Utf8 {
            return Ok(false);
        }
        let mut is_said = false;
        for piece in self.pieces() {
            let mut reading = self.read(&piece, &[at], isomorph_tables::BATCH_ROWS)?;
            while let Some((_, _, columns)) = reading.next_batch()? {
                let Some(column) = columns.first() else { continue };
                let texts = column.as_string_opt::<i32>();
                let are_words = texts.is_none_or(|texts| texts.iter().flatten().all(is_word));
                if !any && !are_words || directions(column).is_err() {
                    return Ok(false);
                }
                is_said |= column.null_count() < column.len();
            }
        }
        Ok(is_said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_truths_are_directions_in_any_case() {
        let said = ["Directed", "UNDIRECTED", "true", "False", "1", "0", "Yes", "no", "mutual", "", "2"].map(direction);
        let expected = [true, false, true, false, true, false, true, false].map(Some);
        assert_eq!(said[..8], expected);
        assert_eq!(said[8..], [None; 3]);
    }
}
