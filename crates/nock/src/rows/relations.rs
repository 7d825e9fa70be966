//! Relations of edge rows.

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray, UInt32Array};
use isomorph_model::Relations;

use super::Words;

/// Returns the relations of edge rows: the dictionary of the column is reused unchanged. Null means the empty relation.
pub(super) fn relations(words: &Words) -> Relations {
    let names: &StringArray = words.values().as_string();
    let keys = words.keys();
    if keys.null_count() == 0 && names.null_count() == 0 {
        let index = UInt32Array::from_iter_values(keys.values().iter().map(|&key| key.unsigned_abs()));
        return Relations { names: names.clone(), index };
    }
    #[expect(clippy::cast_possible_truncation, reason = "keys of 31 bits number the names")]
    let blank = names.len() as u32;
    let mut all = StringBuilder::with_capacity(names.len() + 1, names.value_data().len());
    names.iter().for_each(|name| all.append_value(name.unwrap_or_default()));
    all.append_value("");
    let index = keys.iter().map(|key| key.map_or(blank, i32::unsigned_abs));
    Relations { names: all.finish(), index: UInt32Array::from_iter_values(index) }
}

/// Returns empty relations for all rows.
pub(super) fn blank(rows: usize) -> Relations {
    Relations { names: StringArray::from(vec![""]), index: UInt32Array::from(vec![0; rows]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_relation_is_the_empty_one() {
        let words: Words = [Some("r"), None, Some(""), Some("r")].into_iter().collect();
        let relations = relations(&words);
        let name = |row| relations.names.value(relations.index.value(row) as usize);
        assert_eq!([name(0), name(1), name(2), name(3)], ["r", "", "", "r"]);
    }
}
