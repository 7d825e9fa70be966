//! The capability of RDF texts, as data: plans and the documentation are made from it.

use isomorph_model::KeyKind;
use isomorph_model::capability::{Capability, Scalar, Values};

/// What RDF texts can store: resources, triples between them in named graphs, and literals. Most of them cannot store
/// graphs without triples.
pub const CAPABILITY: Capability =
    Capability { keys: &[KeyKind::Term], nodes: LITERALS, long_values: true, ..Capability::LEAST };

const LITERALS: Values = Values {
    scalars: &[Scalar::Bool, Scalar::Int(64), Scalar::UInt(64), Scalar::Float(64), Scalar::Text],
    sets: true,
    nulls: true,
    literals: true,
    ..Values::NONE
};
