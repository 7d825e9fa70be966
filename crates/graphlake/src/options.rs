//! Options for opening a store.

use std::collections::BTreeMap;
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat};
use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Location};

/// Selects a snapshot of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum At {
    /// The snapshot with the greatest version.
    #[default]
    Current,
    /// The snapshot of this version.
    Version(i64),
    /// The snapshot that was current at this time, in milliseconds since 1970.
    Time(i64),
    /// The snapshot with this id.
    Id(String),
}

/// Parses a version (`7`); a time, which is a date and a time (`2026-11-22T10:00:00Z`), a date, meaning its first
/// moment in UTC (`2026-11-22`), or milliseconds (`@1700000060000`); or an id (`snapshot7`). After `@` the text is
/// always a time.
impl FromStr for At {
    type Err = Error;

    fn from_str(text: &str) -> Result<At> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
        if let Some(time) = text.strip_prefix('@') {
            return number(time).or_else(|| moment(time)).map(At::Time).ok_or_else(|| {
                Error::usage(format!("{time:?} is not a valid time: expected a date or milliseconds since 1970"))
                    .hint("@2026-11-22, @2026-11-22T10:00:00Z, @1700000060000")
            });
        }
        if let Some(time) = moment(text) {
            return Ok(At::Time(time));
        }
        match number(text) {
            Some(version) => Ok(At::Version(version)),
            None if text.is_empty() => Err(Error::usage("expected a snapshot: a version, a time or an id")),
            None => Ok(At::Id(text.to_owned())),
        }
    }
}

/// Converts a date, with or without a time, to milliseconds since 1970.
fn moment(text: &str) -> Option<i64> {
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let time = DateTime::parse_from_rfc3339(text).map(|time| time.to_utc());
    time.or_else(|_| day()).ok().map(|time| time.timestamp_millis())
}

/// Formats milliseconds since 1970 as a date and time, or as the number if it is outside the calendar.
pub(crate) fn shown_time(milliseconds: i64) -> String {
    match DateTime::from_timestamp_millis(milliseconds) {
        Some(time) => time.to_rfc3339_opts(SecondsFormat::Millis, true),
        None => milliseconds.to_string(),
    }
}

/// How input that violates rules is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tolerance {
    /// Warnings are errors.
    Strict,
    /// Input with only one possible meaning is read.
    #[default]
    Normal,
    /// As `Normal`; files that are not in order are sorted in memory, and unknown versions of the format are tried.
    Lenient,
}

/// Options of [`crate::GraphLake::open`].
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The snapshot to open.
    pub at: At,
    /// How input that violates rules is treated.
    pub tolerance: Tolerance,
    /// The namespaces of short prefixes in stores of other writers.
    pub namespaces: BTreeMap<String, String>,
    /// Follows the specification literally: a deleted triple stays deleted, even if it was added again later.
    pub naive: bool,
    /// Snapshots of at most this many records are read once when they are opened, so that the description is exact:
    /// which predicates have literals, and how many triples there are. Lenient reading compares the orders of a predicate that
    /// seem to differ only up to this many records; otherwise they are always compared.
    pub survey_up_to: u64,
    /// Memory for files that must be sorted, and for quoted triples.
    pub budget: Budget,
    /// Threads that check files in a validation. Default: all cores.
    pub threads: usize,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions {
            at: At::Current,
            tolerance: Tolerance::Normal,
            namespaces: BTreeMap::new(),
            naive: false,
            survey_up_to: 1_000_000,
            budget: Budget::default(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The store and the snapshot that `text` names, as `LAKE@VERSION`, `LAKE@TIME` or `LAKE@@MILLISECONDS` (see [`At`]); `whole`, the place that
/// `text` is as it stands, without a snapshot where there is something, or where what is before the `@` is no store.
///
/// # Errors
/// When the place cannot be looked at.
pub fn snapshot_of(whole: Location, text: &str) -> Result<(Location, Option<At>)> {
    if whole.as_path().is_some_and(std::path::Path::exists) {
        return Ok((whole, None));
    }
    // With one `@`, and with two: what follows these is a time, also where it could be a version.
    let places = text.rmatch_indices('@').take(2).map(|(at, _)| text.split_at(at));
    for (base, at) in places.filter(|(base, _)| !base.is_empty()) {
        let at = at.get(1..).unwrap_or_default();
        if (!at.contains('@') || at.starts_with('@'))
            && let Ok(at) = at.parse()
            && let Ok(base) = Location::parse(base)
            // What cannot be looked at is no lake: opening the whole path says what is wrong.
            && crate::detect(&base).unwrap_or(false)
        {
            return Ok((base, Some(at)));
        }
    }
    Ok((whole, None))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn snapshots_are_named_by_versions_times_and_ids() {
        for (text, at) in [
            ("7", At::Version(7)),
            ("snapshot7", At::Id("snapshot7".to_owned())),
            ("@1700000060000", At::Time(1_700_000_060_000)),
            ("2023-11-14T22:14:20Z", At::Time(1_700_000_060_000)),
            ("@2023-11-14T23:14:20.5+01:00", At::Time(1_700_000_060_500)),
            ("2023-11-14", At::Time(1_699_920_000_000)),
            ("@2023-11-14", At::Time(1_699_920_000_000)),
            ("2023-13-14", At::Id("2023-13-14".to_owned())),
        ] {
            assert_eq!(text.parse::<At>().unwrap(), at, "{text}");
        }
        for text in ["", "@", "@yesterday", "@-1", "@2023-02-30"] {
            assert!(text.parse::<At>().is_err(), "{text}");
        }
    }
}
