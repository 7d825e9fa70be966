//! Solutions: the values of the variables of patterns.

use isomorph_error::Result;
use isomorph_graphlake::{Bindings, Join, JoinPattern, Node, TripleId};
use isomorph_model::faces::Object;

use super::lake::LakeMatches;
use super::triple::text;

/// The first solutions of patterns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Solutions {
    /// The names of the variables, in order of appearance.
    pub variables: Vec<String>,
    /// For each solution, the values of the variables, as in N-Triples.
    pub rows: Vec<Vec<String>>,
    /// For each solution, the ids of the matching triples, if requested.
    pub ids: Vec<Vec<String>>,
    /// Whether these are all solutions.
    pub all: bool,
}

/// The first `limit` solutions in a store.
pub(super) fn of_lake(matches: &LakeMatches<'_>, limit: u64) -> Result<Solutions> {
    let (patterns, variables) = matches.query.joined();
    let mut join = Join::new(matches.lake, &patterns, variables)?.with_small_batches();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let names = matches.query.variables.len();
    let columns: Vec<Option<usize>> = (0..variables).map(|variable| join.column(variable)).collect();
    let quoting: Vec<bool> = (0..names).map(|variable| may_quote(&patterns, variable)).collect();
    let mut solved = Solutions { variables: matches.query.variables.clone(), ..Solutions::default() };
    while solved.rows.len() < limit {
        let Some(batch) = join.next_batch()? else {
            solved.all = true;
            break;
        };
        matches.progress.advance(0)?;
        for row in 0..batch.rows().min(limit - solved.rows.len()) {
            let cell = |variable: usize| -> Result<String> {
                Ok(match term(&batch, &columns, variable, row) {
                    Some(Object::Term(stored)) if quoting.get(variable) == Some(&true) => {
                        let spelt = matches.lake.spelt(stored)?;
                        text(&Object::Term(spelt.as_deref().unwrap_or(stored)))
                    }
                    Some(term) => text(&term),
                    None => String::new(),
                })
            };
            solved.rows.push((0..names).map(cell).collect::<Result<_>>()?);
            if matches.ids {
                let ids = patterns.iter().map(|pattern| id(pattern, |at| term(&batch, &columns, at, row)));
                solved.ids.push(ids.collect());
            }
        }
    }
    Ok(solved)
}

/// Whether a variable can be a quoted triple: only objects can, an id in another place is an IRI.
fn may_quote(patterns: &[JoinPattern<'_>], variable: usize) -> bool {
    patterns.iter().any(|pattern| matches!(pattern.nodes.last(), Some(Node::Variable(object)) if *object == variable))
}

/// The value of a variable in a row.
fn term<'b>(batch: &'b Bindings, columns: &[Option<usize>], variable: usize, row: usize) -> Option<Object<'b>> {
    batch.columns().get(columns.get(variable).copied().flatten()?)?.get(row)
}

/// The id of the triple that a pattern matched in a solution.
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
