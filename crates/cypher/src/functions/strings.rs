//! Functions of strings. Positions count characters.

use super::Function;
use crate::fault::{Class, Fault, Result};
use crate::operators::plain;
use crate::value::Value;

pub(super) fn call(function: Function, arguments: &[Value]) -> Result<Value> {
    use Function as F;
    let Some(value) = arguments.first() else { return Ok(Value::Null) };
    if arguments.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    if matches!(function, F::ToString | F::ToStringOrNull) {
        return match value {
            Value::String(_) => Ok(value.clone()),
            Value::JsonNull => Ok(Value::text("null")),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) => Ok(Value::text(plain(value))),
            Value::Temporal(temporal) => Ok(Value::text(temporal.to_string())),
            Value::Duration(duration) => Ok(Value::text(duration.to_string())),
            _ if function == F::ToStringOrNull => Ok(Value::Null),
            other => Err(Fault::argument_value(format!("toString does not take {}", other.type_name()))),
        };
    }
    let text = match value {
        Value::String(text) => text,
        other => return Err(Fault::argument_type(format!("expected a string, found {}", other.type_name()))),
    };
    let argument = |at: usize| match arguments.get(at) {
        Some(Value::String(text)) => Ok(text),
        other => {
            Err(Fault::argument_type(format!("expected a string, found {}", other.map_or("nothing", Value::type_name))))
        }
    };
    let position = |at: usize| match arguments.get(at) {
        Some(Value::Int(int)) => usize::try_from(*int).map_err(|_| {
            Fault::runtime(
                Class::ArgumentError,
                "NumberOutOfRange",
                format!("expected a length or position, found {int}"),
            )
        }),
        other => Err(Fault::argument_type(format!(
            "expected an integer, found {}",
            other.map_or("nothing", Value::type_name)
        ))),
    };
    Ok(match function {
        F::Split => {
            let separator = argument(1)?;
            if separator.is_empty() {
                return Ok(Value::list(text.chars().map(|one| Value::text(one.to_string())).collect()));
            }
            Value::list(text.split(&**separator).map(Value::text).collect())
        }
        F::Substring => {
            let from = position(1)?;
            let most = if arguments.len() > 2 { position(2)? } else { usize::MAX };
            Value::text(text.chars().skip(from).take(most).collect::<String>())
        }
        F::Left => Value::text(text.chars().take(position(1)?).collect::<String>()),
        F::Right => {
            let skip = text.chars().count().saturating_sub(position(1)?);
            Value::text(text.chars().skip(skip).collect::<String>())
        }
        F::Trim => Value::text(text.trim()),
        F::LTrim => Value::text(text.trim_start()),
        F::RTrim => Value::text(text.trim_end()),
        F::Replace => Value::text(text.replace(&**argument(1)?, argument(2)?)),
        F::ToUpper | F::Upper => Value::text(text.to_uppercase()),
        F::ToLower | F::Lower => Value::text(text.to_lowercase()),
        _ => Value::Int(i64::try_from(text.chars().count()).unwrap_or(i64::MAX)),
    })
}
