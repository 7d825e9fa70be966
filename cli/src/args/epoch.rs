//! A time given instead of the clock's: `1700000000`, `2023-11-14T22:13:20Z`.

use std::time::{Duration, SystemTime};

use chrono::DateTime;
use isomorph::{Error, Result};

/// The environment variable that build systems set for this purpose.
const VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// Parses seconds since 1970, or a date and time with its offset.
///
/// # Errors
/// Returns a usage error if the text is neither, or is before 1970.
pub fn parse(text: &str) -> Result<SystemTime> {
    let refused = || Error::usage(format!("{text:?} is not a time: use 1700000000 or 2023-11-14T22:13:20Z"));
    let seconds = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let moment = DateTime::parse_from_rfc3339(text).map_err(|_| refused())?;
            u64::try_from(moment.timestamp()).map_err(|_| refused())?
        }
    };
    // Formats store milliseconds in signed 64-bit integers.
    let counted = i64::try_from(seconds).is_ok_and(|seconds| seconds.checked_mul(1000).is_some());
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    time.filter(|_| counted).ok_or_else(refused)
}

/// Returns the given time, or the one in the environment.
///
/// # Errors
/// Returns an error if the environment variable has another form.
pub fn or_environment(given: Option<SystemTime>) -> Result<Option<SystemTime>> {
    match (given, std::env::var(VARIABLE)) {
        (None, Ok(text)) if !text.is_empty() => {
            parse(&text).map(Some).map_err(|error| Error::usage(format!("{VARIABLE}: {}", error.message())))
        }
        _ => Ok(given),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn moments_are_seconds_or_dates() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(parse("0").unwrap(), at(0));
        assert_eq!(parse("1700000000").unwrap(), at(1_700_000_000));
        assert_eq!(parse("2023-11-14T22:13:20Z").unwrap(), at(1_700_000_000));
        assert_eq!(parse("2023-11-14T23:13:20+01:00").unwrap(), at(1_700_000_000));
        for text in ["", "-1", "yesterday", "2023-11-14", "1960-01-01T00:00:00Z", "99999999999999999999"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
