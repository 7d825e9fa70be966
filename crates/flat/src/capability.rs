//! What tables can say, by encoding, as data: plans and the documentation are made from it.

use arrow_schema::{DataType, TimeUnit};
use isomorph_model::capability::{Capability, Directions, Scalar, Values};
use isomorph_model::{Cardinality, KeyKind, Property, ValueKind};
use isomorph_tables::Encoding;

use crate::sql::{ColumnType, has_name};

const LEAST: Capability = Capability {
    node_types: true,
    edge_types: true,
    keys: &[KeyKind::Int, KeyKind::Utf8, KeyKind::Row],
    order: true,
    labels: true,
    directions: Directions::ByRow,
    parallel_edges: true,
    ..Capability::LEAST
};

/// What tables in Parquet or Arrow IPC can say.
pub const TYPED: Capability = Capability { nodes: TYPED_VALUES, edges: TYPED_VALUES, ..LEAST };

/// What tables in JSON lines can say.
pub const JSON: Capability = Capability { nodes: JSON_VALUES, edges: JSON_VALUES, ..LEAST };

/// What JSON lines of KGX can say: nodes and edges of one type each.
pub const KGX: Capability = Capability { node_types: false, edge_types: false, keys: &[KeyKind::Utf8], ..JSON };

/// What tables in CSV can say.
pub const CSV: Capability = Capability { nodes: CSV_VALUES, edges: CSV_VALUES, ..LEAST };

/// What tables for Neo4j's admin import can say.
pub const NEO4J: Capability = Capability { nodes: NEO4J_VALUES, edges: NEO4J_VALUES, ..LEAST };

/// What columns may have, in an order in which each encoding has the first ones: CSV all but bytes, JSON lines those too, Parquet and Arrow
/// IPC all.
const SCALARS: &[Scalar] = &[
    Scalar::Bool,
    Scalar::Int(8),
    Scalar::Int(16),
    Scalar::Int(32),
    Scalar::Int(64),
    Scalar::UInt(8),
    Scalar::UInt(16),
    Scalar::UInt(32),
    Scalar::UInt(64),
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
    Scalar::Bytes,
    Scalar::Decimal,
    Scalar::Time(TimeUnit::Millisecond),
    Scalar::Time(TimeUnit::Microsecond),
    Scalar::Time(TimeUnit::Nanosecond),
    Scalar::Duration(TimeUnit::Second),
    Scalar::Duration(TimeUnit::Millisecond),
    Scalar::Duration(TimeUnit::Microsecond),
    Scalar::Duration(TimeUnit::Nanosecond),
];

const TEXT_SCALARS: &[Scalar] = SCALARS.split_at(19).0;
const JSON_SCALARS: &[Scalar] = SCALARS.split_at(20).0;

/// The same for Neo4j, which has no unsigned integers of 64 bits, and lists of the first ones.
const NEO4J_SCALARS: &[Scalar] = &[
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

const NEO4J_LISTS: &[Scalar] = NEO4J_SCALARS.split_at(11).0;

const NEO4J_VALUES: Values =
    Values { scalars: NEO4J_SCALARS, lists: NEO4J_LISTS, sets: true, nulls: true, json: true, ..Values::NONE };

const TYPED_VALUES: Values =
    Values { scalars: SCALARS, lists: SCALARS, sets: true, nulls: true, json: true, ..Values::NONE };

const JSON_VALUES: Values =
    Values { scalars: JSON_SCALARS, lists: JSON_SCALARS, sets: true, nulls: true, json: true, ..Values::NONE };

const CSV_VALUES: Values = Values { scalars: TEXT_SCALARS, nulls: true, json: true, ..Values::NONE };

/// Whether a column of `encoding` has the values of a property as they are.
pub fn holds(encoding: Encoding, property: &Property) -> bool {
    let scalar: fn(&DataType) -> bool = match encoding {
        Encoding::Parquet | Encoding::Arrow | Encoding::Orc => is_typed_scalar,
        Encoding::JsonLines => is_json_scalar,
        Encoding::Csv => is_text_scalar,
    };
    match (&property.kind, &property.data_type, property.cardinality) {
        // Where SQL has no name for the items, nothing says of a list that it is a set.
        (ValueKind::Plain, list @ DataType::List(item), cardinality @ (Cardinality::List | Cardinality::Set)) => {
            let ty = ColumnType { cardinality, ..ColumnType::plain(list.clone()) };
            let is_said = cardinality == Cardinality::List || has_name(&ty);
            encoding != Encoding::Csv && scalar(item.data_type()) && is_said
        }
        (ValueKind::Plain, data_type, Cardinality::Single) => scalar(data_type),
        (ValueKind::Tensor { .. } | ValueKind::Raw, _, _) => false,
        // JSON, and what else texts are: that they are it is declared, here or in the sidecar.
        (_, data_type, cardinality) => *data_type == DataType::Utf8 && cardinality == Cardinality::Single,
    }
}

fn is_text_scalar(data_type: &DataType) -> bool {
    use DataType as T;
    let plain =
        matches!(data_type, T::Boolean | T::Float32 | T::Float64 | T::Utf8 | T::Date32) || data_type.is_integer();
    plain || is_time(data_type)
}

/// Timestamps in the units that all files of the encodings state.
fn is_time(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(unit, zone) => {
            *unit != TimeUnit::Second && zone.as_ref().is_none_or(|zone| &**zone == "UTC")
        }
        _ => false,
    }
}

fn is_json_scalar(data_type: &DataType) -> bool {
    is_text_scalar(data_type) || *data_type == DataType::Binary
}

fn is_typed_scalar(data_type: &DataType) -> bool {
    use DataType as T;
    let more = match data_type {
        // Parquet keeps these types in the embedded schema.
        T::Timestamp(unit, Some(_)) => *unit != TimeUnit::Second,
        T::Duration(_)
        | T::Binary
        | T::Time32(TimeUnit::Millisecond)
        | T::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond) => true,
        // SQL has no negative scale.
        T::Decimal128(precision, scale) => u8::try_from(*scale).is_ok_and(|scale| scale <= *precision),
        _ => false,
    };
    is_text_scalar(data_type) || more
}
