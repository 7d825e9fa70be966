#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
pub mod cx2;
mod detect;
pub mod draw;
pub mod gexf;
pub mod gml;
pub mod jgf;
pub mod nodelink;
mod schema_svg;

pub use capability::{CX2, DRAWING, GEXF, GML, JGF, KGX, NODE_LINK, holds_json, unheld};
pub use isomorph_records::{Form, OpenOptions, RecordGraph, RecordWriter, Syntax, WriteOptions};

/// The document with the data of the graph.
pub const OF_GRAPH: &str = "graph";
