//! Conversion between columns and lexical forms.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, ListArray, StringArray, make_array};
use arrow_buffer::{ArrowNativeType, NullBuffer, OffsetBuffer};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use isomorph_error::{Error, Result};

use super::{RDF_JSON, long_years};
use crate::json::{self, Value, push_string};
use crate::{Cardinality, Property, ValueKind, xsd};

/// Whether literals represent every value of a property losslessly.
pub fn holds(property: &Property) -> bool {
    match (&property.kind, &property.data_type) {
        (ValueKind::Json | ValueKind::Bag, DataType::Utf8) => true,
        (ValueKind::Plain, DataType::List(item)) => holds_items(item.data_type()),
        (ValueKind::Plain, data_type) => property.cardinality == Cardinality::Single && holds_items(data_type),
        _ => false,
    }
}

fn holds_items(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Utf8 | T::Boolean | T::Float32 | T::Float64 | T::Binary | T::Date32 => true,
        T::Time32(_) | T::Time64(_) | T::Timestamp(_, _) => true,
        T::Decimal128(_, scale) => *scale >= 0,
        integer => integer.is_integer(),
    }
}

/// The digits of floats of fewer than 64 bits in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JsonDigits {
    /// Digits of the exact number in 64 bits, which readers of JSON use.
    #[default]
    Of64Bits,
    /// The shortest digits in the float's own width, as written by earlier versions: for a reader with 64 bits they are
    /// another number.
    Shortest,
}

/// Returns the lexical forms of a column and their datatype; null cells stay null.
pub(super) fn write(column: &ArrayRef) -> Result<(StringArray, String)> {
    write_with(column, JsonDigits::default())
}

/// Same as `write`, with these digits of floats in lists.
pub(super) fn write_with(column: &ArrayRef, digits: JsonDigits) -> Result<(StringArray, String)> {
    use DataType as T;
    let xsd = |name: &str| format!("{}{name}", xsd::NAMESPACE);
    let floats = |values: &mut dyn Iterator<Item = Option<f64>>| {
        built(values, |value, out| {
            // Writing to a builder cannot fail.
            let _ = xsd::push_double(out, value);
        })
    };
    let (texts, datatype) = match column.data_type() {
        T::Float16 => return write(&cast(column, &T::Float64)?),
        T::Float32 => {
            let texts = built(&mut column.as_primitive::<Float32Type>().iter(), |value, out| {
                let _ = xsd::push_float(out, value);
            });
            (texts, xsd("float"))
        }
        T::Float64 => (floats(&mut column.as_primitive::<Float64Type>().iter()), xsd("double")),
        T::Binary => {
            let texts = built(&mut column.as_binary::<i32>().iter(), |value, out| {
                let _ = std::fmt::Write::write_str(out, &STANDARD.encode(value));
            });
            (texts, xsd("base64Binary"))
        }
        T::Timestamp(unit, Some(_)) => {
            // The instant in UTC, whatever its display zone is.
            let (texts, datatype) = write(&retyped(column, T::Timestamp(*unit, None))?)?;
            (texts.iter().map(|text| text.map(|text| format!("{text}Z"))).collect(), datatype)
        }
        T::List(_) | T::LargeList(_) | T::FixedSizeList(_, _) => (json_texts(column, digits)?, RDF_JSON.to_owned()),
        data_type => {
            let name = match data_type {
                T::Null | T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Dictionary(_, _) => "string",
                T::Boolean => "boolean",
                T::Date32 => "date",
                T::Time32(_) | T::Time64(_) => "time",
                T::Timestamp(_, _) => "dateTime",
                T::Decimal128(_, _) | T::Decimal256(_, _) => "decimal",
                integer if integer.is_integer() => "integer",
                other => return Err(Error::unsupported(format!("literals cannot represent values of type {other}"))),
            };
            let texts = match (cast(column, &T::Utf8), name) {
                (Ok(texts), "date" | "dateTime") => long_years::unsigned(texts.as_string::<i32>().clone()),
                (Ok(texts), _) => texts.as_string::<i32>().clone(),
                (Err(error), _) => long_years::write(column).ok_or(error)?,
            };
            let fraction = matches!(name, "time" | "dateTime" | "decimal");
            (if fraction { texts.iter().map(|text| text.map(trimmed)).collect() } else { texts }, xsd(name))
        }
    };
    Ok((texts, datatype))
}

fn built<T>(values: &mut dyn Iterator<Item = Option<T>>, push: impl Fn(T, &mut StringBuilder)) -> StringArray {
    let mut builder = StringBuilder::new();
    for value in values {
        match value {
            Some(value) => {
                push(value, &mut builder);
                builder.append_value("");
            }
            None => builder.append_null(),
        }
    }
    builder.finish()
}

/// Removes trailing zeros of a fraction, as in the canonical form of decimals and times.
fn trimmed(text: &str) -> String {
    let Some((whole, rest)) = text.split_once('.') else { return text.to_owned() };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at(end);
    match fraction.trim_end_matches('0') {
        "" => format!("{whole}{zone}"),
        fraction => format!("{whole}.{fraction}{zone}"),
    }
}

/// Reinterprets numbers as another type of the same width.
pub(super) fn retyped(column: &ArrayRef, to: DataType) -> Result<ArrayRef> {
    let data = column.to_data().into_builder().data_type(to).build();
    data.map(make_array).map_err(|error| Error::malformed(error.to_string()))
}

fn cast(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let exact = CastOptions { safe: false, ..Default::default() };
    cast_with_options(column, to, &exact).map_err(|error| match error {
        ArrowError::CastError(message) => Error::malformed(message),
        error => Error::malformed(error.to_string()),
    })
}

/// Returns JSON texts of a column. Values for which JSON has no notation become strings with the lexical form.
fn json_texts(column: &ArrayRef, digits: JsonDigits) -> Result<StringArray> {
    let items = match column.data_type() {
        DataType::List(_) => column,
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => &cast(column, &DataType::List(item.clone()))?,
        DataType::Boolean => return Ok(write(column)?.0),
        DataType::Float16 | DataType::Float32 if digits == JsonDigits::Of64Bits => {
            return json_texts(&cast(column, &DataType::Float64)?, digits);
        }
        data_type => {
            let number = data_type.is_integer();
            let (texts, _) = write(column)?;
            let quoted = |text: &str| {
                let mut out = String::new();
                push_string(&mut out, text);
                out
            };
            let bare = |text: &str| number || data_type.is_floating() && !text.ends_with(['N', 'F']);
            let spelt = |text: &str| if bare(text) { text.to_owned() } else { quoted(text) };
            return Ok(texts.iter().map(|text| text.map(spelt)).collect());
        }
    };
    let list = items.as_list::<i32>();
    let texts = json_texts(list.values(), digits)?;
    let joined = |row: usize| {
        let (from, to) = (list.value_offsets()[row].as_usize(), list.value_offsets()[row + 1].as_usize());
        let items = (from..to).map(|item| if texts.is_valid(item) { texts.value(item) } else { "null" });
        format!("[{}]", items.collect::<Vec<_>>().join(","))
    };
    Ok((0..list.len()).map(|row| list.is_valid(row).then(|| joined(row))).collect())
}

/// Parses lexical forms as a column of a type.
///
/// # Errors
/// Returns an error if a form is not valid for the type.
pub(super) fn read(data_type: &DataType, texts: &[Option<String>]) -> Result<ArrayRef> {
    use DataType as T;
    let misfit = |text: &str| Error::malformed(format!("{text:?} is not a value of type {data_type}"));
    fn parsed<T: std::str::FromStr>(
        texts: &[Option<String>],
        misfit: impl Fn(&str) -> Error,
    ) -> Result<Vec<Option<T>>> {
        texts.iter().map(|text| text.as_ref().map(|text| text.parse().map_err(|_| misfit(text))).transpose()).collect()
    }
    Ok(match data_type {
        T::Float32 => Arc::new(Float32Array::from(parsed::<f32>(texts, misfit)?)),
        T::Float64 => Arc::new(Float64Array::from(parsed::<f64>(texts, misfit)?)),
        T::Binary => {
            let mut builder = BinaryBuilder::new();
            for text in texts {
                let bytes = text.as_ref().map(|text| STANDARD.decode(text).map_err(|_| misfit(text)));
                builder.append_option(bytes.transpose()?);
            }
            Arc::new(builder.finish())
        }
        T::Timestamp(unit, Some(_)) => {
            let moments = read_texts(texts, &T::Timestamp(*unit, Some("+00:00".into())))?;
            retyped(&moments, data_type.clone())?
        }
        T::List(field) => {
            let (mut items, mut lengths) = (Vec::new(), Vec::new());
            for text in texts {
                let before = items.len();
                json::items(text.as_deref().unwrap_or("[]"), |item| {
                    items.push(plain_text(item)?);
                    Ok(())
                })?;
                lengths.push(items.len() - before);
            }
            let nulls: NullBuffer = texts.iter().map(Option::is_some).collect();
            let items = read(field.data_type(), &items)?;
            let offsets = OffsetBuffer::from_lengths(lengths);
            let list = ListArray::try_new(Arc::clone(field), offsets, items, Some(nulls));
            Arc::new(list.map_err(|error| Error::malformed(error.to_string()))?)
        }
        _ => read_texts(texts, data_type)?,
    })
}

fn read_texts(texts: &[Option<String>], data_type: &DataType) -> Result<ArrayRef> {
    cast_texts(texts.iter().map(Option::as_deref).collect(), data_type)
}

fn cast_texts(texts: StringArray, data_type: &DataType) -> Result<ArrayRef> {
    let usual = |texts: StringArray| cast(&(Arc::new(texts) as ArrayRef), data_type);
    match long_years::read(&texts, data_type, usual)? {
        Some(column) => Ok(column),
        None => usual(texts),
    }
}

/// Same as [`read`], from a column of lexical forms.
///
/// # Errors
/// Returns an error if a form is not valid for the type.
pub(super) fn read_column(data_type: &DataType, texts: StringArray) -> Result<ArrayRef> {
    use DataType as T;
    let misfit = |text: &str| Error::malformed(format!("{text:?} is not a value of type {data_type}"));
    Ok(match data_type {
        T::Utf8 => Arc::new(texts),
        T::Float32 => {
            let parsed = texts.iter().map(|text| text.map(|text| text.parse().map_err(|_| misfit(text))).transpose());
            Arc::new(parsed.collect::<Result<Float32Array>>()?)
        }
        T::Float64 => {
            let parsed = texts.iter().map(|text| text.map(|text| text.parse().map_err(|_| misfit(text))).transpose());
            Arc::new(parsed.collect::<Result<Float64Array>>()?)
        }
        T::Binary | T::Timestamp(_, Some(_)) | T::List(_) => {
            let texts: Vec<Option<String>> = texts.iter().map(|text| text.map(str::to_owned)).collect();
            read(data_type, &texts)?
        }
        _ => cast_texts(texts, data_type)?,
    })
}

/// Returns the lexical form of an item of a JSON array; `None` for null.
fn plain_text(raw: &str) -> Result<Option<String>> {
    Ok(match json::value(raw)? {
        Value::Null => None,
        Value::Text(text) => Some(text.into_owned()),
        _ => Some(raw.to_owned()),
    })
}

/// Returns lexical form and datatype of a JSON value.
pub(super) fn of_json(raw: &str) -> Result<(Cow<'_, str>, &'static str)> {
    Ok(match json::value(raw)? {
        Value::Text(text) => (text, xsd::STRING),
        Value::Bool(value) => (Cow::Borrowed(if value { "true" } else { "false" }), xsd::BOOLEAN),
        Value::Integer(value) => (value.to_string().into(), xsd::INTEGER),
        Value::Float(value) => {
            let mut text = String::new();
            let _ = xsd::push_double(&mut text, value);
            (text.into(), xsd::DOUBLE)
        }
        Value::Null | Value::Array(_) | Value::Object(_) | Value::Number(_) => (Cow::Borrowed(raw), RDF_JSON),
    })
}

/// Returns the JSON value of a literal created by [`of_json`].
pub(super) fn to_json(lexical: &str, datatype: &str) -> String {
    match (xsd::read(datatype, lexical), lexical) {
        (Some(xsd::Scalar::Text), _) => {
            let mut out = String::new();
            push_string(&mut out, lexical);
            out
        }
        (Some(xsd::Scalar::Float(_)), "INF") => "Infinity".to_owned(),
        (Some(xsd::Scalar::Float(_)), "-INF") => "-Infinity".to_owned(),
        _ => lexical.to_owned(),
    }
}
