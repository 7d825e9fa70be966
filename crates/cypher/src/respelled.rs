//! Queries of openCypher that the parser refuses, written in a way that it takes.
//!
//! - `EXISTS { (a)-->(:X) }` and `COUNT { … }` get the word `MATCH`: without it, the parser takes `:X` for a condition.
//! - `(a:X|Y)` becomes `(a:!(!X&!Y))`: after a `|` in a node, the parser takes labels of the next node for a condition.
//! - `collect(…)`, `exists(…)` and `count` as a variable become names in backticks: the parser takes them for the beginning of a subquery,
//!   and then guesses which of the words near the error is a name; `END` in `CASE … END AS x` is one of its guesses.
//! - `AS match` gets backticks: labels after it would be taken for those of a pattern.

use std::ops::Range;

use open_cypher::{Keyword, Span, Token, TokenKind};

/// A query in another spelling.
#[derive(Debug)]
pub(crate) struct Respelled {
    pub text: String,
    /// Bytes of the original that were replaced, and those in their place, in order.
    changes: Vec<(Range<usize>, Range<usize>)>,
}

impl Respelled {
    /// Another spelling; `None` if there is nothing to respell.
    pub(crate) fn of(text: &str) -> Option<Respelled> {
        let tokens: Vec<Token> = open_cypher::lex(text).tokens.into_iter().filter(|token| !token.is_trivia()).collect();
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for at in 0..tokens.len() {
            let rest = tokens.get(at..).unwrap_or_default();
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            edits.extend(subquery(rest));
            edits.extend(name(before, rest, text));
            edits.extend(any_of_labels(rest, text));
        }
        if edits.is_empty() {
            return None;
        }
        let (mut written, mut changes, mut from) = (String::new(), Vec::new(), 0);
        for (range, new) in edits {
            written.push_str(text.get(from..range.start)?);
            let start = written.len();
            written.push_str(&new);
            from = range.end;
            changes.push((range, start..written.len()));
        }
        written.push_str(text.get(from..)?);
        Some(Respelled { text: written, changes })
    }

    /// The place in the original of a place in this text.
    pub(crate) fn original(&self, span: Span) -> Span {
        let of = |at: usize, is_end: bool| {
            let before =
                self.changes.iter().take_while(|(_, new)| new.start < at || (new.start == at && !is_end)).last();
            match before {
                None => at,
                Some((old, new)) if at < new.end => {
                    if is_end {
                        old.end
                    } else {
                        old.start
                    }
                }
                Some((old, new)) => old.end + (at - new.end),
            }
        };
        Span::new(of(span.start, false), of(span.end, true))
    }
}

/// The word that a subquery lacks that begins with a pattern.
fn subquery(tokens: &[Token]) -> Option<(Range<usize>, String)> {
    let [word, brace, first, ..] = tokens else { return None };
    let is_subquery = matches!(word.kind, TokenKind::Keyword(Keyword::Exists | Keyword::Count))
        && brace.kind == TokenKind::LeftBrace
        && first.kind == TokenKind::LeftParen;
    is_subquery.then(|| (first.span.start..first.span.start, "MATCH ".to_owned()))
}

/// A keyword that is a name here, in backticks.
fn name(before: Option<&Token>, tokens: &[Token], text: &str) -> Option<(Range<usize>, String)> {
    let (word, rest) = tokens.split_first()?;
    let next = rest.first().map(|token| token.kind);
    let is_name = match word.kind {
        TokenKind::Keyword(other) if before.is_some_and(|token| token.kind == TokenKind::Keyword(Keyword::As)) => {
            other != Keyword::As
        }
        TokenKind::Keyword(Keyword::Exists | Keyword::Collect) => next != Some(TokenKind::LeftBrace),
        // The parser knows the function `count`.
        TokenKind::Keyword(Keyword::Count) => !matches!(next, Some(TokenKind::LeftBrace | TokenKind::LeftParen)),
        _ => false,
    };
    // The parser knows the names of properties and parameters by what is before them.
    let is_marked = before.is_some_and(|token| matches!(token.kind, TokenKind::Dot | TokenKind::Dollar));
    let written = text.get(word.span.start..word.span.end)?;
    (is_name && !is_marked).then(|| (word.span.start..word.span.end, format!("`{written}`")))
}

/// The choice between labels of a node, without `|`.
fn any_of_labels(tokens: &[Token], text: &str) -> Option<(Range<usize>, String)> {
    let (open, rest) = tokens.split_first()?;
    let is_name = |token: &Token| {
        matches!(token.kind, TokenKind::Identifier | TokenKind::EscapedIdentifier | TokenKind::Keyword(_))
    };
    let rest = match rest.split_first() {
        Some((name, rest)) if is_name(name) => rest,
        _ => rest,
    };
    let (colon, mut rest) = rest.split_first()?;
    if open.kind != TokenKind::LeftParen || colon.kind != TokenKind::Colon {
        return None;
    }
    let mut names: Vec<&Token> = Vec::new();
    loop {
        let (name, behind) = rest.split_first()?;
        if !is_name(name) {
            return None;
        }
        names.push(name);
        rest = behind;
        match rest.split_first() {
            Some((pipe, behind)) if pipe.kind == TokenKind::Pipe => {
                // `A|:B` is an old spelling of `A|B`.
                rest = match behind.split_first() {
                    Some((colon, behind)) if colon.kind == TokenKind::Colon => behind,
                    _ => behind,
                };
            }
            Some((end, _)) if is_end(end) => break,
            _ => return None,
        }
    }
    let ([first, _, ..], Some(last)) = (names.as_slice(), names.last()) else { return None };
    let all: Option<Vec<String>> =
        names.iter().map(|name| Some(format!("!{}", text.get(name.span.start..name.span.end)?))).collect();
    Some((first.span.start..last.span.end, format!("!({})", all?.join("&"))))
}

/// Whether the labels of a node end before a token.
fn is_end(token: &Token) -> bool {
    matches!(
        token.kind,
        TokenKind::RightParen
            | TokenKind::LeftBrace
            | TokenKind::Parameter
            | TokenKind::Dollar
            | TokenKind::Keyword(Keyword::Where)
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_the_parser_refuses_is_respelled() {
        for (text, expected) in [
            ("MATCH (a:X|Y)-->(b:Z) RETURN a", "MATCH (a:!(!X&!Y))-->(b:Z) RETURN a"),
            ("MATCH (:X|:`Y y`|Z {k: 1}) RETURN 1", "MATCH (:!(!X&!`Y y`&!Z) {k: 1}) RETURN 1"),
            (
                "RETURN CASE WHEN true THEN 1 END AS c, collect(1) AS end, count(*)",
                "RETURN CASE WHEN true THEN 1 END AS c, `collect`(1) AS `end`, count(*)",
            ),
            ("RETURN exists(n.count), count + $count", "RETURN `exists`(n.count), `count` + $count"),
            ("RETURN EXISTS { (a)-->(:X) }, COUNT{(b)}", "RETURN EXISTS { MATCH (a)-->(:X) }, COUNT{MATCH (b)}"),
        ] {
            assert_eq!(Respelled::of(text).unwrap().text, expected);
        }
        for text in ["MATCH (a)-[:X|Y]->(b) RETURN a", "RETURN [x IN [1] | x], '(a:X|Y)'", "RETURN (1)", "MATCH (a:X|"]
        {
            assert!(Respelled::of(text).is_none(), "{text}");
        }
    }

    #[test]
    fn places_are_those_of_the_original() {
        let text = "MATCH (a:X|Y)-->(b:Z) RETURN a";
        let respelled = Respelled::of(text).unwrap();
        for word in ["MATCH", "(a:", "-->", "(b:Z)", "RETURN a"] {
            let at = respelled.text.find(word).unwrap();
            let span = respelled.original(Span::new(at, at + word.len()));
            assert_eq!(text.get(span.start..span.end), Some(word));
        }
        let at = respelled.text.find("!(!X&!Y)").unwrap();
        let span = respelled.original(Span::new(at, at + 8));
        assert_eq!(text.get(span.start..span.end), Some("X|Y"));
        let inside = respelled.original(Span::new(at + 3, at + 4));
        assert_eq!(text.get(inside.start..inside.end), Some("X|Y"));
    }
}
