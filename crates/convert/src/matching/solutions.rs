//! Solutions: the values of the variables of patterns.

use isomorph_error::{Error, Kind, Result};
use isomorph_graphlake::{Bindings, GraphLake, Join, JoinPattern, Node, TripleId};
use isomorph_model::Source;
use isomorph_model::faces::{Object, Quad};
use isomorph_rdf::RdfText;

use super::lake::LakeMatches;
use super::pattern::Query;
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

/// The first `limit` solutions in a graph of triples: several patterns in a GraphLake store, one in an RDF text, which
/// is read from the beginning. Reading ends after the last solution.
///
/// # Errors
/// Returns [`Kind::Unsupported`] for graphs of other formats, and for several patterns in a text; and errors of
/// reading.
pub fn solutions(native: &dyn Source, query: Query, limit: u64, threads: usize) -> Result<Solutions> {
    let any = native.as_any();
    if let Some(lake) = any.and_then(|any| any.downcast_ref::<GraphLake>()) {
        return LakeMatches::new(lake, query, threads)?.solutions(limit);
    }
    match any.and_then(|any| any.downcast_ref::<RdfText>()) {
        Some(text) => of_text(text, query, limit),
        None => Err(Error::unsupported("patterns can only be matched in GraphLake stores and RDF texts")),
    }
}

/// The first solutions in a store.
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

/// The first solutions of one pattern in a text.
fn of_text(source: &RdfText, query: Query, limit: u64) -> Result<Solutions> {
    let [pattern] = query.patterns.as_slice() else {
        return Err(Error::unsupported("only one pattern can be matched in a text; joins need a store"));
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut solved = Solutions { variables: query.variables.clone(), ..Solutions::default() };
    let read = source.quads(&mut |quad: Quad<'_>| {
        if !pattern.fits(&quad) {
            return Ok(());
        }
        if solved.rows.len() >= limit {
            return Err(Error::new(Kind::Cancelled, "the limit of solutions is reached"));
        }
        solved.rows.push(query.variables.iter().map(|name| pattern.value(name, &quad).unwrap_or_default()).collect());
        Ok(())
    });
    match read {
        Ok(()) => solved.all = true,
        Err(error) if error.kind() == Kind::Cancelled && solved.rows.len() >= limit => {}
        Err(error) => return Err(error),
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
