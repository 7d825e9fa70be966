//! Copies the texts of selected rows out of the pages that views point into; this is their only copy.

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, StringArray, StringViewArray};
use isomorph_error::{Error, Kind, Result, index};

use super::mask::view_length;

/// A range of consecutive rows: start and end.
pub(super) type Run = (usize, usize);

/// Returns the total bytes of the texts of `rows`.
pub(super) fn bytes_of(texts: &StringViewArray, rows: &[Run]) -> u64 {
    let views = texts.views();
    rows.iter().flat_map(|&(from, to)| &views[from..to]).map(|&view| u64::from(view_length(view))).sum()
}

/// Returns the texts of `rows` in order, which have `bytes` bytes in total.
///
/// # Errors
/// Returns [`Kind::TooLarge`] if they have more bytes than 32-bit offsets can address.
pub(super) fn picked(texts: &StringViewArray, rows: &[Run], bytes: u64) -> Result<StringArray> {
    if i32::try_from(bytes).is_err() {
        return Err(Error::new(Kind::TooLarge, format!("the texts of one batch have {bytes} bytes; at most 2^31 - 1")));
    }
    let count = rows.iter().map(|(from, to)| to - from).sum();
    let mut out = StringBuilder::with_capacity(count, index(bytes));
    for &(from, to) in rows {
        match texts.null_count() {
            0 => (from..to).for_each(|row| out.append_value(texts.value(row))),
            _ => (from..to).for_each(|row| out.append_option(texts.is_valid(row).then(|| texts.value(row)))),
        }
    }
    Ok(out.finish())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn picked_texts_keep_their_order_and_nulls() {
        let long = "a text that does not fit into a view";
        let texts: StringViewArray = [Some("a"), None, Some(long), Some(""), Some("b")].into_iter().collect();
        let bytes = bytes_of(&texts, &[(1, 4)]);
        assert_eq!(bytes, long.len() as u64);
        assert_eq!(picked(&texts, &[(1, 4)], bytes).unwrap(), StringArray::from(vec![None, Some(long), Some("")]));
        let slice = texts.slice(2, 3);
        assert_eq!(picked(&slice, &[(0, 1), (2, 3)], 0).unwrap(), StringArray::from(vec![long, "b"]));
        assert!(picked(&texts, &[(0, 1)], 1 << 31).is_err());
    }
}
