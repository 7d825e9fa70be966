//! How a graph is written.

use std::time::SystemTime;

use isomorph_storage::{Budget, Scratch};
use isomorph_tables::Compression;

use crate::Conversion;

/// Options of [`crate::AnnnetWriter::create`].
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Compression of the tables and of the chunks of arrays. The manifest names it.
    pub compression: Compression,
    /// Write the incidence matrix as well, which follows from the tables and which the published library does not read.
    pub matrix: bool,
    /// Write one zip file instead of a directory.
    pub archive: bool,
    /// What the graph is converted from, which history and provenance tell.
    pub conversion: Option<Conversion>,
    /// The time that manifest and provenance name; the clock's if nothing is given.
    pub created: Option<SystemTime>,
    /// Memory for what is held: ids of nodes, placements, hyperedges with their members.
    pub budget: Budget,
    /// Where the files of an archive are gathered; the system's directory for temporary files if nothing is given.
    pub scratch: Option<Scratch>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            compression: Compression::Zstd(1),
            matrix: false,
            archive: false,
            conversion: None,
            created: None,
            budget: Budget::default(),
            scratch: None,
        }
    }
}

impl WriteOptions {
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
