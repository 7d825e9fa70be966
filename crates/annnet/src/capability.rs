//! What annnet can say, as data: plans and the documentation are made from it.

use arrow_schema::TimeUnit;
use isomorph_model::capability::{Capability, Directions, Documents, Scalar, Values};

use crate::layout::document;

/// What annnet can say: text-keyed nodes and edges with typed attributes, hyperedges, layers and slices.
pub const CAPABILITY: Capability = Capability {
    order: true,
    nodes: ATTRIBUTES,
    edges: ATTRIBUTES,
    directions: Directions::ByRow,
    parallel_edges: true,
    edge_keys: true,
    hyperedges: true,
    layers: true,
    groups: &["slice", "aspect", "elementary", "layer"],
    documents: Documents::Named(&document::ALL),
    ..Capability::LEAST
};

const SCALARS: &[Scalar] = &[
    Scalar::Bool,
    Scalar::Int(64),
    Scalar::UInt(64),
    Scalar::Float(64),
    Scalar::Decimal,
    Scalar::Text,
    Scalar::Bytes,
    Scalar::Date,
    Scalar::Time(TimeUnit::Nanosecond),
    Scalar::Timestamp(TimeUnit::Microsecond),
    Scalar::Instant(TimeUnit::Microsecond),
    Scalar::Duration(TimeUnit::Microsecond),
];

const ATTRIBUTES: Values = Values { scalars: SCALARS, lists: SCALARS, nested: true, nulls: true, ..Values::NONE };
