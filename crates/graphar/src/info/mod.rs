//! The content of a graph's information files, independent of their spelling.
//!
//! Files of every dialect since 2023 are read; the current one is written (`README.md`).

mod check;
mod emit;
mod group;
mod kinds;
mod read;
#[cfg(test)]
mod tests;
mod version;

pub(crate) use check::REFERENCE_VERTEX_CHUNK;
pub(crate) use check::refuse;
pub use group::{PropertyGroup, PropertyInfo};
pub use kinds::{AdjListType, FileType, ListItem, ValueType};
pub use read::Files;
pub use version::Version;

/// Keys of an information file that GraphAr does not define, with their values as text; lists and mappings as JSON.
pub type Unknown = Vec<(String, String)>;

/// The content of `<name>.graph.yml` and of the files that it names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphInfo {
    /// Name; if it is missing, the published library uses `graph`.
    pub name: Option<String>,
    /// Directory of the data, as written. Never followed outside the graph's own directory.
    pub prefix: Option<String>,
    /// Version, as written.
    pub version: Option<Version>,
    /// Vertex labels of the whole graph. Informational.
    pub labels: Vec<String>,
    /// User-defined keys and values.
    pub extra_info: Vec<(String, String)>,
    /// Vertex types.
    pub vertices: Vec<VertexInfo>,
    /// Edge types.
    pub edges: Vec<EdgeInfo>,
    /// Keys that GraphAr does not define.
    pub unknown: Unknown,
}

impl GraphInfo {
    /// Returns the vertex type `name`.
    pub fn vertex(&self, name: &str) -> Option<&VertexInfo> {
        self.vertices.iter().find(|vertex| vertex.ty == name)
    }
}

/// The content of a vertex file.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexInfo {
    /// Name of the file, relative to the graph file.
    pub file: String,
    /// Vertex type.
    pub ty: String,
    /// Number of rows in a chunk.
    pub chunk_size: u64,
    /// Directory of the type, relative to the graph's data.
    pub prefix: String,
    /// Labels, in the order of the columns of the label files.
    pub labels: Vec<String>,
    /// Property groups.
    pub groups: Vec<PropertyGroup>,
    /// Version, as written.
    pub version: Option<Version>,
    /// Keys that GraphAr does not define.
    pub unknown: Unknown,
}

impl VertexInfo {
    /// Returns all properties, group by group.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyInfo> {
        self.groups.iter().flat_map(|group| &group.properties)
    }

    /// Returns the property that identifies a vertex: the only primary one, if it is an integer or a string.
    pub fn key(&self) -> Option<&PropertyInfo> {
        let mut primary = self.properties().filter(|property| property.primary);
        match (primary.next(), primary.next()) {
            (Some(property), None) if property.can_be_key() => Some(property),
            _ => None,
        }
    }
}

/// The content of an edge file.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeInfo {
    /// Name of the file, relative to the graph file.
    pub file: String,
    /// Vertex type of the sources.
    pub source: String,
    /// Edge type.
    pub relation: String,
    /// Vertex type of the destinations.
    pub target: String,
    /// Number of rows in an edge chunk.
    pub chunk_size: u64,
    /// Number of source vertices in a part of a list aligned by source.
    pub source_chunk_size: u64,
    /// Number of destination vertices in a part of a list aligned by destination.
    pub target_chunk_size: u64,
    /// Whether the edges are directed; absent means false.
    pub directed: Option<bool>,
    /// Directory of the type, relative to the graph's data.
    pub prefix: String,
    /// Adjacency lists: copies of the edges in different orders.
    pub lists: Vec<AdjList>,
    /// Property groups; every list has them all.
    pub groups: Vec<PropertyGroup>,
    /// Version, as written.
    pub version: Option<Version>,
    /// Keys that GraphAr does not define.
    pub unknown: Unknown,
}

impl EdgeInfo {
    /// Returns all properties, group by group.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyInfo> {
        self.groups.iter().flat_map(|group| &group.properties)
    }

    /// Returns its adjacency list of type `kind`.
    pub fn list(&self, kind: AdjListType) -> Option<&AdjList> {
        self.lists.iter().find(|list| list.kind == kind)
    }

    /// Returns the number of vertices in a part of a list of type `kind`.
    pub fn part_size(&self, kind: AdjListType) -> u64 {
        if kind.by_source() { self.source_chunk_size } else { self.target_chunk_size }
    }

    /// Returns source, edge and destination type as they appear in messages.
    pub fn name(&self) -> String {
        format!("{} -{}- {}", self.source, self.relation, self.target)
    }
}

/// One adjacency list of an edge type.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjList {
    /// How it is aligned and ordered.
    pub kind: AdjListType,
    /// Directory of the list, relative to the edge type's directory.
    pub prefix: String,
    /// File type of its adjacency and offset chunks.
    pub file_type: FileType,
}
