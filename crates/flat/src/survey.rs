//! What one pass over a text tells: the types of its columns, where nobody declares them, and how many rows there are.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::ValueKind;
use isomorph_model::json::{Members, Value as Json};
use isomorph_model::type_name::list_of;
use isomorph_storage::Blob;
use isomorph_tables::lookup::{KeyRowsBuilder, Lookup, LookupOptions};
use isomorph_tables::rules::JSON_RECORD;
use isomorph_tables::{
    Encoding, PackedFile, ReadOptions, TableReader, TypeGuess, survey_csv, whole_number, without_float_words,
};
use serde_json::value::RawValue;

use crate::sql::ColumnType;

/// The most relations that one column names.
pub(crate) const RELATIONS: usize = 100;

/// What was found.
pub(crate) struct Found {
    /// Names and types of columns.
    pub columns: Vec<(String, ColumnType)>,
    /// The number of rows in each file.
    pub rows: Vec<u64>,
    pub roles: Roles,
    pub odd: Vec<OddCell>,
    /// Columns of floats that are all integers: `1.0`, `2.0`.
    pub whole: Vec<String>,
}

/// A cell without which its column would have another type.
pub(crate) struct OddCell {
    pub column: String,
    /// Its row in the table.
    pub row: u64,
    /// What it is.
    pub text: String,
    /// What every other value is.
    pub others: &'static str,
}

/// What a value of a type is called.
fn called(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "true or false",
        DataType::Date32 => "a date",
        DataType::Timestamp(..) => "a timestamp",
        DataType::Float64 => "a number",
        DataType::Utf8 => "a text",
        _ => "an integer",
    }
}

/// What was found in columns that have a role.
pub(crate) struct Roles {
    /// The values of the column that names relations, and in how many rows each stands.
    pub relations: Vec<(String, u64)>,
    /// The different texts of the column of labels, if there is one in CSV and they are few.
    pub labels: Option<Vec<String>>,
    /// The rows of keys, with the name of their column, if they were to be kept and no row lacks one.
    pub keys: Option<(String, Lookup)>,
}

/// What is sought in texts.
pub(crate) struct Wanted<'a> {
    /// The column that names relations, and the one of labels.
    pub relation: Option<&'a str>,
    pub labels: Option<&'a str>,
    /// The column of keys that are kept while the texts are read, so that they are not read once more.
    pub keys: Option<(&'a str, &'a LookupOptions)>,
    /// Columns whose types are known.
    pub known: &'a [&'a str],
    /// Threads that read.
    pub threads: usize,
}

/// The most different texts of a column of labels that are collected.
const LABEL_TEXTS: usize = 4_096;

/// The most bytes of keys of one piece that are kept: a packed file is a single one.
const KEPT: usize = 64 << 20;

/// Different texts of a column; `None` if there are too many.
struct Texts(Option<BTreeSet<String>>);

impl Texts {
    fn see(&mut self, text: &str) {
        let Some(all) = &mut self.0 else { return };
        if !all.contains(text) {
            all.insert(text.to_owned());
        }
        if all.len() > LABEL_TEXTS {
            self.0 = None;
        }
    }
}

/// The different texts of a column, in the order of their bytes; one more than [`RELATIONS`] if there are more.
#[derive(Default)]
pub(crate) struct Relations(std::collections::BTreeMap<String, u64>);

impl Relations {
    pub fn see(&mut self, column: &dyn Array) {
        let Some(texts) = column.as_string_opt::<i32>() else { return };
        texts.iter().flatten().for_each(|text| self.add(text, 1));
    }

    fn add(&mut self, text: &str, rows: u64) {
        let has_room = self.0.len() <= RELATIONS;
        match self.0.get_mut(text) {
            Some(count) => *count += rows,
            None if has_room => {
                self.0.insert(text.to_owned(), rows);
            }
            None => {}
        }
    }

    pub fn finish(self) -> Vec<(String, u64)> {
        self.0.into_iter().collect()
    }
}

/// Reads the texts of a table once, each with its options, which will say where the records of CSV are.
///
/// # Errors
/// When they cannot be read, or have different columns.
pub(crate) fn survey(files: &mut [(Blob, ReadOptions)], encoding: Encoding, wanted: &Wanted<'_>) -> Result<Found> {
    if encoding == Encoding::JsonLines { of_json(files, wanted.relation) } else { of_csv(files, wanted) }
}

/// The names of the columns of a CSV file.
///
/// # Errors
/// When the first line cannot be read.
pub(crate) fn header(blob: &Blob, read: &ReadOptions) -> Result<Vec<String>> {
    if let Some(names) = &read.csv.names {
        return Ok(names.clone());
    }
    let mut options = ReadOptions { schema: Some(Arc::new(Schema::empty())), ..read.clone() };
    options.csv.keep_other_columns = true;
    let reader = TableReader::open(blob.clone(), Encoding::Csv, &options)?;
    Ok(reader.schema().fields().iter().map(|field| field.name().clone()).collect())
}

/// The keys of all rows, in their order.
struct KeptKeys {
    column: String,
    builder: KeyRowsBuilder,
}

impl KeptKeys {
    /// Adds the keys of a piece that has so many rows; `None` if a row has none, which is found where keys are read one by one.
    fn with(mut self, mut keys: StringBuilder, rows: u64) -> Result<Option<KeptKeys>> {
        let keys = keys.finish();
        if keys.len() as u64 != rows {
            return Ok(None);
        }
        self.builder.push(&keys)?;
        Ok(Some(self))
    }
}

/// What one piece of CSV tells of the columns that are looked at, or all of a table.
struct Seen {
    guesses: Vec<TypeGuess>,
    relations: Relations,
    labels: Texts,
    /// The keys of a piece.
    keys: StringBuilder,
}

impl Seen {
    /// Nothing yet, with types sought of so many columns.
    fn new(guessed: usize) -> Seen {
        let labels = Texts(Some(BTreeSet::new()));
        let guesses = vec![TypeGuess::default(); guessed];
        Seen { guesses, relations: Relations::default(), labels, keys: StringBuilder::new() }
    }

    /// Adds what a piece tells that begins in row `first`.
    fn merge(&mut self, other: Seen, first: u64) {
        self.guesses.iter_mut().zip(&other.guesses).for_each(|(own, other)| own.merge(other, first));
        other.relations.0.iter().for_each(|(text, rows)| self.relations.add(text, *rows));
        match other.labels.0 {
            Some(all) => all.iter().for_each(|text| self.labels.see(text)),
            None => self.labels.0 = None,
        }
    }
}

/// A pass over the CSV files of a table.
pub(crate) struct CsvSurvey {
    schema: SchemaRef,
    relation: Option<usize>,
    labels: Option<usize>,
    /// The position of the column of keys.
    keys: Option<usize>,
    kept: Option<KeptKeys>,
    threads: usize,
    seen: Seen,
    /// Rows of the pieces that were read.
    rows: u64,
}

impl CsvSurvey {
    /// Looks at these columns, and at those that name relations and labels.
    pub fn new<'a>(columns: impl Iterator<Item = &'a str>, wanted: &Wanted<'a>) -> CsvSurvey {
        let mut names: Vec<&str> = columns.collect();
        let guessed = names.len();
        let keys = wanted.keys.map(|(name, _)| name);
        let more = wanted.relation.into_iter().chain(wanted.labels).chain(keys);
        more.for_each(|name| {
            if !names.contains(&name) {
                names.push(name)
            }
        });
        let of = |wanted: Option<&str>| wanted.and_then(|wanted| names.iter().position(|name| *name == wanted));
        let (relation, labels, keys) = (of(wanted.relation), of(wanted.labels), of(keys));
        let kept = wanted
            .keys
            .map(|(name, options)| KeptKeys { column: name.to_owned(), builder: KeyRowsBuilder::new(options.clone()) });
        let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
        let seen = Seen::new(guessed);
        let (schema, threads) = (Arc::new(Schema::new(fields)), wanted.threads);
        CsvSurvey { schema, relation, labels, keys, kept, threads, seen, rows: 0 }
    }

    /// Reads a file, whose options will say where its records are; returns the number of its rows.
    ///
    /// # Errors
    /// When it cannot be read, or lacks a column.
    pub fn read(&mut self, blob: &Blob, read: &mut ReadOptions) -> Result<u64> {
        let options = ReadOptions { schema: Some(Arc::clone(&self.schema)), csv_index: None, ..read.clone() };
        let (relation, labels, keys) = (self.relation, self.labels, self.keys);
        let see = |seen: &mut Seen, (column, row): (usize, u64), text: &str| {
            if let Some(guess) = seen.guesses.get_mut(column) {
                guess.see(row, text);
            }
            if relation == Some(column) {
                seen.relations.add(text, 1);
            }
            if labels == Some(column) {
                seen.labels.see(text);
            }
            if keys == Some(column) && seen.keys.values_slice().len() < KEPT {
                seen.keys.append_value(text);
            }
        };
        let guessed = self.seen.guesses.len();
        let (own, kept, before) = (&mut self.seen, &mut self.kept, &mut self.rows);
        let index = survey_csv(
            blob.clone(),
            &options,
            self.threads,
            || Seen::new(guessed),
            see,
            |mut seen, rows| {
                if let Some(all) = kept.take() {
                    *kept = all.with(std::mem::take(&mut seen.keys), rows)?;
                }
                own.merge(seen, *before);
                *before += rows;
                Ok(())
            },
        )?;
        let rows = index.rows();
        read.csv_index = Some(Arc::new(index));
        Ok(rows)
    }

    /// The type of the values of a column that was looked at.
    fn type_of(&self, name: &str) -> Option<DataType> {
        let at = self.schema.index_of(name).ok()?;
        let guess = self.seen.guesses.get(at)?;
        Some(if self.relation == Some(at) { DataType::Utf8 } else { guess.data_type() })
    }

    /// The columns of floats that are all integers.
    fn whole(&self) -> Vec<String> {
        let guesses = self.schema.fields().iter().zip(&self.seen.guesses);
        guesses.filter(|(_, guess)| guess.is_whole()).map(|(field, _)| field.name().clone()).collect()
    }

    /// The cells without which columns would have other types.
    fn odd(&self) -> Vec<OddCell> {
        let of = |(at, guess): (usize, &TypeGuess)| {
            let (odd, others) = guess.odd().filter(|_| self.relation != Some(at))?;
            let column = self.schema.fields().get(at)?.name().clone();
            Some(OddCell { column, row: odd.row, text: odd.text.clone(), others: called(&others) })
        };
        self.seen.guesses.iter().enumerate().filter_map(of).collect()
    }

    /// The relations, the different texts of labels, and the keys with the name of their column.
    ///
    /// # Errors
    /// When keys cannot be put into temporary files.
    pub fn finish(self) -> Result<Roles> {
        let labels = self.labels.and(self.seen.labels.0).map(|all| all.into_iter().collect());
        let keys = self.kept.map(|kept| Ok::<_, Error>((kept.column, kept.builder.finish()?))).transpose()?;
        Ok(Roles { relations: self.seen.relations.finish(), labels, keys })
    }
}

fn of_csv(files: &mut [(Blob, ReadOptions)], wanted: &Wanted<'_>) -> Result<Found> {
    let Some((first, read)) = files.first() else { return Err(Error::usage("a table has no files")) };
    let names = header(first, read)?;
    let has = |name: &&str| names.iter().any(|own| own == name);
    let unknown = names.iter().map(String::as_str).filter(|name| !wanted.known.contains(name));
    let (relation, labels) = (wanted.relation.filter(has), wanted.labels.filter(has));
    let roles = Wanted { relation, labels, keys: wanted.keys.filter(|(name, _)| has(name)), ..*wanted };
    let mut survey = CsvSurvey::new(unknown, &roles);
    let mut rows = Vec::with_capacity(files.len());
    for (blob, read) in files {
        same_columns(&names, &header(blob, read)?, blob)?;
        rows.push(survey.read(blob, read)?);
    }
    let ty = |name: &str| ColumnType::plain(survey.type_of(name).unwrap_or(DataType::Utf8));
    let columns = names.iter().map(|name| (name.clone(), ty(name))).collect();
    let (odd, whole) = (survey.odd(), survey.whole());
    Ok(Found { columns, rows, roles: survey.finish()?, odd, whole })
}

/// Fails where a file of a table has other columns than the first one.
///
/// # Errors
/// [`crate::rules::PARTS`] with the first column that is missing, or in excess.
pub(crate) fn same_columns(names: &[String], others: &[String], blob: &Blob) -> Result<()> {
    let odd = |these: &[String], those: &[String]| these.iter().find(|name| !those.contains(name)).cloned();
    let what = match (odd(names, others), odd(others, names)) {
        (Some(name), _) => format!("the file has no column {name:?}, which the first file of the table has"),
        (None, Some(name)) => format!("the file has a column {name:?}, which the first file of the table has not"),
        (None, None) => return Ok(()),
    };
    Err(Error::broken(&crate::rules::PARTS, what).at(blob.place()))
}

/// What the values of a JSON key are.
#[derive(Default)]
struct Kinds {
    bool: bool,
    int: bool,
    float: bool,
    /// An integer that no double is.
    large: bool,
    /// An integer below 0, and one that only an unsigned type has.
    negative: bool,
    unsigned: bool,
    text: bool,
    list: Option<Box<Kinds>>,
    /// Objects, and numbers of which 64 bits would lose digits.
    other: bool,
    /// A number that is no integer, or that may have been another one before it became a float.
    fraction: bool,
    /// Values that are true or false, numbers, and texts.
    told: [Told; 3],
}

/// How many values of a kind there are, and the first of them.
#[derive(Default)]
struct Told {
    count: u64,
    row: u64,
    text: String,
}

/// The longest value that is told as odd, in bytes, and the fewest values of one kind beside which one is.
const ODD: usize = 40;
const FEW: u64 = 10;

impl Kinds {
    /// Counts a value of a kind, and keeps the first one.
    fn tell(&mut self, kind: usize, json: &str, row: u64) {
        let Some(told) = self.told.get_mut(kind) else { return };
        told.count += 1;
        if told.count == 1 {
            (told.row, told.text) = (row, json.chars().take(ODD + 1).collect());
        }
    }

    /// The only value of its kind beside many of one other kind.
    fn odd(&self) -> Option<(&Told, &'static str)> {
        if self.other || self.list.is_some() {
            return None;
        }
        let mut there: Vec<usize> = (0..self.told.len()).filter(|kind| self.told[*kind].count > 0).collect();
        there.sort_by_key(|kind| self.told[*kind].count);
        let [odd, others] = there.as_slice() else { return None };
        let numbers = if self.float { DataType::Float64 } else { DataType::Int64 };
        let types = [DataType::Boolean, numbers, DataType::Utf8];
        let (odd, many) = (self.told.get(*odd)?, self.told.get(*others)?);
        let is_odd = odd.count == 1 && many.count >= FEW && odd.text.len() <= ODD;
        is_odd.then(|| types.get(*others).map(|ty| (odd, called(ty))))?
    }

    /// # Errors
    /// When a text of JSON cannot be read.
    fn see(&mut self, json: &str, row: u64) -> Result<()> {
        match isomorph_model::json::value(json)? {
            Json::Null => {}
            Json::Bool(_) => {
                self.bool = true;
                self.tell(0, json, row);
            }
            Json::Text(_) => {
                self.text = true;
                self.tell(2, json, row);
            }
            // An integer has no negative zero.
            Json::Integer(0) if json.starts_with('-') => {
                (self.float, self.fraction) = (true, true);
                self.tell(1, json, row);
            }
            Json::Integer(value) => {
                self.tell(1, json, row);
                self.int = true;
                self.negative |= value < 0;
                self.unsigned |= i64::try_from(value).is_err();
                self.large |= value.unsigned_abs() > 1 << 53;
                self.fraction |= value.unsigned_abs() >= 1 << 53;
            }
            Json::Float(_) => {
                self.float = true;
                self.fraction |= whole_number(json).is_none();
                self.tell(1, json, row);
            }
            Json::Array(items) => {
                let list = self.list.get_or_insert_default();
                isomorph_model::json::items(items, |item| list.see(item, row))?;
            }
            Json::Object(_) | Json::Number(_) => self.other = true,
        }
        Ok(())
    }

    fn scalar(&self) -> Option<DataType> {
        let numbers = self.int || self.float;
        match (self.bool, numbers, self.text) {
            _ if self.other => None,
            (true, false, false) => Some(DataType::Boolean),
            (false, true, false) if !self.float => match (self.unsigned, self.negative) {
                (false, _) => Some(DataType::Int64),
                (true, false) => Some(DataType::UInt64),
                (true, true) => None,
            },
            (false, true, false) if !self.large => Some(DataType::Float64),
            (false, false, _) => Some(DataType::Utf8),
            _ => None,
        }
    }

    /// Whether all values are floats that are integers.
    fn is_whole(&self) -> bool {
        self.float && !self.fraction && self.column().data_type == DataType::Float64
    }

    fn column(&self) -> ColumnType {
        let single = self.bool || self.int || self.float || self.text || self.other;
        let plain = match &self.list {
            None => self.scalar(),
            Some(items) if !single && items.list.is_none() => items.scalar().map(list_of),
            Some(_) => None,
        };
        match plain {
            Some(data_type) => ColumnType::plain(data_type),
            None => ColumnType { kind: ValueKind::Json, ..ColumnType::plain(DataType::Utf8) },
        }
    }
}

/// The text of a line that is an object.
///
/// # Errors
/// [`JSON_RECORD`] if it is none.
pub(crate) fn object(line: &[u8]) -> Result<&str> {
    let broken = |error: serde_json::Error| {
        // The line is that of the text, which is always the first.
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        Error::broken(&JSON_RECORD, format!("{message} (column {})", error.column()))
    };
    let value = match serde_json::from_slice::<&RawValue>(line) {
        Ok(value) => value.get(),
        // Python writes words for floats that JSON lacks.
        Err(error) => {
            let text = std::str::from_utf8(line).ok();
            let numbers = text.and_then(without_float_words);
            let is_sound = numbers.is_some_and(|numbers| serde_json::from_str::<&RawValue>(&numbers).is_ok());
            text.filter(|_| is_sound).ok_or_else(|| broken(error))?
        }
    };
    match value.starts_with('{') {
        true => Ok(value),
        false => Err(Error::broken(&JSON_RECORD, "the line is not a JSON object")
            .hint("write one object in each line: {\"id\": 1, \"name\": \"x\"}")),
    }
}

/// The longest line, in bytes.
pub(crate) const LINE: u64 = 64 << 20;

/// The keys of JSON lines in the order in which they were found, and what their values are.
#[derive(Default)]
struct Keys {
    order: Vec<String>,
    kinds: HashMap<String, Kinds>,
    relations: Relations,
}

fn of_json(files: &[(Blob, ReadOptions)], relation: Option<&str>) -> Result<Found> {
    let mut keys = Keys::default();
    let mut rows = Vec::with_capacity(files.len());
    for (blob, _) in files {
        rows.push(keys.read(blob, relation, rows.iter().sum())?);
    }
    let Keys { order, kinds, relations } = keys;
    let odd = |name: &String| {
        let (odd, others) = kinds.get(name)?.odd()?;
        Some(OddCell { column: name.clone(), row: odd.row, text: odd.text.clone(), others })
    };
    let odd = order.iter().filter_map(odd).collect();
    let whole = order.iter().filter(|name| kinds.get(*name).is_some_and(Kinds::is_whole)).cloned().collect();
    let columns = order.into_iter().map(|name| {
        let ty = kinds.get(&name).map_or_else(|| ColumnType::plain(DataType::Utf8), Kinds::column);
        (name, ty)
    });
    let roles = Roles { relations: relations.finish(), labels: None, keys: None };
    Ok(Found { columns: columns.collect(), rows, roles, odd, whole })
}

impl Keys {
    /// Reads a file whose first row is row `first` of the table; returns the number of its lines.
    fn read(&mut self, blob: &Blob, relation: Option<&str>, first: u64) -> Result<u64> {
        let Keys { order, kinds, relations } = self;
        let mut input = BufReader::new(PackedFile::of(blob.clone())?.reader()?);
        let mut members = Members::default();
        let (mut rows, mut line, mut text) = (0, 0u64, Vec::new());
        loop {
            text.clear();
            line += 1;
            let place = || blob.place().line(line);
            let read = (&mut input).take(LINE + 1).read_until(b'\n', &mut text);
            if read.map_err(|error| Error::from(error).at(place()))? == 0 {
                break;
            }
            if text.len() as u64 > LINE {
                return Err(Error::new(Kind::TooLarge, format!("the line has more than {LINE} bytes")).at(place()));
            }
            let bytes = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text).trim_ascii();
            if bytes.is_empty() {
                continue;
            }
            let object = object(bytes).map_err(|error| error.at(place()))?;
            let row = first + rows;
            rows += 1;
            let seen = members.read(object, |name, value| {
                if relation == Some(name)
                    && let Json::Text(text) = isomorph_model::json::value(value)?
                {
                    relations.see(&arrow_array::StringArray::from(vec![&*text]));
                }
                if let Some(known) = kinds.get_mut(name) {
                    return known.see(value, row);
                }
                order.push(name.to_owned());
                kinds.entry(name.to_owned()).or_default().see(value, row)
            });
            seen.map_err(|error| Error::broken(&JSON_RECORD, error.message().to_owned()).at(place()))?;
            if order.len() > isomorph_storage::limits::COLUMNS {
                return Err(Error::new(Kind::TooLarge, "the lines have too many different keys").at(place()));
            }
        }
        Ok(rows)
    }
}
