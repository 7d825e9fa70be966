//! A query from its text to its rows.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use isomorph::dataset::Cancel;
use isomorph::storage::Budget;
use isomorph::{Error, Kind};
use open_cypher::{DiagnosticCode, ParseErrors, Span};

use crate::exec::{Context, Results};
use crate::fault::{Fault, Result};
use crate::graph::PropertyGraph;
use crate::lower;
use crate::names::Names;
use crate::parts::Received;
use crate::plan::{Clause, Plan};
use crate::respelled::Respelled;
use crate::value::Value;

/// The longest text of a query, bytes.
const LONGEST: usize = 1 << 18;

/// The stack for parsing, bytes: the parser's tree can be as deep as the text is long. Only what is touched is used.
const STACK: usize = 1 << 28;

/// A query that was checked.
#[derive(Debug)]
pub struct Query {
    pub(crate) plan: Plan,
    names: Names,
}

/// The text of a query, and the spelling that was parsed if it is another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'s> {
    text: &'s str,
    respelled: Option<&'s Respelled>,
}

impl<'s> Source<'s> {
    /// The text that was parsed.
    pub(crate) fn parsed(&self) -> &'s str {
        self.respelled.map_or(self.text, |respelled| respelled.text.as_str())
    }

    fn original(&self, span: Span) -> Span {
        self.respelled.map_or(span, |respelled| respelled.original(span))
    }

    /// What the query says in a place of the parsed text.
    pub(crate) fn written(&self, span: Span) -> &'s str {
        self.original(span).text(self.text).unwrap_or_default()
    }
}

/// How a query runs.
#[derive(Debug)]
pub struct Options {
    /// Values of `$name`.
    pub parameters: BTreeMap<String, Value>,
    /// The memory for what a query keeps: sorted and grouped rows, lists.
    pub budget: Budget,
    /// Cancels it.
    pub cancel: Cancel,
    /// The longest time that it may take.
    pub timeout: Option<Duration>,
    /// Match every pattern from node to node, also where going over a table is faster: to compare both ways.
    pub node_by_node: bool,
    /// The time of `datetime()` and its like.
    pub now: chrono::DateTime<chrono::Utc>,
}

impl Options {
    /// No parameters, no time limit.
    pub fn new(budget: Budget) -> Self {
        Options {
            parameters: BTreeMap::new(),
            budget,
            cancel: Cancel::new(),
            timeout: None,
            node_by_node: false,
            now: chrono::Utc::now(),
        }
    }
}

impl Query {
    /// Parses and checks a query. Parameters must have a value in `parameters`.
    ///
    /// # Errors
    /// A [`Fault::Query`] at compile time, with its place in the text; [`Kind::TooLarge`] for a text of more than 256 KiB or an
    /// expression that is too deep.
    pub fn parse(text: &str, parameters: &BTreeMap<String, Value>) -> Result<Query> {
        if text.len() > LONGEST {
            let error =
                Error::new(Kind::TooLarge, format!("the query has {} bytes; the limit is {LONGEST}", text.len()));
            return Err(Fault::Other(error.hint("pass long lists as parameters: --param ids='[1,2,3]'")));
        }
        let names: BTreeSet<String> = parameters.keys().cloned().collect();
        std::thread::scope(|scope| {
            let parse = || {
                let (parsed, respelled) = match open_cypher::parse(text) {
                    Ok(parsed) => (parsed, None),
                    Err(errors) => {
                        let respelled = Respelled::of(text).ok_or_else(|| first(&errors, text))?;
                        let moved = |errors: ParseErrors| {
                            first(&errors, &respelled.text).moved(|span| respelled.original(span))
                        };
                        let parsed = open_cypher::parse(&respelled.text).map_err(moved)?;
                        (parsed, Some(respelled))
                    }
                };
                let tokens = parsed.tokens.iter().filter(|token| !token.is_trivia()).map(|token| token.span).collect();
                let source = Source { text, respelled: respelled.as_ref() };
                let lowered = lower::lower(&parsed.program, source, tokens, &names);
                let (plan, names) = lowered.map_err(|fault| fault.moved(|span| source.original(span)))?;
                Ok(Query { plan, names })
            };
            let thread = std::thread::Builder::new().name("isomorph-cypher-parser".to_owned()).stack_size(STACK);
            let handle = thread.spawn_scoped(scope, parse).map_err(|error| Fault::Other(error.into()))?;
            let broken = || Fault::Other(Error::new(Kind::Unsupported, "the parser failed on this query"));
            handle.join().unwrap_or_else(|_| Err(broken()))
        })
    }

    /// The same for the pattern of a `GRAPH_TABLE` of SQL/PGQ, as `MATCH … RETURN …`: a match may have a relationship several times.
    ///
    /// # Errors
    /// As [`Query::parse`]; [`Kind::Unsupported`] for other clauses, aggregates, and lengths without an upper bound.
    pub fn of_graph_table(text: &str, parameters: &BTreeMap<String, Value>) -> Result<Query> {
        let mut query = Query::parse(text, parameters)?;
        let refused = |what: &str| Err(Fault::Other(Error::unsupported(format!("GRAPH_TABLE: {what} not supported"))));
        let [branch] = query.plan.branches.as_mut_slice() else { return refused("UNION is") };
        let [Clause::Match { pattern, optional: false }, Clause::Project(projection)] = branch.clauses.as_mut_slice()
        else {
            return refused("more than MATCH, WHERE and COLUMNS is");
        };
        if projection.is_aggregating || projection.distinct {
            return refused("aggregates and DISTINCT inside are");
        }
        if pattern.relationships.iter().any(|one| one.length.is_some_and(|(_, most)| most == u64::MAX)) {
            return refused("a quantifier without an upper bound is");
        }
        pattern.repeats = true;
        Ok(query)
    }

    /// The labels and relationship types that it names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.plan.columns
    }

    /// Starts the query. Rows are computed when they are asked for.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn run<'q, 'g>(&'q self, graph: &'g dyn PropertyGraph, options: &'g Options) -> Result<Rows<'q, 'g>> {
        let context = self.context(graph, options)?;
        let start = vec![Value::Null; self.plan.width];
        Ok(Rows::of(Results::outermost(&self.plan, start), context))
    }

    pub(crate) fn context<'g>(&self, graph: &'g dyn PropertyGraph, options: &'g Options) -> Result<Context<'g>> {
        let seed = chrono::Utc::now().timestamp_nanos_opt().unwrap_or_default().unsigned_abs() | 1;
        Ok(Context {
            graph,
            parameters: &options.parameters,
            cancel: options.cancel.clone(),
            deadline: options.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            memory: RefCell::new(Context::reservation(&options.budget)?),
            pending: Cell::new(0),
            ticks: Cell::new(0),
            regexes: RefCell::new(HashMap::new()),
            now: options.now,
            random: Cell::new(seed),
            width: self.plan.width,
            node_by_node: options.node_by_node,
            part: None,
            divided: RefCell::default(),
        })
    }
}

/// The query after `EXPLAIN` or `PROFILE`, in its place in the text, and whether it is to be run; nothing, if the text begins with neither.
pub fn explained(text: &str) -> Option<(String, bool)> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n')?.1;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else {
            break;
        }
    }
    let (word, query) = rest.split_at_checked("explain".len())?;
    let runs = word.eq_ignore_ascii_case("profile");
    if !(runs || word.eq_ignore_ascii_case("explain")) || !query.starts_with(char::is_whitespace) {
        return None;
    }
    // Blanks keep the lines and columns of errors.
    let before = text.get(..text.len() - query.len())?;
    let blank = before.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' });
    Some((blank.chain(query.chars()).collect(), runs))
}

/// The rows of a running query.
pub struct Rows<'q, 'g> {
    found: Found<'q, 'g>,
    context: Context<'g>,
}

enum Found<'q, 'g> {
    Here(Box<Results<'q, 'g>>),
    /// By another process.
    Elsewhere(Received<'g>),
}

impl<'q, 'g> Rows<'q, 'g> {
    pub(crate) fn of(results: Results<'q, 'g>, context: Context<'g>) -> Self {
        Rows { found: Found::Here(Box::new(results)), context }
    }

    pub(crate) fn received(received: Received<'g>, context: Context<'g>) -> Self {
        Rows { found: Found::Elsewhere(received), context }
    }
}

impl std::fmt::Debug for Rows<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").finish_non_exhaustive()
    }
}

impl Iterator for Rows<'_, '_> {
    type Item = Result<Vec<Value>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.found {
            Found::Here(results) => results.next(&self.context).transpose(),
            Found::Elsewhere(received) => self.context.tick().and_then(|()| received.next()).transpose(),
        }
    }
}

/// The first error of the parser.
fn first(errors: &ParseErrors, text: &str) -> Fault {
    let Some(found) = errors.diagnostics().iter().min_by_key(|one| one.primary_span.start) else {
        return Fault::syntax("UnexpectedSyntax", "the query cannot be parsed", Span::empty(0));
    };
    let written = found.primary_span.text(text).unwrap_or_default();
    let detail = match found.code {
        DiagnosticCode::InvalidNumber => "InvalidNumberLiteral",
        DiagnosticCode::InvalidEscape => "InvalidUnicodeLiteral",
        // A name directly after a digit.
        DiagnosticCode::UnexpectedToken | DiagnosticCode::ExtraToken
            if text
                .get(..found.primary_span.start)
                .is_some_and(|before| before.ends_with(|one: char| one.is_ascii_alphanumeric())) =>
        {
            "InvalidNumberLiteral"
        }
        DiagnosticCode::InvalidToken if !written.is_ascii() => "InvalidUnicodeCharacter",
        _ => "UnexpectedSyntax",
    };
    let fault = Fault::syntax(detail, found.message.clone(), found.primary_span);
    match &found.help {
        Some(help) => fault.hint(help.clone()),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explained_queries_keep_their_places() {
        assert_eq!(explained("EXPLAIN MATCH (n) RETURN n"), Some(("        MATCH (n) RETURN n".to_owned(), false)));
        assert_eq!(
            explained("// why\n profile\nRETURN 1"),
            Some((format!("{}\n{}\nRETURN 1", " ".repeat(6), " ".repeat(8)), true))
        );
        for text in ["MATCH (explain) RETURN explain", "explainer", "EXPLAIN", "", "/* open"] {
            assert_eq!(explained(text), None, "{text}");
        }
    }
}
