//! Writes graphs: plans the information files, encodes chunks on several threads, writes counts and offsets of every
//! part, and the information files last.

mod columns;
mod edges;
mod encoder;
mod groups;
mod names;
mod options;
mod plan;
mod sink;
mod supported;
mod table;
mod types;
mod vertices;

pub(crate) use columns::stored as stored_column;
pub(crate) use edges::EdgeWriter;
pub(crate) use encoder::Encoder;
pub(crate) use groups::{group_prefix, has_blank_lines};
pub use options::{EDGE_CHUNK, Grouping, MAX_VERTEX_CHUNK, VERTEX_CHUNK, WriteOptions};
pub(crate) use sink::Files;
pub use sink::GraphArWriter;
pub use supported::{
    holds_document, holds_values, is_edge_type, is_label, is_property_name, is_relation, is_type_name,
};
pub(crate) use table::{Directory, TableFile, TableSpec};
pub(crate) use types::{property as checked_property, stored_type};
