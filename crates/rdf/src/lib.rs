#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
mod lines;
mod packing;
mod rdfc;
mod read;
pub mod rules;
mod source;
mod syntax;
mod write;
mod xml;

pub use capability::CAPABILITY;
pub use lines::read_lines;
pub use packing::{Packed, Packing};
pub use rdfc::{CanonicalLabels, Canonicalizer, relabelled};
pub use read::{Piece, ReadOptions, Reading, Take, Text, Unlabelled, check_base, detect, read, read_stream};
pub use source::{Collectors, OpenOptions, RdfText, Statements};
pub use syntax::Syntax;
pub use write::{QuadWriter, TextSink, WriteOptions};
