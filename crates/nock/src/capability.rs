//! What NOCK can say, as data: plans and the documentation are made from it.

use isomorph_model::capability::{Capability, Scalar, Values};

/// What NOCK can say: text-keyed nodes with labels, edges that name their relations, properties as JSON.
pub const CAPABILITY: Capability = Capability {
    order: true,
    labels: true,
    no_label_with: ",",
    nodes: JSON,
    edges: JSON,
    parallel_edges: true,
    ..Capability::LEAST
};

const JSON: Values = Values {
    scalars: &[Scalar::Bool, Scalar::Int(64), Scalar::UInt(64), Scalar::Float(64), Scalar::Text],
    lists: &[Scalar::Bool, Scalar::Int(64), Scalar::UInt(64), Scalar::Float(64), Scalar::Text],
    nested: true,
    nulls: true,
    json: true,
    ..Values::NONE
};
