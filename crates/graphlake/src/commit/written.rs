//! Checks for terms that no text of RDF can say: a store that has one cannot be converted.

use isomorph_error::{Error, Place, Result};
use isomorph_model::faces::{Object, Quad};

use crate::{cursor, rules, term};

/// Checks the language tag, the datatype and the labels of blank nodes of a quad. IRIs are checked elsewhere.
///
/// # Errors
/// [`rules::LANGUAGE`] for `rdf:langString` without a language (RDF 1.1, 3.3); [`isomorph_error::Kind::Malformed`] for a tag that is not
/// made of subtags of one to eight letters and digits (BCP 47, 2.1), and for a label that N-Triples does not allow.
pub(super) fn check(quad: &Quad<'_>) -> Result<()> {
    for (text, what) in [(Some(quad.subject), "subject"), (quad.graph, "graph")] {
        text.map_or(Ok(()), |text| resource(text, what))?;
    }
    match quad.object {
        Object::Term(text) => resource(text, "object"),
        Object::Literal { language: Some(language), .. } if !term::is_language(language) => {
            let shown = cursor::shown(language);
            Err(Error::malformed(format!("{shown:?} is not a language tag"))
                .at(Place::field("object"))
                .hint("a tag of BCP 47, such as en or de-AT"))
        }
        Object::Literal { datatype, language: None, .. } if term::needs_language(datatype) => {
            let message = "a literal has the datatype rdf:langString, but no language";
            Err(Error::broken(&rules::LANGUAGE, message).at(Place::field("object")))
        }
        Object::Literal { .. } => Ok(()),
    }
}

fn resource(text: &str, what: &str) -> Result<()> {
    match text.strip_prefix("_:") {
        Some(label) if !is_label(label) => {
            let shown = cursor::shown(label);
            Err(Error::malformed(format!("{shown:?} is not a label of a blank node")).at(Place::field(what)))
        }
        _ => Ok(()),
    }
}

/// Whether a blank node can have this label in N-Triples and Turtle.
fn is_label(label: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':' || is_letter(c);
    let inside = |c: char| {
        letter(c)
            || c.is_ascii_digit()
            || matches!(c, '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
    };
    label.starts_with(|c: char| letter(c) || c.is_ascii_digit()) && label.chars().all(inside) && !label.ends_with('.')
}

/// The letters of names beyond ASCII: PN_CHARS_BASE of N-Triples.
fn is_letter(c: char) -> bool {
    matches!(c,
        '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_tags_are_those_of_texts() {
        for tag in ["en", "de-AT", "zh-Hans-CN", "x-private", "de-1996", "i-klingon"] {
            assert!(term::is_language(tag), "{tag}");
        }
        for tag in ["", "-", "en-", "-en", "abcdefghijk", "not a lang!", "1a", "en--AT", "é", "en-abcdefghi"] {
            assert!(!term::is_language(tag), "{tag}");
        }
    }

    #[test]
    fn labels_are_those_of_texts() {
        for label in ["a", "0", "b-1", "x.y", "é", "漢", "_a", "a:b", "b\u{b7}"] {
            assert!(is_label(label), "{label}");
        }
        for label in ["", "a b", ".a", "a.", "-a", "a<", "a\n", "\u{b7}"] {
            assert!(!is_label(label), "{label}");
        }
    }
}
