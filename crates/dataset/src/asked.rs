//! Keys that are looked for, all in one pass.

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_select::filter::filter;
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::Resources;
use isomorph_tables::lookup::{ABSENT, KeyRows, KeyRowsBuilder, Lookup, LookupOptions};

use crate::arrays::declared;

/// Keys, and which questions asked for each.
pub(crate) struct Asked {
    /// Key → place of the first question that asks for it, among those that ask for something.
    places: KeyRows,
    /// Where the questions of each place begin in `questions`, and where the last ones end.
    starts: Vec<usize>,
    questions: Vec<u64>,
}

impl Asked {
    /// The questions for `keys`, which are put into the type of the column; nulls ask for nothing.
    ///
    /// # Errors
    /// When they have no values of that type, are neither integers nor texts, or do not fit into the budget.
    pub fn new(keys: &ArrayRef, column: &arrow_schema::DataType, resources: &Resources) -> Result<Self> {
        let keys = declared(Some(keys), column, keys.len())?;
        let asking: Vec<u64> =
            (0..).zip(0..keys.len()).filter(|(_, at)| keys.is_valid(*at)).map(|(row, _)| row).collect();
        let present = arrow_array::BooleanArray::from_iter((0..keys.len()).map(|at| Some(keys.is_valid(at))));
        let keys = filter(&keys, &present).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
        let options = LookupOptions::new(&resources.budget, &resources.scratch)
            .memory(resources.budget.limit() / 2)
            .threads(resources.threads);
        let mut builder = KeyRowsBuilder::new(options);
        builder.push(keys.as_ref())?;
        let Lookup::Memory(places) = builder.finish()? else {
            let error = Error::new(Kind::TooLarge, format!("{} keys do not fit into the memory budget", keys.len()));
            return Err(error.hint("ask for fewer keys at once"));
        };
        // Questions in the order of the places of their keys.
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
        Ok(Asked { places, starts, questions })
    }

    /// The rows of a column that somebody asks for, as often as they are asked for, and the questions.
    ///
    /// # Errors
    /// When the keys cannot be compared.
    pub fn rows(&self, column: &ArrayRef) -> Result<(UInt64Array, UInt64Array)> {
        let mut places = Vec::with_capacity(column.len());
        self.places.translate(column.as_ref(), &mut places)?;
        let (mut rows, mut questions) = (Vec::new(), Vec::new());
        for (row, place) in (0u64..).zip(places).filter(|(_, place)| *place != ABSENT) {
            let place = isomorph_error::index(place);
            let of = self.starts.get(place).copied().unwrap_or_default()
                ..self.starts.get(place + 1).copied().unwrap_or_default();
            for question in self.questions.get(of).unwrap_or_default() {
                rows.push(row);
                questions.push(*question);
            }
        }
        Ok((rows.into(), questions.into()))
    }
}
