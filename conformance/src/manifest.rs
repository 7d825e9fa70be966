//! Manifests: lists of cases, written in Turtle and read by our own reader.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use isomorph_error::{Error, Result};
use isomorph_model::faces::{Object, RDF_TYPE};
use isomorph_rdf::{ReadOptions, Syntax, Text};
use isomorph_storage::Location;

use crate::HOME;

const MANIFEST: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const TEST: &str = "http://www.w3.org/ns/rdftest#Test";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// What a text must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// A sentence of its syntax.
    Read,
    /// None.
    Refused,
    /// One that says the same as this text.
    Same(PathBuf),
    /// One whose canonical form has these bytes.
    Canonical(PathBuf),
}

/// One case of a suite.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name in the manifest.
    pub name: String,
    /// The syntax.
    pub syntax: Syntax,
    /// The text.
    pub text: PathBuf,
    /// The IRI of the text, which relative IRIs in it are relative to.
    pub base: String,
    /// What must come of it.
    pub expected: Expected,
}

/// Subject and predicate to objects.
type Said = HashMap<(String, String), Vec<String>>;

/// The cases of a suite, a folder below `rdf` of the tests at `home`, in the order of its manifest.
///
/// # Errors
/// When the manifest cannot be read, or a case is of an unknown kind.
pub fn cases(home: &Path, suite: &str) -> Result<Vec<Case>> {
    let path = home.join("rdf").join(suite).join("manifest.ttl");
    let base = format!("{HOME}rdf/{suite}/manifest.ttl");
    let mut said = Said::new();
    let mut entries = Vec::new();
    let options = ReadOptions { base: Some(base), ..ReadOptions::default() };
    Text::open(&Location::from_path(&path), Some(Syntax::Turtle))?.read(&options, &mut |quad| {
        let object = match quad.object {
            Object::Term(term) => term,
            Object::Literal { lexical, .. } => lexical,
        };
        if quad.predicate == format!("{MANIFEST}entries") {
            entries.push(object.to_owned());
        }
        said.entry((quad.subject.to_owned(), quad.predicate.to_owned())).or_default().push(object.to_owned());
        Ok(())
    })?;
    let one = |subject: &str, predicate: &str| {
        let objects = said.get(&(subject.to_owned(), predicate.to_owned()))?;
        objects.first().cloned()
    };
    let mut cases = Vec::new();
    for head in entries {
        let mut list = head;
        while let Some(entry) = one(&list, &format!("{RDF}first")) {
            cases.push(case(home, &entry, &one)?);
            let Some(rest) = one(&list, &format!("{RDF}rest")) else { break };
            list = rest;
        }
    }
    Ok(cases)
}

fn case(home: &Path, entry: &str, one: &dyn Fn(&str, &str) -> Option<String>) -> Result<Case> {
    let unsound = |what: &str| Error::malformed(format!("the case {entry} has no {what}"));
    let kind = one(entry, RDF_TYPE).ok_or_else(|| unsound("type"))?;
    let base = one(entry, &format!("{MANIFEST}action")).ok_or_else(|| unsound("action"))?;
    let place = |iri: &str| {
        let below = iri.strip_prefix(HOME).ok_or_else(|| Error::malformed(format!("{iri} lies somewhere else")))?;
        Ok::<PathBuf, Error>(home.join(below))
    };
    let result = || {
        let result = one(entry, &format!("{MANIFEST}result")).ok_or_else(|| unsound("result"))?;
        place(&result)
    };
    let kind = kind.strip_prefix(TEST).ok_or_else(|| unsound("type that is known"))?.to_owned();
    let (syntax, what) = [
        ("NTriples", Syntax::NTriples),
        ("NQuads", Syntax::NQuads),
        ("Turtle", Syntax::Turtle),
        ("Trig", Syntax::TriG),
        ("XML", Syntax::RdfXml),
    ]
    .into_iter()
    .find_map(|(name, syntax)| Some((syntax, kind.strip_prefix(name)?)))
    .ok_or_else(|| unsound("syntax that is known"))?;
    let expected = match what {
        "PositiveSyntax" => Expected::Read,
        "NegativeSyntax" | "NegativeEval" => Expected::Refused,
        "Eval" => Expected::Same(result()?),
        "PositiveC14N" => Expected::Canonical(result()?),
        _ => return Err(unsound("kind that is known")),
    };
    let name = one(entry, &format!("{MANIFEST}name")).unwrap_or_else(|| entry.to_owned());
    Ok(Case { name, syntax, text: place(&base)?, base, expected })
}
