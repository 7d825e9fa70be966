//! RDF/XML.

use std::collections::HashMap;
use std::str::FromStr;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::term::{self, TermKind};
use isomorph_model::xsd;

use super::check::is_letter;
use super::prefixes::Prefixes;
use crate::xml::{LONGEST, push_text, push_value};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const ITS: &str = "http://www.w3.org/2005/11/its";

/// Names of the RDF namespace that are not predicates in XML.
const RESERVED: [&str; 12] = [
    "RDF",
    "Description",
    "ID",
    "about",
    "parseType",
    "resource",
    "nodeID",
    "datatype",
    "li",
    "aboutEach",
    "aboutEachPrefix",
    "bagID",
];

/// Number of namespaces with their own names; all others share one, which is declared wherever it is used.
const NAMED: usize = 1 << 10;

/// Names for namespaces that have no prefix: `ns1`, `ns2` and so on, in order of appearance.
struct Named {
    by_namespace: HashMap<String, String>,
    number: usize,
    others: String,
}

impl Named {
    fn new(prefixes: &Prefixes) -> Self {
        let mut others = "ns".to_owned();
        while is_taken(&others, prefixes) {
            others.push('_');
        }
        Named { by_namespace: HashMap::new(), number: 0, others }
    }

    /// The next name that is not a prefix of the text.
    fn fresh(&mut self, prefixes: &Prefixes) -> String {
        loop {
            self.number += 1;
            let name = format!("ns{}", self.number);
            if !is_taken(&name, prefixes) {
                return name;
            }
        }
    }

    fn of(&mut self, namespace: &str, prefixes: &Prefixes) -> &str {
        if !self.by_namespace.contains_key(namespace) && self.by_namespace.len() < NAMED {
            let name = self.fresh(prefixes);
            self.by_namespace.insert(namespace.to_owned(), name);
        }
        self.by_namespace.get(namespace).unwrap_or(&self.others)
    }
}

fn is_taken(name: &str, prefixes: &Prefixes) -> bool {
    prefixes.all().iter().any(|(other, _)| other == name)
}

/// Writes an element for each subject, with an element for each statement.
pub(super) struct XmlWriter {
    prefixes: Prefixes,
    named: Named,
    subject: Option<String>,
}

impl XmlWriter {
    pub(super) fn begin(out: &mut String, prefixes: Prefixes, base: Option<&str>) -> Self {
        out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF xmlns:rdf=\"");
        out.push_str(RDF);
        out.push('"');
        for (name, namespace) in prefixes.all().iter().filter(|(name, _)| name != "rdf") {
            out.push_str(if name.is_empty() { " xmlns" } else { " xmlns:" });
            out.push_str(name);
            attribute(out, "", namespace);
        }
        if let Some(base) = base {
            attribute(out, " xml:base", base);
        }
        out.push_str(">\n");
        XmlWriter { named: Named::new(&prefixes), prefixes, subject: None }
    }

    pub(super) fn push(&mut self, out: &mut String, quad: &Quad<'_>) -> Result<()> {
        if self.subject.as_deref() != Some(quad.subject) {
            if self.subject.is_some() {
                out.push_str("  </rdf:Description>\n");
            }
            out.push_str("  <rdf:Description");
            node(out, " rdf:about", quad.subject)?;
            out.push_str(">\n");
            self.subject = Some(quad.subject.to_owned());
        }
        out.push_str("    ");
        self.property(out, quad.predicate, &quad.object)?;
        out.push('\n');
        Ok(())
    }

    pub(super) fn finish(self, out: &mut String) {
        if self.subject.is_some() {
            out.push_str("  </rdf:Description>\n");
        }
        out.push_str("</rdf:RDF>\n");
    }

    fn property(&mut self, out: &mut String, predicate: &str, object: &Object<'_>) -> Result<()> {
        let (namespace, local) = split(predicate)?;
        let known =
            if namespace == RDF { Some("rdf") } else { self.prefixes.of(namespace).filter(|name| *name != "rdf") };
        out.push('<');
        let name = match known {
            Some("") => local.to_owned(),
            Some(prefix) => format!("{prefix}:{local}"),
            None => format!("{}:{local}", self.named.of(namespace, &self.prefixes)),
        };
        out.push_str(&name);
        if known.is_none() {
            // Declared here, because the beginning is written before the namespaces are known.
            out.push_str(" xmlns:");
            out.push_str(self.named.of(namespace, &self.prefixes));
            attribute(out, "", namespace);
        }
        match object {
            Object::Term(text) if term::kind(text) == TermKind::Triple => {
                let unread = || Error::malformed(format!("{text:?} is not a triple term"));
                let oxrdf::Term::Triple(triple) = oxrdf::Term::from_str(text).map_err(|_| unread())? else {
                    return Err(unread());
                };
                out.push_str(" rdf:version=\"1.2\" rdf:parseType=\"Triple\">");
                self.triple(out, &triple)?;
            }
            Object::Term(text) => {
                node(out, " rdf:resource", text)?;
                out.push_str("/>");
                return Ok(());
            }
            Object::Literal { lexical, datatype, language, direction } => {
                if let Some(language) = language {
                    attribute(out, " xml:lang", language);
                } else if !matches!(*datatype, "" | xsd::STRING) {
                    attribute(out, " rdf:datatype", datatype);
                }
                if let Some(direction) = direction {
                    attribute(out, " rdf:version", "1.2");
                    attribute(out, " xmlns:its", ITS);
                    attribute(out, " its:version", "2.0");
                    attribute(out, " its:dir", direction);
                }
                out.push('>');
                text(out, lexical)?;
            }
        }
        out.push_str("</");
        out.push_str(&name);
        out.push('>');
        Ok(())
    }

    fn triple(&mut self, out: &mut String, triple: &oxrdf::Triple) -> Result<()> {
        out.push_str("<rdf:Description");
        let spelt = |text: String| match text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
            Some(iri) if !text.starts_with("<<") => iri.to_owned(),
            _ => text,
        };
        node(out, " rdf:about", &spelt(triple.subject.to_string()))?;
        out.push('>');
        let predicate = triple.predicate.as_str();
        match &triple.object {
            oxrdf::Term::Literal(literal) => {
                let direction = literal.direction().map(|direction| direction.to_string());
                let object = Object::Literal {
                    lexical: literal.value(),
                    datatype: literal.datatype().as_str(),
                    language: literal.language(),
                    direction: direction.as_deref(),
                };
                self.property(out, predicate, &object)?;
            }
            other => self.property(out, predicate, &Object::Term(&spelt(other.to_string())))?,
        }
        out.push_str("</rdf:Description>");
        Ok(())
    }
}

/// Namespace and local name of a predicate: the longest suffix that is a name.
pub(super) fn split(predicate: &str) -> Result<(&str, &str)> {
    let inside = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}') || is_letter(c)
    };
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || is_letter(c);
    let end = predicate.trim_end_matches(inside).len();
    let begin = predicate[end..].find(first).map(|begin| end + begin);
    let parts = begin.map(|begin| predicate.split_at(begin));
    match parts {
        Some((RDF, local)) if RESERVED.contains(&local) => {
            Err(unsaid(format!("rdf:{local} is not a predicate in RDF/XML"), "predicate"))
        }
        Some(("http://www.w3.org/XML/1998/namespace" | "http://www.w3.org/2000/xmlns/", _)) | None => {
            Err(unsaid(format!("{predicate} does not end in an XML name"), "predicate"))
        }
        Some(parts) => Ok(parts),
    }
}

fn unsaid(message: String, what: &str) -> Error {
    Error::new(Kind::WouldLose, message).at(Place::field(what)).hint("use N-Quads or TriG")
}

/// An IRI or a blank node as an attribute.
fn node(out: &mut String, name: &str, text: &str) -> Result<()> {
    match text.strip_prefix("_:") {
        Some(label) if is_name(label) => attribute(out, " rdf:nodeID", label),
        Some(label) => return Err(unsaid(format!("the label {label:?} is not an XML name"), "blank node")),
        None => attribute(out, name, text),
    }
    Ok(())
}

fn is_name(label: &str) -> bool {
    label.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || is_letter(c)) && !label.contains(':')
}

/// Appends ` name="value"`.
fn attribute(out: &mut String, name: &str, value: &str) {
    out.push_str(name);
    push_value(out, value);
}

fn text(out: &mut String, lexical: &str) -> Result<()> {
    let unsound = |c: char| matches!(c, '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}') && !matches!(c, '\t' | '\n' | '\r');
    if let Some(c) = lexical.chars().find(|c| unsound(*c)) {
        return Err(unsaid(format!("XML does not allow the character U+{:04X}", u32::from(c)), "object"));
    }
    let before = out.len();
    push_text(out, lexical);
    if out.len() - before > LONGEST {
        return Err(unsaid(format!("a text of more than {LONGEST} bytes, which cannot be read in XML"), "object"));
    }
    Ok(())
}
