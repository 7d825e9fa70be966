//! Look-ups between keys and dense rows, under one memory budget.
//!
//! | from → to | in memory | beyond it |
//! |---|---|---|
//! | key → row | [`KeyRows`]: nothing for consecutive integers, direct addressing, a sorted array, a hash table | [`SpilledKeys`], for [`BulkLookup`] |
//! | row → key | [`RowKeys`] | the same, mapped from a temporary file |
//! | integer key → small number | [`Numbered`] | the same, mapped from a temporary file |
//! | row → 128-bit hash | [`Hashes`] | the same, mapped from a temporary file |
//!
//! A [`KeyRowsBuilder`] decides by itself which of the two it makes, and says so: translation on the fly needs the keys
//! in memory. A bulk look-up sorts its questions as the keys are sorted and reads both side by side. Keys are equal if
//! their bytes are; hashes only lead there.
//!
//! Edges whose two ends are keys take two bulk look-ups, one after the other. The first looks up the sources and carries
//! the target and the properties as tags. Its answers become the probes of the second, which carries the sources' rows
//! and the properties. The answers of that go into an [`EdgeSorter`](crate::sort::EdgeSorter). The sequence number of
//! each edge goes all the way with it, so that the order of the answers does not matter. [`Answers::drain`] gives the
//! temporary files of one look-up back while those of the next grow.
//!
//! ```
//! use arrow_array::StringArray;
//! use isomorph_storage::{Budget, Scratch};
//! use isomorph_tables::lookup::{ABSENT, KeyRowsBuilder, Lookup, LookupOptions};
//!
//! # fn main() -> isomorph_error::Result<()> {
//! let options = LookupOptions::new(&Budget::new(64 << 20), &Scratch::new(None)?);
//! let mut builder = KeyRowsBuilder::new(options);
//! builder.push(&StringArray::from(vec!["ann", "bob"]))?;
//! let Lookup::Memory(keys) = builder.finish()? else { return Ok(()) };
//! let mut rows = Vec::new();
//! let misses = keys.translate(&StringArray::from(vec!["bob", "eve", "ann"]), &mut rows)?;
//! assert_eq!(rows, [1, ABSENT, 0]);
//! assert_eq!(misses.first_not_found, Some(1));
//! # Ok(())
//! # }
//! ```

mod builder;
mod bulk;
mod bytes;
mod column;
mod hashes;
mod integers;
mod key_rows;
mod map;
mod numbered;
mod options;
mod ordered;
mod repeats;
mod row_keys;
mod spilled;
mod table;
mod text;

pub use builder::KeyRowsBuilder;
pub use bulk::{AnswerBatch, AnswerStream, Answers, BulkLookup};
pub use column::KeyKind;
pub use hashes::{Hashes, HashesBuilder};
pub use key_rows::KeyRows;
pub use numbered::{Numbered, NumberedBuilder};
pub use options::LookupOptions;
pub use repeats::{Repeat, Repeats};
pub use row_keys::{RowKeys, RowKeysBuilder};
pub use spilled::SpilledKeys;

/// The row of a key that is null or not there. No node has this row.
pub const ABSENT: u64 = u64::MAX;

/// The keys of a node type, as they could be kept.
pub enum Lookup {
    /// In memory: translate keys as they come.
    Memory(KeyRows),
    /// In temporary files: collect the keys and translate them in bulk.
    Spilled(SpilledKeys),
}

impl Lookup {
    /// Number of keys, repeated ones included.
    pub fn rows(&self) -> u64 {
        match self {
            Lookup::Memory(keys) => keys.rows(),
            Lookup::Spilled(keys) => keys.rows(),
        }
    }

    /// Keys that are there more than once. They stand for their first row.
    pub fn repeats(&self) -> &Repeats {
        match self {
            Lookup::Memory(keys) => keys.repeats(),
            Lookup::Spilled(keys) => keys.repeats(),
        }
    }
}

/// Keys that have no row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Misses {
    /// Number of nulls.
    pub nulls: usize,
    /// Place of the first null.
    pub first_null: Option<usize>,
    /// Number of keys that are not there.
    pub not_found: usize,
    /// Place of the first key that is not there.
    pub first_not_found: Option<usize>,
    looked_up: usize,
}
