//! The information files of a graph as types: what they say, without the spelling.
//!
//! Read from every dialect since 2023, written in today's (`README.md`, Information files).

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

/// Keys of an information file that GraphAr does not know, with their texts; lists and mappings as JSON.
pub type Unknown = Vec<(String, String)>;

/// What `<name>.graph.yml` and the files that it names say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphInfo {
    /// Name; the published library takes `graph` where it is missing.
    pub name: Option<String>,
    /// Directory of the data, as written. Never followed out of the graph's own directory.
    pub prefix: Option<String>,
    /// Version, as written.
    pub version: Option<Version>,
    /// Vertex labels of the whole graph. Informational.
    pub labels: Vec<String>,
    /// The user's own keys and values.
    pub extra_info: Vec<(String, String)>,
    /// Vertex types.
    pub vertices: Vec<VertexInfo>,
    /// Edge types.
    pub edges: Vec<EdgeInfo>,
    /// Keys that GraphAr does not know.
    pub unknown: Unknown,
}

impl GraphInfo {
    /// The vertex type `name`.
    pub fn vertex(&self, name: &str) -> Option<&VertexInfo> {
        self.vertices.iter().find(|vertex| vertex.ty == name)
    }
}

/// What a vertex file says.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexInfo {
    /// Name of the file, relative to the graph file.
    pub file: String,
    /// Vertex type.
    pub ty: String,
    /// Rows of a chunk.
    pub chunk_size: u64,
    /// Directory of the type, relative to the graph's data.
    pub prefix: String,
    /// Labels, in the order of the columns of the label files.
    pub labels: Vec<String>,
    /// Property groups.
    pub groups: Vec<PropertyGroup>,
    /// Version, as written.
    pub version: Option<Version>,
    /// Keys that GraphAr does not know.
    pub unknown: Unknown,
}

impl VertexInfo {
    /// All properties, group by group.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyInfo> {
        self.groups.iter().flat_map(|group| &group.properties)
    }

    /// The property that identifies a vertex: the only primary one, if it is an integer or a text.
    pub fn key(&self) -> Option<&PropertyInfo> {
        let mut primary = self.properties().filter(|property| property.primary);
        match (primary.next(), primary.next()) {
            (Some(property), None) if property.can_be_key() => Some(property),
            _ => None,
        }
    }
}

/// What an edge file says.
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
    /// Rows of an edge chunk.
    pub chunk_size: u64,
    /// Source vertices of a part of a list that is aligned by source.
    pub source_chunk_size: u64,
    /// Destination vertices of a part of a list that is aligned by destination.
    pub target_chunk_size: u64,
    /// Whether the edges have a direction; absent means no.
    pub directed: Option<bool>,
    /// Directory of the type, relative to the graph's data.
    pub prefix: String,
    /// Adjacency lists: copies of the edges in different orders.
    pub lists: Vec<AdjList>,
    /// Property groups; every list has them all.
    pub groups: Vec<PropertyGroup>,
    /// Version, as written.
    pub version: Option<Version>,
    /// Keys that GraphAr does not know.
    pub unknown: Unknown,
}

impl EdgeInfo {
    /// All properties, group by group.
    pub fn properties(&self) -> impl Iterator<Item = &PropertyInfo> {
        self.groups.iter().flat_map(|group| &group.properties)
    }

    /// Its adjacency list of type `kind`.
    pub fn list(&self, kind: AdjListType) -> Option<&AdjList> {
        self.lists.iter().find(|list| list.kind == kind)
    }

    /// Vertices of a part of a list of type `kind`.
    pub fn part_size(&self, kind: AdjListType) -> u64 {
        if kind.by_source() { self.source_chunk_size } else { self.target_chunk_size }
    }

    /// Source, edge and destination type, as a message names them.
    pub fn name(&self) -> String {
        format!("{} -{}- {}", self.source, self.relation, self.target)
    }
}

/// One adjacency list of an edge type.
#[derive(Debug, Clone, PartialEq)]
pub struct AdjList {
    /// How it is aligned and ordered.
    pub kind: AdjListType,
    /// Directory of the list, relative to that of the edge type.
    pub prefix: String,
    /// File type of its adjacency and offset chunks.
    pub file_type: FileType,
}
