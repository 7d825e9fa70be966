//! How a graph is opened.

use arrow_schema::TimeUnit;
use isomorph_storage::Location;

use crate::info::AdjListType;

/// How a graph is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Where the data is, instead of what the graph's prefix says.
    pub root: Option<Location>,
    /// Links are followed as long as they stay below this directory, which holds the graph; otherwise below that of the
    /// graph file. Such a graph is not changed.
    pub follow_links: Option<Location>,
    /// The adjacency list that edges are read from when the order does not matter; otherwise ordered lists come first,
    /// and those by source before those by destination.
    pub adjacency: Option<AdjListType>,
    /// Vertices are identified by their rows; a primary property is a property like others.
    pub key_row: bool,
    /// The unit of timestamps that no Parquet file tells; milliseconds otherwise, as the specification says. A cell that
    /// is finer is an error.
    pub timestamps: Option<TimeUnit>,
}
