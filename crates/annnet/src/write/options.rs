//! How a graph is written.

use std::time::SystemTime;

use isomorph_storage::{Budget, Scratch};
use isomorph_tables::Compression;

use super::WriteLayout;
use crate::{Conversion, Unknown};

/// Options of [`crate::AnnnetWriter::create`].
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// The layout.
    pub layout: WriteLayout,
    /// Compression of the tables and of the chunks of arrays. The manifest names it.
    pub compression: Compression,
    /// Write the incidence matrix as well, which follows from the tables and which the published library does not read.
    pub matrix: bool,
    /// Write views for look-ups as well, see the README.
    pub cache: bool,
    /// Write one file instead of a directory: zip, or a gzipped tar in the specification's layout.
    pub archive: bool,
    /// What the graph is converted from, which history and provenance tell.
    pub conversion: Option<Conversion>,
    /// The time that manifest and provenance name; the clock's if nothing is given.
    pub created: Option<SystemTime>,
    /// Files to write as they are, unless the graph has files of these names, and empty directories to make, unless something
    /// comes into them.
    pub keep: Unknown,
    /// Memory for what is held: ids of nodes, placements, hyperedges with their members.
    pub budget: Budget,
    /// Where the files of an archive are gathered; the system's directory for temporary files if nothing is given.
    pub scratch: Option<Scratch>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            layout: WriteLayout::V2,
            compression: Compression::Zstd(1),
            matrix: false,
            cache: false,
            archive: false,
            conversion: None,
            created: None,
            keep: Unknown::default(),
            budget: Budget::default(),
            scratch: None,
        }
    }
}

impl WriteOptions {
    /// Whether the incidence matrix is written: the specification's layout is not without one.
    pub(super) fn has_matrix(&self) -> bool {
        self.matrix || self.layout == WriteLayout::Specification
    }

    /// The name of the compression, as the manifest has it.
    pub(super) fn compression_name(&self) -> &'static str {
        match self.compression {
            Compression::None => "none",
            Compression::Snappy => "snappy",
            Compression::Zstd(_) => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Gzip(_) => "gzip",
            Compression::Brotli(_) => "brotli",
        }
    }
}
