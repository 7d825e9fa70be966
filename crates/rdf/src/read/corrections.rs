//! Corrects differences between the parsers and their specifications, both in the base that a parser gets and in the
//! quads that it returns.
//!
//! - A base with dot segments in its path: the parsers keep them, and let `..` of a reference remove them. RFC 3986
//!   (5.2.4) removes them from the merged path. So a parser gets another base without them, in a special scheme.
//! - JSON-LD without a base: statements with relative IRIs are dropped silently. With a base in an unused scheme they
//!   can be detected.
//! - RDF/XML: a special language replaces `xml:lang=""`, which states that a text has no language.

use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple};

use crate::Syntax;

/// The scheme of bases for parsers; IRIs of this scheme are relative to the base.
const SCHEME: &str = "x-isomorph-base:";

/// The base for parsers if there is none.
const NO_BASE: &str = "x-isomorph-base://relative/";

/// Replaces the last segment of a base's path: a reference without a path keeps the path.
const LAST: &str = "x-isomorph-last-segment";

/// The language of a text of RDF/XML that has none.
pub(super) const NO_LANGUAGE: &str = "x-isomorph-nolang";

/// The correction of a parser's quads.
pub(super) enum Mend {
    Nothing,
    /// Texts in [`NO_LANGUAGE`] have no language.
    Languages,
    /// IRIs of [`SCHEME`] are relative, without a base.
    NoBase,
    /// IRIs of [`SCHEME`] are relative to a base with dot segments.
    Dotted(Dotted),
}

/// A base with dot segments in its path.
pub(super) struct Dotted {
    languages: bool,
    /// Including the colon.
    scheme: String,
    /// The path in the base that the parser has, after [`SCHEME`], and in the actual base after its scheme: both with
    /// the authority.
    given: String,
    own: String,
    /// Query and fragment.
    behind: String,
}

impl Mend {
    /// For texts of `syntax` that are read relative to `base`, which must be valid, if there is one.
    pub(super) fn of(syntax: Syntax, base: Option<&str>) -> Self {
        let languages = syntax == Syntax::RdfXml;
        match base.map(|base| Dotted::of(base, languages)) {
            _ if matches!(syntax, Syntax::NTriples | Syntax::NQuads) => Mend::Nothing,
            Some(Some(dotted)) => Mend::Dotted(dotted),
            None if syntax == Syntax::JsonLd => Mend::NoBase,
            _ if languages => Mend::Languages,
            _ => Mend::Nothing,
        }
    }

    /// The base that the parser gets instead of `base`.
    pub(super) fn base(&self, base: Option<&str>) -> Option<String> {
        match self {
            Mend::Dotted(dotted) => Some([SCHEME, &dotted.given, &dotted.behind].concat()),
            Mend::NoBase => Some(NO_BASE.to_owned()),
            Mend::Nothing | Mend::Languages => base.map(str::to_owned),
        }
    }

    /// The actual IRI for one that a parser reports; `None` if it is an artificial one.
    pub(super) fn iri(&self, iri: &str) -> Option<String> {
        match self {
            Mend::Dotted(dotted) => Some(dotted.meant(iri).unwrap_or_else(|| iri.to_owned())),
            Mend::NoBase if iri.starts_with(SCHEME) => None,
            _ => Some(iri.to_owned()),
        }
    }

    /// Corrects a quad.
    ///
    /// # Errors
    /// Returns the error of the quad.
    pub(super) fn quad(&self, quad: Quad) -> Result<Quad, String> {
        match self {
            Mend::Nothing => return Ok(quad),
            // Most quads need no correction.
            Mend::Languages if !in_no_language(&quad.object) => return Ok(quad),
            Mend::Languages | Mend::NoBase | Mend::Dotted(_) => {}
        }
        let graph_name = match quad.graph_name {
            GraphName::NamedNode(iri) => GraphName::NamedNode(self.named(iri)?),
            other => other,
        };
        Ok(Quad {
            subject: self.subject(quad.subject)?,
            predicate: self.named(quad.predicate)?,
            object: self.term(quad.object)?,
            graph_name,
        })
    }

    fn subject(&self, subject: NamedOrBlankNode) -> Result<NamedOrBlankNode, String> {
        Ok(match subject {
            NamedOrBlankNode::NamedNode(iri) => NamedOrBlankNode::NamedNode(self.named(iri)?),
            blank @ NamedOrBlankNode::BlankNode(_) => blank,
        })
    }

    fn term(&self, term: Term) -> Result<Term, String> {
        Ok(match term {
            Term::NamedNode(iri) => Term::NamedNode(self.named(iri)?),
            Term::Literal(literal) => Term::Literal(self.literal(literal)?),
            blank @ Term::BlankNode(_) => blank,
            // They nest no deeper than the guard allows.
            Term::Triple(triple) => Term::Triple(Box::new(Triple {
                subject: self.subject(triple.subject)?,
                predicate: self.named(triple.predicate)?,
                object: self.term(triple.object)?,
            })),
        })
    }

    fn literal(&self, literal: Literal) -> Result<Literal, String> {
        if literal.language().is_some() {
            let plain = literal.language() == Some(NO_LANGUAGE) && self.languages();
            return Ok(if plain { Literal::new_simple_literal(literal.destruct().0) } else { literal });
        }
        if !literal.datatype().as_str().starts_with(SCHEME) {
            return Ok(literal);
        }
        let datatype = self.named(literal.datatype().into_owned())?;
        Ok(Literal::new_typed_literal(literal.destruct().0, datatype))
    }

    fn languages(&self) -> bool {
        matches!(self, Mend::Languages | Mend::Dotted(Dotted { languages: true, .. }))
    }

    fn named(&self, iri: NamedNode) -> Result<NamedNode, String> {
        match self {
            Mend::Dotted(dotted) => Ok(dotted.meant(iri.as_str()).map_or(iri, NamedNode::new_unchecked)),
            Mend::NoBase => match iri.as_str().strip_prefix(SCHEME) {
                Some(relative) => {
                    let relative = relative.strip_prefix("//relative/").unwrap_or(relative);
                    Err(format!("the relative IRI {relative:?} has no base: neither --base nor @base gives one"))
                }
                None => Ok(iri),
            },
            Mend::Nothing | Mend::Languages => Ok(iri),
        }
    }
}

fn in_no_language(object: &Term) -> bool {
    match object {
        Term::Literal(literal) => literal.language() == Some(NO_LANGUAGE),
        Term::Triple(triple) => in_no_language(&triple.object),
        Term::NamedNode(_) | Term::BlankNode(_) => false,
    }
}

impl Dotted {
    fn of(base: &str, languages: bool) -> Option<Dotted> {
        let Parts { scheme, authority, path, behind } = Parts::of(base)?;
        let (folder, _) = path.rsplit_once('/')?;
        let without = without_dots(folder)?;
        Some(Dotted {
            languages,
            scheme: scheme.to_owned(),
            given: format!("{authority}{without}/{LAST}"),
            own: format!("{authority}{path}"),
            behind: behind.to_owned(),
        })
    }

    /// The actual IRI for one of [`SCHEME`].
    fn meant(&self, iri: &str) -> Option<String> {
        let rest = iri.strip_prefix(SCHEME)?;
        Some(match rest.strip_prefix(&self.given) {
            Some(behind) => [&self.scheme, &self.own, behind].concat(),
            None => [&self.scheme, rest].concat(),
        })
    }
}

/// An IRI with a path that starts with a slash.
struct Parts<'a> {
    /// Including the colon.
    scheme: &'a str,
    /// Including the slashes; empty if there is none.
    authority: &'a str,
    path: &'a str,
    behind: &'a str,
}

impl<'a> Parts<'a> {
    fn of(iri: &'a str) -> Option<Self> {
        let (scheme, rest) = iri.split_at_checked(iri.find(':')? + 1)?;
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        let (hierarchy, behind) = rest.split_at_checked(end)?;
        let begin = match hierarchy.strip_prefix("//") {
            Some(authority) => 2 + authority.find('/')?,
            None => 0,
        };
        let (authority, path) = hierarchy.split_at_checked(begin)?;
        path.starts_with('/').then_some(Parts { scheme, authority, path, behind })
    }
}

/// A base in its recommended form: without dot segments in the folder that relative IRIs are in. `None` if it has none.
pub(super) fn undotted(base: &str) -> Option<String> {
    let Parts { scheme, authority, path, behind } = Parts::of(base)?;
    let (folder, last) = path.rsplit_once('/')?;
    let without = without_dots(folder)?;
    Some(format!("{scheme}{authority}{without}/{last}{behind}"))
}

/// A path to a folder without dot segments; `None` if it has none.
fn without_dots(folder: &str) -> Option<String> {
    if !folder.split('/').any(|segment| matches!(segment, "." | "..")) {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    // There is nothing before the first slash.
    for segment in folder.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    Some(kept.iter().flat_map(|segment| ["/", *segment]).collect())
}

/// Finds an IRI that may be relative to a base with dot segments that the text itself sets: the parser has resolved
/// such an IRI incorrectly. Returns the base in its recommended form, and the IRI.
pub(super) fn misread<'q>(base: &str, quad: &'q Quad) -> Option<(String, &'q str)> {
    let better = undotted(base)?;
    let Parts { scheme, authority, path, .. } = Parts::of(base)?;
    let begin = [scheme, authority].concat();
    let subject = match &quad.subject {
        NamedOrBlankNode::NamedNode(iri) => Some(iri.as_str()),
        NamedOrBlankNode::BlankNode(_) => None,
    };
    let object = match &quad.object {
        Term::NamedNode(iri) => Some(iri.as_str()),
        Term::Literal(literal) => Some(literal.datatype().as_str()),
        // The contents of a triple term are checked as text.
        Term::Triple(_) | Term::BlankNode(_) => None,
    };
    let graph = match &quad.graph_name {
        GraphName::NamedNode(iri) => Some(iri.as_str()),
        GraphName::BlankNode(_) | GraphName::DefaultGraph => None,
    };
    // A reference without a path is read correctly.
    let own = [&begin, path].concat();
    let wrong = |iri: &&str| {
        iri.strip_prefix(&begin).is_some_and(|rest| rest.starts_with('/'))
            && iri.strip_prefix(&own).is_none_or(|rest| !rest.is_empty() && !rest.starts_with(['?', '#']))
    };
    let found = [subject, Some(quad.predicate.as_str()), object, graph].into_iter().flatten().find(wrong);
    let nested = match &quad.object {
        Term::Triple(triple) => inside(triple, &wrong),
        _ => None,
    };
    let iri = found.or(nested)?;
    Some((better, iri))
}

fn inside<'q>(triple: &'q Triple, wrong: &dyn Fn(&&str) -> bool) -> Option<&'q str> {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(iri) => Some(iri.as_str()),
        NamedOrBlankNode::BlankNode(_) => None,
    };
    let object = match &triple.object {
        Term::NamedNode(iri) => Some(iri.as_str()),
        Term::Literal(literal) => Some(literal.datatype().as_str()),
        Term::Triple(inner) => return inside(inner, wrong),
        Term::BlankNode(_) => None,
    };
    [subject, Some(triple.predicate.as_str()), object].into_iter().flatten().find(|iri| wrong(iri))
}
