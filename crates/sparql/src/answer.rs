//! Answers, and how they are written.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::time::Duration;

use isomorph::error::Result;
use isomorph::model::faces::{Object, Quad};
use isomorph::model::ntriples;
use isomorph::storage::{Budget, Reservation};
use oxrdf::{BaseDirection, GraphName, Literal, NamedOrBlankNode, Term, Triple, Variable};
use sparesults::{QueryResultsFormat, QueryResultsSerializer};
use spareval::{QueryResults, QuerySolution, QuerySolutionIter, QueryTripleIter};

use crate::run::failure;

/// The answer to a query.
pub enum Answer<'a> {
    /// SELECT.
    Solutions(Solutions<'a>),
    /// ASK.
    Boolean(bool),
    /// CONSTRUCT and DESCRIBE.
    Graph(Triples<'a>),
}

/// Solutions, as they are found.
pub struct Solutions<'a> {
    inner: QuerySolutionIter<'a>,
    timeout: Option<Duration>,
}

/// The triples of a graph, each once, as they are found.
pub struct Triples<'a> {
    inner: QueryTripleIter<'a>,
    timeout: Option<Duration>,
    seen: Seen,
}

/// The triples that were passed on, by a number that is drawn from each: the library forgets those with blank nodes, and those before the last million.
struct Seen {
    numbers: HashSet<u128>,
    keys: [RandomState; 2],
    held: Reservation,
}

/// Bytes that a number takes in a set that may have just doubled.
const BYTES_OF_SEEN: u64 = 40;

impl Seen {
    fn new(budget: &Budget) -> Result<Self> {
        Ok(Seen { numbers: HashSet::new(), keys: [RandomState::new(), RandomState::new()], held: budget.reserve(0)? })
    }

    /// Whether a triple is new.
    fn insert(&mut self, triple: &Triple) -> Result<bool> {
        let [high, low] = self.keys.each_ref().map(|key| u128::from(key.hash_one(triple)));
        let is_new = self.numbers.insert((high << 64) | low);
        if is_new {
            self.held.grow(BYTES_OF_SEEN).map_err(|error| error.hint("--memory"))?;
        }
        Ok(is_new)
    }
}

impl<'a> Answer<'a> {
    pub(crate) fn new(results: QueryResults<'a>, timeout: Option<Duration>, budget: &Budget) -> Result<Self> {
        Ok(match results {
            QueryResults::Solutions(inner) => Answer::Solutions(Solutions { inner, timeout }),
            QueryResults::Boolean(answer) => Answer::Boolean(answer),
            QueryResults::Graph(inner) => Answer::Graph(Triples { inner, timeout, seen: Seen::new(budget)? }),
        })
    }
}

impl Solutions<'_> {
    /// The selected variables, in the order of the query.
    pub fn variables(&self) -> &[Variable] {
        self.inner.variables()
    }
}

impl Iterator for Solutions<'_> {
    type Item = Result<QuerySolution>;

    fn next(&mut self) -> Option<Self::Item> {
        self.inner.next().map(|solution| solution.map_err(|error| failure(error, self.timeout)))
    }
}

impl Iterator for Triples<'_> {
    type Item = Result<Triple>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let triple = match self.inner.next()? {
                Ok(triple) => triple,
                Err(error) => return Some(Err(failure(error, self.timeout))),
            };
            match self.seen.insert(&triple) {
                Ok(true) => return Some(Ok(triple)),
                Ok(false) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Writes solutions in a format of the W3C. Returns their number.
///
/// # Errors
/// Those of the evaluation, and of writing.
pub fn write_solutions(solutions: Solutions<'_>, format: QueryResultsFormat, out: &mut dyn Write) -> Result<u64> {
    let serializer = QueryResultsSerializer::from_format(format);
    let mut writer = serializer.serialize_solutions_to_writer(&mut *out, solutions.variables().to_vec())?;
    let mut count = 0;
    for solution in solutions {
        writer.serialize(&solution?)?;
        count += 1;
    }
    writer.finish()?.flush()?;
    Ok(count)
}

/// Writes the answer of ASK in a format of the W3C.
///
/// # Errors
/// If it cannot be written.
pub fn write_boolean(answer: bool, format: QueryResultsFormat, out: &mut dyn Write) -> Result<()> {
    QueryResultsSerializer::from_format(format).serialize_boolean_to_writer(&mut *out, answer)?.flush()?;
    Ok(())
}

/// Appends a term in N-Triples syntax.
pub fn push_term(out: &mut String, term: &Term) {
    with_object(term, |object| ntriples::push_object(out, &object));
}

/// Calls `take` with a triple as a quad of the model.
pub fn with_quad<T>(triple: &Triple, graph: &GraphName, take: impl FnOnce(&Quad<'_>) -> T) -> T {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(iri) => iri.as_str().to_owned(),
        NamedOrBlankNode::BlankNode(node) => format!("_:{}", node.as_str()),
    };
    let graph = match graph {
        GraphName::DefaultGraph => None,
        GraphName::NamedNode(iri) => Some(iri.as_str().to_owned()),
        GraphName::BlankNode(node) => Some(format!("_:{}", node.as_str())),
    };
    with_object(&triple.object, |object| {
        take(&Quad { subject: &subject, predicate: triple.predicate.as_str(), object, graph: graph.as_deref() })
    })
}

/// Calls `take` with a term as an object of the model.
pub(crate) fn with_object<T>(term: &Term, take: impl FnOnce(Object<'_>) -> T) -> T {
    match term {
        Term::NamedNode(iri) => take(Object::Term(iri.as_str())),
        Term::BlankNode(node) => take(Object::Term(&format!("_:{}", node.as_str()))),
        Term::Literal(literal) => take(of_literal(literal)),
        Term::Triple(triple) => {
            let mut text = String::new();
            push_triple(&mut text, triple);
            take(Object::Term(&text))
        }
    }
}

fn of_literal(literal: &Literal) -> Object<'_> {
    let direction = literal.direction().map(|direction| match direction {
        BaseDirection::Ltr => "ltr",
        BaseDirection::Rtl => "rtl",
    });
    let datatype = literal.datatype().as_str();
    Object::Literal { lexical: literal.value(), datatype, language: literal.language(), direction }
}

/// Appends the canonical text of a triple term.
fn push_triple(out: &mut String, triple: &Triple) {
    out.push_str("<<( ");
    match &triple.subject {
        NamedOrBlankNode::NamedNode(iri) => ntriples::push_term(out, iri.as_str()),
        NamedOrBlankNode::BlankNode(node) => {
            out.push_str("_:");
            out.push_str(node.as_str());
        }
    }
    out.push(' ');
    ntriples::push_term(out, triple.predicate.as_str());
    out.push(' ');
    push_term(out, &triple.object);
    out.push_str(" )>>");
}
