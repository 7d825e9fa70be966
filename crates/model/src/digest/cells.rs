//! The cells of columns in any Arrow encoding.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, BooleanArray, PrimitiveArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Place, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::columns::{Bytes, Floats, Integers, Ranges, unsupported};
use super::encode::{Buffer, Literal, Tag, float_bits};
use super::json as json_bytes;
use super::tensor::Tensor;
use crate::{Cardinality, Property, ValueKind, json};

/// A column whose cells can be encoded one by one.
pub(super) struct Cells<'a> {
    form: Form<'a>,
    nulls: Option<NullBuffer>,
    len: usize,
}

enum Form<'a> {
    Empty,
    Bool(&'a BooleanArray),
    Integer(Integers<'a>),
    Float(Floats<'a>),
    /// Ticks of this many nanoseconds.
    Ticks(Tag, Integers<'a>, i128),
    Decimal(&'a ScalarBuffer<i128>, i8),
    WideDecimal(&'a PrimitiveArray<Decimal256Type>),
    Bytes(Tag, Bytes<'a>),
    Json(Bytes<'a>),
    /// Literals with the same datatype.
    Literal(&'a str, Bytes<'a>),
    /// Literals with their own lexical form, datatype, language and direction.
    Literals([Option<(Bytes<'a>, Option<NullBuffer>)>; 4]),
    Tensor(Tensor<'a>),
    Dictionary(Integers<'a>, Box<Cells<'a>>),
    List(Ranges<'a>, Box<Cells<'a>>),
    Set(Ranges<'a>, Box<Cells<'a>>),
    Struct(Vec<(&'a str, Cells<'a>)>),
}

impl<'a> Cells<'a> {
    /// Returns the cells of `column`, interpreted as `property` declares.
    ///
    /// # Errors
    /// Returns an error if the model does not support the type.
    pub fn new(property: &'a Property, column: &'a dyn Array) -> Result<Self> {
        Cells::of_kind(&property.kind, property.cardinality, column)
    }

    /// Returns the cells of a column whose meaning is given by its type.
    ///
    /// # Errors
    /// Returns an error if the model does not support the type.
    pub fn plain(column: &'a dyn Array) -> Result<Self> {
        Cells::of_kind(&ValueKind::Plain, Cardinality::Single, column)
    }

    fn of_kind(kind: &'a ValueKind, cardinality: Cardinality, column: &'a dyn Array) -> Result<Self> {
        let form = match (column.data_type(), kind) {
            (DataType::Null, _) => Form::Empty,
            (DataType::Dictionary(_, _), _) => {
                let dictionary = column.as_any_dictionary();
                let values = Cells::of_kind(kind, cardinality, dictionary.values().as_ref())?;
                Form::Dictionary(Integers::new(dictionary.keys())?, Box::new(values))
            }
            (_, ValueKind::Plain) => Form::plain(column, cardinality)?,
            (_, ValueKind::Json | ValueKind::Bag) => Form::Json(Bytes::text(column)?),
            (_, ValueKind::Term) => Form::Bytes(Tag::Term, Bytes::text(column)?),
            (_, ValueKind::Raw) => Form::Bytes(Tag::Raw, Bytes::new(column)?),
            (DataType::Struct(_), ValueKind::Literal { .. }) => literals(column)?,
            (_, ValueKind::Literal { datatype }) => {
                Form::Literal(datatype.as_deref().unwrap_or_default(), Bytes::text(column)?)
            }
            (_, ValueKind::Tensor { shape, sparse }) => Form::Tensor(Tensor::new(column, shape, *sparse)?),
        };
        Ok(Cells { form, nulls: column.nulls().cloned(), len: column.len() })
    }

    /// Appends the bytes of one cell; returns false and appends nothing if it is null.
    ///
    /// # Errors
    /// Returns an error if the cell does not exist, a JSON cell is not JSON, or a tensor does not match its shape.
    pub fn encode(&self, row: usize, out: &mut Buffer) -> Result<bool> {
        if row >= self.len {
            return Err(Error::usage("a column is shorter than its batch"));
        }
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(false);
        }
        match &self.form {
            Form::Empty => return Ok(false),
            Form::Bool(values) => out.bool(values.value(row)),
            Form::Integer(values) => out.integer(values.get(row)),
            Form::Float(values) => out.float(values.get(row)),
            Form::Ticks(tag, values, factor) => {
                out.tag(*tag);
                out.bytes.extend_from_slice(&(values.get(row) * factor).to_le_bytes());
            }
            Form::Decimal(values, scale) => {
                decimal(values.get(row).copied().unwrap_or_default(), *scale, out);
            }
            Form::WideDecimal(values) => {
                out.tail(Tag::Decimal, json::canonical_decimal(&values.value_as_string(row)).as_bytes());
            }
            Form::Bytes(tag, values) => out.tail(*tag, values.get(row)),
            Form::Json(values) => json_bytes::encode(values.get_text(row)?, out)?,
            Form::Literal(datatype, values) => {
                let lexical = values.get_text(row)?;
                out.literal(&Literal { lexical, datatype, language: None, direction: None });
            }
            Form::Literals(fields) => return literal(fields, row, out),
            Form::Tensor(tensor) => tensor.encode(row, out)?,
            Form::Dictionary(keys, values) => {
                let key =
                    usize::try_from(keys.get(row)).map_err(|_| Error::malformed("a dictionary key is negative"))?;
                return values.encode(key, out);
            }
            Form::List(ranges, items) => {
                let (from, to) = ranges.get(row);
                out.tag(Tag::List);
                out.number(to.saturating_sub(from) as u64);
                for item in from..to {
                    out.item(|out| items.encode(item, out))?;
                }
            }
            Form::Set(ranges, items) => {
                let (from, to) = ranges.get(row);
                out.set(to.saturating_sub(from), |at, out| items.encode(from + at, out))?;
            }
            Form::Struct(fields) => {
                out.tag(Tag::Struct);
                for (name, cells) in fields {
                    out.sized_bytes(name.as_bytes());
                    out.item(|out| cells.encode(row, out))?;
                }
            }
        }
        Ok(true)
    }
}

impl Cells<'_> {
    /// Calls `each` with the row and the hash of every cell that is not null, prefixed by the fixed parts of its fact. The
    /// result is the same as encoding each cell, but faster for numbers and text.
    ///
    /// # Errors
    /// Same as [`Cells::encode`], with the row.
    pub fn hash_all<const N: usize>(
        &self,
        buffer: &mut Buffer,
        parts: impl Fn(usize) -> [u128; N],
        mut each: impl FnMut(usize, u128),
    ) -> Result<()> {
        let valid = |row: usize| self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        match &self.form {
            Form::Integer(values) => {
                for row in (0..self.len).filter(|row| valid(*row)) {
                    let hash = match i64::try_from(values.get(row)) {
                        Ok(value) => short(parts(row), Tag::Integer, &value.to_le_bytes()),
                        Err(_) => short(parts(row), Tag::Integer, &values.get(row).to_le_bytes()),
                    };
                    each(row, hash);
                }
            }
            Form::Float(values) => {
                for row in (0..self.len).filter(|row| valid(*row)) {
                    each(row, short(parts(row), Tag::Float, &float_bits(values.get(row)).to_le_bytes()));
                }
            }
            Form::Bytes(tag, values) => {
                for row in (0..self.len).filter(|row| valid(*row)) {
                    each(row, short(parts(row), *tag, values.get(row)));
                }
            }
            _ => {
                for row in 0..self.len {
                    buffer.begin(parts(row));
                    if self.encode(row, buffer).map_err(|error| error.at(Place::default().row(row as u64)))? {
                        each(row, buffer.hash());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the hash of fixed parts, a tag and bytes, without allocation if they are short.
fn short<const N: usize>(parts: [u128; N], tag: Tag, bytes: &[u8]) -> u128 {
    const ROOM: usize = 128;
    let start = 16 * N + 1;
    let mut room = [0u8; ROOM];
    for (slot, part) in room.chunks_exact_mut(16).zip(parts) {
        slot.copy_from_slice(&part.to_le_bytes());
    }
    room[start - 1] = tag as u8;
    match room.get_mut(start..start + bytes.len()) {
        Some(slot) => {
            slot.copy_from_slice(bytes);
            xxh3_128(&room[..start + bytes.len()])
        }
        None => xxh3_128(&[&room[..start], bytes].concat()),
    }
}

impl<'a> Form<'a> {
    fn plain(column: &'a dyn Array, cardinality: Cardinality) -> Result<Self> {
        use DataType as T;
        let list = |ranges, items: &'a dyn Array| -> Result<Self> {
            let items = Box::new(Cells::plain(items)?);
            Ok(if cardinality == Cardinality::Set { Form::Set(ranges, items) } else { Form::List(ranges, items) })
        };
        Ok(match column.data_type() {
            T::Boolean => Form::Bool(column.as_boolean()),
            T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => {
                Form::Integer(Integers::new(column)?)
            }
            T::Float16 | T::Float32 | T::Float64 => Form::Float(Floats::new(column)?),
            T::Decimal128(_, scale) => Form::Decimal(column.as_primitive::<Decimal128Type>().values(), *scale),
            T::Decimal256(_, _) => Form::WideDecimal(column.as_primitive()),
            T::Date32 => Form::Ticks(Tag::Date, Integers::new(column)?, 86_400_000_000_000),
            T::Date64 => Form::Ticks(Tag::Date, Integers::new(column)?, nanoseconds(TimeUnit::Millisecond)),
            T::Time32(unit) | T::Time64(unit) => Form::Ticks(Tag::Time, Integers::new(column)?, nanoseconds(*unit)),
            T::Timestamp(unit, zone) => {
                let tag = if zone.is_some() { Tag::Instant } else { Tag::Local };
                Form::Ticks(tag, Integers::new(column)?, nanoseconds(*unit))
            }
            T::Duration(unit) => Form::Ticks(Tag::Duration, Integers::new(column)?, nanoseconds(*unit)),
            T::Utf8 | T::LargeUtf8 | T::Utf8View => Form::Bytes(Tag::Text, Bytes::new(column)?),
            T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => {
                Form::Bytes(Tag::Bytes, Bytes::new(column)?)
            }
            T::List(_) => {
                let array = column.as_list::<i32>();
                list(Ranges::Small(array.value_offsets()), array.values().as_ref())?
            }
            T::LargeList(_) => {
                let array = column.as_list::<i64>();
                list(Ranges::Large(array.value_offsets()), array.values().as_ref())?
            }
            T::FixedSizeList(_, size) => {
                let array = column.as_fixed_size_list();
                list(Ranges::Fixed(usize::try_from(*size).unwrap_or_default()), array.values().as_ref())?
            }
            T::Struct(fields) => {
                let mut named = Vec::with_capacity(fields.len());
                for (field, child) in fields.iter().zip(column.as_struct().columns()) {
                    named.push((field.name().as_str(), Cells::plain(child.as_ref())?));
                }
                named.sort_by_key(|(name, _)| *name);
                Form::Struct(named)
            }
            other => return Err(unsupported(other)),
        })
    }
}

/// Returns the columns of a struct of literals.
fn literals<'a>(column: &'a dyn Array) -> Result<Form<'a>> {
    let array = column.as_struct();
    let field = |name: &str| -> Result<Option<(Bytes<'a>, Option<NullBuffer>)>> {
        let child = array.column_by_name(name).filter(|child| *child.data_type() != DataType::Null);
        child.map(|child| Ok((Bytes::text(child.as_ref())?, child.nulls().cloned()))).transpose()
    };
    let lexical = field("value")?;
    if lexical.is_none() {
        return Err(Error::unsupported("literals must have a field `value`"));
    }
    Ok(Form::Literals([lexical, field("datatype")?, field("language")?, field("direction")?]))
}

fn literal(fields: &[Option<(Bytes<'_>, Option<NullBuffer>)>; 4], row: usize, out: &mut Buffer) -> Result<bool> {
    let mut parts = [None; 4];
    for (part, field) in parts.iter_mut().zip(fields) {
        if let Some((texts, nulls)) = field
            && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
        {
            *part = Some(texts.get_text(row)?);
        }
    }
    let [lexical, datatype, language, direction] = parts;
    let Some(lexical) = lexical else { return Ok(false) };
    out.literal(&Literal { lexical, datatype: datatype.unwrap_or_default(), language, direction });
    Ok(true)
}

/// Appends a decimal by value: digits without leading and trailing zeros, and the exponent of the last digit, as for JSON
/// numbers.
fn decimal(value: i128, scale: i8, out: &mut Buffer) {
    use std::io::Write;
    out.tag(Tag::Decimal);
    let (mut digits, mut exponent) = (value, -i32::from(scale));
    while digits != 0 && digits % 10 == 0 {
        digits /= 10;
        exponent += 1;
    }
    // Writing to a Vec cannot fail.
    let _ = if digits == 0 { write!(out.bytes, "0") } else { write!(out.bytes, "{digits}e{exponent}") };
}

fn nanoseconds(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}
