//! Points in time and durations.
//!
//! The calendar is that of `chrono`: years from -262142 to 262141. Time zones are those of the IANA database in `chrono-tz`.

mod arithmetic;
mod between;
mod construct;
mod duration;
mod parse;
mod truncate;
mod zone;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use chrono::{Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike};

use crate::value::Value;

pub(crate) use arithmetic::{add, subtract};
pub(crate) use between::between;
pub(crate) use construct::{clock, construct, from_epoch};
pub use duration::Duration;
pub(crate) use duration::SECOND;
pub(crate) use truncate::truncate;
pub use zone::{Zone, Zoned};

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub enum Temporal {
    /// A day.
    Date(NaiveDate),
    /// A time of day.
    LocalTime(NaiveTime),
    /// A time of day with an offset, in seconds east of UTC.
    Time(NaiveTime, i32),
    /// A day and a time of day.
    LocalDateTime(NaiveDateTime),
    /// A day and a time of day in a zone.
    DateTime(Zoned),
}

impl Temporal {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Temporal::Date(_) => "a date",
            Temporal::LocalTime(_) => "a local time",
            Temporal::Time(..) => "a time",
            Temporal::LocalDateTime(_) => "a local date time",
            Temporal::DateTime(_) => "a date time",
        }
    }

    /// The place of its type among temporal types, in `ORDER BY`.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Temporal::DateTime(_) => 0,
            Temporal::LocalDateTime(_) => 1,
            Temporal::Date(_) => 2,
            Temporal::Time(..) => 3,
            Temporal::LocalTime(_) => 4,
        }
    }

    /// The order of two values of one type.
    pub(crate) fn compare(&self, other: &Temporal) -> Option<Ordering> {
        Some(match (self, other) {
            (Temporal::Date(a), Temporal::Date(b)) => a.cmp(b),
            (Temporal::LocalTime(a), Temporal::LocalTime(b)) => a.cmp(b),
            (Temporal::Time(a, x), Temporal::Time(b, y)) => instant(*a, *x).cmp(&instant(*b, *y)),
            (Temporal::LocalDateTime(a), Temporal::LocalDateTime(b)) => a.cmp(b),
            (Temporal::DateTime(a), Temporal::DateTime(b)) => a.utc().cmp(&b.utc()),
            _ => return None,
        })
    }

    pub(crate) fn date(&self) -> Option<NaiveDate> {
        match self {
            Temporal::Date(date) => Some(*date),
            Temporal::LocalDateTime(local) => Some(local.date()),
            Temporal::DateTime(zoned) => Some(zoned.local.date()),
            _ => None,
        }
    }

    pub(crate) fn time(&self) -> Option<NaiveTime> {
        match self {
            Temporal::Date(_) => None,
            Temporal::LocalTime(time) | Temporal::Time(time, _) => Some(*time),
            Temporal::LocalDateTime(local) => Some(local.time()),
            Temporal::DateTime(zoned) => Some(zoned.local.time()),
        }
    }

    pub(crate) fn zone(&self) -> Option<Zone> {
        match self {
            Temporal::Time(_, offset) => Some(Zone::Offset(*offset)),
            Temporal::DateTime(zoned) => Some(zoned.zone),
            _ => None,
        }
    }

    pub(crate) fn offset(&self) -> Option<i32> {
        match self {
            Temporal::Time(_, offset) => Some(*offset),
            Temporal::DateTime(zoned) => Some(zoned.offset),
            _ => None,
        }
    }

    /// A component such as `year`; null if there is none of that name.
    pub(crate) fn component(&self, name: &str) -> Value {
        let of_date = self.date().and_then(|date| date_component(date, name));
        let of_time = || self.time().and_then(|time| time_component(time, name));
        let value = of_date.or_else(of_time).map(Value::Int);
        value.or_else(|| self.zone_component(name)).unwrap_or_default()
    }

    fn zone_component(&self, name: &str) -> Option<Value> {
        let offset = self.offset()?;
        Some(match name {
            "timezone" => match self.zone()? {
                Zone::Named(zone) => Value::text(zone.name()),
                Zone::Offset(_) => Value::text(offset_text(offset)),
            },
            "offset" => Value::text(offset_text(offset)),
            "offsetMinutes" => Value::Int(i64::from(offset / 60)),
            "offsetSeconds" => Value::Int(i64::from(offset)),
            "epochSeconds" | "epochMillis" => {
                let Temporal::DateTime(zoned) = self else { return None };
                let utc = zoned.utc().and_utc();
                Value::Int(if name == "epochMillis" { utc.timestamp_millis() } else { utc.timestamp() })
            }
            _ => return None,
        })
    }
}

/// Whether a component is a text; all others are integers.
pub(crate) fn is_text_component(name: &str) -> bool {
    matches!(name, "timezone" | "offset")
}

/// Nanoseconds since midnight in UTC, which may be before or after that day.
fn instant(time: NaiveTime, offset: i32) -> i64 {
    nanoseconds_of_day(time) - i64::from(offset) * 1_000_000_000
}

pub(crate) fn nanoseconds_of_day(time: NaiveTime) -> i64 {
    i64::from(time.num_seconds_from_midnight()) * 1_000_000_000 + i64::from(time.nanosecond())
}

fn date_component(date: NaiveDate, name: &str) -> Option<i64> {
    let week = date.iso_week();
    Some(match name {
        "year" => i64::from(date.year()),
        "quarter" => i64::from(date.month0() / 3 + 1),
        "month" => i64::from(date.month()),
        "week" => i64::from(week.week()),
        "weekYear" => i64::from(week.year()),
        "day" => i64::from(date.day()),
        "ordinalDay" => i64::from(date.ordinal()),
        "weekDay" | "dayOfWeek" => i64::from(date.weekday().number_from_monday()),
        "dayOfQuarter" => day_of_quarter(date),
        _ => return None,
    })
}

/// The day in its quarter, from 1.
pub(crate) fn day_of_quarter(date: NaiveDate) -> i64 {
    let first = date.with_day(1).and_then(|first| first.with_month(date.month0() / 3 * 3 + 1));
    first.map_or(1, |first| (date - first).num_days() + 1)
}

fn time_component(time: NaiveTime, name: &str) -> Option<i64> {
    let nanoseconds = i64::from(time.nanosecond());
    Some(match name {
        "hour" => i64::from(time.hour()),
        "minute" => i64::from(time.minute()),
        "second" => i64::from(time.second()),
        "millisecond" => nanoseconds / 1_000_000,
        "microsecond" => nanoseconds / 1_000,
        "nanosecond" => nanoseconds,
        _ => return None,
    })
}

impl PartialEq for Temporal {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

impl Eq for Temporal {}

impl Hash for Temporal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Temporal::Date(date) => (5_u8, date).hash(state),
            Temporal::LocalTime(time) => (6_u8, time).hash(state),
            Temporal::Time(time, offset) => (7_u8, instant(*time, *offset)).hash(state),
            Temporal::LocalDateTime(local) => (8_u8, local).hash(state),
            Temporal::DateTime(zoned) => (9_u8, zoned.utc()).hash(state),
        }
    }
}

fn offset_text(offset: i32) -> String {
    if offset == 0 {
        return "Z".to_owned();
    }
    let (sign, size) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs());
    let (hours, minutes, seconds) = (size / 3600, size / 60 % 60, size % 60);
    let rest = if seconds == 0 { String::new() } else { format!(":{seconds:02}") };
    format!("{sign}{hours:02}:{minutes:02}{rest}")
}

fn date_text(date: NaiveDate) -> String {
    let year = date.year();
    let year = match year {
        0..=9999 => format!("{year:04}"),
        10_000.. => format!("+{year}"),
        _ => format!("-{:04}", year.unsigned_abs()),
    };
    format!("{year}-{:02}-{:02}", date.month(), date.day())
}

fn time_text(time: NaiveTime) -> String {
    let mut text = format!("{:02}:{:02}", time.hour(), time.minute());
    if time.second() != 0 || time.nanosecond() != 0 {
        text.push_str(&format!(":{:02}", time.second()));
    }
    if time.nanosecond() != 0 {
        text.push('.');
        text.push_str(format!("{:09}", time.nanosecond()).trim_end_matches('0'));
    }
    text
}

impl fmt::Display for Temporal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Temporal::Date(date) => f.write_str(&date_text(*date)),
            Temporal::LocalTime(time) => f.write_str(&time_text(*time)),
            Temporal::Time(time, offset) => write!(f, "{}{}", time_text(*time), offset_text(*offset)),
            Temporal::LocalDateTime(local) => write!(f, "{}T{}", date_text(local.date()), time_text(local.time())),
            Temporal::DateTime(zoned) => {
                let (date, time) = (date_text(zoned.local.date()), time_text(zoned.local.time()));
                write!(f, "{date}T{time}{}", offset_text(zoned.offset))?;
                match zoned.zone {
                    Zone::Named(zone) => write!(f, "[{}]", zone.name()),
                    Zone::Offset(_) => Ok(()),
                }
            }
        }
    }
}
