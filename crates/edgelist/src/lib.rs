#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
mod columns;
mod layout;
mod line;
mod nodes;
mod options;
mod pieces;
mod python;
pub mod rules;
mod source;
mod survey;
mod write;

pub use capability::{CAPABILITY, holds, unheld};
pub use layout::detect;
pub use options::{Column, EdgeData, OpenOptions, WriteOptions};
pub use source::EdgeList;
pub use write::EdgeListWriter;
