//! What GraphML can store, as data from which plans and the documentation are generated.

use arrow_schema::DataType;
use isomorph_model::capability::{Capability, Directions, Documents, Scalar, Values};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Cardinality, Document, KeyKind, Property, ValueKind};

use crate::OF_GRAPH;

/// GraphML stores nodes and edges with typed data; each edge is directed or undirected. Hyperedges are read, and
/// written as nodes, because no tool reads them.
pub const CAPABILITY: Capability = Capability {
    keys: &[KeyKind::Utf8],
    order: true,
    nodes: VALUES,
    edges: VALUES,
    directions: Directions::ByRow,
    parallel_edges: true,
    documents: Documents::Named(&[OF_GRAPH]),
    ..Capability::LEAST
};

const VALUES: Values = Values {
    scalars: &[Scalar::Bool, Scalar::Int(32), Scalar::Int(64), Scalar::Float(64), Scalar::Text],
    nulls: true,
    ..Values::NONE
};

/// Returns whether values of a property are written unchanged. JSON is written as text. Floats with fewer bits are
/// written as doubles: readers parse the digits of a `float` as a double, which differs from the 32-bit float with the
/// same shortest text.
pub fn holds(property: &Property) -> bool {
    use DataType as T;
    let plain = property.cardinality == Cardinality::Single;
    let is_json = matches!(property.kind, ValueKind::Json | ValueKind::Bag) && property.data_type == T::Utf8;
    let kind = property.kind == ValueKind::Plain || is_json;
    let data_type = matches!(property.data_type, T::Boolean | T::Int32 | T::Int64 | T::Float64 | T::Utf8);
    plain && kind && data_type
}

/// Returns whether edges may have a property of this name. In NetworkX, data called `key` distinguishes parallel edges: a property of
/// that name that other graphs have would merge those of which it is the same.
pub fn is_edge_property(name: &str) -> bool {
    name != "key"
}

/// Returns whether a document is written: the data of the graph.
pub(crate) fn is_of_graph(document: &Document) -> bool {
    document.name == OF_GRAPH && matches!(document.body, DocumentBody::Json(_))
}

/// Returns the documents that are not written.
pub fn unheld(documents: &[Document]) -> impl Iterator<Item = &Document> {
    documents.iter().filter(|document| !is_of_graph(document))
}
