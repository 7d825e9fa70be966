//! Look-ups: the triples that match a pattern, read directly from the files.

mod batch;
mod by_id;
mod catalog;
mod estimate;
mod join;
mod keys;
mod live;
mod matches;
mod names;
mod neighbors;
mod parallel;
mod pattern;
mod question;
mod snapshot_diff;
mod solutions;
mod terms;
mod triples;

pub(crate) use batch::{Asked, Relation};
pub(crate) use catalog::Catalog;
pub use isomorph_model::faces::{Estimate, InGraph, Pattern};
pub use join::{GraphNode, Join, JoinPattern, JoinStep, Node};
pub(crate) use keys::Wanted;
pub(crate) use neighbors::neighbors;
pub(crate) use parallel::each_in_order;
pub use question::{Graphs, Place, Question};
pub use snapshot_diff::Apart;
pub(crate) use snapshot_diff::Narrowed;
pub use solutions::{Found, Solutions};
pub use terms::{Bindings, Terms};
