//! What a reader in Neo4j finds changed in the files that are written for it. The mapping file or the sidecar has the originals.

use isomorph_model::type_name::type_name;
use isomorph_model::{Direction, Graph, KeyKind, Property, ValueKind};

use crate::open::Opened;
use crate::plan::edge_text;

/// How values come to Neo4j.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    /// Tables with headers, which say types.
    Tables,
    /// JSON, which has no dates.
    Json,
    /// Statements of Cypher.
    Cypher,
}

/// Lists what differs in Neo4j from `graph`, the graph that is written, which was opened as `opened`.
pub(super) fn altered(opened: &Opened, graph: &Graph, carrier: Carrier) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let native = opened.native.as_ref();
    let is_export = opened.sidecar.is_none() && opened.format.id() == "apoc";
    // Headers give types the names of id spaces and files; a mapping file has said which types are labels.
    let by_headers =
        opened.sidecar.is_none() && opened.format.id() == "neo4j" && !opened.format.recognised(native).is_empty();
    for ty in &graph.nodes {
        if is_export || by_headers {
            all.push((format!("node type {}", ty.name), "also a label of all its nodes".to_owned()));
        }
        if is_export && ty.key.kind != KeyKind::Row {
            all.push((format!("ids of {}", ty.name), "also a property".to_owned()));
        }
        if carrier == Carrier::Json && ty.key.kind == KeyKind::Int {
            all.push((
                format!("ids of {}", ty.name),
                format!("{}: text, and a property", type_name(&ty.key.data_type)),
            ));
        }
        let changes =
            ty.properties.iter().filter_map(|own| Some((format!("{}.{}", ty.name, own.name), change(own, carrier)?)));
        all.extend(changes);
    }
    for ty in &graph.edges {
        if ty.direction == Direction::Undirected {
            all.push((edge_text(graph, ty), "directed in Neo4j".to_owned()));
        }
        let relation = ty.relation.fixed().unwrap_or_default();
        let changes =
            ty.properties.iter().filter_map(|own| Some((format!("{relation}.{}", own.name), change(own, carrier)?)));
        all.extend(changes);
    }
    all
}

/// What values of a property become, if they change.
fn change(own: &Property, carrier: Carrier) -> Option<String> {
    if own.kind == ValueKind::Json {
        return Some("values of several types: JSON in texts".to_owned());
    }
    if let Some(word) = own.declared.get(isomorph_flat::neo4j::DECLARED).filter(|_| carrier != Carrier::Tables) {
        return Some(format!("{word}: text"));
    }
    (carrier == Carrier::Json && own.data_type.is_temporal()).then(|| format!("{}: text", type_name(&own.data_type)))
}
