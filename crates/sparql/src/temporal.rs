//! Arithmetic of moments and durations, as the evaluator has it.

use spareval::ExpressionTerm as Value;

/// The sum of a moment and a duration, or of two durations.
pub(crate) fn added(left: &Value, right: &Value) -> Option<Value> {
    use Value as V;
    Some(match (left, right) {
        (V::DateTimeLiteral(left), V::DurationLiteral(right)) => V::DateTimeLiteral(left.checked_add_duration(*right)?),
        (V::DateTimeLiteral(left), V::YearMonthDurationLiteral(right)) => {
            V::DateTimeLiteral(left.checked_add_year_month_duration(*right)?)
        }
        (V::DateTimeLiteral(left), V::DayTimeDurationLiteral(right)) => {
            V::DateTimeLiteral(left.checked_add_day_time_duration(*right)?)
        }
        (V::DateLiteral(left), V::DurationLiteral(right)) => V::DateLiteral(left.checked_add_duration(*right)?),
        (V::DateLiteral(left), V::YearMonthDurationLiteral(right)) => {
            V::DateLiteral(left.checked_add_year_month_duration(*right)?)
        }
        (V::DateLiteral(left), V::DayTimeDurationLiteral(right)) => {
            V::DateLiteral(left.checked_add_day_time_duration(*right)?)
        }
        (V::TimeLiteral(left), V::DurationLiteral(right)) => V::TimeLiteral(left.checked_add_duration(*right)?),
        (V::TimeLiteral(left), V::DayTimeDurationLiteral(right)) => {
            V::TimeLiteral(left.checked_add_day_time_duration(*right)?)
        }
        (V::DurationLiteral(left), V::DurationLiteral(right)) => V::DurationLiteral(left.checked_add(*right)?),
        (V::DurationLiteral(left), V::YearMonthDurationLiteral(right)) => V::DurationLiteral(left.checked_add(*right)?),
        (V::DurationLiteral(left), V::DayTimeDurationLiteral(right)) => V::DurationLiteral(left.checked_add(*right)?),
        (V::YearMonthDurationLiteral(left), V::YearMonthDurationLiteral(right)) => {
            V::YearMonthDurationLiteral(left.checked_add(*right)?)
        }
        (V::DayTimeDurationLiteral(left), V::DayTimeDurationLiteral(right)) => {
            V::DayTimeDurationLiteral(left.checked_add(*right)?)
        }
        (V::YearMonthDurationLiteral(_) | V::DayTimeDurationLiteral(_), _) => mixed(left, right, added)?,
        _ => return None,
    })
}

/// The difference of two moments or durations, or of a moment and a duration.
pub(crate) fn subtracted(left: &Value, right: &Value) -> Option<Value> {
    use Value as V;
    Some(match (left, right) {
        (V::DateTimeLiteral(left), V::DateTimeLiteral(right)) => V::DayTimeDurationLiteral(left.checked_sub(*right)?),
        (V::DateLiteral(left), V::DateLiteral(right)) => V::DayTimeDurationLiteral(left.checked_sub(*right)?),
        (V::TimeLiteral(left), V::TimeLiteral(right)) => V::DayTimeDurationLiteral(left.checked_sub(*right)?),
        (V::DateTimeLiteral(left), V::DurationLiteral(right)) => V::DateTimeLiteral(left.checked_sub_duration(*right)?),
        (V::DateTimeLiteral(left), V::YearMonthDurationLiteral(right)) => {
            V::DateTimeLiteral(left.checked_sub_year_month_duration(*right)?)
        }
        (V::DateTimeLiteral(left), V::DayTimeDurationLiteral(right)) => {
            V::DateTimeLiteral(left.checked_sub_day_time_duration(*right)?)
        }
        (V::DateLiteral(left), V::DurationLiteral(right)) => V::DateLiteral(left.checked_sub_duration(*right)?),
        (V::DateLiteral(left), V::YearMonthDurationLiteral(right)) => {
            V::DateLiteral(left.checked_sub_year_month_duration(*right)?)
        }
        (V::DateLiteral(left), V::DayTimeDurationLiteral(right)) => {
            V::DateLiteral(left.checked_sub_day_time_duration(*right)?)
        }
        (V::TimeLiteral(left), V::DurationLiteral(right)) => V::TimeLiteral(left.checked_sub_duration(*right)?),
        (V::TimeLiteral(left), V::DayTimeDurationLiteral(right)) => {
            V::TimeLiteral(left.checked_sub_day_time_duration(*right)?)
        }
        (V::DurationLiteral(left), V::DurationLiteral(right)) => V::DurationLiteral(left.checked_sub(*right)?),
        (V::DurationLiteral(left), V::YearMonthDurationLiteral(right)) => V::DurationLiteral(left.checked_sub(*right)?),
        (V::DurationLiteral(left), V::DayTimeDurationLiteral(right)) => V::DurationLiteral(left.checked_sub(*right)?),
        (V::YearMonthDurationLiteral(left), V::YearMonthDurationLiteral(right)) => {
            V::YearMonthDurationLiteral(left.checked_sub(*right)?)
        }
        (V::DayTimeDurationLiteral(left), V::DayTimeDurationLiteral(right)) => {
            V::DayTimeDurationLiteral(left.checked_sub(*right)?)
        }
        (V::YearMonthDurationLiteral(_) | V::DayTimeDurationLiteral(_), _) => mixed(left, right, subtracted)?,
        _ => return None,
    })
}

/// An operation on durations of two types: both as `xsd:duration`.
fn mixed(left: &Value, right: &Value, operation: fn(&Value, &Value) -> Option<Value>) -> Option<Value> {
    let whole = match left {
        Value::YearMonthDurationLiteral(value) => Value::DurationLiteral((*value).into()),
        Value::DayTimeDurationLiteral(value) => Value::DurationLiteral((*value).into()),
        _ => return None,
    };
    operation(&whole, right)
}

/// A duration with the other sign.
pub(crate) fn negated(value: &Value) -> Option<Value> {
    Some(match value {
        Value::DurationLiteral(value) => Value::DurationLiteral(value.checked_neg()?),
        Value::YearMonthDurationLiteral(value) => Value::YearMonthDurationLiteral(value.checked_neg()?),
        Value::DayTimeDurationLiteral(value) => Value::DayTimeDurationLiteral(value.checked_neg()?),
        _ => return None,
    })
}
