//! Values as bytes: equal values of one family have equal bytes, whatever their width or encoding.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

use crate::json::{self, Value};
use crate::{Cardinality, Property, ValueKind};

/// One byte before each value, so that no value of one family looks like one of another.
#[repr(u8)]
#[derive(Clone, Copy)]
enum Tag {
    Bool = 1,
    Integer,
    Float,
    Decimal,
    Text,
    Bytes,
    Date,
    Time,
    Instant,
    Local,
    Duration,
    List,
    Set,
    Struct,
    JsonNull,
    JsonArray,
    JsonObject,
    JsonNumber,
    Literal,
    Term,
    Tensor,
    SparseTensor,
    Raw,
    Null,
}

/// The cells of a column, ready to be encoded one by one.
pub(super) enum Cells<'a> {
    Empty,
    Bool(&'a arrow_array::BooleanArray),
    I64(&'a [i64], &'a dyn Array),
    Signed(Box<dyn Fn(usize) -> i64 + 'a>, &'a dyn Array),
    Unsigned(Box<dyn Fn(usize) -> u64 + 'a>, &'a dyn Array),
    Float(Box<dyn Fn(usize) -> f64 + 'a>, &'a dyn Array),
    /// Scaled to nanoseconds: what it is, value, factor.
    Ticks(u8, Box<dyn Fn(usize) -> i64 + 'a>, i128, &'a dyn Array),
    Decimal(Box<dyn Fn(usize) -> String + 'a>, &'a dyn Array),
    Text(u8, Box<dyn Fn(usize) -> &'a [u8] + 'a>, &'a dyn Array),
    Json(Box<dyn Fn(usize) -> &'a [u8] + 'a>, &'a dyn Array),
    Literal(&'a str, Box<dyn Fn(usize) -> &'a [u8] + 'a>, &'a dyn Array),
    Dictionary(Vec<usize>, Box<Cells<'a>>, &'a dyn Array),
    List(u8, Box<dyn Fn(usize) -> (usize, usize) + 'a>, Box<Cells<'a>>, &'a dyn Array),
    Struct(u8, Vec<(String, Cells<'a>)>, &'a dyn Array),
}

fn unsupported(data_type: &DataType) -> Error {
    Error::unsupported(format!("values of type {data_type} have no place in the model"))
}

/// A reader of the bytes of text or binary cells.
fn byte_cells<'a>(array: &'a dyn Array) -> Result<Box<dyn Fn(usize) -> &'a [u8] + 'a>> {
    Ok(match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(move |row| array.value(row).as_bytes())
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(move |row| array.value(row).as_bytes())
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(move |row| array.value(row).as_bytes())
        }
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            Box::new(move |row| array.value(row))
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            Box::new(move |row| array.value(row))
        }
        DataType::FixedSizeBinary(_) => {
            let array = array.as_fixed_size_binary();
            Box::new(move |row| array.value(row))
        }
        other => return Err(unsupported(other)),
    })
}

macro_rules! widen {
    ($array:expr, $ty:ty, $to:ty) => {{
        let values = $array.as_primitive::<$ty>().values();
        Box::new(move |row: usize| values.get(row).map_or(Default::default(), |value| <$to>::from(*value)))
    }};
}

impl<'a> Cells<'a> {
    /// The cells of `column`, read as `property` says.
    ///
    /// # Errors
    /// When the model has no place for the type.
    pub fn new(property: &'a Property, column: &'a dyn Array) -> Result<Self> {
        match &property.kind {
            ValueKind::Plain => {
                let cells = Cells::plain(column)?;
                Ok(match cells {
                    Cells::List(_, range, items, array) if property.cardinality == Cardinality::Set => {
                        Cells::List(Tag::Set as u8, range, items, array)
                    }
                    other => other,
                })
            }
            ValueKind::Json | ValueKind::Bag => Ok(Cells::Json(byte_cells(column)?, column)),
            ValueKind::Term => Ok(Cells::Text(Tag::Term as u8, byte_cells(column)?, column)),
            ValueKind::Raw => Ok(Cells::Text(Tag::Raw as u8, byte_cells(column)?, column)),
            ValueKind::Literal { datatype } => match datatype {
                Some(datatype) => Ok(Cells::Literal(datatype, byte_cells(column)?, column)),
                None => Cells::plain(column).map(|cells| cells.tagged(Tag::Literal)),
            },
            ValueKind::Tensor { sparse: false, .. } => Cells::plain(column).map(|cells| cells.tagged(Tag::Tensor)),
            ValueKind::Tensor { sparse: true, .. } => Cells::plain(column).map(|cells| cells.tagged(Tag::SparseTensor)),
        }
    }

    fn tagged(self, tag: Tag) -> Self {
        match self {
            Cells::List(_, range, items, array) => Cells::List(tag as u8, range, items, array),
            Cells::Struct(_, fields, array) => Cells::Struct(tag as u8, fields, array),
            other => other,
        }
    }

    fn plain(column: &'a dyn Array) -> Result<Self> {
        use DataType as T;
        Ok(match column.data_type() {
            T::Null => Cells::Empty,
            T::Boolean => Cells::Bool(column.as_boolean()),
            T::Int64 => Cells::I64(column.as_primitive::<Int64Type>().values(), column),
            T::Int8 => Cells::Signed(widen!(column, Int8Type, i64), column),
            T::Int16 => Cells::Signed(widen!(column, Int16Type, i64), column),
            T::Int32 => Cells::Signed(widen!(column, Int32Type, i64), column),
            T::UInt8 => Cells::Unsigned(widen!(column, UInt8Type, u64), column),
            T::UInt16 => Cells::Unsigned(widen!(column, UInt16Type, u64), column),
            T::UInt32 => Cells::Unsigned(widen!(column, UInt32Type, u64), column),
            T::UInt64 => Cells::Unsigned(widen!(column, UInt64Type, u64), column),
            T::Float16 => Cells::Float(widen!(column, Float16Type, f64), column),
            T::Float32 => Cells::Float(widen!(column, Float32Type, f64), column),
            T::Float64 => Cells::Float(widen!(column, Float64Type, f64), column),
            T::Decimal128(_, _) => {
                let array = column.as_primitive::<Decimal128Type>();
                Cells::Decimal(Box::new(move |row| array.value_as_string(row)), column)
            }
            T::Decimal256(_, _) => {
                let array = column.as_primitive::<Decimal256Type>();
                Cells::Decimal(Box::new(move |row| array.value_as_string(row)), column)
            }
            T::Date32 => Cells::Ticks(Tag::Date as u8, widen!(column, Date32Type, i64), 86_400_000_000_000, column),
            T::Date64 => Cells::Ticks(Tag::Date as u8, widen!(column, Date64Type, i64), 1_000_000, column),
            T::Time32(TimeUnit::Second) => {
                Cells::Ticks(Tag::Time as u8, widen!(column, Time32SecondType, i64), 1_000_000_000, column)
            }
            T::Time32(_) => {
                Cells::Ticks(Tag::Time as u8, widen!(column, Time32MillisecondType, i64), 1_000_000, column)
            }
            T::Time64(TimeUnit::Microsecond) => {
                Cells::Ticks(Tag::Time as u8, widen!(column, Time64MicrosecondType, i64), 1_000, column)
            }
            T::Time64(_) => Cells::Ticks(Tag::Time as u8, widen!(column, Time64NanosecondType, i64), 1, column),
            T::Timestamp(unit, zone) => {
                let tag = if zone.is_some() { Tag::Instant } else { Tag::Local } as u8;
                let values: Box<dyn Fn(usize) -> i64 + 'a> = match unit {
                    TimeUnit::Second => widen!(column, TimestampSecondType, i64),
                    TimeUnit::Millisecond => widen!(column, TimestampMillisecondType, i64),
                    TimeUnit::Microsecond => widen!(column, TimestampMicrosecondType, i64),
                    TimeUnit::Nanosecond => widen!(column, TimestampNanosecondType, i64),
                };
                Cells::Ticks(tag, values, nanoseconds(*unit), column)
            }
            T::Duration(unit) => {
                let values: Box<dyn Fn(usize) -> i64 + 'a> = match unit {
                    TimeUnit::Second => widen!(column, DurationSecondType, i64),
                    TimeUnit::Millisecond => widen!(column, DurationMillisecondType, i64),
                    TimeUnit::Microsecond => widen!(column, DurationMicrosecondType, i64),
                    TimeUnit::Nanosecond => widen!(column, DurationNanosecondType, i64),
                };
                Cells::Ticks(Tag::Duration as u8, values, nanoseconds(*unit), column)
            }
            T::Utf8 | T::LargeUtf8 | T::Utf8View => Cells::Text(Tag::Text as u8, byte_cells(column)?, column),
            T::Binary | T::LargeBinary | T::FixedSizeBinary(_) => {
                Cells::Text(Tag::Bytes as u8, byte_cells(column)?, column)
            }
            T::Dictionary(_, _) => {
                let dictionary = column.as_any_dictionary();
                let keys = dictionary.normalized_keys();
                Cells::Dictionary(keys, Box::new(Cells::plain(dictionary.values().as_ref())?), column)
            }
            T::List(_) => {
                let list = column.as_list::<i32>();
                let offsets = list.value_offsets();
                let range = move |row: usize| match offsets.get(row..row + 2) {
                    Some(&[from, to]) => (from as usize, to as usize),
                    _ => (0, 0),
                };
                Cells::List(Tag::List as u8, Box::new(range), Box::new(Cells::plain(list.values().as_ref())?), column)
            }
            T::LargeList(_) => {
                let list = column.as_list::<i64>();
                let offsets = list.value_offsets();
                let range = move |row: usize| match offsets.get(row..row + 2) {
                    Some(&[from, to]) => (from as usize, to as usize),
                    _ => (0, 0),
                };
                Cells::List(Tag::List as u8, Box::new(range), Box::new(Cells::plain(list.values().as_ref())?), column)
            }
            T::FixedSizeList(_, size) => {
                let list = column.as_fixed_size_list();
                let size = usize::try_from(*size).unwrap_or_default();
                let range = move |row: usize| (row * size, row * size + size);
                Cells::List(Tag::List as u8, Box::new(range), Box::new(Cells::plain(list.values().as_ref())?), column)
            }
            T::Struct(fields) => {
                let array = column.as_struct();
                let mut named = Vec::with_capacity(fields.len());
                for (field, child) in fields.iter().zip(array.columns()) {
                    named.push((field.name().clone(), Cells::plain(child.as_ref())?));
                }
                named.sort_by(|left, right| left.0.cmp(&right.0));
                Cells::Struct(Tag::Struct as u8, named, column)
            }
            other => return Err(unsupported(other)),
        })
    }

    /// Appends the bytes of one cell; false, and nothing appended, when it is null.
    ///
    /// # Errors
    /// When a JSON cell is not JSON.
    pub fn encode(&mut self, row: usize, out: &mut Vec<u8>) -> Result<bool> {
        match self {
            Cells::Empty => return Ok(false),
            Cells::I64(_, array)
            | Cells::Signed(_, array)
            | Cells::Unsigned(_, array)
            | Cells::Float(_, array)
            | Cells::Ticks(_, _, _, array)
            | Cells::Decimal(_, array)
            | Cells::Text(_, _, array)
            | Cells::Json(_, array)
            | Cells::Literal(_, _, array)
            | Cells::Dictionary(_, _, array)
            | Cells::List(_, _, _, array)
            | Cells::Struct(_, _, array)
                if array.is_null(row) =>
            {
                return Ok(false);
            }
            Cells::Bool(array) if array.is_null(row) => return Ok(false),
            Cells::Bool(array) => out.extend_from_slice(&[Tag::Bool as u8, array.value(row).into()]),
            Cells::I64(values, _) => integer(values.get(row).copied().unwrap_or_default().into(), out),
            Cells::Signed(value, _) => integer(value(row).into(), out),
            Cells::Unsigned(value, _) => integer(value(row).into(), out),
            Cells::Float(value, _) => float(value(row), out),
            Cells::Ticks(tag, value, factor, _) => {
                out.push(*tag);
                out.extend_from_slice(&(i128::from(value(row)) * *factor).to_le_bytes());
            }
            Cells::Decimal(value, _) => {
                out.push(Tag::Decimal as u8);
                out.extend_from_slice(json::canonical_decimal(&value(row)).as_bytes());
            }
            Cells::Text(tag, value, _) => {
                out.push(*tag);
                out.extend_from_slice(value(row));
            }
            Cells::Json(value, _) => {
                let text = std::str::from_utf8(value(row)).map_err(|_| Error::malformed("not UTF-8"))?;
                json_value(text, out)?;
            }
            Cells::Literal(datatype, value, _) => {
                out.push(Tag::Literal as u8);
                sized(out, |out| {
                    out.extend_from_slice(datatype.as_bytes());
                    Ok(())
                })?;
                out.extend_from_slice(value(row));
            }
            Cells::Dictionary(keys, values, _) => {
                let key = keys.get(row).copied().unwrap_or_default();
                return values.encode(key, out);
            }
            Cells::List(tag, range, items, _) if *tag == Tag::Set as u8 => {
                let (from, to) = range(row);
                set(items, from, to, out)?;
            }
            Cells::List(tag, range, items, _) => {
                let (from, to) = range(row);
                out.push(*tag);
                out.extend_from_slice(&(to.saturating_sub(from) as u64).to_le_bytes());
                for item in from..to {
                    sized(out, |out| null_or(items.encode(item, out)?, out))?;
                }
            }
            Cells::Struct(tag, fields, _) => {
                out.push(*tag);
                for (name, cells) in fields {
                    sized(out, |out| {
                        out.extend_from_slice(name.as_bytes());
                        Ok(())
                    })?;
                    sized(out, |out| null_or(cells.encode(row, out)?, out))?;
                }
            }
        }
        Ok(true)
    }
}

fn nanoseconds(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

fn null_or(present: bool, out: &mut Vec<u8>) -> Result<()> {
    if !present {
        out.push(Tag::Null as u8);
    }
    Ok(())
}

/// Distinct members only, in any order: a sum of their hashes.
fn set(items: &mut Cells<'_>, from: usize, to: usize, out: &mut Vec<u8>) -> Result<()> {
    let mut hashes = Vec::with_capacity(to.saturating_sub(from));
    let mut bytes = Vec::new();
    for item in from..to {
        bytes.clear();
        if !items.encode(item, &mut bytes)? {
            bytes.push(Tag::Null as u8);
        }
        hashes.push(xxh3_128(&bytes));
    }
    hashes.sort_unstable();
    hashes.dedup();
    let sum = hashes.iter().fold(0u128, |sum, hash| sum.wrapping_add(*hash));
    out.push(Tag::Set as u8);
    out.extend_from_slice(&(hashes.len() as u64).to_le_bytes());
    out.extend_from_slice(&sum.to_le_bytes());
    Ok(())
}

/// Writes what `write` appends, with its length before it.
fn sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    write(out)?;
    let len = (out.len() - start - 8) as u64;
    if let Some(slot) = out.get_mut(start..start + 8) {
        slot.copy_from_slice(&len.to_le_bytes());
    }
    Ok(())
}

fn integer(value: i128, out: &mut Vec<u8>) {
    out.push(Tag::Integer as u8);
    match i64::try_from(value) {
        Ok(small) => out.extend_from_slice(&small.to_le_bytes()),
        Err(_) => out.extend_from_slice(&value.to_le_bytes()),
    }
}

fn float(value: f64, out: &mut Vec<u8>) {
    let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
    out.push(Tag::Float as u8);
    out.extend_from_slice(&bits.to_le_bytes());
}

/// A text of bytes compares like a plain text cell.
pub(super) fn text(value: &str, out: &mut Vec<u8>) {
    out.push(Tag::Text as u8);
    out.extend_from_slice(value.as_bytes());
}

/// The bytes of a JSON value. Scalars compare as their family; the rest is JSON.
///
/// # Errors
/// When the text is not JSON.
pub(super) fn json_value(raw: &str, out: &mut Vec<u8>) -> Result<()> {
    match json::value(raw)? {
        Value::Integer(value) => integer(value, out),
        Value::Float(value) => float(value, out),
        Value::Bool(value) => out.extend_from_slice(&[Tag::Bool as u8, value.into()]),
        Value::Text(value) => text(&value, out),
        Value::Null => out.push(Tag::JsonNull as u8),
        Value::Number(value) => {
            out.push(Tag::JsonNumber as u8);
            out.extend_from_slice(json::canonical_decimal(value).as_bytes());
        }
        Value::Array(array) => {
            out.push(Tag::JsonArray as u8);
            json::items(array, |item| sized(out, |out| json_value(item, out)))?;
        }
        Value::Object(object) => {
            out.push(Tag::JsonObject as u8);
            json::Members::default().read(object, |name, value| {
                sized(out, |out| {
                    out.extend_from_slice(name.as_bytes());
                    Ok(())
                })?;
                sized(out, |out| json_value(value, out))
            })?;
        }
    }
    Ok(())
}
