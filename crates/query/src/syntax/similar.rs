//! `SIMILAR TO`: patterns of SQL as regular expressions.
//!
//! The engine takes such a pattern for a regular expression that may match a part of the text. Of SQL, `%` is any text and `_` any character, `|`, `*`, `+`, `?`, `{…}`, `(…)` and `[…]` are what they are in
//! regular expressions, every other character is itself, and the pattern matches the whole text.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Statement, Value, ValueWithSpan, VisitMut, VisitorMut};
use isomorph::error::Place;
use isomorph::{Error, Result};

/// Rewrites them in `statement` as matches of regular expressions.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for a pattern that is no constant; [`isomorph::Kind::Usage`] for one that is not complete.
pub(crate) fn respell(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Respell) {
        ControlFlow::Break(error) => Err(error.at(Place::file("the question"))),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Respell;

impl VisitorMut for Respell {
    type Break = Error;

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        if let Expr::SimilarTo { negated, expr, pattern, escape_char } = expression {
            let found = escape_of(escape_char.as_ref()).and_then(|escape| regex_of(pattern, escape));
            let pattern = match found {
                Ok(pattern) => pattern,
                Err(error) => return ControlFlow::Break(error),
            };
            let op = if *negated { BinaryOperator::PGRegexNotMatch } else { BinaryOperator::PGRegexMatch };
            let null = Expr::Value(Value::Null.into());
            let left = Box::new(Expr::Nested(Box::new(std::mem::replace(&mut **expr, null))));
            let right = Box::new(Expr::Value(pattern.into()));
            *expression = Expr::Nested(Box::new(Expr::BinaryOp { left, op, right }));
        }
        ControlFlow::Continue(())
    }
}

/// The character that makes the next one itself; none for `escape ''`.
fn escape_of(escape: Option<&ValueWithSpan>) -> Result<Option<char>> {
    let text = match escape.map(|escape| &escape.value) {
        None => return Ok(Some('\\')),
        Some(Value::SingleQuotedString(text)) => text.as_str(),
        Some(_) => "no text",
    };
    let mut all = text.chars();
    match (all.next(), all.next()) {
        (one, None) => Ok(one),
        _ => Err(Error::usage("the escape of SIMILAR TO must be one character")),
    }
}

fn regex_of(pattern: &Expr, escape: Option<char>) -> Result<Value> {
    match pattern {
        Expr::Nested(inner) => regex_of(inner, escape),
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => {
            Ok(Value::SingleQuotedString(regex(text, escape)?))
        }
        Expr::Value(ValueWithSpan { value: Value::Null, .. }) => Ok(Value::Null),
        _ => Err(Error::unsupported("SIMILAR TO is supported with a pattern that is written in the question")
            .hint("a ~ '^(b|c)+$'    a regular expression")),
    }
}

/// The regular expression of a pattern.
fn regex(pattern: &str, escape: Option<char>) -> Result<String> {
    let mut found = String::from("^(?s:");
    let mut rest = pattern.chars().peekable();
    while let Some(one) = rest.next() {
        match one {
            one if Some(one) == escape => match rest.next() {
                Some(next) => push(next, &mut found),
                None => return Err(Error::usage("a pattern of SIMILAR TO ends with its escape character")),
            },
            '%' => found.push_str(".*"),
            '_' => found.push('.'),
            '(' => found.push_str("(?:"),
            '|' | '*' | '+' | '?' | ')' => found.push(one),
            '{' => {
                found.push(one);
                loop {
                    let next = rest.next().ok_or_else(|| Error::usage("a pattern of SIMILAR TO has { without }"))?;
                    found.push(next);
                    if next == '}' {
                        break;
                    }
                }
            }
            '[' => class(&mut rest, escape, &mut found)?,
            other => push(other, &mut found),
        }
    }
    found.push_str(")$");
    Ok(found)
}

/// A character that stands for itself.
fn push(one: char, to: &mut String) {
    // Escaped angle brackets are ends of words.
    if one.is_ascii_punctuation() && !matches!(one, '<' | '>') {
        to.push('\\');
    }
    to.push(one);
}

/// The characters between brackets, after the first one.
fn class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, escape: Option<char>, to: &mut String) -> Result<()> {
    let open = || Error::usage("a pattern of SIMILAR TO has [ without ]");
    to.push('[');
    if rest.next_if_eq(&'^').is_some() {
        to.push('^');
    }
    let mut is_first = true;
    loop {
        match rest.next().ok_or_else(open)? {
            ']' if !is_first => break,
            '[' if rest.peek() == Some(&':') => {
                // [:alpha:]
                to.push('[');
                let mut last = ' ';
                loop {
                    let one = rest.next().ok_or_else(open)?;
                    to.push(one);
                    if one == ']' && last == ':' {
                        break;
                    }
                    last = one;
                }
            }
            '-' if !is_first && rest.peek().is_some_and(|next| !matches!(next, ']' | '-')) => to.push('-'),
            one if Some(one) == escape => push(rest.next().ok_or_else(open)?, to),
            one => push(one, to),
        }
        is_first = false;
    }
    to.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn patterns_are_regular_expressions() {
        let of = |pattern| regex(pattern, Some('\\')).unwrap();
        assert_eq!(of("a%_"), "^(?s:a.*.)$");
        assert_eq!(of("(a|b)+{2,3}"), "^(?s:(?:a|b)+{2,3})$");
        assert_eq!(of(r"^a.b$\%\\"), r"^(?s:\^a\.b\$\%\\)$");
        assert_eq!(of("[^a-c%]x[]-]"), r"^(?s:[^a-c\%]x[\]\-])$");
        assert_eq!(of("[[:alpha:]_&&-]"), r"^(?s:[[:alpha:]\_\&\&\-])$");
        assert_eq!(regex("a#%", Some('#')).unwrap(), r"^(?s:a\%)$");
        assert_eq!(regex(r"a\%", None).unwrap(), r"^(?s:a\\.*)$");
        for bad in ["[a", "a\\", "[[:alpha"] {
            assert!(regex(bad, Some('\\')).is_err(), "{bad}");
        }
    }
}
