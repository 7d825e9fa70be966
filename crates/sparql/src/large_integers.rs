//! Integers beyond 64 bits. The evaluator has none; it calculates with them as decimals, which have 38 digits, 18 of them behind the point.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use spareval::ExpressionTerm;
use spargebra::algebra::Expression;

/// Constants that an expression compares or calculates with, as decimals. As terms, they stay what they are.
pub(crate) fn constants(expression: &mut Expression) {
    let operands: Vec<&mut Expression> = match expression {
        Expression::Equal(left, right)
        | Expression::Greater(left, right)
        | Expression::GreaterOrEqual(left, right)
        | Expression::Less(left, right)
        | Expression::LessOrEqual(left, right)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right)
        | Expression::Multiply(left, right)
        | Expression::Divide(left, right) => vec![left, right],
        Expression::In(value, list) => std::iter::once(&mut **value).chain(list).collect(),
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) => vec![inner],
        _ => Vec::new(),
    };
    for operand in operands {
        if let Expression::Literal(literal) = operand
            && is_large(literal)
        {
            *literal = Literal::new_typed_literal(literal.value(), xsd::DECIMAL);
        }
    }
}

/// Whether a literal is an integer beyond 64 bits.
pub(crate) fn is_large(literal: &Literal) -> bool {
    is_integer(literal.datatype().as_str()) && literal.value().parse::<i64>().is_err() && is_number(literal.value())
}

/// A literal as a value.
pub(crate) fn read(literal: Literal) -> ExpressionTerm {
    if is_large(&literal) {
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
