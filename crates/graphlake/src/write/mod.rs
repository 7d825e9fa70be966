//! Writing: triples sorted in both orders, files with filters, one snapshot.

mod create;
mod encode;
mod files;
mod sorter;
mod uuid;

pub use create::{Created, LakeWriter, WriteOptions};
