//! Reads CSV with a declared schema.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Blob, pool};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::index::{CsvIndex, Piece};
use super::split::{Field as Text, Records, Splitter};
use super::{CsvDialect, Quoting, foreign};
use crate::packed::{PackedFile, Packing};
use crate::rules::{CSV_HEADER, CSV_RECORD, TEXT_VALUE};
use crate::text::column::{self, Cell, Refused};
use crate::text::lines::{LineReader, Lines};
use crate::text::select::{Numbered, Selected, Wanted};
use crate::{Limits, ReadOptions, Selection, convert};

/// A CSV file whose header was read and matched with the declared columns.
pub(crate) struct CsvFile {
    pub(super) blob: Blob,
    pub(super) packing: Packing,
    pub(super) dialect: CsvDialect,
    limits: Limits,
    refuse_zones: bool,
    pub(super) schema: SchemaRef,
    /// For each column of the schema, its field in a record.
    pub(super) fields: Vec<usize>,
    /// The number of fields in a record.
    pub(super) width: usize,
    /// Where its records are, if that is known.
    index: Option<Arc<CsvIndex>>,
    /// Names of undeclared columns.
    others: HashSet<String>,
    lines: Lines<Splitter<Box<dyn Read + Send>>>,
}

impl LineReader for Splitter<Box<dyn Read + Send>> {
    fn next_lines(&mut self, give: &mut dyn FnMut(u64)) -> Result<bool> {
        let Some(records) = self.next(1 << 16, 1 << 26)? else { return Ok(false) };
        (0..records.len()).for_each(|record| give(records.line(record)));
        Ok(true)
    }
}

impl CsvFile {
    /// # Errors
    /// [`Kind::Usage`] without a declared schema, `Unsupported` for types that CSV cannot store, `Malformed` if a
    /// declared column is missing in the header.
    pub(crate) fn open(blob: Blob, options: &ReadOptions) -> Result<Self> {
        let Some(declared) = &options.schema else {
            return Err(Error::usage("reading CSV requires a declared schema").at(blob.place()));
        };
        let packing = if options.packed { PackedFile::of(blob.clone())?.packing } else { Packing::None };
        let mut dialect = options.csv.clone();
        if packing == Packing::None
            && let Some(stated) = foreign::refuse(&blob).map_err(|error| error.at(blob.place()))?
        {
            dialect.separator = stated;
        }
        let mut file = CsvFile {
            blob,
            packing,
            dialect,
            limits: options.limits.clone(),
            refuse_zones: options.refuse_zones,
            schema: Arc::clone(declared),
            fields: Vec::new(),
            width: 0,
            index: options.csv_index.clone(),
            others: HashSet::new(),
            lines: Lines::default(),
        };
        file.find_columns(declared).map_err(|error| error.at(file.blob.place()))?;
        Ok(file)
    }

    /// Matches the declared columns with the header.
    fn find_columns(&mut self, declared: &Schema) -> Result<()> {
        let header = self.names()?;
        let (fields, schema) =
            columns(&header, declared, &self.dialect).map_err(|error| error.at(Place::default().line(1)))?;
        let own: HashSet<&str> = declared.fields().iter().map(|field| field.name().as_str()).collect();
        self.others = header.iter().filter(|name| !own.contains(name.as_str())).cloned().collect();
        (self.width, self.fields, self.schema) = (header.len(), fields, Arc::new(schema));
        Ok(())
    }

    /// Splits the file into records, from the first on.
    fn splitter(&self) -> Result<Splitter<Box<dyn Read + Send>>> {
        let file = PackedFile { blob: self.blob.clone(), packing: self.packing };
        let mut splitter = self.splitter_of(file.reader()?, self.limits.text_bytes);
        splitter.skip_mark()?;
        Ok(splitter)
    }

    fn splitter_of(&self, input: Box<dyn Read + Send>, most: usize) -> Splitter<Box<dyn Read + Send>> {
        let mut splitter = Splitter::new(input, most);
        splitter.separator = self.dialect.separator;
        splitter.literal_quotes = self.dialect.literal_quotes;
        splitter
    }

    /// Splits the file into its rows, from the first on: the header is skipped.
    pub(super) fn rows_splitter(&self) -> Result<Splitter<Box<dyn Read + Send>>> {
        let mut splitter = self.splitter()?;
        if self.dialect.has_header {
            splitter.next(1, usize::MAX)?;
        }
        // If a record has a single field, an empty line is a record too.
        splitter.keep_blank_lines = self.width == 1;
        Ok(splitter)
    }

    /// Splits a part of a file that is not compressed into records, of which the first is on line `line`; none has more than `most` bytes.
    pub(super) fn splitter_at(
        &self,
        bytes: Range<u64>,
        line: u64,
        most: Option<usize>,
    ) -> Splitter<Box<dyn Read + Send>> {
        let most = self.limits.text_bytes.min(most.unwrap_or(usize::MAX));
        let input = self.blob.reader().within(bytes.clone());
        let mut splitter = self.splitter_of(Box::new(input), most).starting_at(bytes.start, line);
        splitter.keep_blank_lines = self.width == 1;
        splitter
    }

    /// Checks that all records have as many fields as the header, or gives those that have not empty ones; the first one is in row `first`.
    pub(super) fn check_width(&self, records: &mut Records, first: u64) -> Result<()> {
        match self.odd(records, first).next() {
            None => return Ok(()),
            Some((_, error)) if !self.dialect.keep_odd_records => return Err(error),
            Some(_) => {}
        }
        records.even_out(self.width);
        Ok(())
    }

    /// The rows of records with another number of fields than the header, and an error for each.
    fn odd<'a>(&'a self, records: &'a Records, first: u64) -> impl Iterator<Item = (u64, Error)> + 'a {
        let odd = (0..records.len()).filter(|record| records.fields(*record).len() != self.width);
        odd.map(move |record| {
            let found = records.fields(record).len();
            let message = format!("the record has {found} fields, but the header has {}", self.width);
            let place = place(records, record, first);
            (first + record as u64, Error::broken(&CSV_RECORD, message).at(place))
        })
    }

    /// Passes on the rows of all such records, and an error for each.
    pub(crate) fn odd_records(&self, take: &mut dyn FnMut(u64, Error)) -> Result<()> {
        let (mut splitter, mut row) = (self.rows_splitter()?, 0);
        while let Some(records) = splitter.next(1 << 16, 1 << 26)? {
            self.odd(&records, row).for_each(|(row, error)| take(row, error.at(self.blob.place())));
            row += records.len() as u64;
        }
        Ok(())
    }

    /// Returns the text of a field; `None` if it is null. An empty field is null, unless it is quoted in a column of text.
    pub(super) fn cell<'a>(&self, is_text: bool, field: Text, bytes: &'a [u8]) -> Cell<'a> {
        if bytes.is_empty() {
            let is_value = is_text && (field.quoted || self.dialect.quoting == Quoting::NonNumeric);
            return is_value.then_some(Cow::Borrowed(bytes));
        }
        if !field.quoted && self.dialect.null_words.iter().any(|word| word.as_bytes() == bytes) {
            return None;
        }
        Some(field.text(bytes))
    }

    /// The number of rows, and the pieces that can be read concurrently, if the file was surveyed.
    pub(crate) fn index(&self) -> Option<&CsvIndex> {
        self.index.as_deref()
    }

    /// The pieces of these numbers.
    fn pieces(&self, numbers: Range<usize>) -> Result<&[Piece]> {
        let pieces = self.index().and_then(|index| index.pieces.get(numbers.clone()));
        pieces.ok_or_else(|| Error::usage(format!("there are no row groups {numbers:?}")))
    }

    /// Returns the names of all columns.
    fn names(&self) -> Result<Vec<String>> {
        let Some(records) = self.splitter()?.next(1, usize::MAX)? else {
            return match &self.dialect.names {
                Some(names) if !self.dialect.has_header => Ok(names.clone()),
                _ => Err(Error::broken(&CSV_HEADER, "the file is empty")),
            };
        };
        let fields = records.fields(0);
        if fields.len() > self.limits.columns {
            let message = format!("the file has {} columns, but the limit is {}", fields.len(), self.limits.columns);
            return Err(Error::new(Kind::TooLarge, message));
        }
        if let Some(names) = &self.dialect.names {
            if names.len() != fields.len() {
                let message =
                    format!("the first line has {} fields, but {} columns are named", fields.len(), names.len());
                return Err(Error::broken(&CSV_HEADER, message).at(Place::default().line(1)));
            }
            return Ok(names.clone());
        }
        let name = |text: Cow<'_, [u8]>| {
            String::from_utf8(text.into_owned())
                .map_err(|_| Error::broken(&CSV_HEADER, "a column name is not UTF-8").hint(foreign::AS_UTF8))
        };
        fields.iter().map(|field| name(records.text(*field))).collect()
    }

    /// Returns the line on which a row starts.
    pub(crate) fn line_of(&self, row: u64) -> Result<Option<u64>> {
        let numbers = self.numbers_of(std::slice::from_ref(&(row..row + 1)));
        // A piece is small enough to be read to its end.
        let (part, until) = numbers.as_ref().map_or((0, row), |numbers| (numbers.start, u64::MAX));
        self.lines.line_of((part, row, until), || self.open_rows(numbers))
    }

    /// Returns the schema of its batches.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Reads the selected rows.
    pub(crate) fn scan(
        self: &Arc<Self>,
        selection: &Selection,
    ) -> Result<(SchemaRef, impl Iterator<Item = Result<RecordBatch>> + Send + 'static)> {
        let wanted = Wanted::new(&self.schema, selection).map_err(|error| error.at(self.blob.place()))?;
        let (numbers, expected) = match (&selection.row_groups, wanted.rows()) {
            (Some(groups), None) if self.index.is_some() => {
                let pieces = self.pieces(groups.clone())?;
                (Some(groups.clone()), pieces.last().map_or(Some(0), |last| Some(last.rows.end)))
            }
            (Some(groups), Some(_)) if *groups != (0..self.row_groups()) => {
                return Err(Error::usage("rows and row groups of text cannot both be selected").at(self.blob.place()));
            }
            (Some(groups), _) if *groups != (0..self.row_groups()) => {
                return Err(Error::usage("text has only one row group").at(self.blob.place()));
            }
            (_, Some(rows)) => (self.numbers_of(rows), None),
            (_, None) => (None, None),
        };
        let (splitter, first) = self.open_rows(numbers).map_err(|error| error.at(self.blob.place()))?;
        let schema = self.schema.project(&wanted.read).map_err(|error| Error::usage(error.to_string()))?;
        let batches = CsvBatches {
            file: Arc::clone(self),
            splitter,
            fields: wanted.read.iter().map(|column| self.fields[*column]).collect(),
            schema: Arc::new(schema),
            batch_rows: selection.rows_of_a_batch(),
            next: first,
            expected,
            ahead: None,
        };
        let schema = Arc::clone(wanted.schema());
        Ok((schema, Selected::new(batches, wanted, self.blob.place()).starting_at(first)))
    }

    /// The number of parts that can be read concurrently.
    pub(crate) fn row_groups(&self) -> usize {
        self.index().map_or(1, |index| index.pieces.len())
    }

    /// The rows of such a part.
    pub(crate) fn rows_of(&self, group: usize) -> Option<Range<u64>> {
        Some(self.index()?.pieces.get(group)?.rows.clone())
    }

    /// The pieces from the one that has the first of `rows` to the one that has the last; `None` if nothing is known of pieces, or the
    /// file does not have the rows.
    fn numbers_of(&self, rows: &[Range<u64>]) -> Option<Range<usize>> {
        let pieces = &self.index()?.pieces;
        let place = |row: u64| pieces.iter().position(|piece| piece.rows.contains(&row));
        let (first, last) = (rows.first()?.start, rows.last()?.end.checked_sub(1)?);
        Some(place(first)?..place(last)? + 1)
    }

    /// Splits the rows of these pieces, or of the whole file, into records; also returns the number of the first row.
    fn open_rows(&self, numbers: Option<Range<usize>>) -> Result<(Splitter<Box<dyn Read + Send>>, u64)> {
        let pieces = match numbers.filter(|_| self.packing == Packing::None) {
            Some(numbers) => self.pieces(numbers)?,
            None => return Ok((self.rows_splitter()?, 0)),
        };
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Ok((self.rows_splitter()?, 0)) };
        let splitter = self.splitter_at(first.bytes.start..last.bytes.end, first.line, None);
        Ok((splitter, first.rows.start))
    }
}

/// The place of a record, where the first one is in row `first`.
fn place(records: &Records, record: usize, first: u64) -> Place {
    Place::default().line(records.line(record)).row(first + record as u64)
}

/// Finds the declared columns in the header; returns their fields and their schema, with other columns last if they are kept.
/// Of several columns without a name, which are the levels of the index in pandas' dialect, only the first is kept.
fn columns(header: &[String], declared: &Schema, csv: &CsvDialect) -> Result<(Vec<usize>, Schema)> {
    let mut fields = Vec::new();
    let mut schema = Vec::new();
    // Files may have many thousands of columns: each name is looked up, not searched.
    let mut places: HashMap<&str, (usize, usize)> = HashMap::with_capacity(header.len());
    for (position, name) in header.iter().enumerate() {
        places.entry(name).or_insert((position, 0)).1 += 1;
    }
    for field in declared.fields() {
        let name = field.name();
        if !column::is_parsed(field.data_type()) {
            let message = format!("CSV cannot store column `{name}` of type {}", field.data_type());
            return Err(Error::unsupported(message).at(Place::field(name)));
        }
        let (position, times) = places.get(name.as_str()).copied().unwrap_or_default();
        if times != 1 {
            let message = format!("column `{name}` occurs {times} times in the header {}", header.join(","));
            let error = Error::broken(&CSV_HEADER, message).at(Place::field(name));
            return Err(foreign::divided(error, header, |field| declared.field_with_name(field).is_ok()));
        }
        fields.push(position);
        schema.push(Arc::clone(field));
    }
    if csv.keep_other_columns {
        let first_unnamed = header.iter().position(String::is_empty);
        let taken: HashSet<usize> = fields.iter().copied().collect();
        for (position, name) in header.iter().enumerate() {
            let is_level = name.is_empty() && csv.quoting == Quoting::NonNumeric;
            if taken.contains(&position) || is_level && first_unnamed != Some(position) {
                continue;
            }
            if !is_level && places.get(name.as_str()).is_some_and(|(_, times)| *times > 1) {
                return Err(
                    Error::broken(&CSV_HEADER, format!("two columns are named `{name}`")).at(Place::field(name))
                );
            }
            fields.push(position);
            schema.push(Arc::new(Field::new(name, DataType::Utf8, true)));
        }
    }
    Ok((fields, Schema::new(schema)))
}

/// All rows of a file in batches. While the columns of a batch are parsed concurrently, the next batch is split into
/// records, so that one file keeps several cores busy.
struct CsvBatches {
    file: Arc<CsvFile>,
    splitter: Splitter<Box<dyn Read + Send>>,
    /// The fields that are read, and their schema.
    fields: Vec<usize>,
    schema: SchemaRef,
    batch_rows: usize,
    next: u64,
    /// The number of rows at the end, if that is known.
    expected: Option<u64>,
    /// The records of the next batch, if they are split already.
    ahead: Option<Result<Option<Records>>>,
}

impl CsvBatches {
    fn next_batch(&mut self) -> Result<Option<Numbered>> {
        let most = usize::try_from(self.file.limits.batch_bytes).unwrap_or(usize::MAX);
        let split = self.ahead.take().unwrap_or_else(|| self.splitter.next(self.batch_rows, most));
        let Some(mut records) = split? else {
            return match self.expected {
                Some(expected) if expected != self.next => {
                    Err(Error::new(Kind::Conflict, "the file was changed while it was read"))
                }
                _ => Ok(None),
            };
        };
        let first = self.next;
        self.file.check_width(&mut records, first)?;
        let parser = Parser { file: &self.file, records: &records, first };
        let (fields, schema, splitter) = (&self.fields, &self.schema, &mut self.splitter);
        let (batch_rows, parse) = (self.batch_rows, || parser.batch(fields, schema));
        let (parsed, ahead) = pool::run(|| rayon::join(parse, || splitter.next(batch_rows, most)));
        self.ahead = Some(ahead);
        self.next += records.len() as u64;
        self.splitter.recycle(records);
        Ok(Some((first, parsed?)))
    }
}

/// Parses the records of one batch.
struct Parser<'a> {
    file: &'a CsvFile,
    records: &'a Records,
    /// The row number of the first record.
    first: u64,
}

impl Parser<'_> {
    fn batch(&self, fields: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
        // Report the error of the first column, whichever was parsed first.
        let columns: Vec<Result<ArrayRef>> = fields
            .par_iter()
            .zip(schema.fields().as_ref())
            .map(|(field, declared)| self.column(*field, declared))
            .collect();
        convert::batch(columns.into_iter().collect::<Result<_>>()?, schema, self.records.len())
    }

    fn column(&self, field: usize, declared: &Field) -> Result<ArrayRef> {
        let at = |record: usize| place(self.records, record, self.first).in_field(declared.name());
        let is_text = matches!(
            declared.data_type(),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary
        );
        let is_other = self.file.others.contains(declared.name());
        let null_word = self.file.dialect.null_word.as_ref().filter(|_| is_other).map(|null| null.word.as_bytes());
        let cells = self.records.column(field, self.file.width).map(|(field, bytes)| {
            if !field.quoted && Some(bytes) == null_word { None } else { self.file.cell(is_text, field, bytes) }
        });
        let column = column::parse(declared.data_type(), self.file.refuse_zones, cells)
            .map_err(|Refused { row, reason }| Error::broken(&TEXT_VALUE, reason).at(at(row)))?;
        if let Some(null) = column.nulls().filter(|_| !declared.is_nullable()) {
            let record = (0..null.len()).find(|row| null.is_null(*row)).unwrap_or_default();
            return Err(Error::broken(&TEXT_VALUE, "a required value is missing").at(at(record)));
        }
        Ok(column)
    }
}

impl Iterator for CsvBatches {
    type Item = Result<Numbered>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
