//! What data of PSL can say, as data from which plans and the documentation are generated.

use arrow_schema::DataType;
use isomorph_model::capability::{Capability, Directions, Scalar, Values};
use isomorph_model::{Graph, KeyKind, LabelVocabulary, Property, well_known};

/// The node type of constants.
pub const CONSTANT: &str = "constant";

/// What a property is declared as if it is a predicate with one argument.
pub(crate) const UNARY: &str = "psl";

/// Predicates of constants, with truth.
pub const CAPABILITY: Capability = Capability {
    node_types: true,
    edge_types: true,
    keys: &[KeyKind::Int, KeyKind::Utf8, KeyKind::Row],
    order: true,
    labels: true,
    nodes: TRUTH,
    edges: TRUTH,
    directions: Directions::ByType,
    parallel_edges: true,
    ..Capability::LEAST
};

const TRUTH: Values = Values { scalars: &[Scalar::Float(32), Scalar::Float(64)], nulls: true, ..Values::NONE };

/// Whether a property is a truth: that of edges, or a predicate with one argument.
pub fn holds(property: &Property, of_edge: bool) -> bool {
    let float = matches!(property.data_type, DataType::Float32 | DataType::Float64);
    float && (of_edge && property.name == well_known::TRUTH || property.declared.contains_key(UNARY))
}

/// Lists what data of PSL cannot store of a graph, and why.
pub fn unheld(graph: &Graph) -> Vec<(String, String)> {
    let of_nodes = graph.nodes.iter().flat_map(|ty| ty.properties.iter().map(move |own| (ty.name.clone(), own, false)));
    let of_edges = graph.edges.iter().flat_map(|ty| {
        let name = ty.relation.fixed().unwrap_or_default().to_owned();
        ty.properties.iter().map(move |own| (name.clone(), own, true))
    });
    let open = graph.nodes.iter().filter(|ty| ty.labels == LabelVocabulary::Open);
    let labels = open.map(|ty| {
        (format!("labels of {}", ty.name), "each label is a predicate, and these are not declared".to_owned())
    });
    let unheld = of_nodes.chain(of_edges).filter(|(_, property, of_edge)| !holds(property, *of_edge));
    let properties = unheld.map(|(of, property, _)| {
        (format!("property {} of {of}", property.name), "PSL has predicates and their truth only".to_owned())
    });
    properties.chain(labels).collect()
}

/// Returns what data of PSL stores of a graph.
pub fn stored(graph: &Graph) -> Graph {
    let mut stored = graph.clone();
    for ty in &mut stored.nodes {
        ty.properties.retain(|property| holds(property, false));
        if ty.labels == LabelVocabulary::Open {
            ty.labels = LabelVocabulary::None;
        }
    }
    for ty in &mut stored.edges {
        ty.properties.retain(|property| holds(property, true));
    }
    stored
}
