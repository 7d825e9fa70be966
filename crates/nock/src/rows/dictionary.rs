//! Dictionary encoding of text with few distinct values.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Result};

use super::Words;
use super::shape::cast_strict;
use crate::columns::Column;

/// A fast hash of short texts.
#[derive(Default)]
struct TextHasher(u64);

impl Hasher for TextHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxhash_rust::xxh3::xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u8(&mut self, byte: u8) {
        self.0 = self.0.wrapping_add(u64::from(byte));
    }
}

/// Converts a text column to dictionary form; a column that already has that form is returned unchanged.
///
/// # Errors
/// Returns an error if a column of another type cannot be read as text.
pub(super) fn words(array: &ArrayRef, column: Column) -> Result<Words> {
    let wanted = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    if matches!(array.data_type(), DataType::Dictionary(_, values) if **values == DataType::Utf8) {
        return cast_strict(array, &wanted, column.name()).map(|array| array.as_dictionary::<Int32Type>().clone());
    }
    let texts = cast_strict(array, &DataType::Utf8, column.name())?;
    intern(texts.as_string())
}

/// Numbers the distinct texts in order of first occurrence.
fn intern(texts: &StringArray) -> Result<Words> {
    let mut known: HashMap<&str, i32, BuildHasherDefault<TextHasher>> = HashMap::default();
    let mut distinct: Vec<&str> = Vec::new();
    let mut last: Option<(&str, i32)> = None;
    let mut key_of = |text| match last {
        // Neighbouring rows often have the same text.
        Some((before, key)) if before == text => key,
        _ => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_possible_wrap,
                reason = "texts have at most 2^31 bytes"
            )]
            let key = *known.entry(text).or_insert_with(|| {
                distinct.push(text);
                (distinct.len() - 1) as i32
            });
            last = Some((text, key));
            key
        }
    };
    let keys = if texts.null_count() == 0 {
        Int32Array::from_iter_values((0..texts.len()).map(|row| key_of(texts.value(row))))
    } else {
        texts.iter().map(|text| text.map(&mut key_of)).collect()
    };
    let values = StringArray::from_iter_values(distinct);
    Words::try_new(keys, std::sync::Arc::new(values))
        .map_err(|error| Error::malformed(format!("too many distinct texts for a dictionary: {error}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::Arc;

    #[test]
    fn every_row_keeps_its_text() {
        let texts = StringArray::from(vec![Some("b"), Some("a"), None, Some("b"), Some(""), Some("")]);
        let array: ArrayRef = Arc::new(texts.clone());
        let words = words(&array, Column::RelName).unwrap();
        assert_eq!(words.values().len(), 3);
        let back = arrow_cast::cast(&words, &DataType::Utf8).unwrap();
        assert_eq!(back.as_string::<i32>(), &texts);
    }

    #[test]
    fn a_column_of_nulls_has_no_words() {
        let array: ArrayRef = Arc::new(arrow_array::NullArray::new(3));
        let words = words(&array, Column::RelName).unwrap();
        assert_eq!((words.len(), words.null_count(), words.values().len()), (3, 3, 0));
    }
}
