//! Office Open XML, by `calamine`: cells one after another, never the rectangle that a sheet claims to be.

use std::io::Cursor;

use bytes::Bytes;
use calamine::{DataRef, ExcelDateTime, Reader, Xlsx};
use isomorph_error::{Error, Place, Result};

use super::cells::{Cell, Sheet};
use crate::rules;

/// Reads all sheets.
///
/// # Errors
/// If it is no workbook.
pub(super) fn read(bytes: &Bytes, place: &Place) -> Result<Vec<Sheet>> {
    let broken = |error: calamine::XlsxError| Error::broken(&rules::WORKBOOK, error.to_string()).at(place.clone());
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes.clone())).map_err(broken)?;
    let mut sheets = Vec::new();
    for name in workbook.sheet_names() {
        let mut cells = match workbook.worksheet_cells_reader(&name) {
            Ok(cells) => cells,
            // Sheets of charts have no cells.
            Err(calamine::XlsxError::NotAWorksheet(_)) => continue,
            Err(error) => return Err(broken(error)),
        };
        let mut sheet = Sheet::new(name);
        while let Some(own) = cells.next_cell().map_err(broken)? {
            let (row, column) = own.get_position();
            if let Some(cell) = cell(own.get_value()) {
                sheet.push(row, column, cell).map_err(|error| error.at(place.clone()))?;
            }
        }
        sheets.push(sheet);
    }
    Ok(sheets)
}

fn cell(value: &DataRef<'_>) -> Option<Cell> {
    Some(match value {
        DataRef::Empty => return None,
        #[expect(
            clippy::cast_precision_loss,
            reason = "spreadsheets have floats only; the reader makes integers of some"
        )]
        DataRef::Int(number) => Cell::Number(*number as f64),
        DataRef::Float(number) => Cell::Number(*number),
        DataRef::String(text) => Cell::Text(text.clone()),
        DataRef::SharedString(text) => Cell::Text((*text).to_owned()),
        DataRef::Bool(value) => Cell::Bool(*value),
        DataRef::DateTime(time) => of_serial(time),
        DataRef::DateTimeIso(text) => of_iso(text),
        DataRef::DurationIso(text) => Cell::Span(text.clone()),
        DataRef::Error(error) => Cell::Wrong(error.to_string()),
    })
}

/// A date, or a moment, of ISO 8601.
pub(super) fn of_iso(text: &str) -> Cell {
    match text.split_once('T') {
        None => Cell::Date(text.to_owned()),
        Some((day, time)) => Cell::Moment(format!("{day} {time}")),
    }
}

/// A number of days that is shown as a date, a moment, a time of day or a span.
fn of_serial(time: &ExcelDateTime) -> Cell {
    let days = time.as_f64();
    if time.is_duration() || !(0.0..2_958_466.0).contains(&days) {
        return Cell::Span(span(days));
    }
    let (year, month, day, hour, minute, second, millisecond) = time.to_ymd_hms_milli();
    let fraction = if millisecond == 0 { String::new() } else { format!(".{millisecond:03}") };
    let clock = format!("{hour:02}:{minute:02}:{second:02}{fraction}");
    match (days < 1.0, days.trunc() == days) {
        (true, _) => Cell::Span(clock),
        (false, true) => Cell::Date(format!("{year:04}-{month:02}-{day:02}")),
        (false, false) => Cell::Moment(format!("{year:04}-{month:02}-{day:02} {clock}")),
    }
}

/// A span of ISO 8601, in seconds.
fn span(days: f64) -> String {
    let seconds = (days * 86_400_000.0).round() / 1000.0;
    if seconds < 0.0 { format!("-PT{}S", -seconds) } else { format!("PT{seconds}S") }
}
