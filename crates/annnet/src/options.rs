//! How a graph is opened.

use isomorph_storage::{Budget, Scratch};

/// Options of [`crate::Annnet::open`].
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Memory for what is held: nodes, members of hyperedges, coefficients, attributes of slices, members of archives.
    pub budget: Budget,
    /// Where members of archives go that do not fit; the system's directory for temporary files if nothing is given.
    pub scratch: Option<Scratch>,
    /// Whether the bytes of all files are compared with the checksum of the manifest, where there is one. That reads them
    /// all; validation does it in any case.
    pub verify: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions { budget: Budget::default(), scratch: None, verify: true }
    }
}
