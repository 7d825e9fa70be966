//! The JSON document of `info`.

use isomorph::convert::Opened;
use isomorph::model::schema::LabelVocabulary;
use isomorph::model::type_name::type_name;
use isomorph::model::{About, Cardinality, Direction, Key, KeyKind, Property};
use serde::Serialize;

use super::Beside;
use crate::report::RuleDocument;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    path: &'a str,
    format: &'static str,
    encoding: &'a str,
    version: &'a str,
    name: Option<&'a str>,
    files: u64,
    bytes: u64,
    layout: &'a str,
    nodes: Vec<NodeDocument<'a>>,
    edges: Vec<EdgeDocument<'a>>,
    documents: Vec<&'a str>,
    findings: Vec<RuleDocument<'a>>,
    carry: Option<CarryDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct NodeDocument<'a> {
    #[serde(rename = "type")]
    ty: &'a str,
    count: Option<u64>,
    key: KeyDocument<'a>,
    labels: Option<&'a [String]>,
    properties: Vec<PropertyDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct EdgeDocument<'a> {
    source: String,
    relation: Option<&'a str>,
    target: String,
    count: Option<u64>,
    direction: Direction,
    key: Option<KeyDocument<'a>>,
    stored: Option<&'a str>,
    properties: Vec<PropertyDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct KeyDocument<'a> {
    kind: KeyKind,
    name: Option<&'a str>,
    #[serde(rename = "type")]
    ty: Option<String>,
}

#[derive(Debug, Serialize)]
struct PropertyDocument<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: String,
    kind: &'static str,
    nullable: bool,
    cardinality: Cardinality,
}

#[derive(Debug, Serialize)]
struct CarryDocument<'a> {
    of: &'a str,
    stale: bool,
    differences: &'a [String],
}

impl<'a> Document<'a> {
    /// The document of an opened graph.
    pub fn new(path: &'a str, opened: &'a Opened, about: &'a About, beside: &'a Beside) -> Self {
        let graph = opened.graph.graph();
        let nodes = graph.nodes.iter().map(|ty| NodeDocument {
            ty: &ty.name,
            count: ty.rows,
            key: key(&ty.key),
            labels: match &ty.labels {
                LabelVocabulary::None => Some(&[]),
                LabelVocabulary::Declared(labels) => Some(labels.as_slice()),
                LabelVocabulary::Open => None,
            },
            properties: properties(&ty.properties),
        });
        let edges = graph.edges.iter().enumerate().map(|(at, ty)| {
            let (source, _, target) = graph.edge_name(ty);
            EdgeDocument {
                source,
                relation: ty.relation.fixed(),
                target,
                count: ty.rows,
                direction: ty.direction,
                key: ty.key.as_ref().map(key),
                stored: about.edge_layouts.get(at).map(String::as_str),
                properties: properties(&ty.properties),
            }
        });
        Document {
            path,
            format: opened.format.id(),
            encoding: &about.format,
            version: &about.version,
            name: graph.name.as_deref(),
            files: about.files,
            bytes: about.bytes,
            layout: &about.layout,
            nodes: nodes.collect(),
            edges: edges.collect(),
            documents: graph.documents.iter().map(|document| document.name.as_str()).collect(),
            findings: RuleDocument::all(&about.findings),
            carry: match beside {
                Beside::Nothing | Beside::Ignored => None,
                Beside::Fits { of } => Some(CarryDocument { of, stale: false, differences: &[] }),
                Beside::Stale { of, differences } => Some(CarryDocument { of, stale: true, differences }),
            },
        }
    }
}

fn key(key: &Key) -> KeyDocument<'_> {
    let ty = (key.kind != KeyKind::Row).then(|| type_name(&key.data_type));
    KeyDocument { kind: key.kind, name: key.name.as_deref(), ty }
}

fn properties(properties: &[Property]) -> Vec<PropertyDocument<'_>> {
    let document = |property: &'_ Property| (type_name(&property.data_type), property.kind.word());
    properties
        .iter()
        .map(|property| {
            let (ty, kind) = document(property);
            let (nullable, cardinality) = (property.nullable, property.cardinality);
            PropertyDocument { name: &property.name, ty, kind, nullable, cardinality }
        })
        .collect()
}
