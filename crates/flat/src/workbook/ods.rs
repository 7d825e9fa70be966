//! OpenDocument (ISO/IEC 26300, ODF 1.2, part 1): sheets are `table:table`, and rows and cells may be repeated.

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::Blob;
use quick_xml::events::{BytesStart, Event};

use super::archive::Archive;
use super::cells::{Cell, Sheet, number};
use super::xlsx::of_iso;
use super::xml::{Part, attribute, push_text};
use super::{allowance, broken, too_much};
use crate::find::MAPPING;

/// The limits of spreadsheets.
const ROWS: u32 = 1_048_576;
const COLUMNS: u32 = 16_384;

/// Reads all sheets.
///
/// # Errors
/// If it is no workbook.
pub(super) fn read(blob: &Blob) -> Result<Vec<Sheet>> {
    let archive = Archive::open(blob)?;
    let read = |keeps_empty: bool| {
        let content = archive.xml("content.xml")?;
        let content = content.ok_or_else(|| broken("the workbook has no file \"content.xml\""))?;
        Parser { part: Part::new(content), left: allowance(blob.size()), keeps_empty }.sheets()
    };
    let sheets = read(false)?;
    // A mapping tells empty texts from nothing; that there is one is known only now.
    if sheets.iter().any(|sheet| sheet.name == MAPPING) { read(true) } else { Ok(sheets) }
}

struct Parser {
    part: Part,
    /// Bytes that repetitions may still make.
    left: u64,
    /// Whether empty texts are values.
    keeps_empty: bool,
}

/// What attributes of a cell say.
#[derive(Default)]
struct Said {
    repeat: u32,
    kind: String,
    value: Option<String>,
    /// What LibreOffice says beside a value that stands for an error.
    is_error: bool,
}

impl Parser {
    fn next(&mut self) -> Result<Event<'static>> {
        self.part.next()
    }

    fn sheets(&mut self) -> Result<Vec<Sheet>> {
        let mut all = Vec::new();
        loop {
            match self.next()? {
                Event::Start(tag) if tag.name().as_ref() == b"table:table" => {
                    let name = attribute(&tag, b"table:name")?.unwrap_or_default();
                    all.push(self.sheet(name)?);
                }
                Event::Eof => return Ok(all),
                _ => {}
            }
        }
    }

    fn sheet(&mut self, name: String) -> Result<Sheet> {
        let mut sheet = Sheet::new(name, self.keeps_empty);
        let (mut row, mut depth) = (0u32, 0u32);
        loop {
            match self.next()? {
                Event::Start(tag) if tag.name().as_ref() == b"table:table-row" => {
                    let repeat = repeat(&tag, b"table:number-rows-repeated")?;
                    let cells = self.row()?;
                    if cells.is_empty() {
                        row = row.saturating_add(repeat);
                        continue;
                    }
                    for copy in 0..repeat {
                        if row >= ROWS {
                            return Err(Error::new(Kind::TooLarge, "a sheet has more than 1,048,576 rows"));
                        }
                        for (column, cell) in &cells {
                            if copy > 0 {
                                self.count(cell)?;
                            }
                            sheet.push(row, *column, cell.clone())?;
                        }
                        row += 1;
                    }
                }
                Event::Empty(tag) if tag.name().as_ref() == b"table:table-row" => {
                    row = row.saturating_add(repeat(&tag, b"table:number-rows-repeated")?);
                }
                // Tables in cells, and groups of rows, are inside.
                Event::Start(tag) if tag.name().as_ref() == b"table:table" => depth += 1,
                Event::End(tag) if tag.name().as_ref() == b"table:table" => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Ok(sheet),
                },
                Event::Eof => return Err(broken("the file is truncated")),
                _ => {}
            }
        }
    }

    /// The cells of a row that have a value.
    fn row(&mut self) -> Result<Vec<(u32, Cell)>> {
        let (mut all, mut column) = (Vec::new(), 0u32);
        loop {
            let (cell, repeat) = match self.next()? {
                Event::Start(tag) if is_cell(&tag) => {
                    let said = said(&tag)?;
                    let text = self.text(tag.name().as_ref())?;
                    let repeat = said.repeat;
                    (value(said, text)?, repeat)
                }
                Event::Empty(tag) if is_cell(&tag) => {
                    let said = said(&tag)?;
                    let repeat = said.repeat;
                    (value(said, String::new())?, repeat)
                }
                Event::End(tag) if tag.name().as_ref() == b"table:table-row" => return Ok(all),
                Event::Eof => return Err(broken("the file is truncated")),
                _ => continue,
            };
            let Some(cell) = cell else {
                column = column.saturating_add(repeat);
                continue;
            };
            for copy in 0..repeat {
                if column >= COLUMNS {
                    return Err(Error::new(Kind::TooLarge, "a sheet has more than 16,384 columns"));
                }
                if copy > 0 {
                    self.count(&cell)?;
                }
                all.push((column, cell.clone()));
                column += 1;
            }
        }
    }

    /// Counts what a copy of a cell takes.
    fn count(&mut self, cell: &Cell) -> Result<()> {
        let text = if let Cell::Text(text) = cell { text.len() } else { 0 };
        self.left = self.left.checked_sub((size_of::<Cell>() + text) as u64).ok_or_else(too_much)?;
        Ok(())
    }

    /// The text of a cell: its paragraphs, without notes.
    fn text(&mut self, end: &[u8]) -> Result<String> {
        let (mut text, mut paragraphs, mut inside) = (String::new(), 0, 0u32);
        loop {
            match self.next()? {
                Event::Start(tag) if tag.name().as_ref() == b"office:annotation" => self.part.skip(b"annotation")?,
                Event::Start(tag) if tag.name().as_ref() == b"text:p" => {
                    if paragraphs > 0 {
                        text.push('\n');
                    }
                    paragraphs += 1;
                    inside += 1;
                }
                Event::End(tag) if tag.name().as_ref() == b"text:p" => inside = inside.saturating_sub(1),
                Event::Empty(tag) if tag.name().as_ref() == b"text:p" => {
                    if paragraphs > 0 {
                        text.push('\n');
                    }
                    paragraphs += 1;
                }
                Event::Empty(tag) | Event::Start(tag) if inside > 0 => match tag.name().as_ref() {
                    b"text:s" => text.extend(std::iter::repeat_n(' ', spaces(&tag)?)),
                    b"text:tab" => text.push('\t'),
                    b"text:line-break" => text.push('\n'),
                    _ => {}
                },
                Event::End(tag) if tag.name().as_ref() == end => return Ok(text),
                Event::Eof => return Err(broken("the file is truncated")),
                event if inside > 0 => push_text(&event, &mut text)?,
                _ => {}
            }
        }
    }
}

fn is_cell(tag: &BytesStart<'_>) -> bool {
    matches!(tag.name().as_ref(), b"table:table-cell" | b"table:covered-table-cell")
}

/// How often a row or a cell stands.
fn repeat(tag: &BytesStart<'_>, name: &[u8]) -> Result<u32> {
    match attribute(tag, name)? {
        None => Ok(1),
        Some(text) => text.parse().map_err(|_| broken(format!("{text:?} is no number of repetitions"))),
    }
}

/// The blanks that `text:s` says.
fn spaces(tag: &BytesStart<'_>) -> Result<usize> {
    let count = attribute(tag, b"text:c")?.map_or(Ok(1), |text| text.parse::<usize>());
    match count {
        Ok(count) if count <= 1 << 20 => Ok(count),
        _ => Err(broken("a number of blanks is none, or too large")),
    }
}

fn said(tag: &BytesStart<'_>) -> Result<Said> {
    let kind = attribute(tag, b"office:value-type")?.unwrap_or_default();
    let value = match kind.as_str() {
        "date" => attribute(tag, b"office:date-value")?,
        "time" => attribute(tag, b"office:time-value")?,
        "boolean" => attribute(tag, b"office:boolean-value")?,
        "string" => attribute(tag, b"office:string-value")?,
        _ => attribute(tag, b"office:value")?,
    };
    let is_error = attribute(tag, b"calcext:value-type")?.is_some_and(|kind| kind == "error");
    Ok(Said { repeat: repeat(tag, b"table:number-columns-repeated")?, kind, value, is_error })
}

/// The value of a cell; none if it is empty.
fn value(said: Said, text: String) -> Result<Option<Cell>> {
    if said.is_error {
        return Ok(Some(Cell::Wrong(text)));
    }
    let odd = |value: &str| Err(broken(format!("{value:?} is no value of the type {}", said.kind)));
    Ok(Some(match (said.kind.as_str(), said.value.as_deref()) {
        ("", _) | ("void", _) => return Ok(None),
        ("string", value) => Cell::Text(value.map_or(text, str::to_owned)),
        // An error is a text of a formula without a value.
        (_, None) => Cell::Wrong(text),
        ("boolean", Some("true")) => Cell::Bool(true),
        ("boolean", Some("false")) => Cell::Bool(false),
        ("date", Some(value)) => of_iso(value),
        ("time", Some(value)) => Cell::Span(time(value).unwrap_or_else(|| value.to_owned())),
        ("float" | "currency" | "percentage", Some(value)) => match number(value) {
            Some(number) => number,
            None => return odd(value),
        },
        (_, Some(value)) => return odd(value),
    }))
}

/// A span as it is read of other workbooks: less than a day is a time of day. None, if it is not one of hours, minutes and seconds, or finer than
/// a millisecond.
fn time(value: &str) -> Option<String> {
    let mut rest = value.strip_prefix("PT")?;
    let mut milliseconds = 0u64;
    for (unit, factor) in [('H', 3_600_000), ('M', 60_000)] {
        if let Some((digits, others)) = rest.split_once(unit) {
            let count: u64 = digits.parse().ok()?;
            milliseconds = milliseconds.checked_add(count.checked_mul(factor)?)?;
            rest = others;
        }
    }
    if let Some(seconds) = rest.strip_suffix('S') {
        let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
        let fraction = fraction.trim_end_matches('0');
        let thousandths: u64 = format!("{fraction:0<3}").parse().ok().filter(|_| fraction.len() <= 3)?;
        let whole: u64 = whole.parse().ok()?;
        milliseconds = milliseconds.checked_add(whole.checked_mul(1000)?)?.checked_add(thousandths)?;
        rest = "";
    }
    if !rest.is_empty() {
        return None;
    }
    let (seconds, part) = (milliseconds / 1000, milliseconds % 1000);
    let fraction = if part == 0 { String::new() } else { format!(".{part:03}") };
    Some(match seconds {
        0..86_400 => format!("{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60),
        _ => format!("PT{seconds}{}S", fraction.trim_end_matches('0')),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_other_workbooks() {
        for (written, read) in [
            ("PT12H30M00S", Some("12:30:00")),
            ("PT00H00M01.500S", Some("00:00:01.500")),
            ("PT30H00M00S", Some("PT108000S")),
            ("PT24H00M00.250S", Some("PT86400.25S")),
            ("PT45S", Some("00:00:45")),
            ("PT12H30M00.1234S", None),
            ("-PT1H", None),
            ("P1D", None),
            ("PT12H30", None),
        ] {
            assert_eq!(time(written).as_deref(), read, "{written}");
        }
    }
}
