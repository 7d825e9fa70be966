//! Checks names that are used in information files and in file names.

use isomorph_error::{Error, Result};
use isomorph_storage::{check_relative, limits};

use crate::rules;
use crate::yml::check_text;

/// Bytes reserved for the prefix and suffix that are added to a name in a file name.
const AFFIXES: usize = 32;

/// Rejects a name that an information file cannot represent.
///
/// # Errors
/// Returns [`rules::META_NAME`] or [`rules::META_TEXT`].
pub(super) fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::broken(&rules::META_NAME, format!("the name of a {what} is empty")));
    }
    // Labels are in lists, where the published library's parser is stricter.
    if name.matches(':').count() > 1 {
        return Err(Error::broken(&rules::META_TEXT, format!("{what} {name:?} has more than one colon")));
    }
    check_text(name).map(|_| ())
}

/// Checks a name that becomes part of a file name.
///
/// # Errors
/// As [`check_name`].
pub(super) fn file_part<'n>(what: &str, name: &'n str) -> Result<&'n str> {
    check_name(what, name)?;
    let legal = !name.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|'])
        && !name.starts_with(['.', ' '])
        && !name.ends_with(['.', ' '])
        && name.len() + AFFIXES <= limits::NAME_BYTES
        && check_relative(name).is_ok();
    if legal {
        Ok(name)
    } else {
        Err(Error::broken(&rules::META_NAME, format!("{what} {name:?} cannot be part of a file name")))
    }
}

/// Returns a directory name for the properties `names`: their names, joined, if the result is safe and short.
pub(super) fn group_directory(names: &[&str], number: usize) -> String {
    let joined = names.join("_");
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match joined.chars().all(safe) && joined.len() <= 100 {
        true => joined,
        false => format!("group{number}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_that_cannot_be_files_are_refused() {
        for name in ["", "a/b", "..", "a:b", "p\u{e9}rson", ".hidden", "x".repeat(250).as_str()] {
            assert!(file_part("type", name).is_err(), "{name:?}");
        }
        assert_eq!(file_part("type", "knows-date 2").unwrap(), "knows-date 2");
    }

    #[test]
    fn directories_are_named_after_properties_where_that_is_safe() {
        assert_eq!(group_directory(&["first", "last"], 0), "first_last");
        assert_eq!(group_directory(&["a/b"], 3), "group3");
        assert_eq!(group_directory(&[&"x".repeat(200)], 1), "group1");
    }
}
