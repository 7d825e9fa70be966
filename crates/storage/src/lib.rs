//! Places and bytes: local files, object stores, ranges, atomic publish, budgets.

mod blob;
mod budget;
mod counter;
mod digest;
pub mod limits;
mod location;
mod platform;
mod reader;
mod root;
mod sandbox;
mod scratch;
mod staging;

pub use blob::{Blob, Fingerprint};
pub use budget::{Budget, Reservation};
pub use digest::{FileDigest, FileHasher, TAIL_BYTES};
pub use location::{Location, Scheme};
pub use reader::BlobReader;
pub use root::{Entry, Root};
pub use sandbox::{PATH_ESCAPE, check as check_relative};
pub use scratch::{Scratch, ScratchFile};
pub use staging::{Mode, Published, StagedFile, Staging};
