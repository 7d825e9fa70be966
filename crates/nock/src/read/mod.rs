//! Reading: a dataset as a [`Source`](isomorph_model::Source).

mod description;
mod graph;
mod node_values;
mod open;
mod part;
mod source;

pub use graph::NODE;
pub use open::Nock;
pub(crate) use open::unless_broken;
