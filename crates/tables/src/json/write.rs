//! Writes JSON lines like Spark: a key without a value is omitted.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Schema};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use isomorph_error::{Error, Place, Result};

use super::value::is_writable;
use crate::text::cells::{Cells, Value};
use crate::text::civil::{write_date, write_timestamp};
use crate::text::number::{FloatStyle, write_f32, write_f64, write_int};

/// The number of bytes that are written at a time.
const CHUNK: usize = 256 << 10;

/// Writes a file of JSON lines.
pub(crate) struct JsonWriter<W> {
    out: W,
    /// The key of each column, with its quotes and the following colon.
    keys: Vec<Vec<u8>>,
    /// Whether the cells of each column are JSON already.
    raw: Vec<bool>,
    buffer: Vec<u8>,
}

impl<W: Write> JsonWriter<W> {
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for types that cannot be written as JSON.
    pub(crate) fn create(out: W, schema: &Schema, raw: &[String]) -> Result<Self> {
        let mut keys = Vec::with_capacity(schema.fields().len());
        for field in schema.fields() {
            if !is_writable(field.data_type()) {
                let message =
                    format!("writing column `{}` of type {} as JSON is not supported", field.name(), field.data_type());
                return Err(Error::unsupported(message).at(Place::field(field.name())));
            }
            let mut key = Vec::new();
            write_string(field.name(), &mut key);
            key.push(b':');
            keys.push(key);
        }
        let raw = schema.fields().iter().map(|field| raw.contains(field.name())).collect();
        Ok(JsonWriter { out, keys, raw, buffer: Vec::new() })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns: Vec<Column<'_>> = batch.columns().iter().zip(&self.raw).filter_map(Column::of).collect();
        for row in 0..batch.num_rows() {
            self.buffer.push(b'{');
            let mut is_first = true;
            for (position, (column, key)) in columns.iter().zip(&self.keys).enumerate() {
                if column.is_null(row) {
                    continue;
                }
                if !std::mem::take(&mut is_first) {
                    self.buffer.push(b',');
                }
                self.buffer.extend_from_slice(key);
                if !column.write(row, &mut self.buffer) {
                    let schema = batch.schema();
                    let error = Error::unsupported("years before 0 and after 9999 cannot be written as text");
                    return Err(error.at(Place::field(schema.field(position).name()).row(row as u64)));
                }
            }
            self.buffer.extend_from_slice(b"}\n");
            if self.buffer.len() >= CHUNK {
                self.flush()?;
            }
        }
        Ok(())
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

/// A column of scalars or lists.
enum Column<'a> {
    Single(&'a ArrayRef, Cells<'a>),
    List {
        array: &'a ArrayRef,
        offsets: &'a [i32],
        items: Box<Column<'a>>,
    },
    /// JSON text.
    Raw(StringArray),
}

impl<'a> Column<'a> {
    fn of((array, raw): (&'a ArrayRef, &bool)) -> Option<Self> {
        match array.as_string_opt::<i32>().filter(|_| *raw) {
            Some(texts) => Some(Column::Raw(texts.clone())),
            None => Column::new(array),
        }
    }

    fn new(array: &'a ArrayRef) -> Option<Self> {
        match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                let items = Box::new(Column::new(list.values())?);
                Some(Column::List { array, offsets: list.value_offsets(), items })
            }
            _ => Cells::new(array).map(|cells| Column::Single(array, cells)),
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Column::Single(array, _) | Column::List { array, .. } => Arc::as_ref(array).is_null(row),
            Column::Raw(texts) => texts.is_null(row),
        }
    }

    /// Appends a value, or `null`. Returns false if the value cannot be written.
    fn write(&self, row: usize, out: &mut Vec<u8>) -> bool {
        match self {
            _ if self.is_null(row) => out.extend_from_slice(b"null"),
            // A line has no ends of lines inside.
            Column::Raw(texts) => {
                out.extend(texts.value(row).bytes().map(|byte| if byte < b' ' { b' ' } else { byte }))
            }
            Column::Single(_, cells) => return write_value(cells.get(row), out),
            Column::List { offsets, items, .. } => {
                out.push(b'[');
                for item in offsets[row]..offsets[row + 1] {
                    if item > offsets[row] {
                        out.push(b',');
                    }
                    if !items.write(item.as_usize(), out) {
                        return false;
                    }
                }
                out.push(b']');
            }
        }
        true
    }
}

fn write_value(value: Value<'_>, out: &mut Vec<u8>) -> bool {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Value::Int(value) => write_int(value.is_negative(), value.unsigned_abs(), out),
        Value::UInt(value) => write_int(false, value, out),
        Value::Float32(value) if !value.is_finite() => write_special(value.into(), out),
        Value::Float64(value) if !value.is_finite() => write_special(value, out),
        Value::Float32(value) => write_f32(value, FloatStyle::Python, out),
        Value::Float64(value) => write_f64(value, FloatStyle::Python, out),
        Value::Text(text) => write_string(text, out),
        Value::Bytes(bytes) => write_string(&BASE64.encode(bytes), out),
        Value::Date(days) => {
            out.push(b'"');
            let is_written = write_date(days, out);
            out.push(b'"');
            return is_written;
        }
        Value::Timestamp { value, unit, has_zone } => {
            out.push(b'"');
            let is_written = write_timestamp(value, &unit, b'T', out);
            out.extend_from_slice(if has_zone { b"Z\"" } else { b"\"" });
            return is_written;
        }
    }
    true
}

/// Writes floats for which JSON has no notation, like Spark.
fn write_special(value: f64, out: &mut Vec<u8>) {
    let word: &[u8] = match value {
        value if value.is_nan() => b"\"NaN\"",
        value if value > 0.0 => b"\"Infinity\"",
        _ => b"\"-Infinity\"",
    };
    out.extend_from_slice(word);
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    // Writing into memory does not fail.
    let _ = serde_json::to_writer(out, text);
}
