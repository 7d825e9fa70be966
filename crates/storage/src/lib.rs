#![doc = include_str!("../README.md")]
#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod blob;
mod budget;
mod counter;
#[cfg(test)]
mod crash_tests;
mod digest;
mod disk;
pub mod fault;
mod leftover;
pub mod limits;
mod location;
mod lock;
pub mod objects;
pub mod parallel;
pub mod parts;
mod platform;
pub mod pool;
mod ranges;
mod reader;
mod redo;
mod remote;
mod resources;
mod resumable;
mod root;
mod sandbox;
mod scratch;
mod shared;
mod staging;
mod unique;
mod unpacked;
pub mod zip;

pub use blob::{Blob, Fingerprint};
pub use budget::{Budget, Reservation};
pub use counter::bytes_read;
pub use digest::{FileDigest, FileHasher, TAIL_BYTES};
pub use location::{Location, Scheme};
pub use lock::Turn;
pub use reader::BlobReader;
pub use redo::{Changed, Redo};
pub use resources::Resources;
pub use resumable::Workplace;
pub use root::{Entry, Root};
pub use sandbox::{PATH_ESCAPE, check as check_relative};
pub use scratch::{Scratch, ScratchFile};
pub use shared::{Additions, SharedRoot};
pub use staging::{COMPANION_SUFFIX, Companion, Mode, Published, StagedFile, Staging};
pub use unpacked::Unpacked;
