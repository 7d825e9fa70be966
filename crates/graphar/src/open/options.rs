//! Options for opening a graph.

use arrow_schema::TimeUnit;
use isomorph_storage::Location;

use crate::info::AdjListType;

/// Options for opening a graph.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Directory of the data, instead of the graph's prefix.
    pub root: Option<Location>,
    /// Links are followed if they stay below this directory, which contains the graph; by default, below the directory of the
    /// graph file. A graph opened with this option cannot be changed.
    pub follow_links: Option<Location>,
    /// The adjacency list that edges are read from when the order does not matter. By default, ordered lists are preferred,
    /// then lists by source.
    pub adjacency: Option<AdjListType>,
    /// Identify vertices by row number; a primary property is then an ordinary property.
    pub key_row: bool,
    /// The unit of timestamps in files other than Parquet; by default milliseconds, as in the specification. A finer value
    /// is an error.
    pub timestamps: Option<TimeUnit>,
}
