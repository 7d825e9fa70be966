//! The description of a graph as a JSON document.

use isomorph_error::RuleFindings;
use isomorph_model::schema::{LabelVocabulary, Owner, ValueTable};
use isomorph_model::type_name::type_name;
use isomorph_model::{Cardinality, Direction, Graph, Key, KeyKind, Property};
use serde::Serialize;

use super::{Beside, Described};

/// What is known about a graph, for serialization. The members are those of `isomorph info --json`: see
/// `docs/cli-json.md`.
#[derive(Debug, Serialize)]
pub struct DescribedDocument<'a> {
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
    hyperedges: Vec<HyperedgeDocument<'a>>,
    values: Vec<ValuesDocument<'a>>,
    groups: Vec<GroupDocument<'a>>,
    documents: Vec<&'a str>,
    findings: Vec<RuleFindings<'a>>,
    carry: Option<SidecarDocument<'a>>,
    stored: Option<StoredDocument<'a>>,
    /// Edges that a selection leaves out because one of their ends is left out; null without a selection.
    dangling: Option<u64>,
}

/// The types of the files themselves.
#[derive(Debug, Serialize)]
struct StoredDocument<'a> {
    nodes: Vec<StoredNode<'a>>,
    edges: Vec<StoredEdge<'a>>,
}

#[derive(Debug, Serialize)]
struct StoredNode<'a> {
    #[serde(rename = "type")]
    ty: &'a str,
    key: KeyDocument<'a>,
    properties: Vec<PropertyDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct StoredEdge<'a> {
    source: String,
    relation: Option<&'a str>,
    target: String,
    properties: Vec<PropertyDocument<'a>>,
}

impl<'a> StoredDocument<'a> {
    fn of(graph: &'a Graph) -> Self {
        let nodes = graph.nodes.iter();
        let nodes =
            nodes.map(|ty| StoredNode { ty: &ty.name, key: key(&ty.key), properties: properties(&ty.properties) });
        let edges = graph.edges.iter().map(|ty| {
            let (source, _, target) = graph.edge_name(ty);
            StoredEdge { source, relation: ty.relation.fixed(), target, properties: properties(&ty.properties) }
        });
        StoredDocument { nodes: nodes.collect(), edges: edges.collect() }
    }
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
    relations: Option<Vec<RelationDocument<'a>>>,
    direction: &'static str,
    key: Option<KeyDocument<'a>>,
    stored: Option<&'a str>,
    properties: Vec<PropertyDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct HyperedgeDocument<'a> {
    #[serde(rename = "type")]
    ty: &'a str,
    ends: Option<&'a str>,
    count: Option<u64>,
    direction: &'static str,
    key: KeyDocument<'a>,
    layered: bool,
    properties: Vec<PropertyDocument<'a>>,
}

/// A table of values that are stored apart from their owners.
#[derive(Debug, Serialize)]
struct ValuesDocument<'a> {
    /// `node`, `edge` or `hyperedge`, and the type.
    of: [String; 2],
    property: PropertyDocument<'a>,
    count: Option<u64>,
    /// The columns that qualify each value.
    qualifiers: Vec<PropertyDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct GroupDocument<'a> {
    kind: &'a str,
    key: KeyDocument<'a>,
    ordered: bool,
    all: &'a [String],
    properties: Vec<PropertyDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct RelationDocument<'a> {
    relation: &'a str,
    count: u64,
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
struct SidecarDocument<'a> {
    of: &'a str,
    stale: bool,
    differences: &'a [String],
}

impl Described<'_> {
    /// Converts to a document about the graph at `path`.
    pub fn document<'a>(&'a self, path: &'a str) -> DescribedDocument<'a> {
        let Described { opened, about, counts, beside, dangling } = self;
        let graph = opened.graph.graph();
        let nodes = graph.nodes.iter().zip(&counts.nodes).map(|(ty, rows)| NodeDocument {
            ty: &ty.name,
            count: *rows,
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
                count: counts.edges.get(at).copied().flatten(),
                relations: counts.relations.get(at).and_then(Option::as_ref).map(|found| {
                    found.iter().map(|(relation, count)| RelationDocument { relation, count: *count }).collect()
                }),
                direction: direction(ty.direction),
                key: ty.key.as_ref().map(key),
                stored: self.stored(at),
                properties: properties(&ty.properties),
            }
        });
        let hyperedges = graph.hyperedges.iter().map(|ty| HyperedgeDocument {
            ty: &ty.name,
            ends: graph.nodes.get(ty.ends).map(|ends| ends.name.as_str()),
            count: ty.rows,
            direction: direction(ty.direction),
            key: key(&ty.key),
            layered: ty.layered,
            properties: properties(&ty.properties),
        });
        let values = graph.values.iter().map(|table| ValuesDocument {
            of: owner(graph, table),
            property: property(&table.property),
            count: table.rows,
            qualifiers: properties(&table.qualifiers),
        });
        let groups = graph.groups.iter().map(|kind| GroupDocument {
            kind: &kind.kind,
            key: key(&kind.key),
            ordered: kind.ordered,
            all: &kind.all,
            properties: properties(&kind.properties),
        });
        DescribedDocument {
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
            hyperedges: hyperedges.collect(),
            values: values.collect(),
            groups: groups.collect(),
            documents: graph.documents.iter().map(|document| document.name.as_str()).collect(),
            findings: about.findings.documents(),
            dangling: *dangling,
            stored: opened.sidecar.is_some().then(|| StoredDocument::of(opened.native.graph())),
            carry: match beside {
                Beside::Nothing | Beside::Ignored => None,
                Beside::Fits { of } => Some(SidecarDocument { of, stale: false, differences: &[] }),
                Beside::Stale { of, differences } => Some(SidecarDocument { of, stale: true, differences }),
            },
        }
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Directed => "directed",
        Direction::Undirected => "undirected",
        Direction::PerRow => "by-row",
    }
}

fn key(key: &Key) -> KeyDocument<'_> {
    let ty = (key.kind != KeyKind::Row).then(|| type_name(&key.data_type));
    KeyDocument { kind: key.kind, name: key.name.as_deref(), ty }
}

fn properties(properties: &[Property]) -> Vec<PropertyDocument<'_>> {
    properties.iter().map(property).collect()
}

fn property(property: &Property) -> PropertyDocument<'_> {
    PropertyDocument {
        name: &property.name,
        ty: type_name(&property.data_type),
        kind: property.kind.word(),
        nullable: property.nullable,
        cardinality: property.cardinality,
    }
}

/// The owner of the values, as in the lines of `dump`.
fn owner(graph: &Graph, table: &ValueTable) -> [String; 2] {
    let (word, name) = match table.owner {
        Owner::Nodes(at) => ("node", graph.nodes.get(at).map(|ty| ty.name.as_str())),
        Owner::Edges(at) => ("edge", graph.edges.get(at).and_then(|ty| ty.relation.fixed())),
        Owner::Hyperedges(at) => ("hyperedge", graph.hyperedges.get(at).map(|ty| ty.name.as_str())),
    };
    [word.to_owned(), name.unwrap_or_default().to_owned()]
}
