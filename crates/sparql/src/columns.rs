//! Answers as columns of Arrow, for dataframes and for files of columns.
//!
//! SPARQL types terms, not columns. A variable whose terms are all of one kind gets the Arrow type of that kind; otherwise its
//! cells are terms in N-Triples syntax, so that nothing is mixed up: `<http://e/a>` is an IRI, `"a"` a text.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int64Array, RecordBatch,
    RecordBatchOptions, StringArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use isomorph::error::{Error, Result};
use isomorph::model::Literal;
use isomorph::storage::Budget;
use oxrdf::Term;

use crate::answer::{Solutions, Triples, push_term};

/// Metadata key of a field: what its cells are: `iri`, `term` (N-Triples syntax), or the IRI of a datatype.
pub const TERM: &str = "isomorph.term";

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// The datatypes that XML Schema derives from `integer` (part 2, section 3.4).
const INTEGERS: &[&str] = &[
    "integer",
    "long",
    "int",
    "short",
    "byte",
    "nonNegativeInteger",
    "nonPositiveInteger",
    "positiveInteger",
    "negativeInteger",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
];

/// Digits of a `Decimal128`.
const DIGITS: usize = 38;

/// All solutions as columns, one for each variable, in the order of the query. `as_terms` makes every cell a term in N-Triples
/// syntax; otherwise the terms of a column decide its type (see the README).
///
/// # Errors
/// Those of the evaluation; [`isomorph::Kind::TooLarge`] if the solutions do not fit into the budget.
pub fn solutions_as_columns(solutions: Solutions<'_>, as_terms: bool, budget: &Budget) -> Result<RecordBatch> {
    let names: Vec<String> = solutions.variables().iter().map(|variable| variable.as_str().to_owned()).collect();
    let mut columns: Vec<Vec<Option<Term>>> = names.iter().map(|_| Vec::new()).collect();
    let (mut held, mut rows) = (budget.reserve(0)?, 0);
    for solution in solutions {
        let solution = solution?;
        held.grow(
            solution.values().iter().map(|term| size_of::<Term>() as u64 + term.as_ref().map_or(0, bytes)).sum(),
        )?;
        for (column, term) in columns.iter_mut().zip(solution.values()) {
            column.push(term.clone());
        }
        rows += 1;
    }
    let mut fields = Vec::with_capacity(names.len());
    let mut arrays = Vec::with_capacity(names.len());
    for (name, terms) in names.into_iter().zip(columns) {
        let typed = if as_terms { None } else { typed(&terms) };
        let (kind, array) = typed.unwrap_or_else(|| ("term".to_owned(), spelled(&terms)));
        let field = Field::new(name, array.data_type().clone(), true);
        fields.push(field.with_metadata([(TERM.to_owned(), kind)].into()));
        arrays.push(array);
    }
    batch(fields, arrays, rows)
}

/// The triples of a graph as the columns `subject`, `predicate`, `object`: terms in N-Triples syntax.
///
/// # Errors
/// As [`solutions_as_columns`].
pub fn triples_as_columns(triples: Triples<'_>, budget: &Budget) -> Result<RecordBatch> {
    let mut columns: [Vec<String>; 3] = Default::default();
    let mut held = budget.reserve(0)?;
    for triple in triples {
        let triple = triple?;
        let cells = [triple.subject.into(), triple.predicate.into(), triple.object].map(|term: Term| text(&term));
        held.grow(cells.iter().map(|cell| (size_of::<String>() + cell.len()) as u64).sum())?;
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }
    let rows = columns[0].len();
    let kind = || [(TERM.to_owned(), "term".to_owned())].into();
    let field = |name| Field::new(name, DataType::Utf8, false).with_metadata(kind());
    let fields = ["subject", "predicate", "object"].map(field).to_vec();
    let arrays = columns.map(|column| Arc::new(StringArray::from_iter_values(column)) as ArrayRef).to_vec();
    batch(fields, arrays, rows)
}

fn batch(fields: Vec<Field>, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let broken = |error: ArrowError| Error::malformed(error.to_string()).caused_by(error);
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).map_err(broken)
}

/// Bytes that a term takes beside itself.
fn bytes(term: &Term) -> u64 {
    let length = match term {
        Term::NamedNode(iri) => iri.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len() + literal.datatype().as_str().len(),
        Term::Triple(triple) => {
            let all = [triple.subject.clone().into(), triple.predicate.clone().into(), triple.object.clone()];
            return all.iter().map(|term: &Term| size_of::<Term>() as u64 + bytes(term)).sum();
        }
    };
    length as u64
}

fn text(term: &Term) -> String {
    let mut text = String::new();
    push_term(&mut text, term);
    text
}

fn spelled(terms: &[Option<Term>]) -> ArrayRef {
    Arc::new(terms.iter().map(|term| term.as_ref().map(text)).collect::<StringArray>())
}

/// The values of a column whose terms are all of one kind, and the kind; `None` if they are not, or if one has no value of
/// that kind: an ill-typed literal, a number that is too large.
fn typed(terms: &[Option<Term>]) -> Option<(String, ArrayRef)> {
    let mut bound = terms.iter().flatten();
    let Some(first) = bound.next() else { return Some(("term".to_owned(), spelled(terms))) };
    if matches!(first, Term::NamedNode(_)) {
        let iri = |term: &Term| match term {
            Term::NamedNode(iri) => Some(iri.as_str().to_owned()),
            _ => None,
        };
        let iris: Vec<Option<String>> = every(terms, iri)?;
        return Some(("iri".to_owned(), Arc::new(StringArray::from(iris))));
    }
    let Term::Literal(first) = first else { return None };
    let datatype = first.datatype().as_str();
    let short = datatype.strip_prefix(XSD)?;
    let is_integer = |datatype: &str| datatype.strip_prefix(XSD).is_some_and(|short| INTEGERS.contains(&short));
    let same = |other: &str| other == datatype || is_integer(datatype) && is_integer(other);
    let literal = |term: &Term| match term {
        Term::Literal(literal) if same(literal.datatype().as_str()) => Some(literal.value().to_owned()),
        _ => None,
    };
    let texts: Vec<Option<String>> = every(terms, literal)?;
    let array: ArrayRef = match short {
        "string" => Arc::new(StringArray::from(texts)),
        "boolean" => Arc::new(BooleanArray::from(every(&texts, |text| match text.as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        })?)),
        "double" => Arc::new(Float64Array::from(every(&texts, |text| float(text)?.parse().ok())?)),
        "float" => Arc::new(Float32Array::from(every(&texts, |text| float(text)?.parse().ok())?)),
        "decimal" => decimals(&texts)?,
        "date" => Arc::new(Date32Array::from(every(&texts, |text| match Literal::date(text)? {
            Literal::Date(days) if text.len() == 10 => Some(days),
            _ => None,
        })?)),
        "dateTime" => {
            let is_whole = |text: &str| text.as_bytes().get(10) == Some(&b'T') && text.len() >= 19;
            let moment = |text: &String| Literal::timestamp(text).filter(|_| is_whole(text));
            if let Some(local) = every(&texts, |text| match moment(text)? {
                Literal::Timestamp(nanoseconds) => microseconds(nanoseconds),
                _ => None,
            }) {
                Arc::new(TimestampMicrosecondArray::from(local))
            } else {
                let instants = every(&texts, |text| match moment(text)? {
                    Literal::Instant(nanoseconds) => microseconds(nanoseconds),
                    _ => None,
                })?;
                Arc::new(TimestampMicrosecondArray::from(instants).with_timezone("UTC"))
            }
        }
        _ if is_integer(datatype) => match every(&texts, |text| text.parse().ok()) {
            Some(signed) => Arc::new(Int64Array::from(signed)),
            None => Arc::new(UInt64Array::from(every(&texts, |text| text.parse().ok())?)),
        },
        _ => return None,
    };
    Some((if is_integer(datatype) { format!("{XSD}integer") } else { datatype.to_owned() }, array))
}

/// The value of every cell that is bound; `None` if one has none.
fn every<T, U>(cells: &[Option<T>], value: impl Fn(&T) -> Option<U>) -> Option<Vec<Option<U>>> {
    cells.iter().map(|cell| cell.as_ref().map_or(Some(None), |cell| value(cell).map(Some))).collect()
}

/// A lexical form of `double` or `float` (XML Schema part 2, section 3.3.5), as Rust reads it.
fn float(text: &str) -> Option<&str> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    (is_number || matches!(text, "INF" | "+INF" | "-INF" | "NaN")).then_some(text)
}

fn microseconds(nanoseconds: i128) -> Option<i64> {
    if nanoseconds % 1000 == 0 { i64::try_from(nanoseconds / 1000).ok() } else { None }
}

/// Decimals with the digits that all of them need.
fn decimals(texts: &[Option<String>]) -> Option<ArrayRef> {
    let parts = every(texts, |text| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + part.len() == 0 || !are_digits(whole) || !are_digits(part) {
            return None;
        }
        let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
        Some((text.starts_with('-'), whole.to_owned(), part.to_owned()))
    })?;
    let most = |length: fn(&(bool, String, String)) -> usize| parts.iter().flatten().map(length).max().unwrap_or(0);
    let (whole, scale) = (most(|(_, whole, _)| whole.len()), most(|(_, _, part)| part.len()));
    let digits = (whole + scale).max(1);
    if digits > DIGITS {
        return None;
    }
    let values = every(&parts, |(is_negative, whole, part)| {
        let value: i128 = format!("0{whole}{part:0<scale$}").parse().ok()?;
        Some(if *is_negative { -value } else { value })
    })?;
    let (precision, scale) = (u8::try_from(digits).ok()?, i8::try_from(scale).ok()?);
    Some(Arc::new(Decimal128Array::from(values).with_precision_and_scale(precision, scale).ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use oxrdf::{Literal as Rdf, NamedNode};

    fn literal(value: &str, datatype: &str) -> Option<Term> {
        Some(Rdf::new_typed_literal(value, NamedNode::new_unchecked(format!("{XSD}{datatype}"))).into())
    }

    fn type_of(terms: &[Option<Term>]) -> Option<DataType> {
        typed(terms).map(|(_, array)| array.data_type().clone())
    }

    #[test]
    fn a_column_has_the_type_of_its_terms() {
        let iri = || Some(Term::from(NamedNode::new_unchecked("http://e/a")));
        assert_eq!(type_of(&[iri(), None]), Some(DataType::Utf8));
        assert_eq!(type_of(&[literal("1", "integer"), None, literal("-7", "int")]), Some(DataType::Int64));
        assert_eq!(type_of(&[literal("18446744073709551615", "integer")]), Some(DataType::UInt64));
        assert_eq!(type_of(&[literal("1.50", "decimal"), literal("-20", "decimal")]), Some(DataType::Decimal128(3, 1)));
        assert_eq!(type_of(&[literal("2024-02-29", "date")]), Some(DataType::Date32));
        for (mixed, why) in [
            ([iri(), literal("a", "string")], "an IRI and a text"),
            ([literal("1", "integer"), literal("1", "double")], "exact and inexact numbers"),
            ([literal("1", "integer"), literal("-18446744073709551615", "integer")], "too small"),
            ([literal("2024-01-01T00:00:00", "dateTime"), literal("2024-01-01T00:00:00Z", "dateTime")], "one zone"),
            ([literal("x", "boolean"), None], "ill-typed"),
            ([literal("infinity", "double"), None], "not a form of XML Schema"),
            ([literal("2024-1-1", "date"), None], "not a form of XML Schema"),
        ] {
            assert_eq!(type_of(&mixed), None, "{why}");
        }
    }

    #[test]
    fn decimals_keep_their_value() {
        let cells = ["1.50", "-0.125", "+3", ".5", "000"].map(|text| Some(text.to_owned()));
        let array = decimals(&cells).unwrap();
        let array = array.as_any().downcast_ref::<Decimal128Array>().unwrap();
        assert_eq!(array.values().as_ref(), [1500, -125, 3000, 500, 0]);
        assert!(decimals(&[Some("1e5".into())]).is_none() && decimals(&[Some(".".into())]).is_none());
        assert!(decimals(&[Some("1".repeat(39))]).is_none());
    }
}
