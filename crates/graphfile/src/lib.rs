#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
mod detect;
pub mod gexf;
pub mod gml;
pub mod nodelink;

pub use capability::{GEXF, GML, KGX, NODE_LINK, holds_json, unheld};
pub use isomorph_records::{OpenOptions, RecordGraph, RecordWriter, Syntax};

/// The document with the data of the graph.
pub const OF_GRAPH: &str = "graph";
