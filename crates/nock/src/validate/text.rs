//! Rules of text files: how cells are spelled, which the values that are read do not tell any more.

use isomorph_error::{Findings, Place, Result, Rule};
use isomorph_storage::Blob;

use crate::columns::Column;
use crate::rules;

/// Bytes read at once.
const PIECE: u64 = 1 << 20;

/// Longest cell that is looked at: `is_rdf` holds a word.
const WORD: usize = 64;

/// The cell that is being read.
#[derive(Debug, Default)]
struct CellText {
    /// Whether it begins with a quotation mark.
    quoted: bool,
    /// Whether it has anything in it.
    filled: bool,
    /// Whether a carriage return is in it.
    returns: bool,
    /// Its beginning, without the quotation marks around it.
    word: Vec<u8>,
}

/// A walk over the records of a file, byte by byte.
#[derive(Debug, Default)]
struct Records {
    /// The columns, in the order of the header, as far as they are of the nine.
    columns: Vec<Option<Column>>,
    header: bool,
    line: u64,
    /// Line of the record, its cells so far, and the next one.
    begins: u64,
    field: usize,
    cell: CellText,
    inside: bool,
    /// Whether the record has any byte.
    any: bool,
}

/// Checks a text file.
///
/// # Errors
/// When it cannot be read.
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

/// Takes a finding: the rule, the column, a message, the line.
type Report<'r> = dyn FnMut(&'static Rule, Option<Column>, &str, u64) + 'r;

/// The same as one value.
type Found<'f> = (&'static Rule, Option<Column>, &'f str, u64);

fn push(blob: &Blob, findings: &mut Findings, (rule, column, message, line): Found<'_>) {
    let place = Place::file(blob.name()).line(line);
    findings.push(rule, message, column.map_or(place.clone(), |column| place.in_field(column.name())));
}

impl Records {
    fn take(&mut self, byte: u8, found: &mut Report<'_>) {
        match byte {
            b'"' => {
                // A doubled mark leaves the quotation and enters it again.
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
            // The end of a line of Windows.
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
            // What Python takes for a literal: its two words and numbers.
            let is_flag = matches!(word, b"True" | b"False") || !word.is_empty() && word.iter().all(u8::is_ascii_digit);
            if column == Column::IsRdf && !is_flag {
                found(&rules::CSV_FLAG, Some(column), "is_rdf is neither True nor False", self.begins);
            }
        }
        self.field += 1;
    }
}
