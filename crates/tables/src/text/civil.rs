//! Dates and times of day as text, in the proleptic Gregorian calendar, from year 0 to 9999.

use arrow_schema::TimeUnit;

const DAY: i64 = 86_400;

/// Returns the number of units in a second, and the number of fractional digits.
fn scale(unit: &TimeUnit) -> (i64, u32) {
    match unit {
        TimeUnit::Second => (1, 0),
        TimeUnit::Millisecond => (1000, 3),
        TimeUnit::Microsecond => (1_000_000, 6),
        TimeUnit::Nanosecond => (1_000_000_000, 9),
    }
}

/// Returns the days from 1970-01-01 to a date. Source: <https://howardhinnant.github.io/date_algorithms.html>.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns the year, month and day that is `days` after 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted_month + 2) / 5 + 1)
}

/// Parses text from its start.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    /// Parses exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut value = 0;
        for digit in digits {
            value = value * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        self.0 = rest;
        Some(value)
    }

    /// Parses one of `bytes`, if it comes next.
    fn any(&mut self, bytes: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        bytes.contains(&first).then(|| {
            self.0 = rest;
            first
        })
    }

    fn date(&mut self) -> Option<i64> {
        let year = self.digits(4)?;
        self.any(b"-")?;
        let month = self.digits(2)?;
        self.any(b"-")?;
        let day = self.digits(2)?;
        let days = days_from_civil(year, month, day);
        // Only valid dates are unchanged by the round trip.
        (civil_from_days(days) == (year, month, day)).then_some(days)
    }

    /// Parses a time of day: its seconds, and the fraction in nanoseconds.
    fn time(&mut self) -> Option<(i64, i64)> {
        let hour = self.digits(2)?;
        self.any(b":")?;
        let minute = self.digits(2)?;
        let (mut second, mut fraction) = (0, 0);
        if self.any(b":").is_some() {
            second = self.digits(2)?;
            if self.any(b".").is_some() {
                let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if !(1..=9).contains(&length) {
                    return None;
                }
                fraction = self.digits(length)? * (length..9).fold(1, |step, _| step * 10);
            }
        }
        (hour < 24 && minute < 60 && second < 60).then_some((hour * 3600 + minute * 60 + second, fraction))
    }

    /// Parses a zone as seconds east of Greenwich; 0 if it is missing.
    fn zone(&mut self) -> Option<i64> {
        match self.any(b"Z+-") {
            None | Some(b'Z') => Some(0),
            Some(sign) => {
                let hours = self.digits(2)?;
                self.any(b":");
                let minutes = self.digits(2)?;
                let seconds = hours * 3600 + minutes * 60;
                (hours < 24 && minutes < 60).then_some(if sign == b'-' { -seconds } else { seconds })
            }
        }
    }
}

/// Parses `YYYY-MM-DD` as days since 1970-01-01.
pub(crate) fn parse_date(text: &[u8]) -> Option<i32> {
    let mut scanner = Scanner(text);
    let days = scanner.date()?;
    scanner.0.is_empty().then(|| i32::try_from(days).ok())?
}

/// Whether a text that is a timestamp says its time zone.
pub(crate) fn has_zone(text: &[u8]) -> bool {
    text.get(10..).is_some_and(|time| time.iter().any(|byte| b"Z+-".contains(byte)))
}

/// Parses `HH:MM`, seconds with up to nine fractional digits, as units since midnight. Returns `None` if `unit` is too coarse for the
/// digits.
pub(crate) fn parse_time(text: &[u8], unit: &TimeUnit) -> Option<i64> {
    let mut scanner = Scanner(text);
    let (seconds, fraction) = scanner.time()?;
    let (per_second, digits) = scale(unit);
    let step = 10i64.pow(9 - digits);
    (scanner.0.is_empty() && fraction % step == 0).then(|| seconds * per_second + fraction / step)
}

/// Parses `YYYY-MM-DD`, a blank or `T`, `HH:MM`, seconds with up to nine fractional digits, and a zone. What follows
/// the date may be omitted from the end. Returns `None` if `unit` is too coarse for the digits.
pub(crate) fn parse_timestamp(text: &[u8], unit: &TimeUnit) -> Option<i64> {
    let mut scanner = Scanner(text);
    let days = scanner.date()?;
    let (mut seconds, mut fraction, mut east) = (0, 0, 0);
    if scanner.any(b" T").is_some() {
        (seconds, fraction) = scanner.time()?;
        east = scanner.zone()?;
    }
    if !scanner.0.is_empty() {
        return None;
    }
    let (per_second, digits) = scale(unit);
    let step = 10i64.pow(9 - digits);
    if fraction % step != 0 {
        return None;
    }
    // At the lower end of the range, near the year 1677, nanoseconds fit only together with their fraction.
    let whole = i128::from(days * DAY + seconds - east) * i128::from(per_second);
    i64::try_from(whole + i128::from(fraction / step)).ok()
}

/// Appends `YYYY-MM-DD`. Returns false if the date cannot be written, that is, outside the years 0 to 9999.
#[must_use]
pub(crate) fn write_date(days: i32, out: &mut Vec<u8>) -> bool {
    write_day(days.into(), out)
}

fn write_day(days: i64, out: &mut Vec<u8>) -> bool {
    let (year, month, day) = civil_from_days(days);
    if !(0..=9999).contains(&year) {
        return false;
    }
    write_digits(year, 4, out);
    out.push(b'-');
    write_digits(month, 2, out);
    out.push(b'-');
    write_digits(day, 2, out);
    true
}

/// Appends a timestamp with all digits of its unit, and `between` between date and time. Returns false if it cannot
/// be written.
#[must_use]
pub(crate) fn write_timestamp(value: i64, unit: &TimeUnit, between: u8, out: &mut Vec<u8>) -> bool {
    let (per_second, digits) = scale(unit);
    let (seconds, fraction) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    let (days, seconds) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    if !write_day(days, out) {
        return false;
    }
    out.push(between);
    write_digits(seconds / 3600, 2, out);
    out.push(b':');
    write_digits(seconds / 60 % 60, 2, out);
    out.push(b':');
    write_digits(seconds % 60, 2, out);
    if digits > 0 {
        out.push(b'.');
        write_digits(fraction, digits as usize, out);
    }
    true
}

#[expect(clippy::cast_sign_loss, reason = "a digit of a number that is not negative")]
fn write_digits(value: i64, count: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + count, b'0');
    let mut rest = value;
    for digit in out[start..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_day_comes_back() {
        for days in (-719_528..=2_932_896).step_by(13).chain([-719_528, -1, 0, 2_932_896]) {
            let mut text = Vec::new();
            assert!(write_date(days, &mut text));
            assert_eq!(parse_date(&text), Some(days));
        }
        assert!(!write_date(2_932_897, &mut Vec::new()) && !write_date(-719_529, &mut Vec::new()));
        assert_eq!(parse_date(b"1970-01-01"), Some(0));
        assert_eq!(parse_date(b"2000-02-29"), Some(11_016));
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in ["1900-02-29", "2001-13-01", "2001-00-10", "2001-1-1", "2001-01-01 ", "20010101", "", "2001-01-32"]
        {
            assert_eq!(parse_date(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn points_in_time() {
        let ms = |text: &str| parse_timestamp(text.as_bytes(), &TimeUnit::Millisecond);
        assert_eq!(ms("1970-01-01 00:00:00.001"), Some(1));
        assert_eq!(ms("1969-12-31T23:59:59.999"), Some(-1));
        assert_eq!(ms("2010-07-30T15:19:53.298+0000"), Some(1_280_503_193_298));
        assert_eq!(ms("2010-07-30T16:19:53.298+01:00"), Some(1_280_503_193_298));
        assert_eq!(ms("1970-01-02"), Some(86_400_000));
        assert_eq!(ms("1970-01-01 00:01"), Some(60_000));
        for text in ["1970-01-01 00:00:00.0001", "1970-01-01 24:00:00", "1970-01-01 00:00:00.", "1970-01-01x00:00"] {
            assert_eq!(ms(text), None, "{text}");
        }
    }

    #[test]
    fn extreme_points_in_time_come_back() {
        for (unit, value) in [
            (TimeUnit::Nanosecond, i64::MIN),
            (TimeUnit::Nanosecond, i64::MAX),
            (TimeUnit::Microsecond, -1),
            (TimeUnit::Millisecond, -62_135_596_800_000),
            (TimeUnit::Second, 253_402_300_799),
        ] {
            let mut text = Vec::new();
            assert!(write_timestamp(value, &unit, b' ', &mut text));
            assert_eq!(parse_timestamp(&text, &unit), Some(value));
        }
        assert!(!write_timestamp(i64::MAX, &TimeUnit::Second, b' ', &mut Vec::new()));
    }
}
