//! Prefixes of names, and the meaning of single words.

use std::collections::BTreeMap;

use isomorph_error::Result;
use isomorph_model::faces::RDF_TYPE;

use super::term::{Part, Word};

/// Well-known prefixes.
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

/// Prefixes and their IRIs.
#[derive(Debug, Clone)]
pub struct Prefixes(BTreeMap<String, String>);

impl Prefixes {
    /// Combines the well-known prefixes and those of the user, which take precedence.
    pub fn new(own: &BTreeMap<String, String>) -> Self {
        let known = KNOWN.iter().map(|(prefix, iri)| ((*prefix).to_owned(), (*iri).to_owned()));
        Prefixes(known.chain(own.clone()).collect())
    }

    /// The resource for a word, as in a pattern; the word itself if it can only be an IRI or a label.
    pub fn resource(&self, word: &str) -> String {
        match Word::alone(word).part(self) {
            Ok(Part::Resource(text)) => text,
            _ => word.to_owned(),
        }
    }

    /// The graph for a word: an IRI or a blank node; `None` is the default graph.
    ///
    /// # Errors
    /// If the word is not the name of a graph.
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

    /// The IRI of a name's prefix, and the rest of the name.
    pub(super) fn known<'a>(&'a self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let (prefix, local) = name.split_once(':')?;
        Some((self.0.get(prefix)?, local))
    }

    /// Shortens a term of N-Triples, if a prefix matches and the rest is a valid name.
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
