//! Writes the sheets of workbooks (Office Open XML, ISO/IEC 29500-1, 18.3): rows of cells in the order of rows, with texts inside.
//!
//! A cell is written as what a spreadsheet keeps exactly, else as text: integers from 2^53 on, floats that are no normal numbers, days before
//! March 1900 (before, spreadsheets disagree about days) and moments finer than milliseconds.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, TimeUnit};
use isomorph_error::{Error, Kind, Place, Result};

use crate::text::cells::{Cells, Value};
use crate::text::civil::{write_date, write_timestamp};
use crate::text::number::{FloatStyle, write_f32, write_f64, write_int};

/// The most rows of a sheet.
pub const SHEET_ROWS: u32 = 1_048_576;
/// The most columns of a sheet.
pub const SHEET_COLUMNS: usize = 16_384;
/// The most characters of a cell, counted in UTF-16, as spreadsheets do.
pub const SHEET_TEXT: usize = 32_767;

/// The styles of a workbook whose sheets [`SheetWriter`] has written: how numbers, dates and moments are shown.
pub const SHEET_STYLES: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
    r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">"#,
    r#"<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/>"#,
    r#"<numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss.000"/></numFmts>"#,
    r#"<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>"#,
    r#"<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>"#,
    r#"<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>"#,
    r#"<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>"#,
    r#"<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>"#,
    r#"<xf numFmtId="1" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>"#,
    r#"<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>"#,
    r#"<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>"#,
    r#"<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"#,
);

/// What is in front of a number, by its style in [`SHEET_STYLES`]: integers show all digits.
const PLAIN: &[u8] = b"\"><v>";
const INTEGER: &[u8] = b"\" s=\"1\"><v>";
const DATE: &[u8] = b"\" s=\"2\"><v>";
const MOMENT: &[u8] = b"\" s=\"3\"><v>";

/// The first integer that is not written as a number.
const INEXACT: u64 = 1 << 53;
/// The day that is 0 in a spreadsheet, as days before 1970; 1900-03-01, where they begin to agree; and the last day of the year 9999.
const EPOCH: i64 = 25_569;
const FIRST_DAY: i64 = 61;
const LAST_DAY: i64 = 2_958_465;
const MILLISECONDS: i64 = 86_400_000;

/// The number of bytes that are written at a time.
const CHUNK: usize = 256 << 10;

/// Fails for a text that a cell cannot have.
///
/// # Errors
/// [`Kind::WouldLose`] if it is too long.
pub fn check_sheet_text(text: &str) -> Result<()> {
    // UTF-16 is never longer than UTF-8.
    if text.len() <= SHEET_TEXT || text.encode_utf16().count() <= SHEET_TEXT {
        return Ok(());
    }
    Err(Error::new(Kind::WouldLose, "a cell of a workbook cannot have more than 32,767 characters")
        .hint("--to parquet, --to csv    tables without this limit"))
}

/// Writes one sheet.
pub struct SheetWriter<W> {
    out: W,
    /// The name of each column as a spreadsheet has it: `AB`.
    letters: Vec<Vec<u8>>,
    /// The number of rows so far.
    rows: u32,
    buffer: Vec<u8>,
}

impl<W: Write> SheetWriter<W> {
    /// Begins a sheet whose first row has the names of the columns.
    ///
    /// # Errors
    /// [`Kind::WouldLose`] for too many columns and for names that are too long.
    pub fn create(out: W, schema: &Schema) -> Result<Self> {
        let panes = r#"<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>"#;
        let mut writer = SheetWriter::begin(out, schema.fields().len(), panes)?;
        writer.begin_row();
        for (column, field) in schema.fields().iter().enumerate() {
            check_sheet_text(field.name()).map_err(|error| error.at(Place::field(field.name())))?;
            writer.begin_cell(column);
            writer.push_text(field.name());
        }
        writer.end_row();
        Ok(writer)
    }

    /// A sheet of one column with these lines, each in a row; empty lines are empty rows.
    ///
    /// # Errors
    /// [`Kind::WouldLose`] for too many lines, or one that is too long.
    pub fn write_lines<'a>(out: W, lines: impl Iterator<Item = &'a str>) -> Result<W> {
        let mut writer = SheetWriter::begin(out, 1, "")?;
        for line in lines {
            if writer.rows >= SHEET_ROWS {
                return Err(Error::new(Kind::WouldLose, "a sheet cannot have more than 1,048,576 rows"));
            }
            check_sheet_text(line)?;
            writer.begin_row();
            if !line.is_empty() {
                writer.begin_cell(0);
                writer.push_text(line);
            }
            writer.end_row();
        }
        writer.finish()
    }

    fn begin(out: W, columns: usize, views: &str) -> Result<Self> {
        if columns > SHEET_COLUMNS {
            return Err(Error::new(Kind::WouldLose, "a sheet cannot have more than 16,384 columns"));
        }
        let letters = (0..columns).map(letters).collect();
        let mut writer = SheetWriter { out, letters, rows: 0, buffer: Vec::new() };
        writer.buffer.extend_from_slice(
            br#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">"#,
        );
        writer.buffer.extend_from_slice(views.as_bytes());
        writer.buffer.extend_from_slice(b"<sheetData>");
        Ok(writer)
    }

    /// Returns the number of rows so far, that of the names included.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Writes rows.
    ///
    /// # Errors
    /// [`Kind::WouldLose`] for more rows than a sheet has, and for texts that are too long; [`Kind::Unsupported`] for types without a text.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let of = |column| Cells::new(column).ok_or_else(|| Error::unsupported("a cell of a sheet is a single value"));
        let columns: Vec<Cells<'_>> = batch.columns().iter().map(of).collect::<Result<_>>()?;
        for row in 0..batch.num_rows() {
            if self.rows >= SHEET_ROWS {
                return Err(Error::new(Kind::WouldLose, "a sheet cannot have more than 1,048,576 rows"));
            }
            self.begin_row();
            for (column, cells) in columns.iter().enumerate() {
                self.cell(column, cells.get(row))
                    .map_err(|error| error.at(Place::field(batch.schema_ref().field(column).name()).row(row as u64)))?;
            }
            self.end_row();
            if self.buffer.len() >= CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn cell(&mut self, column: usize, value: Value<'_>) -> Result<()> {
        if value == Value::Null {
            return Ok(());
        }
        self.begin_cell(column);
        let out = &mut self.buffer;
        match value {
            Value::Null => {}
            Value::Bool(value) => {
                out.extend_from_slice(if value { b"\" t=\"b\"><v>1</v></c>" } else { b"\" t=\"b\"><v>0</v></c>" });
            }
            Value::Int(value) => integer(value.is_negative(), value.unsigned_abs(), out),
            Value::UInt(value) => integer(false, value, out),
            Value::Float32(value) => {
                float(is_kept(value.into()), |out| write_f32(value, FloatStyle::Python, out), out);
            }
            Value::Float64(value) => float(is_kept(value), |out| write_f64(value, FloatStyle::Python, out), out),
            Value::Text(text) => {
                check_sheet_text(text)?;
                self.push_text(text);
            }
            Value::Bytes(_) => return Err(Error::unsupported("a cell of a sheet cannot have bytes")),
            Value::Date(days) => {
                let day = i64::from(days) + EPOCH;
                if (FIRST_DAY..=LAST_DAY).contains(&day) {
                    out.extend_from_slice(DATE);
                    write_int(false, day.unsigned_abs(), out);
                    out.extend_from_slice(b"</v></c>");
                } else {
                    years(text(|out| write_date(days, out), out))?;
                }
            }
            Value::Timestamp { value, unit, has_zone } => match days(value, unit) {
                Some(days) => {
                    out.extend_from_slice(MOMENT);
                    write_f64(days, FloatStyle::Arrow, out);
                    out.extend_from_slice(b"</v></c>");
                }
                None => {
                    let written = |out: &mut Vec<u8>| {
                        let is_written = write_timestamp(value, &unit, b' ', out);
                        if has_zone {
                            out.push(b'Z');
                        }
                        is_written
                    };
                    years(text(written, out))?;
                }
            },
        }
        Ok(())
    }

    fn begin_row(&mut self) {
        self.rows += 1;
        self.buffer.extend_from_slice(b"<row r=\"");
        write_int(false, self.rows.into(), &mut self.buffer);
        self.buffer.extend_from_slice(b"\">");
    }

    fn end_row(&mut self) {
        self.buffer.extend_from_slice(b"</row>");
    }

    fn begin_cell(&mut self, column: usize) {
        self.buffer.extend_from_slice(b"<c r=\"");
        self.buffer.extend_from_slice(&self.letters[column]);
        write_int(false, self.rows.into(), &mut self.buffer);
    }

    fn push_text(&mut self, text: &str) {
        let out = &mut self.buffer;
        let is_blank = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
        let has_blanks = is_blank(text.as_bytes().first()) || is_blank(text.as_bytes().last());
        out.extend_from_slice(b"\" t=\"inlineStr\"><is><t");
        out.extend_from_slice(if has_blanks { b" xml:space=\"preserve\">" } else { b">" });
        escape(text.as_bytes(), out);
        out.extend_from_slice(b"</t></is></c>");
    }

    fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Completes the sheet.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<W> {
        self.buffer.extend_from_slice(b"</sheetData></worksheet>");
        self.flush()?;
        Ok(self.out)
    }
}

/// How a spreadsheet calls a column, counted from 0: `A`, `Z`, `AA`.
fn letters(column: usize) -> Vec<u8> {
    let (mut letters, mut rest) = (Vec::new(), column + 1);
    while rest > 0 {
        rest -= 1;
        letters.push(b'A' + u8::try_from(rest % 26).unwrap_or_default());
        rest /= 26;
    }
    letters.reverse();
    letters
}

/// Appends the rest of a cell with a text that needs no escapes.
fn text<T>(write: impl FnOnce(&mut Vec<u8>) -> T, out: &mut Vec<u8>) -> T {
    out.extend_from_slice(b"\" t=\"inlineStr\"><is><t>");
    let written = write(out);
    out.extend_from_slice(b"</t></is></c>");
    written
}

fn integer(negative: bool, magnitude: u64, out: &mut Vec<u8>) {
    if magnitude >= INEXACT {
        text(|out| write_int(negative, magnitude, out), out);
    } else {
        out.extend_from_slice(INTEGER);
        write_int(negative, magnitude, out);
        out.extend_from_slice(b"</v></c>");
    }
}

/// Whether spreadsheets keep a float: there are no infinities, and the smallest numbers become 0.
fn is_kept(value: f64) -> bool {
    value.is_normal() || value == 0.0
}

fn float(is_kept: bool, write: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    if is_kept {
        out.extend_from_slice(PLAIN);
        write(out);
        out.extend_from_slice(b"</v></c>");
    } else {
        text(write, out);
    }
}

/// A moment as the days of a spreadsheet, if it is shown there to the millisecond.
fn days(value: i64, unit: TimeUnit) -> Option<f64> {
    let whole = |per: i64| (value % per == 0).then_some(value / per);
    let moment = match unit {
        TimeUnit::Second => value.checked_mul(1000)?,
        TimeUnit::Millisecond => value,
        TimeUnit::Microsecond => whole(1000)?,
        TimeUnit::Nanosecond => whole(1_000_000)?,
    };
    let day = moment.div_euclid(MILLISECONDS) + EPOCH;
    if !(FIRST_DAY..=LAST_DAY).contains(&day) {
        return None;
    }
    let (day, time) = (i32::try_from(day).ok()?, i32::try_from(moment.rem_euclid(MILLISECONDS)).ok()?);
    let per_day = 86_400_000.0;
    let days = f64::from(day) + f64::from(time) / per_day;
    ((days * per_day).round() == f64::from(day) * per_day + f64::from(time)).then_some(days)
}

fn years(is_written: bool) -> Result<()> {
    match is_written {
        true => Ok(()),
        false => Err(Error::unsupported("years before 0 and after 9999 cannot be written as text")),
    }
}

/// Appends a text without what XML does not have, or changes: that is `_x000D_` (22.9.2.19), and so a text that looks like it is too.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut from = 0;
    for (at, byte) in text.iter().enumerate() {
        let rest = &text[at..];
        let (escaped, length): (&[u8], usize) = match byte {
            b'&' => (b"&amp;", 1),
            b'<' => (b"&lt;", 1),
            b'>' => (b"&gt;", 1),
            b'_' if is_escape(rest) => (b"_x005F_", 1),
            b'\t' | b'\n' => continue,
            0..=0x1f => (b"", 1),
            0xef if rest.starts_with("\u{fffe}".as_bytes()) => (b"_xFFFE_", 3),
            0xef if rest.starts_with("\u{ffff}".as_bytes()) => (b"_xFFFF_", 3),
            _ => continue,
        };
        out.extend_from_slice(&text[from..at]);
        match escaped {
            b"" => {
                let digit = |of: u8| b"0123456789ABCDEF"[usize::from(of % 16)];
                out.extend_from_slice(&[b'_', b'x', b'0', b'0', digit(byte / 16), digit(*byte), b'_']);
            }
            some => out.extend_from_slice(some),
        }
        from = at + length;
    }
    out.extend_from_slice(&text[from..]);
}

/// Whether a text begins as an escaped character does.
fn is_escape(text: &[u8]) -> bool {
    matches!(text.get(..7), Some([b'_', b'x', code @ .., b'_']) if code.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BinaryArray, Date32Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
    };

    use super::*;

    /// The cells of one column, without what is around them.
    fn cells(column: ArrayRef) -> Vec<String> {
        let batch = RecordBatch::try_from_iter_with_nullable([("c", column, true)]).unwrap();
        let mut writer = SheetWriter::create(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let rows = text.split("<row r=\"").skip(2);
        rows.map(|row| row.split_once('>').unwrap().1.split("</row>").next().unwrap().to_owned()).collect()
    }

    fn inline(row: u32, text: &str) -> String {
        format!("<c r=\"A{row}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
    }

    #[test]
    fn what_a_spreadsheet_would_round_is_text() {
        let large = 9_007_199_254_740_992;
        assert_eq!(
            cells(Arc::new(Int64Array::from(vec![Some(large - 1), Some(-large), None, Some(i64::MIN)]))),
            [
                "<c r=\"A2\" s=\"1\"><v>9007199254740991</v></c>".to_owned(),
                inline(3, "-9007199254740992"),
                String::new(),
                inline(5, "-9223372036854775808"),
            ]
        );
        assert_eq!(
            cells(Arc::new(Float64Array::from(vec![-0.0, 0.1, 5e-324, f64::NAN, f64::NEG_INFINITY, 1e300]))),
            [
                "<c r=\"A2\"><v>-0.0</v></c>".to_owned(),
                "<c r=\"A3\"><v>0.1</v></c>".to_owned(),
                inline(4, "5e-324"),
                inline(5, "nan"),
                inline(6, "-inf"),
                "<c r=\"A7\"><v>1e+300</v></c>".to_owned(),
            ]
        );
        // 1900-02-28, 1900-03-01 and 9999-12-31.
        assert_eq!(
            cells(Arc::new(Date32Array::from(vec![-25_509, -25_508, 2_932_896]))),
            [
                inline(2, "1900-02-28"),
                "<c r=\"A3\" s=\"2\"><v>61</v></c>".to_owned(),
                "<c r=\"A4\" s=\"2\"><v>2958465</v></c>".to_owned(),
            ]
        );
        assert_eq!(
            cells(Arc::new(TimestampMicrosecondArray::from(vec![43_200_000_000, 1]).with_timezone("UTC"))),
            ["<c r=\"A2\" s=\"3\"><v>25569.5</v></c>".to_owned(), inline(3, "1970-01-01 00:00:00.000001Z")]
        );
        // Every millisecond of a day comes back.
        for time in (0..MILLISECONDS).step_by(977) {
            assert!(days(time + 2_932_895 * MILLISECONDS, TimeUnit::Millisecond).is_some(), "{time}");
        }
    }

    #[test]
    fn texts_stay_what_they_are() {
        assert_eq!(
            cells(Arc::new(StringArray::from(vec!["", "=1+1", "0012", "<&>", "a\rb\u{1}", "_x000D_", "\u{ffff}é"]))),
            [
                inline(2, ""),
                inline(3, "=1+1"),
                inline(4, "0012"),
                inline(5, "&lt;&amp;&gt;"),
                inline(6, "a_x000D_b_x0001_"),
                inline(7, "_x005F_x000D_"),
                inline(8, "_xFFFF_é"),
            ]
        );
        let blank = cells(Arc::new(StringArray::from(vec![" a\n"])));
        assert_eq!(blank, ["<c r=\"A2\" t=\"inlineStr\"><is><t xml:space=\"preserve\"> a\n</t></is></c>"]);
    }

    #[test]
    fn limits_are_those_of_spreadsheets() {
        // 32,767 characters, of which each takes two in UTF-16.
        for (text, fits) in [
            ("é".repeat(SHEET_TEXT), true),
            ("é".repeat(SHEET_TEXT + 1), false),
            ("😀".repeat(SHEET_TEXT / 2), true),
            ("😀".repeat(SHEET_TEXT / 2 + 1), false),
        ] {
            assert_eq!(check_sheet_text(&text).is_ok(), fits, "{}", text.len());
        }
        let wide = |columns: usize| {
            Schema::new(vec![arrow_schema::Field::new("c", arrow_schema::DataType::Utf8, true); columns])
        };
        assert!(SheetWriter::create(Vec::new(), &wide(SHEET_COLUMNS)).is_ok());
        assert_eq!(SheetWriter::create(Vec::new(), &wide(SHEET_COLUMNS + 1)).err().unwrap().kind(), Kind::WouldLose);
        let lines = std::iter::repeat_n("", 1_048_577);
        assert_eq!(SheetWriter::write_lines(Vec::new(), lines).err().unwrap().kind(), Kind::WouldLose);
        assert_eq!([0, 25, 26, 16_383].map(|at| String::from_utf8(letters(at)).unwrap()), ["A", "Z", "AA", "XFD"]);
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
        let batch = RecordBatch::try_from_iter([("c", bytes)]).unwrap();
        let mut writer = SheetWriter::create(Vec::new(), &batch.schema()).unwrap();
        assert_eq!(writer.write(&batch).unwrap_err().kind(), Kind::Unsupported);
    }
}
