//! Spilling sort of edges.
//!
//! An [`EdgeSorter`] takes edges as two columns of rows, with any further columns, and returns them sorted
//! by (aligned end, other end), the order of every adjacency list. As long as there is enough memory, edges stay in memory
//! and are radix-sorted there. Otherwise sorted runs are written to temporary files and merged while they are read.
//!
//! The sort of a general query engine was measured and not used: with little memory it fails halfway instead of
//! adapting. Here, all memory that merging will need is reserved before the first edge is added.
//!
//! ```
//! use isomorph_storage::{Budget, Scratch};
//! use isomorph_tables::sort::{EdgeSorter, SortOptions};
//!
//! # fn main() -> isomorph_error::Result<()> {
//! let options = SortOptions::new(&Budget::new(64 << 20), &Scratch::new(None)?);
//! let sorter = EdgeSorter::new(options)?;
//! sorter.push(&[2, 0, 2], &[5, 9, 1], None, 0)?;
//! let sorted = sorter.finish()?;
//! for batch in sorted.stream()? {
//!     let batch = batch?;
//!     assert_eq!(batch.aligned.values().as_ref(), [0, 2, 2]);
//!     assert_eq!(batch.other.values().as_ref(), [9, 1, 5]);
//! }
//! # Ok(())
//! # }
//! ```

mod buffer;
mod codec;
mod columns;
mod keys;
mod memory;
mod merge;
mod options;
mod payload;
mod plan;
mod radix;
mod rows;
mod run;
mod sequence;
mod shape;
mod sorted;
mod sorter;

pub(crate) use codec::Input;
pub(crate) use columns::{column, put_column};
pub use options::SortOptions;
pub(crate) use payload::{Payload, arrow as arrow_error, bytes_of};
pub use sequence::Sequence;
pub use sorted::{EdgeStream, SortedBatch, SortedEdges};
pub use sorter::EdgeSorter;
