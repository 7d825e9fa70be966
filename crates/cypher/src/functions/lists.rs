//! Functions of lists.

use super::Function;
use crate::exec::Context;
use crate::fault::{Class, Fault, Result};
use crate::value::Value;

pub(super) fn call(function: Function, arguments: &[Value], cx: &Context<'_>) -> Result<Value> {
    if function == Function::Range {
        return range(arguments, cx);
    }
    let Some(value) = arguments.first() else { return Ok(Value::Null) };
    let wrong = || Err(Fault::argument_type(format!("expected a list, found {}", value.type_name())));
    let length = |length: usize| Value::Int(i64::try_from(length).unwrap_or(i64::MAX));
    Ok(match (function, value) {
        (_, Value::Null) => Value::Null,
        (Function::Size, Value::List(items)) => length(items.len()),
        (Function::Size, Value::String(text)) => length(text.chars().count()),
        (Function::Size, Value::Map(map)) => length(map.len()),
        (Function::IsEmpty, Value::List(items)) => Value::Bool(items.is_empty()),
        (Function::IsEmpty, Value::String(text)) => Value::Bool(text.is_empty()),
        (Function::IsEmpty, Value::Map(map)) => Value::Bool(map.is_empty()),
        (Function::Head, Value::List(items)) => items.first().cloned().unwrap_or_default(),
        (Function::Last, Value::List(items)) => items.last().cloned().unwrap_or_default(),
        (Function::Tail, Value::List(items)) => Value::list(items.get(1..).unwrap_or_default().to_vec()),
        (Function::Reverse, Value::List(items)) => Value::list(items.iter().rev().cloned().collect()),
        (Function::Reverse, Value::String(text)) => Value::text(text.chars().rev().collect::<String>()),
        _ => return wrong(),
    })
}

fn range(arguments: &[Value], cx: &Context<'_>) -> Result<Value> {
    let bound = |value: &Value| match value {
        Value::Int(int) => Ok(*int),
        other => Err(Fault::runtime(
            Class::ArgumentError,
            "InvalidArgumentType",
            format!("range expects integers, found {}", other.type_name()),
        )),
    };
    let (from, to) = match arguments {
        [from, to, ..] => (bound(from)?, bound(to)?),
        _ => return Ok(Value::Null),
    };
    let step = arguments.get(2).map(bound).transpose()?.unwrap_or(1);
    if step == 0 {
        return Err(Fault::runtime(Class::ArgumentError, "NumberOutOfRange", "the step of a range cannot be 0"));
    }
    let mut items = Vec::new();
    let mut at = Some(from);
    while let Some(value) = at.filter(|value| if step > 0 { *value <= to } else { *value >= to }) {
        cx.tick()?;
        cx.grow(size_of::<Value>() as u64)?;
        items.push(Value::Int(value));
        at = value.checked_add(step);
    }
    Ok(Value::list(items))
}
