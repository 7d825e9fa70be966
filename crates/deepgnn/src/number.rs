//! Numbers in Python's syntax: underscores between digits, signs, `.5`, `inf`, `nan`.

use std::io::Write;

use crate::DType;

/// Why a text is not a number of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is not a number.
    NotNumber,
    /// It is too large or too small.
    Range,
    /// It has a fraction, but an integer is required.
    Fraction,
}

/// Powers of ten that 64-bit floats represent exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Parses an integer.
pub(crate) fn integer(text: &[u8]) -> Result<i128, Wrong> {
    let text = text.trim_ascii();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let magnitude: i128 = match plain_digits(digits) {
        Some(value) => i128::from(value),
        None => slow_digits(digits)?,
    };
    Ok(if negative { -magnitude } else { magnitude })
}

/// Parses at most 18 digits and nothing else.
fn plain_digits(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

/// Parses digits with single underscores between them.
fn slow_digits(digits: &[u8]) -> Result<i128, Wrong> {
    let mut value = 0i128;
    let mut before = b'_';
    for byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value
                    .checked_mul(10)
                    .and_then(|value| value.checked_add(i128::from(byte - b'0')))
                    .ok_or(Wrong::Range)?;
            }
            b'_' if before != b'_' => {}
            _ => return Err(Wrong::NotNumber),
        }
        before = *byte;
    }
    if before == b'_' { Err(Wrong::NotNumber) } else { Ok(value) }
}

/// Parses an integer that is written as a decimal, such as `3.0` or `1e3`. The result is exact, because 64-bit floats
/// are exact only up to 2^53.
///
/// # Errors
/// Returns an error if it has a fraction other than 0, or is not a decimal.
pub(crate) fn whole_decimal(text: &[u8]) -> Result<i128, Wrong> {
    let text = text.trim_ascii();
    if float(text)?.is_nan() {
        return Err(Wrong::NotNumber);
    }
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (digits, exponent) = match digits.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&digits[..at], integer(&digits[at + 1..])?),
        None => (digits, 0),
    };
    let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (before, behind) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
    let mut all = [before, behind].concat();
    let mut exponent = exponent.saturating_sub(i128::try_from(behind.len()).unwrap_or(i128::MAX));
    while all.len() > 1 && all.last() == Some(&b'0') {
        all.pop();
        exponent = exponent.saturating_add(1);
    }
    let magnitude = slow_digits(&all).map_err(|wrong| if exponent < 0 { Wrong::Fraction } else { wrong })?;
    if magnitude == 0 {
        return Ok(0);
    }
    if exponent < 0 {
        return Err(Wrong::Fraction);
    }
    // 10^38 is the largest power that fits into 128 bits.
    let power = u32::try_from(exponent).ok().and_then(|exponent| 10i128.checked_pow(exponent)).ok_or(Wrong::Range)?;
    let magnitude = magnitude.checked_mul(power).ok_or(Wrong::Range)?;
    Ok(if negative { -magnitude } else { magnitude })
}

/// Returns whether a text is an integer of any size.
pub(crate) fn is_integer(text: &[u8]) -> bool {
    match text.first() {
        Some(b'0'..=b'9' | b'-' | b'+') => integer(text) != Err(Wrong::NotNumber),
        _ => false,
    }
}

/// Parses an id: an unsigned 64-bit integer.
pub(crate) fn id(text: &[u8]) -> Result<u64, Wrong> {
    match plain_digits(text) {
        Some(value) => Ok(value),
        None => integer(text).and_then(|value| u64::try_from(value).map_err(|_| Wrong::Range)),
    }
}

/// Parses a float.
pub(crate) fn float(text: &[u8]) -> Result<f64, Wrong> {
    if let Some(value) = short_decimal(text) {
        return Ok(value);
    }
    let text = std::str::from_utf8(text).map_err(|_| Wrong::NotNumber)?.trim();
    if let Ok(value) = text.parse() {
        return Ok(value);
    }
    let bytes = text.as_bytes();
    let between_digits = |at: usize| {
        let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        digit(at.checked_sub(1)) && digit(Some(at + 1))
    };
    let underscores = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_').map(|(at, _)| at);
    if !underscores.clone().all(between_digits) || underscores.count() == 0 {
        return Err(Wrong::NotNumber);
    }
    text.replace('_', "").parse().map_err(|_| Wrong::NotNumber)
}

/// Parses a short decimal without exponent: its digits and the power of ten are exact, so that their quotient is
/// rounded correctly.
fn short_decimal(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let (mut value, mut point) = (0u64, None);
    for (at, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            value = value * 10 + u64::from(digit);
        } else if *byte == b'.' && point.is_none() {
            point = Some(at);
        } else {
            return None;
        }
    }
    let decimals = point.map_or(0, |at| digits.len() - 1 - at);
    of_digits(negative, value, digits.len() - usize::from(point.is_some()), decimals)
}

/// Returns the number with `count` digits, the last `decimals` of them after the point; `None` if there are none, or
/// too many to be exact.
#[inline]
pub(crate) fn of_digits(negative: bool, value: u64, count: usize, decimals: usize) -> Option<f64> {
    if !(1..=16).contains(&count) || value >= 1 << 53 {
        return None;
    }
    let value = value as f64 / POWERS[decimals];
    Some(if negative { -value } else { value })
}

/// How a finite number that a float type cannot represent is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// It is out of range.
    Refused,
    /// It becomes infinite, as in numpy.
    Infinite,
}

/// Appends a number of a type. Floats of 16 and 32 bits are rounded from 64 bits, as numpy does with Python's floats.
pub(crate) fn push(dtype: DType, text: &[u8], overflow: Overflow, out: &mut Vec<u8>) -> Result<(), Wrong> {
    match dtype {
        DType::Float16 | DType::Float32 | DType::Float64 => {
            let value = float(text)?;
            // Digits whose value is infinite, such as 1e400. The word `inf` has no digits.
            if value.is_infinite() && overflow == Overflow::Refused && text.iter().any(u8::is_ascii_digit) {
                return Err(Wrong::Range);
            }
            push_float(dtype, value, overflow, out)?;
        }
        DType::Bool => out.push(truth(text)?),
        _ => push_integer(dtype, integer(text)?, overflow, out)?,
    }
    Ok(())
}

/// Appends a float as a number of a type; integer types truncate the fraction, as in numpy: see [`whole_decimal`].
pub(crate) fn push_float(dtype: DType, value: f64, overflow: Overflow, out: &mut Vec<u8>) -> Result<(), Wrong> {
    let refused = |is_finite: bool| !is_finite && value.is_finite() && overflow == Overflow::Refused;
    match dtype {
        DType::Float32 if refused(single(value).is_finite()) => return Err(Wrong::Range),
        DType::Float16 if refused(value.abs() < HALF_OVERFLOW) => return Err(Wrong::Range),
        DType::Float32 => out.extend_from_slice(&single(value).to_le_bytes()),
        DType::Float64 => out.extend_from_slice(&value.to_le_bytes()),
        DType::Float16 => out.extend_from_slice(&half(value).to_le_bytes()),
        DType::Bool => out.push(u8::from(value != 0.0)),
        _ if value.is_nan() => return Err(Wrong::NotNumber),
        // Beyond 128 bits, the cast gives the largest value, which is out of range for every type.
        _ => push_integer(dtype, whole(value), overflow, out)?,
    }
    Ok(())
}

/// Appends an integer as a number of a type.
pub(crate) fn push_integer(dtype: DType, value: i128, overflow: Overflow, out: &mut Vec<u8>) -> Result<(), Wrong> {
    macro_rules! checked {
        ($type:ty) => {
            out.extend_from_slice(&<$type>::try_from(value).map_err(|_| Wrong::Range)?.to_le_bytes())
        };
    }
    match dtype {
        DType::Int8 => checked!(i8),
        DType::Int16 => checked!(i16),
        DType::Int32 => checked!(i32),
        DType::Int64 => checked!(i64),
        DType::UInt8 => checked!(u8),
        DType::UInt16 => checked!(u16),
        DType::UInt32 => checked!(u32),
        DType::UInt64 => checked!(u64),
        DType::Bool | DType::Float16 | DType::Float32 | DType::Float64 => {
            return push_float(dtype, value as f64, overflow, out);
        }
    }
    Ok(())
}

fn truth(text: &[u8]) -> Result<u8, Wrong> {
    let text = text.trim_ascii();
    match text {
        b"0" => Ok(0),
        b"1" => Ok(1),
        _ if text.eq_ignore_ascii_case(b"true") => Ok(1),
        _ if text.eq_ignore_ascii_case(b"false") => Ok(0),
        _ => Err(Wrong::NotNumber),
    }
}

/// From here on, a number is infinite in 16 bits. The largest finite number is 65504; this is halfway to the next.
const HALF_OVERFLOW: f64 = 65520.0;

/// Rounds a number to the nearest 32-bit float, as weights are stored.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "rounded on purpose; numbers that are too large become infinite")]
pub(crate) fn single(value: f64) -> f32 {
    value as f32
}

/// Truncates the fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "truncated on purpose; numbers that are too large become the largest"
)]
fn whole(value: f64) -> i128 {
    value as i128
}

/// Rounds to a 16-bit float once, to nearest even.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fields of 11 and 16 bits, not negative")]
fn half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 48) & 0x8000) as u16;
    let magnitude = f64::from_bits(bits & !(1 << 63));
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= HALF_OVERFLOW {
        return sign | 0x7c00;
    }
    // Steps below 2^-14 are 2^-24 wide; above, they are 2^-10 of the power of two.
    let exponent = (((bits >> 52) & 0x7ff) as i32 - 1023).max(-14);
    let steps = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as u32;
    // Steps of a normal number run from 1024 to 2048; the addition carries into the exponent.
    sign | ((((exponent + 14) as u32) << 10) + steps) as u16
}

/// Returns the 64-bit float of the shortest decimal for a 32-bit float: 0.3, although the bits themselves mean
/// 0.30000001192092896.
pub(crate) fn f64_of_shortest(value: f32) -> f64 {
    let wide = f64::from(value);
    // A number with few binary digits is its own shortest decimal.
    if (wide * 4.0).fract() == 0.0 && wide.abs() < 16_384.0 {
        return wide;
    }
    let mut text = [0u8; 64];
    let mut left = &mut text[..];
    let room = left.len();
    if write!(left, "{value:e}").is_err() {
        return wide;
    }
    let used = room - left.len();
    std::str::from_utf8(&text[..used]).ok().and_then(|text| text.parse().ok()).unwrap_or(wide)
}

/// Formats a float as Python does: the shortest digits that represent it, with an exponent below 1e-4 and from 1e16 on.
pub(crate) fn python_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{value}");
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_python_reads_them() {
        let of = |text: &str| integer(text.as_bytes());
        assert_eq!([of("+5"), of("1_000"), of("-0"), of(" 7 ")], [Ok(5), Ok(1000), Ok(0), Ok(7)]);
        assert_eq!(of("18446744073709551615"), Ok(18446744073709551615));
        for wrong in ["", "-", "1.0", "_1", "1_", "1__0", "0x1", "1e3", "x"] {
            assert_eq!(of(wrong), Err(Wrong::NotNumber), "{wrong}");
        }
        assert_eq!(of(&"9".repeat(50)), Err(Wrong::Range));
        assert_eq!(id(b"-1"), Err(Wrong::Range));
    }

    #[test]
    fn decimals_are_integers_if_nothing_is_cut() {
        let of = |text: &str| whole_decimal(text.as_bytes());
        assert_eq!([of("3.0"), of("-1e3"), of("0.00"), of("1.5e1")], [Ok(3), Ok(-1000), Ok(0), Ok(15)]);
        // As a 64-bit float, it would be 9007199254740992.
        assert_eq!([of("9007199254740993.0"), of("18446744073709551615e0")], [Ok((1 << 53) + 1), Ok(u64::MAX.into())]);
        assert_eq!(
            [of("0e999999999999"), of("1e999999999999"), of("1e39")],
            [Ok(0), Err(Wrong::Range), Err(Wrong::Range)]
        );
        for cut in ["1.5", "-2.9", "0.9", "1e-1", "1e-400", "5e-1"] {
            assert_eq!(of(cut), Err(Wrong::Fraction), "{cut}");
        }
        assert_eq!([of("NaN"), of("x"), of(".")], [Err(Wrong::NotNumber); 3]);
    }

    #[test]
    fn short_decimals_survive_32_bits() {
        for value in [0.3f64, 1.1, 1e30, 1e-30, 0.1, 123456.7, 2.5, -0.0, 3.0, 0.015625] {
            assert_eq!(f64_of_shortest(value as f32).to_bits(), value.to_bits(), "{value}");
        }
        assert!(f64_of_shortest(f32::NAN).is_nan());
        assert_eq!(f64_of_shortest(f32::INFINITY), f64::INFINITY);
    }

    #[test]
    fn floats_are_read_as_python_reads_them() {
        let of = |text: &str| float(text.as_bytes());
        assert_eq!(
            [of(".5"), of("5."), of("+1e3"), of("1_0.5"), of("-0.1"), of("0.30000000000000004")],
            [Ok(0.5), Ok(5.0), Ok(1000.0), Ok(10.5), Ok(-0.1), Ok(0.1 + 0.2)]
        );
        assert_eq!(of("-inf"), Ok(f64::NEG_INFINITY));
        assert!(of("nan").unwrap().is_nan() && of("-0").unwrap().is_sign_negative());
        for wrong in ["", ".", "-", "1e", "_1", "1_.5", "abc", "1,5"] {
            assert_eq!(of(wrong), Err(Wrong::NotNumber), "{wrong}");
        }
    }

    #[test]
    fn the_short_way_rounds_like_the_long_one() {
        let mut state = 1u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let text = format!(
                "{}.{:0width$}",
                (state >> 40) % 1000,
                (state >> 20) % 100_000,
                width = 5 + (state % 7) as usize
            );
            assert_eq!(float(text.as_bytes()), text.parse().map_err(|_| Wrong::NotNumber), "{text}");
        }
    }

    #[test]
    fn sixteen_bits_are_rounded_once() {
        let cases = [
            (0.5, 0x3800),
            (65504.0, 0x7bff),
            (65519.99, 0x7bff),
            (65520.0, 0x7c00),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (5.960464477539063e-8, 1),
            (2.9802322387695312e-8, 0),
            (2.980232238769532e-8, 1),
            (6.097555160522461e-5, 0x3ff),
            // Just above a tie: an intermediate 32-bit float would lose the difference.
            (1.0 + 0.00048828125 + 1e-12, 0x3c01),
            (1.0 + 0.00048828125, 0x3c00),
            (2047.75, 0x6800),
        ];
        for (value, bits) in cases {
            assert_eq!(half(value), bits, "{value}");
        }
    }

    #[test]
    fn floats_are_written_as_python_writes_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (103.73100000000002, "103.73100000000002"),
            (1e16, "1e+16"),
            (1e15, "1000000000000000.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e300, "1.5e+300"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(python_text(value), text);
        }
    }
}
