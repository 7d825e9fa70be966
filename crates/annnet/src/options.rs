//! Options for opening a graph.

use isomorph_storage::{Budget, Scratch};

/// Options of [`crate::Annnet::open`].
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Memory for nodes, members of hyperedges, coefficients, attributes of slices, and members of archives.
    pub budget: Budget,
    /// Where members of archives are stored that do not fit into memory. Default: the system's directory for temporary
    /// files.
    pub scratch: Option<Scratch>,
    /// Whether all files are compared with the checksum in the manifest, if there is one. This reads every file.
    /// Validation always does it.
    pub verify: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions { budget: Budget::default(), scratch: None, verify: true }
    }
}
