//! Reading: a dataset as a [`Source`](isomorph_model::Source).

mod description;
mod graph;
mod open;
mod part;
mod said;
mod source;

pub use graph::NODE;
pub use open::Nock;
pub(crate) use open::unless_broken;
