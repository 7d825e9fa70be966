//! The beginning of a file, by which a format is recognised.

use isomorph_error::Result;
use isomorph_storage::Location;
use isomorph_tables::PackedFile;

/// Number of first bytes that are inspected.
const LOOK: u64 = 64 << 10;

/// Returns the first bytes of the file at `location`; nothing of a directory, or of a file that cannot be decompressed.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(crate) fn beginning(location: &Location) -> Result<Vec<u8>> {
    if location.as_path().is_some_and(std::path::Path::is_dir) {
        return Ok(Vec::new());
    }
    let file = PackedFile::open(location)?;
    Ok(file.begin(LOOK).unwrap_or_default())
}
