//! ISO 8601 texts.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

use super::construct::{quarter_date, week_date};
use super::duration::{Duration, Parts};
use super::{Temporal, Zone};

/// A date: of a month, a week, a quarter, or an ordinal one; parts that are missing are 1.
pub(crate) fn date(text: &str) -> Option<NaiveDate> {
    let (negative, body, is_long) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?, true),
        b'+' => (false, text.get(1..)?, true),
        _ => (false, text, false),
    };
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    // Without a sign, a year has four digits.
    let length = if is_long && body.as_bytes().get(digits) == Some(&b'-') { digits } else { 4 };
    let length = if is_long && digits == body.len() { digits } else { length };
    let (year, rest) = (number(body.get(..length)?)?, body.get(length..)?);
    let year = i32::try_from(if negative { -year } else { year }).ok()?;
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    if let Some(week) = rest.strip_prefix('W') {
        let (week, day) = (number(week.get(..2)?)?, week.get(2..)?);
        let day = day.strip_prefix('-').unwrap_or(day);
        return week_date(i64::from(year), week, if day.is_empty() { 1 } else { number(day)? });
    }
    if let Some(quarter) = rest.strip_prefix('Q') {
        let (quarter, day) = (number(quarter.get(..1)?)?, quarter.get(1..)?);
        let day = day.strip_prefix('-').unwrap_or(day);
        return quarter_date(i64::from(year), quarter, if day.is_empty() { 1 } else { number(day)? });
    }
    let part = |text: &str| number(text).and_then(|number| u32::try_from(number).ok());
    match rest.len() {
        0 => NaiveDate::from_ymd_opt(year, 1, 1),
        2 => NaiveDate::from_ymd_opt(year, part(rest)?, 1),
        3 => NaiveDate::from_yo_opt(year, part(rest)?),
        4 => NaiveDate::from_ymd_opt(year, part(rest.get(..2)?)?, part(rest.get(2..)?)?),
        5 if rest.as_bytes().get(2) == Some(&b'-') => {
            NaiveDate::from_ymd_opt(year, part(rest.get(..2)?)?, part(rest.get(3..)?)?)
        }
        _ => None,
    }
}

fn number(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A time of day, without a zone.
pub(crate) fn local_time(text: &str) -> Option<NaiveTime> {
    let (whole, fraction) = match text.split_once(['.', ',']) {
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let digits: String = whole.chars().filter(|one| *one != ':').collect();
    let with_colons = match digits.len() {
        2 => whole.len() == 2,
        4 => whole.len() == 4 || (whole.len() == 5 && whole.as_bytes().get(2) == Some(&b':')),
        6 => {
            let colons = whole.as_bytes().get(2) == Some(&b':') && whole.as_bytes().get(5) == Some(&b':');
            whole.len() == 6 || (whole.len() == 8 && colons)
        }
        _ => false,
    };
    if !with_colons || (!fraction.is_empty() && digits.len() != 6) || fraction.len() > 9 {
        return None;
    }
    let part = |at: usize| match digits.get(at..at + 2) {
        Some(part) => number(part).and_then(|number| u32::try_from(number).ok()),
        None => Some(0),
    };
    let nanoseconds = if fraction.is_empty() { 0 } else { u32::try_from(number(&format!("{fraction:0<9}"))?).ok()? };
    NaiveTime::from_hms_nano_opt(part(0)?, part(2)?, part(4)?, nanoseconds)
}

/// An offset such as `+01:00`, or a name of a zone.
pub(crate) fn zone(text: &str) -> Option<Zone> {
    if text == "Z" || text == "z" {
        return Some(Zone::UTC);
    }
    if text.starts_with(['+', '-']) {
        return offset(text).map(Zone::Offset);
    }
    text.parse().ok().map(Zone::Named)
}

fn offset(text: &str) -> Option<i32> {
    let (sign, body) = (if text.starts_with('-') { -1 } else { 1 }, text.get(1..)?);
    let digits: String = body.chars().filter(|one| *one != ':').collect();
    let part = |at: usize| match digits.get(at..at + 2) {
        Some(part) => number(part).and_then(|number| i32::try_from(number).ok()),
        None => Some(0),
    };
    if !matches!(digits.len(), 2 | 4 | 6) {
        return None;
    }
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    (hours <= 18 && minutes < 60 && seconds < 60).then_some(sign * (hours * 3600 + minutes * 60 + seconds))
}

/// A text without its zone, the offset, and what is in brackets after it. An offset follows a time of day, which begins at `from`.
fn split_zone(text: &str, from: Option<usize>) -> Option<(&str, Option<i32>, Option<Zone>)> {
    let (text, named) = match text.strip_suffix(']') {
        Some(inside) => {
            let (before, name) = inside.rsplit_once('[')?;
            (before, Some(zone(name)?))
        }
        None => (text, None),
    };
    let Some(from) = from else { return Some((text, None, named)) };
    let Some(at) = text.get(from..)?.find(['Z', '+', '-']) else { return Some((text, None, named)) };
    let (text, stated) = text.split_at_checked(from + at)?;
    match zone(stated)? {
        Zone::Offset(offset) => Some((text, Some(offset), named)),
        Zone::Named(_) => None,
    }
}

/// A time of day with an offset; UTC if none is given.
pub(crate) fn time(text: &str) -> Option<Temporal> {
    let (time, stated, bracketed) = split_zone(text.strip_prefix('T').unwrap_or(text), Some(0))?;
    let offset = match (stated, bracketed) {
        (stated, None) => stated.unwrap_or(0),
        (stated, Some(Zone::Offset(offset))) if stated.is_none_or(|stated| stated == offset) => offset,
        _ => return None,
    };
    Some(Temporal::Time(local_time(time)?, offset))
}

pub(crate) fn local_date_time(text: &str) -> Option<NaiveDateTime> {
    match text.split_once('T') {
        Some((day, time)) => Some(date(day)?.and_time(local_time(time)?)),
        None => Some(date(text)?.and_time(NaiveTime::MIN)),
    }
}

/// The local time of a date time, its offset and its zone.
pub(crate) fn date_time(text: &str) -> Option<(NaiveDateTime, Option<i32>, Option<Zone>)> {
    let (local, offset, zone) = split_zone(text, text.find('T'))?;
    Some((local_date_time(local)?, offset, zone))
}

/// A duration such as `P1Y2M3DT4H5M6.7S`, or `P2012-02-02T14:37:21.545`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let (sign, body) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (1, text),
    };
    let body = body.strip_prefix('P')?;
    if body.as_bytes().get(4) == Some(&b'-') && body.get(..4).and_then(number).is_some() {
        return dated_duration(body);
    }
    let (days, time) = match body.split_once('T') {
        Some((days, time)) => (days, Some(time)),
        None => (body, None),
    };
    let mut sum = Sum { sign, parts: Parts::default(), exact: Some([0; 4]) };
    amounts(days, &mut |amount, unit| match unit {
        'Y' => sum.add(amount, 0, 12),
        'M' => sum.add(amount, 0, 1),
        'W' => sum.add(amount, 1, 7),
        'D' => sum.add(amount, 1, 1),
        _ => None,
    })?;
    if let Some(time) = time {
        if time.is_empty() {
            return None;
        }
        amounts(time, &mut |amount, unit| match unit {
            'H' => sum.add(amount, 2, 3600),
            'M' => sum.add(amount, 2, 60),
            'S' => sum.add(amount, 2, 1),
            _ => None,
        })?;
    } else if days.is_empty() {
        return None;
    }
    match sum.exact {
        Some([months, days, seconds, nanoseconds]) => Duration::new(months, days, seconds, nanoseconds).ok(),
        None => Duration::of_parts(sum.parts).ok(),
    }
}

/// The sum of the amounts in a text.
struct Sum {
    /// That of the whole text.
    sign: i8,
    /// All amounts, also those with fractions of a month, a day, an hour or a minute.
    parts: Parts,
    /// Months, days, seconds and nanoseconds while there are no such fractions: floats would lose digits.
    exact: Option<[i64; 4]>,
}

impl Sum {
    /// Adds an amount: of months, days or seconds (0, 1 or 2) times a factor.
    fn add(&mut self, amount: &str, place: usize, factor: i32) -> Option<()> {
        let amount = amount.replace(',', ".");
        let size: f64 = amount.parse().ok()?;
        let scaled = f64::from(self.sign) * size * f64::from(factor);
        match place {
            0 => self.parts.months += scaled,
            1 => self.parts.days += scaled,
            _ => {
                // A fraction of a second is apart, so that it is rounded to the nanosecond.
                let whole = if factor == 1 { scaled.trunc() } else { scaled };
                self.parts.seconds += whole;
                self.parts.nanoseconds += ((scaled - whole) * 1e9).round();
            }
        }
        let (whole, fraction) = amount.split_once('.').unwrap_or((&amount, ""));
        let is_exact = fraction.is_empty() || (place == 2 && factor == 1 && fraction.len() <= 9);
        self.exact = self.exact.filter(|_| is_exact);
        if let Some(exact) = &mut self.exact {
            let sign = i64::from(if whole.starts_with('-') { -self.sign } else { self.sign });
            let digits = whole.trim_start_matches(['-', '+']);
            let whole = if digits.is_empty() { 0 } else { number(digits)? };
            let part = exact.get_mut(place)?;
            *part = whole.checked_mul(sign * i64::from(factor)).and_then(|more| part.checked_add(more))?;
            if !fraction.is_empty() {
                let [.., nanoseconds] = exact;
                *nanoseconds = nanoseconds.checked_add(sign * number(&format!("{fraction:0<9}"))?)?;
            }
        }
        Some(())
    }
}

fn amounts(text: &str, each: &mut dyn FnMut(&str, char) -> Option<()>) -> Option<()> {
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.find(|one: char| one.is_ascii_alphabetic())?;
        let unit = rest.get(at..)?.chars().next()?;
        each(rest.get(..at)?, unit)?;
        rest = rest.get(at + 1..)?;
    }
    Some(())
}

fn dated_duration(body: &str) -> Option<Duration> {
    let (day, time) = match body.split_once('T') {
        Some((day, time)) => (day, time),
        None => (body, "00"),
    };
    let mut parts = day.split('-').map(number);
    let (years, months, days) = (parts.next()??, parts.next()??, parts.next()??);
    let nanoseconds = super::nanoseconds_of_day(local_time(time)?);
    Duration::new(years * 12 + months, days, 0, nanoseconds).ok()
}
