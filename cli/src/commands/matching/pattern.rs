//! Patterns as somebody types them: `ex:alice ?p _`, `<urn:s> a "text"@en`.

use std::collections::BTreeMap;

use isomorph::formats::graphlake::{InGraph, Pattern};
use isomorph::model::faces::{Object, Quad, RDF_TYPE};
use isomorph::{Error, Result};

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
pub struct Prefixes(BTreeMap<String, String>);

impl Prefixes {
    /// The known ones and those of the user, which count more.
    pub fn new(own: &BTreeMap<String, String>) -> Self {
        let known = KNOWN.iter().map(|(prefix, iri)| ((*prefix).to_owned(), (*iri).to_owned()));
        Prefixes(known.chain(own.clone()).collect())
    }

    fn expand(&self, name: &str) -> Option<String> {
        let (prefix, local) = name.split_once(':')?;
        Some(format!("{}{local}", self.0.get(prefix)?))
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

/// One place of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Anything; the same wherever the name comes again.
    Free(Option<String>),
    Resource(String),
    Literal {
        lexical: String,
        datatype: String,
        language: Option<String>,
        direction: Option<String>,
    },
}

/// A pattern: subject, predicate, object and graph.
#[derive(Debug)]
pub struct Asked {
    parts: Vec<Part>,
    /// In the default graph.
    default: bool,
}

impl Asked {
    /// Reads three or four terms.
    ///
    /// # Errors
    /// When they are fewer or more, or no terms.
    pub fn parse(text: &str, prefixes: &Prefixes) -> Result<Self> {
        let mut words = words(text)?;
        let default = words.len() == 4 && words[3] == "default";
        if default {
            words.pop();
        }
        if !matches!(words.len(), 3 | 4) || (default && words.len() != 3) {
            return Err(Error::usage(format!("a pattern has three terms, or four with a graph, not {}", words.len()))
                .hint("isomorph match PATH '?s rdf:type ?o'"));
        }
        let parts = words.iter().map(|word| part(word, prefixes)).collect::<Result<Vec<_>>>()?;
        for (at, what) in [(0, "subject"), (1, "predicate"), (3, "graph")] {
            if let Some(Part::Literal { lexical, .. }) = parts.get(at) {
                return Err(Error::usage(format!("the {what} cannot be the literal {lexical:?}")));
            }
        }
        Ok(Asked { parts, default })
    }

    /// What a store is asked.
    pub fn pattern(&self) -> Pattern<'_> {
        let resource = |at: usize| match self.parts.get(at) {
            Some(Part::Resource(text)) => Some(text.as_str()),
            _ => None,
        };
        let object = match self.parts.get(2) {
            Some(Part::Resource(text)) => Some(Object::Term(text)),
            Some(Part::Literal { lexical, datatype, language, direction }) => Some(Object::Literal {
                lexical,
                datatype,
                language: language.as_deref(),
                direction: direction.as_deref(),
            }),
            _ => None,
        };
        let graph = match resource(3) {
            _ if self.default => InGraph::Default,
            Some(name) => InGraph::Named(name),
            None => InGraph::Any,
        };
        Pattern { subject: resource(0), predicate: resource(1), object, graph }
    }

    /// Whether what has one name in the pattern is the same in a quad.
    pub fn agrees(&self, quad: &Quad<'_>) -> bool {
        let object = match quad.object {
            Object::Term(term) => Some(term),
            // No other place has literals.
            Object::Literal { .. } => None,
        };
        let texts = [Some(quad.subject), Some(quad.predicate), object, quad.graph];
        let named = |at: usize| match self.parts.get(at) {
            Some(Part::Free(Some(name))) => Some(name),
            _ => None,
        };
        (0..4).all(|one| {
            let same = |other: usize| {
                let shared = named(one).is_some() && named(one) == named(other);
                !shared || (texts[one].is_some() && texts[one] == texts[other])
            };
            (one + 1..4).all(same)
        })
    }
}

/// Divides a text at blanks that are in no IRI and no literal.
fn words(text: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let mut end = None;
        let (mut quoted, mut bracketed, mut escaped) = (false, false, false);
        for (at, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' if !bracketed => quoted = !quoted,
                '<' if !quoted => bracketed = true,
                '>' if !quoted => bracketed = false,
                c if c.is_whitespace() && !quoted && !bracketed => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        if end.is_none() && (quoted || bracketed) {
            let wanted = if quoted { '"' } else { '>' };
            return Err(Error::usage(format!("{rest} does not end: {wanted} is missing")));
        }
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        words.push(word.to_owned());
        rest = behind.trim_start();
    }
    if words.last().is_some_and(|word| word == ".") {
        words.pop();
    }
    Ok(words)
}

fn part(word: &str, prefixes: &Prefixes) -> Result<Part> {
    if word == "_" {
        return Ok(Part::Free(None));
    }
    if let Some(name) = word.strip_prefix('?') {
        return Ok(Part::Free(Some(name.to_owned()).filter(|name| !name.is_empty())));
    }
    if word.starts_with('"') {
        return literal(word, prefixes);
    }
    Ok(Part::Resource(resource(word, prefixes)?))
}

fn resource(word: &str, prefixes: &Prefixes) -> Result<String> {
    if word == "a" {
        return Ok(RDF_TYPE.to_owned());
    }
    if word.starts_with("_:") {
        return Ok(word.to_owned());
    }
    if let Some(iri) = word.strip_prefix('<').and_then(|word| word.strip_suffix('>')) {
        return Ok(iri.to_owned());
    }
    // What stands behind a prefix never begins with slashes.
    let bare = word.split_once("://").is_some() || word.starts_with("urn:");
    match prefixes.expand(word) {
        Some(iri) if !bare => Ok(iri),
        _ if bare => Ok(word.to_owned()),
        _ => Err(Error::usage(format!(
            "{word} is no term: neither <IRI> nor _:label, \"literal\", prefix:name, ?name or _"
        ))
        .hint(match word.split_once(':') {
            Some((prefix, _)) => format!("--ns {prefix}=http://…"),
            None => format!("<{word}> or \"{word}\""),
        })),
    }
}

fn literal(word: &str, prefixes: &Prefixes) -> Result<Part> {
    let unsound = || Error::usage(format!("{word} is no literal")).hint("\"text\", \"text\"@en, \"42\"^^xsd:integer");
    let end = word.rfind('"').filter(|end| *end > 0).ok_or_else(unsound)?;
    let lexical = unescaped(word.get(1..end).unwrap_or_default()).ok_or_else(unsound)?;
    let (mut datatype, mut language, mut direction) = (String::new(), None, None);
    let behind = word.get(end + 1..).unwrap_or_default();
    if let Some(name) = behind.strip_prefix("^^") {
        datatype = resource(name, prefixes)?;
    } else if let Some(tag) = behind.strip_prefix('@') {
        let (tag, way) = tag.split_once("--").map_or((tag, None), |(tag, way)| (tag, Some(way)));
        language = Some(tag.to_ascii_lowercase());
        direction = way.map(str::to_owned);
    } else if !behind.is_empty() {
        return Err(unsound());
    }
    Ok(Part::Literal { lexical, datatype, language, direction })
}

fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let digits = |chars: &mut std::str::Chars<'_>, count: usize| {
            let digits: String = chars.by_ref().take(count).collect();
            u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == count).and_then(char::from_u32)
        };
        out.push(match chars.next()? {
            't' => '\t',
            'b' => '\x08',
            'n' => '\n',
            'r' => '\r',
            'f' => '\x0c',
            own @ ('"' | '\'' | '\\') => own,
            'u' => digits(&mut chars, 4)?,
            'U' => digits(&mut chars, 8)?,
            _ => return None,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(text: &str) -> Result<Asked> {
        Asked::parse(text, &Prefixes::new(&[("ex".to_owned(), "http://example.org/".to_owned())].into()))
    }

    #[test]
    fn terms_are_read_in_every_spelling() {
        let asked = parse("ex:alice  a <urn:a b> .").unwrap();
        let pattern = asked.pattern();
        assert_eq!((pattern.subject, pattern.predicate), (Some("http://example.org/alice"), Some(RDF_TYPE)));
        assert_eq!(pattern.object, Some(Object::Term("urn:a b")));
        let asked = parse("_:b ?p \"a \\\"b\\\" \\u00e9\"@EN http://example.org/g").unwrap();
        let pattern = asked.pattern();
        assert_eq!((pattern.subject, pattern.predicate), (Some("_:b"), None));
        let text = "a \"b\" é";
        let literal = Object::Literal { lexical: text, datatype: "", language: Some("en"), direction: None };
        assert_eq!((pattern.object, pattern.graph), (Some(literal), InGraph::Named("http://example.org/g")));
        let asked = parse("_ _ \"1\"^^xsd:integer default").unwrap();
        assert_eq!(asked.pattern().graph, InGraph::Default);
        assert_eq!(asked.pattern().object, Some(Object::plain("1", "http://www.w3.org/2001/XMLSchema#integer")));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "_ _",
            "_ _ _ _ _",
            "\"s\" _ _",
            "_ \"p\" _",
            "no:prefix _ _",
            "alice _ _",
            "_ _ \"open",
            "<urn:s _ _",
            "_ _ \"x\"y",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn equal_names_want_equal_terms() {
        let asked = parse("?x _ ?x").unwrap();
        let quad = |object| Quad { subject: "urn:s", predicate: "urn:p", object, graph: None };
        assert!(asked.agrees(&quad(Object::Term("urn:s"))));
        assert!(!asked.agrees(&quad(Object::Term("urn:o"))));
        assert!(!asked.agrees(&quad(Object::plain("urn:s", ""))));
        assert!(parse("?x ?y ?z").unwrap().agrees(&quad(Object::Term("urn:o"))));
        assert!(!parse("_ _ _ ?g").is_ok_and(|asked| !asked.agrees(&quad(Object::Term("urn:o")))));
    }
}
