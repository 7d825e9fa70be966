//! JSON members as typed columns: the inverse of [`super::json_out`].

use std::sync::Arc;

use arrow_array::builder::*;
use arrow_array::types::*;
use arrow_array::{ArrayRef, ListArray, StructArray, new_null_array};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_cast::parse::parse_decimal;
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use base64::Engine as _;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use isomorph_error::{Error, Result};
use isomorph_model::json::{self, Members, Value};
use isomorph_model::{Property, ValueKind};

use super::arrays::{malformed, same_bits};

/// Builds one column from JSON values.
pub(super) enum JsonColumn {
    /// A type without values: the number of nulls.
    Nulls(usize),
    /// The JSON text itself.
    Raw(StringBuilder),
    Text(StringBuilder),
    /// Values without parts, collected in a type of the same width.
    Values(Box<dyn Values>, DataType),
    Struct {
        /// One for each field.
        columns: Vec<JsonColumn>,
        nulls: NullBufferBuilder,
        fields: Fields,
    },
    List {
        offsets: Vec<i32>,
        nulls: NullBufferBuilder,
        items: Box<JsonColumn>,
        field: Arc<Field>,
    },
}

/// Collects the values of one type.
pub(super) trait Values {
    fn len(&self) -> usize;
    fn push_null(&mut self);
    /// Adds a value, whose text is `raw`. Returns whether it is of the type.
    fn push(&mut self, value: &Value<'_>, raw: &str) -> bool;
    fn finish(&mut self) -> ArrayRef;
}

/// A builder, and how a JSON value becomes one of its values.
struct Read<B, F> {
    builder: B,
    read: F,
}

impl<V, B: ArrayBuilder + Extend<Option<V>>, F: Fn(&Value<'_>, &str) -> Option<V>> Values for Read<B, F> {
    fn len(&self) -> usize {
        self.builder.len()
    }

    fn push_null(&mut self) {
        self.builder.extend([None]);
    }

    fn push(&mut self, value: &Value<'_>, raw: &str) -> bool {
        let value = (self.read)(value, raw);
        let fits = value.is_some();
        if fits {
            self.builder.extend([value]);
        }
        fits
    }

    fn finish(&mut self) -> ArrayRef {
        self.builder.finish()
    }
}

fn values<V: 'static, B: ArrayBuilder + Extend<Option<V>>>(
    builder: B,
    read: impl Fn(&Value<'_>, &str) -> Option<V> + Send + 'static,
) -> Box<dyn Values> {
    Box::new(Read { builder, read })
}

fn numbers<T: ArrowPrimitiveType>(read: impl Fn(&Value<'_>) -> Option<T::Native> + Send + 'static) -> Box<dyn Values> {
    values(PrimitiveBuilder::<T>::new(), move |value, _| read(value))
}

fn decimals<T: DecimalType + ArrowPrimitiveType>(data_type: &DataType, precision: u8, scale: i8) -> Box<dyn Values> {
    let builder = PrimitiveBuilder::<T>::new().with_data_type(data_type.clone());
    values(builder, move |value, raw| match value {
        Value::Integer(_) | Value::Float(_) | Value::Number(_) => parse_decimal::<T>(raw.trim(), precision, scale).ok(),
        _ => None,
    })
}

impl JsonColumn {
    /// An empty column for `property`.
    ///
    /// # Errors
    /// If the type has no JSON form.
    pub fn new(property: &Property) -> Result<Self> {
        match property.kind {
            ValueKind::Json | ValueKind::Bag => Ok(JsonColumn::Raw(StringBuilder::new())),
            _ => JsonColumn::of(&property.data_type),
        }
    }

    fn of(data_type: &DataType) -> Result<Self> {
        use DataType as T;
        let values = match data_type {
            T::Null => return Ok(JsonColumn::Nulls(0)),
            T::Utf8 => return Ok(JsonColumn::Text(StringBuilder::new())),
            T::Struct(fields) => {
                return Ok(JsonColumn::Struct {
                    columns: fields.iter().map(|field| JsonColumn::of(field.data_type())).collect::<Result<_>>()?,
                    nulls: NullBufferBuilder::new(0),
                    fields: fields.clone(),
                });
            }
            T::List(field) => {
                return Ok(JsonColumn::List {
                    offsets: vec![0],
                    nulls: NullBufferBuilder::new(0),
                    items: Box::new(JsonColumn::of(field.data_type())?),
                    field: Arc::clone(field),
                });
            }
            T::Boolean => values(BooleanBuilder::new(), |value, _| match value {
                Value::Bool(value) => Some(*value),
                _ => None,
            }),
            T::Int8 => numbers::<Int8Type>(integer),
            T::Int16 => numbers::<Int16Type>(integer),
            T::Int32 => numbers::<Int32Type>(integer),
            // Durations are numbers in their unit.
            T::Int64 | T::Duration(_) => numbers::<Int64Type>(integer),
            T::UInt8 => numbers::<UInt8Type>(integer),
            T::UInt16 => numbers::<UInt16Type>(integer),
            T::UInt32 => numbers::<UInt32Type>(integer),
            T::UInt64 => numbers::<UInt64Type>(integer),
            T::Float32 => numbers::<Float32Type>(single),
            T::Float64 => numbers::<Float64Type>(float),
            T::Decimal128(precision, scale) => decimals::<Decimal128Type>(data_type, *precision, *scale),
            T::Decimal256(precision, scale) => decimals::<Decimal256Type>(data_type, *precision, *scale),
            T::Binary => values(BinaryBuilder::new(), |value, _| {
                base64::engine::general_purpose::STANDARD.decode(text(value)?.as_bytes()).ok()
            }),
            T::Date32 => numbers::<Int32Type>(|value| integer(value).or_else(|| day(text(value)?))),
            T::Time32(unit) => {
                let ticks = time_of_day(*unit);
                numbers::<Int32Type>(move |value| integer(value).or_else(|| i32::try_from(ticks(text(value)?)?).ok()))
            }
            T::Time64(unit) => {
                let ticks = time_of_day(*unit);
                numbers::<Int64Type>(move |value| integer(value).or_else(|| ticks(text(value)?)))
            }
            T::Timestamp(unit, _) => {
                let ticks = instant(*unit);
                numbers::<Int64Type>(move |value| integer(value).or_else(|| ticks(text(value)?)))
            }
            other => return Err(Error::unsupported(format!("values of type {other} have no JSON form"))),
        };
        Ok(JsonColumn::Values(values, data_type.clone()))
    }

    /// Number of cells so far.
    pub fn len(&self) -> usize {
        match self {
            JsonColumn::Nulls(rows) => *rows,
            JsonColumn::Raw(builder) | JsonColumn::Text(builder) => builder.len(),
            JsonColumn::Values(values, _) => values.len(),
            JsonColumn::Struct { nulls, .. } => nulls.len(),
            JsonColumn::List { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Adds a null.
    pub fn push_null(&mut self) {
        match self {
            JsonColumn::Nulls(rows) => *rows += 1,
            JsonColumn::Raw(builder) | JsonColumn::Text(builder) => builder.append_null(),
            JsonColumn::Values(values, _) => values.push_null(),
            JsonColumn::Struct { columns, nulls, .. } => {
                columns.iter_mut().for_each(JsonColumn::push_null);
                nulls.append_null();
            }
            JsonColumn::List { offsets, nulls, .. } => {
                offsets.push(offsets.last().copied().unwrap_or_default());
                nulls.append_null();
            }
        }
    }

    /// Adds a JSON value.
    ///
    /// # Errors
    /// If it is not of the column's type.
    pub fn push(&mut self, raw: &str) -> Result<()> {
        if let JsonColumn::Raw(builder) = self {
            builder.append_value(raw);
            return Ok(());
        }
        let value = json::value(raw)?;
        let misfit = || {
            let shown: String = raw.chars().take(40).collect();
            Error::malformed(format!("{shown} does not fit its declared type"))
                .hint("--sidecar ignore    read the data without its declared types")
        };
        match (self, value) {
            (JsonColumn::Values(values, _), value) => return values.push(&value, raw).then_some(()).ok_or_else(misfit),
            (JsonColumn::Text(builder), Value::Text(value)) => builder.append_value(value),
            (JsonColumn::Struct { columns, nulls, fields }, Value::Object(object)) => {
                let rows = nulls.len();
                Members::default().read(object, |name, value| {
                    let at = fields.iter().position(|field| field.name() == name);
                    let column = at.and_then(|at| columns.get_mut(at)).filter(|column| column.len() == rows);
                    column.ok_or_else(misfit)?.push(value)
                })?;
                columns.iter_mut().filter(|column| column.len() == rows).for_each(JsonColumn::push_null);
                nulls.append_non_null();
            }
            (JsonColumn::List { offsets, nulls, items, .. }, Value::Array(array)) => {
                json::items(array, |item| {
                    if item == "null" {
                        items.push_null();
                        Ok(())
                    } else {
                        items.push(item)
                    }
                })?;
                let end = i32::try_from(items.len()).map_err(|_| Error::unsupported("a batch with 2^31 list items"))?;
                offsets.push(end);
                nulls.append_non_null();
            }
            _ => return Err(misfit()),
        }
        Ok(())
    }

    /// The finished column.
    ///
    /// # Errors
    /// If its parts do not fit together, which is a bug.
    pub fn finish(self) -> Result<ArrayRef> {
        Ok(match self {
            JsonColumn::Nulls(rows) => new_null_array(&DataType::Null, rows),
            JsonColumn::Raw(mut builder) | JsonColumn::Text(mut builder) => Arc::new(builder.finish()),
            JsonColumn::Values(mut values, data_type) => same_bits(&values.finish(), &data_type)?,
            JsonColumn::Struct { columns, mut nulls, fields } => {
                let columns = columns.into_iter().map(JsonColumn::finish).collect::<Result<_>>()?;
                Arc::new(StructArray::try_new(fields, columns, nulls.finish()).map_err(malformed)?)
            }
            JsonColumn::List { offsets, mut nulls, items, field } => {
                let offsets = OffsetBuffer::new(offsets.into());
                Arc::new(ListArray::try_new(field, offsets, items.finish()?, nulls.finish()).map_err(malformed)?)
            }
        })
    }
}

fn text<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn integer<N: TryFrom<i128>>(value: &Value<'_>) -> Option<N> {
    match value {
        Value::Integer(value) => N::try_from(*value).ok(),
        _ => None,
    }
}

/// The same with 32 bits: `None` for numbers that are too large for a 32-bit float and would become infinite.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the nearest float is intended; numbers that are too large are detected below"
)]
fn single(value: &Value<'_>) -> Option<f32> {
    let value = float(value)?;
    let single = value as f32;
    (single.is_finite() || !value.is_finite()).then_some(single)
}

fn float(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Integer(value) => Some(*value as f64),
        // A number that is too large for any float is not a value.
        Value::Number(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
        Value::Text(text) => match text.as_ref() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// Days since 1970.
fn day(text: &str) -> Option<i32> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(Date32Type::from_naive_date)
}

/// What reads times of day as ticks of `unit`.
fn time_of_day(unit: TimeUnit) -> impl Fn(&str) -> Option<i64> {
    move |text| {
        let since = NaiveTime::parse_from_str(text, "%H:%M:%S%.f").ok()?.signed_duration_since(NaiveTime::MIN);
        match unit {
            TimeUnit::Second => Some(since.num_seconds()),
            TimeUnit::Millisecond => Some(since.num_milliseconds()),
            TimeUnit::Microsecond => since.num_microseconds(),
            TimeUnit::Nanosecond => since.num_nanoseconds(),
        }
    }
}

/// What reads points in time as ticks of `unit`; without a zone, they are not converted.
fn instant(unit: TimeUnit) -> impl Fn(&str) -> Option<i64> {
    move |text| {
        let time: NaiveDateTime = match DateTime::parse_from_rfc3339(text) {
            Ok(time) => time.naive_utc(),
            // Years with a sign are no part of RFC 3339.
            Err(_) => {
                NaiveDateTime::parse_from_str(text.strip_suffix('Z').unwrap_or(text), "%Y-%m-%dT%H:%M:%S%.f").ok()?
            }
        };
        let time = time.and_utc();
        match unit {
            TimeUnit::Second => Some(time.timestamp()),
            TimeUnit::Millisecond => Some(time.timestamp_millis()),
            TimeUnit::Microsecond => Some(time.timestamp_micros()),
            TimeUnit::Nanosecond => time.timestamp_nanos_opt(),
        }
    }
}
