//! Recognises files that are not CSV by their first bytes, so that the error can name the cause.

use isomorph_error::{Error, Result};
use isomorph_storage::Blob;

use crate::rules::CSV_HEADER;

/// What to do with text that is not UTF-8.
pub(super) const AS_UTF8: &str =
    "save the file as UTF-8, for example from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW.csv";

/// Returns an error for a compressed file, and for text in another encoding; otherwise the separator that the first line states.
///
/// # Errors
/// [`CSV_HEADER`] in these cases.
pub(super) fn refuse(blob: &Blob) -> Result<Option<u8>> {
    let start = blob.read(0..blob.size().min(16))?;
    let (what, hint) = match start.as_ref() {
        [0x1F, 0x8B, ..] => ("the file is compressed with gzip", "decompress it: gzip -d < FILE.gz > FILE.csv"),
        [0x28, 0xB5, 0x2F, 0xFD] => ("the file is compressed with zstd", "decompress it: zstd -d FILE.zst"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [_, 0, ..] | [0, ..] => (
            "the encoding of the file is UTF-16 or UTF-32, not UTF-8",
            "save the file as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW.csv",
        ),
        _ => {
            let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start.as_ref());
            return Ok(separator_line(text).map(|(separator, _)| separator));
        }
    };
    Err(Error::broken(&CSV_HEADER, what).hint(hint))
}

/// Returns the separator that Excel's first line `sep=;` states, and the length of this line, if a text begins with one.
pub fn separator_line(start: &[u8]) -> Option<(u8, usize)> {
    let (name, rest) = start.split_at_checked(4)?;
    let (separator, rest) = rest.split_first().filter(|_| name.eq_ignore_ascii_case(b"sep="))?;
    let end = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [] => 0,
        _ => return None,
    };
    Some((*separator, name.len() + 1 + end))
}

/// Adds the cause to `error` if the header is one field in which another character separates the column names.
pub(super) fn divided(error: Error, header: &[String], is_known: impl Fn(&str) -> bool) -> Error {
    let [only] = header else { return error };
    for (character, name) in [(';', "semicolons"), ('\t', "tabs"), ('|', "bars")] {
        if only.contains(character) && only.split(character).any(|field| is_known(field.trim_matches('"'))) {
            return error.hint(format!("save the file with commas: its fields are separated by {name}"));
        }
    }
    error
}
