//! Values that are bound to a question, never spliced into its text.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::types::IntervalMonthDayNano;
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::metadata::ScalarAndMetadata;
use datafusion::common::{ParamValues, ScalarValue, plan_err};
use datafusion::logical_expr::LogicalPlan;
use isomorph::{Error, Result, did_you_mean};

use crate::errors::of_engine;
use crate::functions::durations;
use crate::functions::sums::DIGITS;
use crate::rewrite::instants::{MOST_DIGITS, instant, too_many_digits};
use crate::rewrite::times::with_seconds;
use crate::syntax::spelling::digits_of_second;

/// Values by name, for `$name` in a question. A value takes the type of what it is compared with; where nothing tells a type it is a whole number, a
/// floating-point number, `true`, `false` or a text, as it is written. Where a list can stand, in `any($name)`, `all($name)`, `in ($name)` and functions of arrays, it is a
/// list of such values, if it is written as JSON writes one.
#[derive(Debug, Clone, Default)]
pub struct Parameters(BTreeMap<String, Option<String>>);

impl Parameters {
    /// No values.
    pub fn new() -> Self {
        Parameters::default()
    }

    /// Adds a value.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(name.into(), Some(value.into()));
        self
    }

    /// Adds a null.
    pub fn with_null(mut self, name: impl Into<String>) -> Self {
        self.0.insert(name.into(), None);
        self
    }

    /// Sets a value, `None` for null.
    pub(crate) fn set(&mut self, name: String, value: Option<String>) {
        self.0.insert(name, value);
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of this name, if there is no other and it is no null.
    pub(crate) fn only(&self, name: &str) -> Option<&str> {
        self.0.get(name).filter(|_| self.0.len() == 1)?.as_deref()
    }

    /// The value of this name, which may be null.
    pub(crate) fn value(&self, name: &str) -> Option<Option<&str>> {
        self.0.get(name).map(Option::as_deref)
    }

    /// The plan with these values, of which those in `used` need not be in it.
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] if a value is missing, is not used, or is none of its type.
    pub(crate) fn bind(&self, plan: LogicalPlan, used: &BTreeSet<String>) -> Result<LogicalPlan> {
        let wanted = plan.get_parameter_types().map_err(of_engine)?;
        let own = |id: &str| id.trim_start_matches('$').to_owned();
        for id in wanted.keys() {
            if !self.0.contains_key(&own(id)) {
                return Err(Error::usage(format!("the question has a parameter {id}, which has no value"))
                    .hint(format!("--param {}=VALUE", own(id))));
            }
        }
        let names: Vec<String> = wanted.keys().map(|id| own(id)).collect();
        if let Some(name) = self.0.keys().find(|name| !names.contains(name) && !used.contains(*name)) {
            let near = did_you_mean(name, names.iter().map(String::as_str));
            return Err(Error::usage(format!("the question has no parameter ${name}{near}")));
        }
        if wanted.is_empty() {
            return Ok(plan);
        }
        let mut values = std::collections::HashMap::new();
        for (id, data_type) in wanted {
            let name = own(&id);
            let bound = match self.0.get(&name).and_then(Option::as_deref) {
                Some(text) => value(&name, text, data_type.as_ref())?,
                None => {
                    data_type.map_or(Ok(ScalarValue::Null), |own| ScalarValue::try_from(&own)).map_err(of_engine)?
                }
            };
            values.insert(name, ScalarAndMetadata::from(bound));
        }
        plan.with_param_values(ParamValues::Map(values)).map_err(of_engine)
    }
}

fn value(name: &str, text: &str, data_type: Option<&DataType>) -> Result<ScalarValue> {
    match data_type {
        Some(DataType::Null) | None => Ok(guess(text)),
        Some(data_type) if data_type.is_temporal() && digits_of_second(text) > MOST_DIGITS => {
            Err(too_many_digits(text))
        }
        Some(data_type) => {
            let text = if data_type.is_temporal() { &with_seconds(text) } else { text };
            let value = match able(data_type, text) {
                DataType::Timestamp(unit, Some(zone)) => instant(text, unit, &zone),
                // Also what is added to a moment, of which the engine thinks that it is one.
                able if able.is_temporal() && is_iso(text) => length(text),
                able => ScalarValue::try_from_string(text.to_owned(), &able),
            };
            value.map_err(|_| {
                let ty = isomorph::model::type_name::type_name(data_type);
                Error::usage(format!("parameter {name} is {text:?}, but is compared with a value of type {ty}"))
            })
        }
    }
}

/// Whether a text is written as a duration of ISO 8601.
fn is_iso(text: &str) -> bool {
    text.trim_start_matches(['+', '-']).starts_with('P')
}

/// The interval of such a text.
fn length(text: &str) -> datafusion::common::Result<ScalarValue> {
    let interval = durations::parse(text).and_then(|(months, days, nanoseconds)| {
        Some(IntervalMonthDayNano::new(i32::try_from(months).ok()?, i32::try_from(days).ok()?, nanoseconds))
    });
    match interval {
        Some(interval) => Ok(ScalarValue::IntervalMonthDayNano(Some(interval))),
        None => plan_err!("no duration"),
    }
}

/// The type like that of a column that has every digit of a value: the engine cuts and rounds what it reads as a type of fewer.
fn able(data_type: &DataType, text: &str) -> DataType {
    let unit = |unit: TimeUnit| match digits_of_second(text) {
        0..=3 if unit == TimeUnit::Millisecond => unit,
        0 if unit == TimeUnit::Second => unit,
        0..=6 => TimeUnit::Microsecond.max(unit),
        _ => TimeUnit::Nanosecond,
    };
    match data_type {
        DataType::Float16 | DataType::Float32 => DataType::Float64,
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            decimal(text).unwrap_or_else(|| data_type.clone())
        }
        DataType::Timestamp(own, zone) => DataType::Timestamp(unit(*own), zone.clone()),
        DataType::Date32 | DataType::Date64 if text.contains(':') => {
            DataType::Timestamp(unit(TimeUnit::Microsecond), None)
        }
        DataType::Time32(own) | DataType::Time64(own) => match unit(*own) {
            own @ (TimeUnit::Second | TimeUnit::Millisecond) => DataType::Time32(own),
            own => DataType::Time64(own),
        },
        other => other.clone(),
    }
}

/// The decimal type of a number as it is written; `None` if it is none. Of more digits than decimals have, it is a float.
fn decimal(text: &str) -> Option<DataType> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(part) {
        return text.parse::<f64>().is_ok_and(f64::is_finite).then_some(DataType::Float64);
    }
    let (whole, part) = (whole.trim_start_matches('0').len(), part.len());
    let digits = u8::try_from(whole + part).ok().filter(|digits| *digits <= DIGITS);
    Some(match (digits, i8::try_from(part)) {
        (Some(digits), Ok(scale)) => DataType::Decimal128(digits.max(1), scale),
        _ => DataType::Float64,
    })
}

fn guess(text: &str) -> ScalarValue {
    match text {
        "true" => return ScalarValue::Boolean(Some(true)),
        "false" => return ScalarValue::Boolean(Some(false)),
        _ => {}
    }
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || first == '-' || first == '.');
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(int), _) => ScalarValue::Int64(Some(int)),
        (_, Ok(float)) if is_number => ScalarValue::Float64(Some(float)),
        _ => ScalarValue::Utf8(Some(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_value_has_the_type_of_its_column() {
        assert_eq!(value("x", "7", Some(&DataType::Int32)).unwrap(), ScalarValue::Int32(Some(7)));
        assert_eq!(value("x", "7", Some(&DataType::Utf8)).unwrap(), ScalarValue::Utf8(Some("7".to_owned())));
        let error = value("x", "seven", Some(&DataType::Int32)).unwrap_err();
        assert!(error.message().contains("parameter x is \"seven\""), "{error}");
        assert_eq!(value("x", "'; drop", None).unwrap(), ScalarValue::Utf8(Some("'; drop".to_owned())));
        assert_eq!(value("x", "inf", None).unwrap(), ScalarValue::Utf8(Some("inf".to_owned())));
        assert_eq!(value("x", "-1.5", None).unwrap(), ScalarValue::Float64(Some(-1.5)));
    }
}
