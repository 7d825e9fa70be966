//! Terms as texts of records: IRIs and blank nodes as they are, datatypes followed by their language.

use isomorph_error::{Error, Place, Result};
use isomorph_model::faces::Object;

use crate::rules;

/// The namespace of RDF.
pub(crate) const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// The datatype of literals with a language.
pub(crate) const LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

/// The datatype of literals with a language and a base direction.
pub(crate) const DIR_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// The name of the default graph in a snapshot.
pub(crate) const DEFAULT_GRAPH: &str = "urn:x-arq:DefaultGraph";

/// The graph that keeps quoted triples, so that ids can be resolved.
pub const QUOTED_GRAPH: &str = "urn:graphlake:quoted";

/// The named graph of a key of `graphs`; `None` for the default graph, which other writers may name in two more ways.
pub(crate) fn graph_name(key: &str) -> Option<&str> {
    (!matches!(key, DEFAULT_GRAPH | "" | "urn:x-rdflib:default")).then_some(key)
}

/// The content of a literal's datatype text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Datatype<'a> {
    /// IRI of the datatype; `None` for plain text and for literals with a language.
    pub(crate) iri: Option<&'a str>,
    pub(crate) language: Option<&'a str>,
    /// `ltr` or `rtl`.
    pub(crate) direction: Option<&'a str>,
}

impl<'a> Datatype<'a> {
    /// Parses the datatype text of a record.
    pub(crate) fn of(text: &'a str) -> Self {
        let plain = Datatype { iri: None, language: None, direction: None };
        let Some(name) = text.strip_prefix(RDF) else {
            return Datatype { iri: (!text.is_empty()).then_some(text), ..plain };
        };
        if let Some(language) = name.strip_prefix("langString@") {
            return Datatype { language: Some(language), ..plain };
        }
        if let Some((language, direction)) = name.strip_prefix("dirLangString@").and_then(|rest| rest.rsplit_once("--"))
            && matches!(direction, "ltr" | "rtl")
        {
            return Datatype { language: Some(language), direction: Some(direction), ..plain };
        }
        // Without a language it is plain text.
        if name == "langString" { plain } else { Datatype { iri: Some(text), ..plain } }
    }

    /// Appends the datatype text of a literal. Languages are written in lower case.
    pub(crate) fn push(self, out: &mut String) {
        match (self.language, self.direction) {
            (Some(language), direction) => {
                out.push_str(if direction.is_some() { DIR_LANG_STRING } else { LANG_STRING });
                out.push('@');
                out.extend(language.chars().map(|c| c.to_ascii_lowercase()));
                if let Some(direction) = direction {
                    out.push_str("--");
                    out.push_str(direction);
                }
            }
            (None, _) => out.push_str(self.iri.filter(|iri| !is_plain(iri)).unwrap_or_default()),
        }
    }

    /// A literal of this datatype in the form of the model.
    pub(crate) fn literal(self, lexical: &'a str) -> Object<'a> {
        let Datatype { iri, language, direction } = self;
        let datatype = match (iri, language, direction) {
            (Some(iri), _, _) => iri,
            (None, Some(_), None) => LANG_STRING,
            (None, Some(_), Some(_)) => DIR_LANG_STRING,
            (None, None, _) => isomorph_model::xsd::STRING,
        };
        Object::Literal { lexical, datatype, language, direction }
    }
}

/// Returns an error for an invalid base direction: other than `ltr` and `rtl`, or without a language.
pub(crate) fn direction_fits(language: Option<&str>, direction: Option<&str>) -> Result<()> {
    match (language, direction) {
        (_, None) | (Some(_), Some("ltr" | "rtl")) => Ok(()),
        (_, Some(other)) => {
            let message =
                format!("the base direction {other:?} is not supported: it must be ltr or rtl, with a language");
            Err(Error::malformed(message))
        }
    }
}

/// Whether a literal of a datatype is plain text; so is `rdf:langString` without a language.
fn is_plain(datatype: &str) -> bool {
    datatype == isomorph_model::xsd::STRING || datatype == LANG_STRING
}

/// Returns whether a text has the form of a language tag: subtags of one to eight letters and digits (BCP 47, 2.1).
pub fn is_language(tag: &str) -> bool {
    let is_subtag = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let first = tag.split('-').next().unwrap_or_default();
    first.bytes().all(|byte| byte.is_ascii_alphabetic()) && tag.split('-').all(is_subtag)
}

/// Whether only texts with a language can have a datatype.
pub(crate) fn needs_language(datatype: &str) -> bool {
    datatype == LANG_STRING || datatype == DIR_LANG_STRING
}

/// Normalises a datatype text for comparison: plain text has none, languages are in lower case. Returns the previous
/// text if it was different.
pub(crate) fn normalize(datatype: &mut String) -> Option<String> {
    if is_plain(datatype) {
        return Some(std::mem::take(datatype));
    }
    let at = datatype.find('@').filter(|_| datatype.starts_with(RDF))?;
    let language = datatype.get(at..).filter(|language| language.bytes().any(|byte| byte.is_ascii_uppercase()))?;
    let normal = [datatype.get(..at)?, &language.to_ascii_lowercase()].concat();
    Some(std::mem::replace(datatype, normal))
}

/// Whether a byte cannot occur in an IRI: up to the blank, and `"` `<` `>` `\` `^` `` ` `` `{` `|` `}`. Few comparisons of
/// bytes, so that the compiler can make them for many bytes at once: `<` and `>` differ in one bit, as `\` and `^` do.
const fn is_in_no_iri(byte: u8) -> bool {
    let (few, pairs) = ((byte == b'"') | (byte == b'`'), (byte & !2 == b'<') | (byte & !2 == b'\\'));
    (byte <= b' ') | few | pairs | (byte.wrapping_sub(b'{') <= 2)
}

/// Whether a text is an absolute IRI: a scheme, a colon, and only characters that an IRI may have.
pub(crate) fn is_absolute_iri(text: &str) -> bool {
    let bytes = text.as_bytes();
    let of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let scheme = bytes.iter().take_while(|byte| of_scheme(byte)).count();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(scheme) == Some(&b':')
        // No early exit, so that the compiler can vectorise the loop.
        && !bytes.iter().fold(false, |bad, byte| bad | is_in_no_iri(*byte))
}

/// Checks that a text is an absolute IRI or a blank node, as subjects, objects and names of graphs must be.
///
/// # Errors
/// [`rules::IRI`].
pub(crate) fn resource(text: &str, what: &str) -> Result<()> {
    let is_blank = text.len() > 2 && text.starts_with("_:");
    if is_blank || is_absolute_iri(text) { Ok(()) } else { Err(no_iri(text, what)) }
}

/// Checks that triples may be written to a graph of this name. The names that stores use for their default graph are
/// refused, because the triples would be read as triples of the default graph.
///
/// # Errors
/// [`rules::RESERVED`].
pub(crate) fn named_graph(name: Option<&str>) -> Result<()> {
    match name {
        Some(name) if graph_name(name).is_none() => {
            Err(reserved(name, "graph").hint("write to the default graph, which has no name in RDF"))
        }
        _ => Ok(()),
    }
}

/// Checks that statements may be written to a graph. The graph of quoted triples ([`QUOTED_GRAPH`]) is refused, because
/// its triples are not read as statements.
///
/// # Errors
/// [`rules::RESERVED`].
pub fn check_graph(name: Option<&str>) -> Result<()> {
    match name {
        Some(QUOTED_GRAPH) => Err(reserved(QUOTED_GRAPH, "graph")
            .hint("use another graph: this one holds the triples that triple terms quote")),
        name => named_graph(name),
    }
}

/// Checks that a literal may have this datatype: a datatype followed by a language would be read as that language.
///
/// # Errors
/// [`rules::IRI`], [`rules::RESERVED`].
pub(crate) fn datatype(iri: &str) -> Result<()> {
    if !is_absolute_iri(iri) {
        return Err(no_iri(iri, "datatype"));
    }
    match Datatype::of(iri).language {
        None => Ok(()),
        Some(_) => Err(reserved(iri, "datatype")),
    }
}

fn reserved(name: &str, what: &str) -> Error {
    Error::broken(&rules::RESERVED, format!("{name:?} has another meaning in a store")).at(Place::field(what))
}

/// The error for a text that is not an absolute IRI, in this part of a quad.
pub(crate) fn no_iri(text: &str, what: &str) -> Error {
    let shown = crate::cursor::shown(text);
    Error::broken(&rules::IRI, format!("{shown:?} is not an absolute IRI")).at(Place::field(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iri_has_a_scheme_and_no_character_that_must_be_escaped() {
        for character in (0..128u8).map(char::from) {
            let refused = character <= ' ' || "<>\"{}|^`\\".contains(character);
            assert_eq!(is_absolute_iri(&format!("urn:a{character}b")), !refused, "{character:?}");
            let in_scheme = character.is_ascii_alphanumeric() || "+-.".contains(character);
            let ends_it = character == ':';
            assert_eq!(is_absolute_iri(&format!("u{character}n:")), in_scheme || ends_it, "{character:?}");
            assert_eq!(is_absolute_iri(&format!("{character}:")), character.is_ascii_alphabetic(), "{character:?}");
        }
        for (text, is) in
            [("", false), (":", false), ("urn", false), ("é:a", false), ("u\u{e9}:a", false), ("urn:é", true)]
        {
            assert_eq!(is_absolute_iri(text), is, "{text}");
        }
    }

    #[test]
    fn a_direction_needs_a_language() {
        for (language, direction, fits) in [
            (None, None, true),
            (Some("ar"), None, true),
            (Some("ar"), Some("rtl"), true),
            (Some("ar"), Some("up"), false),
            (None, Some("ltr"), false),
        ] {
            assert_eq!(direction_fits(language, direction).is_ok(), fits, "{language:?} {direction:?}");
        }
    }

    #[test]
    fn datatypes_are_taken_apart() {
        for (iri, language, direction, text) in [
            (None, None, None, ""),
            (Some("urn:d"), None, None, "urn:d"),
            (None, Some("pl"), None, "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString@pl"),
            (None, Some("ar"), Some("rtl"), "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString@ar--rtl"),
            (
                Some("http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON"),
                None,
                None,
                "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON",
            ),
        ] {
            let datatype = Datatype { iri, language, direction };
            let mut out = String::new();
            datatype.push(&mut out);
            assert_eq!((out.as_str(), Datatype::of(text)), (text, datatype));
        }
        let mut text = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString@en-GB".to_owned();
        normalize(&mut text);
        assert!(text.ends_with("langString@en-gb"));
        text = isomorph_model::xsd::STRING.to_owned();
        normalize(&mut text);
        assert_eq!(text, "");
        // A language that is missing leaves nothing but text.
        assert_eq!(Datatype::of(LANG_STRING), Datatype { iri: None, language: None, direction: None });
    }

    #[test]
    fn iris_are_absolute() {
        for good in ["urn:x", "http://example.org/é", "a+b-c.1:"] {
            assert!(is_absolute_iri(good), "{good}");
        }
        for bad in ["", "x", "/a:b", "1a:b", "http://a b", "urn:<x>", ":x"] {
            assert!(!is_absolute_iri(bad), "{bad}");
        }
    }
}
