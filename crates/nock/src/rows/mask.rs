//! Masks of node rows, and tests for empty texts.

use arrow_array::{Array, BooleanArray, Int64Array, StringArray, StringViewArray};
use arrow_buffer::BooleanBuffer;

/// Returns a mask of the node rows.
pub(crate) fn is_node(edge_ids: &Int64Array) -> BooleanArray {
    let ids = edge_ids.values();
    BooleanArray::new(BooleanBuffer::collect_bool(ids.len(), |row| ids[row] < 0), None)
}

/// Returns whether no text is null or empty.
pub(crate) fn none_empty(texts: &StringArray) -> bool {
    texts.null_count() == 0 && texts.value_offsets().windows(2).all(|ends| ends[0] < ends[1])
}

/// Returns the length of a view's text, which is its first field.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
pub(super) fn view_length(view: u128) -> u32 {
    view as u32
}

/// Returns whether no name is null or empty.
pub(super) fn all_named(names: &StringViewArray) -> bool {
    names.null_count() == 0 && names.views().iter().all(|&view| view_length(view) > 0)
}

/// Returns the first row that is null or empty.
pub(crate) fn first_empty(texts: &StringViewArray) -> Option<usize> {
    (0..texts.len()).find(|&row| texts.is_null(row) || texts.value(row).is_empty())
}
