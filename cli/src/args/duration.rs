//! Lengths of time in arguments.

use std::time::Duration;

use isomorph::Error;

/// Parses `500ms`, `10s`, `5m`, `1h`.
pub fn duration(text: &str) -> Result<Duration, Error> {
    let wrong = || Error::usage(format!("{text:?} is not a time: use 500ms, 10s, 5m or 1h"));
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let thousandths = match text.get(digits.len()..) {
        Some("ms") => 1,
        Some("s" | "") => 1_000,
        Some("m" | "min") => 60_000,
        Some("h") => 3_600_000,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_millis(number.checked_mul(thousandths).ok_or_else(wrong)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(duration("2m").unwrap(), Duration::from_secs(120));
        assert_eq!(duration("7").unwrap(), Duration::from_secs(7));
        for text in ["", "s", "1d", "-1s", "1.5s", "99999999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
