//! Matching triples, as texts.

use isomorph_graphlake::{TripleId, push_quad};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::{ntriples, term};
use serde::Serialize;

/// A triple; its terms as in N-Triples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Triple {
    /// The id, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The subject.
    pub subject: String,
    /// The predicate.
    pub predicate: String,
    /// The object.
    pub object: String,
    /// The graph; `None` for the default graph.
    pub graph: Option<String>,
    /// Whether it is only quoted, and in no graph.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_quoted: bool,
}

/// The first matching triples.
#[derive(Debug, Clone, Default)]
pub struct Triples {
    /// The triples.
    pub triples: Vec<Triple>,
    /// Number of further matches, if known without searching for them.
    pub more: Option<u64>,
}

impl Triple {
    /// A quad as texts.
    pub fn of(quad: &Quad<'_>, id: Option<TripleId>) -> Self {
        Triple {
            id: id.map(|id| id.to_string()),
            subject: term::ntriples(quad.subject),
            predicate: term::ntriples(quad.predicate),
            object: text(&quad.object),
            graph: quad.graph.map(term::ntriples),
            only_quoted: false,
        }
    }
}

/// A term as in N-Triples.
pub(super) fn text(object: &Object<'_>) -> String {
    match object {
        Object::Term(text) => term::ntriples(text),
        literal => {
            let mut text = String::new();
            ntriples::push_object(&mut text, literal);
            text
        }
    }
}

/// Appends a quad as a line of N-Quads, followed by its id as a comment.
pub fn push_line(lines: &mut String, quad: &Quad<'_>, id: Option<TripleId>) {
    push_quad(lines, quad);
    if let Some(id) = id {
        lines.push_str(" # ");
        lines.push_str(&id.to_string());
    }
    lines.push('\n');
}
