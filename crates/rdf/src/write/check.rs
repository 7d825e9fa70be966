//! Checks for what no syntax can express, before it is written.

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::term::{self, TermKind};

/// Checks the terms of a quad.
pub(super) fn quad(quad: &Quad<'_>) -> Result<()> {
    match term::kind(quad.subject) {
        TermKind::Triple => {
            return Err(Error::new(Kind::WouldLose, "a triple term is a subject, which no syntax of RDF 1.2 allows")
                .at(Place::field("subject"))
                .hint("use rdf:reifies, which gives a triple a node of its own"));
        }
        _ => resource(quad.subject, "subject")?,
    }
    iri(quad.predicate, "predicate")?;
    match quad.object {
        Object::Term(object) if term::kind(object) == TermKind::Triple => {}
        Object::Term(object) => resource(object, "object")?,
        Object::Literal { language: Some(language), .. } => {
            let sound = language
                .split('-')
                .all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            if !sound || !language.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return Err(unsaid(format!("{language:?} is not a language"), "object"));
            }
        }
        Object::Literal { datatype, language: None, .. } => {
            if !datatype.is_empty() {
                iri(datatype, "datatype")?;
            }
        }
    }
    quad.graph.map_or(Ok(()), |graph| resource(graph, "graph"))
}

/// Checks that a quad has nothing that RDF has only since 1.2.
pub(super) fn rdf_1_1(quad: &Quad<'_>) -> Result<()> {
    let what = match quad.object {
        Object::Term(object) if term::kind(object) == TermKind::Triple => "a triple term",
        Object::Literal { direction: Some(_), .. } => "a text with a base direction",
        _ => return Ok(()),
    };
    Err(unsaid(format!("RDF 1.1 does not have {what}"), "object").hint("--rdf 1.2    write RDF 1.2"))
}

fn resource(text: &str, what: &str) -> Result<()> {
    match text.strip_prefix("_:") {
        Some(label) if is_label(label) => Ok(()),
        Some(label) => Err(unsaid(format!("{label:?} is not a label of a blank node"), what)),
        None => iri(text, what),
    }
}

/// Checks that an IRI is absolute and has only characters that IRIs allow.
fn iri(text: &str, what: &str) -> Result<()> {
    let scheme = text.bytes().position(|byte| byte == b':').and_then(|end| text.get(..end));
    let sound = scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    });
    let forbidden =
        |byte: u8| byte <= b' ' || matches!(byte, b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' | b'\\');
    // Without an early exit, the compiler can check many bytes at once.
    if sound && !text.bytes().fold(false, |found, byte| found | forbidden(byte)) {
        return Ok(());
    }
    let shown: String = text.chars().take(80).collect();
    Err(unsaid(format!("{shown:?} is not an absolute IRI"), what))
}

fn unsaid(message: String, what: &str) -> Error {
    Error::new(Kind::WouldLose, message).at(Place::field(what))
}

/// Whether a blank node can have this label in N-Triples and Turtle.
pub(super) fn is_label(label: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':' || (c >= '\u{c0}' && is_letter(c));
    let inside = |c: char| {
        letter(c)
            || c.is_ascii_digit()
            || matches!(c, '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
    };
    label.starts_with(|c: char| letter(c) || c.is_ascii_digit()) && label.chars().all(inside) && !label.ends_with('.')
}

/// The non-ASCII letters of names in Turtle and XML.
pub(super) fn is_letter(c: char) -> bool {
    matches!(c,
        '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}
