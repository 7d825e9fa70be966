//! What a scan reads, as text that travels between processes.

use std::sync::Arc;

use arrow_array::StringArray;
use isomorph::error::Place;
use isomorph::model::{Comparison, Literal, Set};
use isomorph::{Error, Predicate, Result};
use isomorph_cypher::{Value as CypherValue, value_of_bytes, value_to_bytes};
use serde::{Deserialize, Serialize};

use super::scan::TableScan;
use crate::tables::parts::{Pattern, Wanted};

/// A [`TableScan`] as it is written. Numbers of more than 64 bits and floats are texts, so that no digit is lost.
#[derive(Debug, Serialize, Deserialize)]
struct Message {
    table: String,
    columns: Vec<usize>,
    filter: Option<Condition>,
    limit: Option<usize>,
    parts: usize,
    partitions: usize,
    rows: Option<usize>,
    pattern: Option<PatternMessage>,
}

/// A [`Pattern`] as it is written.
#[derive(Debug, Serialize, Deserialize)]
struct PatternMessage {
    text: String,
    parameters: Vec<u8>,
    line: Option<u64>,
    field: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Condition {
    Compare { column: String, comparison: String, literal: Value },
    Like { column: String, pattern: String },
    Has { column: String, literal: Value },
    Ints { column: String, values: Vec<String> },
    Texts { column: String, values: Vec<String> },
    IsNull(String),
    IsNotNull(String),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Value {
    Bool(bool),
    Int(String),
    /// The bits of a float.
    Float(u64),
    Number(String),
    Text(String),
    Date(i32),
    Timestamp(String),
    Instant(String),
}

const COMPARISONS: [(Comparison, &str); 6] = [
    (Comparison::Equal, "="),
    (Comparison::NotEqual, "!="),
    (Comparison::Less, "<"),
    (Comparison::LessOrEqual, "<="),
    (Comparison::Greater, ">"),
    (Comparison::GreaterOrEqual, ">="),
];

/// The scan as text.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for a condition that cannot be written.
pub(super) fn written(scan: &TableScan) -> Result<String> {
    let Wanted { columns, filter, limit, .. } = &scan.wanted;
    let message = Message {
        table: scan.table.clone(),
        columns: columns.clone(),
        filter: filter.as_ref().map(condition).transpose()?,
        limit: *limit,
        parts: scan.parts,
        partitions: scan.partitions,
        rows: scan.rows,
        pattern: scan.pattern.as_ref().map(pattern).transpose()?,
    };
    serde_json::to_string(&message).map_err(|error| Error::unsupported(error.to_string()).caused_by(error))
}

/// The scan of a text.
///
/// # Errors
/// [`isomorph::Kind::Malformed`] if it is none.
pub(super) fn read(text: &str) -> Result<TableScan> {
    let message: Message = serde_json::from_str(text).map_err(|error| broken(&error.to_string()).caused_by(error))?;
    let Message { table, columns, filter, limit, parts, partitions, rows, pattern } = message;
    let pattern = pattern.map(pattern_of).transpose()?;
    let filter = filter.map(predicate).transpose()?;
    let wanted = Wanted { columns, filter, limit, is_divided: true, ..Wanted::default() };
    Ok(TableScan { table, wanted, parts, partitions, rows, pattern })
}

fn pattern(pattern: &Pattern) -> Result<PatternMessage> {
    let parameters = pattern.parameters.iter().map(|(name, value)| (Arc::from(name.as_str()), value.clone()));
    Ok(PatternMessage {
        text: pattern.text.to_string(),
        parameters: value_to_bytes(&CypherValue::Map(Arc::new(parameters.collect())))?,
        line: pattern.place.line,
        field: pattern.place.field.clone(),
    })
}

fn pattern_of(message: PatternMessage) -> Result<Pattern> {
    let PatternMessage { text, parameters, line, field } = message;
    let CypherValue::Map(parameters) = value_of_bytes(&parameters)? else { return Err(broken("parameters")) };
    let parameters = parameters.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    let place = Place { line, field, ..Place::file("the question") };
    Ok(Pattern { text: text.into(), parameters, place })
}

fn broken(what: &str) -> Error {
    Error::malformed(format!("a part of a plan cannot be read: {what}"))
}

fn condition(predicate: &Predicate) -> Result<Condition> {
    let all = |list: &[Predicate]| list.iter().map(condition).collect::<Result<Vec<_>>>();
    Ok(match predicate {
        Predicate::Compare { column, comparison, literal } => {
            let text = COMPARISONS.iter().find(|(own, _)| own == comparison).map(|(_, text)| (*text).to_owned());
            let comparison = text.ok_or_else(|| Error::unsupported("a comparison that does not travel"))?;
            Condition::Compare { column: column.clone(), comparison, literal: value(literal) }
        }
        Predicate::Like { column, pattern } => Condition::Like { column: column.clone(), pattern: pattern.clone() },
        Predicate::Has { column, literal } => Condition::Has { column: column.clone(), literal: value(literal) },
        Predicate::In { column, set } => match (set.ints(), set.texts()) {
            (Some(ints), _) => {
                Condition::Ints { column: column.clone(), values: ints.iter().map(ToString::to_string).collect() }
            }
            (None, texts) => Condition::Texts {
                column: column.clone(),
                values: texts.into_iter().flatten().flatten().map(ToOwned::to_owned).collect(),
            },
        },
        Predicate::IsNull(column) => Condition::IsNull(column.clone()),
        Predicate::IsNotNull(column) => Condition::IsNotNull(column.clone()),
        Predicate::And(list) => Condition::And(all(list)?),
        Predicate::Or(list) => Condition::Or(all(list)?),
        Predicate::Not(one) => Condition::Not(Box::new(condition(one)?)),
    })
}

fn predicate(condition: Condition) -> Result<Predicate> {
    let all = |list: Vec<Condition>| list.into_iter().map(predicate).collect::<Result<Vec<_>>>();
    Ok(match condition {
        Condition::Compare { column, comparison, literal } => {
            let known = COMPARISONS.iter().find(|(_, text)| *text == comparison).map(|(own, _)| *own);
            let comparison = known.ok_or_else(|| broken(&format!("the comparison {comparison}")))?;
            Predicate::Compare { column, comparison, literal: self::literal(literal)? }
        }
        Condition::Like { column, pattern } => Predicate::Like { column, pattern },
        Condition::Has { column, literal } => Predicate::Has { column, literal: self::literal(literal)? },
        Condition::Ints { column, values } => {
            let ints = values.iter().map(|text| int(text)).collect::<Result<Vec<_>>>()?;
            Predicate::In { column, set: Set::of_ints(ints) }
        }
        Condition::Texts { column, values } => {
            Predicate::In { column, set: Set::of(&StringArray::from_iter_values(values))? }
        }
        Condition::IsNull(column) => Predicate::IsNull(column),
        Condition::IsNotNull(column) => Predicate::IsNotNull(column),
        Condition::And(list) => Predicate::And(all(list)?),
        Condition::Or(list) => Predicate::Or(all(list)?),
        Condition::Not(one) => Predicate::Not(Box::new(predicate(*one)?)),
    })
}

fn value(literal: &Literal) -> Value {
    match literal {
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(value.to_string()),
        Literal::Float(value) => Value::Float(value.to_bits()),
        Literal::Number(text) => Value::Number(text.clone()),
        Literal::Text(text) => Value::Text(text.clone()),
        Literal::Date(days) => Value::Date(*days),
        Literal::Timestamp(value) => Value::Timestamp(value.to_string()),
        Literal::Instant(value) => Value::Instant(value.to_string()),
    }
}

fn literal(value: Value) -> Result<Literal> {
    Ok(match value {
        Value::Bool(value) => Literal::Bool(value),
        Value::Int(text) => Literal::Int(int(&text)?),
        Value::Float(bits) => Literal::Float(f64::from_bits(bits)),
        Value::Number(text) => Literal::Number(text),
        Value::Text(text) => Literal::Text(text),
        Value::Date(days) => Literal::Date(days),
        Value::Timestamp(text) => Literal::Timestamp(int(&text)?),
        Value::Instant(text) => Literal::Instant(int(&text)?),
    })
}

fn int(text: &str) -> Result<i128> {
    text.parse().map_err(|_| broken(&format!("the number {text:?}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_condition_comes_back_as_it_was() {
        let literals = [
            Literal::Bool(true),
            Literal::Int(i128::MIN),
            Literal::Float(0.1),
            Literal::Float(f64::NEG_INFINITY),
            Literal::Number("0.10".to_owned()),
            Literal::Text("a\"\n€".to_owned()),
            Literal::Date(-1),
            Literal::Timestamp(i128::MAX),
            Literal::Instant(-7),
        ];
        let compared = COMPARISONS.iter().flat_map(|(comparison, _)| {
            literals.iter().map(|literal| Predicate::Compare {
                column: "a".to_owned(),
                comparison: *comparison,
                literal: literal.clone(),
            })
        });
        let mut all: Vec<Predicate> = compared.collect();
        all.extend([
            Predicate::Like { column: "b".to_owned(), pattern: "%_".to_owned() },
            Predicate::Has { column: "c".to_owned(), literal: Literal::Text("x".to_owned()) },
            Predicate::In { column: "d".to_owned(), set: Set::of_ints([3, -1, i128::from(u64::MAX)]) },
            Predicate::In { column: "e".to_owned(), set: Set::of(&StringArray::from(vec!["b", "", "a"])).unwrap() },
            Predicate::In { column: "e".to_owned(), set: Set::of_ints([]) },
            Predicate::IsNull("f".to_owned()),
            Predicate::Not(Box::new(Predicate::IsNotNull("g".to_owned()))),
            Predicate::Or(Vec::new()),
        ]);
        let filter = Predicate::And(all);
        let wanted = Wanted { columns: vec![2, 0], filter: Some(filter), limit: Some(7), ..Wanted::default() };
        let parameters =
            [("one".to_owned(), CypherValue::Int(1)), ("text".to_owned(), CypherValue::text("a\"b"))].into();
        let place = Place { line: Some(3), ..Place::file("the question") };
        let pattern = Some(Pattern { text: "MATCH (a) RETURN a.id".into(), parameters, place });
        let scan = TableScan { table: "p q".to_owned(), wanted, parts: 9, partitions: 4, rows: Some(3), pattern };
        let back = read(&written(&scan).unwrap()).unwrap();
        assert_eq!(back.wanted.filter, scan.wanted.filter);
        assert_eq!((back.wanted.columns, back.wanted.limit), (vec![2, 0], Some(7)));
        assert_eq!((back.table.as_str(), back.parts, back.partitions, back.rows), ("p q", 9, 4, Some(3)));
        assert_eq!(format!("{:?}", back.pattern), format!("{:?}", scan.pattern));
        assert_eq!(read("{}").unwrap_err().kind(), isomorph::Kind::Malformed);
    }
}
