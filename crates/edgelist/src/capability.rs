//! What an edge list can say, as data: plans and the documentation are made from it.

use arrow_schema::DataType;
use isomorph_model::capability::{Capability, Directions, Scalar, Values};
use isomorph_model::{Cardinality, Direction, Graph, KeyKind, Property, ValueKind};

/// What an edge list can say: edges between named nodes, with values, all of them with a direction or none.
pub const CAPABILITY: Capability = Capability {
    keys: &[KeyKind::Int, KeyKind::Utf8],
    edges: VALUES,
    directions: Directions::ByType,
    parallel_edges: true,
    ..Capability::LEAST
};

const SCALARS: &[Scalar] = &[Scalar::Bool, Scalar::Int(64), Scalar::Float(64), Scalar::Text];

const VALUES: Values = Values { scalars: SCALARS, nulls: true, json: true, ..Values::NONE };

/// Whether values of a property are written as they are.
pub fn holds(property: &Property) -> bool {
    let single = property.cardinality == Cardinality::Single;
    let kind = matches!(property.kind, ValueKind::Plain)
        || property.kind == ValueKind::Json && property.data_type == DataType::Utf8;
    let data_type =
        matches!(property.data_type, DataType::Boolean | DataType::Int64 | DataType::Float64 | DataType::Utf8);
    single && kind && data_type
}

/// What an edge list has no place for in a graph of one node type and one edge type, and why.
pub fn unheld(graph: &Graph) -> Vec<(String, String)> {
    let properties = graph.nodes.iter().flat_map(|ty| &ty.properties);
    let mut all: Vec<(String, String)> = properties
        .map(|property| {
            (format!("property {} of nodes", property.name), "an edge list says nothing of nodes".to_owned())
        })
        .collect();
    if graph.edges.iter().any(|ty| ty.direction == Direction::PerRow) {
        all.push(("direction of edges".to_owned(), "all edges of an edge list have one, or none has".to_owned()));
    }
    all
}
