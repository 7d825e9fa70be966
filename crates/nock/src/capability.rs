//! The capabilities of NOCK as data, from which plans and documentation are made.

use isomorph_model::capability::{Capability, Scalar, Values};

/// The capabilities of NOCK: nodes with text keys and labels, edges that name their relations, properties as JSON.
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
