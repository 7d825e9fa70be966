//! What DeepGNN can represent, as data for plans and documentation.

use isomorph_model::KeyKind;
use isomorph_model::capability::{Capability, Scalar, Values};

/// What DeepGNN can represent: integer-keyed nodes and directed edges with types, a weight, and features (tensors and
/// text).
pub const CAPABILITY: Capability =
    Capability { keys: &[KeyKind::Int], nodes: FEATURES, edges: FEATURES, parallel_edges: true, ..Capability::LEAST };

const FEATURES: Values = Values { scalars: &[Scalar::Text], nulls: true, tensors: true, ..Values::NONE };
