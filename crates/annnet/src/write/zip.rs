//! The archive form: one zip file with a single top-level directory.
//!
//! Files are stored uncompressed: the tables are already compressed, and the rest is small.

use std::collections::BTreeSet;

use isomorph_error::Result;
use isomorph_storage::zip::ZipWriter;
use isomorph_storage::{ScratchFile, StagedFile};

/// The folder that contains everything.
const FOLDER: &str = "graph.annnet/";

/// Writes the archive of `folders` (even if files go into them) and of `files`, which are sorted by name; returns its
/// size in bytes.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub(crate) fn write(
    file: StagedFile,
    place: &str,
    folders: &BTreeSet<String>,
    files: &[(String, ScratchFile)],
) -> Result<u64> {
    let mut archive = ZipWriter::new(file, place);
    let mut folders: Vec<String> = folders.iter().map(|folder| format!("{folder}/")).collect();
    folders.sort_unstable_by(|left, right| right.cmp(left));
    for (name, content) in files {
        // Names are in ascending order, those of folders too.
        while let Some(folder) = folders.pop_if(|folder| folder.as_str() < name.as_str()) {
            archive.folder(format!("{FOLDER}{folder}"))?;
        }
        archive.store(format!("{FOLDER}{name}"), content)?;
    }
    while let Some(folder) = folders.pop() {
        archive.folder(format!("{FOLDER}{folder}"))?;
    }
    archive.finish()
}
