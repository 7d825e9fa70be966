//! Functions of numbers, and conversions to numbers and truth values.

use super::Function;
use crate::exec::Context;
use crate::fault::{Fault, Result};
use crate::operators::number;
use crate::value::Value;

pub(super) fn call(function: Function, arguments: &[Value], cx: &Context<'_>) -> Result<Value> {
    use Function as F;
    match function {
        F::Pi => return Ok(Value::Float(std::f64::consts::PI)),
        F::E => return Ok(Value::Float(std::f64::consts::E)),
        F::Rand => return Ok(Value::Float(random(cx))),
        _ => {}
    }
    let Some(value) = arguments.first() else { return Ok(Value::Null) };
    if arguments.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let or_null = matches!(function, F::ToIntegerOrNull | F::ToFloatOrNull | F::ToBooleanOrNull);
    let wrong = |wanted: &str| {
        if or_null {
            return Ok(Value::Null);
        }
        Err(Fault::argument_value(format!("expected {wanted}, found {}", value.type_name())))
    };
    match function {
        F::ToInteger | F::ToIntegerOrNull => match value {
            Value::Int(_) => return Ok(value.clone()),
            Value::Float(float) => return Ok(whole(*float)),
            Value::String(text) => return Ok(integer(text)),
            Value::Bool(truth) => return Ok(Value::Int(i64::from(*truth))),
            _ => return wrong("a number or a string"),
        },
        F::ToFloat | F::ToFloatOrNull => {
            return match (value, number(value)) {
                (_, Some(float)) => Ok(Value::Float(float)),
                (Value::String(text), _) => Ok(text.trim().parse().map_or(Value::Null, Value::Float)),
                _ => wrong("a number or a string"),
            };
        }
        F::ToBoolean | F::ToBooleanOrNull => {
            return match value {
                Value::Bool(_) => Ok(value.clone()),
                Value::Int(int) => Ok(Value::Bool(*int != 0)),
                Value::String(text) => Ok(match text.trim().to_lowercase().as_str() {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    _ => Value::Null,
                }),
                _ => wrong("a Boolean or a string"),
            };
        }
        F::Abs => {
            if let Value::Int(int) = value {
                let message = || Fault::overflow(format!("abs({int}) exceeds a 64-bit integer"));
                return Ok(Value::Int(int.checked_abs().ok_or_else(message)?));
            }
        }
        F::Sign => {
            if let Value::Int(int) = value {
                return Ok(Value::Int(int.signum()));
            }
        }
        _ => {}
    }
    let Some(x) = number(value) else {
        return Err(Fault::argument_type(format!("expected a number, found {}", value.type_name())));
    };
    let second = || {
        let second = arguments.get(1).unwrap_or(&Value::Null);
        number(second).ok_or_else(|| Fault::argument_type(format!("expected a number, found {}", second.type_name())))
    };
    Ok(Value::Float(match function {
        F::Abs => x.abs(),
        F::Ceil => x.ceil(),
        F::Floor => x.floor(),
        F::Round if arguments.len() > 1 => {
            let scale = 10_f64.powf(second()?.trunc());
            (x * scale).round() / scale
        }
        // Halves go up, as in Java. Adding a half to x would round.
        F::Round => {
            let below = x.floor();
            if x - below >= 0.5 { below + 1.0 } else { below }
        }
        F::Sign => {
            return Ok(if x.is_nan() { Value::Float(x) } else { Value::Int(i64::from(x > 0.0) - i64::from(x < 0.0)) });
        }
        F::Sqrt => x.sqrt(),
        F::Exp => x.exp(),
        F::Log => x.ln(),
        F::Log10 => x.log10(),
        F::Sin => x.sin(),
        F::Cos => x.cos(),
        F::Tan => x.tan(),
        F::Cot => 1.0 / x.tan(),
        F::Asin => x.asin(),
        F::Acos => x.acos(),
        F::Atan => x.atan(),
        F::Atan2 => x.atan2(second()?),
        F::Degrees => x.to_degrees(),
        F::Radians => x.to_radians(),
        F::Haversin => (1.0 - x.cos()) / 2.0,
        F::IsNan => return Ok(Value::Bool(x.is_nan())),
        _ => return Ok(Value::Null),
    }))
}

/// The integer of a float, towards zero; null if it does not fit.
#[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
fn whole(float: f64) -> Value {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float);
    if fits { Value::Int(float.trunc() as i64) } else { Value::Null }
}

fn integer(text: &str) -> Value {
    let text = text.trim();
    if let Ok(int) = text.parse() {
        return Value::Int(int);
    }
    match text.parse::<f64>() {
        Ok(float) if text.contains(|digit: char| digit.is_ascii_digit()) => whole(float),
        _ => Value::Null,
    }
}

/// A number from 0 to 1, by xorshift*.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn random(cx: &Context<'_>) -> f64 {
    let mut state = cx.random.get();
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    cx.random.set(state);
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
}
