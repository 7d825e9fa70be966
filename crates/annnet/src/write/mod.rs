//! Writing: a [`Sink`](isomorph_model::Sink) for graphs in the shape of the format.

mod columns;
mod documents;
mod edges;
mod groups;
mod hyperedges;
mod json;
mod layers;
mod nodes;
mod options;
mod output;
mod shape;
mod sink;
mod slices;
mod table;
mod zip;

pub use options::WriteOptions;
pub use sink::AnnnetWriter;

use crate::layout::NODE_WORDS;
