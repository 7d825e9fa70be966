//! JSON members as typed columns: the inverse of [`super::json_out`].

use std::sync::Arc;

use arrow_array::builder::*;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ListArray, StructArray, new_null_array};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_cast::cast;
use arrow_cast::parse::parse_decimal;
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use base64::Engine as _;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime};
use isomorph_error::{Error, Result};
use isomorph_model::json::{self, Members, Value};
use isomorph_model::{Property, ValueKind};

/// Builds one column from JSON values.
pub(super) enum JsonColumn {
    /// A type without values: the number of nulls.
    Nulls(usize),
    Bool(BooleanBuilder),
    /// Any integer type: collected as i64, or u64 where that is declared.
    Int(Int64Builder, DataType),
    UInt(UInt64Builder, DataType),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Text(StringBuilder),
    /// The JSON text itself.
    Raw(StringBuilder),
    Bytes(BinaryBuilder),
    Date(Date32Builder),
    /// Timestamps of any unit: collected as i64, cast at the end.
    Time(Int64Builder, TimeUnit, DataType),
    /// Times of day of any unit: collected as i64, cast at the end.
    Clock(Int64Builder, TimeUnit, DataType),
    Decimal(Decimal128Builder, u8, i8),
    WideDecimal(Decimal256Builder, u8, i8),
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
        Ok(match data_type {
            T::Null => JsonColumn::Nulls(0),
            T::Boolean => JsonColumn::Bool(BooleanBuilder::new()),
            // Durations are numbers in their unit.
            T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Duration(_) => {
                JsonColumn::Int(Int64Builder::new(), data_type.clone())
            }
            T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => JsonColumn::UInt(UInt64Builder::new(), data_type.clone()),
            T::Float32 => JsonColumn::Float32(Float32Builder::new()),
            T::Float64 => JsonColumn::Float64(Float64Builder::new()),
            T::Utf8 => JsonColumn::Text(StringBuilder::new()),
            T::Binary => JsonColumn::Bytes(BinaryBuilder::new()),
            T::Date32 => JsonColumn::Date(Date32Builder::new()),
            T::Timestamp(unit, _) => JsonColumn::Time(Int64Builder::new(), *unit, data_type.clone()),
            T::Time32(unit) | T::Time64(unit) => JsonColumn::Clock(Int64Builder::new(), *unit, data_type.clone()),
            T::Decimal128(precision, scale) => {
                let builder = Decimal128Builder::new().with_data_type(data_type.clone());
                JsonColumn::Decimal(builder, *precision, *scale)
            }
            T::Decimal256(precision, scale) => {
                let builder = Decimal256Builder::new().with_data_type(data_type.clone());
                JsonColumn::WideDecimal(builder, *precision, *scale)
            }
            T::Struct(fields) => JsonColumn::Struct {
                columns: fields.iter().map(|field| JsonColumn::of(field.data_type())).collect::<Result<_>>()?,
                nulls: NullBufferBuilder::new(0),
                fields: fields.clone(),
            },
            T::List(field) => JsonColumn::List {
                offsets: vec![0],
                nulls: NullBufferBuilder::new(0),
                items: Box::new(JsonColumn::of(field.data_type())?),
                field: Arc::clone(field),
            },
            other => return Err(Error::unsupported(format!("values of type {other} have no JSON form"))),
        })
    }

    /// Number of cells so far.
    pub fn len(&self) -> usize {
        match self {
            JsonColumn::Nulls(rows) => *rows,
            JsonColumn::Bool(builder) => builder.len(),
            JsonColumn::Int(builder, _) | JsonColumn::Time(builder, _, _) | JsonColumn::Clock(builder, _, _) => {
                builder.len()
            }
            JsonColumn::Decimal(builder, _, _) => builder.len(),
            JsonColumn::WideDecimal(builder, _, _) => builder.len(),
            JsonColumn::Struct { nulls, .. } => nulls.len(),
            JsonColumn::UInt(builder, _) => builder.len(),
            JsonColumn::Float32(builder) => builder.len(),
            JsonColumn::Float64(builder) => builder.len(),
            JsonColumn::Text(builder) | JsonColumn::Raw(builder) => builder.len(),
            JsonColumn::Bytes(builder) => builder.len(),
            JsonColumn::Date(builder) => builder.len(),
            JsonColumn::List { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Adds a null.
    pub fn push_null(&mut self) {
        match self {
            JsonColumn::Nulls(rows) => *rows += 1,
            JsonColumn::Bool(builder) => builder.append_null(),
            JsonColumn::Int(builder, _) | JsonColumn::Time(builder, _, _) | JsonColumn::Clock(builder, _, _) => {
                builder.append_null();
            }
            JsonColumn::Decimal(builder, _, _) => builder.append_null(),
            JsonColumn::WideDecimal(builder, _, _) => builder.append_null(),
            JsonColumn::Struct { columns, nulls, .. } => {
                columns.iter_mut().for_each(JsonColumn::push_null);
                nulls.append_null();
            }
            JsonColumn::UInt(builder, _) => builder.append_null(),
            JsonColumn::Float32(builder) => builder.append_null(),
            JsonColumn::Float64(builder) => builder.append_null(),
            JsonColumn::Text(builder) | JsonColumn::Raw(builder) => builder.append_null(),
            JsonColumn::Bytes(builder) => builder.append_null(),
            JsonColumn::Date(builder) => builder.append_null(),
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
            (JsonColumn::Bool(builder), Value::Bool(value)) => builder.append_value(value),
            (
                JsonColumn::Int(builder, _) | JsonColumn::Time(builder, _, _) | JsonColumn::Clock(builder, _, _),
                Value::Integer(value),
            ) => {
                builder.append_value(i64::try_from(value).map_err(|_| misfit())?);
            }
            (JsonColumn::UInt(builder, _), Value::Integer(value)) => {
                builder.append_value(u64::try_from(value).map_err(|_| misfit())?);
            }
            (JsonColumn::Float32(builder), value) => builder.append_value(single(&value).ok_or_else(misfit)?),
            (JsonColumn::Float64(builder), value) => builder.append_value(float(&value).ok_or_else(misfit)?),
            (JsonColumn::Text(builder), Value::Text(value)) => builder.append_value(value),
            (JsonColumn::Bytes(builder), Value::Text(value)) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(value.as_bytes());
                builder.append_value(bytes.map_err(|_| misfit())?);
            }
            (JsonColumn::Date(builder), Value::Text(value)) => {
                let date = NaiveDate::parse_from_str(&value, "%Y-%m-%d").map_err(|_| misfit())?;
                builder.append_value(Date32Type::from_naive_date(date));
            }
            (JsonColumn::Date(builder), Value::Integer(value)) => {
                builder.append_value(i32::try_from(value).map_err(|_| misfit())?);
            }
            (JsonColumn::Time(builder, unit, _), Value::Text(value)) => {
                builder.append_value(timestamp(&value, *unit).ok_or_else(misfit)?);
            }
            (JsonColumn::Clock(builder, unit, _), Value::Text(value)) => {
                builder.append_value(time_of_day(&value, *unit).ok_or_else(misfit)?);
            }
            (
                JsonColumn::Decimal(builder, precision, scale),
                Value::Integer(_) | Value::Float(_) | Value::Number(_),
            ) => {
                let value = parse_decimal::<Decimal128Type>(raw.trim(), *precision, *scale);
                builder.append_value(value.map_err(|_| misfit())?);
            }
            (
                JsonColumn::WideDecimal(builder, precision, scale),
                Value::Integer(_) | Value::Float(_) | Value::Number(_),
            ) => {
                let value = parse_decimal::<Decimal256Type>(raw.trim(), *precision, *scale);
                builder.append_value(value.map_err(|_| misfit())?);
            }
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
    /// If a value is outside the range of the declared type.
    pub fn finish(self) -> Result<ArrayRef> {
        let narrowed = |array: ArrayRef, data_type: &DataType| -> Result<ArrayRef> {
            if array.data_type() == data_type {
                return Ok(array);
            }
            let options = arrow_cast::CastOptions { safe: false, ..Default::default() };
            arrow_cast::cast_with_options(&array, data_type, &options)
                .map_err(|error| Error::malformed(format!("a value does not fit its declared type: {error}")))
        };
        Ok(match self {
            JsonColumn::Nulls(rows) => new_null_array(&DataType::Null, rows),
            JsonColumn::Bool(mut builder) => Arc::new(builder.finish()),
            JsonColumn::Int(mut builder, data_type) => narrowed(Arc::new(builder.finish()), &data_type)?,
            JsonColumn::UInt(mut builder, data_type) => narrowed(Arc::new(builder.finish()), &data_type)?,
            JsonColumn::Time(mut builder, _, data_type) => {
                let array: ArrayRef = Arc::new(builder.finish());
                cast(&array, &data_type).map_err(|error| Error::malformed(error.to_string()))?
            }
            JsonColumn::Clock(mut builder, _, data_type) => {
                let ticks: ArrayRef = Arc::new(builder.finish());
                let ticks = match data_type {
                    DataType::Time32(_) => narrowed(ticks, &DataType::Int32)?,
                    _ => ticks,
                };
                narrowed(ticks, &data_type)?
            }
            JsonColumn::Decimal(mut builder, _, _) => Arc::new(builder.finish()),
            JsonColumn::WideDecimal(mut builder, _, _) => Arc::new(builder.finish()),
            JsonColumn::Struct { columns, mut nulls, fields } => {
                let columns = columns.into_iter().map(JsonColumn::finish).collect::<Result<_>>()?;
                let array = StructArray::try_new(fields, columns, nulls.finish());
                Arc::new(array.map_err(|error| Error::malformed(error.to_string()))?)
            }
            JsonColumn::Float32(mut builder) => Arc::new(builder.finish()),
            JsonColumn::Float64(mut builder) => Arc::new(builder.finish()),
            JsonColumn::Text(mut builder) | JsonColumn::Raw(mut builder) => Arc::new(builder.finish()),
            JsonColumn::Bytes(mut builder) => Arc::new(builder.finish()),
            JsonColumn::Date(mut builder) => Arc::new(builder.finish()),
            JsonColumn::List { offsets, mut nulls, items, field } => {
                let array =
                    ListArray::try_new(field, OffsetBuffer::new(offsets.into()), items.finish()?, nulls.finish());
                Arc::new(array.map_err(|error| Error::malformed(error.to_string()))?)
            }
        })
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

/// A time of day in ticks of `unit`.
fn time_of_day(text: &str, unit: TimeUnit) -> Option<i64> {
    let since = NaiveTime::parse_from_str(text, "%H:%M:%S%.f").ok()?.signed_duration_since(NaiveTime::MIN);
    match unit {
        TimeUnit::Second => Some(since.num_seconds()),
        TimeUnit::Millisecond => Some(since.num_milliseconds()),
        TimeUnit::Microsecond => since.num_microseconds(),
        TimeUnit::Nanosecond => since.num_nanoseconds(),
    }
}

/// A point in time in ticks of `unit`; without a zone, it is not converted.
fn timestamp(text: &str, unit: TimeUnit) -> Option<i64> {
    let time: NaiveDateTime = match DateTime::parse_from_rfc3339(text) {
        Ok(time) => time.naive_utc(),
        // Years with a sign are no part of RFC 3339.
        Err(_) => NaiveDateTime::parse_from_str(text.strip_suffix('Z').unwrap_or(text), "%Y-%m-%dT%H:%M:%S%.f").ok()?,
    };
    let time = time.and_utc();
    match unit {
        TimeUnit::Second => Some(time.timestamp()),
        TimeUnit::Millisecond => Some(time.timestamp_millis()),
        TimeUnit::Microsecond => Some(time.timestamp_micros()),
        TimeUnit::Nanosecond => time.timestamp_nanos_opt(),
    }
}
