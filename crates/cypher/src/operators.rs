//! Operators: arithmetic, comparison, strings, lists.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::exec::Context;
use crate::fault::{Class, Fault, Result};
use crate::plan::Operator;
use crate::temporal;
use crate::value::{Comparison, Value, compare, equal};

pub(crate) fn binary(operator: Operator, left: &Value, right: &Value, cx: &Context<'_>) -> Result<Value> {
    let known = |truth: Option<bool>| truth.map_or(Value::Null, Value::Bool);
    let ordered = |holds: fn(Ordering) -> bool| match compare(left, right) {
        Comparison::Ordered(order) => Value::Bool(holds(order)),
        Comparison::Never => Value::Bool(false),
        Comparison::Unknown => Value::Null,
    };
    Ok(match operator {
        Operator::Equal => known(equal(left, right)),
        Operator::NotEqual => known(equal(left, right).map(|truth| !truth)),
        Operator::Less => ordered(Ordering::is_lt),
        Operator::LessEqual => ordered(Ordering::is_le),
        Operator::Greater => ordered(Ordering::is_gt),
        Operator::GreaterEqual => ordered(Ordering::is_ge),
        Operator::In => is_in(left, right)?,
        Operator::Matches => match (left, right) {
            (Value::String(text), Value::String(pattern)) => Value::Bool(cx.regex(pattern)?.is_match(text)),
            _ => Value::Null,
        },
        Operator::StartsWith | Operator::EndsWith | Operator::Contains => match (left, right) {
            (Value::String(text), Value::String(part)) => Value::Bool(match operator {
                Operator::StartsWith => text.starts_with(&**part),
                Operator::EndsWith => text.ends_with(&**part),
                _ => text.contains(&**part),
            }),
            _ => Value::Null,
        },
        Operator::Add => add(left, right)?,
        Operator::Subtract => subtract(left, right)?,
        Operator::Multiply => multiply(left, right)?,
        Operator::Divide => divide(left, right)?,
        Operator::Remainder => remainder(left, right)?,
        Operator::Power => match (number(left), number(right)) {
            (Some(base), Some(exponent)) => Value::Float(base.powf(exponent)),
            _ => nothing_or_wrong("^", left, right)?,
        },
    })
}

/// The float of a number.
#[expect(clippy::cast_precision_loss, reason = "as openCypher has it: mixed arithmetic is of floats")]
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(int) => Some(*int as f64),
        Value::Float(float) => Some(*float),
        _ => None,
    }
}

/// Null if an operand is null; otherwise an error of types.
fn nothing_or_wrong(operator: &str, left: &Value, right: &Value) -> Result<Value> {
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    Err(Fault::argument_type(format!("{operator} does not take {} and {}", left.type_name(), right.type_name())))
}

fn is_in(item: &Value, list: &Value) -> Result<Value> {
    let Value::List(items) = list else {
        return match list {
            Value::Null => Ok(Value::Null),
            other => Err(Fault::argument_type(format!("IN expects a list, found {}", other.type_name()))),
        };
    };
    let mut unknown = false;
    for one in items.iter() {
        match equal(item, one) {
            Some(true) => return Ok(Value::Bool(true)),
            None => unknown = true,
            Some(false) => {}
        }
    }
    Ok(if unknown { Value::Null } else { Value::Bool(false) })
}

pub(crate) fn add(left: &Value, right: &Value) -> Result<Value> {
    Ok(match (left, right) {
        (Value::List(a), Value::List(b)) => Value::list(a.iter().chain(b.iter()).cloned().collect()),
        (Value::Null, _) | (_, Value::Null) => Value::Null,
        (Value::List(a), one) => Value::list(a.iter().cloned().chain([one.clone()]).collect()),
        (one, Value::List(b)) => Value::list(std::iter::once(one.clone()).chain(b.iter().cloned()).collect()),
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_add(*b).ok_or_else(|| too_large(left, "+", right))?),
        (Value::String(a), Value::String(b)) => Value::text(format!("{a}{b}")),
        (Value::String(a), Value::Int(_) | Value::Float(_) | Value::Bool(_)) => {
            Value::text(format!("{a}{}", plain(right)))
        }
        (Value::Int(_) | Value::Float(_) | Value::Bool(_), Value::String(b)) => {
            Value::text(format!("{}{b}", plain(left)))
        }
        (Value::Temporal(_) | Value::Duration(_), _) | (_, Value::Temporal(_)) => match temporal::add(left, right)? {
            Some(sum) => sum,
            None => nothing_or_wrong("+", left, right)?,
        },
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) => Value::Float(a + b),
            _ => nothing_or_wrong("+", left, right)?,
        },
    })
}

/// A number or truth value as `toString` writes it.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Int(int) => int.to_string(),
        Value::Float(float) => float_text(*float),
        Value::Bool(truth) => truth.to_string(),
        Value::String(text) => text.to_string(),
        _ => String::new(),
    }
}

/// A float as openCypher writes it: always with a point or an exponent.
pub(crate) fn float_text(float: f64) -> String {
    if float.is_nan() {
        return "NaN".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() };
    }
    let size = float.abs();
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        let text = format!("{float:E}");
        let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
        let point = if mantissa.contains('.') { "" } else { ".0" };
        return format!("{mantissa}{point}E{exponent}");
    }
    format!("{float:?}")
}

fn too_large(left: &Value, operator: &str, right: &Value) -> Fault {
    Fault::overflow(format!("{} {operator} {} exceeds a 64-bit integer", plain(left), plain(right)))
}

fn subtract(left: &Value, right: &Value) -> Result<Value> {
    Ok(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_sub(*b).ok_or_else(|| too_large(left, "-", right))?),
        (Value::Temporal(_) | Value::Duration(_), Value::Duration(_)) => match temporal::subtract(left, right)? {
            Some(difference) => difference,
            None => nothing_or_wrong("-", left, right)?,
        },
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) => Value::Float(a - b),
            _ => nothing_or_wrong("-", left, right)?,
        },
    })
}

pub(crate) fn multiply(left: &Value, right: &Value) -> Result<Value> {
    Ok(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_mul(*b).ok_or_else(|| too_large(left, "*", right))?),
        (Value::Duration(duration), factor) | (factor, Value::Duration(duration)) if number(factor).is_some() => {
            duration.times(number(factor).unwrap_or_default())?
        }
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) => Value::Float(a * b),
            _ => nothing_or_wrong("*", left, right)?,
        },
    })
}

fn divide(left: &Value, right: &Value) -> Result<Value> {
    Ok(match (left, right) {
        (Value::Int(_), Value::Int(0)) => return Err(by_zero()),
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_div(*b).ok_or_else(|| too_large(left, "/", right))?),
        (Value::Duration(duration), Value::Int(divisor)) if *divisor != 0 => duration.divided(*divisor)?,
        (Value::Duration(duration), divisor) if number(divisor).is_some() => {
            duration.times(1.0 / number(divisor).unwrap_or(1.0))?
        }
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) => Value::Float(a / b),
            _ => nothing_or_wrong("/", left, right)?,
        },
    })
}

fn by_zero() -> Fault {
    Fault::runtime(Class::ArithmeticError, "DivisionByZero", "an integer is divided by zero")
}

fn remainder(left: &Value, right: &Value) -> Result<Value> {
    Ok(match (left, right) {
        (Value::Int(_), Value::Int(0)) => return Err(by_zero()),
        (Value::Int(a), Value::Int(b)) => Value::Int(a.wrapping_rem(*b)),
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) => Value::Float(a % b),
            _ => nothing_or_wrong("%", left, right)?,
        },
    })
}

pub(crate) fn negate(value: &Value) -> Result<Value> {
    Ok(match value {
        Value::Int(int) => {
            Value::Int(int.checked_neg().ok_or_else(|| Fault::overflow(format!("-({int}) exceeds a 64-bit integer")))?)
        }
        Value::Float(float) => Value::Float(-float),
        Value::Duration(duration) => duration.times(-1.0)?,
        Value::Null => Value::Null,
        other => return Err(Fault::argument_type(format!("- expects a number, found {}", other.type_name()))),
    })
}

/// `base[index]`.
pub(crate) fn index(base: &Value, index: &Value, cx: &Context<'_>) -> Result<Value> {
    match (base, index) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::List(items), Value::Int(at)) => {
            Ok(position(items.len(), *at).and_then(|at| items.get(at)).cloned().unwrap_or_default())
        }
        (Value::List(_), other) => {
            Err(Fault::argument_type(format!("a list is indexed by an integer, not by {}", other.type_name())))
        }
        (Value::Map(_) | Value::Node(_) | Value::Relationship(_), Value::String(name)) => {
            crate::eval::property(base, name, cx)
        }
        (Value::Map(_) | Value::Node(_) | Value::Relationship(_), other) => Err(Fault::runtime(
            Class::TypeError,
            "MapElementAccessByNonString",
            format!("{} is indexed by a string, not by {}", base.type_name(), other.type_name()),
        )),
        (other, _) => Err(Fault::argument_type(format!("{} cannot be indexed", other.type_name()))),
    }
}

/// The position of an index that may count from the end.
fn position(len: usize, at: i64) -> Option<usize> {
    let len = i64::try_from(len).ok()?;
    usize::try_from(if at < 0 { at.checked_add(len)? } else { at }).ok()
}

/// `base[from..to]`.
pub(crate) fn slice(base: &Value, from: Option<&Value>, to: Option<&Value>) -> Result<Value> {
    let Value::List(items) = base else {
        return match base {
            Value::Null => Ok(Value::Null),
            other => Err(Fault::argument_type(format!("a range is taken of a list, not of {}", other.type_name()))),
        };
    };
    let len = items.len();
    let bound = |bound: Option<&Value>, missing: usize| match bound {
        None => Ok(Some(missing)),
        Some(Value::Null) => Ok(None),
        Some(Value::Int(at)) => {
            let at = if *at < 0 { at.saturating_add(i64::try_from(len).unwrap_or(i64::MAX)) } else { *at };
            Ok(Some(usize::try_from(at.max(0)).unwrap_or(usize::MAX).min(len)))
        }
        Some(other) => Err(Fault::argument_type(format!("a bound is an integer, not {}", other.type_name()))),
    };
    let (Some(from), Some(to)) = (bound(from, 0)?, bound(to, len)?) else { return Ok(Value::Null) };
    Ok(Value::List(Arc::new(items.get(from..to.max(from)).unwrap_or_default().to_vec())))
}
