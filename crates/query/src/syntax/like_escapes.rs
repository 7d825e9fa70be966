//! `like … escape '!'`. The engine knows only the backslash, and takes it for an escape in every pattern: patterns with another escape, or with none, are written with it.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Statement, Value, ValueWithSpan, VisitMut, VisitorMut};
use isomorph::error::Place;
use isomorph::{Error, Result};

/// Rewrites them in `statement`.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for a pattern that is not written in the question; [`isomorph::Kind::Usage`] for one that is not complete.
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
        let (Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. }) = expression else {
            return ControlFlow::Continue(());
        };
        let Some(escape) = escape_char.take() else { return ControlFlow::Continue(()) };
        match escape_of(&escape.value).and_then(|escape| rewrite(pattern, escape)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// The character that makes the next one itself; none for `escape ''`.
fn escape_of(escape: &Value) -> Result<Option<char>> {
    if let Value::SingleQuotedString(text) = escape {
        let mut all = text.chars();
        if let (one, None) = (all.next(), all.next()) {
            return Ok(one);
        }
    }
    Err(Error::usage("the escape of LIKE must be one character").hint("a like '50!%' escape '!'    50%"))
}

fn rewrite(pattern: &mut Expr, escape: Option<char>) -> Result<()> {
    if escape == Some('\\') {
        return Ok(());
    }
    match pattern {
        Expr::Nested(inner) => rewrite(inner, escape),
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => {
            *text = with_backslashes(text, escape)?;
            Ok(())
        }
        Expr::Value(ValueWithSpan { value: Value::Null, .. }) => Ok(()),
        _ => Err(Error::unsupported("LIKE with ESCAPE is supported with a pattern that is written in the question")
            .hint("a like b    where the escape in b is a backslash")),
    }
}

/// The pattern with the backslash as its escape.
fn with_backslashes(pattern: &str, escape: Option<char>) -> Result<String> {
    let mut found = String::with_capacity(pattern.len() + 2);
    let mut rest = pattern.chars();
    while let Some(one) = rest.next() {
        let one = if Some(one) == escape {
            let Some(next) = rest.next() else {
                return Err(Error::usage("a pattern of LIKE ends with its escape character"));
            };
            if matches!(next, '%' | '_') {
                found.push('\\');
            }
            next
        } else {
            one
        };
        if one == '\\' {
            found.push('\\');
        }
        found.push(one);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::with_backslashes;

    #[test]
    fn escapes_become_backslashes() {
        for (pattern, escape, expected) in [
            ("a!%b", Some('!'), "a\\%b"),
            ("a!!_", Some('!'), "a!_"),
            ("a\\%", Some('!'), "a\\\\%"),
            ("!\\!a", Some('!'), "\\\\a"),
            ("a\\_", None, "a\\\\_"),
            ("%%a", Some('%'), "\\%a"),
        ] {
            assert_eq!(with_backslashes(pattern, escape).ok().as_deref(), Some(expected), "{pattern}");
        }
        assert!(with_backslashes("a!", Some('!')).is_err());
    }
}
