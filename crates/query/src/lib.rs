#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod answer;
mod direct;
#[cfg(feature = "distributed")]
pub mod distributed;
mod end_groups;
mod engine;
mod errors;
mod functions;
mod joined;
mod large_joins;
mod parameters;
mod planning;
mod rewrite;
mod syntax;
mod tables;
mod wait;
mod workers;

pub use answer::Answer;
pub use engine::{Engine, TableInfo};
pub use parameters::Parameters;
pub use syntax::statement::explained;
