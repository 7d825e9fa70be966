//! The digest of declarations: types, widths, nullability, cardinality, label vocabulary.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::table::Digest;
use crate::schema::Owner;
use crate::type_name::type_name;
use crate::{Cardinality, Direction, Graph, Key, LabelVocabulary, Property, ValueKind};

/// Returns the digest of a graph's schema, that is, of everything in [`schema_json`].
pub fn schema_digest(graph: &Graph) -> Digest {
    Digest(xxh3_128(schema_json(graph).to_string().as_bytes()))
}

/// Returns the declarations as JSON in a fixed order: types and properties are sorted by name, so that it does not matter
/// how they are grouped into files.
pub fn schema_json(graph: &Graph) -> Value {
    let mut nodes: Vec<Value> = graph
        .nodes
        .iter()
        .map(|ty| {
            let labels = match &ty.labels {
                LabelVocabulary::None => Value::Null,
                LabelVocabulary::Declared(labels) => json!(labels),
                LabelVocabulary::Open => json!("open"),
            };
            json!({
                "type": ty.name, "key": key(&ty.key), "implied": ty.implied, "ordered": ty.ordered, "labels": labels,
                "properties": properties(&ty.properties),
            })
        })
        .collect();
    let mut edges: Vec<Value> = graph
        .edges
        .iter()
        .map(|ty| {
            let (source, relation, target) = graph.edge_name(ty);
            json!({
                "type": [source, relation, target],
                "direction": direction(ty.direction),
                "key": ty.key.as_ref().map(key),
                "layered": ty.layered,
                "properties": properties(&ty.properties),
            })
        })
        .collect();
    let mut hyperedges: Vec<Value> = graph
        .hyperedges
        .iter()
        .map(|ty| {
            let ends = graph.nodes.get(ty.ends).map(|ty| ty.name.clone());
            json!({
                "type": ty.name, "key": key(&ty.key), "ends": ends, "direction": direction(ty.direction),
                "layered": ty.layered, "properties": properties(&ty.properties),
            })
        })
        .collect();
    let mut values: Vec<Value> = graph
        .values
        .iter()
        .map(|table| {
            json!({
                "type": owner(graph, table.owner), "property": property(&table.property),
                "qualifiers": properties(&table.qualifiers),
            })
        })
        .collect();
    let mut groups: Vec<Value> = graph
        .groups
        .iter()
        .map(|kind| {
            let mut memberships: Vec<Value> = kind
                .memberships
                .iter()
                .map(|table| json!({ "type": owner(graph, table.of), "properties": properties(&table.properties) }))
                .collect();
            memberships.sort_by_key(Value::to_string);
            json!({
                "type": kind.kind, "key": key(&kind.key), "ordered": kind.ordered,
                "properties": properties(&kind.properties), "memberships": memberships,
            })
        })
        .collect();
    for list in [&mut nodes, &mut edges, &mut hyperedges, &mut values, &mut groups] {
        list.sort_by_cached_key(|ty| (ty["type"].to_string(), ty.to_string()));
    }
    json!({
        "name": graph.name, "nodes": nodes, "edges": edges, "hyperedges": hyperedges, "values": values,
        "groups": groups,
    })
}

fn owner(graph: &Graph, owner: Owner) -> Value {
    match owner {
        Owner::Nodes(ty) => json!(["nodes", graph.nodes.get(ty).map(|ty| &ty.name)]),
        Owner::Edges(ty) => json!(["edges", graph.edges.get(ty).map(|ty| graph.edge_name(ty))]),
        Owner::Hyperedges(ty) => json!(["hyperedges", graph.hyperedges.get(ty).map(|ty| &ty.name)]),
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Directed => "directed",
        Direction::Undirected => "undirected",
        Direction::PerRow => "row",
    }
}

fn key(key: &Key) -> Value {
    json!({ "kind": key.kind, "type": type_name(&key.data_type), "name": key.name })
}

fn properties(properties: &[Property]) -> Value {
    let mut sorted: Vec<&Property> = properties.iter().collect();
    sorted.sort_by_key(|property| &property.name);
    sorted.into_iter().map(property).collect()
}

fn property(property: &Property) -> Value {
    let cardinality = match property.cardinality {
        Cardinality::Single => "single",
        Cardinality::List => "list",
        Cardinality::Set => "set",
    };
    let detail = match &property.kind {
        ValueKind::Literal { datatype } => json!(datatype),
        ValueKind::Tensor { shape, .. } => json!(shape),
        ValueKind::Plain | ValueKind::Json | ValueKind::Bag | ValueKind::Term | ValueKind::Raw => Value::Null,
    };
    json!({
        "name": property.name, "type": type_name(&property.data_type), "kind": property.kind.word(), "detail": detail,
        "nullable": property.nullable, "cardinality": cardinality, "feature": property.feature,
        "declared": property.declared,
    })
}
