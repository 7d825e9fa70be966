//! What the texts can say, as data from which plans and the documentation are generated.

use arrow_schema::{DataType, TimeUnit};
use isomorph_model::capability::{Capability, Directions, Scalar, Values};
use isomorph_model::{Cardinality, KeyKind, Property, ValueKind};

/// A text stores nodes and relationships with properties as Neo4j has them.
pub const CAPABILITY: Capability = Capability {
    node_types: true,
    edge_types: true,
    keys: &[KeyKind::Int, KeyKind::Utf8, KeyKind::Row],
    order: true,
    labels: true,
    nodes: VALUES,
    edges: VALUES,
    directions: Directions::ByType,
    parallel_edges: true,
    ..Capability::LEAST
};

/// Arrays have the first ones.
const SCALARS: &[Scalar] = &[
    Scalar::Bool,
    Scalar::Int(8),
    Scalar::Int(16),
    Scalar::Int(32),
    Scalar::Int(64),
    Scalar::UInt(8),
    Scalar::UInt(16),
    Scalar::UInt(32),
    Scalar::Float(32),
    Scalar::Float(64),
    Scalar::Text,
    Scalar::Date,
    Scalar::Timestamp(TimeUnit::Millisecond),
    Scalar::Timestamp(TimeUnit::Microsecond),
    Scalar::Timestamp(TimeUnit::Nanosecond),
    Scalar::Instant(TimeUnit::Millisecond),
    Scalar::Instant(TimeUnit::Microsecond),
    Scalar::Instant(TimeUnit::Nanosecond),
];

const PLAIN: &[Scalar] = SCALARS.split_at(11).0;

const VALUES: Values = Values { scalars: SCALARS, lists: PLAIN, sets: true, nulls: true, json: true, ..Values::NONE };

/// Whether values of a property are written unchanged. Integers of Neo4j have 64 bits with a sign.
pub fn holds(property: &Property) -> bool {
    match (&property.kind, &property.data_type, property.cardinality) {
        (ValueKind::Plain, DataType::List(item), Cardinality::List | Cardinality::Set) => is_plain(item.data_type()),
        (ValueKind::Plain, data_type, Cardinality::Single) => is_plain(data_type) || is_time(data_type),
        (ValueKind::Json, DataType::Utf8, Cardinality::Single) => true,
        _ => false,
    }
}

fn is_plain(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(data_type, T::Boolean | T::Float32 | T::Float64 | T::Utf8)
        || data_type.is_integer() && *data_type != T::UInt64
}

fn is_time(data_type: &DataType) -> bool {
    match data_type {
        DataType::Date32 => true,
        DataType::Timestamp(unit, zone) => {
            *unit != TimeUnit::Second && zone.as_ref().is_none_or(|zone| &**zone == "UTC")
        }
        _ => false,
    }
}

/// Whether a name can be a label or a relation. Where a backslash stands before a `u`, Cypher reads a character by its number.
pub fn is_label(name: &str) -> bool {
    !name.is_empty() && !name.contains("\\u")
}

/// Whether a name can be that of a property.
pub fn is_property(name: &str) -> bool {
    is_label(name)
}
