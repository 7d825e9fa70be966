//! Decimals as the nearest floats.

/// The greatest integer up to which every integer is a float.
const WHOLE: u128 = 1 << 53;

/// The powers of ten that are floats.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The float that is nearest to `value` / 10^`scale`.
pub(crate) fn nearest(value: i128, scale: i8) -> f64 {
    let power = usize::try_from(scale).ok().and_then(|scale| TENS.get(scale));
    match (value.unsigned_abs() <= WHOLE, power) {
        // Both are exact, so one division rounds once.
        #[expect(clippy::cast_precision_loss, reason = "it has 53 bits")]
        (true, Some(power)) => value as f64 / power,
        _ => format!("{value}e{}", -i16::from(scale)).parse().unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_float() {
        assert_eq!(nearest(12_345_678_901_234_567_899, 2).to_bits(), 123_456_789_012_345_678.99_f64.to_bits());
        assert_eq!(nearest(-15, 1).to_bits(), (-1.5_f64).to_bits());
        assert_eq!(nearest(1, -3).to_bits(), 1000.0_f64.to_bits());
        assert_eq!(nearest(i128::MAX, 38).to_bits(), 1.701_411_834_604_692_3_f64.to_bits());
    }
}
