//! What a file is that should be CSV and is not: told by its first bytes, so that the error can name the cause.

use isomorph_error::{Error, Result};
use isomorph_storage::Blob;

use crate::rules::CSV_HEADER;

/// Fails for a file that is packed, or in another encoding of text.
///
/// # Errors
/// [`CSV_HEADER`] then.
pub(super) fn refuse(blob: &Blob) -> Result<()> {
    let start = blob.read(0..blob.size().min(4))?;
    let (what, hint) = match start.as_ref() {
        [0x1F, 0x8B, ..] => ("the file is packed with gzip", "save the file unpacked: gzip -d < FILE.gz > FILE.csv"),
        [0x28, 0xB5, 0x2F, 0xFD] => ("the file is packed with zstd", "save the file unpacked: zstd -d FILE.zst"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [_, 0, ..] | [0, ..] => (
            "the file is not UTF-8 but UTF-16 or UTF-32",
            "save the file as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW.csv",
        ),
        _ => return Ok(()),
    };
    Err(Error::broken(&CSV_HEADER, what).hint(hint))
}

/// `error` with the cause, where the header is one field that another character divides into the names of columns.
pub(super) fn divided(error: Error, header: &[String], is_known: impl Fn(&str) -> bool) -> Error {
    let [only] = header else { return error };
    for (character, name) in [(';', "semicolons"), ('\t', "tabs"), ('|', "bars")] {
        if only.contains(character) && only.split(character).any(|field| is_known(field.trim_matches('"'))) {
            return error.hint(format!("save the file with commas: its fields are divided by {name}"));
        }
    }
    error
}
