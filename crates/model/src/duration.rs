//! Lengths of time as texts.

use std::fmt::Write;

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;

/// The text in ISO 8601 of months, days, seconds and the nanoseconds after these, from 0 to 999,999,999: `P1Y2M3DT4H5M6.5S`. A negative part has its own sign.
pub fn text(months: i64, days: i64, seconds: i64, nanoseconds: i64) -> String {
    let mut text = String::from("P");
    let add = |text: &mut String, amount: i64, unit: char| {
        if amount != 0 {
            let _ = write!(text, "{amount}{unit}");
        }
    };
    add(&mut text, months / 12, 'Y');
    add(&mut text, months % 12, 'M');
    add(&mut text, days, 'D');
    if seconds != 0 || nanoseconds != 0 {
        text.push('T');
        let is_negative = seconds < 0;
        let (mut seconds, mut nanoseconds) = (seconds, nanoseconds);
        if is_negative && nanoseconds != 0 {
            seconds += 1;
            nanoseconds = SECOND - nanoseconds;
        }
        add(&mut text, seconds / 3600, 'H');
        add(&mut text, seconds / 60 % 60, 'M');
        let rest = seconds % 60;
        if rest != 0 || nanoseconds != 0 {
            if is_negative && rest == 0 {
                text.push('-');
            }
            let _ = write!(text, "{rest}");
            if nanoseconds != 0 {
                text.push('.');
                text.push_str(format!("{nanoseconds:09}").trim_end_matches('0'));
            }
            text.push('S');
        }
    }
    if text == "P" {
        text.push_str("T0S");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn parts_have_their_own_signs() {
        for (parts, expected) in [
            ((0, 0, 0, 0), "PT0S"),
            ((14, 3, 14_706, 500_000_000), "P1Y2M3DT4H5M6.5S"),
            ((-14, 0, 0, 0), "P-1Y-2M"),
            ((0, 0, 86_400, 5_000_000), "PT24H0.005S"),
            ((0, 1, -1, 999_999_999), "P1DT-0.000000001S"),
            ((0, 0, -61, 0), "PT-1M-1S"),
            ((0, 0, i64::MIN, 0), "PT-2562047788015215H-30M-8S"),
        ] {
            let (months, days, seconds, nanoseconds) = parts;
            assert_eq!(text(months, days, seconds, nanoseconds), expected);
        }
    }
}
