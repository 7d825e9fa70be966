//! Labels: converts texts joined by commas to label sets.

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray};
use isomorph_model::LabelColumn;
use isomorph_model::label::LabelBuilder;

use super::Words;

/// Returns the label sets of node rows; `None` if no row has a label. Each distinct text is split once. Empty parts are
/// ignored; spaces belong to the label.
pub(crate) fn label_column(words: &Words) -> Option<LabelColumn> {
    let texts: &StringArray = words.values().as_string();
    let mut builder = LabelBuilder::default();
    let none = builder.intern([]);
    let mut sets: Vec<Option<u32>> = vec![None; texts.len()];
    let mut labelled = false;
    for key in words.keys() {
        let slot = key.and_then(|key| usize::try_from(key).ok()).filter(|&key| texts.is_valid(key));
        let Some((key, slot)) = slot.and_then(|key| Some((key, sets.get_mut(key)?))) else {
            builder.push_set(none);
            continue;
        };
        let set = *slot.get_or_insert_with(|| builder.intern(split_labels(texts.value(key))));
        labelled |= set != none;
        builder.push_set(set);
    }
    labelled.then(|| builder.finish())
}

/// Returns the labels of one cell.
pub(crate) fn split_labels(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn empty_parts_say_nothing_and_blanks_count() {
        let words: Words = [Some("A,B"), None, Some(""), Some(",A, B,A"), Some("B,A")].into_iter().collect();
        let column = label_column(&words).unwrap();
        let row = |row| {
            let mut labels: Vec<&str> = column.row(row).collect();
            labels.sort_unstable();
            labels
        };
        assert_eq!(row(0), ["A", "B"]);
        assert!(row(1).is_empty() && row(2).is_empty());
        assert_eq!(row(3), [" B", "A"]);
        assert_eq!(column.rows()[0], column.rows()[4]);
    }

    #[test]
    fn no_label_is_no_column() {
        let words: Words = [Some(""), None, Some(",")].into_iter().collect();
        assert!(label_column(&words).is_none());
    }
}
