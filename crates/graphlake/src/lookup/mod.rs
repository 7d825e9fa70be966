//! Look-ups: the triples that a pattern describes, straight from the files.

mod by_id;
mod catalog;
mod neighbors;
mod pattern;

pub(crate) use catalog::Catalog;
pub(crate) use neighbors::neighbors;
pub use pattern::{InGraph, Pattern};
