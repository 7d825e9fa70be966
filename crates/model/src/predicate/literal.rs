//! Values to compare with, and texts that are such values.

use super::value::Decimal;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};

/// A value to compare with. Numbers compare exactly whatever the column's width; text compares byte by byte, and as a date, a time, a number
/// or a truth value where the column is of such a type.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A decimal number as it is written. Exactly this for columns of whole and of decimal numbers, the nearest of their own for
    /// columns of floating-point numbers: what is shown as `0.1` equals 0.1.
    Number(String),
    /// Text, or the bytes of a binary value.
    Text(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Nanoseconds since 1970-01-01T00:00:00, of a time without a zone; compares with timestamps of every unit, in UTC where these have a
    /// zone.
    Timestamp(i128),
    /// The same of an instant, which was written with its offset from UTC; compares with timestamps that have a zone, and with no others.
    Instant(i128),
}

impl Literal {
    /// A date from `2024-02-29`.
    pub fn date(text: &str) -> Option<Literal> {
        days(text).map(Literal::Date)
    }

    /// A time from `2024-02-29T12:00:00.5` or `2024-02-29`, an instant from `2024-02-29 12:00:00+01:00`.
    pub fn timestamp(text: &str) -> Option<Literal> {
        Some(match moment(text)? {
            Moment::Local(nanoseconds) => Literal::Timestamp(nanoseconds),
            Moment::Instant(nanoseconds) => Literal::Instant(nanoseconds),
        })
    }

    /// A number or truth value from `12`, `-1.5e3`, `true`.
    pub fn number(text: &str) -> Option<Literal> {
        match text.to_ascii_lowercase().as_str() {
            "true" => return Some(Literal::Bool(true)),
            "false" => return Some(Literal::Bool(false)),
            _ => {}
        }
        match text.parse::<i128>() {
            Ok(whole) => Some(Literal::Int(whole)),
            Err(_) if Decimal::parse(text).is_some() => Some(Literal::Number(text.to_owned())),
            Err(_) => text.parse::<f64>().ok().map(Literal::Float),
        }
    }
}

/// Days since 1970-01-01.
pub(super) fn days(text: &str) -> Option<i32> {
    let days = text.parse::<NaiveDate>().ok()?.signed_duration_since(NaiveDate::default()).num_days();
    i32::try_from(days).ok()
}

/// A point in time as it was written, in nanoseconds since 1970-01-01T00:00:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Without an offset from UTC.
    Local(i128),
    /// With one, or with `Z`: in UTC.
    Instant(i128),
}

pub(super) fn moment(text: &str) -> Option<Moment> {
    let text = text.replacen(' ', "T", 1);
    let nanoseconds =
        |of: DateTime<Utc>| i128::from(of.timestamp()) * 1_000_000_000 + i128::from(of.timestamp_subsec_nanos());
    if let Ok(moment) = DateTime::parse_from_rfc3339(&text) {
        return Some(Moment::Instant(nanoseconds(moment.to_utc())));
    }
    if let Some(Ok(moment)) = text.strip_suffix('Z').map(str::parse::<NaiveDateTime>) {
        return Some(Moment::Instant(nanoseconds(moment.and_utc())));
    }
    let local = match text.parse::<NaiveDateTime>() {
        Ok(local) => local,
        Err(_) => text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?,
    };
    Some(Moment::Local(nanoseconds(local.and_utc())))
}

/// Nanoseconds since midnight.
pub(super) fn time_of_day(text: &str) -> Option<i128> {
    let time = text.parse::<NaiveTime>().ok()?;
    Some(i128::from(time.num_seconds_from_midnight()) * 1_000_000_000 + i128::from(time.nanosecond()))
}

impl From<bool> for Literal {
    fn from(value: bool) -> Self {
        Literal::Bool(value)
    }
}

impl From<i64> for Literal {
    fn from(value: i64) -> Self {
        Literal::Int(value.into())
    }
}

impl From<f64> for Literal {
    fn from(value: f64) -> Self {
        Literal::Float(value)
    }
}

impl From<&str> for Literal {
    fn from(value: &str) -> Self {
        Literal::Text(value.to_owned())
    }
}
