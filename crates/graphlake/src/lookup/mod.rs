//! Look-ups: the triples that a pattern describes, straight from the files.

mod index;
mod neighbors;
mod pattern;

pub(crate) use index::Indexes;
pub(crate) use neighbors::neighbors;
pub use pattern::{InGraph, Pattern};
