#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod aggregates;
mod answer;
mod bounded;
mod catalog;
mod columns;
mod dialect;
mod direct;
#[cfg(feature = "distributed")]
pub mod distributed;
mod doubles;
mod engine;
mod errors;
mod estimate;
mod exact;
mod extremes;
mod file;
mod filter;
mod functions;
mod graph_table;
mod joined;
mod labels;
mod large_joins;
mod limits;
mod look_up;
mod matched;
mod means;
mod memberships;
mod merged;
mod mixed;
mod names;
mod narrowed;
mod parameters;
mod parts;
mod planning;
mod prepared;
mod quads;
mod resolve;
mod row_values;
mod scan;
mod spelling;
mod statement;
mod subqueries;
mod sums;
mod table;
mod vocabulary;
mod wait;
mod windows;
mod workers;

pub use answer::Answer;
pub use engine::{Engine, TableInfo};
pub use parameters::Parameters;
