//! Requested times.

use std::str::FromStr;

use arrow_cast::parse::string_to_datetime;
use arrow_schema::TimeUnit;
use chrono::{DateTime, Utc};
use isomorph_error::Error;

use crate::Clock;

/// A requested time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// A number, whatever its unit.
    Number(i64),
    /// A date and time, and its text.
    Time(String, DateTime<Utc>),
}

impl FromStr for Moment {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Ok(number) = text.parse() {
            return Ok(Moment::Number(number));
        }
        let wrong =
            |_| Error::usage(format!("{text:?} is not a time")).hint("2024-05-01, 2024-05-01T12:00:00Z, 1714564800");
        Ok(Moment::Time(text.to_owned(), string_to_datetime(&Utc, text).map_err(wrong)?))
    }
}

/// Converts a time to a number on a clock: the last one that is not after it.
pub(super) fn on_clock(time: DateTime<Utc>, clock: Clock) -> Option<i64> {
    let in_parts = |each: i64, nanoseconds: u32| {
        time.timestamp().checked_mul(each)?.checked_add(i64::from(time.timestamp_subsec_nanos() / nanoseconds))
    };
    match clock {
        Clock::Numbers => None,
        Clock::Days => Some(time.timestamp().div_euclid(86_400)),
        Clock::Moments(TimeUnit::Second) => Some(time.timestamp()),
        Clock::Moments(TimeUnit::Millisecond) => in_parts(1_000, 1_000_000),
        Clock::Moments(TimeUnit::Microsecond) => in_parts(1_000_000, 1_000),
        Clock::Moments(TimeUnit::Nanosecond) => in_parts(1_000_000_000, 1),
    }
}
