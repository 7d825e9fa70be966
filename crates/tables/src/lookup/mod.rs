//! Look-ups between keys and rows, with one memory budget.
//!
//! | from → to | in memory | beyond memory |
//! |---|---|---|
//! | key → row | [`KeyRows`]: nothing for consecutive integers, direct addressing, a sorted array, a hash table | [`SpilledKeys`], for [`BulkLookup`] |
//! | row → key | [`RowKeys`] | the same, mapped from a temporary file |
//! | integer key → small number | [`Numbered`] | the same, mapped from a temporary file |
//! | row → 128-bit hash | [`Hashes`] | the same, mapped from a temporary file |
//!
//! A [`KeyRowsBuilder`] chooses one of the two and reports which: translating keys one batch at a time requires the keys
//! in memory. A bulk look-up sorts its probes like the keys and reads both in parallel. Keys are equal if
//! their bytes are; hashes only help to find them. Texts that are one prefix and a number each (`n0`, `n1`, …) are stored
//! and found as numbers.
//!
//! Edges whose ends are both keys need two bulk look-ups. The first looks up the sources, with the target and the
//! properties as tags. Its answers become the probes of the second, whose tags are the sources' rows and the properties.
//! The answers of the second go into an [`EdgeSorter`](crate::sort::EdgeSorter). Every step keeps the sequence number of
//! each edge, so that the order of the answers does not matter. [`Answers::drain`] releases the temporary files of one
//! look-up while those of the next grow.
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
mod ids;
mod integers;
mod key_rows;
mod map;
mod numbered;
mod options;
mod ordered;
mod prefix;
mod repeats;
mod row_keys;
mod spilled;
mod table;
mod text;

pub use builder::KeyRowsBuilder;
pub use bulk::{AnswerBatch, AnswerStream, Answers, BulkLookup};
pub use column::KeyKind;
pub use hashes::{Hashes, HashesBuilder};
pub use ids::{Asked, IdsInOrder, Take, WrongId, WrongIds, wrong_ids};
pub use key_rows::KeyRows;
pub use numbered::{Numbered, NumberedBuilder};
pub use options::LookupOptions;
pub use repeats::{Repeat, Repeats};
pub use row_keys::{RowKeys, RowKeysBuilder};
pub use spilled::SpilledKeys;

/// The row reported for a key that is null or not found. No node has this row.
pub const ABSENT: u64 = u64::MAX;

/// The look-up of a node type's keys.
pub enum Lookup {
    /// In memory: translate keys batch by batch.
    Memory(KeyRows),
    /// In temporary files: collect keys and translate them in bulk.
    Spilled(SpilledKeys),
}

impl Lookup {
    /// Returns the number of keys, including repeated ones.
    pub fn rows(&self) -> u64 {
        match self {
            Lookup::Memory(keys) => keys.rows(),
            Lookup::Spilled(keys) => keys.rows(),
        }
    }

    /// Returns the keys that occur more than once. They refer to their first row.
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
    /// Position of the first null.
    pub first_null: Option<usize>,
    /// Number of keys that were not found.
    pub not_found: usize,
    /// Position of the first key that was not found.
    pub first_not_found: Option<usize>,
    looked_up: usize,
}
