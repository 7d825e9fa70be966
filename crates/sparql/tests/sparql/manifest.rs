//! Manifests of the W3C: lists of cases, written in Turtle and read by our own reader.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use isomorph::Location;
use isomorph::formats::rdf::{ReadOptions, Syntax, Text};
use isomorph::model::faces::{Object, RDF_TYPE};

/// Where the suites say that they are.
pub const HOME: &str = "https://w3c.github.io/rdf-tests/";

const MF: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const QT: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#";
const UT: &str = "http://www.w3.org/2009/sparql/tests/test-update#";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";

/// Files and the graphs that they are.
#[derive(Debug, Clone, Default)]
pub struct Files {
    pub default: Vec<String>,
    /// Names of graphs, and files.
    pub named: Vec<(String, String)>,
}

/// A case of a suite.
#[derive(Debug, Clone)]
pub struct Case {
    /// The folder and the name in the manifest.
    pub name: String,
    /// `QueryEvaluationTest`, …
    pub kind: String,
    /// The IRI of the query or update.
    pub query: String,
    pub data: Files,
    /// The IRI of the result of a query.
    pub result: Option<String>,
    /// The result of an update.
    pub after: Files,
    /// Whether solutions may be fewer: REDUCED.
    pub lax: bool,
}

/// Subjects and predicates, with their objects.
type Statements = HashMap<(String, String), Vec<String>>;

/// The file of an IRI of the suites.
pub fn file(home: &Path, iri: &str) -> PathBuf {
    home.join(iri.strip_prefix(HOME).unwrap_or_else(|| panic!("{iri}")))
}

/// The cases of a manifest, and of those that it includes.
pub fn cases(home: &Path, manifest: &str, into: &mut Vec<Case>) {
    let options = ReadOptions { base: Some(manifest.to_owned()), ..ReadOptions::default() };
    let mut said = Statements::new();
    let (mut entries, mut included) = (Vec::new(), Vec::new());
    let text = Text::open(&Location::from_path(&file(home, manifest)), Some(Syntax::Turtle)).unwrap();
    text.read(&options, &mut |quad| {
        let object = match quad.object {
            Object::Term(term) => term,
            Object::Literal { lexical, .. } => lexical,
        };
        if quad.predicate == format!("{MF}entries") {
            entries.push(object.to_owned());
        }
        if quad.predicate == format!("{MF}include") {
            included.push(object.to_owned());
        }
        said.entry((quad.subject.to_owned(), quad.predicate.to_owned())).or_default().push(object.to_owned());
        Ok(())
    })
    .unwrap();
    let all = |subject: &str, predicate: &str| {
        said.get(&(subject.to_owned(), predicate.to_owned())).cloned().unwrap_or_default()
    };
    let one = |subject: &str, predicate: &str| all(subject, predicate).into_iter().next();
    let list = |head: &str| {
        let (mut items, mut head) = (Vec::new(), head.to_owned());
        while let Some(item) = one(&head, &format!("{RDF}first")) {
            items.push(item);
            let Some(rest) = one(&head, &format!("{RDF}rest")) else { break };
            head = rest;
        }
        items
    };
    let folder = manifest.strip_prefix(HOME).unwrap().trim_start_matches("sparql/").trim_end_matches("/manifest.ttl");
    let files = |node: &str, data: &str, graph: &str| Files {
        default: all(node, data),
        named: all(node, graph)
            .into_iter()
            .map(|graph| match one(&graph, &format!("{UT}graph")) {
                Some(file) => (one(&graph, LABEL).unwrap_or_else(|| file.clone()), file),
                None => (graph.clone(), graph),
            })
            .collect(),
    };
    for entry in entries.iter().flat_map(|head| list(head)) {
        let kinds = all(&entry, RDF_TYPE);
        let Some(kind) = kinds.iter().find_map(|kind| kind.strip_prefix(MF)) else { continue };
        let name = one(&entry, &format!("{MF}name")).unwrap_or_else(|| entry.clone());
        let Some(action) = one(&entry, &format!("{MF}action")) else { continue };
        let query = one(&action, &format!("{QT}query")).or_else(|| one(&action, &format!("{UT}request")));
        let is_update = one(&action, &format!("{UT}request")).is_some();
        let data = match is_update {
            true => files(&action, &format!("{UT}data"), &format!("{UT}graphData")),
            false => files(&action, &format!("{QT}data"), &format!("{QT}graphData")),
        };
        let result = one(&entry, &format!("{MF}result"));
        let after = result.as_deref().filter(|_| is_update);
        let after = after.map(|node| files(node, &format!("{UT}data"), &format!("{UT}graphData"))).unwrap_or_default();
        // Names occur twice in some folders.
        let local = entry.rsplit(['#', '/']).next().unwrap_or_default();
        into.push(Case {
            name: format!("{folder} {local}: {}", name.replace('\n', " ")),
            kind: kind.to_owned(),
            query: query.unwrap_or(action),
            data,
            result,
            after,
            lax: one(&entry, &format!("{MF}resultCardinality")).is_some_and(|how| how.ends_with("LaxCardinality")),
        });
    }
    for inner in included.iter().flat_map(|head| list(head)) {
        if file(home, &inner).exists() {
            cases(home, &inner, into);
        }
    }
}
