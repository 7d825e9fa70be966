//! Prefixes of names, and what single words name.

use std::collections::BTreeMap;

use isomorph_error::Result;
use isomorph_model::faces::RDF_TYPE;

use super::term::{Part, Word};

/// Prefixes that everybody uses in one way.
const KNOWN: [(&str, &str); 12] = [
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("prov", "http://www.w3.org/ns/prov#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("schema", "https://schema.org/"),
    ("sh", "http://www.w3.org/ns/shacl#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("void", "http://rdfs.org/ns/void#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

/// Prefixes and what they stand for.
#[derive(Debug, Clone)]
pub struct Prefixes(BTreeMap<String, String>);

impl Prefixes {
    /// The known ones and those of the user, which count more.
    pub fn new(own: &BTreeMap<String, String>) -> Self {
        let known = KNOWN.iter().map(|(prefix, iri)| ((*prefix).to_owned(), (*iri).to_owned()));
        Prefixes(known.chain(own.clone()).collect())
    }

    /// The resource that a word names as in a pattern; the word itself, where it could be nothing but an IRI or a label.
    pub fn resource(&self, word: &str) -> String {
        match Word::alone(word).part(self) {
            Ok(Part::Resource(text)) => text,
            _ => word.to_owned(),
        }
    }

    /// The graph that a word names: an IRI or a blank node; nothing is the default graph.
    ///
    /// # Errors
    /// When it names none.
    pub fn graph(&self, word: &str) -> Result<Option<String>> {
        if word == "default" {
            return Ok(None);
        }
        let word = Word::alone(word);
        match word.part(self)? {
            Part::Resource(text) if !text.starts_with("<<(") => Ok(Some(text)),
            _ => Err(word.refused("a graph", "graphs are named by IRIs and blank nodes", "<http://example.org/graph>")),
        }
    }

    /// What the prefix of a name stands for, and the rest of the name.
    pub(super) fn known<'a>(&'a self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let (prefix, local) = name.split_once(':')?;
        Some((self.0.get(prefix)?, local))
    }

    /// A term of N-Triples, shorter where a prefix fits and nothing but a name is left.
    pub fn shorten(&self, term: &str) -> String {
        let Some(iri) = term.strip_prefix('<').and_then(|term| term.strip_suffix('>')) else { return term.to_owned() };
        if iri == RDF_TYPE {
            return "a".to_owned();
        }
        let is_name = |local: &str| {
            let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            local.starts_with(|c: char| c.is_alphanumeric() || c == '_') && local.chars().all(of_name)
        };
        let fits = |(prefix, namespace): (&String, &String)| {
            let local = iri.strip_prefix(namespace.as_str()).filter(|local| is_name(local))?;
            Some(format!("{prefix}:{local}"))
        };
        self.0.iter().find_map(fits).unwrap_or_else(|| term.to_owned())
    }
}
