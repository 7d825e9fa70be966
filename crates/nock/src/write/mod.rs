//! Writing: a [`Sink`](isomorph_model::Sink) for graphs in the shape of the format.

mod cells;
mod file;
mod nested;
mod options;
mod partitioned;
mod row_kinds;
mod sink;
mod target;
mod text;

pub use options::{By, CreateOptions, Partitioning, Types};
pub use partitioned::partition_of_name;
pub use sink::NockWriter;
