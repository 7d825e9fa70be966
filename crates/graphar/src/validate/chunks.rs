//! Checks of chunks that vertices and edges share.

use std::collections::HashSet;

use arrow_array::{Array, ArrayRef};
use isomorph_error::{Findings, Kind, Place, Result};
use isomorph_storage::Root;
use isomorph_tables::{Encoding, Selection, TableReader};

use super::or_find;
use crate::info::{FileType, PropertyGroup};
use crate::rules;
use crate::table::{Chunk, Column};

/// The files below a directory. Counts that are far too large require hundreds of thousands of files: searching the
/// listing is fast, opening each of them is not.
pub(super) struct Files {
    listed: Option<HashSet<String>>,
    root: Root,
    /// How many more missing files are looked up by name: links that lead out are not listed.
    asked: usize,
}

/// Number of missing files of a directory that are looked up by name.
const ASKED: usize = 100;

impl Files {
    /// Lists the files below `directory`, if they can be listed: web servers have no listing.
    pub fn below(root: &Root, directory: &str) -> Result<Self> {
        match root.list(directory) {
            // The directory itself may be a link that leads out: then each file reports it.
            Err(error) if matches!(error.kind(), Kind::Unsupported | Kind::Usage | Kind::Malformed) => {
                Ok(Files { listed: None, root: root.clone(), asked: ASKED })
            }
            listed => {
                let listed = listed?.into_iter().map(|entry| entry.name).collect();
                Ok(Files { listed: Some(listed), root: root.clone(), asked: ASKED })
            }
        }
    }

    /// Returns whether `path` is known to be missing, and adds a finding if it is.
    pub fn lack(&mut self, path: &str, findings: &mut Findings) -> bool {
        let mut lack = self.listed.as_ref().is_some_and(|files| !files.contains(path));
        if lack && self.asked > 0 {
            self.asked -= 1;
            lack = self.root.file(path).is_err_and(|error| error.kind() == Kind::NotFound);
        }
        if lack {
            findings.push(&rules::FILE_MISSING, "the file is missing", path);
        }
        lack
    }

    /// Adds a finding for each file that is not in `expected`.
    pub fn others(self, expected: impl Iterator<Item = String>, findings: &mut Findings) {
        let mut others = self.listed.unwrap_or_default();
        expected.for_each(|name| {
            others.remove(&name);
        });
        let mut others: Vec<String> = others.into_iter().collect();
        others.sort_unstable();
        for name in others {
            findings.push(&rules::FILE_EXTRA, "nothing refers to this file", name);
        }
    }
}

/// Adds a finding for each file of `directory` that is not in `expected`.
pub(super) fn extra_files(
    root: &Root,
    directory: &str,
    expected: impl Iterator<Item = String>,
    findings: &mut Findings,
) -> Result<()> {
    Files::below(root, directory)?.others(expected, findings);
    Ok(())
}

/// Checks the Arrow schema embedded in a file's footer: it is not used here, but other readers need it to open the file.
pub(super) fn embedded(path: &str, reader: &TableReader, findings: &mut Findings) -> Result<()> {
    let checked = reader.check_embedded().map_err(|error| error.at(Place::file(path)));
    or_find(findings, checked).map(drop)
}

/// Adds a finding for each column that is not declared. Text files do not state their columns.
pub(super) fn extra_columns(chunk: &Chunk, group: &PropertyGroup, reserved: &[&str], findings: &mut Findings) {
    if group.file_type.encoding().is_text() {
        return;
    }
    for field in chunk.reader.schema().fields() {
        let name = field.name();
        let declared = group.properties.iter().any(|property| property.name == *name);
        if !declared && !reserved.contains(&name.as_str()) {
            findings.push(
                &rules::COLUMN_EXTRA,
                format!("column {name} is not declared"),
                Place::file(&chunk.path).in_field(name),
            );
        }
    }
}

/// Finds nulls in columns that are declared as not nullable; one finding for each batch.
pub(super) fn nulls(
    path: &str,
    group: &PropertyGroup,
    columns: &[Column],
    arrays: &[ArrayRef],
    start: u64,
    findings: &mut Findings,
) {
    for (column, array) in columns.iter().zip(arrays) {
        let info = group.properties.iter().find(|property| property.name == column.name);
        let Some(info) = info.filter(|info| !info.nullable && array.null_count() > 0) else { continue };
        let rule = if info.primary { &rules::KEY_NULL } else { &rules::NULL };
        let row = array.nulls().and_then(|nulls| nulls.iter().position(|valid| !valid)).unwrap_or_default();
        let place = Place::file(path).row(start + row as u64).in_field(&column.name);
        findings.push(rule, format!("{} nulls in {}", array.null_count(), column.name), place);
    }
}

/// Finds nulls that are empty lines, in a CSV chunk of one column; one finding for each batch.
pub(super) fn blank_lines(
    chunk: &Chunk,
    group: &PropertyGroup,
    arrays: &[ArrayRef],
    start: u64,
    findings: &mut Findings,
) {
    let ([array], [_], FileType::Csv, false) = (arrays, group.properties.as_slice(), group.file_type, chunk.indexed)
    else {
        return;
    };
    if let Some(row) = array.nulls().and_then(|nulls| nulls.iter().position(|valid| !valid)) {
        let message = format!("{} empty lines, read as nulls", array.null_count());
        findings.push(&rules::CSV_BLANK, message, Place::file(&chunk.path).row(start + row as u64));
    }
}

/// Compares the number of rows stated in a file with the counts.
pub(super) fn stated_rows(path: &str, stated: Option<u64>, expected: u64, findings: &mut Findings) -> bool {
    match stated {
        Some(stated) if stated != expected => {
            findings.push(&rules::COUNT_ROWS, format!("found {stated} rows, but the counts require {expected}"), path);
            false
        }
        _ => true,
    }
}

/// Maximum number of rows in a batch; text files do not state their number of rows.
pub(super) const BATCH_ROWS: usize = 65_536;

/// Selects everything, and compares it with the page indexes that look-ups use.
pub(super) fn everything() -> Selection {
    Selection::all().batch_rows(BATCH_ROWS).check_indexes()
}

/// Returns whether rows of this encoding must be counted while they are read.
pub(super) fn must_count(encoding: Encoding) -> bool {
    encoding.is_text()
}
