//! Options for writing a graph.

use isomorph_error::{Findings, Place};
use isomorph_tables::Compression;

use crate::info::{AdjListType, FileType, REFERENCE_VERTEX_CHUNK, Version};
use crate::rules;

/// Default number of vertices in a chunk. The specification recommends 2^18; the published C++ library
/// reads the offsets of a chunk wrongly beyond 131,071.
pub const VERTEX_CHUNK: u64 = 65_536;
/// Default number of edges in a chunk.
pub const EDGE_CHUNK: u64 = 1 << 22;
/// Maximum number of vertices in a chunk when writing: a part has an offset for each, needed or not.
pub const MAX_VERTEX_CHUNK: u64 = 1 << 26;

/// How properties are grouped into files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// All properties of a type share their files.
    One,
    /// Each property has its own files.
    Each,
}

/// Options for writing a graph. An option that is `None` is taken from the graph's layout hints, if there are any and `hints` is
/// true; otherwise it has its default.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Vertices per chunk; by default [`VERTEX_CHUNK`]. Above 131,071, the published library cannot use the offsets.
    pub vertex_chunk: Option<u64>,
    /// Edges per chunk; by default [`EDGE_CHUNK`].
    pub edge_chunk: Option<u64>,
    /// File type of chunks; by default Parquet. Label files are always Parquet, and so are groups with lists if this
    /// is CSV.
    pub file_type: Option<FileType>,
    /// Compression of Parquet and ORC chunks.
    pub compression: Compression,
    /// Adjacency lists of every edge type; by default both ordered lists.
    pub adjacency: Option<Vec<AdjListType>>,
    /// Property groups; by default one for all properties.
    pub grouping: Option<Grouping>,
    /// Whether the graph's own layout hints are used.
    pub hints: bool,
    /// Whether labels are written. If false, they are lost unless the caller keeps them.
    pub label_files: bool,
    /// The graph's name, instead of its own.
    pub name: Option<String>,
    /// The version that the information files state.
    pub version: Version,
    /// Number of encoder threads; by default as many as processors.
    pub threads: Option<usize>,
}

impl WriteOptions {
    /// Returns the rules that a graph written with these options violates for the published library.
    pub fn findings(&self) -> Findings {
        let mut findings = Findings::default();
        if let Some(rows) = self.vertex_chunk.filter(|rows| *rows > REFERENCE_VERTEX_CHUNK) {
            findings.push(&rules::META_CHUNK_LARGE, format!("chunk size is {rows}"), Place::field("chunk_size"));
        }
        findings
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            vertex_chunk: None,
            edge_chunk: None,
            file_type: None,
            compression: Compression::Zstd(1),
            adjacency: None,
            grouping: None,
            hints: false,
            label_files: true,
            name: None,
            version: Version::default(),
            threads: None,
        }
    }
}
