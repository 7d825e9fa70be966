//! Durations: months, days and seconds, which have no fixed ratio to each other.

use std::fmt;
use std::sync::Arc;

use isomorph::model::duration;

use crate::fault::{Class, Fault, Result};
use crate::value::{Map, Value};

/// Nanoseconds in a second.
pub(crate) const SECOND: i64 = 1_000_000_000;
/// Nanoseconds in a day.
const DAY: f64 = 86_400e9;
/// Nanoseconds in a month, on average.
const MONTH: f64 = 2_629_746e9;
const DAY_NANOSECONDS: i128 = 86_400_000_000_000;
const MONTH_NANOSECONDS: i128 = 2_629_746_000_000_000;

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Duration {
    /// Months.
    pub months: i64,
    /// Days.
    pub days: i64,
    /// Seconds, rounded down.
    pub seconds: i64,
    /// Nanoseconds after `seconds`, from 0 to 999,999,999.
    pub nanoseconds: i64,
}

fn too_large() -> Fault {
    Fault::runtime(Class::ArithmeticError, "IntegerOverflow", "a duration is too large")
}

/// Amounts of months, days and seconds that may have fractions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Parts {
    pub months: f64,
    pub days: f64,
    pub seconds: f64,
    pub nanoseconds: f64,
}

impl Duration {
    pub(crate) fn new(months: i64, days: i64, seconds: i64, nanoseconds: i64) -> Result<Duration> {
        let seconds = seconds.checked_add(nanoseconds.div_euclid(SECOND)).ok_or_else(too_large)?;
        Ok(Duration { months, days, seconds, nanoseconds: nanoseconds.rem_euclid(SECOND) })
    }

    pub(crate) fn value(self) -> Value {
        Value::Duration(Arc::new(self))
    }

    /// Fractions of months become days, those of days seconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked; as Java rounds")]
    pub(crate) fn of_parts(parts: Parts) -> Result<Duration> {
        let whole = |amount: f64| {
            if amount.is_nan() || amount.abs() >= 9.2e18 { Err(too_large()) } else { Ok(amount.trunc() as i64) }
        };
        let months = whole(parts.months)?;
        let days_exact = parts.days + (MONTH * parts.months - MONTH * months as f64) / DAY;
        let days = whole(days_exact)?;
        let seconds_exact = parts.seconds + (DAY * days_exact - DAY * days as f64) / 1e9;
        let seconds = whole(seconds_exact)?;
        let nanoseconds = parts.nanoseconds + (1e9 * seconds_exact - 1e9 * seconds as f64);
        Duration::new(months, days, seconds, whole((nanoseconds * 1000.0).round() / 1000.0)?)
    }

    /// A multiple.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "of checked size")]
    pub(crate) fn times(&self, factor: f64) -> Result<Value> {
        if factor == factor.trunc() && factor.abs() < 1e15 {
            let factor = factor as i64;
            let of = |amount: i64| amount.checked_mul(factor).ok_or_else(too_large);
            return Ok(
                Duration::new(of(self.months)?, of(self.days)?, of(self.seconds)?, of(self.nanoseconds)?)?.value()
            );
        }
        let parts = Parts {
            months: self.months as f64 * factor,
            days: self.days as f64 * factor,
            seconds: self.seconds as f64 * factor,
            nanoseconds: self.nanoseconds as f64 * factor,
        };
        Ok(Duration::of_parts(parts)?.value())
    }

    /// Divided by an integer, exactly, but for what is less than a nanosecond, which is dropped. As in [`Self::of_parts`],
    /// the rest of the months becomes days of average months, that of the days seconds.
    pub(crate) fn divided(&self, divisor: i64) -> Result<Value> {
        let divisor = i128::from(divisor);
        let whole = |amount: i128, unit: i128| -> Result<(i64, i128)> {
            let size = unit.checked_mul(divisor).filter(|size| *size != 0).ok_or_else(too_large)?;
            let count = i64::try_from(amount / size).map_err(|_| too_large())?;
            Ok((count, amount % size))
        };
        // Numerators in nanoseconds: all of them are below 2^120.
        let (months, rest) = whole(i128::from(self.months) * MONTH_NANOSECONDS, MONTH_NANOSECONDS)?;
        let (days, rest) = whole(i128::from(self.days) * DAY_NANOSECONDS + rest, DAY_NANOSECONDS)?;
        let second = i128::from(SECOND);
        let (seconds, rest) = whole(i128::from(self.seconds) * second + i128::from(self.nanoseconds) + rest, second)?;
        let (nanoseconds, _) = whole(rest, 1)?;
        Ok(Duration::new(months, days, seconds, nanoseconds)?.value())
    }

    pub(crate) fn plus(&self, other: &Duration, sign: i64) -> Result<Duration> {
        let sum = |a: i64, b: i64| b.checked_mul(sign).and_then(|b| a.checked_add(b)).ok_or_else(too_large);
        Duration::new(
            sum(self.months, other.months)?,
            sum(self.days, other.days)?,
            sum(self.seconds, other.seconds)?,
            sum(self.nanoseconds, other.nanoseconds)?,
        )
    }

    /// Its length with months and days of average length, for `ORDER BY`.
    pub(crate) fn average_nanoseconds(&self) -> i128 {
        let seconds = i128::from(self.months) * 2_629_746 + i128::from(self.days) * 86_400 + i128::from(self.seconds);
        seconds * i128::from(SECOND) + i128::from(self.nanoseconds)
    }

    pub(crate) fn component(&self, name: &str) -> Value {
        let all = || i128::from(self.seconds) * i128::from(SECOND) + i128::from(self.nanoseconds);
        let wide = |amount: i128| i64::try_from(amount).map_or(Value::Null, Value::Int);
        Value::Int(match name {
            "years" => self.months / 12,
            "quarters" => self.months / 3,
            "months" => self.months,
            "quartersOfYear" => self.months / 3 % 4,
            "monthsOfQuarter" => self.months % 3,
            "monthsOfYear" => self.months % 12,
            "weeks" => self.days / 7,
            "days" => self.days,
            "daysOfWeek" => self.days % 7,
            "hours" => self.seconds / 3600,
            "minutes" => self.seconds / 60,
            "minutesOfHour" => self.seconds / 60 % 60,
            "seconds" => self.seconds,
            "secondsOfMinute" => self.seconds % 60,
            "milliseconds" => return wide(all() / 1_000_000),
            "microseconds" => return wide(all() / 1_000),
            "nanoseconds" => return wide(all()),
            "millisecondsOfSecond" => self.nanoseconds / 1_000_000,
            "microsecondsOfSecond" => self.nanoseconds / 1_000,
            "nanosecondsOfSecond" => self.nanoseconds,
            _ => return Value::Null,
        })
    }

    /// A duration of the amounts in a map.
    pub(crate) fn of_map(map: &Map) -> Result<Duration> {
        let mut parts = Parts::default();
        // Whole numbers are added as integers: their sums are exact.
        let mut exact = Some((0_i64, 0_i64, 0_i64, 0_i64));
        for (name, value) in map {
            let amount = crate::operators::number(value).ok_or_else(|| {
                Fault::argument_type(format!("{name} of a duration is a number, not {}", value.type_name()))
            })?;
            let (place, factor): (usize, i64) = match &**name {
                "years" => (0, 12),
                "quarters" => (0, 3),
                "months" => (0, 1),
                "weeks" => (1, 7),
                "days" => (1, 1),
                "hours" => (2, 3600),
                "minutes" => (2, 60),
                "seconds" => (2, 1),
                "milliseconds" => (3, 1_000_000),
                "microseconds" => (3, 1_000),
                "nanoseconds" => (3, 1),
                other => {
                    let message = format!("a duration has no {other}");
                    return Err(
                        Fault::argument_value(message).hint("years, months, weeks, days, hours, minutes, seconds")
                    );
                }
            };
            #[expect(clippy::cast_precision_loss, reason = "small factors")]
            let scaled = amount * factor as f64;
            match place {
                0 => parts.months += scaled,
                1 => parts.days += scaled,
                2 => parts.seconds += scaled,
                _ => parts.nanoseconds += scaled,
            }
            exact = match (exact, value) {
                (Some(mut sums), Value::Int(int)) => {
                    let sum = match place {
                        0 => &mut sums.0,
                        1 => &mut sums.1,
                        2 => &mut sums.2,
                        _ => &mut sums.3,
                    };
                    *sum = int.checked_mul(factor).and_then(|one| sum.checked_add(one)).ok_or_else(too_large)?;
                    Some(sums)
                }
                _ => None,
            };
        }
        match exact {
            Some((months, days, seconds, nanoseconds)) => Duration::new(months, days, seconds, nanoseconds),
            None => Duration::of_parts(parts),
        }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration::text(self.months, self.days, self.seconds, self.nanoseconds))
    }
}
