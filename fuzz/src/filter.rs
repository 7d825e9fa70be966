//! Conditions of `--where`.

use std::fmt::Write;

use isomorph::dataset::parse_condition;
use isomorph::model::{Literal, Predicate};

pub(crate) const WORDS: &[&str] = &[
    "and ",
    "or ",
    "not ",
    "is null",
    "is not null",
    "between ",
    "in (",
    "like '",
    "has ",
    "has label ",
    ",",
    "(",
    ")",
    "<=",
    "<>",
    "!=",
    "date '",
    "timestamp '",
    "`",
    "''",
    "t: ",
    "1.5e3",
    "true",
];

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    [
        "person: id < 1000 and (gender = \"female\" or email is null)",
        "t: not (a is not null) or `b c` >= 'it''s' and d <> 1.5e3",
        "t: d = date '1969-12-31' and e <= timestamp '2024-02-29T12:00:00.5' or f = true",
        "t: a between 1 and 2 and b not in ('x', 5) or c like '%x_' and d has 'y' or not has label Person",
        "t: -5 = 'x' and not not x != -0",
        "t: e > timestamp '2024-02-29 12:00:00+01:00'",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}

/// A condition that is written out again, with all parentheses, is the same condition.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok((ty, predicate)) = parse_condition(text) else { return };
    let Some(spelled) = spelled(&predicate) else { return };
    let whole = format!("{ty}: {spelled}");
    match parse_condition(&whole) {
        Ok((again_ty, again)) => {
            assert_eq!(again_ty, ty, "{text:?}");
            assert_eq!(spelled_or_empty(&again), spelled, "{text:?} became {whole:?}");
        }
        // Every level has its parentheses here, so the limit on their depth is reached earlier.
        Err(error) => assert!(error.message().contains("nested more than"), "{text:?} became {whole:?}: {error}"),
    }
}

fn spelled_or_empty(predicate: &Predicate) -> String {
    spelled(predicate).unwrap_or_default()
}

/// The condition with all parentheses; `None` if a literal cannot be spelled.
fn spelled(predicate: &Predicate) -> Option<String> {
    let column = |name: &str| format!("`{}`", name.replace('`', "``"));
    let several = |all: &[Predicate], word: &str| -> Option<String> {
        let all: Option<Vec<String>> = all.iter().map(spelled).collect();
        Some(format!("({})", all?.join(word)))
    };
    Some(match predicate {
        Predicate::Compare { column: name, comparison, literal: value } => {
            format!("{} {comparison} {}", column(name), literal(value)?)
        }
        Predicate::Like { column: name, pattern } => format!("{} like '{}'", column(name), pattern.replace('\'', "''")),
        Predicate::Has { column: name, literal: value } => format!("{} has {}", column(name), literal(value)?),
        // There is no word for it.
        Predicate::In { .. } => return None,
        Predicate::IsNull(name) => format!("{} is null", column(name)),
        Predicate::IsNotNull(name) => format!("{} is not null", column(name)),
        Predicate::And(all) => several(all, " and ")?,
        Predicate::Or(all) => several(all, " or ")?,
        Predicate::Not(one) => format!("not ({})", spelled(one)?),
    })
}

fn literal(literal: &Literal) -> Option<String> {
    let mut out = String::new();
    let written = match literal {
        Literal::Bool(value) => write!(out, "{value}"),
        Literal::Int(value) => write!(out, "{value}"),
        Literal::Float(value) => write!(out, "{value:e}"),
        Literal::Number(text) => write!(out, "{text}"),
        Literal::Text(value) => write!(out, "'{}'", value.replace('\'', "''")),
        Literal::Date(days) => {
            let date = chrono::NaiveDate::default().checked_add_signed(chrono::TimeDelta::days((*days).into()))?;
            write!(out, "date '{date}'")
        }
        Literal::Timestamp(nanoseconds) | Literal::Instant(nanoseconds) => {
            let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).ok()?;
            let rest = u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).ok()?;
            let moment = chrono::DateTime::from_timestamp(seconds, rest)?.naive_utc();
            let offset = if matches!(literal, Literal::Instant(_)) { "Z" } else { "" };
            write!(out, "timestamp '{}{offset}'", moment.format("%Y-%m-%dT%H:%M:%S%.f"))
        }
    };
    written.ok().map(|()| out)
}
