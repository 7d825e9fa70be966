//! Solutions of several patterns that share variables.

use isomorph::Result;
use isomorph::formats::graphlake::{Bindings, Join, JoinPattern, Node, TripleId};
use isomorph::model::faces::Object;
use isomorph::model::{ntriples, term};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Answer, Asking};
use crate::console::Console;
use crate::render::{Cell, Column, Table};
use crate::report::RuleDocument;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    pattern: &'a str,
    variables: &'a [String],
    solutions: &'a [Map<String, Value>],
    /// For each solution the id of the triple that each pattern found.
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<Vec<String>>>,
    /// 0 if there are no more; None if no more were looked for.
    more: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<RuleDocument<'a>>,
}

/// The first solutions.
#[derive(Debug, Default)]
pub(super) struct Solved {
    /// For each the terms of the variables that have names.
    pub(super) rows: Vec<Vec<String>>,
    /// For each the ids of the triples that the patterns found, where they are wanted.
    pub(super) ids: Vec<Vec<String>>,
    /// Whether these are all.
    pub(super) all: bool,
}

/// Finds as many solutions as are wanted: the last of them ends the work.
pub(super) fn first(asking: &Asking<'_>) -> Result<Solved> {
    let (patterns, variables) = asking.query.joined();
    let mut join = Join::new(asking.lake, &patterns, variables)?.with_small_batches();
    let limit = usize::try_from(super::limit(asking.args)).unwrap_or(usize::MAX);
    let names = asking.query.variables.len();
    let columns: Vec<Option<usize>> = (0..variables).map(|variable| join.column(variable)).collect();
    let quoting: Vec<bool> = (0..names).map(|variable| may_quote(&patterns, variable)).collect();
    let mut solved = Solved::default();
    while solved.rows.len() < limit {
        let Some(batch) = join.next_batch()? else {
            solved.all = true;
            break;
        };
        for row in 0..batch.rows().min(limit - solved.rows.len()) {
            let cell = |variable: usize| -> Result<String> {
                Ok(match term(&batch, &columns, variable, row) {
                    Some(Object::Term(stored)) if quoting.get(variable) == Some(&true) => {
                        let spelt = asking.lake.spelt(stored)?;
                        text(&Object::Term(spelt.as_deref().unwrap_or(stored)))
                    }
                    Some(term) => text(&term),
                    None => String::new(),
                })
            };
            solved.rows.push((0..names).map(cell).collect::<Result<_>>()?);
            if asking.args.ids {
                let ids = patterns.iter().map(|pattern| id(pattern, |at| term(&batch, &columns, at, row)));
                solved.ids.push(ids.collect());
            }
        }
    }
    Ok(solved)
}

/// How many solutions there are.
pub(super) fn count(asking: &Asking<'_>) -> Result<u64> {
    let (patterns, variables) = asking.query.joined();
    Join::new(asking.lake, &patterns, variables)?.count(asking.threads)
}

/// Shows the solutions, or how many there are.
pub fn run(asking: &Asking<'_>, console: &Console) -> Result<Answer> {
    if asking.args.count {
        return asking.counted(count(asking)?, "solution", console);
    }
    let Solved { rows: found, ids, all } = first(asking)?;
    let names = &asking.query.variables;
    let more = Some(0).filter(|_| all);
    let (count, rest) = super::extent(found.len() as u64, more, "solution", true);
    let mut screen = console.screen();
    screen.line("match", &format!("{}   {count}", asking.text));
    let shown_ids = if asking.args.ids { asking.query.patterns.len() } else { 0 };
    let mut columns = vec![Column::stage()];
    columns.extend((0..names.len() + shown_ids).map(|at| Column::text(u8::try_from(at).unwrap_or(u8::MAX))));
    let mut table = Table::new(columns);
    let head = names.iter().map(|name| Cell::from(format!("?{name}")));
    let ids_head = (1..=shown_ids).map(|number| Cell::from(format!("id {number}")));
    table.row(std::iter::once(Cell::from("")).chain(head).chain(ids_head));
    for (at, row) in found.iter().enumerate() {
        let cells = row.iter().map(|term| Cell::from(asking.prefixes.shorten(term)));
        let own = ids.get(at).into_iter().flatten().map(Cell::from);
        table.row(std::iter::once(Cell::from("")).chain(cells).chain(own));
    }
    screen.table(&table);
    if let Some(rest) = rest {
        screen.line("", &rest);
    }
    console.show(&screen)?;
    let solutions: Vec<Map<String, Value>> =
        found.into_iter().map(|row| names.iter().cloned().zip(row.into_iter().map(Value::from)).collect()).collect();
    let path = &asking.args.path;
    let ids = asking.args.ids.then_some(ids);
    let (pattern, findings) = (asking.text, RuleDocument::all(asking.findings));
    console.document(&Document { path, pattern, variables: names, solutions: &solutions, ids, more, findings })?;
    Ok(Answer::Yes)
}

/// Whether a variable may be a quoted triple: only objects are, an id elsewhere is an IRI.
fn may_quote(patterns: &[JoinPattern<'_>], variable: usize) -> bool {
    patterns.iter().any(|pattern| matches!(pattern.nodes.last(), Some(Node::Variable(object)) if *object == variable))
}

/// What a variable has in a row.
fn term<'b>(batch: &'b Bindings, columns: &[Option<usize>], variable: usize, row: usize) -> Option<Object<'b>> {
    batch.columns().get(columns.get(variable).copied().flatten()?)?.get(row)
}

/// The id of the triple that a pattern found in a solution.
fn id<'t>(pattern: &JoinPattern<'t>, value: impl Fn(usize) -> Option<Object<'t>>) -> String {
    let [subject, predicate, object] = pattern.nodes.map(|node| match node {
        Node::Term(term) => Some(term),
        Node::Variable(variable) => value(variable),
    });
    match (subject, predicate, object) {
        (Some(Object::Term(subject)), Some(Object::Term(predicate)), Some(object)) => {
            TripleId::of(subject, predicate, &object).to_string()
        }
        _ => String::new(),
    }
}

/// A term as in N-Triples.
pub fn text(object: &Object<'_>) -> String {
    match object {
        Object::Term(text) => term::ntriples(text),
        literal => {
            let mut text = String::new();
            ntriples::push_object(&mut text, literal);
            text
        }
    }
}
