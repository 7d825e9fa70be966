//! The changes that a transaction has gathered, graph by graph.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::{Object, Quad};

use crate::read::Order;
#[cfg(doc)]
use crate::rules;
use crate::snapshot::DataFile;
use crate::term::{self, Datatype};
use crate::triple::Triple;

/// A triple, ordered by subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row(pub(super) Triple);

impl Ord for Row {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.compare(&other.0, Order::Subject)
    }
}

impl PartialOrd for Row {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Memory of a row in addition to its texts, in bytes.
const ROW: u64 = size_of::<Row>() as u64 + 48;

/// The final change of a triple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Insert,
    Delete,
}

/// The triples of one predicate that are inserted or deleted; of several changes of one triple the last counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) rows: BTreeMap<Row, Fate>,
    /// Files that were written before the end, because memory was short; their triples are not in `rows`.
    pub(super) spilled: Written,
    /// The number of parts: a part has each triple once.
    pub(super) spills: u32,
    /// Files of the inserts in `rows`: they are reused if the commit is repeated.
    pub(super) written: Option<Written>,
}

/// New files of one predicate, in both orders.
#[derive(Debug, Clone, Default)]
pub(super) struct Written {
    pub(super) subject: Vec<DataFile>,
    pub(super) object: Vec<DataFile>,
}

impl Rows {
    /// The triples that are inserted, by subject.
    pub(super) fn inserts(&self) -> impl Iterator<Item = &Triple> {
        self.rows.iter().filter(|(_, fate)| **fate == Fate::Insert).map(|(row, _)| &row.0)
    }

    /// The triples that are deleted, by subject.
    pub(super) fn deletes(&self) -> impl Iterator<Item = &Triple> {
        self.rows.iter().filter(|(_, fate)| **fate == Fate::Delete).map(|(row, _)| &row.0)
    }
}

/// The files that a graph starts with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum From {
    /// Its own.
    #[default]
    Own,
    /// None: it is new, or was cleared.
    Empty,
    /// Those of this graph.
    Copy(String),
}

/// The changes to a graph.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub(super) from: From,
    /// It was dropped, and nothing was inserted into it since.
    pub(super) dropped: bool,
    /// It must exist even if it is empty.
    pub(super) wanted: bool,
    pub(super) predicates: BTreeMap<String, Rows>,
    /// Its id, if it has none yet, and those of new predicates: the same if the commit is repeated.
    pub(super) id: Option<String>,
    pub(super) partitions: BTreeMap<String, String>,
}

impl Work {
    /// Records a change of a triple and returns the additional memory in bytes.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] for the deletion of a triple that may be among those that are written already.
    pub(super) fn note(&mut self, predicate: &str, triple: Triple, fate: Fate) -> Result<u64> {
        let bytes = triple.bytes() as u64 + ROW;
        if fate == Fate::Insert {
            // The graph is created even if the triple is deleted again before the end.
            (self.dropped, self.wanted) = (false, true);
        }
        if !self.predicates.contains_key(predicate) {
            self.predicates.insert(predicate.to_owned(), Rows::default());
        }
        let Some(rows) = self.predicates.get_mut(predicate) else { return Ok(0) };
        if fate == Fate::Delete && !rows.spilled.subject.is_empty() {
            let message =
                "triples of this predicate were written early, to save memory, so none of them can be deleted";
            return Err(Error::new(Kind::TooLarge, message).hint("commit in parts, deletions first, or raise --memory"));
        }
        // There is nothing to delete.
        if fate == Fate::Delete && self.from == From::Empty {
            rows.rows.remove(&Row(triple));
            return Ok(0);
        }
        Ok(if rows.rows.insert(Row(triple), fate).is_none() { bytes } else { 0 })
    }
}

/// The triple of a quad as records have it.
///
/// # Errors
/// [`rules::IRI`] if a term is neither an absolute IRI nor, where that is allowed, a blank node.
pub(super) fn triple_of(quad: &Quad<'_>) -> Result<Triple> {
    term::resource(quad.subject, "subject")?;
    let mut triple = Triple { subject: quad.subject.to_owned(), ..Triple::default() };
    if !term::is_absolute_iri(quad.predicate) {
        return Err(term::no_iri(quad.predicate, "predicate"));
    }
    match quad.object {
        Object::Term(text) => {
            term::resource(text, "object")?;
            triple.object = text.to_owned();
        }
        Object::Literal { lexical, datatype, language, direction } => {
            triple.literal = true;
            triple.object = lexical.to_owned();
            if language.is_none() && !datatype.is_empty() {
                term::datatype(datatype)?;
            }
            term::direction_fits(language, direction)?;
            let iri = Some(datatype).filter(|_| language.is_none());
            Datatype { iri, language, direction }.push(&mut triple.datatype);
            let _as_given = term::normalize(&mut triple.datatype);
        }
    }
    // Lengths have 31 bits.
    if [&triple.subject, &triple.object, &triple.datatype].into_iter().any(|text| text.len() > i32::MAX as usize) {
        return Err(Error::new(Kind::TooLarge, "a text in a record must be shorter than 2 GiB"));
    }
    Ok(triple)
}

/// The name of a graph in a snapshot.
///
/// # Errors
/// [`rules::IRI`], [`rules::RESERVED`].
pub(super) fn graph_key(name: Option<&str>) -> Result<String> {
    term::named_graph(name)?;
    match name {
        None => Ok(term::DEFAULT_GRAPH.to_owned()),
        Some(name) => term::resource(name, "graph").map(|()| name.to_owned()),
    }
}
