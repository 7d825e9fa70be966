//! Conditions on properties as filters of scans: only those that are true of exactly the same rows.

use arrow_schema::DataType;
use chrono::NaiveDate;
use isomorph::model::{Comparison, Literal, Predicate};

use crate::exec::Context;
use crate::plan::{Expr, Operator, Slot};
use crate::temporal::Temporal;
use crate::value::Value;

/// Columns that a filter may name, with their types: those whose cells are what they seem.
pub(super) type Columns = Vec<(String, DataType)>;

/// Integers up to this size are floats without rounding.
const EXACT: i64 = 1 << 53;

/// `expr`, a condition on the properties of the element in `slot`, as a filter.
pub(super) fn predicate(expr: &Expr, slot: Slot, columns: &Columns, cx: &Context<'_>) -> Option<Predicate> {
    let inner = |expr: &Expr| predicate(expr, slot, columns, cx);
    let named = |expr: &Expr| match expr {
        Expr::Property(base, name) if matches!(**base, Expr::Slot(own) if own == slot) => {
            columns.iter().find(|(own, _)| **own == **name)
        }
        _ => None,
    };
    let constant = |expr: &Expr| match expr {
        Expr::Const(value) => Some(value.clone()),
        Expr::Parameter(name) => cx.parameters.get(&**name).cloned(),
        _ => None,
    };
    Some(match expr {
        Expr::And(left, right) => Predicate::And(vec![inner(left)?, inner(right)?]),
        Expr::Or(left, right) => Predicate::Or(vec![inner(left)?, inner(right)?]),
        Expr::Not(one) => Predicate::Not(Box::new(inner(one)?)),
        Expr::IsNull(one, negated) => {
            let (column, _) = named(one)?;
            if *negated { Predicate::IsNotNull(column.clone()) } else { Predicate::IsNull(column.clone()) }
        }
        Expr::Binary(Operator::In, one, list) => {
            let ((column, data_type), Value::List(items)) = (named(one)?, constant(list).or_else(|| of_list(list))?)
            else {
                return None;
            };
            let equal = |item: &Value| compare(column, data_type, Comparison::Equal, item);
            Predicate::Or(items.iter().map(equal).collect::<Option<Vec<_>>>()?)
        }
        Expr::Binary(operator, left, right) => {
            let comparison = comparison(*operator)?;
            match (named(left), named(right)) {
                (Some((column, data_type)), None) => compare(column, data_type, comparison, &constant(right)?)?,
                (None, Some((column, data_type))) => {
                    compare(column, data_type, mirrored(comparison), &constant(left)?)?
                }
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Whether evaluation can fail only because of the graph or an interruption: parameters have their values here.
pub(super) fn is_safe(expr: &Expr, cx: &Context<'_>) -> bool {
    let is_value = |expr: &Expr| matches!(expr, Expr::Parameter(name) if cx.parameters.contains_key(&**name));
    match expr {
        Expr::Parameter(_) => is_value(expr),
        Expr::Binary(operator, left, right) if comparison(*operator).is_some() => {
            [left, right].iter().all(|side| is_value(side) || side.is_safe())
        }
        _ => expr.is_safe(),
    }
}

/// A list of constants.
fn of_list(expr: &Expr) -> Option<Value> {
    let Expr::List(items) = expr else { return None };
    let items = items.iter().map(|item| if let Expr::Const(value) = item { Some(value.clone()) } else { None });
    items.collect::<Option<Vec<_>>>().map(Value::list)
}

fn comparison(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Equal => Comparison::Equal,
        Operator::NotEqual => Comparison::NotEqual,
        Operator::Less => Comparison::Less,
        Operator::LessEqual => Comparison::LessOrEqual,
        Operator::Greater => Comparison::Greater,
        Operator::GreaterEqual => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// The comparison with its sides exchanged.
fn mirrored(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

fn compare(column: &str, data_type: &DataType, comparison: Comparison, value: &Value) -> Option<Predicate> {
    use DataType as T;
    let literal = match (data_type, value) {
        (T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32, Value::Int(int)) => {
            Literal::Int(i128::from(*int))
        }
        (T::Float64, Value::Float(float)) if !float.is_nan() => Literal::Float(*float),
        #[expect(clippy::cast_precision_loss, reason = "of integers that floats represent")]
        (T::Float64, Value::Int(int)) if int.abs() < EXACT => Literal::Float(*int as f64),
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, Value::String(text)) => Literal::Text(text.to_string()),
        (T::Boolean, Value::Bool(truth)) if matches!(comparison, Comparison::Equal | Comparison::NotEqual) => {
            Literal::Bool(*truth)
        }
        (T::Date32, Value::Temporal(Temporal::Date(date))) => {
            let days = date.signed_duration_since(NaiveDate::from_epoch_days(0)?).num_days();
            Literal::Date(i32::try_from(days).ok()?)
        }
        _ => return None,
    };
    Some(Predicate::Compare { column: column.to_owned(), comparison, literal })
}
