//! Keys that are looked up, all in one pass.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::DataType;
use arrow_select::filter::filter;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::Set;
use isomorph_model::predicate::value_type;
use isomorph_storage::{Reservation, Resources};
use isomorph_tables::lookup::{ABSENT, KeyRows, KeyRowsBuilder, Lookup, LookupOptions};

/// Keys, and the questions for each.
pub(crate) struct Asked {
    /// Key → position of its first question, among the questions that can match.
    places: KeyRows,
    /// Where the questions of each position start in `questions`, and where the last ones end.
    starts: Vec<usize>,
    questions: Vec<u64>,
    /// The keys, without duplicates, for formats that skip rows.
    pub set: Set,
    _memory: Reservation,
}

/// Rows of a batch that match, each with the questions that it answers, by their position in [`Asked`]. A row may
/// answer very many questions, so the answers are returned in pieces.
pub(crate) struct Answers {
    rows: Vec<(u64, Range<usize>)>,
    at: usize,
}

impl Asked {
    /// Creates the look-up for `keys`, which are converted to the type of the column; nulls and keys that the type
    /// cannot hold match nothing.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] for keys that are neither integers nor texts, or a column that holds neither;
    /// [`Kind::TooLarge`] if they do not fit into the budget.
    pub fn new(keys: &ArrayRef, column: &DataType, resources: &Resources) -> Result<Self> {
        let keys = as_in(keys, value_type(column))?;
        let asking: Vec<u64> =
            (0..).zip(0..keys.len()).filter(|(_, at)| keys.is_valid(*at)).map(|(row, _)| row).collect();
        let present = arrow_array::BooleanArray::from_iter((0..keys.len()).map(|at| Some(keys.is_valid(at))));
        let keys = filter(&keys, &present).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
        let memory = resources.budget.reserve(Set::bytes_for(keys.as_ref())).map_err(too_many)?;
        let set = Set::of(keys.as_ref())?;
        let options = LookupOptions::new(&resources.budget, &resources.scratch)
            .memory(resources.budget.limit() / 2)
            .threads(resources.threads);
        let mut builder = KeyRowsBuilder::new(options);
        builder.push(keys.as_ref())?;
        let Lookup::Memory(places) = builder.finish()? else {
            let message = format!("{} keys do not fit into the memory budget", keys.len());
            return Err(too_many(Error::new(Kind::TooLarge, message)));
        };
        // Questions in the order of the positions of their keys.
        let mut firsts = Vec::with_capacity(keys.len());
        places.translate(keys.as_ref(), &mut firsts)?;
        let mut starts = vec![0; keys.len() + 1];
        for first in &firsts {
            if let Some(count) = starts.get_mut(isomorph_error::index(*first) + 1) {
                *count += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut questions) = (starts.clone(), vec![0; keys.len()]);
        for (first, row) in firsts.iter().zip(&asking) {
            if let Some(place) = next.get_mut(isomorph_error::index(*first)) {
                questions[*place] = *row;
                *place += 1;
            }
        }
        Ok(Asked { places, starts, questions, set, _memory: memory })
    }

    /// The rows of a column that match.
    ///
    /// # Errors
    /// If the keys cannot be compared.
    pub fn answers(&self, column: &ArrayRef) -> Result<Answers> {
        let mut places = Vec::with_capacity(column.len());
        self.places.translate(column.as_ref(), &mut places)?;
        let questions = |place: u64| {
            let place = isomorph_error::index(place);
            self.starts.get(place).copied().unwrap_or_default()..self.starts.get(place + 1).copied().unwrap_or_default()
        };
        let asked = (0u64..).zip(places).filter(|(_, place)| *place != ABSENT);
        Ok(Answers { rows: asked.map(|(row, place)| (row, questions(place))).collect(), at: 0 })
    }

    /// The next answers, at most `count`: each row as often as it is requested, and the questions. Both are empty at
    /// the end.
    pub fn next(&self, answers: &mut Answers, count: usize) -> (UInt64Array, UInt64Array) {
        let (mut rows, mut questions): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        while let Some((row, left)) = answers.rows.get_mut(answers.at).filter(|_| rows.len() < count) {
            let end = left.end.min(left.start.saturating_add(count - rows.len()));
            let now = self.questions.get(left.start..end).unwrap_or_default();
            rows.extend(now.iter().map(|_| *row));
            questions.extend(now);
            left.start = end;
            if left.start >= left.end {
                answers.at += 1;
            }
        }
        (rows.into(), questions.into())
    }
}

fn too_many(error: Error) -> Error {
    error.hint("look up fewer keys at once")
}

/// Converts `keys` to the type of a column; null for keys that it cannot hold. A text matches the integer that it
/// spells, and an integer the text that spells it: `7` is 7, but `07` is not.
///
/// # Errors
/// Returns [`Kind::Usage`] for keys or columns that are neither integers nor texts.
fn as_in(keys: &ArrayRef, column: &DataType) -> Result<ArrayRef> {
    let is_text = |data_type: &DataType| matches!(value_type(data_type), T::Utf8 | T::LargeUtf8 | T::Utf8View);
    use DataType as T;
    let refused = |what: &str, is: &DataType| {
        Error::usage(format!("{what} of type {is}; only integers and texts can be looked up"))
            .hint("use a filter if the column is of another type")
    };
    let broken = |error: arrow_schema::ArrowError| Error::usage(error.to_string()).caused_by(error);
    let is_key = |data_type: &DataType| value_type(data_type).is_integer() || is_text(data_type);
    if !is_key(column) {
        return Err(refused("a column", column));
    }
    if !is_key(keys.data_type()) {
        return Err(refused("keys", keys.data_type()));
    }
    let options = CastOptions { safe: true, ..CastOptions::default() };
    if is_text(keys.data_type()) && column.is_integer() {
        let texts = cast(keys, &T::Utf8).map_err(broken)?;
        let numbers = cast_with_options(&texts, column, &options).map_err(broken)?;
        let spelt = cast(&numbers, &T::Utf8).map_err(broken)?;
        let (texts, spelt) = (texts.as_string::<i32>(), spelt.as_string::<i32>());
        let same = texts.iter().zip(spelt.iter()).map(|(text, spelt)| Some(text.is_some() && text == spelt));
        let other = arrow_select::nullif::nullif(&numbers, &same.map(|same| same.map(|same| !same)).collect());
        return other.map_err(broken);
    }
    cast_with_options(keys, column, &options).map_err(broken)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::types::{Int64Type, UInt8Type};
    use arrow_array::{BooleanArray, Int64Array, StringArray};

    use super::*;

    #[test]
    fn keys_are_what_they_spell_and_nothing_else() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("7"), Some("07"), Some("+7"), Some("x"), None]));
        let numbers = as_in(&texts, &DataType::Int64).unwrap();
        let numbers: Vec<Option<i64>> = numbers.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(numbers, [Some(7), None, None, None, None]);
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![-1, 3, 300]));
        let small = as_in(&keys, &DataType::UInt8).unwrap();
        assert_eq!(small.as_primitive::<UInt8Type>().iter().collect::<Vec<_>>(), [None, Some(3), None]);
        let spelt = as_in(&keys, &DataType::Utf8).unwrap();
        assert_eq!(spelt.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("-1"), Some("3"), Some("300")]);
        let truths: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
        assert_eq!(as_in(&truths, &DataType::Int64).unwrap_err().kind(), Kind::Usage);
        assert_eq!(as_in(&keys, &DataType::Float64).unwrap_err().kind(), Kind::Usage);
    }
}
