#![doc = include_str!("../README.md")]

mod bloom;
mod capability;
mod cursor;
mod id;
mod json;
mod lookup;
mod merge;
mod options;
mod parallel;
mod path;
mod read;
mod record;
pub mod rules;
mod sidecar;
mod snapshot;
mod store;
mod term;
mod triple;
mod validate;
mod write;

pub use bloom::Bloom;
pub use capability::CAPABILITY;
pub use id::TripleId;
pub use isomorph_model::ntriples::push_quad;
pub use lookup::{InGraph, Pattern};
pub use options::{At, OpenOptions, Tolerance};
pub use read::{GraphLake, Order, detect};
pub use snapshot::{DataFile, NamedGraph, Snapshot};
pub use store::{SnapshotEntry, Store};
pub use term::QUOTED_GRAPH;
pub use write::{Created, Filler, LakeWriter, WriteOptions};
