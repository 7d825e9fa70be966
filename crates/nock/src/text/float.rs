//! Floats as Python's `repr` writes them.

use std::fmt::Write;

/// Appends `value`: the shortest digits that read back, always with a point or an exponent, `1e-07` and `1e+16` beyond
/// what is written out.
pub(crate) fn push_float(out: &mut String, value: f64) {
    if !value.is_finite() {
        out.push_str(match () {
            () if value.is_nan() => "nan",
            () if value > 0.0 => "inf",
            () => "-inf",
        });
        return;
    }
    // Writing into a string cannot fail.
    let start = out.len();
    let _ = write!(out, "{value:e}");
    let exponent: i32 = out
        .get(start..)
        .and_then(|text| text.split_once('e'))
        .map_or(0, |(_, digits)| digits.parse().unwrap_or_default());
    if (-4..16).contains(&exponent) {
        out.truncate(start);
        let _ = write!(out, "{value:?}");
        return;
    }
    let mantissa = out.get(start..).and_then(|text| text.split_once('e')).map_or(0, |(mantissa, _)| mantissa.len());
    out.truncate(start + mantissa);
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(out, "e{sign}{:02}", exponent.abs());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repr(value: f64) -> String {
        let mut out = String::from("x");
        push_float(&mut out, value);
        out.split_off(1)
    }

    /// What CPython prints.
    #[test]
    fn as_python_writes_them() {
        for (value, wanted) in [
            (1.0, "1.0"),
            (0.25, "0.25"),
            (-0.0, "-0.0"),
            (1e-7, "1e-07"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (5e-324, "5e-324"),
            (123456789.123, "123456789.123"),
            (0.1f32.into(), "0.10000000149011612"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(repr(value), wanted);
        }
    }
}
