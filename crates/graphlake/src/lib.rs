#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod bloom;
mod capability;
mod commit;
mod compact;
mod cursor;
mod id;
mod id_index;
mod index_file;
mod json;
mod log;
mod lookup;
mod merge;
mod options;
mod path;
mod read;
mod record;
pub mod rules;
mod snapshot;
mod store;
mod term;
mod triple;
mod vacuum;
mod validate;
mod verified;
mod write;

pub use bloom::Bloom;
pub use capability::CAPABILITY;
pub use commit::{Committed, Lake, Traced, Transaction};
pub use compact::{CompactMode, Compacted};
pub use id::TripleId;
pub use isomorph_model::ntriples::push_quad;
pub use log::{Event, GraphEvent, What};
pub use lookup::{
    Apart, Bindings, Estimate, Found, GraphNode, Graphs, InGraph, Join, JoinPattern, JoinStep, Node, Pattern, Place,
    Question, Solutions, Terms,
};
pub use options::{At, OpenOptions, Tolerance, snapshot_of};
pub use read::{GraphLake, Order, Section, detect, each_id};
pub use snapshot::{DataFile, Files, Living, NamedGraph, Snapshot};
pub use store::{SnapshotEntry, Store, other_versions};
pub use term::{QUOTED_GRAPH, check_graph, is_language};
pub use vacuum::{LeftLoad, VacuumOptions, Vacuumed};
pub use write::uuid::fresh as fresh_id;
pub use write::{Bulk, Created, Filler, FoundLoad, LakeWriter, Piece, Resume, WriteOptions};
