//! Workbooks of spreadsheets: each sheet is a table, whose first row has the names of its columns. It is read as the text that the sheet would be
//! as CSV, with the types that its cells have.

mod cells;
mod ods;
mod xlsx;

use std::io::{Cursor, Read};

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::Blob;
use isomorph_tables::{Encoding, fenced};
use zip::ZipArchive;

use crate::conventions::TableFile;
use crate::rules;
use cells::Sheet;

/// The largest workbook, its largest content and the most files in it. Spreadsheets have at most 1,048,576 rows.
const FILE_BYTES: u64 = 512 << 20;
const CONTENT_BYTES: u64 = 2 << 30;
const FILES: usize = 10_000;

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
    // The decoders are those of others.
    let read = fenced(&rules::WORKBOOK, || {
        check(&bytes).map_err(|error| error.at(place.clone()))?;
        match syntax {
            Syntax::Excel => xlsx::read(&bytes, &place),
            Syntax::OpenDocument => ods::read(&bytes, &place),
        }
    });
    read?.into_iter().filter(|sheet| !sheet.is_empty()).map(|sheet| table(name, &sheet)).collect()
}

/// Fails where the content is larger than it may be: declared sizes are those of the file, so all of it is unpacked.
fn check(bytes: &Bytes) -> Result<()> {
    let mut archive = archive(bytes)?;
    if archive.len() > FILES {
        return Err(Error::new(Kind::TooLarge, "the workbook has more than 10,000 files"));
    }
    let mut left = CONTENT_BYTES;
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(broken)?;
        let read = std::io::copy(&mut file.take(left + 1), &mut std::io::sink()).map_err(broken)?;
        left = left
            .checked_sub(read)
            .ok_or_else(|| Error::new(Kind::TooLarge, "the content of the workbook has more than 2 GiB"))?;
    }
    Ok(())
}

fn archive(bytes: &Bytes) -> Result<ZipArchive<Cursor<Bytes>>> {
    ZipArchive::new(Cursor::new(bytes.clone())).map_err(broken)
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
