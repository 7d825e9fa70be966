//! Rows as lines of text.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_cast::cast;
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Schema};
use isomorph_error::{Error, Place, Result};

use super::float::push_float;

/// The header line, names quoted.
///
/// # Errors
/// [`isomorph_error::Kind::Unsupported`] for a column whose values are lists or structs.
pub(crate) fn header(schema: &Schema) -> Result<String> {
    let mut line = String::new();
    for field in schema.fields() {
        if field.data_type().is_nested() {
            let message = format!("text cannot hold column {} of type {}", field.name(), field.data_type());
            return Err(Error::unsupported(message).at(Place::field(field.name())).hint("write Parquet"));
        }
        separate(&mut line);
        push_quoted(&mut line, field.name());
    }
    line.push('\n');
    Ok(line)
}

fn separate(line: &mut String) {
    if !line.is_empty() && !line.ends_with('\n') {
        line.push(',');
    }
}

/// Appends text in quotes, quotes doubled.
fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'"', rest.as_bytes()) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        out.push('"');
        rest = after;
    }
    out.push_str(rest);
    out.push('"');
}

/// The columns of a batch, ready to be written line by line.
pub(crate) struct Lines(Vec<Cells>);

enum Cells {
    Text(StringArray),
    Signed(Int64Array),
    Unsigned(UInt64Array),
    Float(Float64Array),
    Bool(BooleanArray),
    Shown(ArrayRef),
}

impl Lines {
    /// The rows of `batch`.
    ///
    /// # Errors
    /// When a column cannot be brought to text.
    pub fn of(batch: &RecordBatch) -> Result<Self> {
        batch.columns().iter().map(Cells::of).collect::<Result<_>>().map(Lines)
    }

    /// Appends one row with its line end.
    ///
    /// # Errors
    /// When a value cannot be shown.
    pub fn push(&self, row: usize, out: &mut String) -> Result<()> {
        for (index, cells) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            cells.push(row, out)?;
        }
        out.push('\n');
        Ok(())
    }
}

impl Cells {
    fn of(column: &ArrayRef) -> Result<Cells> {
        let as_type = |to: &DataType| cast(column, to).map_err(|error| failed(&error));
        Ok(match column.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Cells::Text(as_type(&DataType::Utf8)?.as_string().clone())
            }
            integer if integer.is_signed_integer() => {
                Cells::Signed(as_type(&DataType::Int64)?.as_primitive::<Int64Type>().clone())
            }
            integer if integer.is_unsigned_integer() => {
                Cells::Unsigned(as_type(&DataType::UInt64)?.as_primitive::<UInt64Type>().clone())
            }
            float if float.is_floating() => {
                Cells::Float(as_type(&DataType::Float64)?.as_primitive::<Float64Type>().clone())
            }
            DataType::Boolean => Cells::Bool(column.as_boolean().clone()),
            _ => Cells::Shown(column.clone()),
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Cells::Text(array) => array,
            Cells::Signed(array) => array,
            Cells::Unsigned(array) => array,
            Cells::Float(array) => array,
            Cells::Bool(array) => array,
            Cells::Shown(array) => array,
        }
    }

    fn push(&self, row: usize, out: &mut String) -> Result<()> {
        if self.array().is_null(row) {
            out.push_str("\"\"");
            return Ok(());
        }
        match self {
            Cells::Text(array) => push_quoted(out, array.value(row)),
            // Writing into a string cannot fail.
            Cells::Signed(array) => drop(write!(out, "{}", array.value(row))),
            Cells::Unsigned(array) => drop(write!(out, "{}", array.value(row))),
            Cells::Float(array) if array.value(row).is_nan() => out.push_str("\"\""),
            Cells::Float(array) => push_float(out, array.value(row)),
            Cells::Bool(array) => out.push_str(if array.value(row) { "True" } else { "False" }),
            Cells::Shown(array) => {
                push_quoted(out, &array_value_to_string(array, row).map_err(|error| failed(&error))?);
            }
        }
        Ok(())
    }
}

fn failed(error: &arrow_schema::ArrowError) -> Error {
    Error::unsupported(format!("a column cannot be written as text: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_dialect_of_pandas() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("src_name", Arc::new(StringArray::from(vec!["a \"b\", c", "x\ny"]))),
            ("edge_id", Arc::new(arrow_array::Int32Array::from(vec![-1, 0]))),
            ("rel_name", Arc::new(StringArray::from(vec![None, Some("r")]))),
            ("truth", Arc::new(Float64Array::from(vec![1.0, 1e-7]))),
            ("is_rdf", Arc::new(BooleanArray::from(vec![false, true]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut text = header(batch.schema_ref()).unwrap();
        let lines = Lines::of(&batch).unwrap();
        lines.push(0, &mut text).unwrap();
        lines.push(1, &mut text).unwrap();
        let wanted = "\"src_name\",\"edge_id\",\"rel_name\",\"truth\",\"is_rdf\"\n\
                      \"a \"\"b\"\", c\",-1,\"\",1.0,False\n\
                      \"x\ny\",0,\"r\",1e-07,True\n";
        assert_eq!(text, wanted);
    }
}
