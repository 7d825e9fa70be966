//! Writing: a [`Sink`](isomorph_model::Sink) for graphs in the shape of the format.

pub(crate) mod columns;
pub(crate) mod documents;
mod edges;
mod facts;
mod groups;
mod hyperedges;
pub(crate) mod json;
pub(crate) mod layers;
mod layout;
mod matrix;
mod nodes;
mod options;
pub(crate) mod output;
mod shape;
mod sink;
mod slices;
mod table;
pub(crate) mod tar;
pub(crate) mod zip;

pub(crate) use layers::{LayerIds, list};
pub use layout::WriteLayout;
pub(crate) use matrix::{Matrix, MatrixRows};
pub use options::WriteOptions;
pub(crate) use output::Output;
pub use sink::AnnnetWriter;
pub(crate) use sink::{Apart, Start};
