//! The capabilities of GraphAr as data, from which plans and documentation are made.

use arrow_schema::TimeUnit;
use isomorph_model::KeyKind;
use isomorph_model::capability::{Capability, Directions, Documents, Scalar, Values};

use crate::hints::EXTRA_INFO;

/// The capabilities of GraphAr. Parquet chunks keep timestamps finer than the specification's milliseconds.
pub const CAPABILITY: Capability = Capability {
    node_types: true,
    edge_types: true,
    keys: &[KeyKind::Int, KeyKind::Utf8, KeyKind::Row],
    order: true,
    labels: true,
    plain_names: true,
    nodes: NODES,
    edges: Values { sets: false, ..NODES },
    directions: Directions::ByType,
    parallel_edges: true,
    documents: Documents::Named(&[EXTRA_INFO]),
    ..Capability::LEAST
};

const NODES: Values = Values {
    scalars: &[
        Scalar::Bool,
        Scalar::Int(32),
        Scalar::Int(64),
        Scalar::Float(32),
        Scalar::Float(64),
        Scalar::Text,
        Scalar::Date,
        Scalar::Timestamp(TimeUnit::Millisecond),
        Scalar::Timestamp(TimeUnit::Microsecond),
        Scalar::Timestamp(TimeUnit::Nanosecond),
    ],
    lists: &[Scalar::Int(32), Scalar::Int(64), Scalar::Float(32), Scalar::Float(64), Scalar::Text],
    sets: true,
    nulls: true,
    ..Values::NONE
};
