//! What each format can store, as data from which plans and the documentation are generated.

use arrow_schema::DataType;
use isomorph_model::capability::{Capability, Directions, Documents, Scalar, Values};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Cardinality, Document, KeyKind, Property, ValueKind};

use crate::OF_GRAPH;

const JSON_SCALARS: &[Scalar] = &[Scalar::Bool, Scalar::Int(64), Scalar::UInt(64), Scalar::Float(64), Scalar::Text];

const JSON_VALUES: Values =
    Values { scalars: JSON_SCALARS, lists: JSON_SCALARS, nulls: true, json: true, ..Values::NONE };

/// Node-link JSON stores nodes and edges with any JSON; all edges are directed, or all are undirected. Ids that are integers stay integers
/// between such files; those of other formats are texts.
pub const NODE_LINK: Capability = Capability {
    keys: &[KeyKind::Utf8],
    order: true,
    nodes: JSON_VALUES,
    edges: JSON_VALUES,
    directions: Directions::ByType,
    parallel_edges: true,
    documents: Documents::Named(&[OF_GRAPH, crate::nodelink::MEMBERS]),
    ..Capability::LEAST
};

/// KGX JSON stores directed edges; ids are CURIEs.
pub const KGX: Capability =
    Capability { directions: Directions::None, documents: Documents::Named(&[crate::nodelink::MEMBERS]), ..NODE_LINK };

/// JSON Graph Format stores nodes and edges with any JSON; each edge is directed or undirected.
pub const JGF: Capability =
    Capability { directions: Directions::ByRow, documents: Documents::Named(&[OF_GRAPH]), ..NODE_LINK };

const CX2_SCALARS: &[Scalar] = &[Scalar::Bool, Scalar::Int(64), Scalar::Float(64), Scalar::Text];

const CX2_VALUES: Values = Values { scalars: CX2_SCALARS, lists: CX2_SCALARS, nulls: true, ..Values::NONE };

/// CX2 stores directed edges between nodes with integers as ids; keys of other formats are names.
pub const CX2: Capability = Capability {
    nodes: CX2_VALUES,
    edges: CX2_VALUES,
    directions: Directions::None,
    documents: Documents::Named(&[OF_GRAPH, crate::cx2::ASPECTS]),
    ..NODE_LINK
};

const XML_SCALARS: &[Scalar] = &[Scalar::Bool, Scalar::Int(64), Scalar::Float(64), Scalar::Text];

/// GEXF stores nodes and edges with typed attributes; each edge is directed or undirected.
pub const GEXF: Capability = Capability {
    keys: &[KeyKind::Utf8],
    order: true,
    nodes: Values { scalars: XML_SCALARS, nulls: true, ..Values::NONE },
    edges: Values { scalars: XML_SCALARS, nulls: true, ..Values::NONE },
    directions: Directions::ByRow,
    parallel_edges: true,
    documents: Documents::Named(&[OF_GRAPH]),
    ..Capability::LEAST
};

/// GML stores integers, floats, texts and lists of pairs; keys of other formats are labels.
pub const GML: Capability = Capability {
    keys: &[KeyKind::Utf8],
    order: true,
    nodes: Values {
        scalars: &[Scalar::Int(64), Scalar::UInt(64), Scalar::Float(64), Scalar::Text],
        nulls: true,
        ..Values::NONE
    },
    edges: Values {
        scalars: &[Scalar::Int(64), Scalar::UInt(64), Scalar::Float(64), Scalar::Text],
        nulls: true,
        ..Values::NONE
    },
    directions: Directions::ByType,
    parallel_edges: true,
    documents: Documents::Named(&[OF_GRAPH]),
    ..Capability::LEAST
};

/// A drawing shows nodes and edges with types.
pub const DRAWING: Capability =
    Capability { directions: Directions::ByRow, parallel_edges: true, order: true, ..Capability::LEAST };

fn is_json_scalar(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Boolean | DataType::Int64 | DataType::UInt64 | DataType::Float64 | DataType::Utf8)
}

/// Returns whether JSON has the values of a property as they are.
pub fn holds_json(property: &Property) -> bool {
    match (&property.kind, &property.data_type, property.cardinality) {
        (ValueKind::Plain, DataType::List(item), Cardinality::List) => is_json_scalar(item.data_type()),
        (ValueKind::Plain, data_type, Cardinality::Single) => is_json_scalar(data_type),
        (ValueKind::Json | ValueKind::Bag, DataType::Utf8, Cardinality::Single) => true,
        _ => false,
    }
}

/// Returns the documents that are not written: all but JSON with one of these names.
pub fn unheld<'a>(documents: &'a [Document], names: &'a [&str]) -> impl Iterator<Item = &'a Document> {
    documents.iter().filter(move |document| json_document(document, names).is_none())
}

/// Returns the text of a document that is JSON and has one of these names.
pub(crate) fn json_document<'a>(document: &'a Document, names: &[&str]) -> Option<&'a str> {
    match &document.body {
        DocumentBody::Json(text) if names.contains(&document.name.as_str()) => Some(text),
        _ => None,
    }
}
