//! A condition tied to the columns of one schema.

use arrow_schema::{DataType, Field, Schema, TimeUnit};
use isomorph_error::{Error, Place, Result};

use super::{Comparison, Literal, Predicate, Value};

/// A condition whose columns are positions and whose literals have the columns' domains.
#[derive(Debug, Clone)]
pub(crate) enum BoundPredicate {
    Compare { column: usize, comparison: Comparison, value: Value },
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
    pub(crate) fn bind(predicate: &Predicate, schema: &Schema) -> Result<Self> {
        let all = |list: &[Predicate]| list.iter().map(|one| Self::bind(one, schema)).collect::<Result<Vec<_>>>();
        Ok(match predicate {
            Predicate::Compare { column, comparison, literal } => {
                let (column, field) = find(schema, column)?;
                BoundPredicate::Compare { column, comparison: *comparison, value: value(field, literal)? }
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
pub(crate) fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

fn value(field: &Field, literal: &Literal) -> Result<Value> {
    use DataType as T;
    let data_type = value_type(field.data_type());
    let is_number = data_type.is_integer() || matches!(data_type, T::Float32 | T::Float64);
    let value = match (data_type, literal) {
        (_, Literal::Int(value)) if is_number => Value::Int(*value),
        (_, Literal::Float(value)) if is_number => Value::Float(*value),
        (T::Boolean, Literal::Bool(value)) => Value::Int((*value).into()),
        (T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary, Literal::Text(text)) => {
            Value::Bytes(text.as_bytes().to_vec())
        }
        (T::Date32, Literal::Date(days)) => Value::Int((*days).into()),
        (T::Timestamp(_, _), Literal::Timestamp(nanoseconds)) => Value::Int(*nanoseconds),
        (data_type, literal) => {
            let message = format!("column `{}` of type {data_type} does not compare with {literal:?}", field.name());
            return Err(Error::usage(message).at(Place::field(field.name())));
        }
    };
    Ok(value)
}

/// Nanoseconds in one `unit`.
pub(crate) fn nanoseconds(unit: &TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1000,
        TimeUnit::Nanosecond => 1,
    }
}
