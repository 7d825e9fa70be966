//! Lengths of time of ISO 8601, as answers write them.

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// The months, days and nanoseconds of a text, in which each part, and the whole, may have a sign: `-P1M`, `PT-1H30M`, `P2W`. Only seconds have digits after the
/// point, at most nine. `None` for other texts, and for numbers that are too large.
pub(crate) fn parse(text: &str) -> Option<(i64, i64, i64)> {
    let (is_negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let body = body.strip_prefix('P')?;
    let (date, time) = body.split_once('T').map_or((body, None), |(date, time)| (date, Some(time)));
    if time.unwrap_or(date).is_empty() {
        return None;
    }
    let (mut months, mut days, mut nanoseconds) = (0_i128, 0_i128, 0_i128);
    parts(date, "YMWD", &mut |amount, unit| match unit {
        'Y' => months += 12 * amount,
        'M' => months += amount,
        'W' => days += 7 * amount,
        _ => days += amount,
    })?;
    parts(time.unwrap_or_default(), "HMS", &mut |amount, unit| match unit {
        'H' => nanoseconds += amount * 3600 * i128::from(SECOND),
        'M' => nanoseconds += amount * 60 * i128::from(SECOND),
        _ => nanoseconds += amount,
    })?;
    let signed = |amount: i128| i64::try_from(if is_negative { -amount } else { amount }).ok();
    Some((signed(months)?, signed(days)?, signed(nanoseconds)?))
}

/// Calls `each` with the amounts of a text and their units, which come in the order of `units`. Seconds are nanoseconds.
fn parts(mut text: &str, mut units: &str, each: &mut dyn FnMut(i128, char)) -> Option<()> {
    while !text.is_empty() {
        let end = text.find(|one: char| one.is_ascii_alphabetic())?;
        let (amount, rest) = text.split_at(end);
        let unit = rest.chars().next()?;
        units = units.split_once(unit)?.1;
        text = rest.get(1..)?;
        let amount = if unit == 'S' { nanoseconds(amount)? } else { whole(amount)?.1 };
        each(amount, unit);
    }
    Some(())
}

/// Whether an integer has the sign `-`, and its value, of at most 18 digits.
fn whole(text: &str) -> Option<(bool, i128)> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let are_digits = (1..=18).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let value: i128 = digits.parse().ok().filter(|_| are_digits)?;
    Some((is_negative, if is_negative { -value } else { value }))
}

/// The nanoseconds of seconds with digits after the point or the comma.
fn nanoseconds(text: &str) -> Option<i128> {
    let (seconds, digits) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let (is_negative, seconds) = whole(seconds)?;
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: i128 = format!("{digits:0<9}").parse().ok()?;
    Some(seconds * i128::from(SECOND) + if is_negative { -digits } else { digits })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn texts_are_parsed_with_their_signs() {
        for (text, expected) in [
            ("PT0S", (0, 0, 0)),
            ("P1Y2M3DT4H5M6.5S", (14, 3, 14_706_500_000_000)),
            ("PT-1H", (0, 0, -3_600_000_000_000)),
            ("-PT1H", (0, 0, -3_600_000_000_000)),
            ("-PT-1H30M", (0, 0, 1_800_000_000_000)),
            ("+P2W", (0, 14, 0)),
            ("PT-0.000000001S", (0, 0, -1)),
            ("P-1Y-2M", (-14, 0, 0)),
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "P",
            "PT",
            "1H",
            "PT1",
            "PT1S1H",
            "PT1.5H",
            "P1H",
            "PT1.0000000001S",
            "PT--1H",
            "P1DT",
            "PT999999999999H",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
