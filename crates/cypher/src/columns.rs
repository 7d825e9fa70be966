//! Rows of values as columns of one type each, for files of columns and for dataframes.

use std::sync::Arc;

use arrow_array::types::IntervalMonthDayNano;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, IntervalMonthDayNanoArray, RecordBatch,
    RecordBatchOptions, StringArray, Time64NanosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};
use isomorph::storage::Budget;
use isomorph::{Error, Kind, Result};

use crate::graph::PropertyGraph;
use crate::json::{to_json, to_text};
use crate::query::Rows;
use crate::temporal::{Duration, SECOND, Temporal, Zoned};
use crate::value::Value;

/// Integers up to this size are floats without rounding.
const EXACT: i64 = 1 << 53;

/// The type of a column: that of all its values, or else text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Empty,
    Bool,
    Int,
    Float,
    Text,
    Date,
    Time,
    Moment,
    Instant,
    Duration,
    /// Times of day with an offset, and durations beside them.
    Plain,
    Json,
    /// Not known before the rows: a text, which is JSON for lists, maps, nodes, relationships and paths.
    Any,
}

impl Shape {
    /// Whether values have components.
    pub(crate) fn is_temporal(self) -> bool {
        matches!(self, Shape::Date | Shape::Time | Shape::Moment | Shape::Instant | Shape::Duration | Shape::Plain)
    }
}

/// All rows as a batch with a column for each name: the columns of the query `text`. Values of one type have that type, integers
/// beside floats are floats if none is rounded; nodes, relationships, paths, lists, maps, and values of several types are JSON. The
/// types of columns are known when all values are, so the rows are held, within the budget.
///
/// # Errors
/// Those of the rows; if the graph cannot be read; [`Kind::TooLarge`] if the rows do not fit into the budget, or if a time is
/// beyond the years of 64-bit timestamps.
pub fn rows_as_columns(
    rows: Rows<'_, '_>,
    names: &[String],
    text: &str,
    graph: &dyn PropertyGraph,
    budget: &Budget,
) -> Result<RecordBatch> {
    let (mut kept, mut all) = (budget.reserve(0)?, Vec::new());
    for row in rows {
        let row = row.map_err(|fault| fault.into_error(text))?;
        kept.grow(row.iter().map(Value::bytes).sum()).map_err(|error| error.hint("--memory"))?;
        all.push(row);
    }
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (at, name) in names.iter().enumerate() {
        let values: Vec<&Value> = all.iter().filter_map(|row| row.get(at)).collect();
        let shape = shape(&values);
        // Microseconds where they are enough: they reach further.
        let is_fine = values.iter().filter_map(|value| moment(value)).any(|time| !is_of_micros(&time));
        let column = column(&values, shape, if is_fine { TimeUnit::Nanosecond } else { TimeUnit::Microsecond }, graph)?;
        fields.push(Field::new(name, column.data_type().clone(), true));
        columns.push(column);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(all.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|error| Error::new(Kind::Malformed, error.to_string()))
}

/// The type of values.
fn shape(values: &[&Value]) -> Shape {
    let known = values.iter().filter(|value| !value.is_null());
    let shape = known.fold(Shape::Empty, |shape, value| both(shape, shape_of(value)));
    match shape {
        Shape::Float if !values.iter().all(|value| is_exact(value)) => Shape::Json,
        // Files of columns have no type for months, days and seconds.
        Shape::Duration => Shape::Plain,
        shape => shape,
    }
}

/// Whether a value is a float without rounding, if it is a number.
fn is_exact(value: &Value) -> bool {
    !matches!(value, Value::Int(int) if int.unsigned_abs() > EXACT.unsigned_abs())
}

fn is_of_micros(time: &NaiveDateTime) -> bool {
    time.and_utc().timestamp_subsec_nanos().is_multiple_of(1000)
}

/// A column of a type that all values have. Times have this unit.
fn column(values: &[&Value], shape: Shape, unit: TimeUnit, graph: &dyn PropertyGraph) -> Result<ArrayRef> {
    let moments = || values.iter().map(|value| moment(value));
    Ok(match shape {
        Shape::Bool => Arc::new(BooleanArray::from_iter(values.iter().map(|value| match value {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }))),
        Shape::Int => Arc::new(Int64Array::from_iter(values.iter().map(|value| match value {
            Value::Int(int) => Some(*int),
            _ => None,
        }))),
        Shape::Float => Arc::new(Float64Array::from_iter(values.iter().map(|value| float(value)))),
        Shape::Text | Shape::Empty => Arc::new(StringArray::from_iter(values.iter().map(|value| match value {
            Value::String(text) => Some(text.to_string()),
            _ => None,
        }))),
        Shape::Date => Arc::new(Date32Array::from_iter(values.iter().map(|value| match value {
            Value::Temporal(Temporal::Date(date)) => {
                let days = date.signed_duration_since(NaiveDate::default()).num_days();
                i32::try_from(days).ok()
            }
            _ => None,
        }))),
        Shape::Time => Arc::new(Time64NanosecondArray::from_iter(values.iter().map(|value| match value {
            Value::Temporal(Temporal::LocalTime(time)) => time.signed_duration_since(NaiveTime::MIN).num_nanoseconds(),
            _ => None,
        }))),
        Shape::Moment | Shape::Instant => {
            let zone = (shape == Shape::Instant).then_some("UTC");
            if unit == TimeUnit::Microsecond {
                let times = moments().map(|time| time.map(|time| time.and_utc().timestamp_micros()));
                Arc::new(TimestampMicrosecondArray::from_iter(times).with_timezone_opt(zone))
            } else {
                let times = moments().map(|time| match time {
                    None => Ok(None),
                    Some(time) => time.and_utc().timestamp_nanos_opt().map(Some).ok_or_else(|| {
                        Error::new(Kind::TooLarge, format!("{time} is beyond timestamps in nanoseconds"))
                    }),
                });
                let times = times.collect::<Result<Vec<_>>>()?;
                Arc::new(TimestampNanosecondArray::from(times).with_timezone_opt(zone))
            }
        }
        Shape::Duration => {
            let intervals = values.iter().map(|value| match value {
                Value::Duration(duration) => interval(duration).map(Some),
                _ => Ok(None),
            });
            Arc::new(IntervalMonthDayNanoArray::from(intervals.collect::<Result<Vec<_>>>()?))
        }
        Shape::Plain => texts(values, |value| to_text(value, graph).map_err(|fault| fault.into_error("")))?,
        Shape::Json => {
            texts(values, |value| Ok(to_json(value, graph).map_err(|fault| fault.into_error(""))?.to_string()))?
        }
        Shape::Any => texts(values, |value| match value {
            Value::List(_) | Value::Map(_) | Value::Node(_) | Value::Relationship(_) | Value::Path(_) => {
                Ok(to_json(value, graph).map_err(|fault| fault.into_error(""))?.to_string())
            }
            value => to_text(value, graph).map_err(|fault| fault.into_error("")),
        })?,
    })
}

/// A duration as Arrow has it.
fn interval(duration: &Duration) -> Result<IntervalMonthDayNano> {
    let exact = || {
        let (months, days) = (i32::try_from(duration.months).ok()?, i32::try_from(duration.days).ok()?);
        let nanoseconds = duration.seconds.checked_mul(SECOND)?.checked_add(duration.nanoseconds)?;
        Some(IntervalMonthDayNano::new(months, days, nanoseconds))
    };
    exact().ok_or_else(|| {
        Error::new(
            Kind::TooLarge,
            format!("{duration} exceeds an interval of 32-bit months and days and 64-bit nanoseconds"),
        )
    })
}

/// Columns whose types are known before the rows.
#[derive(Debug, Clone)]
pub struct Columns {
    shapes: Vec<(Shape, TimeUnit)>,
    /// Whether a column has the type of a table, to which its values are cast.
    stored: Vec<bool>,
    schema: SchemaRef,
}

impl Columns {
    /// Columns of these shapes; those that are properties of one type have that type.
    pub(crate) fn new(names: &[String], shapes: Vec<(Shape, TimeUnit)>, stored: Vec<Option<DataType>>) -> Self {
        let field = |((name, (shape, unit)), stored): ((&String, &(Shape, TimeUnit)), &Option<DataType>)| {
            if let Some(stored) = stored {
                return Field::new(name, stored.clone(), true);
            }
            let data_type = match shape {
                Shape::Bool => DataType::Boolean,
                Shape::Int => DataType::Int64,
                Shape::Float => DataType::Float64,
                Shape::Date => DataType::Date32,
                Shape::Time => DataType::Time64(TimeUnit::Nanosecond),
                Shape::Moment => DataType::Timestamp(*unit, None),
                Shape::Instant => DataType::Timestamp(*unit, Some("UTC".into())),
                Shape::Duration => DataType::Interval(IntervalUnit::MonthDayNano),
                Shape::Empty | Shape::Text | Shape::Plain | Shape::Json | Shape::Any => DataType::Utf8,
            };
            Field::new(name, data_type, true)
        };
        let fields: Vec<Field> = names.iter().zip(&shapes).zip(&stored).map(field).collect();
        let stored = stored.iter().map(Option::is_some).collect();
        Columns { schema: Arc::new(Schema::new(fields)), shapes, stored }
    }

    /// Names and types.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Rows as a batch of these columns.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for a value of another type than its column, which properties have if their files hold other values than declared, and for an
    /// integer of more than 53 bits beside floats; [`Kind::TooLarge`] for times beyond the years of 64-bit timestamps.
    pub fn batch(&self, rows: &[Vec<Value>], graph: &dyn PropertyGraph) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(self.shapes.len());
        for (at, ((shape, unit), field)) in self.shapes.iter().zip(self.schema.fields()).enumerate() {
            let values: Vec<&Value> = rows.iter().filter_map(|row| row.get(at)).collect();
            for value in values.iter().filter(|value| !value.is_null()) {
                let fits = match shape {
                    Shape::Json | Shape::Any => true,
                    Shape::Float => both(shape_of(value), Shape::Float) == Shape::Float && is_exact(value),
                    Shape::Moment | Shape::Instant if *unit != TimeUnit::Nanosecond => {
                        shape_of(value) == *shape && moment(value).is_some_and(|time| is_of_micros(&time))
                    }
                    shape => both(shape_of(value), *shape) == *shape,
                };
                if !fits {
                    let text = to_text(value, graph).map_err(|fault| fault.into_error(""))?;
                    let error = format!("column {} of type {} has the value {text}", field.name(), field.data_type());
                    return Err(Error::unsupported(error).hint("toString(…), toFloat(…)    a value of one type"));
                }
            }
            let found = column(&values, *shape, *unit, graph)?;
            columns.push(match self.stored.get(at) {
                Some(true) => as_stored(&found, field)?,
                _ => found,
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|error| Error::new(Kind::Malformed, error.to_string()))
    }
}

/// Values that were read from columns of a type, as that type.
fn as_stored(column: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, field.data_type(), &options).map_err(|error| {
        let text = format!("column {} of type {} has a value that it cannot hold", field.name(), field.data_type());
        Error::unsupported(text).caused_by(error)
    })
}

fn texts(values: &[&Value], text: impl Fn(&Value) -> Result<String>) -> Result<ArrayRef> {
    let cells = values.iter().map(|value| if value.is_null() { Ok(None) } else { text(value).map(Some) });
    Ok(Arc::new(StringArray::from(cells.collect::<Result<Vec<_>>>()?)))
}

#[expect(clippy::cast_precision_loss, reason = "of integers that floats represent")]
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(float) => Some(*float),
        Value::Int(int) => Some(*int as f64),
        _ => None,
    }
}

fn moment(value: &Value) -> Option<NaiveDateTime> {
    match value {
        Value::Temporal(Temporal::LocalDateTime(time)) => Some(*time),
        Value::Temporal(Temporal::DateTime(Zoned { local, offset, .. })) => {
            local.checked_sub_signed(TimeDelta::seconds(i64::from(*offset)))
        }
        _ => None,
    }
}

pub(crate) fn shape_of(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Empty,
        Value::Bool(_) => Shape::Bool,
        Value::Int(_) => Shape::Int,
        Value::Float(_) => Shape::Float,
        Value::String(_) => Shape::Text,
        Value::Temporal(Temporal::Date(_)) => Shape::Date,
        Value::Temporal(Temporal::LocalTime(_)) => Shape::Time,
        Value::Temporal(Temporal::LocalDateTime(_)) => Shape::Moment,
        Value::Temporal(Temporal::DateTime(_)) => Shape::Instant,
        Value::Temporal(Temporal::Time(..)) => Shape::Plain,
        Value::Duration(_) => Shape::Duration,
        Value::JsonNull | Value::List(_) | Value::Map(_) | Value::Node(_) | Value::Relationship(_) | Value::Path(_) => {
            Shape::Json
        }
    }
}

/// The type of columns that have values of two types.
pub(crate) fn both(left: Shape, right: Shape) -> Shape {
    match (left, right) {
        (Shape::Any, _) | (_, Shape::Any) => Shape::Any,
        (Shape::Empty, shape) | (shape, Shape::Empty) => shape,
        (left, right) if left == right => left,
        (Shape::Int | Shape::Float, Shape::Int | Shape::Float) => Shape::Float,
        (Shape::Plain | Shape::Duration, Shape::Plain | Shape::Duration) => Shape::Plain,
        _ => Shape::Json,
    }
}
