//! Office Open XML (ISO/IEC 29500-1, 18): a workbook names its sheets, whose cells refer to shared texts and to styles, which tell dates from
//! numbers. Cells are read one after another, never the rectangle that a sheet claims to be.

use std::collections::HashMap;

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::Blob;
use quick_xml::events::{BytesStart, Event};

use super::archive::Archive;
use super::cells::{Cell, Sheet, number};
use super::xml::{Part, attribute, push_text};
use super::{allowance, broken, too_much};
use crate::find::MAPPING;

/// The most bytes of shared texts.
const SHARED_BYTES: usize = 512 << 20;

/// How numbers with a style are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Number,
    Date,
    Span,
}

/// What cells refer to.
struct Book {
    texts: Vec<String>,
    styles: Vec<Shown>,
    /// Whether days are counted from 1904.
    from_1904: bool,
    /// Whether a text without characters is a value, as where a mapping tells texts from nothing.
    keeps_empty: bool,
    /// Bytes that copies of shared texts may still take.
    left: std::cell::Cell<u64>,
}

/// Reads all sheets.
///
/// # Errors
/// If it is no workbook.
pub(super) fn read(blob: &Blob) -> Result<Vec<Sheet>> {
    let archive = Archive::open(blob)?;
    let main = relations(&archive, "")?.into_iter().find(|(_, (kind, _))| kind.ends_with("/officeDocument"));
    let main = main.map_or_else(|| "xl/workbook.xml".to_owned(), |(_, (_, target))| target);
    let related = relations(&archive, &main)?;
    let of = |kind: &str| related.values().find(|(own, _)| own.ends_with(kind)).map(|(_, target)| target.as_str());
    let mut names = Vec::new();
    let mut from_1904 = false;
    let mut part = required(&archive, &main)?;
    loop {
        match part.next()? {
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                b"sheet" => {
                    // The prefix of relations may be any.
                    let id = tag.attributes().flatten().find(|own| own.key.local_name().as_ref() == b"id");
                    let id = id.map(|own| String::from_utf8_lossy(&own.value).into_owned()).unwrap_or_default();
                    names.push((attribute(&tag, b"name")?.unwrap_or_default(), id));
                }
                b"workbookPr" => {
                    from_1904 = matches!(attribute(&tag, b"date1904")?.as_deref(), Some("1" | "true"));
                }
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    let texts = of("/sharedStrings").map_or(Ok(Vec::new()), |name| texts(&archive, name))?;
    let styles = of("/styles").map_or(Ok(Vec::new()), |name| styles(&archive, name))?;
    let keeps_empty = names.iter().any(|(name, _)| name == MAPPING);
    let left = std::cell::Cell::new(allowance(blob.size()));
    let book = Book { texts, styles, from_1904, keeps_empty, left };
    let mut all = Vec::new();
    for (name, id) in names {
        let Some((kind, target)) = related.get(&id) else {
            return Err(broken(format!("the sheet {name:?} is no file of the workbook")));
        };
        // Sheets of charts have no cells.
        if kind.ends_with("/worksheet") {
            all.push(book.sheet(name, required(&archive, target)?)?);
        }
    }
    Ok(all)
}

fn required(archive: &Archive, name: &str) -> Result<Part> {
    let reader = archive.xml(name)?.ok_or_else(|| broken(format!("the workbook has no file {name:?}")))?;
    Ok(Part::new(reader))
}

/// The relations of a part, by their ids: their types and targets. Those of the package are of the part without a name.
fn relations(archive: &Archive, part: &str) -> Result<HashMap<String, (String, String)>> {
    let (directory, name) = part.rsplit_once('/').map_or(("", part), |(directory, name)| (directory, name));
    let slash = if directory.is_empty() { "" } else { "/" };
    let mut all = HashMap::new();
    let Some(reader) = archive.xml(&format!("{directory}{slash}_rels/{name}.rels"))? else { return Ok(all) };
    let mut part = Part::new(reader);
    loop {
        match part.next()? {
            Event::Start(tag) | Event::Empty(tag) if tag.local_name().as_ref() == b"Relationship" => {
                let own = |name: &[u8]| attribute(&tag, name).map(Option::unwrap_or_default);
                let target = own(b"Target")?;
                let target = match target.strip_prefix('/') {
                    Some(whole) => whole.to_owned(),
                    None => format!("{directory}{slash}{target}"),
                };
                all.insert(own(b"Id")?, (own(b"Type")?, target));
            }
            Event::Eof => return Ok(all),
            _ => {}
        }
    }
}

/// The shared texts.
fn texts(archive: &Archive, name: &str) -> Result<Vec<String>> {
    let Some(reader) = archive.xml(name)? else { return Ok(Vec::new()) };
    let (mut part, mut all, mut bytes) = (Part::new(reader), Vec::new(), 0);
    loop {
        match part.next()? {
            Event::Start(tag) if tag.local_name().as_ref() == b"si" => {
                let text = rich_text(&mut part, b"si")?;
                bytes += text.len() + size_of::<String>();
                if bytes > SHARED_BYTES {
                    return Err(Error::new(Kind::TooLarge, "the shared texts of the workbook have more than 512 MiB"));
                }
                all.push(text);
            }
            Event::Empty(tag) if tag.local_name().as_ref() == b"si" => all.push(String::new()),
            Event::Eof => return Ok(all),
            _ => {}
        }
    }
}

/// The text of an element: of its runs, without how it is pronounced.
fn rich_text(part: &mut Part, end: &[u8]) -> Result<String> {
    let (mut text, mut inside) = (String::new(), false);
    loop {
        match part.next()? {
            Event::Start(tag) if tag.local_name().as_ref() == b"rPh" => part.skip(b"rPh")?,
            Event::Start(tag) if tag.local_name().as_ref() == b"t" => inside = true,
            Event::End(tag) if tag.local_name().as_ref() == b"t" => inside = false,
            Event::End(tag) if tag.local_name().as_ref() == end => return Ok(without_escapes(text)),
            Event::Eof => return Err(broken("the file is truncated")),
            event if inside => push_text(&event, &mut text)?,
            _ => {}
        }
    }
}

/// Characters that XML does not have are `_x000D_` (22.9.2.19).
fn without_escapes(text: String) -> String {
    if !text.contains("_x") {
        return text;
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(at) = rest.find("_x") {
        let code = rest.get(at + 2..at + 7).and_then(|own| own.strip_suffix('_'));
        let code = code.filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let character = code.and_then(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?));
        let length = if character.is_some() { 7 } else { 2 };
        out.push_str(&rest[..at]);
        match character {
            Some(character) => out.push(character),
            None => out.push_str("_x"),
        }
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

/// How each style of cells shows numbers.
fn styles(archive: &Archive, name: &str) -> Result<Vec<Shown>> {
    let Some(reader) = archive.xml(name)? else { return Ok(Vec::new()) };
    let (mut part, mut codes, mut all, mut of_cells) = (Part::new(reader), HashMap::new(), Vec::new(), false);
    loop {
        match part.next()? {
            Event::End(tag) if tag.local_name().as_ref() == b"cellXfs" => of_cells = false,
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                b"cellXfs" => of_cells = true,
                b"numFmt" => {
                    let id = attribute(&tag, b"numFmtId")?.unwrap_or_default();
                    codes.insert(id, of_code(&attribute(&tag, b"formatCode")?.unwrap_or_default()));
                }
                b"xf" if of_cells => {
                    let id = attribute(&tag, b"numFmtId")?.unwrap_or_default();
                    let known = match id.parse::<u16>() {
                        Ok(14..=22 | 27..=36 | 45 | 47 | 50..=58) => Shown::Date,
                        Ok(46) => Shown::Span,
                        _ => Shown::Number,
                    };
                    all.push(codes.get(&id).copied().unwrap_or(known));
                }
                _ => {}
            },
            Event::Eof => return Ok(all),
            _ => {}
        }
    }
}

/// What a format of numbers shows (18.8.31): outside quotes and brackets, days and times have letters of their own.
fn of_code(code: &str) -> Shown {
    let mut characters = code.chars();
    let mut is_date = false;
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                let _ = characters.find(|own| *own == '"');
            }
            '\\' | '_' | '*' => {
                characters.next();
            }
            // The sections that follow are for negative numbers, zero and texts.
            ';' => break,
            '[' => {
                let inside: String = characters.by_ref().take_while(|own| *own != ']').collect();
                if !inside.is_empty() && inside.bytes().all(|byte| b"hHmMsS".contains(&byte)) {
                    return Shown::Span;
                }
            }
            'G' | 'g' if characters.as_str().to_ascii_lowercase().starts_with("eneral") => {
                characters.by_ref().take(6).for_each(drop);
            }
            'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' => is_date = true,
            _ => {}
        }
    }
    if is_date { Shown::Date } else { Shown::Number }
}

impl Book {
    fn sheet(&self, name: String, mut part: Part) -> Result<Sheet> {
        let mut sheet = Sheet::new(name, self.keeps_empty);
        let (mut row, mut column, mut has_rows) = (0u32, 0u32, false);
        loop {
            match part.next()? {
                Event::Empty(tag) | Event::Start(tag) if tag.local_name().as_ref() == b"row" => {
                    row = match attribute(&tag, b"r")? {
                        Some(text) => text.parse::<u32>().ok().and_then(|row| row.checked_sub(1)),
                        None => Some(if has_rows { row + 1 } else { 0 }),
                    }
                    .filter(|row| *row < 1 << 20)
                    .ok_or_else(|| broken("a row has no number"))?;
                    (column, has_rows) = (0, true);
                }
                Event::Start(tag) if tag.local_name().as_ref() == b"c" => {
                    if let Some(reference) = attribute(&tag, b"r")? {
                        column = column_of(&reference)
                            .ok_or_else(|| broken(format!("{reference:?} is no cell of a sheet")))?;
                    }
                    if let Some(cell) = self.cell(&tag, &mut part)? {
                        sheet.push(row, column, cell)?;
                    }
                    column += 1;
                }
                Event::Empty(tag) if tag.local_name().as_ref() == b"c" => {
                    column = match attribute(&tag, b"r")? {
                        Some(reference) => column_of(&reference).unwrap_or(column) + 1,
                        None => column + 1,
                    };
                }
                Event::Eof => return Ok(sheet),
                _ => {}
            }
        }
    }

    fn cell(&self, tag: &BytesStart<'_>, part: &mut Part) -> Result<Option<Cell>> {
        let kind = attribute(tag, b"t")?.unwrap_or_default();
        let style = attribute(tag, b"s")?.and_then(|text| text.parse::<usize>().ok());
        let (mut value, mut inline, mut inside, mut is_formula) = (None, None, false, false);
        loop {
            match part.next()? {
                Event::Start(tag) => match tag.local_name().as_ref() {
                    b"v" => (value, inside) = (Some(String::new()), true),
                    b"is" => inline = Some(rich_text(part, b"is")?),
                    b"f" => is_formula = true,
                    _ => {}
                },
                Event::Empty(tag) => is_formula |= tag.local_name().as_ref() == b"f",
                Event::End(tag) => match tag.local_name().as_ref() {
                    b"v" => inside = false,
                    b"c" => break,
                    _ => {}
                },
                Event::Eof => return Err(broken("the file is truncated")),
                event => {
                    if let Some(text) = value.as_mut().filter(|_| inside) {
                        push_text(&event, text)?;
                    }
                }
            }
        }
        let Some(value) = value else { return Ok(inline.map(Cell::Text).or(is_formula.then_some(Cell::Unknown))) };
        let odd = || broken(format!("{value:?} is no value of a cell of the type {kind:?}"));
        Ok(Some(match kind.as_str() {
            "s" => {
                let text = value.trim().parse::<usize>().ok().and_then(|at| self.texts.get(at)).ok_or_else(odd)?;
                self.left.set(self.left.get().checked_sub(text.len() as u64).ok_or_else(too_much)?);
                Cell::Text(text.clone())
            }
            "str" | "inlineStr" => Cell::Text(without_escapes(value)),
            "b" => match value.trim() {
                "1" | "true" => Cell::Bool(true),
                "0" | "false" => Cell::Bool(false),
                _ => return Err(odd()),
            },
            "e" => Cell::Wrong(value),
            "d" => of_iso(&value),
            "" | "n" => {
                if value.is_empty() {
                    return Ok(is_formula.then_some(Cell::Unknown));
                }
                let own = number(value.trim()).ok_or_else(odd)?;
                match (style.and_then(|style| self.styles.get(style)), own) {
                    (Some(Shown::Date), Cell::Number(days)) => self.of_days(days),
                    (Some(Shown::Span), Cell::Number(days)) => Cell::Span(span(days)),
                    (_, own) => own,
                }
            }
            _ => return Err(odd()),
        }))
    }

    /// A number of days that is shown as a date, a moment or a time of day.
    fn of_days(&self, days: f64) -> Cell {
        // To the year 9999; nothing is before the first day.
        if !(0.0..2_958_466.0).contains(&days) {
            return Cell::Span(span(days));
        }
        #[expect(clippy::cast_possible_truncation, reason = "within the years of spreadsheets")]
        let all = (days * 86_400_000.0).round() as i64;
        let (day, time) = (all / 86_400_000, all % 86_400_000);
        let (hour, minute, second) = (time / 3_600_000, time / 60_000 % 60, time / 1000 % 60);
        let fraction = if time % 1000 == 0 { String::new() } else { format!(".{:03}", time % 1000) };
        let clock = format!("{hour:02}:{minute:02}:{second:02}{fraction}");
        // A time without a day: also from 1904 on, where only the first midnight is a day.
        if day == 0 && (!self.from_1904 || time != 0) {
            return Cell::Span(clock);
        }
        // The year 1900 is a leap year there: its day 60 is none, and days before it are one later.
        let since = match self.from_1904 {
            true => day - 24_107,
            false if day < 60 => day - 25_568,
            false => day - 25_569,
        };
        let date = date(since);
        if time == 0 { Cell::Date(date) } else { Cell::Moment(format!("{date} {clock}")) }
    }
}

/// The date that is a number of days after 1970-01-01.
fn date(days: i64) -> String {
    let column: arrow_array::ArrayRef =
        std::sync::Arc::new(arrow_array::Date32Array::from(vec![i32::try_from(days).unwrap_or_default()]));
    arrow_cast::display::array_value_to_string(&column, 0).unwrap_or_default()
}

/// The column of a cell that is called `B7`.
fn column_of(reference: &str) -> Option<u32> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters.fold(0u32, |sum, letter| {
        sum.saturating_mul(26).saturating_add(u32::from(letter.to_ascii_uppercase() - b'A') + 1)
    });
    number.checked_sub(1).filter(|column| *column < 16_384)
}

/// A date, or a moment, of ISO 8601.
pub(super) fn of_iso(text: &str) -> Cell {
    match text.split_once('T') {
        None => Cell::Date(text.to_owned()),
        Some((day, time)) => Cell::Moment(format!("{day} {time}")),
    }
}

/// A span of ISO 8601, in seconds.
fn span(days: f64) -> String {
    let seconds = (days * 86_400_000.0).round() / 1000.0;
    if seconds < 0.0 { format!("-PT{}S", -seconds) } else { format!("PT{seconds}S") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_dates_are_told_from_those_of_numbers() {
        for code in ["yyyy-mm-dd", "d/m/yy h:mm", "[$-409]mmm d", "hh:mm:ss", "\"on\" dd", "[Red]yyyy", "d/m/yy;@"] {
            assert_eq!(of_code(code), Shown::Date, "{code}");
        }
        for code in
            ["0.00", "General", "#,##0 \"days\"", "[Red]0", "\\d0", "0_d", "@", "", "0;d/m/yy", "General;[Red]d"]
        {
            assert_eq!(of_code(code), Shown::Number, "{code}");
        }
        assert_eq!((of_code("[h]:mm:ss"), of_code("[mm]:ss")), (Shown::Span, Shown::Span));
    }

    #[test]
    fn days_are_those_of_spreadsheets() {
        let book = |from_1904| Book {
            texts: Vec::new(),
            styles: Vec::new(),
            from_1904,
            keeps_empty: false,
            left: Default::default(),
        };
        let day = |text: &str| Cell::Date(text.to_owned());
        // 60 is 1900-02-29, a day that was not: it is read as the day before.
        for (days, date) in [
            (1.0, "1900-01-01"),
            (59.0, "1900-02-28"),
            (61.0, "1900-03-01"),
            (25_569.0, "1970-01-01"),
            (2_958_465.0, "9999-12-31"),
        ] {
            assert_eq!(book(false).of_days(days), day(date), "{days}");
        }
        assert_eq!(book(true).of_days(0.0), day("1904-01-01"));
        assert_eq!(book(true).of_days(24_107.0), day("1970-01-01"));
        assert_eq!(book(true).of_days(0.5), Cell::Span("12:00:00".to_owned()));
        assert_eq!(book(false).of_days(43_832.127_835_648_15), Cell::Moment("2020-01-02 03:04:05".to_owned()));
        assert_eq!(book(false).of_days(0.5), Cell::Span("12:00:00".to_owned()));
        assert_eq!(book(false).of_days(-1.0), Cell::Span("-PT86400S".to_owned()));
    }

    #[test]
    fn columns_have_letters_and_characters_have_escapes() {
        for (name, column) in [("A1", Some(0)), ("xfd7", Some(16_383)), ("AA3", Some(26)), ("XFE1", None), ("7", None)]
        {
            assert_eq!(column_of(name), column, "{name}");
        }
        for (text, expected) in [
            ("a_x000D_b", "a\rb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_x", "_x"),
            ("a_xyz_", "a_xyz_"),
            ("é_x00e9_", "éé"),
        ] {
            assert_eq!(without_escapes(text.to_owned()), expected);
        }
    }
}
