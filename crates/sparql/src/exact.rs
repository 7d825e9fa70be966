//! Integers and decimals, exact: 38 digits before the point and 18 behind it. The evaluator's integers have 64 bits, and its decimals 20 digits before the
//! point; numbers beyond that are texts with a datatype to it.

use std::cmp::Ordering;

use arrow_array::types::{ArrowPrimitiveType, Decimal256Type};
use oxrdf::NamedNode;
use oxrdf::vocab::xsd;
use spareval::ExpressionTerm;

/// The parts of one: decimals have 18 digits after the point.
pub(crate) const PARTS: i128 = 1_000_000_000_000_000_000;
const DIGITS: usize = 18;

/// An integer of 256 bits, which has room for the product of two numbers.
type Wide = <Decimal256Type as ArrowPrimitiveType>::Native;

const WIDE_PARTS: Wide = Wide::from_i128(PARTS);

/// `xsd:integer` and what is derived from it.
const INTEGERS: [&str; 13] = [
    "integer",
    "byte",
    "short",
    "int",
    "long",
    "unsignedByte",
    "unsignedShort",
    "unsignedInt",
    "unsignedLong",
    "positiveInteger",
    "negativeInteger",
    "nonPositiveInteger",
    "nonNegativeInteger",
];

/// An integer or a decimal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact {
    whole: i128,
    /// What is behind the point, in parts of one, with the same sign.
    parts: i128,
    is_integer: bool,
}

impl Exact {
    /// An integer.
    pub(crate) fn integer(whole: i128) -> Self {
        Exact { whole, parts: 0, is_integer: true }
    }

    /// The number that a literal is. `None` also for more digits than there is room for.
    pub(crate) fn of(value: &str, datatype: &str) -> Option<Self> {
        let name = datatype.strip_prefix("http://www.w3.org/2001/XMLSchema#")?;
        if name == "decimal" {
            return decimal(value);
        }
        let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && INTEGERS.contains(&name) { value.parse().ok().map(Exact::integer) } else { None }
    }

    /// The number that a value is, unless it is a float.
    pub(crate) fn of_value(value: &ExpressionTerm) -> Option<Self> {
        match value {
            ExpressionTerm::IntegerLiteral(value) => Some(Exact::integer(i64::from(*value).into())),
            ExpressionTerm::DecimalLiteral(value) => {
                let value = i128::from_be_bytes(value.to_be_bytes());
                Some(Exact { whole: value / PARTS, parts: value % PARTS, is_integer: false })
            }
            ExpressionTerm::OtherTypedLiteral { value, datatype } => Exact::of(value, datatype.as_str()),
            _ => None,
        }
    }

    /// The whole part, and what is behind the point.
    pub(crate) fn split(self) -> (i128, i128) {
        (self.whole, self.parts)
    }

    pub(crate) fn is_integer(self) -> bool {
        self.is_integer
    }

    /// The number as a value: a text where the evaluator has no such number.
    pub(crate) fn value(self) -> ExpressionTerm {
        let own = i64::try_from(self.whole).ok().filter(|_| self.is_integer);
        match own {
            Some(value) => ExpressionTerm::IntegerLiteral(value.into()),
            None => {
                let datatype: NamedNode = if self.is_integer { xsd::INTEGER } else { xsd::DECIMAL }.into();
                literal(self.to_string(), datatype)
            }
        }
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        (self.whole, self.parts).cmp(&(other.whole, other.parts))
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        narrow(self.wide().checked_add(other.wide())?, self.is_integer && other.is_integer)
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        narrow(self.wide().checked_sub(other.wide())?, self.is_integer && other.is_integer)
    }

    /// Without the digits after the eighteenth behind the point.
    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let product = self.wide().checked_mul(other.wide())?.checked_div(WIDE_PARTS)?;
        narrow(product, self.is_integer && other.is_integer)
    }

    /// A decimal, without the digits after the eighteenth behind the point. `None` for a division by zero.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        narrow(self.wide().checked_mul(WIDE_PARTS)?.checked_div(other.wide())?, false)
    }

    pub(crate) fn negated(self) -> Option<Self> {
        Some(Exact { whole: self.whole.checked_neg()?, parts: -self.parts, ..self })
    }

    pub(crate) fn absolute(self) -> Option<Self> {
        if self.whole < 0 || self.parts < 0 { self.negated() } else { Some(self) }
    }

    /// The greatest whole number that is not greater.
    pub(crate) fn floor(self) -> Option<Self> {
        Some(Exact { whole: self.whole.checked_sub(i128::from(self.parts < 0))?, parts: 0, ..self })
    }

    /// The least whole number that is not less.
    pub(crate) fn ceiling(self) -> Option<Self> {
        Some(Exact { whole: self.whole.checked_add(i128::from(self.parts > 0))?, parts: 0, ..self })
    }

    /// The nearest whole number; of two, the greater one.
    pub(crate) fn rounded(self) -> Option<Self> {
        let half = PARTS / 2;
        let more = i128::from(self.parts >= half) - i128::from(self.parts < -half);
        Some(Exact { whole: self.whole.checked_add(more)?, parts: 0, ..self })
    }

    /// Its whole part, as an integer.
    pub(crate) fn cut(self) -> Self {
        Exact::integer(self.whole)
    }

    /// The same as a decimal.
    pub(crate) fn as_decimal(self) -> Self {
        Exact { is_integer: false, ..self }
    }

    pub(crate) fn is_zero(self) -> bool {
        (self.whole, self.parts) == (0, 0)
    }

    /// The nearest float.
    pub(crate) fn float(self) -> f32 {
        self.to_string().parse().unwrap_or(f32::NAN)
    }

    /// The nearest double.
    pub(crate) fn double(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    fn wide(self) -> Wide {
        // 38 and 18 digits have room.
        Wide::from_i128(self.whole).wrapping_mul(WIDE_PARTS).wrapping_add(Wide::from_i128(self.parts))
    }
}

/// A literal as a value.
fn literal(value: String, datatype: NamedNode) -> ExpressionTerm {
    oxrdf::Term::from(oxrdf::Literal::new_typed_literal(value, datatype)).into()
}

fn narrow(value: Wide, is_integer: bool) -> Option<Exact> {
    let (whole, parts) = (value.checked_div(WIDE_PARTS)?.to_i128()?, value.checked_rem(WIDE_PARTS)?.to_i128()?);
    Some(Exact { whole, parts, is_integer })
}

fn decimal(value: &str) -> Option<Exact> {
    let (sign, digits) = match value.as_bytes().first()? {
        b'-' => (-1, value.get(1..)?),
        b'+' => (1, value.get(1..)?),
        _ => (1, value),
    };
    let (whole, parts) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && parts.is_empty() || !are_digits(whole) || !are_digits(parts) {
        return None;
    }
    let parts = parts.trim_end_matches('0');
    let missing = u32::try_from(DIGITS.checked_sub(parts.len())?).ok()?;
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i128>().ok() };
    let parts = number(parts)?.checked_mul(10_i128.checked_pow(missing)?)?;
    Some(Exact { whole: sign * number(whole)?, parts: sign * parts, is_integer: false })
}

impl std::fmt::Display for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.whole < 0 || self.parts < 0 { "-" } else { "" };
        write!(f, "{sign}{}", self.whole.unsigned_abs())?;
        if self.parts == 0 {
            return Ok(());
        }
        let parts = format!("{:018}", self.parts.unsigned_abs());
        write!(f, ".{}", parts.trim_end_matches('0'))
    }
}

impl From<(i128, i128)> for Exact {
    /// A decimal of a whole part and of parts of one with the same sign.
    fn from((whole, parts): (i128, i128)) -> Self {
        Exact { whole, parts, is_integer: false }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(text: &str) -> Exact {
        let name = if text.contains('.') { "decimal" } else { "integer" };
        Exact::of(text, &format!("http://www.w3.org/2001/XMLSchema#{name}")).unwrap()
    }

    #[test]
    fn numbers_are_read_and_written() {
        for (text, back) in [
            ("07", "7"),
            ("+18446744073709551616", "18446744073709551616"),
            ("-0.50", "-0.5"),
            (".5", "0.5"),
            ("1.", "1"),
            (
                "-99999999999999999999999999999999999999.000000000000000001",
                "-99999999999999999999999999999999999999.000000000000000001",
            ),
        ] {
            assert_eq!(of(text).to_string(), back, "{text}");
        }
        let decimal = |text| Exact::of(text, "http://www.w3.org/2001/XMLSchema#decimal").is_some();
        assert!(!["", ".", "+.", "1e3", "0.0000000000000000001", "--1"].iter().any(|text| decimal(text)));
        assert!(Exact::of("1.0", "http://www.w3.org/2001/XMLSchema#integer").is_none());
        assert!(Exact::of("1", "http://www.w3.org/2001/XMLSchema#string").is_none());
        assert!(Exact::of(&"9".repeat(40), "http://www.w3.org/2001/XMLSchema#integer").is_none());
    }

    #[test]
    fn arithmetic_is_exact() {
        let text = |number: Option<Exact>| number.map(|number| number.to_string());
        let known = |text: &str| Some(text.to_owned());
        let (most, one) = (of("9223372036854775807"), of("1"));
        assert_eq!(text(most.plus(one)), known("9223372036854775808"));
        assert_eq!(text(most.times(most)), known("85070591730234615847396907784232501249"));
        assert_eq!(text(most.times(most).unwrap().times(of("3"))), None);
        assert_eq!(text(of("-0.5").plus(of("2"))), known("1.5"));
        assert_eq!(text(of("0.5").minus(of("2"))), known("-1.5"));
        assert_eq!(text(one.over(of("3"))), known("0.333333333333333333"));
        assert_eq!(text(one.over(of("0.0"))), None);
        assert_eq!(text(of("0.1111111111").times(of("0.1111111111"))), known("0.012345679009876543"));
        assert_eq!(text(of("-0.5").rounded()), known("0"));
        assert_eq!(text(of("2.5").rounded()), known("3"));
        assert_eq!(
            [of("-1.5").floor(), of("-1.5").ceiling(), of("-1.5").absolute()].map(text),
            [known("-2"), known("-1"), known("1.5")]
        );
        assert!(of("18446744073709551616").compare(of("18446744073709551615.999")).is_gt());
    }
}
