//! The order of terms: of ORDER BY, MIN and MAX, as `spareval` has it.
//!
//! Blank nodes come before IRIs, these before literals. Numbers are compared by value, also those of different types; moments as well.
//! Other literals are compared by their texts, then by datatype and language. What does not follow from these rules is not compared
//! here: `spareval` then evaluates the query.

use std::cmp::Ordering;

use oxrdf::vocab::{rdf, xsd};
use spareval::ExpressionTerm;

use crate::exact::Exact;
use crate::sums::Number;

/// The datatype of texts with a language and a direction (RDF 1.2).
const DIRECTED: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// What a text is compared by: itself, its datatype, its language.
pub(super) type Text<'t> = (&'t str, &'t str, Option<&'t str>);

/// A literal that is compared as a text.
pub(super) fn text(term: &ExpressionTerm) -> Option<Text<'_>> {
    Some(match term {
        ExpressionTerm::StringLiteral(value) => (value, xsd::STRING.as_str(), None),
        ExpressionTerm::LangStringLiteral { value, language } => {
            (value, rdf::LANG_STRING.as_str(), Some(language.as_str()))
        }
        ExpressionTerm::DirLangStringLiteral { value, language, .. } => (value, DIRECTED, Some(language.as_str())),
        ExpressionTerm::OtherTypedLiteral { value, datatype } if Exact::of_value(term).is_none() => {
            (value, datatype.as_str(), None)
        }
        ExpressionTerm::BooleanLiteral(value) => {
            (if bool::from(*value) { "true" } else { "false" }, xsd::BOOLEAN.as_str(), None)
        }
        _ => return None,
    })
}

/// What values can be sorted with one another: two terms of one kind are always comparable, and the order is total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SortKind {
    /// Blank nodes and IRIs: comparable with everything.
    Resource,
    Text,
    /// Integers and decimals.
    Exact,
    Float,
    Double,
    ZonedMoment,
    LocalMoment,
}

/// The kind of a term; `None` if it is sorted by other rules.
pub(super) fn sort_kind(term: &ExpressionTerm) -> Option<SortKind> {
    Some(match term {
        ExpressionTerm::NamedNode(_) | ExpressionTerm::BlankNode(_) => SortKind::Resource,
        exact if Exact::of_value(exact).is_some() => SortKind::Exact,
        ExpressionTerm::FloatLiteral(value) if value.partial_cmp(value).is_some() => SortKind::Float,
        ExpressionTerm::DoubleLiteral(value) if value.partial_cmp(value).is_some() => SortKind::Double,
        ExpressionTerm::DateTimeLiteral(value) => match value.timezone_offset() {
            Some(_) => SortKind::ZonedMoment,
            None => SortKind::LocalMoment,
        },
        other => {
            text(other)?;
            SortKind::Text
        }
    })
}

/// The order of two terms; `None` if other rules apply.
pub(super) fn compare(left: &ExpressionTerm, right: &ExpressionTerm) -> Option<Ordering> {
    use ExpressionTerm::{BlankNode, NamedNode, Triple};
    let rank = |term: &ExpressionTerm| match term {
        BlankNode(_) => 0,
        NamedNode(_) => 1,
        Triple(_) => 3,
        _ => 2,
    };
    match (left, right) {
        (BlankNode(left), BlankNode(right)) => Some(left.as_str().cmp(right.as_str())),
        (NamedNode(left), NamedNode(right)) => Some(left.as_str().cmp(right.as_str())),
        (Triple(_), Triple(_)) => None,
        _ if rank(left) != rank(right) => Some(rank(left).cmp(&rank(right))),
        _ => match (text(left), text(right)) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => values(left, right),
        },
    }
}

/// The order of numbers and moments.
fn values(left: &ExpressionTerm, right: &ExpressionTerm) -> Option<Ordering> {
    match (left, right) {
        (ExpressionTerm::DateTimeLiteral(left), ExpressionTerm::DateTimeLiteral(right)) => left.partial_cmp(right),
        _ => Number::of_value(left)?.compare(Number::of_value(right)?),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use oxrdf::{BlankNode, Literal, NamedNode, Term};

    fn typed(value: &str, datatype: &str) -> ExpressionTerm {
        let datatype = NamedNode::new_unchecked(format!("http://www.w3.org/2001/XMLSchema#{datatype}"));
        Term::from(Literal::new_typed_literal(value, datatype)).into()
    }

    #[test]
    fn terms_are_ordered_as_in_the_specification() {
        let ascending: [Vec<ExpressionTerm>; 3] = [
            vec![
                Term::from(BlankNode::new_unchecked("b")).into(),
                Term::from(NamedNode::new_unchecked("urn:a")).into(),
                Term::from(Literal::new_simple_literal("a")).into(),
                Term::from(Literal::new_language_tagged_literal_unchecked("b", "en")).into(),
                Term::from(Literal::new_simple_literal("b")).into(),
            ],
            vec![
                typed("-1", "integer"),
                typed("0.5", "decimal"),
                typed("1", "integer"),
                typed("1.5", "float"),
                typed("1e1", "double"),
                typed("11", "integer"),
            ],
            vec![typed("2020-01-01T00:00:00Z", "dateTime"), typed("2020-01-01T00:00:00-01:00", "dateTime")],
        ];
        for terms in &ascending {
            for (at, left) in terms.iter().enumerate() {
                for (other, right) in terms.iter().enumerate() {
                    assert_eq!(compare(left, right), Some(at.cmp(&other)), "{} {}", at, other);
                }
            }
        }
        assert_eq!(compare(&typed("1", "integer"), &typed("1.0", "decimal")), Some(Ordering::Equal));
        assert_eq!(compare(&typed("1", "integer"), &typed("a", "string")), None);
        assert_eq!(compare(&typed("NaN", "double"), &typed("1", "double")), None);
        assert!(sort_kind(&typed("NaN", "double")).is_none() && sort_kind(&typed("2020-01-01", "date")).is_none());
    }
}
