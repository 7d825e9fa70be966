#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod bind;
mod capability;
mod document;
mod fragment;
mod keys;
mod read;
pub mod rules;
mod syntax;
mod write;

pub use capability::{CAPABILITY, holds, is_edge_property, unheld};
pub use isomorph_records::xml::check_text;
pub use isomorph_records::{OpenOptions, RecordGraph, RecordWriter, WriteOptions};
pub use syntax::GraphMl;

/// The document with the data of the graph.
pub const OF_GRAPH: &str = "graph";
