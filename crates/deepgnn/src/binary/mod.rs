//! The binary: a directory of partitions.

mod layout;
mod read;
mod write;

pub(crate) use layout::{DUMMY, META, OLD_META};
pub(crate) use read::{Binary, Partition, Piece};
pub(crate) use write::note_repairs;
pub use write::{Built, build};
