//! The binary: a directory of partitions.

mod layout;
mod read;
mod supplement;
mod write;

pub use layout::META;
pub(crate) use layout::{DUMMY, OLD_META};
pub(crate) use read::{Binary, Partition, Passed, Piece, Sums, Weights, check_ends, check_tables, recover, worker};
pub use read::{BinaryFiles, Meta, PartitionFiles, Types};
pub(crate) use supplement::Asked;
pub use supplement::BESIDE;
pub use write::{Built, build};
pub(crate) use write::{Partitions, first_id, note_repairs};
