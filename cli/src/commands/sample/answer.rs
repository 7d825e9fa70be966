//! The result of a draw, as columns: printed as a table or as JSON, or written as Arrow.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field};
use isomorph::sampling::Generator;
use isomorph::sampling::answers::Drawn;
use isomorph::storage::{Mode, Staging};
use isomorph::{Error, Kind, Result};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::args::file_place;
use crate::args::sample::CommonArgs;
use crate::console::Console;
use crate::render::{Cell, Column, Table, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    sample: &'a str,
    seed: i64,
    generator: &'a str,
    left_out: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel: Option<usize>,
    rows: Vec<Map<String, Value>>,
}

/// Prints the result.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn show(drawn: &Drawn, path: &str, left_out: &[String], common: &CommonArgs, console: &Console) -> Result<()> {
    let generator = match common.generator {
        Generator::Stable => "stable",
        Generator::Compat => "deepgnn",
    };
    if console.json {
        let mut rows = vec![Map::new(); drawn.rows()];
        for ((field, column), numbers) in drawn.columns().zip(drawn.numbers()) {
            let mut numbers = numbers.into_iter().flatten().copied();
            for (row, mut value) in rows.iter_mut().zip(json(column)?) {
                as_numbers(&mut value, &mut numbers);
                row.insert(field.name().clone(), value);
            }
        }
        return console.document(&Document {
            path,
            sample: drawn.what,
            seed: common.seed,
            generator,
            left_out,
            parallel: Some(drawn.hidden).filter(|edges| *edges > 0),
            rows,
        });
    }
    let mut screen = console.screen();
    screen.line(drawn.what, &format!("{}, seed {}", in_words(drawn), common.seed));
    if drawn.hidden > 0 {
        screen.line(
            "not shown",
            &format!("features of {} parallel edges: only those of the first edge are shown", drawn.hidden),
        );
    }
    if !left_out.is_empty() {
        screen.line("ignored", &format!("groups: {}    --groups reify reads them as nodes", left_out.join(", ")));
    }
    let alignment = |field: &Field| if field.data_type().is_numeric() { Column::number() } else { Column::text(1) };
    let fields = || drawn.columns().map(|(field, _)| field);
    let mut table = Table::new(std::iter::once(Column::stage()).chain(fields().map(alignment)).collect::<Vec<_>>());
    table.row(std::iter::once(Cell::from("")).chain(fields().map(|field| Cell::from(field.name()))));
    let options = FormatOptions::default().with_null("–");
    let formatters = drawn.columns().map(|(_, column)| ArrayFormatter::try_new(column.as_ref(), &options));
    let formatters = formatters.collect::<std::result::Result<Vec<_>, _>>().map_err(unshown)?;
    for row in 0..drawn.rows() {
        let cells = formatters.iter().map(|formatter| Cell::from(formatter.value(row).to_string()));
        table.row(std::iter::once(Cell::from("")).chain(cells));
    }
    screen.table(&table);
    console.show(&screen)
}

/// Writes the result to a new Arrow IPC file.
///
/// # Errors
/// Returns an error if the file already exists or cannot be written.
pub fn write(drawn: &Drawn, file: &str, console: &Console) -> Result<()> {
    let location = file_place(file)?;
    let (rows, batch) = (drawn.rows(), drawn.to_record_batch()?);
    let staging = Staging::file(&location, Mode::CreateNew)?;
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new(staging.create("")?, batch.schema_ref()).map_err(unwritten)?;
    writer.write(&batch).map_err(unwritten)?;
    writer.into_inner().map_err(unwritten)?.finish()?;
    let bytes = staging.commit(&[])?.bytes;
    let mut screen = console.screen();
    screen.line(drawn.what, &in_words(drawn));
    screen.line("wrote", &format!("{file} ({rows} rows)"));
    if drawn.hidden > 0 {
        screen.line(
            "not shown",
            &format!("features of {} parallel edges: only those of the first edge are shown", drawn.hidden),
        );
    }
    console.show(&screen)?;
    let mut document = serde_json::json!({ "sample": drawn.what, "wrote": file, "rows": rows, "bytes": bytes });
    if drawn.hidden > 0 {
        document["parallel"] = drawn.hidden.into();
    }
    console.document(&document)
}

/// Describes how many were drawn, from how many and how. With replacement, the two numbers are not a part and a whole.
fn in_words(drawn: &Drawn) -> String {
    match drawn.from {
        Some(all) => {
            format!("{} drawn from {}, {}", drawn.rows(), of(all, drawn.what.trim_end_matches('s')), drawn.how)
        }
        None => drawn.how.clone(),
    }
}

fn unshown(error: arrow_schema::ArrowError) -> Error {
    Error::usage("the result cannot be printed").caused_by(error)
}

fn unwritten(error: arrow_schema::ArrowError) -> Error {
    match error {
        arrow_schema::ArrowError::IoError(_, io) => io.into(),
        other => Error::new(Kind::Io, "the result cannot be written").caused_by(other),
    }
}

/// Returns the name of a number that JSON cannot represent, as in `dump`.
fn named(number: f64) -> Value {
    let name = match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    };
    Value::from(name)
}

/// Returns the cells of a column: numbers, text, bytes as hexadecimal text, lists of numbers.
fn json(column: &ArrayRef) -> Result<Vec<Value>> {
    let to = |wanted: &DataType| cast(column, wanted).map_err(unshown);
    Ok(match column.data_type() {
        DataType::List(_) | DataType::FixedSizeList(..) => {
            let lists = to(&DataType::new_list(item(column.data_type()), true))?;
            let lists = lists.as_list::<i32>();
            let cells = (0..lists.len()).map(|at| match lists.is_null(at) {
                true => Ok(Value::Null),
                false => json(&lists.value(at)).map(Value::Array),
            });
            cells.collect::<Result<_>>()?
        }
        DataType::Struct(_) => {
            let fields = column.as_struct();
            let mut objects = vec![Map::new(); column.len()];
            for (field, cells) in fields.fields().iter().zip(fields.columns()) {
                for (object, cell) in objects.iter_mut().zip(json(cells)?) {
                    object.insert(field.name().clone(), cell);
                }
            }
            let objects = objects.into_iter().map(Value::Object).enumerate();
            objects.map(|(row, object)| if column.is_null(row) { Value::Null } else { object }).collect()
        }
        DataType::Float16 | DataType::Float32 => {
            let number = |number: f32| {
                // The shortest text of this number as 32 bits, which has fewer digits than as 64 bits.
                let shortest = number.to_string().parse().ok();
                shortest.and_then(Number::from_f64).map_or_else(|| named(f64::from(number)), Value::Number)
            };
            to(&DataType::Float32)?
                .as_primitive::<Float32Type>()
                .iter()
                .map(|cell| cell.map_or(Value::Null, number))
                .collect()
        }
        DataType::Float64 => {
            let number = |number: f64| Number::from_f64(number).map_or_else(|| named(number), Value::Number);
            column.as_primitive::<Float64Type>().iter().map(|cell| cell.map_or(Value::Null, number)).collect()
        }
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            to(&DataType::UInt64)?.as_primitive::<UInt64Type>().iter().map(Value::from).collect()
        }
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => {
            let shown = ArrayFormatter::try_new(column.as_ref(), &FormatOptions::new()).map_err(unshown)?;
            let cell =
                |row| if column.is_null(row) { Value::Null } else { Value::String(shown.value(row).to_string()) };
            (0..column.len()).map(cell).collect()
        }
        DataType::Utf8 => column.as_string::<i32>().iter().map(Value::from).collect(),
        DataType::Binary => {
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            column.as_binary::<i32>().iter().map(|cell| Value::from(cell.map(hex))).collect()
        }
        _ => to(&DataType::Int64)?.as_primitive::<Int64Type>().iter().map(Value::from).collect(),
    })
}

/// Converts keys to JSON numbers where they are numbers, in the order of `numbers`.
fn as_numbers(value: &mut Value, numbers: &mut impl Iterator<Item = bool>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| as_numbers(item, numbers)),
        Value::String(text) if numbers.next() == Some(true) => {
            if let Ok(number) = text.parse::<Number>() {
                *value = Value::Number(number);
            }
        }
        _ => {}
    }
}

fn item(list: &DataType) -> DataType {
    match list {
        DataType::List(field) | DataType::FixedSizeList(field, _) => field.data_type().clone(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{Float32Array, Float64Array};

    use super::*;

    #[test]
    fn what_is_no_number_of_json_is_called_as_in_dump() {
        let expected = ["NaN", "Infinity", "-Infinity"].map(Value::from);
        let single: ArrayRef = Arc::new(Float32Array::from(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY]));
        let double: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]));
        assert_eq!((json(&single).unwrap(), json(&double).unwrap()), (expected.to_vec(), expected.to_vec()));
    }
}
