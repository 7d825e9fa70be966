//! What GraphLake can store, as data: plans and the documentation are generated from it.

use isomorph_model::KeyKind;
use isomorph_model::capability::{Capability, Scalar, Values};

/// GraphLake stores RDF: resources, triples between them in named graphs, and literals.
pub const CAPABILITY: Capability =
    Capability { keys: &[KeyKind::Term], nodes: LITERALS, groups: &["graph"], long_values: true, ..Capability::LEAST };

const LITERALS: Values = Values {
    scalars: &[Scalar::Bool, Scalar::Int(64), Scalar::UInt(64), Scalar::Float(64), Scalar::Text],
    sets: true,
    nulls: true,
    literals: true,
    ..Values::NONE
};
