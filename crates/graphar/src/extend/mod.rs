//! Adding to a graph that exists without rewriting what is there: a property group, or an adjacency list.
//!
//! The specification promises both: columns and copies of the edges lie in files of their own. New files and the
//! information file that names them appear in one step, and after a crash all of them or none.
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

/// A property group that is to be added.
#[derive(Debug, Clone)]
pub struct NewGroup {
    /// Its properties.
    pub properties: Vec<Property>,
    /// How its chunks are encoded.
    pub file_type: FileType,
    /// Compression of Parquet and ORC chunks.
    pub compression: Compression,
}

impl NewGroup {
    /// A group in compressed Parquet.
    pub fn new(properties: impl IntoIterator<Item = Property>) -> Self {
        NewGroup {
            properties: properties.into_iter().collect(),
            file_type: FileType::Parquet,
            compression: Compression::Zstd(1),
        }
    }
}

/// The directory of the data below the one that is changed.
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
    /// Where the data is below the directory of the information files.
    fn data_below(&self) -> Result<&str> {
        if self.follows_links {
            let message = "a graph whose links are followed is not changed: what they lead to may belong to others";
            return Err(Error::unsupported(message).at(self.graph_file.as_str()));
        }
        let elsewhere = || {
            Error::unsupported("the data is not below the graph file, so both cannot change in one step")
                .at(self.graph_file.as_str())
                .hint("move the information files to the data")
        };
        self.below.as_deref().ok_or_else(elsewhere)
    }

    /// Refuses an information file with keys that would not be written again.
    fn refuse_unknown(&self, file: &str, unknown: &Unknown) -> Result<()> {
        let is_kept = |key: &str| unknown.iter().any(|(name, text)| name == key && is_written_again(name, text));
        let found = self.findings.by_rule().flat_map(|(_, kept)| kept).find(|finding| {
            finding.rule.id == rules::META_KEY_UNKNOWN.id
                && finding.place.file.as_deref() == Some(file)
                && !finding.place.field.as_deref().is_some_and(is_kept)
        });
        match found {
            None => Ok(()),
            Some(finding) => Err(Error::unsupported("the file has a key that would not be written again")
                .rule(&rules::META_KEY_UNKNOWN)
                .at(finding.place.clone())),
        }
    }
}
