#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod answer;
mod catalog;
mod columns;
mod engine;
mod errors;
mod estimate;
mod file;
mod filter;
mod look_up;
mod names;
mod narrowed;
mod parameters;
mod parts;
mod quads;
mod resolve;
mod scan;
mod statement;
mod table;
mod vocabulary;
mod workers;

pub use answer::Answer;
pub use engine::{Engine, TableInfo};
pub use parameters::Parameters;
