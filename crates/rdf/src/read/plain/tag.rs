//! Start tags as the parser reads them correctly.
//!
//! - Values of attributes are normalised, and the references in them resolved.
//! - `xml:lang=""`, which states that a text has no language, is refused by the parser. A special language replaces it.
//! - `xml:base` may be relative to the base in force, which the parser refuses.
//! - `about`, `ID`, `parseType`, `resource` and `type` without a prefix are those of RDF (RDF/XML, section 6.1.4).
//! - Each unknown `rdf:parseType` means `Literal` (section 7.2.20); the parser drops such a statement. `Triple`
//!   is known; without `rdf:version="1.2"` it yields no statement, as in the suite of RDF 1.2.
//! - `rdf:bagID` is an error (sections 5.1 and 6.2.5); the parser ignores it if its value is a name.

use std::borrow::Cow;
use std::rc::Rc;

use oxiri::Iri;

use super::super::corrections::{NO_LANGUAGE, undotted};
use super::super::guard::{Entities, normalised};
use super::canonical::{Namespaces, PREFIXES, Tag, declared};
use crate::xml::push_value;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const ITS: &str = "http://www.w3.org/2005/11/its";

/// The prefix of RDF where the text has none.
pub(in crate::read) const PREFIX: &str = "x-isomorph-rdf";

/// Attributes of RDF that need no prefix.
const UNPREFIXED: [&str; 5] = ["about", "ID", "parseType", "resource", "type"];

/// A value of `rdf:bagID` that the parser refuses.
const NO_NAME: &str = "";

/// Attributes that an element with a literal may have; with any other attribute the parser must report the error.
const BESIDE: [&str; 4] = ["ID", "annotation", "annotationNodeID", "version"];

/// A start tag for the parser.
pub(super) struct Start {
    /// `None` if it is the same.
    pub(super) tag: Option<String>,
    pub(super) content: Content,
}

/// What is in an element.
pub(super) enum Content {
    /// Text, or elements of RDF/XML.
    Elements,
    /// A literal. The tag if the canonical form of the content follows as a text.
    Literal(String),
    /// A literal that the parser must read by itself.
    Raw,
}

/// What the open elements declare, each with its depth.
pub(super) struct Scopes {
    namespaces: Vec<(usize, String, String)>,
    bases: Vec<(usize, String)>,
    /// All namespaces; `None` if they are not known yet.
    all: Option<Rc<Namespaces>>,
}

impl Scopes {
    pub(super) fn new(base: Option<&str>) -> Self {
        let bases = base.map(|base| (0, base.to_owned())).into_iter().collect();
        Scopes { namespaces: Vec::new(), bases, all: None }
    }

    /// Forgets what elements that are deeper than this declare.
    pub(super) fn leave(&mut self, depth: usize) {
        while self.namespaces.pop_if(|(at, ..)| *at > depth).is_some() {
            self.all = None;
        }
        while self.bases.pop_if(|(at, _)| *at > depth).is_some() {}
    }

    /// All namespaces by their prefixes; `None` if there are too many.
    pub(super) fn namespaces(&mut self) -> Option<Rc<Namespaces>> {
        if self.all.is_none() {
            let all = self.namespaces.iter().map(|(_, prefix, namespace)| (prefix.clone(), namespace.clone()));
            self.all = Some(Rc::new(all.collect()));
        }
        self.all.clone().filter(|all| all.len() <= PREFIXES)
    }

    fn namespace(&self, prefix: &str) -> Option<&str> {
        let mut inner = self.namespaces.iter().rev();
        inner.find(|(_, known, _)| known == prefix).map(|(.., namespace)| namespace.as_str())
    }

    /// A prefix of RDF.
    fn prefix(&self) -> Option<&str> {
        let prefixes =
            self.namespaces.iter().rev().filter(|(_, prefix, namespace)| namespace == RDF && !prefix.is_empty());
        let mut prefixes = prefixes.map(|(_, prefix, _)| prefix.as_str());
        prefixes.find(|prefix| self.namespace(prefix) == Some(RDF))
    }

    /// Records a start tag with attributes, at this depth of what is in it. What is malformed is unchanged: the parser
    /// reports it.
    pub(super) fn enter(&mut self, text: &str, depth: usize, entities: &Entities) -> Start {
        let same = Start { tag: None, content: Content::Elements };
        let Some((tag, mut attributes)) = values(text, entities) else { return same };
        for (name, value) in &attributes {
            if let Some(prefix) = declared(name) {
                self.namespaces.push((depth, prefix.to_owned(), value.clone().into_owned()));
                self.all = None;
            }
        }
        let mut added = None;
        for (name, value) in &mut attributes {
            match &**name {
                "xml:lang" if value.is_empty() => *value = Cow::Borrowed(NO_LANGUAGE),
                "xml:base" => {
                    if let Some(base) = self.base(value) {
                        *value = Cow::Owned(base);
                    }
                    self.bases.push((depth, value.clone().into_owned()));
                }
                name if self.is_of_rdf(name, "bagID") => *value = Cow::Borrowed(NO_NAME),
                local if UNPREFIXED.contains(&local) => {
                    let prefix = self.prefix().unwrap_or_else(|| {
                        added = Some((Cow::Owned(format!("xmlns:{PREFIX}")), Cow::Borrowed(RDF)));
                        PREFIX
                    });
                    *name = Cow::Owned(format!("{prefix}:{local}"));
                }
                _ => {}
            }
        }
        attributes.extend(added);
        let parse_type = attributes.iter().position(|(name, _)| self.is_of_rdf(name, "parseType"));
        let Some((at, (name, value))) = parse_type.and_then(|at| Some((at, attributes.get_mut(at)?))) else {
            return Start { tag: written(&tag, &attributes), content: Content::Elements };
        };
        match &**value {
            "Resource" | "Collection" | "Triple" => {
                return Start { tag: written(&tag, &attributes), content: Content::Elements };
            }
            "Literal" => {}
            _ => *value = Cow::Owned("Literal".to_owned()),
        }
        let datatype = name.split_once(':').map(|(prefix, _)| format!("{prefix}:datatype"));
        let other = written(&tag, &attributes);
        let is_known = attributes.iter().all(|(name, _)| declared(name).is_some() || self.may_be_beside(name));
        let content = match (datatype, attributes.get_mut(at)) {
            (Some(datatype), Some(attribute)) if is_known && self.namespaces().is_some() => {
                *attribute = (Cow::Owned(datatype), Cow::Owned(format!("{RDF}XMLLiteral")));
                Content::Literal(written(&tag, &attributes).unwrap_or_else(|| text.to_owned()))
            }
            _ => Content::Raw,
        };
        Start { tag: other, content }
    }

    /// A relative base as an absolute one.
    fn base(&self, relative: &str) -> Option<String> {
        if Iri::parse(relative).is_ok() {
            return None;
        }
        let (_, base) = self.bases.last()?;
        // Without a path, a reference has that of the base.
        let base = match relative.starts_with(['?', '#']) || relative.is_empty() {
            true => base.clone(),
            false => undotted(base).unwrap_or_else(|| base.clone()),
        };
        Some(Iri::parse(base).ok()?.resolve(relative).ok()?.into_inner())
    }

    /// Whether an attribute is this one of RDF.
    fn is_of_rdf(&self, name: &str, local: &str) -> bool {
        let prefix = name.strip_suffix(local).and_then(|prefix| prefix.strip_suffix(':'));
        prefix.is_some_and(|prefix| prefix == PREFIX || self.namespace(prefix) == Some(RDF))
    }

    /// Whether an attribute may be beside `rdf:parseType="Literal"`, or is that one.
    fn may_be_beside(&self, name: &str) -> bool {
        let Some((prefix, local)) = name.split_once(':') else { return false };
        match self.namespace(prefix) {
            _ if prefix == "xml" => true,
            Some(ITS) => true,
            Some(RDF) => local == "parseType" || BESIDE.contains(&local),
            _ => prefix == PREFIX,
        }
    }
}

/// A start tag in a literal that the parser reads by itself.
pub(super) fn in_literal(text: &str, entities: &Entities) -> Start {
    let tag = values(text, entities).and_then(|(tag, attributes)| written(&tag, &attributes));
    Start { tag, content: Content::Elements }
}

type Attributes<'t> = Vec<(Cow<'t, str>, Cow<'t, str>)>;

/// A tag, and its attributes with their values.
fn values<'t>(text: &'t str, entities: &Entities) -> Option<(Tag<'t>, Attributes<'t>)> {
    let tag = Tag::of(text)?;
    let values = tag.attributes.iter().map(|(name, value)| Some((Cow::Borrowed(*name), normalised(value, entities)?)));
    let values = values.collect::<Option<Attributes<'_>>>()?;
    Some((tag, values))
}

/// A tag with these attributes; `None` if it has the same.
fn written(tag: &Tag<'_>, attributes: &[(Cow<'_, str>, Cow<'_, str>)]) -> Option<String> {
    let mut pairs = tag.attributes.iter().zip(attributes);
    if tag.attributes.len() == attributes.len() && pairs.all(|(own, other)| own.0 == other.0 && own.1 == other.1) {
        return None;
    }
    let mut out = format!("<{}", tag.name);
    for (name, value) in attributes {
        out.extend([" ", name]);
        push_value(&mut out, value);
    }
    out.push_str(if tag.empty { "/>" } else { ">" });
    Some(out)
}
