//! Looking up single vertices and their edges, straight from where they lie.
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
//! An edge is found through the offsets of the ordered list of its side; where there is none, the part of the unordered
//! list is scanned, and where there is no list of that side at all, everything is. Offsets, opened files and unpacked
//! pages are kept, each within a bound, so that the next look-up near by costs microseconds.

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

/// Opened files that are kept.
const OPEN_FILES: usize = 512;
/// Offsets that are kept: 32 MiB.
const OFFSETS: usize = 4 << 20;

/// Counts that are kept.
const COUNTS: usize = 1 << 16;

/// What look-ups keep.
pub(crate) struct Lookups {
    readers: Cache<String, TableReader>,
    /// By offset file and block.
    offsets: Cache<(String, u64), Arc<[i64]>>,
    /// Counts, by their files.
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
    /// The opened file `path`.
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
