//! Writing graphs: information files planned beforehand, chunks encoded on several threads, counts and offsets for every
//! part, information files last.

mod columns;
mod edges;
mod encoder;
mod groups;
mod names;
mod options;
mod plan;
mod sink;
mod table;
mod types;
mod vertices;

pub use options::{EDGE_CHUNK, Grouping, MAX_VERTEX_CHUNK, VERTEX_CHUNK, WriteOptions};
pub use sink::GraphArWriter;
