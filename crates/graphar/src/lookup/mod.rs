//! Look-up of single vertices and their edges, without loading the graph.
//!
//! ```no_run
//! use isomorph_graphar::{GraphAr, OpenOptions};
//! use isomorph_model::Side;
//! use isomorph_storage::Location;
//!
//! # fn main() -> isomorph_error::Result<()> {
//! let graph = GraphAr::open(&Location::parse("social.graph.yml")?, &OpenOptions::default())?;
//! let person = graph.find(0, "933")?;
//! let friends = graph.neighbors_batch(0, &[person, 7], Side::Out)?;
//! println!("{} and {} edges", friends.of(0).len(), friends.of(1).len());
//! let guests = graph.with_labels(0, &["guest"], isomorph_graphar::lookup::Match::All)?;
//! println!("{} guests", guests.iter().map(|range| range.end - range.start).sum::<u64>());
//! # Ok(())
//! # }
//! ```
//!
//! An edge is found through the offsets of the ordered list of its side. If there is none, the part of the unordered list is scanned; if
//! there is no list of that side at all, a list of the other side is scanned completely. Offsets, opened files and decompressed pages are
//! cached, each up to a limit, so that the next look-up nearby takes microseconds.

mod batch;
mod cache;
mod edges;
mod gather;
mod keys;
mod labels;
mod offsets;
mod scan;
mod vertices;

pub use edges::Neighbors;
pub use labels::Match;

use std::sync::Arc;

use arrow_schema::Field;
use isomorph_error::Result;
use isomorph_storage::Root;
use isomorph_tables::{Encoding, PageCache, TableReader};

use crate::table::open_chunk_with;
use cache::Cache;

/// Number of opened files in the cache.
const OPEN_FILES: usize = 512;
/// Number of offsets in the cache: 32 MiB.
const OFFSETS: usize = 4 << 20;

/// Number of counts in the cache.
const COUNTS: usize = 1 << 16;

/// The caches of look-ups.
pub(crate) struct Lookups {
    readers: Cache<String, TableReader>,
    /// Offsets by file and block.
    offsets: Cache<(String, u64), Arc<[i64]>>,
    /// Counts by file.
    counts: Cache<String, u64>,
    pages: PageCache,
}

impl Default for Lookups {
    fn default() -> Self {
        Lookups {
            readers: Cache::new(OPEN_FILES),
            offsets: Cache::new(OFFSETS),
            counts: Cache::new(COUNTS),
            pages: PageCache::default(),
        }
    }
}

impl Lookups {
    /// Returns the opened file `path`.
    ///
    /// # Errors
    /// As [`open_chunk_with`].
    fn reader(
        &self,
        root: &Root,
        path: &str,
        encoding: Encoding,
        fields: impl FnOnce() -> Vec<Field>,
    ) -> Result<TableReader> {
        if let Some(reader) = self.readers.get(path) {
            return Ok(reader);
        }
        let reader = open_chunk_with(root, path, encoding, fields(), self.pages.clone())?;
        self.readers.keep(path.to_owned(), reader.clone(), 1);
        Ok(reader)
    }
}
