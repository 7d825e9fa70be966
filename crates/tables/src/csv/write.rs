//! Writes CSV in the dialects of GraphAr and NOCK.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use isomorph_error::{Error, Place, Result};

use super::{NullWord, Quoting};
use crate::WriteOptions;
use crate::text::cells::{Cells, Value};
use crate::text::civil::{write_date, write_timestamp};
use crate::text::column::is_scalar;
use crate::text::number::{FloatStyle, write_f32, write_f64, write_int};

/// The number of bytes that are written at a time.
const CHUNK: usize = 256 << 10;

/// Writes one CSV file.
pub(crate) struct CsvWriter<W> {
    out: W,
    quoting: Quoting,
    /// Words that would be read as null if they were not quoted.
    null_words: Vec<String>,
    /// The name of the only column, if there is only one: readers skip its empty lines.
    only: Option<String>,
    /// How null is written in further columns.
    null_word: Option<NullWord>,
    buffer: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for types that CSV cannot store.
    pub(crate) fn create(out: W, schema: &Schema, options: &WriteOptions) -> Result<Self> {
        let mut writer = CsvWriter {
            out,
            quoting: options.csv.quoting,
            null_words: options.csv.null_words.clone(),
            only: (schema.fields().len() == 1).then(|| schema.field(0).name().clone()),
            null_word: options.csv.null_word.clone(),
            buffer: Vec::new(),
        };
        for (position, field) in schema.fields().iter().enumerate() {
            if !is_scalar(field.data_type()) {
                let message = format!("CSV cannot store column `{}` of type {}", field.name(), field.data_type());
                return Err(Error::unsupported(message).at(Place::field(field.name())));
            }
            if position > 0 {
                writer.buffer.push(b',');
            }
            match writer.quoting {
                Quoting::Sparing => writer.text(field.name().as_bytes()),
                Quoting::Necessary | Quoting::NonNumeric => writer.quote(field.name().as_bytes()),
            }
        }
        writer.buffer.push(b'\n');
        Ok(writer)
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns: Vec<Cells<'_>> = batch.columns().iter().filter_map(Cells::new).collect();
        for row in 0..batch.num_rows() {
            for (position, column) in columns.iter().enumerate() {
                if position > 0 {
                    self.buffer.push(b',');
                }
                let start = self.buffer.len();
                let value = column.get(row);
                if let (Value::Null, Some(null)) =
                    (&value, self.null_word.as_ref().filter(|null| position >= null.from))
                {
                    self.buffer.extend_from_slice(null.word.as_bytes());
                    continue;
                }
                let is_written = self.field(value);
                self.keep_from_null(start);
                self.keep_from_blank(start, row)?;
                if !is_written {
                    let schema = batch.schema();
                    let error = Error::unsupported("years before 0 and after 9999 cannot be written as text");
                    return Err(error.at(Place::field(schema.field(position).name()).row(row as u64)));
                }
            }
            self.buffer.push(b'\n');
            if self.buffer.len() >= CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Appends a field. Returns false if the value cannot be written.
    fn field(&mut self, value: Value<'_>) -> bool {
        let is_nock = self.quoting == Quoting::NonNumeric;
        let style = if self.quoting == Quoting::Necessary { FloatStyle::Arrow } else { FloatStyle::Python };
        let out = &mut self.buffer;
        match value {
            Value::Null if is_nock => out.extend_from_slice(b"\"\""),
            Value::Null => {}
            Value::Bool(value) => {
                let word = match (is_nock, value) {
                    (true, true) => "True",
                    (true, false) => "False",
                    (false, true) => "true",
                    (false, false) => "false",
                };
                out.extend_from_slice(word.as_bytes());
            }
            Value::Int(value) => write_int(value.is_negative(), value.unsigned_abs(), out),
            Value::UInt(value) => write_int(false, value, out),
            Value::Float32(value) => write_f32(value, style, out),
            Value::Float64(value) => write_f64(value, style, out),
            Value::Text(text) => self.text(text.as_bytes()),
            Value::Bytes(bytes) => self.text(bytes),
            Value::Date(days) => {
                return self.quoted_if_nock(|out| write_date(days, out));
            }
            Value::Timestamp { value, unit, has_zone } => {
                return self.quoted_if_nock(|out| {
                    let is_written = write_timestamp(value, &unit, b' ', out);
                    if has_zone {
                        out.push(b'Z');
                    }
                    is_written
                });
            }
        }
        true
    }

    /// Quotes the field that starts at `start` if it would be read as null otherwise.
    fn keep_from_null(&mut self, start: usize) {
        if self.null_words.iter().any(|word| word.as_bytes() == &self.buffer[start..]) {
            self.buffer.insert(start, b'"');
            self.buffer.push(b'"');
        }
    }

    /// If the field that starts at `start` is the only one of its record: returns an error if the line is empty, and quotes
    /// a field of blanks. Arrow and pandas skip such lines.
    fn keep_from_blank(&mut self, start: usize, row: usize) -> Result<()> {
        let Some(name) = &self.only else { return Ok(()) };
        let field = &self.buffer[start..];
        if field.is_empty() {
            let message = "a null in the only column would be written as an empty line, which readers skip";
            return Err(Error::unsupported(message).at(Place::field(name).row(row as u64)));
        }
        if field.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            self.buffer.insert(start, b'"');
            self.buffer.push(b'"');
        }
        Ok(())
    }

    fn quoted_if_nock(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let quote = (self.quoting == Quoting::NonNumeric).then_some(b'"');
        self.buffer.extend(quote);
        let is_written = write(&mut self.buffer);
        self.buffer.extend(quote);
        is_written
    }

    fn text(&mut self, text: &[u8]) {
        let needs_quotes = || text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'));
        if self.quoting == Quoting::NonNumeric || text.is_empty() || needs_quotes() {
            self.quote(text);
        } else {
            self.buffer.extend_from_slice(text);
        }
    }

    fn quote(&mut self, text: &[u8]) {
        self.buffer.push(b'"');
        for (position, part) in text.split(|byte| *byte == b'"').enumerate() {
            if position > 0 {
                self.buffer.extend_from_slice(b"\"\"");
            }
            self.buffer.extend_from_slice(part);
        }
        self.buffer.push(b'"');
    }

    fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W> {
        self.flush()?;
        self.out.flush()?;
        Ok(self.out)
    }
}
