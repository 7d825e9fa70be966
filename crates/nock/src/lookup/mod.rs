//! Look-ups straight from the files: a node by its name, the edges of one node.

mod find;
mod neighbors;

pub use find::Found;
pub(crate) use neighbors::neighbors;
