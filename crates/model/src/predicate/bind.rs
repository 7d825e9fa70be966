//! A condition tied to the columns of one schema.

use arrow_schema::{DataType, Field, Schema, TimeUnit};
use isomorph_error::{Error, Place, Result};

use super::like::Pattern;
use super::literal::{Moment, days, moment, time_of_day};
use super::value::Decimal;
use super::{Comparison, Literal, Predicate, Set, Value};

/// A condition whose columns are positions and whose literals have the columns' domains.
#[derive(Debug, Clone)]
pub(super) enum BoundPredicate {
    Compare { column: usize, comparison: Comparison, value: Value },
    Like { column: usize, pattern: Pattern },
    Has { column: usize, value: Value },
    In { column: usize, set: Set },
    IsNull(usize),
    IsNotNull(usize),
    And(Vec<BoundPredicate>),
    Or(Vec<BoundPredicate>),
    Not(Box<BoundPredicate>),
}

impl BoundPredicate {
    /// Ties `predicate` to `schema`.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] for a column that is not there, and for types that do not compare.
    pub(super) fn bind(predicate: &Predicate, schema: &Schema) -> Result<Self> {
        let all = |list: &[Predicate]| list.iter().map(|one| Self::bind(one, schema)).collect::<Result<Vec<_>>>();
        Ok(match predicate {
            Predicate::Compare { column, comparison, literal } => {
                let (column, field) = find(schema, column)?;
                let value = value(field.data_type(), literal).map_err(|why| not_compared(field, &why))?;
                BoundPredicate::Compare { column, comparison: *comparison, value }
            }
            Predicate::Like { column, pattern } => {
                let (column, field) = find(schema, column)?;
                if !matches!(value_type(field.data_type()), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
                    return Err(not_compared(field, "is not like a pattern: only text is"));
                }
                BoundPredicate::Like { column, pattern: Pattern::new(pattern) }
            }
            Predicate::Has { column, literal } => {
                let (column, field) = find(schema, column)?;
                match value_type(field.data_type()) {
                    DataType::List(item) | DataType::LargeList(item) => {
                        let value = value(item.data_type(), literal)
                            .map_err(|why| not_compared(field, &format!("holds values of which each {why}")))?;
                        BoundPredicate::Has { column, value }
                    }
                    _ => return Err(not_compared(field, "has no values: only a list has")),
                }
            }
            Predicate::In { column, set } => {
                let (column, field) = find(schema, column)?;
                match value_type(field.data_type()) {
                    DataType::Null => {}
                    integer if integer.is_integer() && set.ints().is_some() => {}
                    DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if set.texts().is_some() => {}
                    _ => return Err(not_compared(field, "is not among integers or texts of its own type")),
                }
                BoundPredicate::In { column, set: set.clone() }
            }
            Predicate::IsNull(column) => BoundPredicate::IsNull(find(schema, column)?.0),
            Predicate::IsNotNull(column) => BoundPredicate::IsNotNull(find(schema, column)?.0),
            Predicate::And(list) => BoundPredicate::And(all(list)?),
            Predicate::Or(list) => BoundPredicate::Or(all(list)?),
            Predicate::Not(one) => BoundPredicate::Not(Box::new(Self::bind(one, schema)?)),
        })
    }
}

fn find<'a>(schema: &'a Schema, name: &str) -> Result<(usize, &'a Field)> {
    schema.column_with_name(name).ok_or_else(|| {
        let names: Vec<&str> = schema.fields().iter().take(20).map(|field| field.name().as_str()).collect();
        Error::usage(format!("there is no column `{name}`; there are {}", names.join(", "))).at(Place::field(name))
    })
}

/// The type of a column's values, whether or not it has a dictionary of them.
pub fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// A literal in the domain of values of a type; why there is none, behind the name of a column. Text takes the type of the values.
pub(super) fn value(data_type: &DataType, literal: &Literal) -> Result<Value, String> {
    use DataType as T;
    let data_type = value_type(data_type);
    let is_number = data_type.is_integer() || matches!(data_type, T::Float32 | T::Float64);
    let value = match (data_type, literal) {
        (_, Literal::Text(text)) if is_number => {
            return match Literal::number(text) {
                Some(number @ (Literal::Int(_) | Literal::Float(_) | Literal::Number(_))) => value(data_type, &number),
                _ => Err(format!("does not compare with {text:?}")),
            };
        }
        (_, Literal::Int(value)) if is_number => Some(Value::Int(*value)),
        // What no float of the column reaches is no infinity.
        (T::Float32, Literal::Number(text)) => match text.parse::<f32>() {
            Ok(value) if value.is_finite() => Some(Value::Float(value.into())),
            _ => text.parse().ok().filter(|value: &f64| value.is_finite()).map(Value::Float),
        },
        (T::Float64, Literal::Number(text)) => {
            text.parse().ok().filter(|value: &f64| value.is_finite()).map(Value::Float)
        }
        (_, Literal::Number(text)) if is_number => Decimal::parse(text).map(Value::Decimal),
        (_, Literal::Float(value)) if is_number => Some(Value::Float(*value)),
        (T::Decimal128(_, _) | T::Decimal256(_, _), literal) => {
            let text = match literal {
                Literal::Int(value) => Some(value.to_string()),
                Literal::Float(value) => Some(value.to_string()),
                Literal::Text(text) | Literal::Number(text) => Some(text.clone()),
                _ => None,
            };
            text.and_then(|text| Decimal::parse(&text)).map(Value::Decimal)
        }
        (T::Boolean, Literal::Bool(value)) => Some(Value::Int((*value).into())),
        (T::Boolean, Literal::Text(text)) => match Literal::number(text) {
            Some(Literal::Bool(value)) => Some(Value::Int(value.into())),
            _ => None,
        },
        (T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary, Literal::Text(text)) => {
            Some(Value::Bytes(text.as_bytes().to_vec()))
        }
        (T::Date32, Literal::Date(days)) => Some(Value::Int((*days).into())),
        (T::Date32, Literal::Text(text)) => days(text).map(|days| Value::Int(days.into())),
        (T::Date64, Literal::Date(days)) => Some(Value::Int(i128::from(*days) * MILLISECONDS_OF_A_DAY)),
        (T::Date64, Literal::Text(text)) => days(text).map(|days| Value::Int(i128::from(days) * MILLISECONDS_OF_A_DAY)),
        (T::Timestamp(_, None), Literal::Instant(_)) => return Err(NO_ZONE.to_owned()),
        (T::Timestamp(_, _), Literal::Timestamp(nanoseconds) | Literal::Instant(nanoseconds)) => {
            Some(Value::Int(*nanoseconds))
        }
        (T::Timestamp(_, _), Literal::Date(days)) => {
            Some(Value::Int(i128::from(*days) * MILLISECONDS_OF_A_DAY * nanoseconds(&TimeUnit::Millisecond)))
        }
        (T::Timestamp(_, zone), Literal::Text(text)) => match moment(text) {
            Some(Moment::Instant(_)) if zone.is_none() => return Err(NO_ZONE.to_owned()),
            Some(Moment::Instant(nanoseconds) | Moment::Local(nanoseconds)) => Some(Value::Int(nanoseconds)),
            None => None,
        },
        (T::Time32(_) | T::Time64(_), Literal::Text(text)) => time_of_day(text).map(Value::Int),
        // Nothing is known of a column in which everything is null.
        (T::Null, _) => Some(Value::Int(0)),
        _ => None,
    };
    value.ok_or_else(|| {
        let shown = match literal {
            Literal::Bool(value) => value.to_string(),
            Literal::Int(value) => value.to_string(),
            Literal::Float(value) => value.to_string(),
            Literal::Text(text) => format!("{text:?}"),
            Literal::Number(text) => text.clone(),
            Literal::Date(_) => "a date".to_owned(),
            Literal::Timestamp(_) | Literal::Instant(_) => "a timestamp".to_owned(),
        };
        format!("does not compare with {shown}")
    })
}

const MILLISECONDS_OF_A_DAY: i128 = 86_400_000;

/// Why a column of times without a zone does not compare with an instant.
const NO_ZONE: &str = "has times without a zone, which do not compare with a time that states an offset from UTC";

/// The error for a condition that does not fit the type of its column, with one that does.
fn not_compared(field: &Field, why: &str) -> Error {
    use DataType as T;
    let (name, data_type) = (field.name(), value_type(field.data_type()));
    let example = match data_type {
        T::Boolean => Some(" = true"),
        T::Date32 | T::Date64 => Some(" >= \"1990-01-31\""),
        T::Timestamp(_, _) => Some(" >= \"1990-01-31T12:00:00\""),
        T::Time32(_) | T::Time64(_) => Some(" >= \"12:00:00\""),
        T::Utf8 | T::LargeUtf8 | T::Utf8View => Some(" = \"some text\""),
        T::List(item) | T::LargeList(item) if item.data_type().is_numeric() => Some(" has 5"),
        T::List(item) | T::LargeList(item) if *item.data_type() == T::Boolean => Some(" has true"),
        T::List(_) | T::LargeList(_) => Some(" has \"a value\""),
        _ if data_type.is_numeric() => Some(" >= 5"),
        _ => None,
    };
    let error = Error::usage(format!("column `{name}` of type {data_type} {why}")).at(Place::field(name));
    match example {
        Some(example) => error.hint(format!("write {name}{example}")),
        None => error.hint(format!("write {name} is not null")),
    }
}

/// Nanoseconds in one `unit`.
pub fn nanoseconds(unit: &TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1000,
        TimeUnit::Nanosecond => 1,
    }
}
