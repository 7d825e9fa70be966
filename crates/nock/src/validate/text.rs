//! Rules for text files: the spelling of cells, which is not known from their values.

use isomorph_error::{Findings, Place, Result, Rule};
use isomorph_storage::Blob;

use crate::columns::Column;
use crate::rules;

/// Number of bytes that are read at once.
const PIECE: u64 = 1 << 20;

/// Maximum number of bytes of a cell that are examined: `is_rdf` is a single word.
const WORD: usize = 64;

/// The cell that is being read.
#[derive(Debug, Default)]
struct CellText {
    /// Whether it begins with a quote.
    quoted: bool,
    /// Whether it is not empty.
    filled: bool,
    /// Whether it contains a carriage return.
    returns: bool,
    /// Its first bytes, without the quotes.
    word: Vec<u8>,
}

/// Scanner of the records of a file, byte by byte.
#[derive(Debug, Default)]
struct Records {
    /// The columns in the order of the header; `None` for a column other than the nine.
    columns: Vec<Option<Column>>,
    header: bool,
    line: u64,
    /// Line of the record, number of its cells so far, and the current cell.
    begins: u64,
    field: usize,
    cell: CellText,
    inside: bool,
    /// Whether the record has any bytes.
    any: bool,
}

/// Checks a text file.
///
/// # Errors
/// Returns an error if it cannot be read.
pub(super) fn check(blob: &Blob, findings: &mut Findings) -> Result<()> {
    let mut records = Records { header: true, line: 1, begins: 1, ..Records::default() };
    let mark = blob.size() >= 3 && blob.read(0..3)?.as_ref() == b"\xef\xbb\xbf";
    let mut at = if mark { 3 } else { 0 };
    while at < blob.size() {
        let bytes = blob.read(at..blob.size().min(at + PIECE))?;
        for &byte in &bytes {
            records.take(byte, &mut |rule, column, message, line| push(blob, findings, (rule, column, message, line)));
        }
        at += bytes.len() as u64;
    }
    if records.any {
        records.take(b'\n', &mut |rule, column, message, line| push(blob, findings, (rule, column, message, line)));
    }
    Ok(())
}

/// Receives a finding: rule, column, message, line.
type Report<'r> = dyn FnMut(&'static Rule, Option<Column>, &str, u64) + 'r;

/// A finding as a single value.
type Found<'f> = (&'static Rule, Option<Column>, &'f str, u64);

fn push(blob: &Blob, findings: &mut Findings, (rule, column, message, line): Found<'_>) {
    let place = Place::file(blob.name()).line(line);
    findings.push(rule, message, column.map_or(place.clone(), |column| place.in_field(column.name())));
}

impl Records {
    fn take(&mut self, byte: u8, found: &mut Report<'_>) {
        match byte {
            b'"' => {
                // A doubled quote closes and reopens the quotation.
                self.inside = !self.inside;
                self.cell.quoted |= !self.cell.filled;
                (self.cell.filled, self.any) = (true, true);
            }
            b',' if !self.inside => self.end_of_cell(found),
            b'\n' if !self.inside => {
                if !self.any {
                    found(&rules::CSV_BLANK, None, "the line is blank", self.line);
                } else {
                    self.end_of_cell(found);
                }
                self.line += 1;
                (self.begins, self.field, self.any, self.header) =
                    (self.line, 0, false, self.header && !self.any_column());
            }
            // A Windows line ending.
            b'\r' if !self.inside => {}
            other => {
                self.line += u64::from(other == b'\n');
                self.cell.returns |= other == b'\r';
                (self.cell.filled, self.any) = (true, true);
                if self.cell.word.len() < WORD {
                    self.cell.word.push(other);
                }
            }
        }
    }

    fn any_column(&self) -> bool {
        !self.columns.is_empty()
    }

    fn end_of_cell(&mut self, found: &mut Report<'_>) {
        let cell = std::mem::take(&mut self.cell);
        self.any = true;
        if self.header {
            self.columns.push(std::str::from_utf8(&cell.word).ok().and_then(Column::named));
        } else if let Some(column) = self.columns.get(self.field).copied().flatten() {
            let is_text =
                matches!(column, Column::SrcName | Column::RelName | Column::DstName | Column::Labels | Column::Props);
            if is_text && cell.filled && !cell.quoted {
                found(&rules::CSV_QUOTES, Some(column), "a text is not quoted", self.begins);
            }
            if is_text && cell.returns && column != Column::Props {
                let message = "pynock reads the carriage return in it as a line feed";
                found(&rules::CSV_RETURN, Some(column), message, self.begins);
            }
            let word = cell.word.as_slice();
            // Literals in Python: True, False and numbers.
            let is_flag = matches!(word, b"True" | b"False") || !word.is_empty() && word.iter().all(u8::is_ascii_digit);
            if column == Column::IsRdf && !is_flag {
                found(&rules::CSV_FLAG, Some(column), "is_rdf is neither True nor False", self.begins);
            }
        }
        self.field += 1;
    }
}
