//! Paths of files and chunk arithmetic (`README.md`, Layout).
//!
//! All paths are relative to the data directory, without a leading slash. Prefixes in information files may
//! lack a trailing slash, repeat slashes or begin with `./`; they must not leave the directory.

use isomorph_error::{Error, Result};
use isomorph_storage::check_relative;

use crate::info::{AdjList, EdgeInfo, PropertyGroup, VertexInfo};

/// The index of a vertex chunk (of a part, for edges) or of an edge chunk within its part.
pub type ChunkIndex = u64;

/// Normalises a prefix to a relative directory without outer slashes; empty for the directory itself.
///
/// # Errors
/// Returns [`isomorph_storage::PATH_ESCAPE`] if the prefix leaves the directory.
pub fn directory(prefix: &str) -> Result<String> {
    let parts: Vec<&str> = prefix.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let clean = parts.join("/");
    if !clean.is_empty() {
        check_relative(&clean)?;
    }
    Ok(clean)
}

/// Joins directories and a file name, skipping empty parts.
fn join<const N: usize>(parts: [&str; N]) -> String {
    let mut path = String::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    path
}

/// Returns the number of chunks of `size` rows that `rows` rows need.
pub fn chunk_count(rows: u64, size: u64) -> u64 {
    rows.div_ceil(size.max(1))
}

/// Returns the number of rows in chunk `chunk` when `rows` rows are split into chunks of `size`.
pub fn chunk_rows(rows: u64, size: u64, chunk: ChunkIndex) -> u64 {
    rows.saturating_sub(chunk.saturating_mul(size)).min(size)
}

/// The directories of a vertex type.
#[derive(Debug, Clone)]
pub struct VertexLayout {
    base: String,
    /// The prefix as it was written, if it has no trailing slash: the C++ library then appends `labels` directly to it.
    glued: Option<String>,
    groups: Vec<String>,
}

impl VertexLayout {
    /// Creates the layout that an information file declares.
    ///
    /// # Errors
    /// As [`directory`].
    pub fn new(info: &VertexInfo) -> Result<Self> {
        let base = directory(&info.prefix)?;
        let glued = (!info.prefix.ends_with('/')).then(|| format!("{base}labels"));
        Ok(VertexLayout { groups: group_directories(&info.groups)?, base, glued })
    }

    /// The directory of the type.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the file with the number of vertices.
    pub fn count(&self) -> String {
        join([&self.base, "vertex_count"])
    }

    /// The directory of property group `group`.
    pub fn group(&self, group: usize) -> String {
        join([&self.base, self.groups.get(group).map_or("", String::as_str)])
    }

    /// A chunk of property group `group`.
    pub fn chunk(&self, group: usize, chunk: ChunkIndex) -> String {
        join([&self.group(group), &format!("chunk{chunk}")])
    }

    /// The directory of the label files.
    pub fn labels(&self) -> String {
        join([&self.base, "labels"])
    }

    /// A label file.
    pub fn label_chunk(&self, chunk: ChunkIndex) -> String {
        join([&self.labels(), &format!("chunk{chunk}")])
    }

    /// Returns the path that the C++ library gives a label file if the prefix has no trailing slash.
    pub fn glued_label_chunk(&self, chunk: ChunkIndex) -> Option<String> {
        self.glued.as_ref().map(|directory| format!("{directory}/chunk{chunk}"))
    }
}

/// The directories of one adjacency list of an edge type.
#[derive(Debug, Clone)]
pub struct ListLayout {
    base: String,
    groups: Vec<String>,
}

impl ListLayout {
    /// Creates the layout that an information file declares.
    ///
    /// # Errors
    /// As [`directory`].
    pub fn new(info: &EdgeInfo, list: &AdjList) -> Result<Self> {
        let base = join([&directory(&info.prefix)?, &directory(&list.prefix)?]);
        Ok(ListLayout { base, groups: group_directories(&info.groups)? })
    }

    /// The directory of the list.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the file with the number of vertices of the aligned type.
    pub fn vertex_count(&self) -> String {
        join([&self.base, "vertex_count"])
    }

    /// Returns the file with the number of edges of part `part`.
    pub fn edge_count(&self, part: ChunkIndex) -> String {
        join([&self.base, &format!("edge_count{part}")])
    }

    /// A chunk of source and destination indexes.
    pub fn adj(&self, part: ChunkIndex, chunk: ChunkIndex) -> String {
        join([&self.base, "adj_list", &format!("part{part}"), &format!("chunk{chunk}")])
    }

    /// The offsets of part `part`.
    pub fn offset(&self, part: ChunkIndex) -> String {
        join([&self.base, "offset", &format!("chunk{part}")])
    }

    /// The directory of property group `group`.
    pub fn group(&self, group: usize) -> String {
        join([&self.base, self.groups.get(group).map_or("", String::as_str)])
    }

    /// A chunk of property group `group`.
    pub fn chunk(&self, group: usize, part: ChunkIndex, chunk: ChunkIndex) -> String {
        join([&self.group(group), &format!("part{part}"), &format!("chunk{chunk}")])
    }
}

fn group_directories(groups: &[PropertyGroup]) -> Result<Vec<String>> {
    groups.iter().map(|group| directory(&group.prefix)).collect()
}

/// Rejects counts that need more chunk files than a dataset may have.
///
/// # Errors
/// Returns [`crate::rules::COUNT_RANGE`] for such a count.
pub(crate) fn check_chunks(chunks: u64, what: &str) -> Result<()> {
    if chunks > isomorph_storage::limits::FILES as u64 {
        return Err(Error::broken(&crate::rules::COUNT_RANGE, format!("{what} needs {chunks} chunk files")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::info::{AdjListType, FileType, PropertyInfo, ValueType};

    fn edge(prefix: &str) -> EdgeInfo {
        let list = AdjList {
            kind: AdjListType::OrderedBySource,
            prefix: "ordered_by_source/".into(),
            file_type: FileType::Parquet,
        };
        EdgeInfo {
            file: String::new(),
            source: "person".into(),
            relation: "knows".into(),
            target: "person".into(),
            chunk_size: 1024,
            source_chunk_size: 100,
            target_chunk_size: 100,
            directed: Some(false),
            prefix: prefix.into(),
            lists: vec![list],
            groups: vec![PropertyGroup {
                prefix: "creationDate/".into(),
                file_type: FileType::Parquet,
                properties: vec![PropertyInfo::new("creationDate", ValueType::String)],
            }],
            version: None,
            unknown: Vec::new(),
        }
    }

    #[test]
    fn the_paths_of_the_specification() {
        let edge = edge("edge/person_knows_person/");
        let layout = ListLayout::new(&edge, &edge.lists[0]).unwrap();
        let base = "edge/person_knows_person/ordered_by_source";
        assert_eq!(layout.adj(3, 1), format!("{base}/adj_list/part3/chunk1"));
        assert_eq!(layout.offset(3), format!("{base}/offset/chunk3"));
        assert_eq!(layout.edge_count(3), format!("{base}/edge_count3"));
        assert_eq!(layout.vertex_count(), format!("{base}/vertex_count"));
        assert_eq!(layout.chunk(0, 3, 1), format!("{base}/creationDate/part3/chunk1"));
    }

    #[test]
    fn prefixes_are_cleaned_and_kept_inside() {
        assert_eq!(directory("./a//b/").unwrap(), "a/b");
        assert_eq!(directory("/a").unwrap(), "a");
        assert_eq!(directory("./").unwrap(), "");
        for prefix in ["../a", "a/../../b", "a\\b", "c:/x", "%2e%2e/x"] {
            assert!(directory(prefix).is_err(), "{prefix}");
        }
        let edge = edge("edge");
        assert_eq!(
            ListLayout::new(&edge, &edge.lists[0]).unwrap().vertex_count(),
            "edge/ordered_by_source/vertex_count"
        );
    }

    #[test]
    fn chunks_are_counted_without_overflow() {
        assert_eq!((chunk_count(903, 100), chunk_rows(903, 100, 9), chunk_rows(903, 100, 10)), (10, 3, 0));
        assert_eq!(chunk_count(0, 100), 0);
        assert_eq!(chunk_count(u64::MAX, 1 << 62), 4);
        assert_eq!(chunk_rows(u64::MAX, 1 << 62, 5), 0);
        assert!(check_chunks(1 << 40, "x").is_err());
    }
}
