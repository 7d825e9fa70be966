//! Queries: parsing, limits, parameters.

use isomorph::error::{Error, Place, Result};
use oxrdf::{Term, Variable};
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};
use spargebra::term::{GroundTerm, NamedNodePattern};
use spargebra::{Query, SparqlParser};

use crate::params;
use crate::patterns::Wanted;
use crate::stack::on_large_stack;
use crate::visit::parts;

/// The longest query, in bytes.
const LONGEST: usize = 16 << 20;

/// Brackets inside brackets; evaluation and parsing recurse for each.
const DEEPEST: usize = 256;

/// Operators inside operators: `?a + ?b + ?c` are two.
const MOST_NESTED: usize = 4_000;

/// How a query is read.
#[derive(Debug, Clone, Default)]
pub struct QuestionOptions {
    /// The base of relative IRIs.
    pub base: Option<String>,
    /// Prefixes in addition to those that the query declares, with their IRIs.
    pub prefixes: Vec<(String, String)>,
    /// Values of variables: the name of a variable, and a term as in a query.
    pub params: Vec<(String, String)>,
}

/// A query.
#[derive(Clone)]
pub struct Question {
    pub(crate) query: Query,
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Question").field(&self.query.to_string()).finish()
    }
}

impl Question {
    /// Parses a query of SPARQL 1.1, with the triple terms of SPARQL 1.2.
    ///
    /// ```
    /// use isomorph_sparql::{Question, QuestionOptions};
    ///
    /// let options = QuestionOptions::default();
    /// assert!(Question::parse("SELECT ?s WHERE { ?s ?p ?o }", &options).is_ok());
    /// let error = Question::parse("SELECT ?s\nWHERE { ?s ?p }", &options).unwrap_err();
    /// assert!(error.message().contains("line 2, column 16"), "{error}");
    /// ```
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] with line, column and what was expected; for prefixes that are not declared, parameters
    /// that the query does not have, and queries that are too long or nested too deeply;
    /// [`isomorph::Kind::Unsupported`] for SERVICE.
    pub fn parse(text: &str, options: &QuestionOptions) -> Result<Question> {
        check_text(text)?;
        on_large_stack(|| {
            let parser = parser(options)?;
            let mut query = parser.parse_query(text).map_err(|error| syntax(text, &error))?;
            check_pattern(pattern_of(&query))?;
            order_columns(&mut query, text);
            for (name, term) in &options.params {
                let term = parse_term(term, options).map_err(|error| error.at(Place::field(name.clone())))?;
                let name = name.strip_prefix(['?', '$']).unwrap_or(name);
                let variable = Variable::new(name)
                    .map_err(|_| Error::usage(format!("{name} is not the name of a variable")).hint("name=TERM"))?;
                params::bind(&mut query, &variable, &term)?;
            }
            Ok(Question { query })
        })
    }

    /// The quads that it can read.
    pub fn wanted(&self) -> Wanted {
        Wanted::of(&self.query)
    }

    /// The graphs that FROM and FROM NAMED name.
    pub fn from_graphs(&self) -> Vec<String> {
        let named = |dataset: &spargebra::algebra::QueryDataset| {
            let named = dataset.named.iter().flatten();
            dataset.default.iter().chain(named).map(|name| name.as_str().to_owned()).collect()
        };
        self.query.dataset().map(named).unwrap_or_default()
    }

    /// Whether the answer is a graph: CONSTRUCT, DESCRIBE.
    pub fn makes_graph(&self) -> bool {
        matches!(self.query, Query::Construct { .. } | Query::Describe { .. })
    }

    /// Whether the answer is yes or no.
    pub fn is_ask(&self) -> bool {
        matches!(self.query, Query::Ask { .. })
    }
}

/// With `SELECT *`, variables come in the order in which the query names them; the parser sorts them by name.
fn order_columns(query: &mut Query, text: &str) {
    let Query::Select { pattern, .. } = query else { return };
    let Some(body) = after_select_star(text) else { return };
    let mut inner = pattern;
    while let GraphPattern::Distinct { inner: next }
    | GraphPattern::Reduced { inner: next }
    | GraphPattern::Slice { inner: next, .. } = inner
    {
        inner = next;
    }
    if let GraphPattern::Project { variables, .. } = inner {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let place = |variable: &Variable| {
            let ends = |at: usize| !body.get(at..).is_some_and(|rest| rest.starts_with(is_name));
            let mut marks = body.match_indices(['?', '$']).map(|(at, _)| at);
            marks.find(|at| {
                let name = body.get(at + 1..).unwrap_or_default();
                name.starts_with(variable.as_str()) && ends(at + 1 + variable.as_str().len())
            })
        };
        variables.sort_by_cached_key(|variable| place(variable).unwrap_or(usize::MAX));
    }
}

/// The text behind the `*` of `SELECT *`, if that is how the query selects.
fn after_select_star(text: &str) -> Option<&str> {
    let word = |text: &str| text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix('#') {
            rest = comment.split_once('\n')?.1;
        } else if let Some(iri) = rest.strip_prefix('<') {
            rest = iri.split_once('>')?.1;
        } else {
            let (first, behind) = rest.split_at(word(rest));
            // A prefix may have that name.
            if first.eq_ignore_ascii_case("select") && !behind.starts_with([':', '-', '.', '_']) {
                rest = behind.trim_start();
                break;
            }
            // The name of a prefix, or whatever else is in a prologue.
            rest = if first.is_empty() { rest.get(rest.chars().next()?.len_utf8()..)? } else { behind };
        }
    }
    let (first, behind) = rest.split_at(word(rest));
    if ["distinct", "reduced"].iter().any(|word| first.eq_ignore_ascii_case(word)) {
        rest = behind.trim_start();
    }
    rest.strip_prefix('*')
}

pub(crate) fn pattern_of(query: &Query) -> &GraphPattern {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    pattern
}

pub(crate) fn pattern_of_mut(query: &mut Query) -> &mut GraphPattern {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    pattern
}

/// A parser with these options.
pub(crate) fn parser(options: &QuestionOptions) -> Result<SparqlParser> {
    let mut parser = SparqlParser::new();
    if let Some(base) = &options.base {
        parser = parser
            .with_base_iri(base.clone())
            .map_err(|error| Error::usage(format!("{base:?} is not a base IRI: {error}")))?;
    }
    for (name, iri) in &options.prefixes {
        parser = parser
            .with_prefix(name.clone(), iri.clone())
            .map_err(|error| Error::usage(format!("{iri:?}, the IRI of the prefix {name}, is not an IRI: {error}")))?;
    }
    Ok(parser)
}

/// Refuses what would take a parser too long, or too deep.
pub(crate) fn check_text(text: &str) -> Result<()> {
    if text.len() > LONGEST {
        return Err(Error::usage(format!("the query has {} bytes; at most {LONGEST} are allowed", text.len())));
    }
    let (mut depth, mut line) = (0usize, 1u64);
    let mut rest = text.bytes();
    let mut quote = None;
    while let Some(byte) = rest.next() {
        match (byte, quote) {
            (b'\n', _) => {
                line += 1;
                // An apostrophe in a comment opens no quote. Brackets in the lines of long quotes are counted.
                quote = None;
            }
            (b'\\', Some(_)) => {
                rest.next();
            }
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (b'(' | b'{' | b'[', None) => {
                depth += 1;
                if depth > DEEPEST {
                    return Err(Error::usage(format!("the query is nested more than {DEEPEST} brackets deep"))
                        .at(Place::default().line(line)));
                }
            }
            (b')' | b'}' | b']', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// A term as in a query.
///
/// # Errors
/// [`isomorph::Kind::Usage`] if it is not exactly one IRI, literal or triple term.
pub(crate) fn parse_term(text: &str, options: &QuestionOptions) -> Result<Term> {
    let wrong = || {
        Error::usage(format!("{text} is not a term"))
            .hint("<http://example.org/name>, prefix:name, \"text\"@en, 42, true    a term")
    };
    // Only the one value of this query is used, so whatever the text contains cannot become a part of another query.
    let query =
        parser(options)?.parse_query(&format!("SELECT ?x {{ VALUES ?x {{ {text}\n }} }}")).map_err(|error| {
            let error = syntax(text, &error);
            if error.message().contains("is not declared") { error } else { wrong() }
        })?;
    let Query::Select { pattern: GraphPattern::Project { inner, .. }, dataset: None, .. } = query else {
        return Err(wrong());
    };
    let GraphPattern::Values { bindings, .. } = *inner else { return Err(wrong()) };
    match <[Vec<Option<GroundTerm>>; 1]>::try_from(bindings) {
        Ok([row]) => row.into_iter().next().flatten().map(Term::from).ok_or_else(wrong),
        Err(_) => Err(wrong()),
    }
}

/// The error for a text that is no query.
pub(crate) fn syntax(text: &str, error: &impl std::fmt::Display) -> Error {
    let message = error.to_string();
    let parts = message.strip_prefix("error at ").and_then(|rest| rest.split_once(": expected "));
    let place = parts.and_then(|(place, expected)| {
        let (line, column) = place.split_once(':')?;
        Some((line.parse::<usize>().ok()?, column.parse::<usize>().ok()?, expected))
    });
    let Some((line, column, expected)) = place else { return Error::usage(format!("query: {message}")) };
    let shown = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let before: String = shown.chars().take(column.saturating_sub(1)).collect();
    let found: String = shown.chars().skip(column.saturating_sub(1)).take(20).collect();
    let place = format!("line {line}, column {column}");
    if expected.contains("Prefix not found") {
        let name = undeclared(&before, &found);
        return Error::usage(format!("query, {place}: the prefix {name} is not declared"))
            .hint(format!("PREFIX {name} <http://…>    at the beginning of the query"))
            .hint(format!("--ns {}=http://…", name.trim_end_matches(':')));
    }
    let found =
        if found.trim().is_empty() { "the end of the line".to_owned() } else { format!("{:?}", found.trim_end()) };
    // The parser's word for any character.
    let expected = expected.replace(", [_]", "").replace("[_]", "something else");
    Error::usage(format!("query, {place}: expected {expected}, found {found}"))
}

/// The prefix of a name that ends or begins where parsing stopped.
fn undeclared(before: &str, after: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let start = before.trim_end().rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
    let word: String = match start.contains(':') {
        true => start.to_owned(),
        false => format!("{start}{}", after.trim_start().split(|c: char| !is_name(c)).next().unwrap_or_default()),
    };
    word.split_once(':').map_or(word.clone(), |(prefix, _)| format!("{prefix}:"))
}

/// Refuses SERVICE, and patterns that are nested too deeply.
pub(crate) fn check_pattern(pattern: &GraphPattern) -> Result<()> {
    in_pattern(pattern, 0)
}

/// The number of triple patterns in the largest join, as an upper bound: those of sub-queries and filters count, too.
pub(crate) fn largest_join(pattern: &GraphPattern) -> usize {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.len(),
        GraphPattern::Path { .. } => 1,
        GraphPattern::Values { .. } => 0,
        GraphPattern::Join { left, right }
        | GraphPattern::Minus { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::LeftJoin { left, right, .. } => largest_join(left) + largest_join(right),
        GraphPattern::Union { left, right } => largest_join(left).max(largest_join(right)),
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Group { inner, .. }
        | GraphPattern::Service { inner, .. } => largest_join(inner),
    }
}

fn deeper(depth: usize) -> Result<usize> {
    if depth >= MOST_NESTED {
        let message = format!("the query has more than {MOST_NESTED} operators inside one another");
        return Err(Error::usage(message).hint("IN and VALUES take lists of any length"));
    }
    Ok(depth + 1)
}

fn in_pattern(pattern: &GraphPattern, depth: usize) -> Result<()> {
    let depth = deeper(depth)?;
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => Ok(()),
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right }
        | GraphPattern::Lateral { left, right } => {
            in_pattern(left, depth)?;
            in_pattern(right, depth)
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            in_pattern(left, depth)?;
            in_pattern(right, depth)?;
            expression.iter().try_for_each(|expression| in_expression(expression, depth))
        }
        GraphPattern::Filter { expr, inner } => {
            in_expression(expr, depth)?;
            in_pattern(inner, depth)
        }
        GraphPattern::Extend { inner, expression, .. } => {
            in_expression(expression, depth)?;
            in_pattern(inner, depth)
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => in_pattern(inner, depth),
        GraphPattern::OrderBy { inner, expression } => {
            for key in expression {
                let (OrderExpression::Asc(key) | OrderExpression::Desc(key)) = key;
                in_expression(key, depth)?;
            }
            in_pattern(inner, depth)
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    in_expression(expr, depth)?;
                }
            }
            in_pattern(inner, depth)
        }
        GraphPattern::Service { name, .. } => {
            let name = match name {
                NamedNodePattern::NamedNode(iri) => iri.to_string(),
                NamedNodePattern::Variable(variable) => variable.to_string(),
            };
            Err(Error::unsupported(format!("SERVICE {name}: queries are not sent to other servers"))
                .hint("download that graph, and query it"))
        }
    }
}

fn in_expression(expression: &Expression, depth: usize) -> Result<()> {
    let depth = deeper(depth)?;
    let (inside, pattern) = parts(expression);
    inside.into_iter().try_for_each(|one| in_expression(one, depth))?;
    pattern.map_or(Ok(()), |pattern| in_pattern(pattern, depth))
}
