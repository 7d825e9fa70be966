//! What RDF texts can say, as data: plans and the documentation are made from it.

use isomorph_model::KeyKind;
use isomorph_model::capability::{Capability, Scalar, Values};

/// What RDF texts can say: resources, triples between them in named graphs, and literals. Graphs without triples have no
/// place in most of them.
pub const CAPABILITY: Capability =
    Capability { keys: &[KeyKind::Term], nodes: LITERALS, long_values: true, ..Capability::LEAST };

const LITERALS: Values = Values {
    scalars: &[Scalar::Bool, Scalar::Int(64), Scalar::UInt(64), Scalar::Float(64), Scalar::Text],
    sets: true,
    nulls: true,
    literals: true,
    ..Values::NONE
};
