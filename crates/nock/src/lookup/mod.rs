//! Look-ups without loading the graph: a node by its name, and the edges of a node.

mod find;
mod neighbors;

pub use find::Found;
pub(crate) use neighbors::neighbors;
