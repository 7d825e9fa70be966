//! Converts numbers to another type, if they stay equal.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt64Array, new_empty_array};
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::take::take;
use isomorph_deepgnn::DType;
use isomorph_error::{Error, Result};

use super::values::{list, lists_of, wrong};

/// Converts the first `count` numbers of each row, or all of them: shorter rows are filled with zeros, longer rows are
/// cut; null for rows without the feature.
///
/// # Errors
/// Returns an error if a number cannot be represented in this type.
pub(super) fn as_numbers(column: &ArrayRef, dtype: DType, count: Option<usize>, name: &str) -> Result<ArrayRef> {
    let lists = column.as_list_opt::<i32>();
    let numbers = exact(lists.map_or(column, |lists| lists.values()), dtype, name)?;
    let Some(count) = count else {
        return match lists {
            Some(lists) => list(lists.offsets().clone(), numbers, lists.nulls().cloned()),
            None => Ok(numbers),
        };
    };
    // The index of the number at each position.
    let place = |row: usize, at: usize| match lists {
        Some(lists) => {
            let (start, end) = (lists.value_offsets()[row], lists.value_offsets()[row + 1]);
            let place = usize::try_from(start).ok()? + at;
            (place < usize::try_from(end).ok()?).then_some(place as u64)
        }
        None => (at == 0).then_some(row as u64),
    };
    let places = (0..column.len()).flat_map(|row| (0..count).map(move |at| (row, at)));
    let places: UInt64Array = places.map(|(row, at)| place(row, at)).collect();
    let taken = take(&numbers, &places, None).map_err(wrong)?;
    let nulls = column.nulls().cloned();
    // A missing number is 0 in a row that has the feature.
    let row_is_null = |place: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(place / count));
    let zero = exact(&(std::sync::Arc::new(UInt64Array::from(vec![0])) as ArrayRef), dtype, name)?;
    let both: [&dyn Array; 2] = [&taken, &zero];
    let filled: Vec<(usize, usize)> = (0..taken.len())
        .map(|place| if taken.is_null(place) && !row_is_null(place) { (1, 0) } else { (0, place) })
        .collect();
    let filled = match filled.is_empty() {
        true => new_empty_array(taken.data_type()),
        false => arrow_select::interleave::interleave(&both, &filled).map_err(wrong)?,
    };
    if count == 1 { Ok(filled) } else { lists_of(count, filled, nulls) }
}

/// Converts the numbers, if converting them back gives the same numbers.
fn exact(numbers: &ArrayRef, dtype: DType, name: &str) -> Result<ArrayRef> {
    let own: &DataType = numbers.data_type();
    let wanted = cast(numbers, &dtype.arrow()).map_err(wrong)?;
    let back = cast(&wanted, own).map_err(wrong)?;
    if back.to_data() == numbers.to_data() {
        return Ok(wanted);
    }
    let message = format!("{name} has a number that {dtype} cannot represent");
    Err(Error::usage(message).hint(format!("--features {name}    in its own type")))
}
