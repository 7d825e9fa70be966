//! Materialised views of the incidence matrix, for look-ups: `cache/csr.zarr` by entities, `cache/csc.zarr` by edges.
//!
//! | array | view | content |
//! |---|---|---|
//! | `indptr` | both | where the entries of each row (column) begin, and the end of the last; int64 |
//! | `indices` | both | the column (row) of each entry, int32 |
//! | `data` | both | its value, float32: as in the incidence matrix, but never summed |
//! | `side` | csr | which side of the edge the entity is on: 0 source, 1 target, 2 head, 3 tail, 4 member; int8 |
//! | `row` | csc | the row of each column in the table of edges, int64 |
//! | `id_hash`, `id_row` | csr | XXH3-64 of the id of each entity, ascending, int64; and its row, int32 |
//!
//! The table of edges is `structure/edges.parquet`; in older layouts it is the table to which they are converted when
//! they are read: placeholders, then the edges in the order of their positions. Rows are entities in the order of `idx`,
//! in every layer in which they are placed; columns are edges in the order of `col_idx`, without placeholders. A directed
//! loop has two entries, which cancel when they are summed. The attributes of both groups name the files from which they
//! were built, with the counter of changes, and the sizes and hashes of the ends of these files: views that do not match
//! the graph are not used.

mod add;
mod arrays;
mod build;
mod check;
mod look_up;
mod memo;
mod open;
mod places;
mod stamp;

pub use add::write_cache;
pub(crate) use build::{build, implied};
pub(crate) use check::check;
pub(crate) use look_up::{Cache, Side};
pub use open::LookUps;

use isomorph_error::{Kind, Result};

/// Converts the error of a malformed view to `None`, because the tables contain the same information and are only
/// slower. An unreadable file, a file that changes, and insufficient memory remain errors.
///
/// # Errors
/// Returns every error except that a view is malformed.
pub(crate) fn if_sound<T>(said: Result<T>) -> Result<Option<T>> {
    match said {
        Ok(said) => Ok(Some(said)),
        Err(error) if error.broken_rule().is_some() || error.kind() == Kind::Malformed => Ok(None),
        Err(error) => Err(error),
    }
}

/// The folder that contains the views.
pub(crate) const FOLDER: &str = "cache/";
/// The view by entities.
pub(crate) const CSR: &str = "cache/csr.zarr";
/// The view by edges.
pub(crate) const CSC: &str = "cache/csc.zarr";
/// Numbers in a chunk: a compromise between unpacking little in a look-up and having few files.
const CHUNK: std::num::NonZeroU64 = std::num::NonZeroU64::new(1 << 15).unwrap();
/// Rows of a batch while a view is built.
const BATCH_ROWS: usize = 1 << 15;

/// Returns the hash of an id, as `id_hash` contains it.
fn hash_of(id: &str) -> i64 {
    xxhash_rust::xxh3::xxh3_64(id.as_bytes()).cast_signed()
}
