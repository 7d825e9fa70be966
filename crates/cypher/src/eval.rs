//! Evaluation of expressions over a row.

use std::sync::Arc;

use crate::exec::Context;
use crate::fault::{Class, Fault, Result};
use crate::functions;
use crate::operators;
use crate::plan::{Expr, Labels, Operator, Quantifier, SubqueryKind};
use crate::value::{Map, Value, equal};

/// The values of all variables.
pub(crate) type Row = Vec<Value>;

/// The value of `expr`. Variables inside of comprehensions are written to their slots of `row`.
pub(crate) fn eval(expr: &Expr, row: &mut Row, cx: &Context<'_>) -> Result<Value> {
    Ok(match expr {
        Expr::Const(value) => value.clone(),
        Expr::Slot(slot) => row.get(*slot).cloned().unwrap_or_default(),
        Expr::Parameter(name) => cx.parameter(name)?,
        Expr::List(items) => Value::list(items.iter().map(|item| eval(item, row, cx)).collect::<Result<Vec<_>>>()?),
        Expr::Map(entries) => {
            let mut map = Map::new();
            for (key, value) in entries {
                map.insert(Arc::clone(key), eval(value, row, cx)?);
            }
            Value::Map(Arc::new(map))
        }
        Expr::MapProjection { base, all, entries, properties } => {
            let base = eval(base, row, cx)?;
            if base.is_null() {
                return Ok(Value::Null);
            }
            let mut map = if *all { properties_of(&base, cx)? } else { Map::new() };
            for name in properties {
                map.insert(Arc::clone(name), property(&base, name, cx)?);
            }
            for (key, value) in entries {
                map.insert(Arc::clone(key), eval(value, row, cx)?);
            }
            Value::Map(Arc::new(map))
        }
        Expr::Not(one) => match truth(&eval(one, row, cx)?)? {
            Some(truth) => Value::Bool(!truth),
            None => Value::Null,
        },
        Expr::Negate(one) => operators::negate(&eval(one, row, cx)?)?,
        Expr::Plus(one) => match eval(one, row, cx)? {
            number @ (Value::Int(_) | Value::Float(_) | Value::Null) => number,
            other => return Err(Fault::argument_type(format!("+ expects a number, found {}", other.type_name()))),
        },
        Expr::And(left, right) => {
            let left = truth(&eval(left, row, cx)?)?;
            if left == Some(false) {
                return Ok(Value::Bool(false));
            }
            match (left, truth(&eval(right, row, cx)?)?) {
                (_, Some(false)) => Value::Bool(false),
                (Some(true), Some(true)) => Value::Bool(true),
                _ => Value::Null,
            }
        }
        Expr::Or(left, right) => {
            let left = truth(&eval(left, row, cx)?)?;
            if left == Some(true) {
                return Ok(Value::Bool(true));
            }
            match (left, truth(&eval(right, row, cx)?)?) {
                (_, Some(true)) => Value::Bool(true),
                (Some(false), Some(false)) => Value::Bool(false),
                _ => Value::Null,
            }
        }
        Expr::Xor(left, right) => match (truth(&eval(left, row, cx)?)?, truth(&eval(right, row, cx)?)?) {
            (Some(a), Some(b)) => Value::Bool(a != b),
            _ => Value::Null,
        },
        Expr::Binary(operator, left, right) => {
            let left = eval(left, row, cx)?;
            let right = eval(right, row, cx)?;
            operators::binary(*operator, &left, &right, cx)?
        }
        Expr::Chain(operands, operators) => chain(operands, operators, row, cx)?,
        Expr::IsNull(one, negated) => Value::Bool(eval(one, row, cx)?.is_null() != *negated),
        Expr::HasLabels(one, labels) => has_labels(&eval(one, row, cx)?, labels, cx)?,
        Expr::Property(base, name) => property(&eval(base, row, cx)?, name, cx)?,
        Expr::Index(base, index) => {
            let base = eval(base, row, cx)?;
            let index = eval(index, row, cx)?;
            operators::index(&base, &index, cx)?
        }
        Expr::Slice(base, from, to) => {
            let base = eval(base, row, cx)?;
            let mut bound = |bound: &Option<Box<Expr>>| bound.as_ref().map(|bound| eval(bound, row, cx)).transpose();
            let (from, to) = (bound(from)?, bound(to)?);
            operators::slice(&base, from.as_ref(), to.as_ref())?
        }
        Expr::Call(function, arguments) => {
            let mut values = Vec::with_capacity(arguments.len());
            for (at, argument) in arguments.iter().enumerate() {
                let value = eval(argument, row, cx)?;
                if *function == functions::Function::Coalesce {
                    if !value.is_null() || at + 1 == arguments.len() {
                        return Ok(value);
                    }
                    continue;
                }
                values.push(value);
            }
            functions::call(*function, &values, cx)?
        }
        Expr::Case { operand, arms, otherwise } => {
            let operand = operand.as_ref().map(|operand| eval(operand, row, cx)).transpose()?;
            for (whens, then) in arms {
                for when in whens {
                    let when = eval(when, row, cx)?;
                    let applies = match &operand {
                        Some(operand) => equal(operand, &when) == Some(true),
                        None => truth(&when)? == Some(true),
                    };
                    if applies {
                        return eval(then, row, cx);
                    }
                }
            }
            match otherwise {
                Some(otherwise) => eval(otherwise, row, cx)?,
                None => Value::Null,
            }
        }
        Expr::ListComprehension { slot, list, condition, result } => {
            let list = eval(list, row, cx)?;
            let Some(items) = items(&list)? else { return Ok(Value::Null) };
            let mut results = Vec::new();
            for item in items.iter() {
                cx.tick()?;
                set(row, *slot, item.clone());
                if let Some(condition) = condition
                    && truth(&eval(condition, row, cx)?)? != Some(true)
                {
                    continue;
                }
                results.push(match result {
                    Some(result) => eval(result, row, cx)?,
                    None => item.clone(),
                });
            }
            Value::list(results)
        }
        Expr::Reduce { accumulator, initial, slot, list, expr } => {
            let list = eval(list, row, cx)?;
            let Some(items) = items(&list)? else { return Ok(Value::Null) };
            let mut value = eval(initial, row, cx)?;
            for item in items.iter() {
                cx.tick()?;
                set(row, *accumulator, value);
                set(row, *slot, item.clone());
                value = eval(expr, row, cx)?;
            }
            value
        }
        Expr::Quantified { quantifier, slot, list, condition } => {
            let list = eval(list, row, cx)?;
            let Some(items) = items(&list)? else { return Ok(Value::Null) };
            quantified(*quantifier, *slot, &items, condition, row, cx)?
        }
        Expr::PatternExists(pattern) => Value::Bool(cx.has_match(pattern, row)?),
        Expr::PatternComprehension { pattern, result } => {
            let mut results = Vec::new();
            cx.each_match(pattern, row, &mut |row| {
                results.push(eval(result, row, cx)?);
                Ok(true)
            })?;
            Value::list(results)
        }
        Expr::Subquery(kind, plan) => {
            let mut rows = cx.subquery(plan, row)?;
            match kind {
                SubqueryKind::Exists => Value::Bool(rows.next(cx)?.is_some()),
                SubqueryKind::Count => {
                    let mut count = 0;
                    while rows.next(cx)?.is_some() {
                        count += 1;
                    }
                    Value::Int(count)
                }
                SubqueryKind::Collect => {
                    let mut results = Vec::new();
                    while let Some(mut found) = rows.next(cx)? {
                        results.push(found.swap_remove(0));
                    }
                    Value::list(results)
                }
            }
        }
    })
}

pub(crate) fn set(row: &mut Row, slot: usize, value: Value) {
    if let Some(place) = row.get_mut(slot) {
        *place = value;
    }
}

/// The truth of a Boolean or null.
pub(crate) fn truth(value: &Value) -> Result<Option<bool>> {
    match value {
        Value::Bool(truth) => Ok(Some(*truth)),
        Value::Null => Ok(None),
        other => Err(Fault::argument_type(format!("expected a Boolean, found {}", other.type_name()))),
    }
}

/// Whether a condition holds.
pub(crate) fn holds(expr: &Expr, row: &mut Row, cx: &Context<'_>) -> Result<bool> {
    Ok(truth(&eval(expr, row, cx)?)? == Some(true))
}

fn items(list: &Value) -> Result<Option<Arc<Vec<Value>>>> {
    match list {
        Value::List(items) => Ok(Some(Arc::clone(items))),
        Value::Null => Ok(None),
        other => Err(Fault::argument_type(format!("expected a list, found {}", other.type_name()))),
    }
}

fn quantified(
    quantifier: Quantifier,
    slot: usize,
    items: &[Value],
    condition: &Expr,
    row: &mut Row,
    cx: &Context<'_>,
) -> Result<Value> {
    let (mut trues, mut unknowns) = (0_u64, false);
    for item in items {
        cx.tick()?;
        set(row, slot, item.clone());
        match truth(&eval(condition, row, cx)?)? {
            Some(true) => {
                trues += 1;
                match quantifier {
                    Quantifier::Any => return Ok(Value::Bool(true)),
                    Quantifier::None => return Ok(Value::Bool(false)),
                    Quantifier::Single if trues > 1 => return Ok(Value::Bool(false)),
                    _ => {}
                }
            }
            Some(false) if quantifier == Quantifier::All => return Ok(Value::Bool(false)),
            Some(false) => {}
            None => unknowns = true,
        }
    }
    if unknowns {
        return Ok(Value::Null);
    }
    Ok(Value::Bool(match quantifier {
        Quantifier::All | Quantifier::None => true,
        Quantifier::Any => false,
        Quantifier::Single => trues == 1,
    }))
}

fn chain(operands: &[Expr], operators: &[Operator], row: &mut Row, cx: &Context<'_>) -> Result<Value> {
    let mut result = Some(true);
    let Some((first, rest)) = operands.split_first() else { return Ok(Value::Null) };
    let mut left = eval(first, row, cx)?;
    for (operator, right) in operators.iter().zip(rest) {
        let right = eval(right, row, cx)?;
        match truth(&operators::binary(*operator, &left, &right, cx)?)? {
            Some(false) => return Ok(Value::Bool(false)),
            None => result = None,
            Some(true) => {}
        }
        left = right;
    }
    Ok(result.map_or(Value::Null, Value::Bool))
}

/// A property of a node, relationship, map or temporal value.
pub(crate) fn property(base: &Value, name: &str, cx: &Context<'_>) -> Result<Value> {
    Ok(match base {
        Value::Null => Value::Null,
        Value::Node(node) => cx.graph.node_property(*node, name)?,
        Value::Relationship(one) => cx.graph.relationship_property(*one, name)?,
        Value::Map(map) => map.get(name).cloned().unwrap_or_default(),
        Value::Temporal(temporal) => temporal.component(name),
        Value::Duration(duration) => duration.component(name),
        other => {
            return Err(Fault::runtime(
                Class::TypeError,
                "InvalidArgumentType",
                format!("{} has no properties, so not {name}", other.type_name()),
            ));
        }
    })
}

/// All properties of a node, relationship or map.
pub(crate) fn properties_of(base: &Value, cx: &Context<'_>) -> Result<Map> {
    Ok(match base {
        Value::Node(node) => cx.graph.node_properties(*node)?,
        Value::Relationship(one) => cx.graph.relationship_properties(*one)?,
        Value::Map(map) => Map::clone(map),
        other => {
            return Err(Fault::argument_type(format!(
                "expected a node, a relationship or a map, found {}",
                other.type_name()
            )));
        }
    })
}

fn has_labels(value: &Value, labels: &Labels, cx: &Context<'_>) -> Result<Value> {
    let has = |label: &str| -> Result<bool> {
        Ok(match value {
            Value::Node(node) => cx.graph.has_label(*node, label)?,
            Value::Relationship(one) => *cx.graph.relationship_type(*one)? == *label,
            _ => false,
        })
    };
    let has_any = || -> Result<bool> {
        Ok(match value {
            Value::Node(node) => !cx.graph.labels(*node)?.is_empty(),
            _ => true,
        })
    };
    match value {
        Value::Null => Ok(Value::Null),
        Value::Node(_) | Value::Relationship(_) => Ok(Value::Bool(label_holds(labels, &has, &has_any)?)),
        other => Err(Fault::argument_type(format!("expected a node or relationship, found {}", other.type_name()))),
    }
}

fn label_holds(labels: &Labels, has: &dyn Fn(&str) -> Result<bool>, any: &dyn Fn() -> Result<bool>) -> Result<bool> {
    match labels {
        Labels::Any => any(),
        Labels::Name(name) => has(name),
        Labels::Not(one) => Ok(!label_holds(one, has, any)?),
        Labels::And(all) => {
            for one in all {
                if !label_holds(one, has, any)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Labels::Or(all) => {
            for one in all {
                if label_holds(one, has, any)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}
