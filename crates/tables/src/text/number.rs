//! Numbers and booleans as text.

use std::io::Write;

/// Parses a decimal integer with an optional sign.
pub(crate) fn parse_int(text: &[u8]) -> Option<i128> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| digit - b'0')?;
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    let value = i128::from(value);
    Some(if negative { -value } else { value })
}

/// Parses a decimal number with at most `precision` digits, of which `scale` are behind the point, as a multiple of its last digit. Returns
/// `None` where a digit would be lost.
pub(crate) fn parse_decimal(text: &[u8], precision: u8, scale: i8) -> Option<i128> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        Some(at) => (&digits[..at], &digits[at + 1..]),
        None => (digits, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let scale = usize::try_from(scale).ok()?;
    // Zeros at the end of the fraction say nothing.
    let kept = fraction.iter().rposition(|byte| *byte != b'0').map_or(0, |last| last + 1);
    if kept > scale || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let zeros = std::iter::repeat_n(&b'0', scale - kept);
    let mut value = 0i128;
    for digit in whole.iter().chain(&fraction[..kept]).chain(zeros) {
        let digit = digit.is_ascii_digit().then(|| digit - b'0')?;
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    let is_inside = value < 10i128.checked_pow(precision.into())?;
    is_inside.then_some(if negative { -value } else { value })
}

/// Parses a boolean in any of the spellings of GraphAr, NOCK and spreadsheets.
pub(crate) fn parse_bool(text: &[u8]) -> Option<bool> {
    match text {
        b"true" | b"True" | b"TRUE" | b"1" => Some(true),
        b"false" | b"False" | b"FALSE" | b"0" => Some(false),
        _ => None,
    }
}

/// Appends an integer.
pub(crate) fn write_int(negative: bool, magnitude: u64, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    let mut rest = magnitude;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[start..]);
}

/// The spelling of floats. Both are the shortest that are parsed as the same float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatStyle {
    /// As Arrow: `1`, `0.5`, `1e+20`, `inf`, `nan`.
    Arrow,
    /// As Python: `1.0`, `0.5`, `1e+20`, `inf`, `nan`.
    Python,
}

/// Appends the shortest spelling of `value`.
pub(crate) fn write_f64(value: f64, style: FloatStyle, out: &mut Vec<u8>) {
    if let Some(word) = special(value) {
        out.extend_from_slice(word);
    } else {
        write_shortest(format_args!("{value:e}"), style, out);
    }
}

/// Appends the shortest spelling of `value` as a 32-bit float.
pub(crate) fn write_f32(value: f32, style: FloatStyle, out: &mut Vec<u8>) {
    if let Some(word) = special(value.into()) {
        out.extend_from_slice(word);
    } else {
        write_shortest(format_args!("{value:e}"), style, out);
    }
}

fn special(value: f64) -> Option<&'static [u8]> {
    if value.is_nan() {
        Some(b"nan")
    } else if value.is_infinite() {
        Some(if value > 0.0 { b"inf" } else { b"-inf" })
    } else {
        None
    }
}

/// Writes the shortest digits, given as `d.ddde±x`: positional between 1e-4 and 1e16, scientific outside.
fn write_shortest(scientific: std::fmt::Arguments<'_>, style: FloatStyle, out: &mut Vec<u8>) {
    let mut buffer = [0u8; 40];
    let mut rest = &mut buffer[..];
    // The buffer has room for 17 digits, a sign, a point and an exponent of three digits.
    let _ = rest.write_fmt(scientific);
    let length = 40 - rest.len();
    let text = &buffer[..length];
    let (mantissa, exponent) = match text.iter().position(|byte| *byte == b'e') {
        Some(at) => (&text[..at], parse_int(&text[at + 1..]).and_then(|e| i32::try_from(e).ok()).unwrap_or_default()),
        None => (text, 0),
    };
    let (sign, mantissa) = match mantissa.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, mantissa),
    };
    let digits = mantissa.iter().filter(|byte| **byte != b'.');
    let count = digits.clone().map(|_| 1).sum::<i32>();
    if sign {
        out.push(b'-');
    }
    if !(-4..16).contains(&exponent) {
        out.extend_from_slice(mantissa);
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.unsigned_abs());
        return;
    }
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend((1..-exponent).map(|_| b'0'));
        out.extend(digits);
        return;
    }
    for (position, digit) in (0..).zip(digits.copied().chain(std::iter::repeat(b'0'))) {
        if position > exponent && position >= count {
            break;
        }
        if position == exponent + 1 {
            out.push(b'.');
        }
        out.push(digit);
    }
    if style == FloatStyle::Python && count <= exponent + 1 {
        out.extend_from_slice(b".0");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(value: f64, style: FloatStyle) -> String {
        let mut out = Vec::new();
        write_f64(value, style, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_as_python_writes_them() {
        for (value, expected) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.25, "0.25"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e-7, "1e-07"),
            (1.5e-10, "1.5e-10"),
            (123_456.789, "123456.789"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e300, "1.25e+300"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (100.0, "100.0"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(value, FloatStyle::Python), expected);
        }
    }

    #[test]
    fn floats_as_arrow_writes_them() {
        for (value, expected) in [(1.0, "1"), (100.0, "100"), (-0.5, "-0.5"), (1e20, "1e+20"), (0.1, "0.1")] {
            assert_eq!(text(value, FloatStyle::Arrow), expected);
        }
        let mut single = Vec::new();
        write_f32(0.1, FloatStyle::Arrow, &mut single);
        assert_eq!(single, b"0.1");
    }

    #[test]
    fn every_float_comes_back() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(state);
            if value.is_nan() {
                continue;
            }
            for style in [FloatStyle::Arrow, FloatStyle::Python] {
                assert_eq!(text(value, style).parse::<f64>().unwrap().to_bits(), value.to_bits());
            }
        }
    }

    #[test]
    fn decimals_keep_every_digit_or_are_refused() {
        let of = |text: &str| parse_decimal(text.as_bytes(), 5, 2);
        for (text, expected) in
            [("1", 100), ("-1.5", -150), ("999.99", 99_999), ("0.10", 10), ("+.5", 50), ("1.", 100), ("001.230", 123)]
        {
            assert_eq!(of(text), Some(expected), "{text}");
        }
        for text in ["1000", "0.001", "", ".", "-", "1e2", "1,5", " 1", "NaN", "1.2.3"] {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(parse_decimal("9".repeat(38).as_bytes(), 38, 0), Some(10i128.pow(38) - 1));
        assert_eq!(parse_decimal("1".repeat(40).as_bytes(), 38, 0), None);
    }

    #[test]
    fn whole_numbers() {
        for value in [0, 7, -10, i64::MIN, i64::MAX] {
            let mut out = Vec::new();
            write_int(value < 0, value.unsigned_abs(), &mut out);
            assert_eq!(out, value.to_string().as_bytes());
        }
        assert_eq!(parse_int(b"-9223372036854775808"), Some(i64::MIN.into()));
        assert_eq!(parse_int(b"18446744073709551615"), Some(u64::MAX.into()));
        for text in ["", "-", "+", "1.0", " 1", "1e3", "18446744073709551616", "0x1"] {
            assert_eq!(parse_int(text.as_bytes()), None, "{text}");
        }
    }
}
