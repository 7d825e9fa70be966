//! Sums and differences.

use chrono::{Days, Months, NaiveDate, NaiveDateTime, TimeDelta};

use super::construct::out_of_range;
use super::duration::Duration;
use super::{Temporal, Zoned};
use crate::fault::Result;
use crate::value::Value;

/// `left + right`; `None` if they have no sum.
pub(crate) fn add(left: &Value, right: &Value) -> Result<Option<Value>> {
    Ok(match (left, right) {
        (Value::Duration(a), Value::Duration(b)) => Some(a.plus(b, 1)?.value()),
        (Value::Temporal(temporal), Value::Duration(duration))
        | (Value::Duration(duration), Value::Temporal(temporal)) => Some(Value::Temporal(plus(temporal, duration, 1)?)),
        _ => None,
    })
}

/// `left - right`; `None` if they have no difference.
pub(crate) fn subtract(left: &Value, right: &Value) -> Result<Option<Value>> {
    Ok(match (left, right) {
        (Value::Duration(a), Value::Duration(b)) => Some(a.plus(b, -1)?.value()),
        (Value::Temporal(temporal), Value::Duration(duration)) => Some(Value::Temporal(plus(temporal, duration, -1)?)),
        _ => None,
    })
}

/// Months later; the last day of the month if it has no such day.
pub(super) fn plus_months(date: NaiveDate, months: i64) -> Option<NaiveDate> {
    let size = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
    if months < 0 { date.checked_sub_months(size) } else { date.checked_add_months(size) }
}

pub(super) fn plus_days(date: NaiveDate, days: i64) -> Option<NaiveDate> {
    let size = Days::new(days.unsigned_abs());
    if days < 0 { date.checked_sub_days(size) } else { date.checked_add_days(size) }
}

fn plus(temporal: &Temporal, duration: &Duration, sign: i64) -> Result<Temporal> {
    let sum = || -> Option<Temporal> {
        let (months, days) = (duration.months.checked_mul(sign)?, duration.days.checked_mul(sign)?);
        let time =
            TimeDelta::try_seconds(duration.seconds)?.checked_add(&TimeDelta::nanoseconds(duration.nanoseconds))?;
        let time = if sign < 0 { -time } else { time };
        let later = |local: NaiveDateTime| -> Option<NaiveDateTime> {
            let date = plus_days(plus_months(local.date(), months)?, days)?;
            Some(date.and_time(local.time()))
        };
        Some(match temporal {
            Temporal::Date(date) => {
                // Whole days of the time count.
                let whole = duration.seconds / 86_400;
                Temporal::Date(plus_days(plus_months(*date, months)?, days.checked_add(whole.checked_mul(sign)?)?)?)
            }
            Temporal::LocalTime(local) => Temporal::LocalTime(local.overflowing_add_signed(time).0),
            Temporal::Time(local, offset) => Temporal::Time(local.overflowing_add_signed(time).0, *offset),
            Temporal::LocalDateTime(local) => Temporal::LocalDateTime(later(*local)?.checked_add_signed(time)?),
            Temporal::DateTime(zoned) => {
                // Months and days are of the local time, shorter units of the instant.
                let day = zoned.with_local(later(zoned.local)?)?;
                Temporal::DateTime(Zoned::at(day.utc().checked_add_signed(time)?, zoned.zone)?)
            }
        })
    };
    sum().ok_or_else(out_of_range)
}
