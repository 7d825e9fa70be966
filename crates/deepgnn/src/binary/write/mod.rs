//! Writing a binary with the same bytes as the published converter.

mod alias;
mod buffered;
mod build;
mod features;
mod meta;
mod pages;
mod partition;
mod partitions;

pub(crate) use alias::pairwise;
pub(crate) use build::note_repairs;
pub use build::{Built, build};
pub(crate) use partitions::{Partitions, first_id};
