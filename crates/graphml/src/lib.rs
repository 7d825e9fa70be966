#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
mod columns;
mod fragment;
mod hyperedges;
mod keys;
mod parse;
pub mod rules;
mod source;
mod survey;
mod validate;
mod write;

pub use capability::{CAPABILITY, holds, unheld};
pub use isomorph_records::xml::check_text;
pub use source::{GraphMl, OpenOptions, detect};
pub use write::GraphMlWriter;
