//! Conditions of SQL as conditions of the dataset: only those that are true of exactly the same rows.
//!
//! | values | difference | what is done |
//! |---|---|---|
//! | floats | for the engine NaN equals NaN and is the greatest number, for the dataset it is neither less nor greater than any | `x > 5` becomes `not x <= 5` |
//! | zero as a float | the engine tells `-0.0` from `0.0` | left to the engine |
//! | text | none: both compare bytes | |
//! | `LIKE` | the engine reads `\` as an escape | left to the engine if the pattern has one |
//! | decimals, times of day, bytes, dates with milliseconds | spelled differently | left to the engine |
//! | values of two types | the engine converts one of them | left to the engine |
//! | null | none: both have three truth values | |

use arrow_array::StringArray;
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{InList, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Like, Operator};
use isomorph::Predicate;
use isomorph::dataset::Role;
use isomorph::model::{Comparison, Literal, Set};

use crate::tables::columns::{Column, Compares};

/// `expression` as a condition on the names of the dataset; `None` if it is not exactly one. `column` finds a column by its name in SQL.
pub(crate) fn predicate(expression: &Expr, column: &dyn Fn(&str) -> Option<Column>) -> Option<Predicate> {
    // Whether a list has a value differs for null lists below a NOT.
    if let Expr::ScalarFunction(ScalarFunction { func, args }) = expression
        && func.name() == "array_has"
        && let [Expr::Column(list), Expr::Literal(value, _)] = args.as_slice()
    {
        return has(&column(&list.name)?, value);
    }
    inner(expression, column)
}

fn inner(expression: &Expr, column: &dyn Fn(&str) -> Option<Column>) -> Option<Predicate> {
    let named = |expression: &Expr| match expression {
        Expr::Column(own) => column(&own.name),
        _ => None,
    };
    Some(match expression {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            Predicate::And(vec![inner(left, column)?, inner(right, column)?])
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Predicate::Or(vec![inner(left, column)?, inner(right, column)?])
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
            (own, Expr::Literal(value, _)) => compare(&named(own)?, *op, value)?,
            (Expr::Literal(value, _), own) => compare(&named(own)?, op.swap()?, value)?,
            _ => return None,
        },
        Expr::Literal(ScalarValue::Boolean(Some(true)), _) => Predicate::And(Vec::new()),
        Expr::Literal(ScalarValue::Boolean(Some(false)), _) => Predicate::Or(Vec::new()),
        Expr::Not(one) => Predicate::Not(Box::new(inner(one, column)?)),
        Expr::IsNull(one) => Predicate::IsNull(named(one)?.stored),
        Expr::IsNotNull(one) => Predicate::IsNotNull(named(one)?.stored),
        Expr::Column(own) => {
            let own = column(&own.name)?;
            (own.data_type == DataType::Boolean && own.compares == Compares::Fully)
                .then(|| Predicate::compare(own.stored, Comparison::Equal, true))?
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            let (own, Expr::Literal(low, _), Expr::Literal(high, _)) = (named(expr)?, &**low, &**high) else {
                return None;
            };
            let between =
                Predicate::And(vec![compare(&own, Operator::GtEq, low)?, compare(&own, Operator::LtEq, high)?]);
            negate(between, *negated)
        }
        Expr::InList(InList { expr, list, negated }) => {
            let values = list.iter().map(|one| if let Expr::Literal(value, _) = one { Some(value) } else { None });
            negate(among(&named(expr)?, values)?, *negated)
        }
        Expr::Like(Like { negated, expr, pattern, escape_char: None, case_insensitive: false }) => {
            let own = named(expr)?;
            let Expr::Literal(pattern, _) = &**pattern else { return None };
            let pattern = pattern.try_as_str()??;
            if own.compares != Compares::Fully || !is_text(&own.data_type) || pattern.contains('\\') {
                return None;
            }
            negate(Predicate::Like { column: own.stored, pattern: pattern.to_owned() }, *negated)
        }
        _ => return None,
    })
}

fn negate(predicate: Predicate, negated: bool) -> Predicate {
    if negated { Predicate::Not(Box::new(predicate)) } else { predicate }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn has(column: &Column, value: &ScalarValue) -> Option<Predicate> {
    let (DataType::List(item) | DataType::LargeList(item)) = &column.data_type else { return None };
    let text = value.try_as_str()??;
    let is_plain = column.compares == Compares::Fully && is_text(item.data_type());
    is_plain.then(|| Predicate::Has { column: column.stored.clone(), literal: Literal::Text(text.to_owned()) })
}

/// `column op value`.
pub(crate) fn compare(column: &Column, op: Operator, value: &ScalarValue) -> Option<Predicate> {
    let is_equality = matches!(op, Operator::Eq | Operator::NotEq);
    if column.compares == Compares::Null || column.compares == Compares::Equal && !is_equality {
        return None;
    }
    let comparison = match op {
        Operator::Eq => Comparison::Equal,
        Operator::NotEq => Comparison::NotEqual,
        Operator::Lt => Comparison::Less,
        Operator::LtEq => Comparison::LessOrEqual,
        Operator::Gt => Comparison::Greater,
        Operator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    };
    let literal = literal(value, &column.data_type)?;
    let of = |comparison| Predicate::Compare { column: column.stored.clone(), comparison, literal: literal.clone() };
    let is_float = matches!(column.data_type, DataType::Float32 | DataType::Float64);
    Some(match comparison {
        // NaN is greater than the value.
        Comparison::Greater if is_float => negate(of(Comparison::LessOrEqual), true),
        Comparison::GreaterOrEqual if is_float => negate(of(Comparison::Less), true),
        other => of(other),
    })
}

/// `column in (values)`; `None` among the values is one that is not known.
pub(crate) fn among<'v>(column: &Column, values: impl Iterator<Item = Option<&'v ScalarValue>>) -> Option<Predicate> {
    if column.compares == Compares::Null {
        return None;
    }
    if column.data_type.is_integer() {
        let ints = values.map(|value| int(value.filter(|value| value.data_type() == column.data_type)?));
        let ints = ints.collect::<Option<Vec<i128>>>()?;
        return Some(Predicate::In { column: column.stored.clone(), set: Set::of_ints(ints) });
    }
    if is_text(&column.data_type) {
        let texts = values.map(|value| value?.try_as_str()?).collect::<Option<Vec<&str>>>()?;
        let set = Set::of(&StringArray::from(texts)).ok()?;
        return Some(Predicate::In { column: column.stored.clone(), set });
    }
    let any = values.map(|value| compare(column, Operator::Eq, value?)).collect::<Option<Vec<_>>>()?;
    Some(Predicate::Or(any))
}

/// An integer that is not null.
fn int(value: &ScalarValue) -> Option<i128> {
    Some(match value {
        ScalarValue::Int8(Some(int)) => i128::from(*int),
        ScalarValue::Int16(Some(int)) => i128::from(*int),
        ScalarValue::Int32(Some(int)) => i128::from(*int),
        ScalarValue::Int64(Some(int)) => i128::from(*int),
        ScalarValue::UInt8(Some(int)) => i128::from(*int),
        ScalarValue::UInt16(Some(int)) => i128::from(*int),
        ScalarValue::UInt32(Some(int)) => i128::from(*int),
        ScalarValue::UInt64(Some(int)) => i128::from(*int),
        _ => return None,
    })
}

/// A value of exactly the column's type.
fn literal(value: &ScalarValue, data_type: &DataType) -> Option<Literal> {
    if is_text(data_type) {
        return Some(Literal::Text(value.try_as_str()??.to_owned()));
    }
    if value.data_type() != *data_type {
        return None;
    }
    if let Some(int) = int(value) {
        return Some(Literal::Int(int));
    }
    let moment = |value: Option<i64>, unit: TimeUnit, zone: bool| {
        let nanoseconds = i128::from(value?) * isomorph::model::predicate::nanoseconds(&unit);
        Some(if zone { Literal::Instant(nanoseconds) } else { Literal::Timestamp(nanoseconds) })
    };
    match value {
        ScalarValue::Boolean(Some(value)) => Some(Literal::Bool(*value)),
        ScalarValue::Float32(Some(value)) => float(f64::from(*value)),
        ScalarValue::Float64(Some(value)) => float(*value),
        ScalarValue::Date32(Some(days)) => Some(Literal::Date(*days)),
        ScalarValue::TimestampSecond(value, zone) => moment(*value, TimeUnit::Second, zone.is_some()),
        ScalarValue::TimestampMillisecond(value, zone) => moment(*value, TimeUnit::Millisecond, zone.is_some()),
        ScalarValue::TimestampMicrosecond(value, zone) => moment(*value, TimeUnit::Microsecond, zone.is_some()),
        ScalarValue::TimestampNanosecond(value, zone) => moment(*value, TimeUnit::Nanosecond, zone.is_some()),
        _ => None,
    }
}

fn float(value: f64) -> Option<Literal> {
    (value != 0.0 && !value.is_nan()).then_some(Literal::Float(value))
}

/// Whether a column of this role can be looked up.
pub(crate) fn is_looked_up(role: Role) -> bool {
    matches!(role, Role::Key | Role::Row | Role::Source | Role::Target)
}
