//! Adds a property group or an adjacency list to an existing graph without rewriting it.
//!
//! The format allows both: columns and copies of the edges are in separate files. New files and the
//! information file that names them appear in one step: after a crash, either all of them exist or none.
//!
//! ```no_run
//! use std::sync::Arc;
//! use arrow_array::{ArrayRef, Int64Array};
//! use arrow_schema::DataType;
//! use isomorph_graphar::extend::NewGroup;
//! use isomorph_graphar::info::AdjListType;
//! use isomorph_graphar::{GraphAr, OpenOptions};
//! use isomorph_model::Property;
//! use isomorph_storage::{Budget, Location, Scratch};
//!
//! # fn main() -> isomorph_error::Result<()> {
//! let at = Location::parse("social.graph.yml")?;
//! let graph = GraphAr::open(&at, &OpenOptions::default())?;
//! let group = NewGroup::new([Property::new("row", DataType::Int64)]);
//! graph.add_vertex_group(0, &group, &mut |batch| {
//!     let rows = (batch.start as i64)..(batch.start as i64 + batch.rows as i64);
//!     Ok(vec![Some(Arc::new(Int64Array::from_iter_values(rows)) as ArrayRef)])
//! })?;
//! // The information files have changed.
//! let graph = GraphAr::open(&at, &OpenOptions::default())?;
//! graph.add_list(0, AdjListType::OrderedByDest, &Budget::default(), &Scratch::new(None)?)?;
//! # Ok(())
//! # }
//! ```

mod group;
mod list;

use isomorph_error::{Error, Result};
use isomorph_model::Property;
use isomorph_storage::{Redo, StagedFile};
use isomorph_tables::Compression;

use crate::info::{FileType, Unknown};
use crate::write::Directory;
use crate::yml::is_written_again;
use crate::{GraphAr, rules};

/// A property group to add.
#[derive(Debug, Clone)]
pub struct NewGroup {
    /// Its properties.
    pub properties: Vec<Property>,
    /// File type of its chunks.
    pub file_type: FileType,
    /// Compression of Parquet and ORC chunks.
    pub compression: Compression,
}

impl NewGroup {
    /// Creates a group that is stored as compressed Parquet.
    pub fn new(properties: impl IntoIterator<Item = Property>) -> Self {
        NewGroup {
            properties: properties.into_iter().collect(),
            file_type: FileType::Parquet,
            compression: Compression::Zstd(1),
        }
    }
}

/// The directory of the data, below the directory that is changed.
struct Below<'a> {
    redo: &'a Redo,
    prefix: &'a str,
}

impl Below<'_> {
    fn path(&self, path: &str) -> String {
        if self.prefix.is_empty() { path.to_owned() } else { format!("{}/{path}", self.prefix) }
    }
}

impl Directory for Below<'_> {
    fn create(&self, path: &str) -> Result<StagedFile> {
        self.redo.create(&self.path(path))
    }
}

impl GraphAr {
    /// Returns the path of the data below the directory of the information files.
    fn data_below(&self) -> Result<&str> {
        if self.follows_links {
            let message = "a graph opened with --follow-links cannot be changed: the linked files may belong to others";
            return Err(Error::unsupported(message).at(self.graph_file.as_str()));
        }
        let elsewhere = || {
            Error::unsupported("the data is not below the graph file, so both cannot be changed in one step")
                .at(self.graph_file.as_str())
                .hint("move the information files to the data")
        };
        self.below.as_deref().ok_or_else(elsewhere)
    }

    /// Rejects an information file with keys that would be dropped when it is written again.
    fn refuse_unknown(&self, file: &str, unknown: &Unknown) -> Result<()> {
        let is_kept = |key: &str| unknown.iter().any(|(name, text)| name == key && is_written_again(name, text));
        let found = self.findings.by_rule().flat_map(|(_, kept)| kept).find(|finding| {
            finding.rule.id == rules::META_KEY_UNKNOWN.id
                && finding.place.file.as_deref() == Some(file)
                && !finding.place.field.as_deref().is_some_and(is_kept)
        });
        match found {
            None => Ok(()),
            Some(finding) => Err(Error::unsupported("the file has a key that would be dropped when it is rewritten")
                .rule(&rules::META_KEY_UNKNOWN)
                .at(finding.place.clone())),
        }
    }
}
