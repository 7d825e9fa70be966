//! ISO 8601 texts.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

use super::construct::{quarter_date, week_date};
use super::duration::{Duration, Parts};
use super::{Temporal, Zone, Zoned};

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

/// A text in two: before its zone, and the zone. A `[name]` counts more than an offset before it.
fn split_zone(text: &str) -> Option<(&str, Option<Zone>)> {
    let (text, named) = match text.strip_suffix(']') {
        Some(inside) => {
            let (before, name) = inside.rsplit_once('[')?;
            (before, Some(zone(name)?))
        }
        None => (text, None),
    };
    let from = text.find('T').unwrap_or(0);
    let at = text.get(from..)?.find(['Z', '+', '-']).map(|at| at + from);
    match at {
        Some(at) => {
            let offset = zone(text.get(at..)?)?;
            Some((text.get(..at)?, Some(named.unwrap_or(offset))))
        }
        None => Some((text, named)),
    }
}

/// A time of day with an offset; UTC if none is given.
pub(crate) fn time(text: &str) -> Option<Temporal> {
    let (time, zone) = split_zone(text.strip_prefix('T').unwrap_or(text))?;
    let time = local_time(time)?;
    let offset = match zone.unwrap_or(Zone::UTC) {
        Zone::Offset(offset) => offset,
        Zone::Named(_) => return None,
    };
    Some(Temporal::Time(time, offset))
}

pub(crate) fn local_date_time(text: &str) -> Option<NaiveDateTime> {
    match text.split_once('T') {
        Some((day, time)) => Some(date(day)?.and_time(local_time(time)?)),
        None => Some(date(text)?.and_time(NaiveTime::MIN)),
    }
}

pub(crate) fn date_time(text: &str) -> Option<Temporal> {
    let (local, zone) = if text.contains('T') || text.ends_with(']') { split_zone(text)? } else { (text, None) };
    let local = local_date_time(local)?;
    Some(Temporal::DateTime(Zoned::new(local, zone.unwrap_or(Zone::UTC))))
}

/// A duration such as `P1Y2M3DT4H5M6.7S`, or `P2012-02-02T14:37:21.545`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let (sign, body) = match text.as_bytes().first()? {
        b'-' => (-1.0, text.get(1..)?),
        b'+' => (1.0, text.get(1..)?),
        _ => (1.0, text),
    };
    let body = body.strip_prefix('P')?;
    if body.starts_with(|one: char| one.is_ascii_digit())
        && body.as_bytes().get(4) == Some(&b'-')
        && !body.contains(['Y', 'D', 'W'])
    {
        return dated_duration(body);
    }
    let (days, time) = match body.split_once('T') {
        Some((days, time)) => (days, Some(time)),
        None => (body, None),
    };
    let mut parts = Parts::default();
    amounts(days, &mut |amount, unit| {
        match unit {
            'Y' => parts.months += sign * amount * 12.0,
            'M' => parts.months += sign * amount,
            'W' => parts.days += sign * amount * 7.0,
            'D' => parts.days += sign * amount,
            _ => return None,
        }
        Some(())
    })?;
    if let Some(time) = time {
        if time.is_empty() {
            return None;
        }
        amounts(time, &mut |amount, unit| {
            match unit {
                'H' => parts.seconds += sign * amount * 3600.0,
                'M' => parts.seconds += sign * amount * 60.0,
                'S' => {
                    // A fraction of a second is exact to the nanosecond.
                    parts.seconds += sign * amount.trunc();
                    parts.nanoseconds += sign * ((amount - amount.trunc()) * 1e9).round();
                }
                _ => return None,
            }
            Some(())
        })?;
    } else if days.is_empty() {
        return None;
    }
    Duration::of_parts(parts).ok()
}

fn amounts(text: &str, each: &mut dyn FnMut(f64, char) -> Option<()>) -> Option<()> {
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.find(|one: char| one.is_ascii_alphabetic())?;
        let amount: f64 = rest.get(..at)?.replace(',', ".").parse().ok()?;
        let unit = rest.get(at..)?.chars().next()?;
        each(amount, unit)?;
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
