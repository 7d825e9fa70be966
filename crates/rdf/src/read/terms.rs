//! Terms of the parsers as texts of the model.

use isomorph_error::Result;
use isomorph_model::faces::{Object, Quad};
use isomorph_model::ntriples;
use oxrdf::{BaseDirection, GraphName, Literal, NamedOrBlankNode, Term, Triple};

use super::Take;
use super::guard::Watch;
use super::labels::Labels;

/// Converts quads to the model, with buffers that are reused.
pub(super) struct Terms<'w> {
    labels: Labels,
    watch: &'w Watch,
    subject: String,
    object: String,
    graph: String,
}

impl<'w> Terms<'w> {
    pub(super) fn new(labels: Labels, watch: &'w Watch) -> Self {
        Terms { labels, watch, subject: String::new(), object: String::new(), graph: String::new() }
    }

    /// Passes a quad on.
    pub(super) fn with(&mut self, quad: &oxrdf::Quad, take: &mut Take<'_>) -> Result<()> {
        // Labels are assigned in the order of the text: subject, object, graph.
        let subject = match &quad.subject {
            NamedOrBlankNode::NamedNode(iri) => iri.as_str(),
            NamedOrBlankNode::BlankNode(node) => {
                self.subject.clear();
                self.labels.push(&mut self.subject, node.as_ref(), self.watch)?;
                &self.subject
            }
        };
        let object = match &quad.object {
            Term::NamedNode(iri) => Object::Term(iri.as_str()),
            Term::BlankNode(node) => {
                self.object.clear();
                self.labels.push(&mut self.object, node.as_ref(), self.watch)?;
                Object::Term(&self.object)
            }
            Term::Triple(triple) => {
                self.object.clear();
                push_triple(&mut self.object, triple, &mut self.labels, self.watch)?;
                Object::Term(&self.object)
            }
            Term::Literal(literal) => of_literal(literal),
        };
        let graph = match &quad.graph_name {
            GraphName::DefaultGraph => None,
            GraphName::NamedNode(iri) => Some(iri.as_str()),
            GraphName::BlankNode(node) => {
                self.graph.clear();
                self.labels.push(&mut self.graph, node.as_ref(), self.watch)?;
                Some(self.graph.as_str())
            }
        };
        take(Quad { subject, predicate: quad.predicate.as_str(), object, graph })
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

/// Appends a triple term. Parsers return terms no deeper than the guard allows.
fn push_triple(out: &mut String, triple: &Triple, labels: &mut Labels, watch: &Watch) -> Result<()> {
    out.push_str("<<( ");
    match &triple.subject {
        NamedOrBlankNode::NamedNode(iri) => ntriples::push_term(out, iri.as_str()),
        NamedOrBlankNode::BlankNode(node) => labels.push(out, node.as_ref(), watch)?,
    }
    out.push(' ');
    ntriples::push_term(out, triple.predicate.as_str());
    out.push(' ');
    match &triple.object {
        Term::NamedNode(iri) => ntriples::push_term(out, iri.as_str()),
        Term::BlankNode(node) => labels.push(out, node.as_ref(), watch)?,
        Term::Literal(literal) => ntriples::push_object(out, &of_literal(literal)),
        Term::Triple(inner) => push_triple(out, inner, labels, watch)?,
    }
    out.push_str(" )>>");
    Ok(())
}
