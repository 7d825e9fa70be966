//! The syntaxes of RDF, and how a name or the first bytes of a text determine them.

use std::fmt;
use std::str::FromStr;

use isomorph_error::Error;

/// A syntax of RDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// N-Triples 1.2: a triple on each line.
    NTriples,
    /// N-Quads 1.2: a quad on each line.
    NQuads,
    /// Turtle 1.2.
    Turtle,
    /// TriG 1.2: Turtle with named graphs.
    TriG,
    /// RDF 1.2 XML.
    RdfXml,
    /// JSON-LD 1.1, with embedded contexts only: no context is fetched.
    JsonLd,
}

impl Syntax {
    /// All syntaxes.
    pub const ALL: [Syntax; 6] =
        [Syntax::NTriples, Syntax::NQuads, Syntax::Turtle, Syntax::TriG, Syntax::RdfXml, Syntax::JsonLd];

    /// The id in flags, and the file extension.
    pub fn id(self) -> &'static str {
        match self {
            Syntax::NTriples => "nt",
            Syntax::NQuads => "nq",
            Syntax::Turtle => "ttl",
            Syntax::TriG => "trig",
            Syntax::RdfXml => "rdf",
            Syntax::JsonLd => "jsonld",
        }
    }

    /// The name for display.
    pub fn name(self) -> &'static str {
        match self {
            Syntax::NTriples => "N-Triples",
            Syntax::NQuads => "N-Quads",
            Syntax::Turtle => "Turtle",
            Syntax::TriG => "TriG",
            Syntax::RdfXml => "RDF/XML",
            Syntax::JsonLd => "JSON-LD",
        }
    }

    /// Whether it has named graphs.
    pub fn has_graphs(self) -> bool {
        matches!(self, Syntax::NQuads | Syntax::TriG | Syntax::JsonLd)
    }

    /// Whether it has prefixes.
    pub fn has_prefixes(self) -> bool {
        !matches!(self, Syntax::NTriples | Syntax::NQuads)
    }

    /// Whether it has triple terms, the objects of `rdf:reifies`.
    pub fn has_triple_terms(self) -> bool {
        self != Syntax::JsonLd
    }

    /// Whether its parser reports the place of an error and continues after it.
    pub fn recovers(self) -> bool {
        !matches!(self, Syntax::RdfXml | Syntax::JsonLd)
    }

    /// The syntax that the name of a file shows, compressed or not: `a.ttl`, `b.nq.gz`.
    pub fn of_name(name: &str) -> Option<Syntax> {
        let name = name.to_ascii_lowercase();
        let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        match stem.rsplit_once('.')?.1 {
            "nt" | "ntriples" => Some(Syntax::NTriples),
            "nq" | "nquads" => Some(Syntax::NQuads),
            "ttl" | "turtle" => Some(Syntax::Turtle),
            "trig" => Some(Syntax::TriG),
            "rdf" | "rdfs" | "owl" => Some(Syntax::RdfXml),
            "jsonld" => Some(Syntax::JsonLd),
            _ => None,
        }
    }

    /// The syntax that the first bytes of a text show. Turtle is also TriG, and N-Triples also N-Quads: the larger one
    /// is returned, because graphs may follow.
    pub fn of_bytes(begin: &[u8]) -> Option<Syntax> {
        let text = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin).trim_ascii_start();
        if text.starts_with(b"<?xml") || text.starts_with(b"<rdf:RDF") || text.starts_with(b"<!DOCTYPE") {
            let rdf = memchr::memmem::find(text, b"http://www.w3.org/1999/02/22-rdf-syntax-ns#");
            return rdf.map(|_| Syntax::RdfXml);
        }
        if matches!(text.first(), Some(b'{' | b'[')) {
            let keys: [&[u8]; 3] = [b"\"@context\"", b"\"@id\"", b"\"@graph\""];
            return keys.iter().any(|key| memchr::memmem::find(text, key).is_some()).then_some(Syntax::JsonLd);
        }
        let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"))?;
        let lower = first.to_ascii_lowercase();
        let keywords: [&[u8]; 6] = [b"@prefix", b"prefix ", b"@base", b"base ", b"graph ", b"version "];
        if keywords.iter().any(|word| lower.starts_with(word)) {
            return Some(Syntax::TriG);
        }
        if !(first.starts_with(b"<") || first.starts_with(b"_:")) {
            return None;
        }
        if first.ends_with(b".") && matches!(terms_of_line(first), 3 | 4) {
            return Some(Syntax::NQuads);
        }
        begins_statement(first).then_some(Syntax::TriG)
    }
}

/// Whether a line is the first line of a statement that continues, or has a shortened predicate: Turtle without a
/// prefix before it.
fn begins_statement(line: &[u8]) -> bool {
    let subject = match line.first() {
        Some(b'<') => memchr::memchr(b'>', line).map(|end| end + 1),
        _ => line.iter().position(|byte| matches!(byte, b' ' | b'\t')),
    };
    let rest = subject.and_then(|end| line.get(end..)).unwrap_or_default();
    let predicate = rest.trim_ascii_start();
    let is_apart = predicate.len() < rest.len();
    let is_predicate = predicate.starts_with(b"a ") || predicate.starts_with(b"<") && predicate.contains(&b'>');
    is_apart && is_predicate && matches!(line.last(), Some(b';' | b',' | b'.'))
}

/// Number of terms of N-Quads on a line before its full stop; a literal with its datatype or language counts as one.
fn terms_of_line(line: &[u8]) -> usize {
    let (mut terms, mut at) = (0, 0);
    while let Some(byte) = line.get(at) {
        let rest = &line[at..];
        let length = match byte {
            b' ' | b'\t' => {
                at += 1;
                continue;
            }
            b'.' => return terms,
            b'<' if rest.starts_with(b"<<(") => memchr::memmem::find(rest, b")>>").map(|end| end + 3),
            b'<' => memchr::memchr(b'>', rest).map(|end| end + 1),
            b'_' => rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'<' | b'"')),
            b'"' => {
                let mut end = 1;
                while rest.get(end).is_some_and(|byte| *byte != b'"') {
                    end += if rest[end] == b'\\' { 2 } else { 1 };
                }
                let behind = rest.get(end + 1..).unwrap_or_default();
                let more = match behind {
                    [b'^', b'^', b'<', ..] => memchr::memchr(b'>', behind).map_or(behind.len(), |end| end + 1),
                    [b'@', ..] => behind.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(behind.len()),
                    _ => 0,
                };
                Some(end + 1 + more)
            }
            _ => None,
        };
        let Some(length) = length else { return 0 };
        terms += 1;
        at += length;
    }
    terms
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Syntax {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self, Error> {
        let known = Syntax::ALL.into_iter().find(|syntax| syntax.id() == id.to_ascii_lowercase());
        known.ok_or_else(|| Error::usage(format!("{id:?} is not an RDF syntax")).hint("nt, nq, ttl, trig, rdf, jsonld"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_syntaxes() {
        assert_eq!(Syntax::of_name("a.NT"), Some(Syntax::NTriples));
        assert_eq!(Syntax::of_name("a.b.ttl.gz"), Some(Syntax::Turtle));
        assert_eq!(Syntax::of_name("a.trig.zst"), Some(Syntax::TriG));
        assert_eq!(Syntax::of_name("a.owl"), Some(Syntax::RdfXml));
        assert_eq!(Syntax::of_name("a.json"), None);
        assert_eq!(Syntax::of_name("ttl"), None);
        for syntax in Syntax::ALL {
            assert_eq!(Syntax::of_name(&format!("x.{}", syntax.id())), Some(syntax));
            assert_eq!(syntax.id().parse::<Syntax>().ok(), Some(syntax));
        }
    }

    #[test]
    fn first_bytes_tell_syntaxes() {
        let cases: &[(&str, Option<Syntax>)] = &[
            ("<urn:a> <urn:b> \"x . y\"@en-GB .", Some(Syntax::NQuads)),
            ("# note\n\n_:a <urn:b> \"a\\\"b\"^^<urn:c> <urn:g> . # x.\n", Some(Syntax::NQuads)),
            ("# note\n\n_:a <urn:b> \"a\\\"b\"^^<urn:c> <urn:g> .\n", Some(Syntax::NQuads)),
            ("<urn:a> <urn:b> <<( <urn:a> <urn:b> \"c\" )>> .", Some(Syntax::NQuads)),
            ("@prefix ex: <urn:x:> .", Some(Syntax::TriG)),
            ("PREFIX ex: <urn:x:>\n", Some(Syntax::TriG)),
            ("{\"@id\": \"urn:a\"}", Some(Syntax::JsonLd)),
            ("{\"node_id\": 1}", None),
            (
                "<?xml version=\"1.0\"?><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"/>",
                Some(Syntax::RdfXml),
            ),
            ("<?xml version=\"1.0\"?><html/>", None),
            ("a,b,c\n1,2,3\n", None),
            ("", None),
            ("<", None),
            ("\"", None),
            ("<a> \"\\", None),
        ];
        for (text, syntax) in cases {
            assert_eq!(Syntax::of_bytes(text.as_bytes()), *syntax, "{text}");
        }
    }
}
