//! What one pass over a text tells: the types of its columns, where nobody declares them, and how many rows there are.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::ValueKind;
use isomorph_model::type_name::list_of;
use isomorph_storage::Blob;
use isomorph_tables::rules::JSON_RECORD;
use isomorph_tables::{Encoding, PackedFile, ReadOptions, Selection, TableReader, TypeGuess};
use serde_json::Value;

use crate::sql::ColumnType;

/// The most relations that one column names.
pub(crate) const RELATIONS: usize = 100;

/// What was found.
pub(crate) struct Found {
    /// Names and types of columns.
    pub columns: Vec<(String, ColumnType)>,
    pub rows: u64,
    /// The values of the column that names relations, and in how many rows each stands.
    pub relations: Vec<(String, u64)>,
}

/// The different texts of a column, in the order of their bytes; one more than [`RELATIONS`] if there are more.
#[derive(Default)]
pub(crate) struct Relations(std::collections::BTreeMap<String, u64>);

impl Relations {
    pub fn see(&mut self, column: &dyn Array) {
        let Some(texts) = column.as_string_opt::<i32>() else { return };
        for text in texts.iter().flatten() {
            let has_room = self.0.len() <= RELATIONS;
            match self.0.get_mut(text) {
                Some(count) => *count += 1,
                None if has_room => {
                    self.0.insert(text.to_owned(), 1);
                }
                None => {}
            }
        }
    }

    pub fn finish(self) -> Vec<(String, u64)> {
        self.0.into_iter().collect()
    }
}

/// Reads a text once.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn survey(blob: &Blob, encoding: Encoding, read: &ReadOptions, relation: Option<&str>) -> Result<Found> {
    if encoding == Encoding::JsonLines { of_json(blob, relation) } else { of_csv(blob, read, relation) }
}

/// The names of the columns of a CSV file.
///
/// # Errors
/// When the first line cannot be read.
fn header(blob: &Blob, read: &ReadOptions) -> Result<Vec<String>> {
    if let Some(names) = &read.csv.names {
        return Ok(names.clone());
    }
    let mut options = ReadOptions { schema: Some(Arc::new(Schema::empty())), ..read.clone() };
    options.csv.keep_other_columns = true;
    let reader = TableReader::open(blob.clone(), Encoding::Csv, &options)?;
    Ok(reader.schema().fields().iter().map(|field| field.name().clone()).collect())
}

fn of_csv(blob: &Blob, read: &ReadOptions, relation: Option<&str>) -> Result<Found> {
    let names = header(blob, read)?;
    let fields: Vec<Field> = names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    let options = ReadOptions { schema: Some(Arc::new(Schema::new(fields))), ..read.clone() };
    let reader = TableReader::open(blob.clone(), Encoding::Csv, &options)?;
    let relation = relation.and_then(|name| names.iter().position(|own| own == name));
    let (mut guesses, mut relations, mut rows) = (vec![TypeGuess::default(); names.len()], Relations::default(), 0);
    for batch in reader.batches(&Selection::all())? {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        for (at, (guess, column)) in guesses.iter_mut().zip(batch.columns()).enumerate() {
            column.as_string::<i32>().iter().flatten().for_each(|text| guess.see(text));
            if relation == Some(at) {
                relations.see(column.as_ref());
            }
        }
    }
    let columns = names.into_iter().zip(&guesses).enumerate().map(|(at, (name, guess))| {
        let data_type = if relation == Some(at) { DataType::Utf8 } else { guess.data_type() };
        (name, ColumnType::plain(data_type))
    });
    Ok(Found { columns: columns.collect(), rows, relations: relations.finish() })
}

/// What the values of a JSON key are.
#[derive(Default)]
struct Kinds {
    bool: bool,
    int: bool,
    float: bool,
    /// An integer that no double is.
    large: bool,
    text: bool,
    list: Option<Box<Kinds>>,
    other: bool,
}

impl Kinds {
    fn see(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.bool = true,
            Value::String(_) => self.text = true,
            Value::Number(number) => match number.as_i64() {
                Some(value) => {
                    self.int = true;
                    self.large |= value.unsigned_abs() > 1 << 53;
                }
                None if number.is_f64() => self.float = true,
                None => self.other = true,
            },
            Value::Array(items) => {
                let list = self.list.get_or_insert_default();
                items.iter().for_each(|item| list.see(item));
            }
            Value::Object(_) => self.other = true,
        }
    }

    fn scalar(&self) -> Option<DataType> {
        let numbers = self.int || self.float;
        match (self.bool, numbers, self.text) {
            _ if self.other => None,
            (true, false, false) => Some(DataType::Boolean),
            (false, true, false) if !self.float => Some(DataType::Int64),
            (false, true, false) if !self.large => Some(DataType::Float64),
            (false, false, _) => Some(DataType::Utf8),
            _ => None,
        }
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

/// The longest line, in bytes.
const LINE: u64 = 64 << 20;

fn of_json(blob: &Blob, relation: Option<&str>) -> Result<Found> {
    let mut input = BufReader::new(PackedFile::of(blob.clone())?.reader()?);
    let (mut order, mut kinds) = (Vec::<String>::new(), HashMap::<String, Kinds>::new());
    let (mut relations, mut rows, mut line, mut text) = (Relations::default(), 0, 0u64, Vec::new());
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
        let object: serde_json::Map<String, Value> = serde_json::from_slice(bytes)
            .map_err(|error| Error::broken(&JSON_RECORD, error.to_string()).at(place()))?;
        rows += 1;
        for (name, value) in &object {
            if let (true, Value::String(text)) = (relation == Some(name.as_str()), value) {
                relations.see(&arrow_array::StringArray::from(vec![text.as_str()]));
            }
            match kinds.get_mut(name) {
                Some(known) => known.see(value),
                None => {
                    order.push(name.clone());
                    kinds.entry(name.clone()).or_default().see(value);
                }
            }
        }
        if order.len() > isomorph_storage::limits::COLUMNS {
            return Err(Error::new(Kind::TooLarge, "the lines have too many different keys").at(place()));
        }
    }
    let columns = order.into_iter().map(|name| {
        let ty = kinds.get(&name).map_or_else(|| ColumnType::plain(DataType::Utf8), Kinds::column);
        (name, ty)
    });
    Ok(Found { columns: columns.collect(), rows, relations: relations.finish() })
}
