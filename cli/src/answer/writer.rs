//! Writes record batches in the form that is asked for, as they come.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph::convert::RecordTexts;
use isomorph::tables::{Encoding, TableWriter, WriteOptions};
use isomorph::{Error, Result};

use super::spelled::Spelled;
use super::table::TableText;
use super::{AnswerFormat, Sink};
use crate::render::Palette;

/// Writes an answer.
pub struct AnswerWriter {
    form: Form,
    spelled: Spelled,
    rows: u64,
}

enum Form {
    Table(TableText, Sink),
    Json { out: Sink, is_array: bool },
    File(TableWriter<Sink>, Changed),
}

impl AnswerWriter {
    /// Begins an answer with these columns. `width` is that of the terminal.
    ///
    /// # Errors
    /// Returns an error for columns that the format lacks, or if the output cannot be written.
    pub fn new(
        schema: &SchemaRef,
        format: AnswerFormat,
        out: Sink,
        width: Option<usize>,
        palette: Palette,
    ) -> Result<Self> {
        let spelled = Spelled::new(schema, format.is_text());
        let schema = spelled.schema();
        let file = |out, encoding| -> Result<Form> {
            let changed = Changed::of(schema, encoding);
            let options = WriteOptions { field_metadata: true, ..WriteOptions::default() };
            let writer = TableWriter::create(out, encoding, &changed.schema, &options)?;
            Ok(Form::File(writer, changed))
        };
        let form = match format {
            AnswerFormat::Table => Form::Table(TableText::new(schema, width, palette), out),
            AnswerFormat::Json | AnswerFormat::Jsonl => {
                let is_array = format == AnswerFormat::Json;
                Form::Json { out, is_array }
            }
            AnswerFormat::Csv => file(out, Encoding::Csv)?,
            AnswerFormat::Parquet => file(out, Encoding::Parquet)?,
            AnswerFormat::Arrow => file(out, Encoding::Arrow)?,
        };
        Ok(AnswerWriter { form, spelled, rows: 0 })
    }

    /// Writes rows.
    ///
    /// # Errors
    /// Returns an error if a value has no such form, or if the output cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = self.spelled.batch(batch)?;
        match &mut self.form {
            Form::Table(text, out) => text.write(&batch, out)?,
            Form::Json { out, is_array } => {
                let first = if self.rows == 0 { "[\n" } else { ",\n" };
                let around = if *is_array { (first, ",\n", "") } else { ("", "", "\n") };
                objects(&batch, around, out)?;
            }
            Form::File(writer, changed) => writer.write(&changed.batch(&batch)?).map_err(|error| {
                let is_blank = error.message().contains("in the only column");
                if is_blank { error.hint("--format jsonl, or a second column, or coalesce(x, 'none')") } else { error }
            })?,
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Writes what is left, and returns the output, which is not published yet, and the number of rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(self) -> Result<(Sink, u64)> {
        let out = match self.form {
            Form::Table(mut text, mut out) => {
                text.print(&mut out)?;
                out
            }
            Form::Json { mut out, is_array } => {
                if is_array {
                    out.write_all(if self.rows == 0 { b"[]\n" } else { b"\n]\n" })?;
                }
                out
            }
            Form::File(writer, _) => writer.finish()?.0,
        };
        Ok((out, self.rows))
    }
}

/// Writes an object for each row; `around` are the texts before the first one, before each further one, and behind each.
fn objects(batch: &RecordBatch, around: (&str, &str, &str), out: &mut dyn Write) -> Result<()> {
    let texts = RecordTexts::new(batch)?;
    let mut line = String::new();
    for row in 0..batch.num_rows() {
        line.clear();
        line.push_str(if row == 0 { around.0 } else { around.1 });
        texts.push(row, &mut line);
        line.push_str(around.2);
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Writes an object for each row in a line of its own.
///
/// # Errors
/// Returns an error if a value has no such form, or if the output cannot be written.
#[cfg(feature = "query")]
pub fn write_lines(batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    objects(&Spelled::new(batch.schema_ref(), true).batch(batch)?, ("", "", "\n"), out)
}

/// Columns that an encoding lacks become text: lists and objects as JSON, other values as they are printed.
struct Changed {
    schema: SchemaRef,
    columns: Vec<Change>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Same,
    Text,
    Json,
}

impl Changed {
    fn of(schema: &SchemaRef, encoding: Encoding) -> Changed {
        let columns: Vec<Change> = schema.fields().iter().map(|field| change(field.data_type(), encoding)).collect();
        let fields = schema.fields().iter().zip(&columns).map(|(field, change)| match change {
            Change::Same => Field::clone(field).with_nullable(true),
            Change::Text | Change::Json => Field::new(field.name(), DataType::Utf8, true),
        });
        Changed { schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns }
    }

    fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let broken = |error: arrow_schema::ArrowError| {
            Error::malformed("a value of the answer cannot be written").caused_by(error)
        };
        // Some types of files of columns have no JSON form.
        let texts = self.columns.contains(&Change::Json).then(|| RecordTexts::new(batch)).transpose()?;
        let columns =
            batch.columns().iter().zip(&self.columns).enumerate().map(|(at, (column, change))| match change {
                Change::Same => Ok(ArrayRef::clone(column)),
                Change::Text => cast(column, &DataType::Utf8).map_err(broken),
                Change::Json => {
                    let cells = (0..column.len()).map(|row| {
                        let mut text = String::new();
                        texts.as_ref().is_some_and(|texts| texts.push_cell(at, row, &mut text)).then_some(text)
                    });
                    Ok(Arc::new(StringArray::from_iter(cells)) as ArrayRef)
                }
            });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options).map_err(broken)
    }
}

fn change(data_type: &DataType, encoding: Encoding) -> Change {
    use DataType as T;
    match (encoding, data_type) {
        (Encoding::Csv, nested) if nested.is_nested() => Change::Json,
        (
            Encoding::Csv,
            T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) | T::Time32(_) | T::Time64(_),
        )
        | (_, T::Null | T::Utf8View | T::Dictionary(..)) => Change::Text,
        _ => Change::Same,
    }
}
