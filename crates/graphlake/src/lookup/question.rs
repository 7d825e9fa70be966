//! Questions of a query engine: a pattern whose positions are known, columns of bindings, or variables.

use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::faces::{InGraph, Object, Pattern};
use isomorph_storage::Reservation;

use super::keys::{Keys, Wanted};
use super::pattern::wanted;
use super::terms::{Bindings, Terms};
use crate::read::{GraphLake, Order};
use crate::snapshot::NamedGraph;
use crate::term::{self, QUOTED_GRAPH};
use crate::triple::Triple;

/// Memory for each row to sort the bindings, in bytes: the list of rows, and the sort itself.
const SORTING: u64 = 2 * size_of::<u32>() as u64;

/// Memory of a group in addition to its rows and keys, in bytes. There may be as many groups as rows: each row may have
/// a different predicate.
const OF_GROUP: u64 = (size_of::<Group>() + size_of::<Keys>() + 64) as u64;

/// One position of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place<'a> {
    /// A variable: its values are returned.
    #[default]
    Any,
    /// This term.
    Term(Object<'a>),
    /// The value of this column of the bindings, counted from 0.
    Column(usize),
}

/// The graph of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Graphs<'a> {
    /// Any graph, each separately; but not the graph of quoted triples.
    #[default]
    Any,
    /// The same without the default graph, like `GRAPH ?g` in SPARQL.
    AnyNamed,
    /// The default graph.
    Default,
    /// A named graph.
    Named(&'a str),
    /// The value of this column of the bindings, counted from 0; the empty text is the default graph. Literals match no
    /// graph, and the graph of quoted triples is not found either.
    Column(usize),
}

/// A pattern for a batch of bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Question<'a> {
    /// IRI, or blank node.
    pub subject: Place<'a>,
    /// IRI.
    pub predicate: Place<'a>,
    /// IRI, blank node or literal.
    pub object: Place<'a>,
    /// The graphs.
    pub graph: Graphs<'a>,
}

impl<'a> From<&Pattern<'a>> for Question<'a> {
    fn from(pattern: &Pattern<'a>) -> Self {
        let place = |term: Option<&'a str>| term.map_or(Place::Any, |term| Place::Term(Object::Term(term)));
        Question {
            subject: place(pattern.subject),
            predicate: place(pattern.predicate),
            object: pattern.object.map_or(Place::Any, Place::Term),
            graph: match pattern.graph {
                InGraph::Any => Graphs::Any,
                InGraph::Default => Graphs::Default,
                InGraph::Named(name) => Graphs::Named(name),
            },
        }
    }
}

impl<'a> Place<'a> {
    pub(super) fn column(&self) -> Option<usize> {
        if let Place::Column(column) = self { Some(*column) } else { None }
    }

    /// The text of a term that cannot be a literal; `Err` if it is one, so that nothing matches.
    pub(super) fn resource(&self) -> std::result::Result<Option<&'a str>, ()> {
        match self {
            Place::Term(Object::Term(text)) => Ok(Some(text)),
            Place::Term(Object::Literal { .. }) => Err(()),
            Place::Any | Place::Column(_) => Ok(None),
        }
    }
}

impl Question<'_> {
    /// The order in which the wanted triples are adjacent.
    pub(super) fn order(&self) -> Order {
        if self.subject == Place::Any && self.object != Place::Any { Order::Object } else { Order::Subject }
    }

    pub(super) fn has_graph(&self, graph: &NamedGraph, bound: Option<&str>) -> bool {
        let name = term::graph_name(&graph.name);
        match self.graph {
            Graphs::Any => name != Some(QUOTED_GRAPH),
            Graphs::AnyNamed => name.is_some_and(|name| name != QUOTED_GRAPH),
            Graphs::Default => name.is_none(),
            Graphs::Named(wanted) => name == Some(wanted),
            Graphs::Column(_) => name != Some(QUOTED_GRAPH) && bound == Some(name.unwrap_or_default()),
        }
    }
}

/// Rows of the bindings that want triples of the same predicates and graphs.
#[derive(Debug)]
pub(super) struct Group {
    /// The keys that are wanted.
    pub(super) wanted: Wanted,
    /// All rows of the group, if no key distinguishes them.
    pub(super) rows: Vec<u32>,
}

/// The triples of one predicate in one graph that a group wants.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub(super) group: usize,
    /// Numbers in the snapshot.
    pub(super) graph: usize,
    pub(super) predicate: usize,
    /// All that the group wants, or a part of it.
    pub(super) wanted: Wanted,
}

/// A planned question: which files to search for which keys.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) order: Order,
    pub(super) bindings: Arc<Bindings>,
    /// The wanted object, if it is known.
    pub(super) object: Option<Triple>,
    /// The column of the object, and the one of the subject.
    pub(super) object_column: Option<usize>,
    /// Whether subject, predicate, object and graph are variables.
    pub(super) asks: [bool; 4],
    pub(super) groups: Vec<Group>,
    memory: Reservation,
}

impl Asked {
    /// Sorts the rows of the bindings by their keys, and determines the graphs and predicates.
    ///
    /// # Errors
    /// Returns an error if there is no such column, a text is too long, or the budget is exhausted.
    pub(super) fn of(lake: &GraphLake, question: &Question<'_>, bindings: Arc<Bindings>) -> Result<(Asked, Vec<Unit>)> {
        let order = question.order();
        let graph_column = if let Graphs::Column(column) = question.graph { Some(column) } else { None };
        let columns = [question.subject.column(), question.predicate.column(), question.object.column(), graph_column];
        if columns.into_iter().flatten().any(|column| column >= bindings.columns().len()) {
            return Err(Error::usage("the bindings have no such column"));
        }
        let mut asked = Asked {
            order,
            object: if let Place::Term(object) = question.object { Some(wanted(&object)) } else { None },
            object_column: columns[2],
            asks: [
                question.subject == Place::Any,
                question.predicate == Place::Any,
                question.object == Place::Any,
                matches!(question.graph, Graphs::Any | Graphs::AnyNamed),
            ],
            groups: Vec::new(),
            bindings: Arc::clone(&bindings),
            memory: lake.options.budget.reserve(bindings.columns().iter().map(Terms::memory).sum())?,
        };
        let (Ok(subject), Ok(predicate)) = (question.subject.resource(), question.predicate.resource()) else {
            return Ok((asked, Vec::new()));
        };
        let [subjects, predicates, objects, graphs] =
            columns.map(|column| column.and_then(|at| bindings.columns().get(at)));
        let no_literal =
            |column: Option<&Terms>, row: u32| column.is_none_or(|terms| terms.literal(row as usize).is_none());
        let _sorting = lake.options.budget.reserve(SORTING * bindings.rows() as u64).map_err(too_many)?;
        let mut rows: Vec<u32> = Vec::with_capacity(bindings.rows());
        // Subjects, predicates and graphs are never literals, whatever the text.
        let resources = [subjects, predicates, graphs];
        rows.extend(bindings.numbers().filter(|row| resources.into_iter().all(|column| no_literal(column, *row))));
        let compare = |column: Option<&Terms>, one: u32, other: u32| {
            column.map_or(std::cmp::Ordering::Equal, |terms| terms.compare(one as usize, other as usize))
        };
        // Bindings are often sorted already.
        rows.sort_by(|one, other| {
            compare(graphs, *one, *other)
                .then_with(|| compare(predicates, *one, *other))
                .then_with(|| compare(subjects, *one, *other))
                .then_with(|| compare(objects, *one, *other))
        });
        let known = match order {
            Order::Subject => subject,
            Order::Object => asked.object.as_ref().map(|object| object.object.as_str()),
        };
        let known = match known {
            None => None,
            Some(text) => {
                let mut terms = Terms::default();
                terms.push_resource(text)?;
                Some(Arc::new(terms))
            }
        };
        let column = if order == Order::Subject { columns[0] } else { columns[2] };
        let mut units = Vec::new();
        let together = |one: &u32, other: &u32| {
            compare(graphs, *one, *other).then_with(|| compare(predicates, *one, *other)).is_eq()
        };
        for rows in rows.chunk_by(together) {
            let most = OF_GROUP + Keys::MOST * rows.len() as u64;
            asked.memory.grow(most).map_err(too_many)?;
            let row = rows.first().map_or(0, |row| *row as usize);
            let of = |column: Option<&'_ Terms>| column.map(|terms| terms.text(row).to_owned());
            let (graph, bound) = (of(graphs), of(predicates));
            let predicate = bound.as_deref().or(predicate);
            let keys = match (&known, column) {
                (Some(known), _) => Some(Keys::one(known, rows.to_vec())),
                (None, Some(column)) => Some(Keys::of(&bindings, column, rows.to_vec())),
                (None, None) => None,
            };
            let group = Group {
                rows: if keys.is_none() { rows.to_vec() } else { Vec::new() },
                wanted: keys.map_or(Wanted::All, |keys| {
                    let all = 0..keys.len();
                    Wanted::Keys(Arc::new(keys), all)
                }),
            };
            let (number, before) = (asked.groups.len(), units.capacity());
            for (at, (own, files)) in lake.snapshot.graphs.iter().zip(&lake.catalog().graphs).enumerate() {
                if question.has_graph(own, graph.as_deref()) {
                    let all = 0..files.all.len();
                    let numbers = match predicate {
                        Some(predicate) => files.number(predicate).map_or(0..0, |number| number..number + 1),
                        None => all,
                    };
                    units.extend(numbers.map(|predicate| Unit {
                        group: number,
                        graph: at,
                        predicate,
                        wanted: group.wanted.clone(),
                    }));
                }
            }
            let units = ((units.capacity() - before) * size_of::<Unit>()) as u64;
            asked.memory.grow(units).map_err(too_many)?;
            let own = (group.rows.len() * size_of::<u32>()) as u64;
            let keys = group.wanted.keys().map_or(0, |(keys, _)| keys.memory());
            asked.memory.shrink(most.saturating_sub(OF_GROUP + own + keys));
            asked.groups.push(group);
        }
        Ok((asked, units))
    }
}

/// Adds a hint to the error for too little memory for the rows of the bindings.
fn too_many(error: Error) -> Error {
    error.hint("use smaller batches of bindings")
}
