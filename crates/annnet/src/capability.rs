//! What annnet can represent, as data for plans and documentation.

use arrow_schema::{DataType, TimeUnit};
use isomorph_model::capability::{Capability, Directions, Documents, Scalar, Values};

use crate::layout::document;

/// What annnet can represent: text-keyed nodes and edges with typed attributes, hyperedges, layers and slices.
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

/// Returns whether attributes of this type are read back as they were written.
pub fn holds(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Boolean | T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => true,
        T::Float16 | T::Float32 | T::Float64 | T::Utf8 | T::Binary | T::FixedSizeBinary(_) => true,
        T::Date32 | T::Decimal128(..) | T::Decimal256(..) => true,
        // The Arrow schema in the file names these types, as in files of the published library.
        T::Duration(_) => true,
        T::Time32(unit) | T::Time64(unit) | T::Timestamp(unit, _) => *unit != TimeUnit::Second,
        T::List(item) => holds(item.data_type()),
        T::Struct(fields) => !fields.is_empty() && fields.iter().all(|field| holds(field.data_type())),
        _ => false,
    }
}

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
