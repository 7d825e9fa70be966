//! Workbooks of spreadsheets: each sheet is a table, whose first row has the names of its columns. It is read as the text that the sheet would be
//! as CSV, with the types that its cells have. A workbook that was written here has its mapping in a sheet of its own.

mod archive;
mod book;
mod cells;
mod ods;
mod xlsx;
mod xml;

use bytes::Bytes;
use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_storage::{Blob, limits};
use isomorph_tables::Encoding;

use crate::conventions::{BrokenFile, TableFile};
use crate::find::MAPPING;
use crate::rules;
pub(crate) use book::{Book, SheetNames};
use cells::{CELLS, Sheet};

/// The largest workbook, and the most that a file in it has when it is unpacked. Spreadsheets have at most 1,048,576 rows.
const FILE_BYTES: u64 = 512 << 20;
const CONTENT_BYTES: u64 = 2 << 30;

/// What a workbook of `size` bytes may become while it is read, in bytes, whatever it claims: a small file must not take much memory.
fn allowance(size: u64) -> u64 {
    SLACK_BYTES.saturating_add(size.saturating_mul(limits::ZIP_RATIO))
}

/// What any workbook may become.
const SLACK_BYTES: u64 = 16 << 20;

/// What a workbook is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// Office Open XML: `.xlsx`, `.xlsm`.
    Excel,
    /// OpenDocument: `.ods`.
    OpenDocument,
}

fn syntax(name: &str) -> Option<Syntax> {
    let (_, ending) = name.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "xlsx" | "xlsm" => Some(Syntax::Excel),
        "ods" => Some(Syntax::OpenDocument),
        _ => None,
    }
}

/// Whether a name is that of a workbook.
pub fn is_workbook(name: &str) -> bool {
    syntax(name).is_some()
}

/// Whether a file begins as workbooks do: as an archive.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn begins(blob: &Blob) -> Result<bool> {
    Ok(&*blob.read(0..blob.size().min(4))? == b"PK\x03\x04")
}

/// What a workbook has.
pub(crate) struct Sheets {
    /// The text of the sheet with the mapping.
    pub mapping: Option<String>,
    /// The other sheets with cells as tables, each with the text that it is as CSV.
    pub tables: Vec<(TableFile, Blob)>,
    /// Sheets that are no tables.
    pub broken: Vec<BrokenFile>,
    /// What was read as something else.
    pub findings: Findings,
}

/// The sheets of a workbook. `name` is that of the file; one with another ending is of Excel.
///
/// # Errors
/// If it cannot be read, or is too large.
pub(crate) fn sheets(name: &str, blob: &Blob) -> Result<Sheets> {
    let place = Place::file(name);
    let bytes = blob.read_all(FILE_BYTES).map_err(|error| error.at(place.clone()))?;
    let blob = Blob::from_bytes(name, &bytes);
    let read = match syntax(name).unwrap_or(Syntax::Excel) {
        Syntax::Excel => xlsx::read(&blob),
        Syntax::OpenDocument => ods::read(&blob),
    };
    let read = read.map_err(|error| error.at(place.clone()))?;
    let (mapping, others): (Vec<_>, Vec<_>) = read.into_iter().partition(|sheet| sheet.name == MAPPING);
    let (mut tables, mut broken, mut left) = (Vec::new(), Vec::new(), allowance(blob.size()));
    for sheet in others.iter().filter(|sheet| !sheet.is_empty()) {
        let (file, text) = match table(name, sheet) {
            // Whether that matters depends on the others.
            Err(error) if error.kind() == Kind::Malformed => {
                let (name, stem) = (format!("{name}#{}", sheet.name), sheet.name.clone());
                broken.push(BrokenFile { name, stem, error, is_empty: false });
                continue;
            }
            found => found?,
        };
        // Empty rows are lines.
        left = left.checked_sub(text.size()).ok_or_else(|| too_much().at(place.clone()))?;
        tables.push((file, text));
    }
    let mut findings = Findings::keeping(8);
    for sheet in &others {
        sheet.note_empty(name, &mut findings);
        sheet.note_index(name, &mut findings);
    }
    Ok(Sheets { mapping: mapping.first().map(Sheet::lines), tables, broken, findings })
}

/// The error for a file that becomes too large.
fn too_much() -> Error {
    Error::new(Kind::TooLarge, "the workbook expands to more than 200 times its size")
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::broken(&rules::WORKBOOK, error.to_string())
}

fn table(workbook: &str, sheet: &Sheet) -> Result<(TableFile, Blob)> {
    let name = format!("{workbook}#{}", sheet.name);
    let (text, columns) = sheet.as_csv().map_err(|error| error.at(Place::file(name.as_str())))?;
    let blob = Blob::from_bytes(&name, &Bytes::from(text));
    let (columns, cells) = columns.into_iter().map(|(column, ty)| (column.clone(), (column, ty))).unzip();
    let stem = sheet.name.clone();
    let (encoding, delimiter) = (Encoding::Csv, Some(b','));
    Ok((TableFile { cells, ..TableFile::new(name, stem, encoding, delimiter, columns) }, blob))
}
