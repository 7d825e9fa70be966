//! Values of all types in four domains that compare exactly.

use std::cmp::Ordering;

use super::Comparison;

/// A value of a column, a bound of a page, or a literal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Whole numbers, dates as days, timestamps as nanoseconds, truth values as 0 and 1.
    Int(i128),
    Float(f64),
    Bytes(Vec<u8>),
}

impl Value {
    /// The order of two values of comparable domains; nothing when one is NaN or the domains do not meet.
    pub(crate) fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
            (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
            (Value::Int(left), Value::Float(right)) => order_int_float(*left, *right),
            (Value::Float(left), Value::Int(right)) => order_int_float(*right, *left).map(Ordering::reverse),
            (Value::Bytes(left), Value::Bytes(right)) => Some(left.cmp(right)),
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
}
