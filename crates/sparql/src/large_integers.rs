//! Integers beyond 64 bits. The evaluator has none; it calculates with them as decimals, which have 38 digits, 18 of them behind the point.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use spareval::ExpressionTerm;

/// A literal as a value.
pub(crate) fn read(literal: Literal) -> ExpressionTerm {
    let is_large = is_integer(literal.datatype().as_str()) && literal.value().parse::<i64>().is_err();
    if is_large && is_number(literal.value()) {
        let decimal = Term::from(Literal::new_typed_literal(literal.value(), xsd::DECIMAL)).into();
        if matches!(decimal, ExpressionTerm::DecimalLiteral(_)) {
            return decimal;
        }
    }
    Term::from(literal).into()
}

/// A value as a term: a decimal that is an integer beyond 64 bits is one.
pub(crate) fn written(value: ExpressionTerm) -> Term {
    let is_decimal = matches!(value, ExpressionTerm::DecimalLiteral(_));
    match value.into() {
        Term::Literal(literal)
            if is_decimal && is_number(literal.value()) && literal.value().parse::<i64>().is_err() =>
        {
            Literal::new_typed_literal(literal.value(), xsd::INTEGER).into()
        }
        term => term,
    }
}

/// Whether a text is digits after at most one sign.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `xsd:integer` and what is derived from it, as far as values may exceed 64 bits.
fn is_integer(datatype: &str) -> bool {
    let name = datatype.strip_prefix("http://www.w3.org/2001/XMLSchema#");
    matches!(
        name,
        Some(
            "integer"
                | "nonNegativeInteger"
                | "positiveInteger"
                | "nonPositiveInteger"
                | "negativeInteger"
                | "unsignedLong"
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(text: &str) -> String {
        written(read(Literal::new_typed_literal(text, xsd::INTEGER))).to_string()
    }

    #[test]
    fn integers_beyond_64_bits_are_numbers() {
        let integer = "^^<http://www.w3.org/2001/XMLSchema#integer>";
        assert_eq!(back("18446744073709551615"), format!("\"18446744073709551615\"{integer}"));
        assert_eq!(back("-9223372036854775809"), format!("\"-9223372036854775809\"{integer}"));
        assert_eq!(back("07"), format!("\"7\"{integer}"));
        let is_decimal = |text: &str| {
            matches!(read(Literal::new_typed_literal(text, xsd::INTEGER)), ExpressionTerm::DecimalLiteral(_))
        };
        assert!(is_decimal("100000000000000000000") && !is_decimal("9223372036854775807"));
        // Beyond decimals, and no integers.
        assert!(!is_decimal(&"9".repeat(40)) && !is_decimal("1.5") && !is_decimal("x"));
    }
}
