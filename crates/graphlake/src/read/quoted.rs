//! Quoted triples: resolves ids to the triples that they identify.

use std::collections::HashMap;
use std::sync::PoisonError;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::term::{self as terms, Part};
use isomorph_storage::Reservation;

use super::{GraphLake, Order};
use crate::id::TripleId;
use crate::term::{Datatype, QUOTED_GRAPH, no_iri};
use isomorph_model::ntriples::push_object;

/// The longest triple term that is expanded, in bytes: quoted triples may quote one another.
const LONGEST: usize = 1 << 20;

/// The maximum depth of quoted triples.
pub(crate) const DEEPEST: usize = 32;

/// The quoted triples of a snapshot, by their ids.
pub(crate) struct Quoted {
    /// Subject, predicate, object in N-Triples, or the IRI of an id.
    triples: HashMap<TripleId, [String; 3]>,
    _memory: Reservation,
}

impl Quoted {
    /// Reads the graph of quoted triples into memory.
    fn read(lake: &GraphLake) -> Result<Self> {
        let mut memory = lake.options.budget.reserve(0)?;
        let mut triples = HashMap::new();
        let mut line = String::new();
        for graph in lake.snapshot.graphs.iter().filter(|graph| graph.name == QUOTED_GRAPH) {
            for predicate in graph.all_predicates() {
                let mut merge = lake.merge(graph, predicate, Order::Subject)?;
                while let Some(triple) = merge.next()? {
                    let object = triple.as_object();
                    let id = TripleId::with(&mut line, &triple.subject, predicate, &object);
                    let object = match object {
                        Object::Term(term) => term.to_owned(),
                        literal => {
                            let mut text = String::new();
                            push_object(&mut text, &literal);
                            text
                        }
                    };
                    memory.grow((triple.bytes() + predicate.len() + 160) as u64)?;
                    triples.insert(id, [triple.subject.clone(), predicate.to_owned(), object]);
                }
            }
        }
        Ok(Quoted { triples, _memory: memory })
    }

    /// Whether this is the id of a quoted triple.
    pub(crate) fn has(&self, id: &TripleId) -> bool {
        self.triples.contains_key(id)
    }

    /// Whether there are no quoted triples.
    pub(crate) fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }

    /// Returns the id of a triple term that a user gives.
    pub(crate) fn id_of(&self, term: &str) -> Result<Option<TripleId>> {
        let iri = id(term, DEEPEST, &mut String::new(), &mut |_| Ok(()))?;
        Ok(iri.and_then(|iri| TripleId::of_term(&iri)).filter(|id| self.triples.contains_key(id)))
    }

    /// Returns the canonical triple term that `text` represents, if it is the id of a quoted triple.
    pub(crate) fn term(&self, text: &str) -> Result<Option<String>> {
        self.spelt(text, DEEPEST)
    }

    fn spelt(&self, text: &str, depth: usize) -> Result<Option<String>> {
        let Some([subject, predicate, object]) = TripleId::of_term(text).and_then(|id| self.triples.get(&id)) else {
            return Ok(None);
        };
        let too_large = || {
            Error::new(Kind::TooLarge, "quoted triples are nested too deeply")
                .at(Place::file(QUOTED_GRAPH).in_field(text.to_owned()))
        };
        let inner = depth.checked_sub(1).ok_or_else(too_large)?;
        let part = |text: &String| -> Result<String> {
            if text.starts_with('"') {
                return Ok(text.clone());
            }
            Ok(terms::ntriples(&self.spelt(text, inner)?.unwrap_or_else(|| text.clone())))
        };
        // RDF 1.2 has no triple terms as subjects: a subject remains an IRI.
        let term = terms::triple(&terms::ntriples(subject), &terms::ntriples(predicate), &part(object)?);
        if term.len() > LONGEST { Err(too_large()) } else { Ok(Some(term)) }
    }
}

/// Returns the ids, as IRIs, under which the triple terms of a quad are stored: that of the subject and that of the
/// object, if they are triple terms. `take` gets each quoted triple, inner ones first, as a quad of the graph of quoted
/// triples (R33). `line` is a buffer.
///
/// # Errors
/// Errors of `take`; [`crate::rules::IRI`] for an invalid triple term; [`Kind::TooLarge`] if quoted triples are nested
/// too deeply.
pub(crate) fn ids(
    quad: &Quad<'_>,
    line: &mut String,
    take: &mut dyn FnMut(&Quad<'_>) -> Result<()>,
) -> Result<[Option<String>; 2]> {
    let subject = id(quad.subject, DEEPEST, line, take)?;
    let object = match quad.object {
        Object::Term(term) => id(term, DEEPEST, line, take)?,
        Object::Literal { .. } => None,
    };
    Ok([subject, object])
}

/// Passes the ids of the triples that a quad quotes to `take`, and returns the id of its own triple.
///
/// # Errors
/// As for triple terms of [`crate::LakeWriter::push`]; also errors of `take`.
pub fn each_id(quad: &Quad<'_>, take: &mut dyn FnMut(TripleId) -> Result<()>) -> Result<TripleId> {
    let (mut line, mut inner) = (String::new(), String::new());
    let [subject, object] = ids(quad, &mut line, &mut |quoted| {
        take(TripleId::with(&mut inner, quoted.subject, quoted.predicate, &quoted.object))
    })?;
    let object = object.as_deref().map_or(quad.object, Object::Term);
    Ok(TripleId::with(&mut line, subject.as_deref().unwrap_or(quad.subject), quad.predicate, &object))
}

/// The same for one term.
fn id(
    term: &str,
    depth: usize,
    line: &mut String,
    take: &mut dyn FnMut(&Quad<'_>) -> Result<()>,
) -> Result<Option<String>> {
    if terms::kind(term) != terms::TermKind::Triple {
        return Ok(None);
    }
    let inner = depth.checked_sub(1).ok_or_else(|| {
        Error::new(Kind::TooLarge, "quoted triples are nested too deeply").at(Place::field("triple term"))
    })?;
    // Usually a triple of resources, whose terms need no conversion.
    if let Some([subject, predicate, object]) = terms::resources(term).filter(|_| depth > 0) {
        let object = Object::Term(object);
        take(&Quad { subject, predicate, object, graph: Some(QUOTED_GRAPH) })?;
        return Ok(Some(TripleId::with(line, subject, predicate, &object).iri()));
    }
    let Some((subject, predicate, object)) = terms::parts(term) else { return Err(no_iri(term, "triple term")) };
    let subject = id(&subject, inner, line, take)?.unwrap_or(subject);
    let object = match object {
        Part::Term(object) => Part::Term(id(&object, inner, line, take)?.unwrap_or(object)),
        literal => literal,
    };
    let object = match &object {
        Part::Term(object) => Object::Term(object),
        Part::Literal(lexical, datatype, language, direction) => {
            let (language, direction) = (language.as_deref(), direction.as_deref());
            Datatype { iri: datatype.as_deref(), language, direction }.literal(lexical)
        }
    };
    take(&Quad { subject: &subject, predicate: &predicate, object, graph: Some(QUOTED_GRAPH) })?;
    Ok(Some(TripleId::with(line, &subject, &predicate, &object).iri()))
}

impl GraphLake {
    /// Returns the triple term that a stored IRI represents; `None` for other terms.
    ///
    /// # Errors
    /// Returns an error if quoted triples are nested too deeply, or the graph of quoted triples cannot be read.
    pub fn spelt(&self, term: &str) -> Result<Option<String>> {
        self.quoted()?.term(term)
    }

    /// The quoted triples, read once.
    pub(crate) fn quoted(&self) -> Result<&Quoted> {
        if let Some(quoted) = self.quoted.get() {
            return Ok(quoted);
        }
        let _reading = self.quoting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(quoted) = self.quoted.get() {
            return Ok(quoted);
        }
        let quoted = Quoted::read(self)?;
        Ok(self.quoted.get_or_init(|| quoted))
    }
}
