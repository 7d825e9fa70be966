//! `GRAPH_TABLE (g MATCH … WHERE … COLUMNS (…))` of SQL/PGQ.
//!
//! Each one is taken out of the question before it is parsed, becomes `MATCH … WHERE … RETURN …`, and is answered as openCypher is; a table
//! of its rows takes its place: `matched`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace};
use isomorph::error::Place;
use isomorph::storage::Resources;
use isomorph::{Error, Result, did_you_mean};
use isomorph_cypher::Value;

use crate::parameters::Parameters;
use crate::syntax::dialect::Questions;
use crate::syntax::names::{Match, find};
use crate::tables::catalog::{Catalog, Entry, FILES, GraphSchema};
use crate::tables::matched::MatchedRows;
use crate::tables::parts::Pattern;

/// What the tables are called in the rewritten question.
const NAME: &str = "_graph_table_";

/// A question without its `GRAPH_TABLE`s.
pub(crate) struct Taken {
    pub question: String,
    /// The catalog with a table for each of them.
    pub catalog: Arc<Catalog>,
    /// The parameters that they use.
    pub used: BTreeSet<String>,
}

/// Takes the `GRAPH_TABLE`s out of a question; nothing if it has none.
///
/// # Errors
/// [`isomorph::Kind::Usage`] with the place for what is none, and for names that the graph does not have; errors of the pattern and of reading.
pub(crate) fn take(
    question: &str,
    parameters: &Parameters,
    catalog: &Arc<Catalog>,
    resources: &Resources,
) -> Result<Option<Taken>> {
    if !question.to_ascii_lowercase().contains("graph_table") {
        return Ok(None);
    }
    // What is no SQL, the parser refuses with its place.
    let Ok(tokens) = Tokenizer::new(&Questions, question).tokenize_with_location() else { return Ok(None) };
    let mut taken = Taken { question: String::new(), catalog: Arc::clone(catalog), used: BTreeSet::new() };
    let mut next = 0;
    let mut number = 0;
    while let Some(range) = found(tokens.get(next..).unwrap_or_default())? {
        let range = next + range.start..next + range.end;
        write(tokens.get(next..range.start).unwrap_or_default(), &mut taken.question);
        let inside = tokens.get(range.clone()).unwrap_or_default();
        let place = inside.first().map_or_else(|| Place::file("the question"), place);
        let parsed = Parsed::of(inside).map_err(|error| at(error, &place))?;
        number += 1;
        let name = format!("{NAME}{number}");
        let used = &mut taken.used;
        let rows = parsed.rows(parameters, catalog, resources, &place, used).map_err(|error| at(error, &place))?;
        let mut files = taken.catalog.files.clone();
        files.push(Entry { name: name.clone(), other: None, rows: Arc::new(rows) });
        taken.catalog = Arc::new(Catalog { graphs: catalog.graphs.clone(), files });
        taken.question.push_str(&format!("\"{FILES}\".\"{name}\""));
        // What follows keeps its line.
        let lines = |end: Option<&TokenWithSpan>| end.map_or(0, |token| token.span.end.line);
        let skipped = lines(inside.last()).saturating_sub(inside.first().map_or(0, |token| token.span.start.line));
        (0..skipped).for_each(|_| taken.question.push('\n'));
        next = range.end;
    }
    if number == 0 {
        return Ok(None);
    }
    write(tokens.get(next..).unwrap_or_default(), &mut taken.question);
    Ok(Some(taken))
}

fn place(token: &TokenWithSpan) -> Place {
    let Location { line, column } = token.span.start;
    Place::file("the question").line(line).in_field(format!("column {column}"))
}

/// An error with the place of the `GRAPH_TABLE`, if it is one of its query.
pub(crate) fn at(error: Error, place: &Place) -> Error {
    let is_of_query = error.place().file.is_none() || error.place().file.as_deref() == Some("the query");
    if is_of_query { error.at(place.clone()) } else { error }
}

fn write(tokens: &[TokenWithSpan], text: &mut String) {
    tokens.iter().for_each(|token| text.push_str(&token.token.to_string()));
}

fn is_blank(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::Whitespace(_))
}

fn is_word(token: &TokenWithSpan, word: &str) -> bool {
    matches!(&token.token, Token::Word(own) if own.quote_style.is_none() && own.value.eq_ignore_ascii_case(word))
}

/// Where the next `GRAPH_TABLE (…)` is among tokens.
fn found(tokens: &[TokenWithSpan]) -> Result<Option<Range<usize>>> {
    for (start, token) in tokens.iter().enumerate() {
        if !is_word(token, "graph_table") {
            continue;
        }
        let mut rest = tokens.iter().enumerate().skip(start + 1).filter(|(_, token)| !is_blank(token));
        if rest.next().is_none_or(|(_, token)| token.token != Token::LParen) {
            continue;
        }
        let mut depth = 1;
        for (end, token) in rest {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(Some(start..end + 1));
            }
        }
        let error = Error::usage("expected ) at the end of GRAPH_TABLE").at(place(token));
        return Err(error.hint("a -- in a pattern begins a comment: write (a)-[]->(b) or (a)->(b)"));
    }
    Ok(None)
}

/// The parts of a `GRAPH_TABLE`.
#[derive(Debug)]
struct Parsed {
    graph: String,
    is_quoted: bool,
    /// `MATCH … WHERE … RETURN …`.
    query: String,
    parameters: BTreeSet<String>,
}

fn expected(what: &str, token: Option<&TokenWithSpan>) -> Error {
    let found = token.map_or_else(|| "its end".to_owned(), |token| token.token.to_string());
    Error::usage(format!("GRAPH_TABLE: expected {what}, found {found}"))
        .hint("graph_table (g match (a:person)-[e:knows]->(b:person) where a.id = 1 columns (b.id as friend))")
}

impl Parsed {
    /// Of all tokens from `GRAPH_TABLE` to the closing bracket.
    fn of(tokens: &[TokenWithSpan]) -> Result<Parsed> {
        let open = tokens.iter().position(|token| token.token == Token::LParen).unwrap_or_default();
        let inside = tokens.get(open + 1..tokens.len().saturating_sub(1)).unwrap_or_default();
        let told = |from: usize| inside.iter().enumerate().skip(from).find(|(_, token)| !is_blank(token));
        let (at, graph, is_quoted) = match told(0) {
            Some((at, TokenWithSpan { token: Token::Word(word), .. })) => {
                (at, word.value.clone(), word.quote_style.is_some())
            }
            other => return Err(expected("the name of a graph", other.map(|(_, token)| token))),
        };
        let first = match told(at + 1) {
            Some((at, token)) if is_word(token, "match") => at,
            other => return Err(expected("MATCH", other.map(|(_, token)| token))),
        };
        // Clauses are those outside of all brackets.
        let mut depth = 0;
        let (mut condition, mut columns) = (None, None);
        for (at, token) in inside.iter().enumerate().skip(first) {
            match token.token {
                Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
                Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
                _ if depth > 0 => {}
                _ if is_word(token, "where") && condition.is_none() => condition = Some(at),
                _ if is_word(token, "columns") => columns = Some(at),
                _ => {}
            }
        }
        let Some(columns) = columns else { return Err(expected("COLUMNS (…)", None)) };
        let (list, end) = match told(columns + 1) {
            Some((at, token)) if token.token == Token::LParen => (at + 1, inside.len()),
            other => return Err(expected("( after COLUMNS", other.map(|(_, token)| token))),
        };
        let last = inside.iter().rposition(|token| !is_blank(token)).filter(|at| *at > list);
        let last = match last.and_then(|at| inside.get(at).map(|token| (at, token))) {
            Some((at, token)) if token.token == Token::RParen => at,
            other => return Err(expected(") after the columns", other.map(|(_, token)| token))),
        };
        debug_assert!(last < end, "inside");
        let mut query = String::new();
        let pattern = inside.get(first..condition.unwrap_or(columns)).unwrap_or_default();
        let mut conditions = Vec::new();
        pattern_text(pattern, &mut query, &mut conditions);
        if let Some(condition) = condition {
            conditions.push(text(inside.get(condition + 1..columns).unwrap_or_default()));
        }
        match conditions.as_slice() {
            [] => {}
            [only] => query.push_str(&format!("WHERE {only} ")),
            several => query.push_str(&format!("WHERE ({}) ", several.join(") AND ("))),
        }
        query.push_str("RETURN ");
        let mut seen = Vec::new();
        for (number, one) in split(inside.get(list..last).unwrap_or_default()).into_iter().enumerate() {
            if number > 0 {
                query.push_str(", ");
            }
            column(one, &mut query, &mut seen)?;
        }
        let parameters = inside.iter().filter_map(|token| match &token.token {
            Token::Placeholder(name) => Some(name.trim_start_matches('$').to_owned()),
            _ => None,
        });
        Ok(Parsed { graph, is_quoted, query, parameters: parameters.collect() })
    }

    /// Its table.
    fn rows(
        &self,
        parameters: &Parameters,
        catalog: &Catalog,
        resources: &Resources,
        place: &Place,
        used: &mut BTreeSet<String>,
    ) -> Result<MatchedRows> {
        let graph = self.graph(catalog)?;
        let mut values = BTreeMap::new();
        for name in &self.parameters {
            let value = parameters.value(name).ok_or_else(|| {
                Error::usage(format!("the question has a parameter ${name}, which has no value"))
                    .hint(format!("--param {name}=VALUE"))
            })?;
            values.insert(name.clone(), value.map_or(Value::Null, of_text));
            used.insert(name.clone());
        }
        let pattern = Pattern { text: self.query.as_str().into(), parameters: values, place: place.clone() };
        MatchedRows::of(graph.graph(), &graph.name, &pattern, resources)
    }

    fn graph<'c>(&self, catalog: &'c Catalog) -> Result<&'c GraphSchema> {
        let names = || catalog.graphs.iter().map(|graph| (graph.name.clone(), graph)).collect();
        match find(&self.graph, self.is_quoted, names) {
            Match::One(graph) => Ok(graph),
            Match::None => {
                let names: Vec<&str> = catalog.graphs.iter().map(|graph| graph.name.as_str()).collect();
                let near = did_you_mean(&self.graph, names.iter().copied());
                let error = Error::usage(format!("there is no graph {}{near}", self.graph));
                Err(error.hint(format!("the graphs are {}", names.join(", "))))
            }
            Match::Several(_) => Err(Error::usage(format!("several graphs are called {}", self.graph))),
        }
    }
}

/// The value of a parameter: as it is written.
fn of_text(text: &str) -> Value {
    match (text, text.parse::<i64>(), text.parse::<f64>()) {
        ("true", ..) => Value::Bool(true),
        ("false", ..) => Value::Bool(false),
        (_, Ok(int), _) => Value::Int(int),
        (_, _, Ok(float)) if text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '.')) => {
            Value::Float(float)
        }
        _ => Value::text(text),
    }
}

/// A token as openCypher writes it.
fn word(token: &Token) -> String {
    match token {
        Token::Word(word) if word.quote_style.is_some() => format!("`{}`", word.value.replace('`', "``")),
        Token::SingleQuotedString(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        Token::Whitespace(Whitespace::SingleLineComment { .. }) => "\n".to_owned(),
        Token::Whitespace(Whitespace::MultiLineComment(_)) => " ".to_owned(),
        other => other.to_string(),
    }
}

fn text(tokens: &[TokenWithSpan]) -> String {
    tokens.iter().map(|token| word(&token.token)).collect::<String>().trim().to_owned()
}

/// A pattern; SQL writes `(a)->(b)` where openCypher has `(a)-->(b)`. Conditions of single nodes and edges are added to the others.
fn pattern_text(tokens: &[TokenWithSpan], to: &mut String, conditions: &mut Vec<String>) {
    let mut at = 0;
    while let Some(one) = tokens.get(at) {
        if is_word(one, "where") {
            let mut depth = 0;
            let is_end = |token: &TokenWithSpan| {
                match token.token {
                    Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
                    Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
                    _ => {}
                }
                depth < 0
            };
            let rest = tokens.get(at + 1..).unwrap_or_default();
            let end = rest.iter().position(is_end).unwrap_or(rest.len());
            conditions.push(text(rest.get(..end).unwrap_or_default()));
            at += 1 + end;
            continue;
        }
        let mut after = tokens.iter().enumerate().skip(at + 1).filter(|(_, token)| !is_blank(token));
        let (next, second) = (after.next(), after.next());
        let is =
            |found: Option<(usize, &TokenWithSpan)>, token: &Token| found.is_some_and(|(_, one)| one.token == *token);
        let before = tokens.get(..at).unwrap_or_default().iter().rfind(|token| !is_blank(token));
        let is_after_node = before.is_some_and(|token| token.token == Token::RParen);
        let (short, last) = match &one.token {
            Token::Arrow if is_after_node => ("-[]->", None),
            Token::Lt if is_after_node && is(next, &Token::Minus) && !is(second, &Token::LBracket) => ("<-[]-", next),
            Token::Minus if is_after_node && is(next, &Token::Gt) => ("-[]->", next),
            Token::Minus if is_after_node && is(next, &Token::LParen) => ("-[]-", None),
            _ => ("", None),
        };
        match short {
            "" => to.push_str(&word(&one.token)),
            short => to.push_str(short),
        }
        at = last.map_or(at, |(last, _)| last) + 1;
    }
    to.push(' ');
}

/// The parts between commas that are in no brackets.
fn split(tokens: &[TokenWithSpan]) -> Vec<&[TokenWithSpan]> {
    let mut depth = 0;
    tokens
        .split(|token| {
            match token.token {
                Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
                Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
                _ => {}
            }
            depth == 0 && token.token == Token::Comma
        })
        .collect()
}

/// A column: `a.id`, or an expression with a name.
fn column(tokens: &[TokenWithSpan], query: &mut String, seen: &mut Vec<String>) -> Result<()> {
    let told: Vec<&Token> = tokens.iter().filter(|token| !is_blank(token)).map(|token| &token.token).collect();
    let (expression, name) = match told.as_slice() {
        [before @ .., Token::Word(keyword), Token::Word(name)]
            if keyword.keyword == Keyword::AS && keyword.quote_style.is_none() && !before.is_empty() =>
        {
            (before, &name.value)
        }
        [Token::Word(_), Token::Period, Token::Word(name)] => (told.as_slice(), &name.value),
        [] => return Err(expected("a column", None)),
        _ => return Err(expected("AS and a name after a column that is no property", tokens.last())),
    };
    if seen.contains(name) {
        return Err(Error::usage(format!("GRAPH_TABLE: two columns are called {name}")).hint("a.id as a_id"));
    }
    seen.push(name.clone());
    // All blanks but those at both ends; the name and AS are the last two words.
    let count = expression.len();
    let told = tokens.iter().skip_while(|token| is_blank(token));
    let mut written = 0;
    for token in told {
        if written == count {
            break;
        }
        written += usize::from(!is_blank(token));
        query.push_str(&word(&token.token));
    }
    query.push_str(&format!(" AS `{}`", name.replace('`', "``")));
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn query(text: &str) -> Result<String> {
        let tokens = Tokenizer::new(&Questions, text).tokenize_with_location().unwrap();
        let range = found(&tokens)?.unwrap();
        Parsed::of(&tokens[range]).map(|parsed| parsed.query.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn patterns_become_those_of_open_cypher() {
        for (text, expected) in [
            (
                "graph_table (g match (a is person)-[e:knows]->{1,3}(b) where a.name = 'it''s' columns (b.id))",
                "MATCH (a is person)-[e:knows]->{1,3}(b) WHERE a.name = 'it\\'s' RETURN b.id AS `id`",
            ),
            (
                "GRAPH_TABLE(\"My g\" MATCH (a)->(b)<-(c)-(d) COLUMNS (a.x + (b.y) AS \"a `b\", c.z))",
                "MATCH (a)-[]->(b)<-[]-(c)-[]-(d) RETURN a.x + (b.y) AS `a ``b`, c.z AS `z`",
            ),
            (
                "graph_table (g match (a)<-[e]-(b where b.x > 1) where a.\"where\" in ('x', 'columns') columns (1 as one))",
                "MATCH (a)<-[e]-(b ) WHERE (b.x > 1) AND (a.`where` in ('x', 'columns')) RETURN 1 AS `one`",
            ),
        ] {
            let expected = expected.replacen("MATCH", if text.contains("MATCH") { "MATCH" } else { "match" }, 1);
            assert_eq!(query(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_graph_table_says_what_is_missing() {
        for (text, expected) in [
            ("graph_table ()", "expected the name of a graph"),
            ("graph_table (g (a) columns (a.x))", "expected MATCH, found ("),
            ("graph_table (g match (a))", "expected COLUMNS"),
            ("graph_table (g match (a) columns a.x)", "expected ( after COLUMNS"),
            ("graph_table (g match (a) columns (a.x) x)", "expected ) after the columns"),
            ("graph_table (g match (a) columns (a.x + 1))", "expected AS"),
            ("graph_table (g match (a) columns (a.x, b.x))", "two columns are called x"),
            ("graph_table (g match (a) columns (a.x,))", "expected a column"),
            ("graph_table (g match (a)-->(b) columns (a.x))", "expected ) at the end"),
        ] {
            let error = query(text).unwrap_err();
            assert!(error.message().contains(expected), "{text}: {error}");
        }
    }
}
