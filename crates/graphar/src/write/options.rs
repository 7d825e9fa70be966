//! How a graph is written.

use isomorph_error::{Findings, Place};
use isomorph_tables::Compression;

use crate::info::{AdjListType, FileType, REFERENCE_VERTEX_CHUNK, Version};
use crate::rules;

/// Vertices of a chunk unless something else is asked for. The specification recommends 2^18; the published C++ library
/// reads the offsets of a chunk wrongly beyond 131,071.
pub const VERTEX_CHUNK: u64 = 65_536;
/// Edges of a chunk unless something else is asked for.
pub const EDGE_CHUNK: u64 = 1 << 22;
/// The most vertices of a chunk that are written: a part has an offset for each, needed or not.
pub const MAX_VERTEX_CHUNK: u64 = 1 << 26;

/// Which properties share their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// All properties of a type.
    One,
    /// Each property has its own.
    Each,
}

/// How a graph is written. What is `None` is taken from the graph's layout hints, if these are to be used and there are
/// some, and is a default otherwise.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Vertices of a chunk; by default [`VERTEX_CHUNK`]. Above 131,071 the published library cannot use the offsets.
    pub vertex_chunk: Option<u64>,
    /// Edges of a chunk; by default [`EDGE_CHUNK`].
    pub edge_chunk: Option<u64>,
    /// Encoding of chunks; by default Parquet. Label files are Parquet always, and so are groups with lists where this
    /// is CSV.
    pub file_type: Option<FileType>,
    /// Compression of Parquet and ORC chunks.
    pub compression: Compression,
    /// Adjacency lists of every edge type; by default both ordered ones.
    pub adjacency: Option<Vec<AdjListType>>,
    /// Property groups; by default one for all.
    pub grouping: Option<Grouping>,
    /// Whether the graph's own layout hints count.
    pub hints: bool,
    /// Whether labels are written. Without, they are lost unless somebody else keeps them.
    pub label_files: bool,
    /// The graph's name, instead of its own.
    pub name: Option<String>,
    /// The version that the information files state.
    pub version: Version,
    /// Threads that encode; by default as many as there are processors.
    pub threads: Option<usize>,
}

impl WriteOptions {
    /// What the published library will hold against a graph that is written so.
    pub fn findings(&self) -> Findings {
        let mut findings = Findings::default();
        if let Some(rows) = self.vertex_chunk.filter(|rows| *rows > REFERENCE_VERTEX_CHUNK) {
            findings.push(&rules::META_CHUNK_LARGE, format!("{rows} vertices"), Place::field("chunk_size"));
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
