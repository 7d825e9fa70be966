//! Reads JSON lines with a declared schema.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::type_name::type_name;
use isomorph_storage::Blob;

use super::record::Keys;
use super::value::{is_readable, parse};
use crate::packed::{PackedFile, Packing};
use crate::rules::{JSON_RECORD, TEXT_VALUE};
use crate::text::column::Refused;
use crate::text::lines::{LineReader, Lines};
use crate::text::select::{Numbered, Selected, Wanted};
use crate::{Limits, ReadOptions, Selection, convert};

/// Lines that are counted at a time.
const LINES: usize = 1 << 10;

/// A file of JSON lines. The file has no schema of its own; everything is declared.
pub(crate) struct JsonFile {
    blob: Blob,
    packing: Packing,
    limits: Limits,
    refuse_unknown_keys: bool,
    raw: HashSet<String>,
    refuse_zones: bool,
    schema: SchemaRef,
    lines: Lines<LinesOfText>,
}

/// Counts lines.
struct LinesOfText {
    input: Box<dyn BufRead + Send>,
    /// The longest line, in bytes.
    most: usize,
    line: u64,
}

impl LineReader for LinesOfText {
    fn next_lines(&mut self, give: &mut dyn FnMut(u64)) -> Result<bool> {
        let mut text = Vec::new();
        for _ in 0..LINES {
            text.clear();
            if (&mut self.input).take(self.most as u64 + 1).read_until(b'\n', &mut text)? == 0 {
                return Ok(false);
            }
            self.line += 1;
            if !text.trim_ascii().is_empty() {
                give(self.line);
            }
        }
        Ok(true)
    }
}

impl JsonFile {
    /// # Errors
    /// [`Kind::Usage`] without a declared schema, `Unsupported` for types that cannot be read from JSON.
    pub(crate) fn open(blob: Blob, options: &ReadOptions) -> Result<Self> {
        let Some(declared) = &options.schema else {
            return Err(Error::usage("reading JSON lines requires a declared schema").at(blob.place()));
        };
        if let Some(field) = declared.fields().iter().find(|field| !is_readable(field.data_type())) {
            let message = format!(
                "reading column `{}` of type {} from JSON is not supported",
                field.name(),
                type_name(field.data_type())
            );
            return Err(Error::unsupported(message).at(blob.place().in_field(field.name())));
        }
        let schema = convert::schema(declared.fields(), None).map_err(|error| error.at(blob.place()))?;
        let packing = if options.packed { PackedFile::of(blob.clone())?.packing } else { Packing::None };
        Ok(JsonFile {
            blob,
            packing,
            limits: options.limits.clone(),
            refuse_unknown_keys: options.refuse_unknown_keys,
            raw: options.raw_json.iter().cloned().collect(),
            refuse_zones: options.refuse_zones,
            schema: Arc::new(schema),
            lines: Lines::default(),
        })
    }

    /// Returns the schema of its batches.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Reads the text from its first byte.
    fn input(&self) -> Result<Box<dyn BufRead + Send>> {
        Ok(match self.packing {
            Packing::None => Box::new(self.blob.reader()),
            packing => Box::new(BufReader::new(PackedFile { blob: self.blob.clone(), packing }.reader()?)),
        })
    }

    /// Returns the line on which a row stands.
    pub(crate) fn line_of(&self, row: u64) -> Result<Option<u64>> {
        let open = || Ok((LinesOfText { input: self.input()?, most: self.limits.text_bytes, line: 0 }, 0));
        self.lines.line_of((0, row, row), open)
    }

    /// Reads the selected rows.
    pub(crate) fn scan(
        self: &Arc<Self>,
        selection: &Selection,
    ) -> Result<(SchemaRef, impl Iterator<Item = Result<RecordBatch>> + Send + 'static)> {
        let wanted = Wanted::new(&self.schema, selection).map_err(|error| error.at(self.blob.place()))?;
        let schema = self.schema.project(&wanted.read).map_err(|error| Error::usage(error.to_string()))?;
        // All declared keys are known, including those that are not read.
        let mut names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let read = names.len();
        let own: HashSet<&str> = names.iter().copied().collect();
        let others = self.schema.fields().iter().map(|field| field.name().as_str());
        names.extend(others.filter(|name| !own.contains(name)));
        let batches = JsonBatches {
            keys: Keys::new(names.iter().copied(), self.refuse_unknown_keys),
            known: names.len(),
            read,
            file: Arc::clone(self),
            input: self.input().map_err(|error| error.at(self.blob.place()))?,
            schema: Arc::new(schema),
            batch_rows: selection.rows_of_a_batch(),
            row: 0,
            line: 0,
        };
        let schema = Arc::clone(wanted.schema());
        Ok((schema, Selected::new(batches, wanted, self.blob.place())))
    }
}

/// All rows of a file, in batches.
struct JsonBatches {
    file: Arc<JsonFile>,
    input: Box<dyn BufRead + Send>,
    keys: Keys,
    /// Known keys, of which the first `read` are columns of `schema`.
    known: usize,
    read: usize,
    schema: SchemaRef,
    batch_rows: usize,
    row: u64,
    /// The number of lines read so far.
    line: u64,
}

impl JsonBatches {
    fn next_batch(&mut self) -> Result<Option<Numbered>> {
        let mut text = String::new();
        // For each row its line, and the positions of its values in `text`.
        let mut lines: Vec<u64> = Vec::new();
        let mut places: Vec<Vec<Option<Range<usize>>>> = vec![Vec::new(); self.read];
        let mut found = vec![None; self.known];
        while lines.len() < self.batch_rows && (text.len() as u64) < self.file.limits.batch_bytes {
            let start = text.len();
            if !self.read_line(&mut text)? {
                break;
            }
            let line = text[start..].trim_ascii();
            if line.is_empty() {
                continue;
            }
            let offset = start + (line.as_ptr() as usize - text[start..].as_ptr() as usize);
            self.keys.find(line, &mut found).map_err(|error| {
                Error::broken(&JSON_RECORD, reason(&error)).at(Place::default().line(self.line)).caused_by(error)
            })?;
            for (places, found) in places.iter_mut().zip(&found) {
                places.push(found.as_ref().map(|place| place.start + offset..place.end + offset));
            }
            lines.push(self.line);
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let mut columns = Vec::with_capacity(self.read);
        for (declared, places) in self.schema.fields().iter().zip(&places) {
            let at = |row: usize| {
                let line = lines.get(row).copied().unwrap_or(self.line);
                Place::default().line(line).row(self.row + row as u64).in_field(declared.name())
            };
            let values: Vec<Option<&str>> =
                places.iter().map(|place| place.clone().map(|place| &text[place])).collect();
            let raw = self.file.raw.contains(declared.name());
            let column =
                if raw { Ok(texts(&values)) } else { parse(declared.data_type(), self.file.refuse_zones, &values) };
            let column = column.map_err(|Refused { row, reason }| Error::broken(&TEXT_VALUE, reason).at(at(row)))?;
            if let Some(null) = column.nulls().filter(|_| !declared.is_nullable()) {
                let row = (0..null.len()).find(|row| null.is_null(*row)).unwrap_or_default();
                return Err(Error::broken(&TEXT_VALUE, "a required value is missing").at(at(row)));
            }
            columns.push(column);
        }
        let first = self.row;
        self.row += lines.len() as u64;
        Ok(Some((first, convert::batch(columns, &self.schema, lines.len())?)))
    }

    /// Appends the next line to `text`; returns false at the end of the file.
    fn read_line(&mut self, text: &mut String) -> Result<bool> {
        let most = self.file.limits.text_bytes;
        let place = Place::default().line(self.line + 1);
        let mut line = Vec::new();
        let read = (&mut self.input).take(most as u64 + 1).read_until(b'\n', &mut line).map_err(Error::from)?;
        if read > most {
            let message = format!("the line has more than {most} bytes");
            return Err(Error::new(Kind::TooLarge, message).at(place));
        }
        let is_first = self.line == 0;
        self.line += u64::from(read > 0);
        let line = std::str::from_utf8(&line)
            .map_err(|error| Error::broken(&JSON_RECORD, "the line is not UTF-8").at(place).caused_by(error))?;
        text.push_str(if is_first { line.trim_start_matches('\u{feff}') } else { line });
        Ok(read > 0)
    }
}

/// The JSON texts of values, where `null` is a value; null where there is none.
fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(values.iter().copied().collect::<StringArray>())
}

/// The message of serde_json without the line number, which is always 1.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message} (column {})", error.column()),
        None => message,
    }
}

impl Iterator for JsonBatches {
    type Item = Result<Numbered>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
