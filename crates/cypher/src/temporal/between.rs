//! `duration.between` and its like.

use chrono::{Datelike, NaiveDateTime, NaiveTime, TimeDelta};

use super::arithmetic::{plus_days, plus_months};
use super::construct::out_of_range;
use super::duration::Duration;
use super::{Temporal, Zone, Zoned, nanoseconds_of_day};
use crate::fault::{Fault, Result};
use crate::functions::Function;
use crate::value::Value;

pub(crate) fn between(function: Function, arguments: &[Value]) -> Result<Value> {
    let (from, to) = match arguments {
        [Value::Null, _] | [_, Value::Null] => return Ok(Value::Null),
        [Value::Temporal(from), Value::Temporal(to)] => (from, to),
        _ => return Err(Fault::argument_type("the time between two temporal values is asked of other ones")),
    };
    let duration = match (from.date(), to.date()) {
        (Some(_), Some(_)) => dated(function, from, to).ok_or_else(out_of_range)?,
        _ => {
            if matches!(function, Function::InMonths | Function::InDays) {
                return Ok(Duration::new(0, 0, 0, 0)?.value());
            }
            // A local time is on the day, and in the zone, of a date time in a named zone.
            let placed = |one: &Temporal, other: &Temporal| match (one, other) {
                (Temporal::LocalTime(time), Temporal::DateTime(zoned)) if matches!(zoned.zone, Zone::Named(_)) => {
                    Some(Temporal::LocalDateTime(zoned.local.date().and_time(*time)))
                }
                _ => None,
            };
            let (own, others) = (placed(from, to), placed(to, from));
            if own.is_some() || others.is_some() {
                let found = dated(function, &own.unwrap_or(*from), &others.unwrap_or(*to));
                return Ok(found.ok_or_else(out_of_range)?.value());
            }
            let time = |one: &Temporal| nanoseconds_of_day(one.time().unwrap_or(NaiveTime::MIN));
            let mut nanoseconds = time(to) - time(from);
            // Offsets count where both have one.
            if let (Some(a), Some(b)) = (from.offset(), to.offset()) {
                nanoseconds += i64::from(a - b) * 1_000_000_000;
            }
            Duration::new(0, 0, 0, nanoseconds)?
        }
    };
    Ok(duration.value())
}

/// Between two values with dates.
fn dated(function: Function, from: &Temporal, to: &Temporal) -> Option<Duration> {
    // A value without a zone is in that of the other one.
    let zone = from.zone().or_else(|| to.zone()).unwrap_or(Zone::UTC);
    let local = |one: &Temporal| Some(one.date()?.and_time(one.time().unwrap_or(NaiveTime::MIN)));
    let zoned = |one: &Temporal| {
        Some(match one {
            Temporal::DateTime(zoned) => Zoned::at(zoned.utc(), zone)?,
            other => Zoned::new(local(other)?, zone, None)?,
        })
    };
    let (start, end) = (zoned(from)?, zoned(to)?);
    let seconds = |from: &Zoned, to: &Zoned| to.utc() - from.utc();
    match function {
        Function::InMonths => Duration::new(months(start.local, end.local)?, 0, 0, 0).ok(),
        Function::InDays => Duration::new(0, days(start.local, end.local), 0, 0).ok(),
        Function::InSeconds => of_delta(0, 0, seconds(&start, &end)),
        _ => {
            let months = months(start.local, end.local)?;
            let later = plus_months(start.local.date(), months)?.and_time(start.local.time());
            let days = days(later, end.local);
            let later = plus_days(later.date(), days)?.and_time(start.local.time());
            // As `+` adds months and days, so that `from` and the duration are `to`.
            of_delta(months, days, seconds(&start.with_local(later)?, &end))
        }
    }
}

fn of_delta(months: i64, days: i64, delta: TimeDelta) -> Option<Duration> {
    Duration::new(months, days, delta.num_seconds(), i64::from(delta.subsec_nanos())).ok()
}

/// Whole months from one time to another, towards zero.
fn months(from: NaiveDateTime, to: NaiveDateTime) -> Option<i64> {
    let count = |at: NaiveDateTime| i64::from(at.year()) * 12 + i64::from(at.month0());
    let months = count(to) - count(from);
    let rest = |at: NaiveDateTime| (at.day(), at.time());
    Some(match months {
        1.. if rest(to) < rest(from) => months - 1,
        ..=-1 if rest(to) > rest(from) => months + 1,
        months => months,
    })
}

/// Whole days from one time to another, towards zero.
fn days(from: NaiveDateTime, to: NaiveDateTime) -> i64 {
    let days = (to.date() - from.date()).num_days();
    match days {
        1.. if to.time() < from.time() => days - 1,
        ..=-1 if to.time() > from.time() => days + 1,
        days => days,
    }
}
