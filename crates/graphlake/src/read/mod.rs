//! Reading: a snapshot as quads, and as a [`Source`](isomorph_model::Source).

mod batches;
mod graph;
mod open;
mod part;
pub(crate) mod quoted;
mod scan;
mod source;
mod stored;
mod summary;
mod survey;

pub(crate) use batches::Collector;
pub use open::{GraphLake, detect};
pub use quoted::each_id;
pub use scan::Section;

/// The order in which the triples of a predicate are read: there are files for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// By subject, then object.
    Subject,
    /// By object, then subject.
    Object,
}
