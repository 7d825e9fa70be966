//! What an edge list can store, as data from which plans and the documentation are generated.

use arrow_schema::DataType;
use isomorph_model::capability::{Capability, Directions, Scalar, Values};
use isomorph_model::{Cardinality, Direction, Graph, KeyKind, Property, ValueKind};

/// An edge list stores edges between named nodes, with values; all edges are directed, or all are undirected.
pub const CAPABILITY: Capability = Capability {
    keys: &[KeyKind::Int, KeyKind::Utf8],
    edges: VALUES,
    directions: Directions::ByType,
    parallel_edges: true,
    ..Capability::LEAST
};

const SCALARS: &[Scalar] = &[Scalar::Bool, Scalar::Int(64), Scalar::Float(64), Scalar::Text];

const VALUES: Values = Values { scalars: SCALARS, nulls: true, json: true, ..Values::NONE };

/// Returns whether values of a property are written unchanged.
pub fn holds(property: &Property) -> bool {
    let single = property.cardinality == Cardinality::Single;
    let kind = matches!(property.kind, ValueKind::Plain)
        || property.kind == ValueKind::Json && property.data_type == DataType::Utf8;
    let data_type =
        matches!(property.data_type, DataType::Boolean | DataType::Int64 | DataType::Float64 | DataType::Utf8);
    single && kind && data_type
}

/// Lists what an edge list cannot store of a graph of one node type and one edge type, and why.
pub fn unheld(graph: &Graph) -> Vec<(String, String)> {
    let properties = graph.nodes.iter().flat_map(|ty| &ty.properties);
    let mut all: Vec<(String, String)> = properties
        .map(|property| {
            (format!("property {} of nodes", property.name), "an edge list has no node properties".to_owned())
        })
        .collect();
    if graph.edges.iter().any(|ty| ty.direction == Direction::PerRow) {
        all.push((
            "direction of edges".to_owned(),
            "all edges of an edge list are directed, or all are undirected".to_owned(),
        ));
    }
    all
}

/// Returns what an edge list stores of a graph of one node type and one edge type.
pub fn stored(graph: &Graph) -> Graph {
    let mut stored = graph.clone();
    stored.nodes.iter_mut().for_each(|ty| ty.properties.clear());
    crate::notation::directed_unless_alike(&mut stored);
    stored
}
