//! How a graph is opened.

use isomorph_storage::{Budget, Scratch};

/// Options of [`crate::Annnet::open`].
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Memory for what is held: nodes, members of hyperedges, coefficients, attributes of slices, members of archives.
    pub budget: Budget,
    /// Where members of archives go that do not fit; the system's directory for temporary files if nothing is given.
    pub scratch: Option<Scratch>,
}
