//! `date.truncate` and its like.

use std::sync::Arc;

use chrono::{Datelike, Days, NaiveDate, NaiveTime, Timelike};

use super::construct::{Type, of_map, out_of_range, wanted, week_date, zone_of};
use super::{Temporal, Zone, Zoned};
use crate::exec::Context;
use crate::fault::{Fault, Result};
use crate::functions::Function;
use crate::value::{Map, Value};

pub(crate) fn truncate(function: Function, arguments: &[Value], cx: &Context<'_>) -> Result<Value> {
    let unit = match arguments.first() {
        Some(Value::String(unit)) => unit,
        Some(Value::Null) => return Ok(Value::Null),
        _ => return Err(Fault::argument_type("the unit of a truncation is a string")),
    };
    let ty = wanted(function);
    let temporal = match arguments.get(1) {
        Some(Value::Temporal(temporal)) => *temporal,
        Some(Value::Null) => return Ok(Value::Null),
        None => Temporal::DateTime(Zoned::at(cx.now.naive_utc(), Zone::UTC).ok_or_else(out_of_range)?),
        Some(other) => {
            return Err(Fault::argument_type(format!("expected a temporal value, found {}", other.type_name())));
        }
    };
    let map = match arguments.get(2) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Map(map)) => Map::clone(map),
        Some(other) => return Err(Fault::argument_type(format!("expected a map, found {}", other.type_name()))),
    };
    let needs_date = matches!(ty, Type::Date | Type::DateTime | Type::LocalDateTime);
    let date = match (temporal.date(), needs_date) {
        (Some(date), _) => date,
        (None, false) => NaiveDate::default(),
        (None, true) => return Err(Fault::argument_type(format!("{} has no date", temporal.type_name()))),
    };
    let (date, time) = cut(unit, date, temporal.time())?;
    let zone = match map.get("timezone") {
        Some(Value::String(text)) => Some(zone_of(text)?),
        _ => temporal.zone(),
    };
    let mut map = map;
    map.remove(&Arc::<str>::from("timezone"));
    // The second of two equal hours is an hour of its own; a day begins once, when the clock is first at midnight.
    let kept = if is_part_of_day(unit) { temporal.offset() } else { None };
    let base = match ty {
        Type::Date => Temporal::Date(date),
        Type::LocalTime => Temporal::LocalTime(time),
        Type::Time => Temporal::Time(time, zone.map_or(0, |zone| zone.offset_at(date.and_time(time), kept))),
        Type::LocalDateTime => Temporal::LocalDateTime(date.and_time(time)),
        Type::DateTime => {
            let zoned = Zoned::new(date.and_time(time), zone.unwrap_or(Zone::UTC), kept);
            Temporal::DateTime(zoned.ok_or_else(out_of_range)?)
        }
    };
    of_map(ty, &map, Some(base)).map(Value::Temporal)
}

fn is_part_of_day(unit: &str) -> bool {
    matches!(unit, "hour" | "minute" | "second" | "millisecond" | "microsecond")
}

/// The beginning of a unit.
fn cut(unit: &str, date: NaiveDate, time: Option<NaiveTime>) -> Result<(NaiveDate, NaiveTime)> {
    let year = |year: i32| NaiveDate::from_ymd_opt(year, 1, 1);
    let start = match unit {
        "millennium" => year(date.year().div_euclid(1000) * 1000),
        "century" => year(date.year().div_euclid(100) * 100),
        "decade" => year(date.year().div_euclid(10) * 10),
        "year" => year(date.year()),
        "weekYear" => week_date(i64::from(date.iso_week().year()), 1, 1),
        "quarter" => NaiveDate::from_ymd_opt(date.year(), date.month0() / 3 * 3 + 1, 1),
        "month" => date.with_day(1),
        "week" => date.checked_sub_days(Days::new(u64::from(date.weekday().num_days_from_monday()))),
        "day" => Some(date),
        _ => {
            let time = time.ok_or_else(|| Fault::argument_value(format!("a date cannot be truncated to {unit}")))?;
            let nanoseconds = time.nanosecond();
            let (minute, second, nanosecond) = match unit {
                "hour" => (0, 0, 0),
                "minute" => (time.minute(), 0, 0),
                "second" => (time.minute(), time.second(), 0),
                "millisecond" => (time.minute(), time.second(), nanoseconds / 1_000_000 * 1_000_000),
                "microsecond" => (time.minute(), time.second(), nanoseconds / 1000 * 1000),
                _ => return Err(Fault::argument_value(format!("there is no unit {unit}"))),
            };
            let time = NaiveTime::from_hms_nano_opt(time.hour(), minute, second, nanosecond);
            return Ok((date, time.ok_or_else(out_of_range)?));
        }
    };
    Ok((start.ok_or_else(out_of_range)?, NaiveTime::MIN))
}
