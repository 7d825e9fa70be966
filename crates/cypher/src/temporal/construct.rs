//! `date(…)`, `time(…)` and so on: from a text, a map, or another value.

use std::sync::Arc;

use chrono::{Datelike, Days, NaiveDate, NaiveTime, TimeDelta, Timelike, Weekday};

use super::duration::Duration;
use super::zone::before;
use super::{Temporal, Zone, Zoned, day_of_quarter, offset_text, parse};
use crate::exec::Context;
use crate::fault::{Class, Fault, Result};
use crate::functions::Function;
use crate::value::{Map, Value};

/// The types of points in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Date,
    Time,
    LocalTime,
    DateTime,
    LocalDateTime,
}

fn type_of(function: Function) -> Type {
    use Function as F;
    match function {
        F::Date | F::DateNow | F::DateStatement | F::DateReal | F::DateTruncate => Type::Date,
        F::Time | F::TimeNow | F::TimeStatement | F::TimeReal | F::TimeTruncate => Type::Time,
        F::LocalTime | F::LocalTimeNow | F::LocalTimeStatement | F::LocalTimeReal | F::LocalTimeTruncate => {
            Type::LocalTime
        }
        F::LocalDateTime
        | F::LocalDateTimeNow
        | F::LocalDateTimeStatement
        | F::LocalDateTimeReal
        | F::LocalDateTimeTruncate => Type::LocalDateTime,
        _ => Type::DateTime,
    }
}

pub(super) fn wanted(function: Function) -> Type {
    type_of(function)
}

/// The value of a constructor.
pub(crate) fn construct(function: Function, arguments: &[Value], cx: &Context<'_>) -> Result<Value> {
    let Some(argument) = arguments.first() else { return clock(function, arguments, cx) };
    if function == Function::Duration {
        return match argument {
            Value::Null => Ok(Value::Null),
            Value::Duration(_) => Ok(argument.clone()),
            Value::Map(map) => Ok(Duration::of_map(map)?.value()),
            Value::String(text) => {
                parse::duration(text).map(Duration::value).ok_or_else(|| unreadable(text, "a duration"))
            }
            other => Err(wrong(other)),
        };
    }
    let ty = type_of(function);
    match argument {
        Value::Null => Ok(Value::Null),
        Value::String(text) => of_text(ty, text),
        Value::Map(map) => of_map(ty, map, None).map(Value::Temporal),
        Value::Temporal(temporal) => selected(ty, temporal).map(Value::Temporal),
        other => Err(wrong(other)),
    }
}

fn wrong(value: &Value) -> Fault {
    Fault::argument_type(format!(
        "a temporal value is made of a string, a map or another one, not of {}",
        value.type_name()
    ))
}

fn unreadable(text: &str, what: &str) -> Fault {
    Fault::runtime(Class::ArgumentError, "InvalidArgumentValue", format!("'{text}' is not {what}"))
}

fn of_text(ty: Type, text: &str) -> Result<Value> {
    let (parsed, what) = match ty {
        Type::Date => (parse::date(text).map(Temporal::Date), "a date"),
        Type::LocalTime => (parse::local_time(text).map(Temporal::LocalTime), "a local time"),
        Type::Time => (parse::time(text), "a time"),
        Type::LocalDateTime => (parse::local_date_time(text).map(Temporal::LocalDateTime), "a local date time"),
        Type::DateTime => return date_time(text).map(Temporal::DateTime).map(Value::Temporal),
    };
    parsed.map(Value::Temporal).ok_or_else(|| unreadable(text, what))
}

/// A date time of a text. An offset before the name of a zone tells two equal hours apart, and must be one of the zone.
fn date_time(text: &str) -> Result<Zoned> {
    let (local, offset, zone) = parse::date_time(text).ok_or_else(|| unreadable(text, "a date time"))?;
    let (Some(offset), Some(zone)) = (offset, zone) else {
        let zone = offset.map(Zone::Offset).or(zone).unwrap_or(Zone::UTC);
        return Zoned::new(local, zone, None).ok_or_else(out_of_range);
    };
    Zoned::stated(local, offset, zone).ok_or_else(|| {
        let possible: Vec<String> = zone.offsets(local).into_iter().map(offset_text).collect();
        let why = if possible.is_empty() {
            "the zone leaves out that local time".to_owned()
        } else {
            format!("the zone has the offset {} at that local time", possible.join(" or "))
        };
        let message = format!("'{text}' is not a date time: {why}");
        Fault::runtime(Class::ArgumentError, "InvalidArgumentValue", message)
            .hint("leave out the offset or the zone; datetime({datetime: …, timezone: …}) shows an instant in a zone")
    })
}

/// The current time. All calls in one query give the same.
pub(crate) fn clock(function: Function, arguments: &[Value], cx: &Context<'_>) -> Result<Value> {
    let zone = match arguments.first() {
        None => Zone::UTC,
        Some(Value::Null) => return Ok(Value::Null),
        Some(Value::String(text)) => zone_of(text)?,
        Some(other) => return Err(wrong(other)),
    };
    let now = Zoned::at(cx.now.naive_utc(), zone).ok_or_else(out_of_range)?;
    selected(type_of(function), &Temporal::DateTime(now)).map(Value::Temporal)
}

pub(super) fn zone_of(text: &str) -> Result<Zone> {
    parse::zone(text).ok_or_else(|| unreadable(text, "a time zone"))
}

/// The part of a value that a type has.
fn selected(ty: Type, temporal: &Temporal) -> Result<Temporal> {
    let mut map = Map::new();
    let name = match ty {
        Type::Date => "date",
        Type::Time | Type::LocalTime => "time",
        Type::DateTime | Type::LocalDateTime if temporal.time().is_none() => "date",
        Type::DateTime | Type::LocalDateTime => "datetime",
    };
    map.insert(Arc::from(name), Value::Temporal(*temporal));
    of_map(ty, &map, None)
}

pub(crate) fn from_epoch(function: Function, arguments: &[Value]) -> Result<Value> {
    let int = |at: usize| match arguments.get(at) {
        Some(Value::Int(int)) => Ok(*int),
        None => Ok(0),
        Some(other) => Err(Fault::argument_type(format!("expected an integer, found {}", other.type_name()))),
    };
    if arguments.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let (seconds, nanoseconds) = if function == Function::FromEpoch {
        (int(0)?, int(1)?)
    } else {
        (int(0)?.div_euclid(1000), int(0)?.rem_euclid(1000) * 1_000_000)
    };
    let delta =
        TimeDelta::try_seconds(seconds).and_then(|delta| delta.checked_add(&TimeDelta::nanoseconds(nanoseconds)));
    let utc = delta
        .and_then(|delta| chrono::DateTime::UNIX_EPOCH.naive_utc().checked_add_signed(delta))
        .ok_or_else(out_of_range)?;
    let zoned = Zoned::at(utc, Zone::UTC).ok_or_else(out_of_range)?;
    Ok(Value::Temporal(Temporal::DateTime(zoned)))
}

pub(super) fn out_of_range() -> Fault {
    Fault::runtime(Class::ArgumentError, "NumberOutOfRange", "a date or time is out of range")
}

/// The day of an ISO week.
pub(super) fn week_date(year: i64, week: i64, day: i64) -> Option<NaiveDate> {
    let weekday = Weekday::try_from(u8::try_from(day.checked_sub(1)?).ok()?).ok()?;
    NaiveDate::from_isoywd_opt(i32::try_from(year).ok()?, u32::try_from(week).ok()?, weekday)
}

/// A day of a quarter.
pub(super) fn quarter_date(year: i64, quarter: i64, day: i64) -> Option<NaiveDate> {
    if !(1..=4).contains(&quarter) || day < 1 {
        return None;
    }
    let month = u32::try_from(quarter * 3 - 2).ok()?;
    let first = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, 1)?;
    let date = first.checked_add_days(Days::new(u64::try_from(day - 1).ok()?))?;
    (date.year() == first.year() && date.month0() / 3 == first.month0() / 3).then_some(date)
}

const NAMES: &[&str] = &[
    "date",
    "time",
    "datetime",
    "timezone",
    "epochSeconds",
    "epochMillis",
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "ordinalDay",
    "dayOfWeek",
    "dayOfQuarter",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "nanosecond",
];

/// A value of the amounts in a map. `base` is what a truncation left.
pub(super) fn of_map(ty: Type, map: &Map, base: Option<Temporal>) -> Result<Temporal> {
    for name in map.keys() {
        if !NAMES.contains(&&**name) {
            return Err(Fault::argument_value(format!("a date or time has no {name}")));
        }
    }
    let int = |name: &str| match map.get(name) {
        None => Ok(None),
        Some(Value::Int(int)) => Ok(Some(*int)),
        Some(other) => Err(Fault::argument_type(format!("{name} is an integer, not {}", other.type_name()))),
    };
    let other = |name: &str| match map.get(name) {
        None => Ok(None),
        Some(Value::Temporal(temporal)) => Ok(Some(*temporal)),
        Some(other) => Err(Fault::argument_type(format!("{name} is a temporal value, not {}", other.type_name()))),
    };
    let given_zone = match map.get("timezone") {
        None => None,
        Some(Value::String(text)) => Some(zone_of(text)?),
        Some(other) => return Err(Fault::argument_type(format!("timezone is a string, not {}", other.type_name()))),
    };
    let whole = other("datetime")?.or(base);
    let (seconds, milliseconds) = (int("epochSeconds")?, int("epochMillis")?);
    if seconds.is_some() || milliseconds.is_some() {
        let parts = int("millisecond")?.unwrap_or(0).checked_mul(1_000_000);
        let nanoseconds = int("nanosecond")?.unwrap_or(0).checked_add(parts.ok_or_else(out_of_range)?);
        let nanoseconds = nanoseconds.ok_or_else(out_of_range)?;
        let milliseconds = milliseconds.or(seconds.and_then(|seconds| seconds.checked_mul(1000)));
        let delta = milliseconds
            .and_then(TimeDelta::try_milliseconds)
            .and_then(|one| one.checked_add(&TimeDelta::nanoseconds(nanoseconds)));
        let utc = delta
            .and_then(|delta| chrono::DateTime::UNIX_EPOCH.naive_utc().checked_add_signed(delta))
            .ok_or_else(out_of_range)?;
        let zoned = Zoned::at(utc, given_zone.unwrap_or(Zone::UTC)).ok_or_else(out_of_range)?;
        return selected(ty, &Temporal::DateTime(zoned));
    }
    let date = match ty {
        Type::Time | Type::LocalTime => NaiveDate::MIN,
        _ => {
            let from = other("date")?.or(whole).and_then(|one| one.date());
            date_of(from, &int)?
        }
    };
    if ty == Type::Date {
        return Ok(Temporal::Date(date));
    }
    let time_base = other("time")?.or(whole);
    let time = time_of(time_base.and_then(|one| one.time()), &int)?;
    let (own_zone, own) = (time_base.and_then(|one| one.zone()), time_base.and_then(|one| one.offset()));
    Ok(match ty {
        Type::LocalTime => Temporal::LocalTime(time),
        Type::LocalDateTime => Temporal::LocalDateTime(date.and_time(time)),
        Type::Time => {
            // A named zone has the offset of its rules on that day, or of the winter of 1970.
            let local = time_base.and_then(|one| one.date()).unwrap_or_default().and_time(time);
            match (own, given_zone) {
                (Some(own), Some(zone)) => {
                    let given = zone.offset_of(before(local, own).ok_or_else(out_of_range)?);
                    let moved = time.overflowing_add_signed(TimeDelta::seconds(i64::from(given - own))).0;
                    Temporal::Time(moved, given)
                }
                (None, Some(zone)) => Temporal::Time(time, zone.offset_at(local, None)),
                (own, None) => Temporal::Time(time, own.unwrap_or(0)),
            }
        }
        _ => {
            let local = date.and_time(time);
            let zoned = match (own_zone, given_zone) {
                // Seen in another zone, an instant stays what it is.
                (Some(first), Some(zone)) if base.is_none() => {
                    Zoned::new(local, first, own).and_then(|zoned| Zoned::at(zoned.utc(), zone))
                }
                (first, zone) => Zoned::new(local, zone.or(first).unwrap_or(Zone::UTC), own),
            };
            Temporal::DateTime(zoned.ok_or_else(out_of_range)?)
        }
    })
}

type Ints<'a> = &'a dyn Fn(&str) -> Result<Option<i64>>;

fn date_of(base: Option<NaiveDate>, int: Ints<'_>) -> Result<NaiveDate> {
    let year = int("year")?;
    if base.is_none() && year.is_none() {
        return Err(Fault::argument_value("a date needs a year"));
    }
    let date = if let Some(week) = int("week")? {
        let own = base.map(|base| i64::from(base.iso_week().year()));
        let weekday = base.map(|base| i64::from(base.weekday().number_from_monday()));
        let day = int("dayOfWeek")?.or(weekday).unwrap_or(1);
        week_date(year.or(own).unwrap_or(1), week, day)
    } else if let Some(quarter) = int("quarter")? {
        let own = base.map(|base| i64::from(base.year()));
        let day = int("dayOfQuarter")?.or(base.map(day_of_quarter)).unwrap_or(1);
        quarter_date(year.or(own).unwrap_or(1), quarter, day)
    } else if let Some(day) = int("ordinalDay")? {
        let own = base.map(|base| i64::from(base.year()));
        let year = i32::try_from(year.or(own).unwrap_or(1)).ok();
        year.zip(u32::try_from(day).ok()).and_then(|(year, day)| NaiveDate::from_yo_opt(year, day))
    } else if let (Some(day), Some(base)) = (int("dayOfWeek")?, base) {
        let back = u64::from(base.weekday().num_days_from_monday());
        let monday = base.checked_sub_days(Days::new(back));
        let ahead = u64::try_from(day - 1).ok().filter(|day| *day < 7);
        monday.zip(ahead).and_then(|(monday, ahead)| monday.checked_add_days(Days::new(ahead)))
    } else if let (Some(day), Some(base)) = (int("dayOfQuarter")?, base) {
        quarter_date(i64::from(base.year()), i64::from(base.month0() / 3 + 1), day)
    } else {
        let year = year.or(base.map(|base| i64::from(base.year()))).unwrap_or(1);
        let month = int("month")?.or(base.map(|base| i64::from(base.month()))).unwrap_or(1);
        let day = int("day")?.or(base.map(|base| i64::from(base.day()))).unwrap_or(1);
        match (i32::try_from(year), u32::try_from(month), u32::try_from(day)) {
            (Ok(year), Ok(month), Ok(day)) => NaiveDate::from_ymd_opt(year, month, day),
            _ => None,
        }
    };
    date.ok_or_else(out_of_range)
}

fn time_of(base: Option<NaiveTime>, int: Ints<'_>) -> Result<NaiveTime> {
    let own = |part: fn(&NaiveTime) -> u32| base.as_ref().map(|base| i64::from(part(base)));
    let hour = int("hour")?.or(own(NaiveTime::hour)).unwrap_or(0);
    let minute = int("minute")?.or(own(NaiveTime::minute)).unwrap_or(0);
    let second = int("second")?.or(own(NaiveTime::second)).unwrap_or(0);
    let nanoseconds = i64::from(base.map_or(0, |base| base.nanosecond()));
    let (milli, micro, nano) = (int("millisecond")?, int("microsecond")?, int("nanosecond")?);
    let nanoseconds = match (milli, micro, nano) {
        (None, None, None) => nanoseconds,
        // A small unit alone replaces what is below the larger ones of the base.
        (None, None, Some(nano)) if nano < 1000 => nanoseconds / 1000 * 1000 + nano,
        (None, Some(micro), nano) if micro < 1000 && base.is_some() => {
            (nanoseconds / 1_000_000 * 1_000_000 + micro * 1000).saturating_add(nano.unwrap_or(nanoseconds % 1000))
        }
        (Some(milli), None, None) => {
            milli.saturating_mul(1_000_000).saturating_add(if base.is_some() { nanoseconds % 1_000_000 } else { 0 })
        }
        _ => {
            let (milli, micro) =
                (milli.unwrap_or(0).saturating_mul(1_000_000), micro.unwrap_or(0).saturating_mul(1000));
            milli.saturating_add(micro).saturating_add(nano.unwrap_or(0))
        }
    };
    let part = |value: i64| u32::try_from(value).map_err(|_| out_of_range());
    if nanoseconds > 999_999_999 {
        return Err(out_of_range());
    }
    NaiveTime::from_hms_nano_opt(part(hour)?, part(minute)?, part(second)?, part(nanoseconds)?).ok_or_else(out_of_range)
}
