//! Canonical N-Triples and N-Quads, as RDF 1.2 has them: what ids of triples are the hash of.

use crate::faces::{Object, Quad};
use crate::term::{self, TermKind};
use crate::xsd;

/// Appends a quad as a line of canonical N-Quads, without the end of the line.
pub fn push_quad(out: &mut String, quad: &Quad<'_>) {
    push_triple(out, quad.subject, quad.predicate, &quad.object);
    if let Some(graph) = quad.graph {
        push_term(out, graph);
        out.push(' ');
    }
    out.push('.');
}

/// Appends a triple and a blank: what stands before the full stop.
pub fn push_triple(out: &mut String, subject: &str, predicate: &str, object: &Object<'_>) {
    push_term(out, subject);
    out.push(' ');
    push_term(out, predicate);
    out.push(' ');
    push_object(out, object);
    out.push(' ');
}

/// Appends an object.
pub fn push_object(out: &mut String, object: &Object<'_>) {
    match object {
        Object::Term(term) => push_term(out, term),
        Object::Literal { lexical, datatype, language, direction } => {
            push_text(out, lexical);
            match language {
                Some(language) => {
                    out.push('@');
                    out.extend(language.chars().map(|c| c.to_ascii_lowercase()));
                    if let Some(direction) = direction {
                        out.push_str("--");
                        out.push_str(direction);
                    }
                }
                None if datatype.is_empty() || *datatype == xsd::STRING => {}
                None => {
                    out.push_str("^^");
                    push_term(out, datatype);
                }
            }
        }
    }
}

/// Appends an IRI, a blank node or a triple term.
pub fn push_term(out: &mut String, text: &str) {
    match term::kind(text) {
        TermKind::Blank | TermKind::Triple => out.push_str(text),
        TermKind::Iri => {
            out.push('<');
            for c in text.chars() {
                // No IRI has these; a line with them must still be a line.
                match c {
                    '\0'..=' ' | '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\' | '\x7f' => push_code(out, c),
                    _ => out.push(c),
                }
            }
            out.push('>');
        }
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(is_escaped) {
        let (clean, from) = rest.split_at(at);
        out.push_str(clean);
        let mut chars = from.chars();
        match chars.next() {
            Some('\x08') => out.push_str("\\b"),
            Some('\t') => out.push_str("\\t"),
            Some('\n') => out.push_str("\\n"),
            Some('\x0c') => out.push_str("\\f"),
            Some('\r') => out.push_str("\\r"),
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some(c) => push_code(out, c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Whether a character of a text is written as an escape: what delimits texts, and what XML has no character for.
fn is_escaped(c: char) -> bool {
    matches!(c, '\0'..='\x1f' | '"' | '\\' | '\x7f' | '\u{fffe}' | '\u{ffff}')
}

fn push_code(out: &mut String, c: char) {
    out.push_str(&format!("\\u{:04X}", u32::from(c)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_place_in_xml_is_escaped() {
        let mut out = String::new();
        push_object(&mut out, &Object::plain("\0\u{b}\u{7f}\u{fffd}\u{fffe}\u{ffff}\t\"", xsd::STRING));
        assert_eq!(out, "\"\\u0000\\u000B\\u007F\u{fffd}\\uFFFE\\uFFFF\\t\\\"\"");
    }
}
