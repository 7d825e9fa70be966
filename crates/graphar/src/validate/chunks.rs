//! Checks that chunks of vertices and edges share.

use std::collections::HashSet;

use arrow_array::{Array, ArrayRef};
use isomorph_error::{Findings, Kind, Place, Result};
use isomorph_storage::Root;
use isomorph_tables::{Encoding, Selection, TableReader};

use super::or_find;
use crate::info::{FileType, PropertyGroup};
use crate::rules;
use crate::table::{Chunk, Column};

/// The files below a directory. Counts that are far too large call for files by the hundred thousand: looking in the
/// listing is quick, asking for each of them is not.
pub(super) struct Files {
    listed: Option<HashSet<String>>,
    root: Root,
    /// Missing files that are still asked for: links that lead out are not listed.
    asked: usize,
}

/// Missing files of a directory that are asked for by name.
const ASKED: usize = 100;

impl Files {
    /// The files below `directory`, where it has a listing: web servers have none.
    pub fn below(root: &Root, directory: &str) -> Result<Self> {
        match root.list(directory) {
            // The directory itself may be a link that leads out: each file says so.
            Err(error) if matches!(error.kind(), Kind::Unsupported | Kind::Usage | Kind::Malformed) => {
                Ok(Files { listed: None, root: root.clone(), asked: ASKED })
            }
            listed => {
                let listed = listed?.into_iter().map(|entry| entry.name).collect();
                Ok(Files { listed: Some(listed), root: root.clone(), asked: ASKED })
            }
        }
    }

    /// Whether `path` is known not to be there, which is a finding then.
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

    /// Files that are none of `expected`.
    pub fn others(self, expected: impl Iterator<Item = String>, findings: &mut Findings) {
        let mut others = self.listed.unwrap_or_default();
        expected.for_each(|name| {
            others.remove(&name);
        });
        let mut others: Vec<String> = others.into_iter().collect();
        others.sort_unstable();
        for name in others {
            findings.push(&rules::FILE_EXTRA, "nothing calls for this file", name);
        }
    }
}

/// Files of `directory` that are none of `expected`.
pub(super) fn extra_files(
    root: &Root,
    directory: &str,
    expected: impl Iterator<Item = String>,
    findings: &mut Findings,
) -> Result<()> {
    Files::below(root, directory)?.others(expected, findings);
    Ok(())
}

/// What keeps other readers from opening a file: they read the Arrow schema that its footer embeds, nothing here does.
pub(super) fn embedded(path: &str, reader: &TableReader, findings: &mut Findings) -> Result<()> {
    let checked = reader.check_embedded().map_err(|error| error.at(Place::file(path)));
    or_find(findings, checked).map(drop)
}

/// Columns of a file that nothing declares. Text files do not tell theirs.
pub(super) fn extra_columns(chunk: &Chunk, group: &PropertyGroup, reserved: &[&str], findings: &mut Findings) {
    if group.file_type.encoding().is_text() {
        return;
    }
    for field in chunk.reader.schema().fields() {
        let name = field.name();
        let declared = group.properties.iter().any(|property| property.name == *name);
        if !declared && !reserved.contains(&name.as_str()) {
            findings.push(&rules::COLUMN_EXTRA, format!("column {name}"), Place::file(&chunk.path).in_field(name));
        }
    }
}

/// Nulls in columns that are declared never null; one finding for each batch.
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

/// Nulls that are empty lines, in a CSV chunk of one column; one finding for each batch.
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

/// Whether the number of rows that a file states is the one that the counts call for.
pub(super) fn stated_rows(path: &str, stated: Option<u64>, expected: u64, findings: &mut Findings) -> bool {
    match stated {
        Some(stated) if stated != expected => {
            findings.push(&rules::COUNT_ROWS, format!("{stated} rows where the counts say {expected}"), path);
            false
        }
        _ => true,
    }
}

/// The most rows of a batch here; text files have no rows of their own to state.
pub(super) const BATCH_ROWS: usize = 65_536;

/// Everything, compared with the page indexes that look-ups go by.
pub(super) fn everything() -> Selection {
    Selection::all().batch_rows(BATCH_ROWS).check_indexes()
}

/// Whether rows of this encoding must be counted while they are read.
pub(super) fn must_count(encoding: Encoding) -> bool {
    encoding.is_text()
}
