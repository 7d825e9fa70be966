//! Canonical N-Triples and N-Quads of RDF 1.2, from which ids of triples are hashed.

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

/// Appends a triple and a blank: everything before the full stop.
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
            push_escaped(out, text, in_no_iri, |c| u8::try_from(c).is_ok_and(in_no_iri), push_code);
            out.push('>');
        }
    }
}

/// Whether this byte must be escaped in IRIs, so that a line is still one line.
const fn in_no_iri(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' | b'\\' | 0x7f)
}

/// Appends a text in which some characters are escaped. `may_begin` says which bytes can start such a character. Most texts
/// contain none, which is checked many bytes at a time.
fn push_escaped(
    out: &mut String,
    text: &str,
    may_begin: impl Fn(u8) -> bool,
    is_escaped: impl Fn(char) -> bool,
    escape: impl Fn(&mut String, char),
) {
    let mut rest = text;
    // No early exit, so that the compiler can vectorise the loop.
    if text.bytes().fold(false, |found, byte| found | may_begin(byte)) {
        while let Some(at) = rest.find(&is_escaped) {
            let (clean, from) = rest.split_at(at);
            out.push_str(clean);
            let mut chars = from.chars();
            chars.next().into_iter().for_each(|c| escape(out, c));
            rest = chars.as_str();
        }
    }
    out.push_str(rest);
}

fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let may_begin = |byte| matches!(byte, 0..=0x1f | b'"' | b'\\' | 0x7f | 0xef);
    push_escaped(out, text, may_begin, is_escaped, |out, c| match c {
        '\x08' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\x0c' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        c => push_code(out, c),
    });
    out.push('"');
}

/// Whether a character of a text is escaped: the delimiters of texts, and characters that XML does not allow.
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
    fn iris_stay_on_their_line() {
        let mut out = String::new();
        push_term(&mut out, "urn:é<a b>\u{80}\n{}|^`\\\"\u{7f}");
        assert_eq!(
            out,
            "<urn:é\\u003Ca\\u0020b\\u003E\u{80}\\u000A\\u007B\\u007D\\u007C\\u005E\\u0060\\u005C\\u0022\\u007F>"
        );
    }

    #[test]
    fn what_has_no_place_in_xml_is_escaped() {
        let mut out = String::new();
        push_object(&mut out, &Object::plain("\0\u{b}\u{7f}\u{fffd}\u{fffe}\u{ffff}\t\"", xsd::STRING));
        assert_eq!(out, "\"\\u0000\\u000B\\u007F\u{fffd}\\uFFFE\\uFFFF\\t\\\"\"");
    }
}
