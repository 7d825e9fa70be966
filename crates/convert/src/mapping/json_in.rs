//! JSON members as typed columns: the inverse of [`super::json_out`].

use std::sync::Arc;

use arrow_array::builder::*;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, TimeUnit};
use base64::Engine as _;
use chrono::{DateTime, NaiveDate, NaiveDateTime};
use isomorph_error::{Error, Result};
use isomorph_model::json::{self, Value};
use isomorph_model::{Property, ValueKind};

/// Builds one column from the texts of JSON values.
pub(super) enum JsonColumn {
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
    /// When the type has no JSON form.
    pub fn new(property: &Property) -> Result<Self> {
        match property.kind {
            ValueKind::Json | ValueKind::Bag => Ok(JsonColumn::Raw(StringBuilder::new())),
            _ => JsonColumn::of(&property.data_type),
        }
    }

    fn of(data_type: &DataType) -> Result<Self> {
        use DataType as T;
        Ok(match data_type {
            T::Boolean => JsonColumn::Bool(BooleanBuilder::new()),
            T::Int8 | T::Int16 | T::Int32 | T::Int64 => JsonColumn::Int(Int64Builder::new(), data_type.clone()),
            T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => JsonColumn::UInt(UInt64Builder::new(), data_type.clone()),
            T::Float32 => JsonColumn::Float32(Float32Builder::new()),
            T::Float64 => JsonColumn::Float64(Float64Builder::new()),
            T::Utf8 => JsonColumn::Text(StringBuilder::new()),
            T::Binary => JsonColumn::Bytes(BinaryBuilder::new()),
            T::Date32 => JsonColumn::Date(Date32Builder::new()),
            T::Timestamp(unit, _) => JsonColumn::Time(Int64Builder::new(), *unit, data_type.clone()),
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
            JsonColumn::Bool(builder) => builder.len(),
            JsonColumn::Int(builder, _) | JsonColumn::Time(builder, _, _) => builder.len(),
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
            JsonColumn::Bool(builder) => builder.append_null(),
            JsonColumn::Int(builder, _) | JsonColumn::Time(builder, _, _) => builder.append_null(),
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

    /// Adds the value of a JSON text.
    ///
    /// # Errors
    /// When it is not of the column's type.
    pub fn push(&mut self, raw: &str) -> Result<()> {
        if let JsonColumn::Raw(builder) = self {
            builder.append_value(raw);
            return Ok(());
        }
        let value = json::value(raw)?;
        let misfit = || {
            let shown: String = raw.chars().take(40).collect();
            Error::malformed(format!("{shown} does not fit its declared type"))
                .hint("--carry ignore    read the data without its declared types")
        };
        match (self, value) {
            (JsonColumn::Bool(builder), Value::Bool(value)) => builder.append_value(value),
            (JsonColumn::Int(builder, _) | JsonColumn::Time(builder, _, _), Value::Integer(value)) => {
                builder.append_value(i64::try_from(value).map_err(|_| misfit())?);
            }
            (JsonColumn::UInt(builder, _), Value::Integer(value)) => {
                builder.append_value(u64::try_from(value).map_err(|_| misfit())?);
            }
            (JsonColumn::Float32(builder), value) => builder.append_value(float(&value).ok_or_else(misfit)? as f32),
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
    /// When a value is out of the declared type's range.
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
            JsonColumn::Bool(mut builder) => Arc::new(builder.finish()),
            JsonColumn::Int(mut builder, data_type) => narrowed(Arc::new(builder.finish()), &data_type)?,
            JsonColumn::UInt(mut builder, data_type) => narrowed(Arc::new(builder.finish()), &data_type)?,
            JsonColumn::Time(mut builder, _, data_type) => {
                let array: ArrayRef = Arc::new(builder.finish());
                cast(&array, &data_type).map_err(|error| Error::malformed(error.to_string()))?
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

fn float(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Integer(value) => Some(*value as f64),
        Value::Number(text) => text.parse().ok(),
        Value::Text(text) => match text.as_ref() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// A point in time in ticks of `unit`; without a zone it is taken as it stands.
fn timestamp(text: &str, unit: TimeUnit) -> Option<i64> {
    let time: NaiveDateTime = match DateTime::parse_from_rfc3339(text) {
        Ok(time) => time.naive_utc(),
        Err(_) => NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok()?,
    };
    let time = time.and_utc();
    match unit {
        TimeUnit::Second => Some(time.timestamp()),
        TimeUnit::Millisecond => Some(time.timestamp_millis()),
        TimeUnit::Microsecond => Some(time.timestamp_micros()),
        TimeUnit::Nanosecond => time.timestamp_nanos_opt(),
    }
}
