//! Recognises files that are not CSV by their first bytes, so that the error can name the cause.

use isomorph_error::{Error, Result};
use isomorph_storage::Blob;

use crate::rules::CSV_HEADER;

/// Returns an error for a compressed file, and for text in another encoding.
///
/// # Errors
/// [`CSV_HEADER`] in these cases.
pub(super) fn refuse(blob: &Blob) -> Result<()> {
    let start = blob.read(0..blob.size().min(16))?;
    refuse_separator_line(&start)?;
    let (what, hint) = match start.as_ref() {
        [0x1F, 0x8B, ..] => ("the file is compressed with gzip", "decompress it: gzip -d < FILE.gz > FILE.csv"),
        [0x28, 0xB5, 0x2F, 0xFD] => ("the file is compressed with zstd", "decompress it: zstd -d FILE.zst"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [_, 0, ..] | [0, ..] => (
            "the encoding of the file is UTF-16 or UTF-32, not UTF-8",
            "save the file as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW.csv",
        ),
        _ => return Ok(()),
    };
    Err(Error::broken(&CSV_HEADER, what).hint(hint))
}

/// Refuses the first line `sep=;` by which Excel is told the separator: no other reader knows that it is no header.
fn refuse_separator_line(start: &[u8]) -> Result<()> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let name = start.get(..4).unwrap_or_default();
    match start.get(4..) {
        Some([_] | [_, b'\r' | b'\n', ..]) if name.eq_ignore_ascii_case(b"sep=") => {
            Err(Error::broken(&CSV_HEADER, "the first line is Excel's sep=, not the names of the columns")
                .hint("remove the first line"))
        }
        _ => Ok(()),
    }
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
