//! Writing: triples sorted in both orders, files with filters, one snapshot.

mod bulk;
mod create;
mod dictionary;
mod encode;
mod files;
mod filler;
mod intern;
mod map;
mod names;
mod order;
mod pairs;
mod parts;
mod pending;
mod prefixes;
mod quads;
pub(crate) mod resume;
mod run;
pub(crate) mod uuid;

pub use bulk::Bulk;
pub use create::{Created, LakeWriter, WriteOptions};
pub(crate) use files::{FileWriter, Partition};
pub use filler::Filler;
pub use resume::{Found as FoundLoad, Piece, Resume};
