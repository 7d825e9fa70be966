//! Properties: checks the texts of cells, and repairs them in lenient mode.

use std::borrow::Cow;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, StringViewArray};
use arrow_data::{ByteView, MAX_INLINE_VIEW_LEN};
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{Members, check_strings};

use super::mask::view_length;
use super::{Numbers, Rows};
use crate::columns::Column;
use crate::{Tolerance, rules};

/// Checks a column of properties. Each cell must be empty, null, `null`, or look like an object; bare `NaN` and
/// `Infinity`, which are not JSON, must not occur. With [`Tolerance::Lenient`], both are repaired.
///
/// A cell that looks like an object is not parsed here, but once, when its members are read.
///
/// # Errors
/// Returns [`rules::PROPS_OBJECT`], [`rules::PROPS_NAN`] or [`rules::PROPS_JSON`], with the row.
pub(crate) fn check_props(props: StringViewArray, tolerance: Tolerance, numbers: &Numbers) -> Result<StringViewArray> {
    if looks_sound(&props) {
        return Ok(props);
    }
    let mut mended = StringBuilder::with_capacity(props.len(), 0);
    for (row, cell) in props.iter().enumerate() {
        match cell {
            None => mended.append_null(),
            Some(cell) => {
                let place = || Place::field(Column::Props.name()).row(numbers.at(row));
                mended.append_value(check_cell(cell, tolerance).map_err(|error| error.at(place()))?);
            }
        }
    }
    Ok(StringViewArray::from(&mended.finish()))
}

/// Returns whether every cell is valid unchanged: true for nearly every file, and cheap to test.
fn looks_sound(props: &StringViewArray) -> bool {
    let mut used = Used::new(props);
    for (row, &view) in props.views().iter().enumerate() {
        if view_length(view) == 0 || props.is_null(row) {
            continue;
        }
        let cell = props.value(row).as_bytes();
        if !matches!((cell.first(), cell.last()), (Some(b'{'), Some(b'}'))) && cell != b"null" {
            return false;
        }
        // Texts this short are stored in the view itself.
        if cell.len() > MAX_INLINE_VIEW_LEN as usize {
            used.see(view);
        } else if cell.iter().any(|byte| matches!(byte, b'N' | b'I')) {
            return false;
        }
    }
    let bare = |bytes: &[u8]| [&b"NaN"[..], b"Infinity"].iter().any(|word| memchr::memmem::find(bytes, word).is_some());
    !used.parts().any(bare)
}

/// The parts of the views' buffers that cells use: they are searched as a whole, not cell by cell. Bytes between the
/// cells are searched too; they can only cause an unnecessary closer check.
struct Used<'a> {
    props: &'a StringViewArray,
    /// For each buffer, the range from the first byte to the end of the last cell.
    ranges: Vec<(usize, usize)>,
}

impl<'a> Used<'a> {
    fn new(props: &'a StringViewArray) -> Self {
        Used { props, ranges: vec![(usize::MAX, 0); props.data_buffers().len()] }
    }

    fn see(&mut self, view: u128) {
        let view = ByteView::from(view);
        let start = view.offset as usize;
        if let Some((from, to)) = self.ranges.get_mut(view.buffer_index as usize) {
            (*from, *to) = ((*from).min(start), (*to).max(start + view.length as usize));
        }
    }

    fn parts(&self) -> impl Iterator<Item = &'a [u8]> {
        let buffers = self.props.data_buffers().iter().zip(self.ranges.clone());
        buffers.filter_map(|(buffer, (from, to))| buffer.get(from..to))
    }
}

/// Returns the error of the first cell that looks like an object but is not.
pub(crate) fn broken_props(rows: &Rows) -> Option<Error> {
    let props = rows.props.as_ref()?;
    let mut members = Members::default();
    props.iter().enumerate().find_map(|(row, cell)| {
        let cell = cell.unwrap_or_default();
        // Reading skips the content of strings, but it could not be displayed.
        let error = members.read(cell, |_, _| Ok(())).and_then(|()| check_strings(cell)).err()?;
        let place = Place::field(Column::Props.name()).row(rows.numbers.at(row));
        Some(Error::broken(&rules::PROPS_JSON, error.message()).at(place))
    })
}

/// Checks one cell, as [`check_props`] does.
///
/// # Errors
/// As [`check_props`], without the place.
pub(crate) fn check_cell(cell: &str, tolerance: Tolerance) -> Result<Cow<'_, str>> {
    if cell.is_empty() {
        return Ok(Cow::Borrowed(cell));
    }
    let text = cell.trim_matches([' ', '\t', '\n', '\r']);
    if text.is_empty() {
        return Err(Error::broken(&rules::PROPS_JSON, "props contains only whitespace"));
    }
    let text = match without_nan(text) {
        None => Cow::Borrowed(text),
        Some(mended) if tolerance == Tolerance::Lenient => Cow::Owned(mended),
        Some(_) => return Err(Error::broken(&rules::PROPS_NAN, "props contains NaN or Infinity")),
    };
    if text == "null" {
        return Ok(text);
    }
    let is_json = |text: &str| Members::default().read(text, |_, _| Ok(()));
    if text.starts_with('{') {
        return match is_json(&text) {
            Ok(()) => Ok(text),
            Err(error) => Err(Error::broken(&rules::PROPS_JSON, error.message())),
        };
    }
    let wrapped = format!("{{\"\":{text}}}");
    let shown: String = text.chars().take(40).collect();
    match is_json(&wrapped) {
        Ok(()) if tolerance == Tolerance::Lenient => Ok(Cow::Owned(wrapped)),
        Ok(()) => Err(Error::broken(&rules::PROPS_OBJECT, format!("props is not a JSON object: {shown:?}"))),
        // No mode can read it.
        Err(_) if text.starts_with('\u{feff}') => {
            Err(Error::broken(&rules::PROPS_JSON, "props begins with a byte order mark (U+FEFF), which is not JSON"))
        }
        Err(_) => Err(Error::broken(&rules::PROPS_JSON, format!("props is not JSON: {shown:?}"))),
    }
}

/// Returns the text with bare `NaN`, `Infinity` and `-Infinity` replaced by `null`; `None` if there are none outside strings.
pub(crate) fn without_nan(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut mended: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let word = match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'N' => "NaN",
            b'I' => "Infinity",
            b'-' => "-Infinity",
            _ => {
                at += 1;
                continue;
            }
        };
        if !text.get(at..).is_some_and(|rest| rest.starts_with(word)) {
            at += 1;
            continue;
        }
        let out = mended.get_or_insert_default();
        out.push_str(text.get(copied..at).unwrap_or_default());
        out.push_str("null");
        at += word.len();
        copied = at;
    }
    if let Some(out) = &mut mended {
        out.push_str(text.get(copied..).unwrap_or_default());
    }
    mended
}

/// Returns the position after the string that begins at `start`.
pub(crate) fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b'\\' => 2,
            b'"' => return at + 1,
            _ => 1,
        };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn column(cells: &[Option<&str>]) -> StringViewArray {
        StringViewArray::from(cells.to_vec())
    }

    #[test]
    fn objects_and_nothing_pass_untouched() {
        let cells = column(&[None, Some(""), Some("null"), Some("{}"), Some(r#"{"a":"NaN"}"#)]);
        assert_eq!(check_props(cells.clone(), Tolerance::Strict, &Numbers::From(0)).unwrap(), cells);
    }

    #[test]
    fn what_is_no_object_names_its_row() {
        for (cell, rule) in [
            ("[1,2]", &rules::PROPS_OBJECT),
            ("5", &rules::PROPS_OBJECT),
            (" ", &rules::PROPS_JSON),
            // Lenient mode cannot read these.
            ("\u{feff}{}", &rules::PROPS_JSON),
            ("[1,2", &rules::PROPS_JSON),
            ("nonsense", &rules::PROPS_JSON),
            (r#"{"a":NaN}"#, &rules::PROPS_NAN),
            ("{", &rules::PROPS_JSON),
            (r#"{"a":1}x"#, &rules::PROPS_JSON),
        ] {
            let error =
                check_props(column(&[Some("{}"), Some(cell)]), Tolerance::Normal, &Numbers::From(10)).unwrap_err();
            assert_eq!(error.broken_rule(), Some(rule), "{cell}");
            assert_eq!(error.place().row, Some(11));
        }
    }

    #[test]
    fn lenient_reading_mends() {
        let mend = |cell: &str| check_cell(cell, Tolerance::Lenient).map(Cow::into_owned);
        assert_eq!(
            mend(r#"{"a":NaN,"b":[-Infinity,"NaN \" NaN"],"c":Infinity}"#).unwrap(),
            r#"{"a":null,"b":[null,"NaN \" NaN"],"c":null}"#
        );
        assert_eq!(mend("[1,2]").unwrap(), r#"{"":[1,2]}"#);
        assert_eq!(mend("\"x\"").unwrap(), r#"{"":"x"}"#);
        assert!(mend("[1,2").is_err());
        assert!(mend("nonsense").is_err());
    }
}
