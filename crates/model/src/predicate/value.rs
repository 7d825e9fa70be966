//! Values of all types in a few domains that compare exactly.

use std::cmp::Ordering;

use arrow_buffer::i256;

use super::Comparison;

/// A value of a column, a bound of a page, or a literal.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Whole numbers, dates as days, timestamps as nanoseconds, truth values as 0 and 1.
    Int(i128),
    /// Floating-point numbers.
    Float(f64),
    /// Text and bytes.
    Bytes(Vec<u8>),
    /// What columns of decimals are compared with.
    Decimal(Decimal),
}

/// An exact decimal number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decimal {
    digits: i256,
    /// Digits behind the point; below zero, zeros before it.
    scale: i32,
}

impl Decimal {
    /// The number `digits` · 10^-`scale`.
    pub(super) fn new(digits: i256, scale: i8) -> Self {
        Decimal { digits, scale: scale.into() }
    }

    /// A whole number.
    pub(super) fn whole(number: i128) -> Self {
        Decimal { digits: i256::from_i128(number), scale: 0 }
    }

    /// The number that a text is: `-12.50`, `1e3`. Nothing when it is none, or has more digits than any decimal.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{fraction}");
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let is_digits = digits.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit());
        let is_number =
            is_digits && digits.bytes().any(|byte| byte.is_ascii_digit()) && !fraction.starts_with(['-', '+']);
        let digits = digits.strip_prefix('+').unwrap_or(&digits);
        Some(Decimal { digits: i256::from_string(digits).filter(|_| is_number)?, scale })
    }

    /// The exact order of two numbers.
    pub(super) fn order(self, other: Decimal) -> Ordering {
        let (mut left, mut right) = (self, other);
        let sign = |number: Decimal| number.digits.cmp(&i256::ZERO);
        if sign(left) != sign(right) || sign(left).is_eq() {
            return sign(left).cmp(&sign(right));
        }
        // The one with fewer digits behind the point gets zeros; where these have no room it is the larger by far.
        while left.scale != right.scale {
            let (shorter, is_left) = if left.scale < right.scale { (&mut left, true) } else { (&mut right, false) };
            match shorter.digits.checked_mul(i256::from_i128(10)) {
                Some(digits) => *shorter = Decimal { digits, scale: shorter.scale + 1 },
                None => {
                    let far = sign(*shorter);
                    return if is_left { far } else { far.reverse() };
                }
            }
        }
        left.digits.cmp(&right.digits)
    }
}

impl Value {
    /// The order of two values of comparable domains; nothing when one is NaN or the domains do not meet.
    pub fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
            (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
            (Value::Int(left), Value::Float(right)) => order_int_float(*left, *right),
            (Value::Float(left), Value::Int(right)) => order_int_float(*right, *left).map(Ordering::reverse),
            (Value::Bytes(left), Value::Bytes(right)) => Some(left.cmp(right)),
            (Value::Decimal(left), Value::Decimal(right)) => Some(left.order(*right)),
            (Value::Int(left), Value::Decimal(right)) => Some(Decimal::whole(*left).order(*right)),
            (Value::Decimal(left), Value::Int(right)) => Some(left.order(Decimal::whole(*right))),
            _ => None,
        }
    }
}

/// The exact order of a whole and a floating-point number.
pub(super) fn order_int_float(left: i128, right: f64) -> Option<Ordering> {
    const BEYOND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0; // 2^127
    if right.is_nan() {
        return None;
    }
    if right >= BEYOND {
        return Some(Ordering::Less);
    }
    if right < -BEYOND {
        return Some(Ordering::Greater);
    }
    let whole = right.trunc();
    #[expect(clippy::cast_possible_truncation, reason = "between -2^127 and 2^127")]
    let exact = whole as i128;
    Some(left.cmp(&exact).then_with(|| 0.0f64.partial_cmp(&(right - whole)).unwrap_or(Ordering::Equal)))
}

impl Comparison {
    /// Whether values in this order pass. Without an order (NaN) only `!=` does.
    pub(super) fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::NotEqual => order != Some(Ordering::Equal),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn whole_and_floating_numbers_compare_exactly() {
        let order = |left, right| Value::Int(left).order(&Value::Float(right));
        assert_eq!(order(2, 2.5), Some(Ordering::Less));
        assert_eq!(order(3, 2.5), Some(Ordering::Greater));
        assert_eq!(order(-2, -2.5), Some(Ordering::Greater));
        assert_eq!(order(2, 2.0), Some(Ordering::Equal));
        assert_eq!(order((1 << 53) + 1, 9_007_199_254_740_992.0), Some(Ordering::Greater));
        assert_eq!(order(i128::MAX, f64::INFINITY), Some(Ordering::Less));
        assert_eq!(order(0, f64::NAN), None);
        assert_eq!(Value::Float(2.5).order(&Value::Int(2)), Some(Ordering::Greater));
    }

    #[test]
    fn decimals_compare_exactly() {
        let decimal = |text: &str| Decimal::parse(text).unwrap();
        let ascending = [
            "-1e40",
            "-12.51",
            "-12.5",
            "-0.001",
            "0",
            "0.1",
            "0.10000000000000000001",
            "1",
            "12.5",
            "99",
            "1e2",
            "1e300",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (near, right) in ascending.iter().enumerate() {
                assert_eq!(decimal(left).order(decimal(right)), at.cmp(&near), "{left} {right}");
            }
        }
        assert_eq!(decimal("+1.50").order(decimal("15e-1")), Ordering::Equal);
        assert_eq!(decimal("-0.0").order(decimal("0e9")), Ordering::Equal);
        for text in ["", "-", ".", "1.-5", "1..2", "--1", "NaN", "inf", "1e", "0x1", "1_0"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
