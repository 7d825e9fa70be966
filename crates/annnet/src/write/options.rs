//! Options for writing a graph.

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
    /// Also write the incidence matrix, which is derived from the tables and which the published library does not read.
    pub matrix: bool,
    /// Also write views for look-ups, see the README.
    pub cache: bool,
    /// Write one file instead of a directory: zip, or a gzipped tar in the specification's layout.
    pub archive: bool,
    /// The conversion that history and provenance record.
    pub conversion: Option<Conversion>,
    /// Time for manifest and provenance. Default: the current time.
    pub created: Option<SystemTime>,
    /// Files to copy unchanged, unless the graph has files of these names, and empty directories to create, unless
    /// files go into them.
    pub keep: Unknown,
    /// Memory for data that is held: ids of nodes, placements, hyperedges with their members.
    pub budget: Budget,
    /// Where the files of an archive are collected. Default: the system's directory for temporary files.
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
    /// Returns whether the incidence matrix is written: the specification's layout requires it.
    pub(super) fn has_matrix(&self) -> bool {
        self.matrix || self.layout == WriteLayout::Specification
    }

    /// Returns the name of the compression for the manifest.
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
