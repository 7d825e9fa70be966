//! Loads by look-ups.
//!
//! Patterns of one group must match together. After a selective one, the values of its variables are few, and the others are looked up for
//! these values only: the friends of one person, then the names of these friends.

use std::collections::{BTreeSet, HashMap};

use isomorph::convert::Progress;
use isomorph::error::Result;
use isomorph::model::faces::{InGraph, Object, Pattern, Quad, TripleLookUps};

use crate::builder::Builder;
use crate::patterns::{WantedGraph, WantedPattern};

/// Quads between two checks for cancellation.
const AT_ONCE: u64 = 1 << 14;

/// The most values of a variable for which others are looked up.
const MOST_VALUES: usize = 2_000;

/// Triples that are worth several threads.
const MANY: f64 = 20_000.0;

/// What the look-up of one value costs, in triples that could be read instead.
const COST: f64 = 16.0;

/// The values of variables of a group: IRIs and blank nodes, and whether there are other terms. A variable with too many values is not here.
type Values = HashMap<String, Possible>;

#[derive(Debug, Clone, Default)]
struct Possible {
    resources: BTreeSet<String>,
    /// Literals or triple terms.
    others: bool,
}

/// Adds the quads that match the patterns, and can be used by the query.
///
/// # Errors
/// If the source cannot be read, or the quads do not fit into the budget.
pub(crate) fn all(
    triples: &dyn TripleLookUps,
    patterns: &[WantedPattern],
    threads: usize,
    builder: &mut Builder,
    progress: &dyn Progress,
) -> Result<()> {
    let groups: BTreeSet<usize> = patterns.iter().map(|pattern| pattern.group).collect();
    for group in groups {
        let mut left: Vec<&WantedPattern> = patterns.iter().filter(|pattern| pattern.group == group).collect();
        let mut values = Values::new();
        while let Some(at) = cheapest(triples, &left, &values) {
            let pattern = left.swap_remove(at);
            one(triples, pattern, threads, &mut values, builder, progress)?;
        }
    }
    Ok(())
}

/// How a pattern is looked up.
enum Way<'v> {
    /// By its constants.
    Constants,
    /// By the values of its subject, or of its object.
    Subjects(&'v Possible),
    Objects(&'v Possible),
}

/// The cheapest way, and its cost.
fn way<'v>(triples: &dyn TripleLookUps, pattern: &WantedPattern, values: &'v Values) -> (Way<'v>, f64) {
    let constants = triples.estimate(&of(pattern, None, None)).rows;
    let mut best = (Way::Constants, constants);
    let [subject, object] = pattern.names.each_ref().map(|name| values.get(name.as_ref()?));
    // A subject is never a literal; an object may be one, so its values are enough only if none is.
    let subjects = subject.map(|known| (Way::Subjects(known), known));
    let objects = object.filter(|known| !known.others).map(|known| (Way::Objects(known), known));
    for (way, known) in subjects.into_iter().chain(objects) {
        let cost = known.resources.len() as f64 * COST;
        if cost < best.1 {
            best = (way, cost);
        }
    }
    best
}

fn cheapest(triples: &dyn TripleLookUps, patterns: &[&WantedPattern], values: &Values) -> Option<usize> {
    let costs = patterns.iter().enumerate().map(|(at, pattern)| (at, way(triples, pattern, values).1));
    costs.min_by(|(_, left), (_, right)| left.total_cmp(right)).map(|(at, _)| at)
}

fn of<'p>(wanted: &'p WantedPattern, subject: Option<&'p str>, object: Option<&'p str>) -> Pattern<'p> {
    let graph = match &wanted.graph {
        WantedGraph::Any | WantedGraph::Named => InGraph::Any,
        WantedGraph::Default => InGraph::Default,
        WantedGraph::One(name) => InGraph::Named(name),
    };
    Pattern {
        subject: subject.or(wanted.subject.as_deref()),
        predicate: wanted.predicate.as_deref(),
        object: object.map(Object::Term).or(wanted.object.as_ref().map(|object| object.object())),
        graph,
    }
}

/// Adds the quads that match a pattern, and learns the values of its variables.
fn one(
    triples: &dyn TripleLookUps,
    wanted: &WantedPattern,
    threads: usize,
    values: &mut Values,
    builder: &mut Builder,
    progress: &dyn Progress,
) -> Result<()> {
    let mut found: [Option<Possible>; 2] =
        wanted.names.each_ref().map(|name| name.as_ref().map(|_| Possible::default()));
    let mut unsaid = 0;
    let mut take = |quad: &Quad<'_>| {
        unsaid += 1;
        if unsaid == AT_ONCE {
            progress.advance(std::mem::take(&mut unsaid))?;
        }
        let [subjects, objects] = &mut found;
        learn(subjects, &Object::Term(quad.subject));
        learn(objects, &quad.object);
        builder.quad(quad)
    };
    match way(triples, wanted, values) {
        // Many are read on other threads.
        (Way::Constants, rows) if rows >= MANY => triples.matching(&of(wanted, None, None), threads, &mut take)?,
        (Way::Constants, _) => triples.matching(&of(wanted, None, None), 1, &mut take)?,
        (Way::Subjects(known), _) => {
            for subject in &known.resources {
                triples.matching(&of(wanted, Some(subject), None), 1, &mut take)?;
            }
        }
        (Way::Objects(known), _) => {
            for object in &known.resources {
                triples.matching(&of(wanted, None, Some(object)), 1, &mut take)?;
            }
        }
    }
    for (name, found) in wanted.names.iter().zip(found) {
        let (Some(name), Some(found)) = (name, found) else { continue };
        // All patterns of the group must match, so fewer values of one are the values of all.
        let fewer = values.get(name).is_none_or(|known| found.resources.len() < known.resources.len());
        if fewer {
            values.insert(name.clone(), found);
        }
    }
    Ok(())
}

/// Notes a value; forgets all of them if there are too many.
fn learn(values: &mut Option<Possible>, term: &Object<'_>) {
    let Some(known) = values else { return };
    match term {
        Object::Term(text) if !text.starts_with("<<(") => {
            if !known.resources.contains(*text) {
                known.resources.insert((*text).to_owned());
            }
        }
        _ => known.others = true,
    }
    if known.resources.len() > MOST_VALUES {
        *values = None;
    }
}
