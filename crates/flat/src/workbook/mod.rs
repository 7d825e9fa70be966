//! Workbooks of spreadsheets: each sheet is a table, whose first row has the names of its columns. It is read as the text that the sheet would be
//! as CSV, with the types that its cells have.

mod archive;
mod cells;
mod ods;
mod xlsx;
mod xml;

use bytes::Bytes;
use isomorph_error::{Error, Place, Result};
use isomorph_storage::Blob;
use isomorph_tables::Encoding;

use crate::conventions::TableFile;
use crate::rules;
use cells::Sheet;

/// The largest workbook, and the most that a file in it has when it is unpacked. Spreadsheets have at most 1,048,576 rows.
const FILE_BYTES: u64 = 512 << 20;
const CONTENT_BYTES: u64 = 2 << 30;

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

/// The sheets of a workbook as tables, each with the text that it is as CSV. `name` is that of the file.
///
/// # Errors
/// If it cannot be read, is too large, or a sheet is no table.
pub(crate) fn sheets(name: &str, blob: &Blob) -> Result<Vec<(TableFile, Blob)>> {
    let place = Place::file(name);
    let syntax = syntax(name).ok_or_else(|| Error::usage("this is no workbook").at(place.clone()))?;
    let bytes = blob.read_all(FILE_BYTES).map_err(|error| error.at(place.clone()))?;
    let read = match syntax {
        Syntax::Excel => xlsx::read(&bytes, &place),
        Syntax::OpenDocument => ods::read(&bytes, &place),
    };
    read?.into_iter().filter(|sheet| !sheet.is_empty()).map(|sheet| table(name, &sheet)).collect()
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
    Ok((TableFile { name, stem, encoding, delimiter, columns, cells }, blob))
}
